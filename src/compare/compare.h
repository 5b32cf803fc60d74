/* The inside of `sctrace compare`: what its files share. */
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
	struct page_options show;
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
};

struct compare {
	struct compare_options opt;
	struct work work;
	VEC(struct subject *) subjects;
	VEC(int) cpus;
	int null_fd;
	const volatile sig_atomic_t *stop;
	bool progress;                   /* standard error is a terminal */
	bool interrupted;                /* the user ended it: there are fewer runs than were wanted */
	uint64_t started_ns;             /* when timing began, clock_ns() */
	double shell_s[3];               /* wall, user, system of the empty shell that was taken out; 0: nothing */
	struct run run;                  /* what was measured; its subjects are filled by compare_fill() */
	double other_share, steal_share; /* of the processors' time while it ran; -1: not known */
	double resident; /* largest share of the input in the cache before a cold run; -1: not measured */
};

/* compare_options.c */
/* 0 and what was asked for, -1: end at once with *status. `first` is the first COMMAND. */
int compare_parse(struct compare_options *o, int argc, char **argv, int *first, int *status);
void compare_options_free(struct compare_options *o);

/* measure.c */
/* Makes the work directory, the subjects and the input, and describes the machine. 0, or -errno and `why`. */
int compare_prepare(struct compare *c, char *const *commands, size_t n, struct buf *why);
/*
 * Counts, times, and fills c->run. 0, or -errno and `why`; where calls cannot be counted, `uncounted` says why, and times are
 * measured all the same. -EINTR: the user ended it before there was anything to show.
 */
int compare_measure(struct compare *c, struct buf *uncounted, struct buf *why);

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

/* How a run ended, as a shell has it: its status, or 128 and the signal. */
int compare_exit_status(const struct sample *s);

/* fill.c: makes the run of what was measured, with all sentences. 0; -EINVAL and `why`: --reference names no row; -ENOMEM. */
int compare_fill(struct compare *c, struct buf *why);
/* Judges a run, and says in sentences what it tells: notes, warnings, findings, reasons. Those that were there are replaced. */
int compare_tell(struct run *r);

/* notes.c: how the figures came about, a line each. */
void compare_notes(const struct run *r, struct buf *out);
/* explain.c: sentences computed from the rows: what there is to see, and why each row costs what it costs. */
void compare_lessons(const struct run *r, struct buf *out);
void compare_explain(const struct run *r, struct buf *out);
/* warn.c: adds what may spoil the run. */
void compare_warn(struct run *r);
/* Does the first run lie beyond Tukey's fences of the others, and half as much again above or below their median? */
bool compare_first_differs(const struct run *r, const struct run_subject *s);

#endif
