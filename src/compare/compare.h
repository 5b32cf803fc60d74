/* The inside of `sctrace compare`: what its files share. */
#ifndef SCTRACE_COMPARE_COMPARE_H
#define SCTRACE_COMPARE_COMPARE_H

#include "base/vec.h"
#include "measure/count.h"
#include "measure/env.h"
#include "measure/sample.h"
#include "measure/work.h"
#include "stats/boot.h"
#include "stats/quantile.h"
#include "strategy/strategy.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct table_look;

/* The values of an option that may be given several times; as argv has them. */
struct compare_texts {
	const char **v;
	size_t n, cap;
};

/* --parameter-scan (a range of numbers) and --parameter-list, as typed: NAME=..., or NAME alone. */
struct compare_scan {
	const char *text;
	bool range;
};

/* What {NAME} stands for in a row. */
struct parameter {
	char *name, *value;
};

struct parameters {
	struct parameter *v;
	size_t n, cap;
};

/* All rows' parameters. */
struct combinations {
	struct parameters *v;
	size_t n, cap;
};

/* What the user typed; compare_options.c. */
struct compare_options {
	uint64_t size; /* bytes; 0: not given */
	const char *input;
	const char *dir;
	const char *strategies, *buffers;
	bool all, list, explain, usage;
	int runs; /* exactly so many; 0: as many as it takes */
	int min_runs, max_runs, warmup;
	uint64_t max_time, min_time; /* ns */
	int seed;
	bool cold, fsync;
	const char *cpus;
	bool no_shell, ignore_failure, show_output;
	const char *shell, *reference;
	struct compare_texts prepare, conclude; /* one for all commands, or one for each */
	struct compare_texts names;             /* of the commands, in their order; those beyond have their own text */
	VEC(struct compare_scan) scans;
	const char *step; /* of ranges without a step of their own */
	const char *engine;
	bool count_all, no_count;
	const char *format, *output, *save, *svg, *colour;
};

/* What a run is worth knowing about; a warning a row of the table in compare_warn.c. */
enum warning {
	WARN_NOISY,        /* the machine did other work meanwhile */
	WARN_LOAD,         /* it was busy before, and the run too short to tell */
	WARN_STEAL,        /* the hypervisor took time */
	WARN_SHORT,        /* runs too short to be split into user and system time */
	WARN_SPREAD,       /* samples far apart */
	WARN_MEMORY_FS,    /* no device behind the file system */
	WARN_COMPRESSES,   /* fewer bytes may be stored than were written */
	WARN_SHARED,       /* the copy may share the blocks of its input */
	WARN_GOVERNOR,     /* the CPU's clock moves */
	WARN_DEBUG_KERNEL, /* the kernel looks for bugs */
	WARN_NOT_COLD,     /* the cache could not be emptied */
	WARN_NO_RSS,       /* tracing is not permitted, so peaks are unknown */
	WARN_SMALL_INPUT,  /* buffers are larger than the input */
	WARN_FIRST_RUN,    /* the first run was unlike the rest */
	WARN_OUTLIERS,
	WARN_FAILED,    /* runs ended with another status than 0 */
	WARN_NO_COPY,   /* {out} of a command is no copy of {in} */
	WARN_SHELL,     /* nothing is left of a run when the shell's start is taken out */
	WARN_UNCOUNTED, /* no engine works here */
	WARNINGS
};

/* A measured quantity over all samples of a subject. */
struct numbers {
	struct sample_summary of;
	struct interval ci; /* 95 % bootstrap interval of the median; NAN with fewer than two samples */
};

/* One row: a strategy with a buffer, or a command. */
struct subject {
	char *name;
	uint64_t buffer;                 /* bytes; 0: none */
	const struct strategy *strategy; /* NULL: a command */
	char *command;                   /* as run, for saved runs */
	size_t index;                    /* which of the commands it is a row of */
	struct parameters params;
	char **argv, **part_argv; /* of the whole input, and of its beginning */
	char *unable;             /* why there is no result; NULL: there is */
	VEC(struct sample) samples;
	struct sample first; /* the first warm-up run */
	bool has_first;
	bool copies; /* makes a copy that can be checked */
	bool not_a_copy;
	struct count count;
	bool counted;
	bool partly;            /* only the beginning of the input was counted */
	uint64_t counted_bytes; /* how much of the input the counted run copied */
	/* Filled by compare_evaluate(). */
	struct numbers wall, user, system; /* seconds */
	double peak_rss;                   /* bytes, median; 0: unknown */
	double relative;                   /* wall median against the reference's; NAN: unknown */
	struct interval relative_ci;       /* its 95 % bootstrap interval; NAN for the reference itself */
	bool same_as_reference;            /* no difference seen */
	uint64_t calls, reads, writes, errors, moved;
	double call_seconds;    /* in calls, tracing cost taken out; below zero where that was more than there is */
	double call_resolution; /* the least sum of seconds that could be told apart from the tracing cost */
};

struct compare {
	struct compare_options opt;
	struct work work;
	VEC(struct subject *) subjects;
	size_t reference; /* index of the subject the ratios are to */
	VEC(int) cpus;
	int null_fd;
	const volatile sig_atomic_t *stop;
	bool progress;       /* standard error is a terminal */
	bool interrupted;    /* the user ended it: there are fewer runs than were wanted */
	uint64_t started_ns; /* when timing began, clock_ns() */
	double shell_s[3];   /* wall, user, system of the empty shell that was taken out; 0: nothing */
	struct env_fs fs;
	json_t *env;
	unsigned warned;                 /* bits of enum warning */
	double other_share, steal_share; /* of the processors' time while it ran; -1: not known */
	double resident; /* largest share of the input in the cache before a cold run; -1: not measured */
	char **argv;     /* the command line, for saved runs */
	int argc;
};

/* compare_options.c */
/* 0 and what was asked for, -1: end at once with *status. `first` is the first COMMAND. */
int compare_parse(struct compare_options *o, int argc, char **argv, int *first, int *status);
void compare_options_free(struct compare_options *o);

/* compare_plan.c: the subjects. 0, or -EINVAL and `why`. */
int compare_plan(struct compare *c, char *const *commands, size_t ncommands, struct buf *why);
/* The list of strategies for --list. */
void compare_list(struct buf *out, const struct table_look *look);
void compare_subject_free(struct subject *s);
/* "read/write 4K": the subject in a sentence or a picture. */
void compare_label(struct buf *out, const struct subject *s);

/* compare_scan.c: what {NAME} stands for. */
/*
 * All combinations of the scans' values, one that is empty without scans. Values that hyperfine has as words of their
 * own are taken from the operands: *taken of them. 0, -EINVAL and `why`, or -ENOMEM.
 */
int compare_combine(const struct compare_options *o, char *const *operands, size_t n, size_t *taken,
		    struct combinations *all, struct buf *why);
void compare_combinations_free(struct combinations *all);
int compare_parameters_copy(struct parameters *to, const struct parameters *from);
void compare_parameters_free(struct parameters *p);

/* compare_command.c: commands as the user wrote them. */
/*
 * Makes argv of `text` with {in}, {out}, {buffer} and `params` (may be NULL) filled in: sh -c unless no_shell.
 * NULL and `why` on a quote without its end.
 */
char **compare_command_argv(const struct compare *c, const char *text, uint64_t buffer, const struct parameters *params,
			    const char *in, struct buf *why);
/* Splits by the shell's rules for words and quotes, without expansions; NULL and `why`: a quote without its end, no memory. */
char **compare_split(const char *text, struct buf *why);

/* compare_run.c: counted and timed runs of all subjects. 0, -EINTR, or -errno and `why`. */
int compare_count(struct compare *c, struct buf *why);
int compare_time(struct compare *c, struct buf *why);

/* compare_progress.c: a line on a terminal; nothing elsewhere. `i` is the row, `round` as the runner has it. */
void compare_progress_count(const struct compare *c, size_t i);
void compare_progress_time(const struct compare *c, size_t i, int round);
void compare_progress_end(const struct compare *c);
/* How many seconds the timed runs still take, `elapsed_s` after their begin; at most, where precision ends them. */
double compare_left_s(const struct compare *c, double elapsed_s);

/* compare_stats.c */
/* Fills the derived fields of all subjects; 0 or -ENOMEM. */
int compare_evaluate(struct compare *c);
/* Fills the ratios to c->reference; 0 or -ENOMEM. */
int compare_relate(struct compare *c);
/* The 95 % bootstrap interval of the ratio of two wall medians; 0, -EINVAL where one has fewer than two samples, -ENOMEM. */
int compare_ratio(const struct compare *c, const struct subject *a, const struct subject *b, struct interval *ratio);
/* Is `a` slower than `b`, beyond chance? */
bool compare_slower(const struct compare *c, const struct subject *a, const struct subject *b);
/* How many times faster the fastest is: wall median against the least median. */
double compare_slowdown(const struct compare *c, const struct subject *s);
/* The wall time of the very first run, warm-up or timed; 0: it has none. */
double compare_first_s(const struct subject *s);
/* Does it lie beyond Tukey's fences of the others, and half as much again above or below their median? */
bool compare_first_differs(const struct subject *s);
/* How many wall times lie outside of Tukey's fences. */
size_t compare_outliers(const struct subject *s);
/* The subject with the least wall median; NULL where none ran. */
const struct subject *compare_fastest(const struct compare *c);
/* The value of one quantity of each sample, seconds or bytes; the caller frees. NULL when memory ran out. */
double *compare_values(const struct subject *s, double (*value)(const struct sample *));

/* How a run ended, as a shell has it: its status, or 128 and the signal. */
int compare_exit_status(const struct sample *s);

/* The median of one uint64_t of struct sample, at `offset`; 0 without samples. */
double compare_median(const struct subject *s, size_t offset);

/* compare_table.c: the table in any format, and what is under it. */
struct table;
/* The table of all rows, with bars in cells or not. NULL when memory ran out. */
struct table *compare_table(const struct compare *c, bool bars);
/* "1 MiB (random)": what was copied. */
void compare_title(const struct compare *c, struct buf *out);
int compare_show(const struct compare *c, struct buf *out, const struct table_look *look);

/* compare_notes.c */
/* The engine that counted the calls; NULL: none did. */
const char *compare_engine(const struct compare *c);
/* How the figures came about, a line each. */
void compare_notes(const struct compare *c, struct buf *out);

/* compare_words.c: sentences computed from the rows. */
void compare_lessons(const struct compare *c, struct buf *out);
void compare_explain(const struct compare *c, struct buf *out);

/* The name of the first strategy or command that ran with three buffers or more: what a scan is of. NULL: none did. */
const char *compare_scanned(const struct compare *c);
/*
 * Where a larger buffer stops paying: the row called `name` with the least buffer that no larger one beats by 10 %,
 * beyond chance; NULL where it did not run.
 */
const struct subject *compare_knee(const struct compare *c, const char *name);

/* compare_chart.c: each picture appends one SVG of `width` (out/chart.h); `ctx` is the struct compare. */
int compare_draw_scan(void *ctx, int width, struct buf *out);
int compare_draw_bars(void *ctx, int width, struct buf *out);
int compare_draw_tradeoff(void *ctx, int width, struct buf *out);
/*
 * Writes the picture to `path` and the others that can be drawn beside it ("x-tradeoff.svg"); `told` lists the files.
 * 0, or -errno and `why`.
 */
int compare_svg(const struct compare *c, const char *path, struct buf *told, struct buf *why);

/* compare_warn.c */
void compare_warn_find(struct compare *c);
/* A line each, after `prefix`: what and what to do about it. */
void compare_warn_say(const struct compare *c, const char *prefix, struct buf *out);
/* Short names of the warnings, for saved runs. */
json_t *compare_warn_json(const struct compare *c);

/* compare_html.c: appends the whole report as one page; 0 or -ENOMEM. */
int compare_html(const struct compare *c, struct buf *out);

/* compare_save.c: the saved run; NULL when memory ran out. */
json_t *compare_document(const struct compare *c);

#endif
