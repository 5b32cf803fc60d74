/* SPDX-License-Identifier: MIT */
/*
 * The interface between decoders and emitters. A decoder says what a call contains. An emitter decides how that looks,
 * in text or in JSON.
 */
#ifndef SCTRACE_DECODE_EMIT_H
#define SCTRACE_DECODE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct emit;

/* Properties of a string. */
enum emit_string {
	STRING_CUT = 1 << 0,      /* only the beginning of the string is shown */
	STRING_ABSTRACT = 1 << 1, /* the name of an abstract socket, whose address has a NUL byte before the name
				   * (unix(7)) */
	STRING_HEX = 1 << 2,      /* the bytes are not text, such as random bytes */
};

/* How a number is written. FORM_POINTER: hexadecimal, and 0 is shown as NULL (JSON: null). */
enum emit_form { FORM_SIGNED, FORM_UNSIGNED, FORM_HEX, FORM_OCTAL, FORM_POINTER };

/*
 * How the explanation of a result begins or ends. RETURNED_BEGIN: text such as " (Timeout)"; RETURNED_FLAGS:
 * " (flags O_RDONLY)"; RETURNED_FIELDS: " (in [3], left {...})".
 */
enum emit_returned { RETURNED_END, RETURNED_BEGIN, RETURNED_FLAGS, RETURNED_FIELDS };

/* What a descriptor or a process refers to. */
struct emit_is {
	/*
	 * The path of a file ("/etc/passwd"), or another name. In names other than paths, escape_angled() has escaped
	 * the parts that the program chose.
	 */
	const char *name;
	const char *device; /* type and number of a device file, "char 1:3"; or NULL */
	bool deleted;       /* the file at this path has been deleted */
};

/*
 * The functions of an emitter. Decoders do not call these functions directly; they call the emit_*() functions below.
 */
struct emit_ops {
	void (*arg)(struct emit *e, const char *name, uint64_t raw); /* begins the next argument of a call */
	void (*arg_end)(struct emit *e, bool last);                  /* ends an argument */
	/*
	 * Begins the next member of a structure. If `bare` is set, text leaves out its name. For the next element of an
	 * array, `name` is NULL and `bare` is set.
	 */
	void (*field)(struct emit *e, const char *name, bool bare);
	void (*open)(struct emit *e, char bracket);  /* begins a structure ('{') or an array ('[') */
	void (*close)(struct emit *e, char bracket); /* ends a structure ('}') or an array (']') */
	void (*number)(struct emit *e, uint64_t v, enum emit_form form);
	void (*string)(struct emit *e, const char *s, size_t n, unsigned flags); /* `n` bytes, which need not be
										  * text; `flags` are enum
										  * emit_string */
	void (*symbols)(struct emit *e, const char *text, uint64_t raw);         /* a constant and its name, such as
										  * "O_RDWR|O_CLOEXEC" or "[INT TERM]" */
	void (*signals)(struct emit *e, uint64_t set);                           /* see emit_signals() */
	void (*descriptor)(struct emit *e, int64_t fd, const char *name, const struct emit_is *is); /* see emit_fd() */
	void (*index)(struct emit *e, uint64_t v, const char *name); /* see emit_index() */
	void (*more)(struct emit *e);                      /* shows "...": the rest of a structure or array is left
							    * out */
	void (*after)(struct emit *e);                     /* see emit_after() */
	void (*comment)(struct emit *e, const char *text); /* an explanation for human readers; JSON leaves it out */
	void (*wrap)(struct emit *e, const char *text);    /* text around a value, as in htons(80) */
	/*
	 * Shows the result of a call: its number and, for an error, the error's name and text. If `error` is set but
	 * `text` is NULL, the call has no result.
	 */
	void (*result)(struct emit *e, int64_t v, const char *error, const char *text);
	void (*result_as)(struct emit *e, uint64_t v, enum emit_form form); /* a result as FORM_HEX or FORM_OCTAL; JSON
									    * shows all results in decimal */
	void (*result_is)(struct emit *e, const struct emit_is *is);        /* what the descriptor in the result
									    * refers to; called after result() */
	void (*returned)(struct emit *e, enum emit_returned part);          /* begins or ends the explanation of a
									    * result */
};

struct emit {
	const struct emit_ops *ops;
	struct buf *out;
	bool first;       /* nothing has been written at the current depth */
	unsigned depth;   /* number of open brackets */
	uint64_t objects; /* one bit for each depth, which is set for a structure and clear for an array */
	unsigned flags;   /* used by the emitter only */
};

/* How a text emitter shows strings and constants. */
enum emit_text_flags {
	EMIT_HEX_STRINGS = 1 << 0,  /* -xx: all strings in hexadecimal */
	EMIT_HEX_NONPRINT = 1 << 1, /* -x: strings that contain non-printable characters in hexadecimal */
	EMIT_COLOUR = 1 << 2,
	EMIT_RAW_NAMES = 1 << 3,  /* constants are shown as numbers */
	EMIT_ARG_NAMES = 1 << 5,  /* arguments have their names: openat(dirfd=AT_FDCWD, ... */
	EMIT_BOTH_NAMES = 1 << 4, /* constants are shown as numbers, and their names as comments */
};

/*
 * Initialises a text emitter. It writes arguments in the form of strace: `AT_FDCWD, "/etc/passwd", O_RDONLY`. The
 * caller writes the text around the arguments (name, parentheses, " = "). Control bytes from the traced program are
 * never written to `out`.
 */
void emit_text_init(struct emit *e, struct buf *out, unsigned flags);
/*
 * Initialises a JSON emitter. It writes arguments as members `"NAME":{"raw":N,"value":V}`; the caller writes the braces
 * around them. V is a number, a string, an array, an object, or null for a NULL pointer. Pointers are strings "0x7f..",
 * and constants are strings with their names. Bytes that are UTF-8 become a string, and others {"hex":"7f45"}. If only
 * a beginning is shown, the value is {"text":"..","cut":true} or {"hex":"..","cut":true}.
 *
 * decode_result() writes members of the caller's object. "result" is a number, or null if there is no result. "errno"
 * and "error" describe an error. "is", "device" and "deleted" are written if the result is a descriptor whose name is
 * known, as in struct emit_is. "returned" is written if the result has a meaning beyond its number.
 */
void emit_json_init(struct emit *e, struct buf *out);

static inline void emit_arg(struct emit *e, const char *name, uint64_t raw)
{
	e->ops->arg(e, name, raw);
}
static inline void emit_arg_end(struct emit *e, bool last)
{
	e->ops->arg_end(e, last);
}
static inline void emit_field(struct emit *e, const char *name)
{
	e->ops->field(e, name, false);
}
/* Begins a member whose name is shown only in JSON. Text shows only its value. */
static inline void emit_data_field(struct emit *e, const char *name)
{
	e->ops->field(e, name, true);
}
static inline void emit_open(struct emit *e, char bracket)
{
	e->ops->open(e, bracket);
}
static inline void emit_close(struct emit *e, char bracket)
{
	e->ops->close(e, bracket);
}
static inline void emit_element(struct emit *e)
{
	e->ops->field(e, NULL, true);
}
static inline void emit_num(struct emit *e, int64_t v)
{
	e->ops->number(e, (uint64_t)v, FORM_SIGNED);
}
static inline void emit_unum(struct emit *e, uint64_t v)
{
	e->ops->number(e, v, FORM_UNSIGNED);
}
static inline void emit_hex(struct emit *e, uint64_t v)
{
	e->ops->number(e, v, FORM_HEX);
}
static inline void emit_oct(struct emit *e, uint64_t v)
{
	e->ops->number(e, v, FORM_OCTAL);
}
static inline void emit_ptr(struct emit *e, uint64_t v)
{
	e->ops->number(e, v, FORM_POINTER);
}
static inline void emit_str(struct emit *e, const char *s, size_t n, unsigned flags)
{
	e->ops->string(e, s, n, flags);
}
static inline void emit_sym(struct emit *e, const char *text, uint64_t raw)
{
	e->ops->symbols(e, text, raw);
}

/* Shows a set of signals, [INT TERM], whose bit 0 is signal 1. */
static inline void emit_signals(struct emit *e, uint64_t set)
{
	e->ops->signals(e, set);
}
/* Emits the constant `v` by its name or, if `name` is NULL, as a number. */
static inline void emit_name(struct emit *e, const char *name, int32_t v)
{
	if (name)
		emit_sym(e, name, (uint32_t)v);
	else
		emit_num(e, v);
}
/* Emits a descriptor. `name` is a constant for it, such as AT_FDCWD, or NULL. `is` says what it refers to, or NULL. */
static inline void emit_fd(struct emit *e, int64_t fd, const char *name, const struct emit_is *is)
{
	e->ops->descriptor(e, fd, name, is);
}
/*
 * Emits the index of a network interface and its name, which is not escaped yet: if_nametoindex("eth0"), or
 * {"index":4,"name":"eth0"}.
 */
static inline void emit_index(struct emit *e, uint64_t v, const char *name)
{
	e->ops->index(e, v, name);
}
static inline void emit_more(struct emit *e)
{
	e->ops->more(e);
}
/*
 * Within an argument: begins the value that the argument has after the call. Writes " => " in text, and the member
 * "after" in JSON.
 */
static inline void emit_after(struct emit *e)
{
	e->ops->after(e);
}
static inline void emit_comment(struct emit *e, const char *text)
{
	e->ops->comment(e, text);
}
/* Emits text around a value, which JSON leaves out: emit_wrap(e, "htons("), the value, emit_wrap(e, ")"). */
static inline void emit_wrap(struct emit *e, const char *text)
{
	e->ops->wrap(e, text);
}
static inline void emit_result(struct emit *e, int64_t v, const char *error, const char *text)
{
	e->ops->result(e, v, error, text);
}
static inline void emit_result_as(struct emit *e, int64_t v, enum emit_form form)
{
	e->ops->result_as(e, (uint64_t)v, form);
}
static inline void emit_result_is(struct emit *e, const struct emit_is *is)
{
	e->ops->result_is(e, is);
}
static inline void emit_returned(struct emit *e, enum emit_returned part)
{
	e->ops->returned(e, part);
}

#endif
