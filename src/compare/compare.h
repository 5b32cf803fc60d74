/* SPDX-License-Identifier: MIT */
/* The types and functions that the files of src/compare share. */
#ifndef SCTRACE_COMPARE_COMPARE_H
#define SCTRACE_COMPARE_COMPARE_H

#include "base/memory.h"
#include "measure/sample.h"
#include "measure/work.h"
#include "present/page.h"
#include "run/run.h"

#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct table_look;

/* The values of an option that may be given several times. The strings belong to argv. */
struct compare_texts {
	const char **v;
	size_t n, cap;
};

/*
 * The value of --parameter-scan (a range of numbers) or --parameter-list, as typed: NAME=..., or only NAME if the
 * values are separate arguments, as with hyperfine.
 */
struct compare_scan {
	const char *text;
	bool range;
};

/*
 * The combinations of parameter values. A command has a row for each combination. In the command of that row, the name
 * of each parameter in braces, {NAME}, is replaced by its text.
 */
struct combinations {
	struct texts *v;
	size_t n, cap;
};

/* A metric of --metric, which is taken from the output of a command. */
struct compare_metric {
	char *name;
	regex_t pattern;
};

/* The options for commands that are run beside the measured ones, and are not measured themselves. */
enum companion { BESIDE_SETUP, BESIDE_PREPARE, BESIDE_CONCLUDE, BESIDE_CLEANUP, BESIDES };
extern const char *const compare_companions[BESIDES]; /* their names: "--setup" */

/* The options of the user, parsed by cmd/compare/cmd_compare.c. */
struct compare_options {
	uint64_t size; /* size of the input in bytes; 0: not given */
	const char *input;
	const char *dir;
	const char *strategies, *buffers;
	bool all, list, explain, usage;
	int runs; /* exact number of runs; 0: as many as needed */
	int min_runs, max_runs, warmup;
	uint64_t max_time, min_time; /* in ns */
	int seed;
	bool cold, fsync;
	const char *cpus;
	bool no_shell, show_output;
	bool ignore_failure; /* permit every exit status of commands */
	VEC(int) ignored;    /* permit these exit statuses of commands */
	uint64_t timeout;    /* limit for the time of a run in ns; 0: none */
	const char *shell, *reference;
	struct compare_texts beside[BESIDES]; /* of each option, one value for all commands, or one for each */
	struct compare_texts names;           /* names for the first commands; the others are shown as typed */
	const char *columns;                  /* list of words (run/run.h); NULL: none */
	VEC(struct compare_scan) scans;
	const char *step; /* step of ranges that do not contain one */
	const char *engine;
	bool count_all, no_count, no_trace;
	const char *sort; /* how the rows are sorted; NULL: as the user named them */
	VEC(struct compare_metric) metrics;
	const char *command_output; /* null, pipe, inherit (with show_output) or a file; NULL: null */
	struct page_options show;
};

/* A row of the comparison: a strategy with a buffer size, or a command. */
struct subject {
	char *name;
	uint64_t buffer;                 /* buffer size in bytes; 0: none */
	const struct strategy *strategy; /* NULL if the subject is a command */
	char *command;                   /* the command as the user typed it, for saved runs */
	size_t index;                    /* index of the command in the user's list */
	struct texts params;             /* the values of its parameters */
	char **argv, **part_argv;        /* the command lines for the whole input, and for its first part */
	char *unable;                    /* why the subject failed, and has not been run since; NULL if it works */
	bool set_up;                     /* its command of --setup has been run */
	VEC(struct sample) samples;
	VEC(struct run_metric) metrics; /* one for each option --metric; their names belong to the options */
	struct sample first;            /* the first warm-up run */
	bool has_first;
	bool copies; /* the subject writes a copy of the input, which sctrace checks */
	bool not_a_copy;
	bool untraced;         /* its processes are not traced */
	uint64_t output_bytes; /* what it wrote to standard output in the warm-up run; 0: nothing, or unknown */
	bool changes_input;    /* the command has changed, replaced or removed {in} */
	struct count count;
	bool counted;
	struct run_use use;     /* known only with --columns */
	uint64_t counted_bytes; /* number of input bytes that were copied while calls were counted */
};

struct compare {
	struct compare_options opt;
	struct work work;
	VEC(struct subject *) subjects;
	VEC(int) cpus;
	int null_fd;
	const volatile sig_atomic_t *stop;
	int round;               /* the present run: number of the round from 0, or ROUND_* */
	char variable[32];       /* `SCTRACE_RUN=` and the present run, to which the environment refers (putenv(3)) */
	struct strings failures; /* messages about commands that failed, which end the comparison with an error */
	bool progress;           /* progress is shown on standard error */
	bool interrupted;        /* the user interrupted the runs, so there are fewer than requested */
	uint64_t started_ns;     /* value of clock_ns() when the timed runs began */
	double shell_s[3];       /* wall, user and system time in seconds of an empty shell, which are
					  * subtracted from the times of commands; 0: nothing is subtracted */
	double shell_after_s;    /* the wall time of an empty shell after the runs; -1: unknown */
	struct run run;          /* the results; compare_measure() sets its subjects */
	double drain_s;          /* CPU time in seconds that sctrace needed to read the output of commands */
	unsigned loads, others;  /* how often the load was read before a timed run, and the sum of the runnable
				  * threads of other programs that were found */
	double other_share, steal_share; /* shares (0 to 1) of the CPU time that other programs and other guests of
					  * the hypervisor used during the runs; -1: unknown */
	double resident; /* largest share (0 to 1) of the input in the page cache before a cold run; -1: unknown */
};

/* cmd/compare/cmd_compare.c */
void compare_options_free(struct compare_options *o);

/* compare_run.c */
enum { ROUND_WARMUP = -1, ROUND_COUNT = -2, ROUND_NONE = -3 };
/* Notes which run begins, for messages and for the environment variable SCTRACE_RUN of the commands. */
void compare_begin_run(struct compare *c, int round);
/* Returns the exit status as the shell reports it: 128 plus the number of a signal that killed the program. */
int compare_exit_status(int status);
/* Returns true if this status of wait(2) is success, or --ignore-failure permits it. */
bool compare_permits(const struct compare *c, const struct subject *s, int status);
/*
 * Notes that the subject failed for this reason, so it is not run again. A strategy shows the reason in its row. For a
 * command, appends a message with `advice` and with what the command wrote to standard error to c->failures. Returns 1.
 */
int compare_give_up(struct compare *c, struct subject *s, const char *reason, const char *advice);
/* Gives up the subject if this status of wait(2) is a failure that is not permitted. Returns 0, or 1 if so. */
int compare_check_status(struct compare *c, struct subject *s, int status);
/*
 * Gives up the subject if the result `err` of a run, with the reason in `why`, concerns only the subject; clears `why`
 * and returns 1. Returns `err` if it is not an error, or if it concerns all subjects.
 */
int compare_settle(struct compare *c, struct subject *s, int err, struct buf *why);
/* Runs the command of such an option, if there is one. Returns 0, or -errno with the reason in `why`. */
int compare_beside(struct compare *c, const struct subject *s, enum companion which, struct buf *why);
/* Runs the command of --setup for each subject. Returns 0 or -EINTR. */
int compare_setup(struct compare *c, struct buf *why);
/* Runs the command of --cleanup for each subject whose command of --setup was run. */
void compare_cleanup(struct compare *c);

/* command.c: --metric */
/*
 * Parses "NAME=/REGEX/". Returns 0 and appends the metric to the list of `o`, or -EINVAL with the reason in `why`.
 */
int compare_metric_parse(struct compare_options *o, const char *text, struct buf *why);
/*
 * Returns the number that the pattern of `m` finds in one of these files, which are searched in this order: the first
 * parenthesised part, or the whole match. Returns NAN if there is none.
 */
double compare_metric_read(const struct compare_metric *m, const char *const *paths, size_t n);

/* measure.c */
/*
 * Creates the work directory, the subjects and the input, and collects the description of the machine. Returns 0, or
 * -errno with the reason in `why`.
 */
int compare_prepare(struct compare *c, char *const *commands, size_t n, struct buf *why);
/*
 * Counts the calls and measures the times of all subjects, and fills in c->run. If calls cannot be counted, `uncounted`
 * contains the reason, and only times are measured. Returns 0; -EINTR if the user interrupted the measurement before
 * there was any result; or another -errno with the reason in `why`.
 */
int compare_measure(struct compare *c, struct buf *uncounted, struct buf *why);
/* Returns true if something was measured, so that there is a result to display. */
bool compare_any_result(const struct compare *c);

/* compare_plan.c: creates the subjects. Returns 0, or -EINVAL with the reason in `why`. */
int compare_plan(struct compare *c, char *const *commands, size_t ncommands, struct buf *why);
/* Appends the table of strategies that --list prints. */
void compare_list(struct buf *out, const struct table_look *look);
void compare_subject_free(struct subject *s);
/* Returns true if a command, or the command of an option such as --prepare, contains {in}. */
bool compare_names_input(const struct compare *c);
/* Appends the name of a subject for sentences and pictures: "read/write 4K". */
void compare_label(struct buf *out, const struct subject *s);

/* compare_plan.c: the values of the parameters {NAME} */
/*
 * Creates all combinations of the values of all parameters; without parameters, one empty combination. With the syntax
 * of hyperfine, the values of a parameter are separate arguments: the first of the `n` operands are then values, and
 * *taken is the number of these. Returns 0, or -EINVAL with the reason in `why`.
 */
int compare_combine(const struct compare_options *o, char *const *operands, size_t n, size_t *taken,
		    struct combinations *all, struct buf *why);
void compare_combinations_free(struct combinations *all);
/* Appends copies of the names and texts of `from` to `to`. */
void compare_copy_texts(struct texts *to, const struct texts *from);

/* command.c: the commands that the user typed */
/*
 * Returns the argument list for `text`, in which {in}, {out}, {buffer} and the names of `params` are replaced. Only the
 * texts of `params` are not quoted. The list runs the command by sh -c (or by the shell of --shell), unless the option
 * no_shell is set. The caller frees it with words_free(). Returns NULL with the reason in `why` if a quote is not
 * closed, if the value of --shell is empty, or if no_shell is set and `text` is empty.
 */
char **compare_command_argv(const struct compare *c, const char *text, uint64_t buffer, const struct texts *params,
			    struct buf *why);
/* Returns a copy of the name of a command (--command-name), in which the names of parameters are replaced. */
char *compare_fill_name(const char *name, const struct texts *params);
/*
 * Splits `text` into words as the shell does, with quotes but without expansions. The caller frees the list with
 * words_free(). Returns NULL with the reason in `why` if a quote is not closed.
 */
char **compare_split(const char *text, struct buf *why);

/*
 * compare_run.c: compare_count() runs each subject once to count its calls; compare_time() measures times in other runs. Both
 * return 0, -EINTR, or another -errno with the reason in `why`.
 */
int compare_count(struct compare *c, struct buf *why);
int compare_time(struct compare *c, struct buf *why);
/*
 * enough.c: the order of runs: first the warm-up, then rounds. In a round each subject runs once. The order of the
 * subjects is random, and different in each round.
 */
struct runner {
	size_t subjects;
	unsigned warmup;    /* number of warm-up rounds, which are not counted */
	unsigned min_runs;  /* number of rounds in which every subject takes part */
	unsigned max_runs;  /* maximum number of rounds */
	uint64_t budget_ns; /* after min_runs rounds, further rounds start only within this time */
	uint64_t seed;      /* seed of the random order */
	/*
	 * Runs `subject` once. `round` starts at 0, and is -1 during the warm-up. Returns 0; 1 if the subject cannot
	 * run and must not be run again; or -errno to end all runs.
	 */
	int (*run)(void *ctx, size_t subject, int round);
	/* Returns true if `subject` has enough runs. Called only after min_runs rounds. */
	bool (*enough)(void *ctx, size_t subject);
	void *ctx;
};

/* Runs the warm-up and all rounds. Returns 0 or the negative result of `run`. */
int runner_go(const struct runner *r);

/* enough.c: returns true if subject `i` has been timed often enough. */
bool compare_enough(const struct compare *c, size_t i);
/* Returns 0. If no row has the name in --reference, returns -EINVAL with a sentence in `why`. */
int compare_check_reference(const struct compare *c, struct buf *why);
/* Returns how often compare_enough() could test the intervals during the measurement and at its end (CHANGE_LOOKS). */
int compare_looks(const struct compare *c);

/*
 * enough.c: if standard error is a terminal, shows in one line what compare is doing. `i` is the index of the
 * subject; `round` is negative for a warm-up.
 */
void compare_progress_count(const struct compare *c, size_t i);
void compare_progress_time(const struct compare *c, size_t i, int round);
void compare_progress_end(const struct compare *c);
/*
 * Estimates how many seconds the timed runs will still take. `elapsed_s` is the time since the first of them began. The
 * result is an upper limit, because the measurement may end early when the times are precise enough.
 */
double compare_left_s(const struct compare *c, double elapsed_s);

/*
 * Fills in c->run from the measurements, including its notes, warnings and findings. Returns 0, or -EINVAL if
 * no row has the name that --reference gives.
 */
int compare_fill(struct compare *c);
/* Calls run_judge(), and replaces the notes, warnings, findings and explanations of the run by newly generated ones. */
int compare_tell(struct run *r);

/* warn.c: appends the lines that say how the figures were obtained. */
void compare_notes(const struct run *r, struct buf *out);
/* explain.c: compare_lessons() appends the findings; compare_explain() appends sentences about the time of each row. */
void compare_lessons(const struct run *r, struct buf *out);
void compare_explain(const struct run *r, struct buf *out);
/* warn.c: adds warnings about circumstances that may distort the run. */
void compare_warn(struct run *r);
/*
 * Returns true if the first run of `s` lies outside Tukey's fences of the other runs of `s`, and takes more than 1.5
 * times their median, or less than two thirds of it.
 */
bool compare_first_differs(const struct run *r, const struct run_subject *s);

/* The table of copy strategies. `sctrace compare` uses it, also for --list, --help and --explain. */

enum strategy_flags {
	STRATEGY_DEFAULT = 1 << 0,  /* part of the comparison if the user does not choose strategies */
	STRATEGY_BUFFER = 1 << 1,   /* has the option -b SIZE */
	STRATEGY_PER_BYTE = 1 << 2, /* makes two system calls for each byte, whatever the size of the buffer */
	STRATEGY_ALIGNED = 1 << 3,  /* the size of its buffer must be a multiple of 4096 */
	STRATEGY_GATHERED = 1 << 4, /* the C library combines smaller buffers into pages */
	STRATEGY_BATCHED = 1 << 5,  /* one call reads and writes STRATEGY_BATCH buffers */
};

/* How many requests copy-io-uring submits at once. */
#define STRATEGY_BATCH 8

struct strategy {
	const char *name;    /* the name that users see and type: "read/write" */
	const char *program; /* the name of the program in examples/ that copies: "copy-read-write" */
	unsigned flags;
	const char *buffers; /* the default buffer sizes, as strategy_buffers() parses them; NULL without the option
			      * -b */
	const char *what;    /* a description of the strategy in one line, for --list */
	const char *why;     /* what the time of the strategy depends on, in one sentence, for --explain */
};

/* Returns the array of all strategies in the order of display, and stores their number in *n. */
const struct strategy *strategy_all(size_t *n);
/* Returns the strategy that has this name, or whose program has this name (with or without "copy-"), or NULL. */
const struct strategy *strategy_find(const char *name);
/*
 * Estimates the number of system calls for `bytes` of input with a buffer of size `buffer` (0: none). The estimate is
 * used to recognise runs that would take too long, and is never printed as a result.
 */
uint64_t strategy_expected_calls(const struct strategy *s, uint64_t bytes, uint64_t buffer);
/*
 * Appends the path of the copier `program`, which is searched for in examples/ beside the running executable (in a
 * build), in the libexec directory that belongs to the executable, in the installation directory, and in the directory
 * in which the copiers were built. Returns 0, or -ENOENT with a message in `why` that names the first and the third of
 * these directories.
 */
int strategy_locate(const char *program, struct buf *path, struct buf *why);

/* Maximum number of sizes in a list of buffer sizes. */
#define STRATEGY_BUFFERS_MAX 64
/*
 * Parses a list of sizes ("1,4K,64K") into `sizes`. "all" means the powers of two from 1 byte to 4 MiB. Returns the
 * number of sizes, or -EINVAL with the reason in `why`.
 */
int strategy_buffers(const char *list, uint64_t sizes[STRATEGY_BUFFERS_MAX], struct buf *why);

#endif
