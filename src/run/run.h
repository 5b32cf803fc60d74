/* SPDX-License-Identifier: MIT */
/*
 * A run: what a command measured, as typed data. Commands that measure fill in a struct run. Code that displays figures
 * reads a struct run, whether it was just measured or comes from a file. The output depends only on the run and on the
 * options for display (format, width, colour). Therefore the run contains everything that is printed: as data, or as
 * sentences (notes, warnings, findings) if these cannot be derived from the data alone.
 *
 * - A run has a kind, a description of the machine, a description of the method (struct run_method), and subjects. A
 *   subject is one row: a strategy with a buffer size, a command, an operation, a load. It contains the samples of each
 *   metric (metrics.def) in the order in which they were taken, and members that only subjects of its kind have. A run
 *   of kind "count" has no subjects but a summary of calls.
 * - The file (sctrace-run(5)) has the same contents. The tables of fields in rows.c (run/field.h) have one line for
 *   each member.
 * - run/judge.h computes figures from the samples (medians, intervals, ratios to the reference), for a single run and
 *   for several runs. The file contains the most useful of these figures for other programs; sctrace does not read
 *   them.
 * - Numbers are doubles. Their names end with the unit (wall_s, total_bytes). NAN means unknown.
 */
#ifndef SCTRACE_RUN_RUN_H
#define SCTRACE_RUN_RUN_H

#include "base/memory.h"
#include "run/field.h"
#include "run/run_env.h"
#include "stats/change.h"
#include "stats/hist.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define RUN_SCHEMA_VERSION 1

/* The kinds of run, as bits for `kinds` in struct field. */
enum run_kind {
	RUN_COUNT = 1 << 0,
	RUN_COMPARE = 1 << 1,
	RUN_SYSCALL = 1 << 2,
	RUN_SWITCH = 1 << 3,
	RUN_SCHED = 1 << 4,
	RUN_LATENCY = 1 << 5,
	RUN_LOAD = 1 << 6,
	RUN_BENCH = 1 << 7, /* all tests of `bench` in one run */
	RUN_SAMPLED = RUN_COMPARE | RUN_SYSCALL | RUN_SWITCH | RUN_SCHED | RUN_LOAD,
	RUN_TESTS = RUN_SYSCALL | RUN_SWITCH | RUN_SCHED | RUN_LATENCY | RUN_LOAD,
};

enum run_unit { IN_NOTHING, IN_SECONDS, IN_BYTES, IN_COUNTS, IN_SHARES };
enum run_better { BETTER_NONE, BETTER_LOWER, BETTER_HIGHER };

enum metric {
#define METRIC(id, ...) METRIC_##id,
#include "run/metrics.def"
#undef METRIC
	METRICS
};

struct metric_row {
	const char *key, *column, *median, *title;
	enum run_unit unit;
	enum run_better better;
	unsigned kinds;
};
extern const struct metric_row metric_rows[METRICS];

/*
 * How a program used all its files, pipes and sockets. The four members *_share are parts of the number of requests;
 * their sum is 1.
 */
struct run_use {
	bool known;
#define USE(member, word, title, unit) double member;
#include "run/uses.def"
#undef USE
};

/*
 * The calls of a subject. They were counted in a separate execution that was traced; the samples come from other
 * executions.
 */
struct run_counts {
	bool known;
	char *engine;
	double counted_bytes; /* bytes of input in the traced execution; less than input_bytes if tracing the whole
			       * input would take too long */
	double calls, reads, writes, errors, moved_bytes;
	double in_calls_s;            /* time in calls, after the cost of tracing was subtracted; can be negative */
	double in_calls_resolution_s; /* in_calls_s below this value cannot be distinguished from the cost of tracing */
	/* Calls that are known to have waited (enum call_wait), and their time; NAN if it is not known of any call. */
	double waits, waited_s;
	enum truth left; /* the program left processes behind, whose later calls were not counted; unknown if not */
	double calls_before_main, bytes_before_main; /* bytes: those that these calls moved */
	struct summary by_call;
};

/* A period in which a process of bench sched ran. */
struct run_slice {
	double start, end, cpu; /* `start` and `end` in seconds since all processes were started; number of the CPU */
};
struct run_process {
	double nice;
	enum truth done;
	double latency_s, cpu_share, cpu_share_by_weight, voluntary_switches, involuntary_switches;
	struct reals progress_s; /* the times at which 1 %, 2 % and so on of the work were done */
	VEC(struct run_slice) slices_s;
	enum truth slices_whole;
};
struct run_repetition {
	double throughput_per_s, latency_mean_s, others_share;
	VEC(struct run_process) processes;
};

/* Figures computed from a subject's samples by run_judge(). */
struct run_judged {
	struct sample_summary of[METRICS];
	struct interval median_ci;   /* 95 % interval of the median of TIME; NAN if there are fewer than two samples */
	double relative;             /* median of TIME divided by that of the reference; NAN if unknown */
	struct interval relative_ci; /* 95 % interval of `relative`; NAN for the reference itself */
	bool same_as_reference;      /* `relative_ci` includes 1: no difference was seen */
	double slowdown;             /* median of TIME divided by that of the fastest subject */
};

/* A metric that compare took from the output of a command (--metric). */
struct run_metric {
	char *name;
	struct reals samples;         /* in the order of the runs; NAN: the output did not contain it */
	struct sample_summary judged; /* set by run_judge() */
};

struct run_subject {
	char *name;                    /* unique in the run */
	char *unit;                    /* unit of the samples of TIME in the file: "s", "ns" */
	char *test;                    /* kind "bench": the test that the subject belongs to, such as "syscall" */
	char *unable;                  /* why the subject could not be measured; NULL if it was measured */
	char *failed;                  /* why no more runs of the subject were measured; NULL if none failed */
	struct reals samples[METRICS]; /* samples of TIME are in seconds, whatever `unit` is */
	/* Members of compare: */
	char *strategy; /* NULL if the subject is a command */
	char *command;
	double buffer_bytes, input_bytes;
	struct texts parameters;  /* the values that replaced {NAME} in the command */
	double first_run_s;       /* duration of the first run: a warm-up run or, without one, the first sample */
	enum truth largest;       /* the peak RSS is that of the command's largest process */
	enum truth copied;        /* {out} was verified to be a copy of {in} */
	enum truth traced;        /* no: its processes were not traced; otherwise unknown */
	double output_bytes;      /* bytes that it wrote to a pipe as its standard output in the warm-up run */
	enum truth input_changed; /* the command has changed {in}; unknown if it has not */
	struct run_counts counts;
	struct run_use use; /* known only with --columns */
	VEC(struct run_metric) metrics;
	/* Members of bench syscall and bench switch: */
	char *group, *about, *what, *cpus;
	double batch, kernel_calls, two_loops_ns, resolution_ns, failures;
	enum truth resolved, trap;
	double rounds, round_median_ns, own_median_ns;
	double voluntary_per_round, involuntary_per_round;
	/* Members of bench sched: */
	VEC(struct run_repetition) repetitions;
	/* Members of bench latency and bench load: */
	double wakeups, mean_ns, min_ns, max_ns, stddev_ns, median_ns, p99_ns, p999_ns, missed;
	struct hist hist;
	struct numbers load_work; /* work done by each load: {"cpu_loops": 12} */
	double load_span_s;

	char *base; /* the name without the buffer size; not saved */
	struct run_judged judged;
};

/* How the run was measured: the object "settings" of compare, or "method" of bench. */
struct run_method {
	bool known;
	/* Members of compare: */
	double looks; /* how often the intervals could be tested (CHANGE_LOOKS); unknown: once */
	double input_bytes, warmup, shell_taken_out_s, shell_after_s, other_cpu_share, steal_share,
		input_resident_share;
	char *input, *input_name, *reference, *columns;
	char *output;                /* where the output of commands went: null, pipe, inherit or a file; NULL: null */
	char *input_file_system;     /* the type of the file system of the input, if it is not that of the copies */
	double throttled, oom_kills; /* during the timed runs, because of the limits of the control group */
	enum truth input_sparse;     /* yes: the input has holes; otherwise unknown */
	enum truth cold, fsync, shell, counted, explain, usage;
	/* Members of bench: */
	char *cpus, *mode, *policy, *command, *suite_without;
	double samples, sample_ns, seed, clock_ns, clock_step_ns, single_ns, loop_ns, spread_ns;
	double working_set_bytes, alone_s, chunks, chunk_ns, interval_ns, time_ns, priority, suite_times;
	enum truth memory_locked, idle_states_held;
};
/* Kind "bench" has a method for each test. */
struct run_methods {
	bool known;
	struct run_method syscall, switches, sched, latency, load;
};

struct run_warning {
	char *name, *what, *advice, *text;
	struct strings rows; /* names of the subjects that the warning is about; unknown: all subjects */
};

/* Facts about the traced program, for kind "count". */
struct run_program {
	bool known;
	double wall_s, user_s, system_s, peak_rss_bytes, calls_before_main, processes, exit_status, killed_by_signal;
	double lost_calls, untraced_children;
	enum truth largest;
	char *main_found_by;
};

/* A request: the time since the start of the trace, the offset in the file, and the number of bytes that it moved. */
struct run_io_mark {
	double time_s, offset, bytes;
};
struct run_io_size {
	double bytes, requests;
};
/*
 * How a file, pipe or socket was used. A request is a call that moved at least one byte. Each request is either
 * sequential, random, a repeated read or a repeated write, so the sum of these four is the number of requests.
 */
struct run_io_file {
	char *name, *kind;
	double opens, calls, reads, writes, read_bytes, written_bytes, time_s;
	double sequential, random, reread, rewritten;
	double seeks, seeks_without_effect, syncs, mmaps, unclosed;
	double read_waits, read_waited_s; /* how many reads waited (enum call_wait), and their time; NAN if unknown */
	VEC(struct run_io_size) sizes;    /* the most frequent requested sizes, the most frequent one first */
	struct hist read_sizes, write_sizes;
	/* Recorded only for the busiest files; if a file has many requests, a random selection of them. */
	VEC(struct run_io_mark) read_marks, write_marks;
};
/*
 * A finding of --io: how the use of a file could be improved. `cost_s`, `saving_low_s` and `saving_high_s` are NAN if
 * unknown. `delays_s` is the part of the cost that the saving leaves out, because calls waited or were interrupted.
 */
struct run_io_finding {
	char *kind, *file, *text;
	double cost_s, saving_low_s, saving_high_s, delays_s;
};
struct run_io {
	bool known;
	VEC(struct run_io_file) files;       /* in descending order of time */
	VEC(struct run_io_finding) findings; /* the most expensive one first */
	struct run_use use;                  /* totals of all files; not saved */
};

/* A process of --tree. Its children follow it, with a `depth` that is larger by 1. Unknown numbers are NAN. */
struct run_tree_process {
	double pid, parent, depth;
	char *command;
	double start_s, wall_s, cpu_s, peak_rss_bytes; /* start_s: since the start of the trace */
	double exit_status;
	char *killed_by, *reason; /* the signal that ended it, and what is known of its cause */
	char *message;            /* if it failed: what it wrote to standard error */
	enum truth is_cause;      /* its failure made the program fail, as far as the order of the failures tells */
};
struct run_tree {
	bool known;
	VEC(struct run_tree_process) processes;
};

/* A path of --files, and what the traced programs did with it. */
struct run_path {
	char *path;
	struct strings uses;
	char *target; /* the file that was opened, if `path` leads to it through a symbolic link; or NULL */
};
struct run_paths {
	bool known;
	VEC(struct run_path) paths;
};

/* The options with which the user chose the tables of -c and --io. */
struct run_view {
	bool known;
	char *columns, *sort, *by, *hist;
	double top;
	double files; /* number of rows of the table of files; 0: all; NAN: the usual number */
	enum truth errors, wide;
	enum truth calls; /* TRUTH_NO: the table of calls is not shown, because --io was given without -c */
};

struct run {
	char *kind, *date, *version;
	struct strings command;
	struct env env;
	struct run_method method;
	struct run_methods methods;
	VEC(struct run_subject) subjects;
	struct strings head;  /* sentences above the tables that say how the run was measured */
	struct texts heads;   /* kind "bench": the same kind of sentences for each test */
	struct strings notes; /* sentences for the user, printed below the tables */
	VEC(struct run_warning) warnings;
	struct strings lessons; /* the findings: sentences that sum up the table of compare */
	struct strings reasons; /* sentences that explain the time of each subject */
	enum truth interrupted;
	/* Members of count: */
	char *engine;
	struct strings selection; /* the options that selected calls, such as "-e trace=read"; empty: all calls */
	struct run_program program;
	struct run_view view;
	struct strings footer; /* lines below the table of calls */
	struct summary calls;
	struct run_io io;       /* the result of --io */
	struct run_tree tree;   /* the result of --tree */
	struct run_paths files; /* the result of --files */

	bool merged;   /* the run was merged from several runs, so samples with the same index are not of the same
			* round; not saved */
	unsigned bits; /* the bit of `kind` (enum run_kind), or 0 for a kind that this version does not know; not
			* saved */
	size_t reference, fastest; /* indices into `subjects`, or subjects.n if there is none; set by run_judge() */
};

/*
 * Initialises an empty run of `kind` with the current date. `argv` is the command line of sctrace. Free it with
 * run_free().
 */
void run_init(struct run *r, const char *kind, int argc, char *const *argv);
void run_free(struct run *r);
/* Frees the contents of a struct run_io that is not a member of a struct run. */
void run_io_free(struct run_io *io);
/* Returns the bit for the name of a kind, or 0 if the name is unknown. */
unsigned run_kind_bits(const char *kind);
/* Appends a subject whose members are all unknown. The returned pointer is valid until the next subject is added. */
struct run_subject *run_add_subject(struct run *r, const char *name, const char *unit);
/* Returns the subject with this name, or NULL. */
const struct run_subject *run_find(const struct run *r, const char *name);
/* Appends a sentence to r->notes, unless they contain it already. */
void run_note(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Frees all warnings of the run. */
void run_clear_warnings(struct run *r);

extern const struct fields run_fields, run_method_fields, run_subject_fields, run_program_fields;
extern const struct fields run_io_file_fields, run_io_finding_fields;
/*
 * Returns the kinds (enum run_kind) whose members `s` has: the kind of the run or, if that is "bench", the kind of the
 * test to which `s` belongs.
 */
unsigned run_subject_bits(const struct run *r, const struct run_subject *s);

/* Decide whether two runs can be compared or merged, and merge them (merge.c). */

/*
 * Decides whether `a` and `b` can be compared. Returns 0, or -EINVAL with the reason in `why`, which names the runs by
 * `path_a` and `path_b`.
 */
int run_comparable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/* Decides whether the samples of `a` and `b` can be merged into one run. Returns as run_comparable() does. */
int run_poolable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/*
 * Moves the samples, histograms and calls of `from` into `to`. Facts that concern only a single run, or that differ in
 * the two runs, become unknown. Call run_judge() afterwards.
 */
void run_merge(struct run *to, struct run *from);

/* Appends the JSON document that run_save() writes. Each element of "results" is one line. */
void run_dump(const struct run *r, struct buf *out);
/*
 * Saves the run in the file `path`. The document is written to a temporary file in the same directory (mode 0600),
 * which is then renamed, so that a partial file is never left. A symbolic link is followed, except in a sticky
 * directory that everyone can write to (-ELOOP). If `path` exists and is not a regular file (/dev/stdout, a pipe), the
 * document is written to it directly. Returns 0, or -errno with a sentence in `why` that names the file.
 */
int run_save(const struct run *r, const char *path, struct buf *why);
/* Returns the name of a run's file for messages: "standard input" if `path` is "-". */
const char *run_file_name(const char *path);
/*
 * Reads and checks the file `path`, or standard input if `path` is "-", and calls run_judge(). Control bytes in the
 * strings of the file are escaped (escape_line()). Returns 0, or -EINVAL with a sentence in `why` if the file cannot be
 * read, is truncated, damaged or not a saved run, or has a newer schema. Call run_free() in every case.
 */
int run_load(struct run *r, const char *path, struct buf *why);
/* Like run_load(), for a document in memory. Messages call the document `name`. */
int run_parse(struct run *r, const char *text, const char *name, struct buf *why);

/* Figures about how a program used its files. Each figure has a word, which the user types in `compare --columns`. */

enum use {
#define USE(member, word, title, unit) USE_##member,
#include "run/uses.def"
#undef USE
	USES
};

struct use_row {
	const char *key, *word, *title;
	enum run_unit unit;
	size_t offset; /* offset of the figure in struct run_use */
};
extern const struct use_row use_rows[USES];

/* Returns the value of a figure, or NAN if it is unknown. */
double run_use(const struct run_use *u, enum use which);
/* Returns true if the comma-separated list contains the word of `which`, or "all". `list` may be NULL. */
bool run_use_listed(const char *list, enum use which);
/*
 * Checks a list for run_use_listed(). Returns 0, or -EINVAL with a sentence in `why` that names the unknown word and
 * similar ones.
 */
int run_use_check(const char *list, struct buf *why);

#endif
