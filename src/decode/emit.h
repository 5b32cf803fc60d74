/*
 * The interface between decoders, which say what a call contains, and emitters, which decide how it looks: text and
 * JSON.
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
	STRING_CUT = 1 << 0,      /* more follows, which is not shown */
	STRING_ABSTRACT = 1 << 1, /* name of an abstract socket: a NUL byte precedes it (unix(7)) */
	STRING_HEX = 1 << 2,      /* not text: random bytes */
};

enum emit_form { RESULT_HEX, RESULT_OCTAL };

/*
 * Begins an explanation of a result: " (Timeout)", " (flags O_RDONLY)", " (in [3], left {...})" with fields; or ends
 * it.
 */
enum emit_returned { RETURNED_END, RETURNED_BEGIN, RETURNED_FLAGS, RETURNED_FIELDS };

/* What a descriptor or a process refers to. */
struct emit_is {
	/* A path ("/etc/passwd"), or another name in which escape_angled() has escaped foreign text. */
	const char *name;
	const char *device; /* type and number of a device file, "char 1:3"; or NULL */
	bool deleted;       /* the path no longer leads to the file */
};

/* An emitter's functions. Decoders call the emit_* functions below and not these. */
struct emit_ops {
	void (*arg)(struct emit *e, const char *name, uint64_t raw); /* begins the next argument of a call */
	void (*arg_end)(struct emit *e, bool last);                  /* it ends */
	void (*field)(struct emit *e, const char *name);             /* begins the next member of a structure */
	void (*data_field)(struct emit *e, const char *name);        /* the same, but without the name in text */
	void (*open)(struct emit *e, char bracket);                  /* '{' a structure, '[' an array */
	void (*close)(struct emit *e, char bracket);                 /* '}' or ']' */
	void (*element)(struct emit *e);                             /* begins the next element of an array */
	void (*number)(struct emit *e, int64_t v);
	void (*unsigned_number)(struct emit *e, uint64_t v);
	void (*hex)(struct emit *e, uint64_t v);
	void (*octal)(struct emit *e, uint64_t v);
	void (*pointer)(struct emit *e, uint64_t v);                             /* 0 means NULL */
	void (*string)(struct emit *e, const char *s, size_t n, unsigned flags); /* any bytes; enum emit_string */
	void (*symbols)(struct emit *e, const char *text, uint64_t raw); /* a name, "O_RDWR|O_CLOEXEC", "[INT TERM]" */
	void (*descriptor)(struct emit *e, int64_t fd, const char *name, const struct emit_is *is); /* see emit_fd() */
	void (*index)(struct emit *e, uint64_t v, const char *name); /* see emit_index() */
	void (*more)(struct emit *e);                      /* "...": the rest of a structure or array is left out */
	void (*after)(struct emit *e);                     /* see emit_after() */
	void (*comment)(struct emit *e, const char *text); /* an explanation for people, which is not data */
	void (*wrap)(struct emit *e, const char *text);    /* decoration around a value, as in htons(80) */
	/*
	 * The result of a call: its number and, for an error, its name and text. A name without text means that there
	 * is no result.
	 */
	void (*result)(struct emit *e, int64_t v, const char *error, const char *text);
	void (*result_as)(struct emit *e, int64_t v, enum emit_form form); /* the same for numbers in another form */
	void (*result_is)(struct emit *e, const struct emit_is *is);       /* follows the result: what the descriptor
									    * refers to */
	void (*returned)(struct emit *e, enum emit_returned part);         /* begins or ends the explanation of a
									    * result */
};

struct emit {
	const struct emit_ops *ops;
	struct buf *out;
	bool first;       /* nothing has been written at this level */
	unsigned depth;   /* open brackets */
	uint64_t objects; /* one bit for each depth: set for a structure */
	unsigned flags;   /* owned by the emitter */
};

/* How text looks. */
enum emit_text_flags {
	EMIT_HEX_STRINGS = 1 << 0,  /* -xx: all strings in hexadecimal */
	EMIT_HEX_NONPRINT = 1 << 1, /* -x: strings with non-printable characters in hexadecimal */
	EMIT_COLOUR = 1 << 2,
	EMIT_RAW_NAMES = 1 << 3,  /* constants as numbers */
	EMIT_BOTH_NAMES = 1 << 4, /* 0x2 followed by O_RDWR as a comment */
};

/*
 * Initialises a text emitter. It writes arguments in strace's form: `AT_FDCWD, "/etc/passwd", O_RDONLY`. The caller
 * writes everything around them (name, parentheses, " = "). No control byte of the traced program reaches `out`.
 */
void emit_text_init(struct emit *e, struct buf *out, unsigned flags);
/*
 * Initialises a JSON emitter. Arguments are members `"NAME":{"raw":N,"value":V}`; the caller writes the braces around
 * them. V is a number, a string, an array, an object, or null for NULL. Pointers are strings "0x7f..", and constants
 * their names. Bytes in UTF-8 become a string, others {"hex":"7f45"}; if cut, {"text":"..","cut":true} or with "hex".
 * decode_result() writes members of the caller's outer object: "result":N (null if there is none); "errno" and "error"
 * for errors; "is" if the result is a known descriptor, with "device" and "deleted" as in struct emit_is; "returned" if
 * it means more than a number.
 */
void emit_json_init(struct emit *e, struct buf *out);
/*
 * An emitter that writes nothing but a space for each byte of a string, because decoders limit how much they write. Decoding reads memory
 * and asks for names as with the other emitters.
 */
void emit_none_init(struct emit *e, struct buf *out);

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
	e->ops->field(e, name);
}
/* A member whose name only data needs, such as what poll(2) found ready. */
static inline void emit_data_field(struct emit *e, const char *name)
{
	e->ops->data_field(e, name);
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
	e->ops->element(e);
}
static inline void emit_num(struct emit *e, int64_t v)
{
	e->ops->number(e, v);
}
static inline void emit_unum(struct emit *e, uint64_t v)
{
	e->ops->unsigned_number(e, v);
}
static inline void emit_hex(struct emit *e, uint64_t v)
{
	e->ops->hex(e, v);
}
static inline void emit_oct(struct emit *e, uint64_t v)
{
	e->ops->octal(e, v);
}
static inline void emit_ptr(struct emit *e, uint64_t v)
{
	e->ops->pointer(e, v);
}
static inline void emit_str(struct emit *e, const char *s, size_t n, unsigned flags)
{
	e->ops->string(e, s, n, flags);
}
static inline void emit_sym(struct emit *e, const char *text, uint64_t raw)
{
	e->ops->symbols(e, text, raw);
}
/* A descriptor: its number or, if it has one, its `name` (AT_FDCWD), and what it refers to (`is`, or NULL). */
static inline void emit_fd(struct emit *e, int64_t fd, const char *name, const struct emit_is *is)
{
	e->ops->descriptor(e, fd, name, is);
}
/* The number of a network interface and its name, not escaped: if_nametoindex("eth0"), or {"index":4,"name":"eth0"}. */
static inline void emit_index(struct emit *e, uint64_t v, const char *name)
{
	e->ops->index(e, v, name);
}
static inline void emit_more(struct emit *e)
{
	e->ops->more(e);
}
/* Within an argument, after its value: begins the value after the call. " => " in text, the member "after" in JSON. */
static inline void emit_after(struct emit *e)
{
	e->ops->after(e);
}
static inline void emit_comment(struct emit *e, const char *text)
{
	e->ops->comment(e, text);
}
/* Decoration for people, written unchanged: emit_wrap(e, "htons("), the value, emit_wrap(e, ")"). */
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
	e->ops->result_as(e, v, form);
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
