/* Code that the tests of `sctrace bench` share: options, progress, notes, and displaying the result. */
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

/*
 * The options that all tests have. This must be the first member of each test's settings, so that the offsets in the
 * tables of options are the same for all tests.
 */
struct bench_shared {
	struct page_options show;
	const char *dir;
	int runs;         /* 0: the test's default */
	uint64_t time_ns; /* 0: the test's default */
	bool time_given;
	struct cpu_list cpus; /* empty: the option was not given */
	bool quiet;
};

/* Parses a list of CPUs into a struct cpu_list. This process must be allowed to use the CPUs. */
opt_parse_fn bench_opt_cpus;
/* Parses a duration above zero, and sets `time_given` of struct bench_shared. */
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

/* The options --policy and --prio. `settings` must have members with these names. */
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

/* The option --cpus. `cpus_help` says what runs on these CPUs. */
#define BENCH_CPUS_OPTION(cpus_help)                                                                                   \
	{                                                                                                              \
		.letter = 'c', .name = "cpus", .arg = "LIST", .parse = bench_opt_cpus, .help = cpus_help               \
	}

/* The options --loads and --list. `settings` must have members with these names. */
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

/* The option --seed, for the random order of `what`. `settings` must have a member of this name. */
#define BENCH_SEED_OPTION(settings, what)                                                                              \
	{                                                                                                              \
		.name = "seed", .arg = "N", .parse = opt_int, .offset = offsetof(settings, seed), .min = 1,            \
		.max = 0x7fffffff,                                                                                     \
		.help = "seed for the random order of the " what " (default: a new one, which is saved with the run)"  \
	}

/* A test that is running. */
struct bench_session {
	struct bench_shared *o; /* the settings of the test, which the session frees */
	int err;                /* 0, or -errno if measuring failed */

	int argc;
	char **argv;
	char self[4096]; /* path of the sctrace program */
	const char *dir;
	struct env_activity before;
	struct run run;  /* the results */
	struct buf head; /* the lines above the tables: how the test measured */
	double load;     /* load average when the test started */
	uint64_t shown_ns;
	bool progress;
};

/*
 * Parses the arguments. Returns true if the settings are filled in; *first is then the index of the first operand.
 * Returns false if help was printed or if the usage was wrong; *status is then the exit status.
 */
bool bench_parse(const struct opt_command *c, struct bench_shared *settings, int argc, char **argv, int *first,
		 int *status);
/* Starts a test: catches signals, and describes the machine. Returns 0, or an exit status after printing a message. */
int bench_begin(struct bench_session *s, struct bench_shared *o, const char *kind, int argc, char **argv);
/*
 * Sets the scheduling policy from the name `word` (NULL: `otherwise`) and the priority (0: the policy's default). If
 * this process is not allowed to use the policy, uses `otherwise` and adds a note. Returns 0, or EXIT_USAGE after a
 * message if the policy has no priorities.
 */
int bench_choose_policy(struct bench_session *s, const char *word, int otherwise, int prio, struct place_policy *p);
/* Appends "CPU 0,2" for the CPUs of --cpus, or "any CPU". Also sets `cpus` of the run's method (NULL: any CPU). */
void bench_say_cpus(struct bench_session *s, struct buf *out);
void bench_set_cpus(struct bench_session *s);
/* Adds a note to the run. */
#define bench_note(s, ...) run_note(&(s)->run, __VA_ARGS__)
/*
 * Adds a note that some rows have fewer samples than requested. `rows` is "NAME SAMPLES, ..."; if it is empty, adds no
 * note. Adds no note either if a signal ended the test.
 */
void bench_note_shortage(struct bench_session *s, const char *test, size_t samples, struct buf *rows);
/*
 * Shows a progress line if standard error is a terminal. The next progress line replaces it. If `all` is greater than
 * 0, the line shows `done` of `all`.
 */
void bench_progress(struct bench_session *s, double done, double all, const char *what);
/*
 * Prints, saves and draws the result, and frees the session. Returns the exit status. If s->err is set, the status is
 * 125, and a message was printed.
 */
int bench_end(struct bench_session *s);

/* Frees the session without a result. Returns `status`. */
int bench_quit(struct bench_session *s, int status);

/*
 * Appends a subject and its samples, which are in `unit` ("s", "ns"). Returns NULL if memory ran out or if there are no
 * samples.
 */
struct run_subject *bench_add(struct bench_session *s, const char *name, const char *unit, const double *samples,
			      size_t n);

#define BENCH_DONE (-1)

/* A test: what is different for each `sctrace bench NAME`. */
struct bench_test {
	const char *name;
	const struct opt_command *face;
	size_t settings;                  /* size in bytes of the test's settings, whose first member is a struct
					   * bench_shared */
	void (*defaults)(void *settings); /* fills in the default settings; NULL if these are zeros */
	/*
	 * Called before anything starts; may be NULL. Returns false if nothing must be measured: a list was printed, or
	 * an operand was wrong and a message was printed. *status is then the exit status.
	 */
	bool (*ready)(void *settings, int nwords, char **words, int *status);
	/*
	 * Measures. Adds the method, the subjects and the notes to the run of the session. Returns BENCH_DONE, also if
	 * a signal interrupted the test or if it failed (s->err is then -errno). Returns an exit status after a message
	 * if there is no result to show.
	 */
	int (*run)(struct bench_session *s, void *settings, int nwords, char **words);
};

/* Runs a short form of each test; argv[0] is "bench". */
int cmd_bench_all(int argc, char **argv);

extern const struct bench_test bench_syscall_test;
extern const struct bench_test bench_switch_test;
extern const struct bench_test bench_sched_test;
extern const struct bench_test bench_latency_test;
extern const struct bench_test bench_load_test;

/*
 * Runs a test, whose result is then in the session; argv[0] is the test's name. Returns BENCH_DONE, and the caller must
 * call bench_end(). Otherwise returns an exit status, and the caller must call bench_quit().
 */
int bench_measure(const struct bench_test *t, struct bench_session *s, int argc, char **argv);

#endif
