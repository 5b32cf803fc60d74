/* Internals of `sctrace compare` that its files share. */
#ifndef SCTRACE_COMPARE_COMPARE_H
#define SCTRACE_COMPARE_COMPARE_H

#include "base/vec.h"
#include "measure/count.h"
#include "measure/sample.h"
#include "measure/work.h"
#include "present/page.h"
#include "run/run.h"
#include "strategy/strategy.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct table_look;

/* The values of an option that may be given several times, as in argv. */
struct compare_texts {
	const char **v;
	size_t n, cap;
};

/* --parameter-scan (a range of numbers) or --parameter-list, as typed: NAME=..., or only NAME. */
struct compare_scan {
	const char *text;
	bool range;
};

/* The value of {NAME} in a row. */
struct parameter {
	char *name, *value;
};

struct parameters {
	struct parameter *v;
	size_t n, cap;
};

/* The parameters of all rows. */
struct combinations {
	struct parameters *v;
	size_t n, cap;
};

/* What the user typed; parsed by cmd/compare/options.c. */
struct compare_options {
	uint64_t size; /* bytes; 0: not given */
	const char *input;
	const char *dir;
	const char *strategies, *buffers;
	bool all, list, explain, usage;
	int runs; /* exact number; 0: as many as needed */
	int min_runs, max_runs, warmup;
	uint64_t max_time, min_time; /* ns */
	int seed;
	bool cold, fsync;
	const char *cpus;
	bool no_shell, ignore_failure, show_output;
	const char *shell, *reference;
	struct compare_texts prepare, conclude; /* one for all commands, or one for each */
	struct compare_texts names;             /* names of the commands, in order; further commands are shown as
						 * typed */
	VEC(struct compare_scan) scans;
	const char *step; /* for ranges without a step of their own */
	const char *engine;
	bool count_all, no_count;
	struct page_options show;
};

/* Circumstances that may distort a run. Each has a row in the table of warn.c. */
enum warning {
	WARN_NOISY,        /* the machine did other work at the same time */
	WARN_LOAD,         /* the machine was busy before, and the run was too short to see whether that continued */
	WARN_STEAL,        /* the hypervisor took time */
	WARN_SHORT,        /* runs are too short to be split into user and system time */
	WARN_SPREAD,       /* samples are far apart */
	WARN_MEMORY_FS,    /* the file system has no device */
	WARN_COMPRESSES,   /* fewer bytes may be stored than were written */
	WARN_SHARED,       /* the copy may share blocks with its input */
	WARN_GOVERNOR,     /* the CPU's clock rate varies */
	WARN_DEBUG_KERNEL, /* the kernel was built for debugging */
	WARN_NOT_COLD,     /* the page cache could not be emptied */
	WARN_NO_RSS,       /* tracing is not permitted, so peaks are unknown */
	WARN_SMALL_INPUT,  /* buffers are larger than the input */
	WARN_FIRST_RUN,    /* the first run differs from the others */
	WARN_OUTLIERS,
	WARN_FAILED,    /* runs ended with a status other than 0 */
	WARN_NO_COPY,   /* a command's {out} is not a copy of {in} */
	WARN_SHELL,     /* nothing remains of a run after subtracting the shell's start */
	WARN_UNCOUNTED, /* no engine works here */
	WARNINGS
};

/* One row: a strategy with a buffer size, or a command. */
struct subject {
	char *name;
	uint64_t buffer;                 /* bytes; 0: none */
	const struct strategy *strategy; /* NULL: it is a command */
	char *command;                   /* the command as run, for saved runs */
	size_t index;                    /* index of its command */
	struct parameters params;
	char **argv, **part_argv; /* for the whole input, and for its beginning */
	char *unable;             /* the reason why there is no result, or NULL */
	VEC(struct sample) samples;
	struct sample first; /* the first warm-up run */
	bool has_first;
	bool copies; /* it makes a copy that can be checked */
	bool not_a_copy;
	struct count count;
	bool counted;
	bool partly;            /* only the beginning of the input was counted */
	uint64_t counted_bytes; /* number of input bytes that the counted run copied */
};

struct compare {
	struct compare_options opt;
	struct work work;
	VEC(struct subject *) subjects;
	VEC(int) cpus;
	int null_fd;
	const volatile sig_atomic_t *stop;
	bool progress;                   /* standard error is a terminal */
	bool interrupted;                /* the user ended it, so there are fewer runs than requested */
	uint64_t started_ns;             /* clock_ns() at the start of timing */
	double shell_s[3];               /* wall, user, system time of the empty shell that was subtracted; 0:
					  * nothing */
	struct run run;                  /* the results; compare_fill() fills in its subjects */
	double other_share, steal_share; /* shares of the processors' time during the runs; -1: unknown */
	double resident; /* largest share of the input in the page cache before a cold run; -1: not measured */
};

/* compare_options.c */
/* Parses the options. Returns 0, or -1 if the command must end with *status. `first` is the first COMMAND. */
int compare_parse(struct compare_options *o, int argc, char **argv, int *first, int *status);
void compare_options_free(struct compare_options *o);

/* measure.c */
/*
 * Creates the work directory, the subjects and the input, and describes the machine. Returns 0, or -errno with the
 * reason in `why`.
 */
int compare_prepare(struct compare *c, char *const *commands, size_t n, struct buf *why);
/*
 * Counts and times the subjects, and fills in c->run. Returns 0, or -errno with the reason in `why`. If calls cannot be
 * counted, `uncounted` gives the reason, and times are measured anyway. -EINTR: the user ended it before there was a
 * result.
 */
int compare_measure(struct compare *c, struct buf *uncounted, struct buf *why);

/* plan.c: creates the subjects. Returns 0, or -EINVAL with the reason in `why`. */
int compare_plan(struct compare *c, char *const *commands, size_t ncommands, struct buf *why);
/* The list of strategies for --list. */
void compare_list(struct buf *out, const struct table_look *look);
void compare_subject_free(struct subject *s);
/* "read/write 4K": the name of the subject in sentences and pictures. */
void compare_label(struct buf *out, const struct subject *s);

/* scan.c: the values of {NAME}. */
/*
 * Creates all combinations of the scans' values; without scans, a single empty one. hyperfine takes some values as
 * separate arguments; these are taken from the operands, and *taken is their number. Returns 0, -EINVAL with the reason
 * in `why`, or -ENOMEM.
 */
int compare_combine(const struct compare_options *o, char *const *operands, size_t n, size_t *taken,
		    struct combinations *all, struct buf *why);
void compare_combinations_free(struct combinations *all);
int compare_parameters_copy(struct parameters *to, const struct parameters *from);
void compare_parameters_free(struct parameters *p);

/* command.c: commands as the user typed them. */
/*
 * Makes argv from `text`, with {in}, {out}, {buffer} and `params` (may be NULL) filled in: sh -c unless no_shell.
 * Returns NULL with the reason in `why` if a quote has no end.
 */
char **compare_command_argv(const struct compare *c, const char *text, uint64_t buffer, const struct parameters *params,
			    const char *in, struct buf *why);
/*
 * Splits by the shell's rules for words and quotes, without expansions. Returns NULL with the reason in `why` if a
 * quote has no end or memory ran out.
 */
char **compare_split(const char *text, struct buf *why);

/* run.c: counted and timed runs of all subjects. Return 0, -EINTR, or -errno with the reason in `why`. */
int compare_count(struct compare *c, struct buf *why);
int compare_time(struct compare *c, struct buf *why);
/* enough.c: has subject `i` been timed often enough? */
bool compare_enough(const struct compare *c, size_t i);

/* progress.c: a progress line on a terminal, otherwise nothing. `i` is the row, `round` as in the runner. */
void compare_progress_count(const struct compare *c, size_t i);
void compare_progress_time(const struct compare *c, size_t i, int round);
void compare_progress_end(const struct compare *c);
/*
 * The seconds that the timed runs will still take, `elapsed_s` after their start; an upper bound if precision ends
 * them.
 */
double compare_left_s(const struct compare *c, double elapsed_s);

/* The end of a run in the shell's form: its status, or 128 plus the signal. */
int compare_exit_status(const struct sample *s);

/*
 * fill.c: creates the run from the measurements, with all sentences. Returns 0, -EINVAL with the reason in `why` if
 * --reference names no row, or -ENOMEM.
 */
int compare_fill(struct compare *c, struct buf *why);
/* Judges a run, and replaces its notes, warnings, findings and reasons. */
int compare_tell(struct run *r);

/* notes.c: how the figures were obtained, one line each. */
void compare_notes(const struct run *r, struct buf *out);
/* explain.c: sentences computed from the rows: the findings, and why each row costs what it costs. */
void compare_lessons(const struct run *r, struct buf *out);
void compare_explain(const struct run *r, struct buf *out);
/* warn.c: adds warnings about circumstances that may distort the run. */
void compare_warn(struct run *r);
/* True if the first run lies beyond Tukey's fences of the others, and at least half above or below their median. */
bool compare_first_differs(const struct run *r, const struct run_subject *s);

#endif
