/* One table of options drives parsing, --help and shell completion. */
#ifndef SCTRACE_CLI_OPT_H
#define SCTRACE_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct buf;
struct opt;

/*
 * Called for each occurrence, `ctx` being the command's settings and `arg` the value or NULL. Returns 0, or -EINVAL with
 * `why` filled ("'12x' is no size; write 4096, 4K, 1M").
 */
typedef int opt_parse_fn(void *ctx, const struct opt *o, const char *arg, struct buf *why);

/* How a value is completed by the shell. */
enum opt_complete {
	COMPLETE_NONE,
	COMPLETE_FILE,
	COMPLETE_DIR,
	COMPLETE_PID,
	COMPLETE_USER,
	COMPLETE_WORDS,
	COMPLETE_LIST, /* `words`, joined by commas; a ! may stand in front */
	COMPLETE_SET,  /* the same, of the command's `set_words` */
	/* NAME=VALUE, where `words` are long options of the same table, each completed as that option is; or a set. */
	COMPLETE_EXPR,
};

/* One option. A table ends with {0}; a row with neither letter nor name is a heading, its text in `help`. */
struct opt {
	char letter;      /* 0: none */
	const char *name; /* long name without dashes, or NULL */
	const char *arg;  /* name of its value ("FILE"), "[WHEN]" where the value may be left out, or NULL: none */
	opt_parse_fn *parse;
	const char *help;
	size_t offset; /* for the ready-made parsers: offsetof() in the settings */
	enum opt_complete complete;
	const char *words; /* COMPLETE_WORDS, _LIST, _EXPR: space-separated */
	long min, max;     /* for opt_int(); min for opt_duration(), in ns */
};

/* Ready-made parsers; each writes at settings + offset. */
opt_parse_fn opt_flag;     /* bool = true */
opt_parse_fn opt_count;    /* int++ */
opt_parse_fn opt_string;   /* const char * (points into argv) */
opt_parse_fn opt_int;      /* int, within min..max */
opt_parse_fn opt_size;     /* uint64_t bytes */
opt_parse_fn opt_duration; /* uint64_t ns, at least min */
opt_parse_fn opt_word;     /* const char *, one of `words` */
opt_parse_fn opt_svg;      /* const char *: a file for a picture; a name that promises another kind is refused */

/* A command's face. */
struct opt_command {
	const char *name;         /* "sctrace compare", "sctrace bench syscall" */
	const char *const *usage; /* lines after the name, NULL-terminated */
	const char *about;        /* one sentence */
	const struct opt *table;
	const char *epilog;    /* text at the end of --help, or NULL */
	bool stop_at_operand;  /* options end at the first operand (a traced program's own follow) */
	const char *operands;  /* words that its operands may be, for completion; NULL: files */
	const char *set_words; /* for COMPLETE_SET, or NULL */
};

enum opt_outcome { OPT_OK, OPT_HELP, OPT_VERSION, OPT_ERROR };

/*
 * Parses argv[1..]; letters may be bundled, values follow directly or as the next word, long names take = or the next
 * word and may be shortened where unambiguous. On OPT_OK *first is the index of the first operand, operands in order
 * behind it (argv is permuted unless stop_at_operand). -h, --help, -V and --version are known to every table. On
 * OPT_ERROR `why` names the option, with near names where one was mistyped.
 */
enum opt_outcome opt_parse(const struct opt_command *c, void *settings, int argc, char **argv, int *first,
			   struct buf *why);
/* Writes the help text, wrapped to `width` columns, headings bold where `colour`. */
void opt_help(const struct opt_command *c, struct buf *out, int width, bool colour);
/* Writes a completion script for `shell` (bash, zsh, fish) covering all `n` commands; -EINVAL: no such shell. */
int opt_completion(const struct opt_command *const *commands, size_t n, const char *shell, struct buf *out);

#endif
