/* The parts that the tests of `sctrace bench` share: options, progress, notes, and showing the result. */
#ifndef SCTRACE_CMD_BENCH_BENCH_H
#define SCTRACE_CMD_BENCH_BENCH_H

#include "base/buf.h"
#include "base/vec.h"
#include "bench/place.h"
#include "cli/opt.h"
#include "measure/env.h"
#include "present/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Options of all tests. It is the first member of each test's settings, so that offsets are equal. */
struct bench_shared {
	struct page_options show;
	const char *dir;
	int runs;         /* 0: the default of the test */
	uint64_t time_ns; /* 0: the default of the test */
	bool time_given;
	struct cpu_list cpus; /* empty: not given */
	bool quiet;
};

/* Parses a list of usable CPUs into a struct cpu_list. */
opt_parse_fn bench_opt_cpus;
/* Parses a duration above zero, and sets time_given. */
opt_parse_fn bench_opt_time;

#define BENCH_SHARED_OPTIONS(runs_help, time_help)                                                                     \
	{.help = "Measuring:"},                                                                                        \
		{.letter = 'r',                                                                                        \
		 .name = "runs",                                                                                       \
		 .arg = "N",                                                                                           \
		 .parse = opt_int,                                                                                     \
		 .help = runs_help,                                                                                    \
		 .offset = offsetof(struct bench_shared, runs),                                                        \
		 .min = 1,                                                                                             \
		 .max = 1000000},                                                                                      \
		{.letter = 't', .name = "time", .arg = "TIME", .parse = bench_opt_time, .help = time_help},            \
		{.name = "dir",                                                                                        \
		 .arg = "DIR",                                                                                         \
		 .parse = opt_string,                                                                                  \
		 .help = "create files in this directory (default: $TMPDIR, else /var/tmp)",                           \
		 .offset = offsetof(struct bench_shared, dir),                                                         \
		 .complete = COMPLETE_DIR},                                                                            \
		{.help = "Output:"},                                                                                   \
		{.name = "format",                                                                                     \
		 .arg = "FORMAT",                                                                                      \
		 .parse = opt_word,                                                                                    \
		 .help = "text (default), csv, markdown, html, or json: the saved run",                                \
		 .offset = offsetof(struct bench_shared, show.format),                                                 \
		 .complete = COMPLETE_WORDS,                                                                           \
		 .words = "text csv markdown html json"},                                                              \
		{.letter = 'o',                                                                                        \
		 .name = "output",                                                                                     \
		 .arg = "FILE",                                                                                        \
		 .parse = opt_string,                                                                                  \
		 .help = "write the result to FILE instead of standard output",                                        \
		 .offset = offsetof(struct bench_shared, show.output),                                                 \
		 .complete = COMPLETE_FILE},                                                                           \
		{.name = "save",                                                                                       \
		 .arg = "RUN.json",                                                                                    \
		 .parse = opt_string,                                                                                  \
		 .help = "save the run with every sample, for sctrace report",                                         \
		 .offset = offsetof(struct bench_shared, show.save),                                                   \
		 .complete = COMPLETE_FILE},                                                                           \
		{.name = "svg",                                                                                        \
		 .arg = "FILE",                                                                                        \
		 .parse = opt_string,                                                                                  \
		 .help = "draw the result",                                                                            \
		 .offset = offsetof(struct bench_shared, show.svg),                                                    \
		 .complete = COMPLETE_FILE},                                                                           \
	{                                                                                                              \
		.letter = 'q', .name = "quiet", .parse = opt_flag, .help = "do not show progress",                     \
		.offset = offsetof(struct bench_shared, quiet)                                                         \
	}

/* --policy and --prio, for settings with members of these names. */
#define BENCH_POLICY_OPTIONS(settings, policy_help)                                                                    \
	{.name = "policy",                                                                                             \
	 .arg = "POLICY",                                                                                              \
	 .parse = opt_word,                                                                                            \
	 .help = policy_help,                                                                                          \
	 .offset = offsetof(settings, policy),                                                                         \
	 .complete = COMPLETE_WORDS,                                                                                   \
	 .words = "other batch fifo rr"},                                                                              \
	{                                                                                                              \
		.name = "prio", .arg = "N", .parse = opt_int, .help = "real-time priority, for fifo and rr",           \
		.offset = offsetof(settings, prio), .min = 1, .max = 99                                                \
	}

/* --cpus: where the things that `cpus_help` names run. */
#define BENCH_CPUS_OPTION(cpus_help)                                                                                   \
	{                                                                                                              \
		.letter = 'c', .name = "cpus", .arg = "LIST", .parse = bench_opt_cpus, .help = cpus_help               \
	}

/* --loads and --list, for settings with members of these names. */
#define BENCH_LOADS_OPTIONS(settings, defaults)                                                                        \
	{.name = "loads",                                                                                              \
	 .arg = "LIST",                                                                                                \
	 .parse = bench_opt_loads,                                                                                     \
	 .offset = offsetof(settings, loads),                                                                          \
	 .help = BENCH_LOADS_HELP " (default: " defaults ")"},                                                         \
	{                                                                                                              \
		.letter = 'l', .name = "list", .parse = opt_flag, .offset = offsetof(settings, list),                  \
		.help = "list the loads"                                                                               \
	}

/* --seed, for settings with a member of this name: the seed for the order of `what`. */
#define BENCH_SEED_OPTION(settings, what)                                                                              \
	{                                                                                                              \
		.name = "seed", .arg = "N", .parse = opt_int, .offset = offsetof(settings, seed), .min = 1,            \
		.max = 0x7fffffff, .help = "order of the " what " (default: drawn, and saved with the run)"            \
	}

/* A running test. */
struct bench_session {
	struct bench_shared *o; /* the settings of the test; owned */
	int err;                /* the result of measuring: 0 or -errno */

	int argc;
	char **argv;
	char self[4096]; /* the path of this program */
	const char *dir;
	struct env_activity before;
	struct run run;  /* the results */
	struct buf head; /* the lines above the tables, which say how it was measured */
	double load;     /* load average at the start */
	uint64_t shown_ns;
	bool progress;
};

/*
 * Parses the arguments. Returns true if the settings are filled in and *first is the first operand. Returns false if
 * help was printed or the usage was wrong; *status is the exit status.
 */
bool bench_parse(const struct opt_command *c, struct bench_shared *settings, int argc, char **argv, int *first,
		 int *status);
/* Starts a test: handles signals, and describes the machine. Returns 0, or an exit status after a message. */
int bench_begin(struct bench_session *s, struct bench_shared *o, const char *kind, int argc, char **argv);
/*
 * Sets the policy by its name (NULL: `otherwise`) and priority (0: the policy's default). If it is not permitted, adds
 * a note and uses `otherwise`. Returns 0, or EXIT_USAGE after a message if the policy has no priorities.
 */
int bench_choose_policy(struct bench_session *s, const char *word, int otherwise, int prio, struct place_policy *p);
/* Appends the CPUs of --cpus, "CPU 0,2" or "any CPU", and sets the method's `cpus` (NULL: any). */
void bench_say_cpus(struct bench_session *s, struct buf *out);
void bench_set_cpus(struct bench_session *s);
/* Adds a note to the run. */
#define bench_note(s, ...) run_note(&(s)->run, __VA_ARGS__)
/*
 * Notes that `rows` ("NAME SAMPLES, ..."; empty: none) have fewer samples than requested. Adds no note if a signal
 * ended the test.
 */
void bench_note_shortage(struct bench_session *s, const char *test, size_t samples, struct buf *rows);
/* Shows a progress line on a terminal, which the next one replaces: `done` of `all` if all > 0. */
void bench_progress(struct bench_session *s, double done, double all, const char *what);
/* Prints, saves and draws the result, and frees. Returns the exit status (125 after a message if s->err is set). */
int bench_end(struct bench_session *s);

/* Ends without a result and frees. Returns `status`. */
int bench_quit(struct bench_session *s, int status);

/*
 * Appends a subject with its samples, in units of `unit` ("s", "ns"). Returns NULL if memory ran out or there are no
 * samples.
 */
struct run_subject *bench_add(struct bench_session *s, const char *name, const char *unit, const double *samples,
			      size_t n);

#define BENCH_DONE (-1)

/* A test: the parts of `sctrace bench NAME`. */
struct bench_test {
	const char *name;
	const struct opt_command *face;
	size_t settings;                  /* size in bytes of its settings, whose first member is a struct
					   * bench_shared */
	void (*defaults)(void *settings); /* or NULL if zeros are the defaults */
	/*
	 * Called before anything starts; may be NULL. Returns false if there is nothing to measure (a list was printed,
	 * or an operand is wrong, after a message); *status is the exit status.
	 */
	bool (*ready)(void *settings, int nwords, char **words, int *status);
	/*
	 * Measures, and adds method, subjects and notes to the session's run. Returns BENCH_DONE, also if interrupted
	 * or failed (then s->err is -errno), or an exit status after a message; then nothing is shown.
	 */
	int (*run)(struct bench_session *s, void *settings, int nwords, char **words);
};

/* The short form of all tests; argv[0] is "bench". */
int cmd_bench_all(int argc, char **argv);

extern const struct bench_test bench_syscall_test;
extern const struct bench_test bench_switch_test;
extern const struct bench_test bench_sched_test;
extern const struct bench_test bench_latency_test;
extern const struct bench_test bench_load_test;

/*
 * Runs a test until its result is in the session; argv[0] is its name. Returns BENCH_DONE (then call bench_end()) or an
 * exit status (then call bench_quit()).
 */
int bench_measure(const struct bench_test *t, struct bench_session *s, int argc, char **argv);

#endif
