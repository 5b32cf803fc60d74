/* SPDX-License-Identifier: MIT */
/* One table of options drives parsing, --help and shell completion. */
#ifndef SCTRACE_CLI_OPT_H
#define SCTRACE_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct opt;

/* An option of the command line. */
struct opt_use {
	void *settings; /* those of the command */
	const struct opt *row;
	const char *value; /* NULL: it has none */
	struct buf *why;
};
/* The type of functions that take an option. They return 0, or -EINVAL with a reason in `why`: "'12x' is not a size". */
typedef int opt_parse_fn(const struct opt_use *u);

/* How the shell completes the value of an option. */
enum opt_complete {
	COMPLETE_NONE,
	COMPLETE_FILE,
	COMPLETE_DIR,
	COMPLETE_PID,
	COMPLETE_USER,
	COMPLETE_WORDS,
	COMPLETE_LIST, /* a list of `words`, separated by commas; it may begin with ! */
	COMPLETE_SET,  /* like COMPLETE_LIST, with the command's `set_words` instead of `words` */
	/*
	 * NAME=VALUE, where NAME is one of `words`. The table also has a long option NAME, and VALUE is completed like
	 * the value of that option. The command's `set_words` are offered too.
	 */
	COMPLETE_EXPR,
};

/* One option. A table ends with {0}. A row with neither letter nor name is a heading, with its text in `help`. */
struct opt {
	char letter;      /* 0: the option has no letter */
	const char *name; /* long name without dashes, or NULL */
	const char *arg;  /* name of the value ("FILE"), "[WHEN]" if the value is optional, or NULL if there is none */
	opt_parse_fn *parse;
	const char *help;
	size_t offset; /* for the ready-made parsers: offset of the member of the settings that they write */
	enum opt_complete complete;
	const char *words; /* for COMPLETE_WORDS, _LIST, _EXPR: the words, separated by spaces */
	long min, max;     /* limits for opt_int(); opt_duration() uses only `min`, in ns */
};
/* Returns true for the row that ends a table. */
static inline bool opt_is_end(const struct opt *o)
{
	return !o->letter && !o->name && !o->help;
}

/* The options that each command has besides those of its table: -h and -V. Ends with {0}. */
extern const struct opt opt_common[];

/* Ready-made parsers. Each sets the member at `offset` of the settings, whose type is beside it. */
opt_parse_fn opt_flag;     /* bool: becomes true */
opt_parse_fn opt_count;    /* int: is incremented */
opt_parse_fn opt_string;   /* const char * (points into argv) */
opt_parse_fn opt_int;      /* int, within min..max */
opt_parse_fn opt_size;     /* uint64_t: bytes */
opt_parse_fn opt_duration; /* uint64_t: nanoseconds, at least min */
opt_parse_fn opt_word;     /* const char *: one of `words` */
opt_parse_fn opt_svg;      /* const char *: name of an SVG file; rejects names that end in .png, .pdf and the like */
/* Appends the reason why the value is refused to u->why. Returns -EINVAL. */
int opt_refuse(const struct opt_use *u, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Does so with the message of opt_word: the value is not one of the option's `words`, and which are similar. */
int opt_refuse_word(const struct opt_use *u);

/* One command. */
struct opt_command {
	const char *name;         /* such as "sctrace compare" or "sctrace bench syscall" */
	const char *const *usage; /* the words after the name, one line for each form of the command; NULL-terminated */
	const char *about;        /* one sentence that describes the command */
	const struct opt *table;
	const char *epilog;    /* text at the end of --help, or NULL */
	bool stop_at_operand;  /* options end at the first operand, because the traced program's own options follow */
	bool commands;         /* each operand is a command, whose name shells offer */
	const char *operands;  /* words that shells offer for operands; NULL: shells offer file names */
	const char *set_words; /* words that COMPLETE_SET offers, or NULL */
	/* Command lines and what they do, in turn, which --help prints first; NULL-terminated; or NULL. */
	const char *const *examples;
};

enum opt_outcome { OPT_OK, OPT_HELP, OPT_VERSION, OPT_ERROR };

/*
 * Parses argv[1..]. Letters may be bundled. The value of a letter may follow the letter directly or be the next word. An
 * optional value of a letter follows after =.
 * The value of a long name follows after = or is the next word. A long name may be shortened if it remains unambiguous.
 * On OPT_OK, *first is the index of the first operand, and all operands follow it in their original order (argv is
 * permuted unless stop_at_operand is set). Every table has -h, --help, -V and --version. On OPT_ERROR, `why` names the
 * option, and similar names if the option was mistyped.
 */
enum opt_outcome opt_parse(const struct opt_command *c, void *settings, int argc, char **argv, int *first,
			   struct buf *why);
/* Writes the help text, wrapped to `width` columns; headings are bold if `colour`. */
void opt_help(const struct opt_command *c, struct buf *out, int width, bool colour);
/* Writes a completion script for bash, zsh or fish for all `n` commands. Returns -EINVAL for other shells. */
int opt_completion(const struct opt_command *const *commands, size_t n, const char *shell, struct buf *out);

#endif
