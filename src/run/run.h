/*
 * A run: what a command measured, as typed data. Commands that measure fill in a struct run. Code that displays reads
 * one, whether it was just measured or comes from a file. The output depends only on the run and on how it is displayed
 * (format, width, colour). Therefore the run contains everything that is printed: as data or, if it took knowledge to
 * find out (notes, warnings, findings), as sentences.
 *
 * - A run has a kind, the machine, how it was measured (struct run_method), and subjects. A subject is one row: a
 *   strategy with a buffer, a command, an operation, a load. It has the samples of each metric (metrics.def) in the
 *   order they were taken, and further members of its kind. Kind "count" has a summary of calls instead.
 * - The file (sctrace-run(5)) has the same contents, through the tables of fields in run.c (run/field.h): one line for
 *   each member.
 * - run/judge.h computes what follows from the samples (medians, intervals, ratios to the reference), for the run of
 *   one command and for several runs alike. The file contains the most useful of it for other programs; it is not read
 *   back.
 * - Numbers are doubles in the unit that their name ends in. NAN means unknown.
 */
#ifndef SCTRACE_RUN_RUN_H
#define SCTRACE_RUN_RUN_H

#include "base/vec.h"
#include "run/env.h"
#include "run/field.h"
#include "stats/boot.h"
#include "stats/hist.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define RUN_SCHEMA_VERSION 1

/* The kinds, as bits of `kinds` in struct field. */
enum run_kind {
	RUN_COUNT = 1 << 0,
	RUN_COMPARE = 1 << 1,
	RUN_SYSCALL = 1 << 2,
	RUN_SWITCH = 1 << 3,
	RUN_SCHED = 1 << 4,
	RUN_LATENCY = 1 << 5,
	RUN_LOAD = 1 << 6,
	RUN_BENCH = 1 << 7, /* all tests of bench on one page */
	RUN_SAMPLED = RUN_COMPARE | RUN_SYSCALL | RUN_SWITCH | RUN_SCHED | RUN_LOAD,
	RUN_TESTS = RUN_SYSCALL | RUN_SWITCH | RUN_SCHED | RUN_LATENCY | RUN_LOAD,
};

enum run_unit { IN_NOTHING, IN_SECONDS, IN_BYTES, IN_COUNTS };
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

/* Results of a subject's counted run. */
struct run_counts {
	bool known;
	char *engine;
	double counted_bytes; /* of the input; less than all of it if that would take too long */
	double calls, reads, writes, errors, moved_bytes;
	double in_calls_s;            /* without the tracing cost; negative if that was more than there is */
	double in_calls_resolution_s; /* a shorter time cannot be told apart from the cost of tracing */
	double calls_before_main;
	struct summary by_call;
};

/* A process in a repetition of bench sched. */
struct run_slice {
	double start, end, cpu; /* seconds since the common start */
};
struct run_process {
	double nice;
	enum truth done;
	double latency_s, cpu_share, cpu_share_by_weight, voluntary_switches, involuntary_switches;
	struct reals progress_s; /* when each percent was done */
	VEC(struct run_slice) slices_s;
	enum truth slices_whole;
};
struct run_repetition {
	double throughput_per_s, latency_mean_s, others_share;
	VEC(struct run_process) processes;
};

/* Figures that follow from a subject's samples; run_judge() fills them in. */
struct run_judged {
	struct sample_summary of[METRICS];
	struct interval median_ci;   /* of TIME; NAN with fewer than two samples */
	double relative;             /* median of TIME relative to the reference's; NAN: unknown */
	struct interval relative_ci; /* its 95 % interval; NAN for the reference itself */
	bool same_as_reference;      /* no difference seen */
	double slowdown;             /* median of TIME relative to the least one */
};

struct run_subject {
	char *name;                    /* unique in the run */
	char *unit;                    /* of the samples in the file: "s", "ns" */
	char *test;                    /* for kind "bench": the test, such as "syscall" */
	char *unable;                  /* the reason why it could not be measured; NULL: it was */
	struct reals samples[METRICS]; /* TIME in seconds */
	/* compare */
	char *strategy; /* NULL: it is a command */
	char *command;
	double buffer_bytes, input_bytes;
	struct texts parameters; /* the values of {NAME} in a command */
	double first_run_s;      /* the first warm-up run */
	enum truth largest;      /* the peak is that of the largest of its processes */
	enum truth copied;       /* {out} was a copy of {in} */
	struct run_counts counts;
	/* bench syscall, bench switch */
	char *group, *about, *what, *cpus;
	double batch, kernel_calls, two_loops_ns, resolution_ns, failures;
	enum truth resolved, trap;
	double rounds, round_median_ns, own_median_ns;
	double voluntary_per_round, involuntary_per_round;
	/* bench sched */
	VEC(struct run_repetition) repetitions;
	/* bench latency, bench load */
	double wakeups, mean_ns, min_ns, max_ns, stddev_ns, median_ns, p99_ns, p999_ns, missed;
	struct hist hist;
	struct numbers load_work; /* "cpu_loops": 12 */
	double load_span_s;

	char *base; /* the name without its buffer; not saved */
	struct run_judged judged;
};

/* How it was measured: "settings" of compare, "method" of bench. */
struct run_method {
	bool known;
	/* compare */
	double input_bytes, warmup, shell_taken_out_s, other_cpu_share, steal_share, input_resident_share;
	char *input, *input_name, *reference;
	enum truth cold, fsync, shell, counted, explain, usage;
	/* bench */
	char *cpus, *mode, *policy, *command, *suite_without;
	double samples, sample_ns, seed, clock_ns, clock_step_ns, single_ns, loop_ns, spread_ns;
	double working_set_bytes, alone_s, chunks, chunk_ns, interval_ns, time_ns, priority, suite_times;
	enum truth memory_locked, idle_states_held;
};
/* The methods of kind "bench", by test. */
struct run_methods {
	bool known;
	struct run_method syscall, switches, sched, latency, load;
};

struct run_warning {
	char *name, *what, *advice, *text;
	struct strings rows; /* the subjects that it concerns; unknown: all */
};

/* The traced program of kind "count" as a whole. */
struct run_program {
	bool known;
	double wall_s, user_s, system_s, peak_rss_bytes, calls_before_main, processes, exit_status, killed_by_signal;
	double lost_calls;
	enum truth largest;
	char *main_found_by;
};

/* A request: when it was made (since the start of the trace), where in the file, and how many bytes it moved. */
struct run_io_mark {
	double time_s, offset, bytes;
};
struct run_io_size {
	double bytes, requests;
};
/*
 * How a file, pipe or socket was used. A request is a call that moved at least one byte; each is either sequential, random, a
 * repeated read or a repeated write, so the four add up to all requests.
 */
struct run_io_file {
	char *name, *kind;
	double opens, calls, reads, writes, read_bytes, written_bytes, time_s;
	double sequential, random, reread, rewritten;
	double seeks, seeks_without_effect, syncs, mmaps, unclosed;
	VEC(struct run_io_size) sizes; /* the most frequent ones that were asked for, the most frequent first */
	struct hist read_sizes, write_sizes;
	VEC(struct run_io_mark)
	read_marks, write_marks; /* of the busiest files; a random choice where there are many */
};
/* What could be better. Costs and savings are NAN where they are not known. */
struct run_io_finding {
	char *kind, *file, *text;
	double cost_s, saving_low_s, saving_high_s;
};
struct run_io {
	bool known;
	VEC(struct run_io_file) files;       /* the one that took the most time first */
	VEC(struct run_io_finding) findings; /* worst first */
};

/* How the tables of -c and --io were requested. */
struct run_view {
	bool known;
	char *columns, *sort, *by, *hist;
	enum truth errors, wide;
	enum truth calls; /* TRUTH_NO: the table of calls is not shown (--io without -c) */
};

struct run {
	char *kind, *date, *version;
	struct strings command;
	struct env env;
	struct run_method method;
	struct run_methods methods;
	VEC(struct run_subject) subjects;
	struct strings head;  /* how it was measured, in sentences, above the tables */
	struct texts heads;   /* the same for kind "bench", by test */
	struct strings notes; /* notes for the reader */
	VEC(struct run_warning) warnings;
	struct strings lessons; /* findings */
	struct strings reasons; /* why each subject costs what it costs */
	enum truth interrupted;
	/* count */
	char *engine;
	struct run_program program;
	struct run_view view;
	struct strings footer; /* lines below the table */
	struct summary calls;
	struct run_io io; /* --io */

	bool merged;   /* from several runs, so the samples of two subjects are not of the same rounds; not saved */
	unsigned bits; /* enum run_kind of `kind`; 0: unknown here; not saved */
	size_t reference, fastest; /* indices of subjects; subjects.n: none; run_judge() fills them in */
};

/* Creates an empty run of `kind` with the current date. `argv` is the command line. Free with run_free(). */
void run_init(struct run *r, const char *kind, int argc, char *const *argv);
void run_free(struct run *r);
/* The bit of a kind by its name, or 0. */
unsigned run_kind_bits(const char *kind);
/*
 * Appends a subject with all members unknown. Its address is valid until the next one is added. NULL if memory ran out.
 */
struct run_subject *run_add_subject(struct run *r, const char *name, const char *unit);
/* The subject called `name`, or NULL. */
const struct run_subject *run_find(const struct run *r, const char *name);
void run_note(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Removes the warnings. */
void run_clear_warnings(struct run *r);

extern const struct fields run_fields, run_method_fields, run_subject_fields, run_program_fields;
extern const struct fields run_io_file_fields, run_io_finding_fields;
/* The fields that a subject has: the bits of its run's kind, or of its test. */
unsigned run_subject_bits(const struct run *r, const struct run_subject *s);

/* Appends the text of the document as run_save() writes it, one result a line. Returns 0 or -ENOMEM. */
int run_dump(const struct run *r, struct buf *out);
/*
 * Writes the document to `path`, mode 0600, by a temporary file beside it and rename(2), so that no half file is left;
 * a link is followed, except in sticky world-writable folders (ELOOP); a file that is not regular (/dev/stdout, a pipe) is
 * written to directly. Where memory ran out before, nothing is written. 0, or -errno and `why` names the file.
 */
int run_save(const struct run *r, const char *path, struct buf *why);
/*
 * Reads and checks a file, and judges it. Control bytes in its strings are escaped (escape_line()). Returns 0; -EINVAL
 * with one sentence in `why`: unreadable, truncated, foreign, a newer schema, damaged; or -ENOMEM. Call run_free() in
 * either case.
 */
int run_load(struct run *r, const char *path, struct buf *why);
/* The same for the text of a document; messages call it `name`. */
int run_parse(struct run *r, const char *text, const char *name, struct buf *why);

#endif
