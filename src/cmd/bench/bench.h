/* Code that the tests of `sctrace bench` share: options, progress, notes, and displaying the result. */
#ifndef SCTRACE_CMD_BENCH_BENCH_H
#define SCTRACE_CMD_BENCH_BENCH_H

#include "base/buf.h"
#include "base/vec.h"
#include "bench/place.h"
#include "cli/opt.h"
#include "cmd/display.h"
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

/* The options --dir and --quiet and those of cmd/display.h. `sctrace bench` without the name of a test has them too. */
#define BENCH_DIR_OPTION                                                                                               \
	{                                                                                                              \
		0, "dir", "DIR", opt_string, "create files in this directory (default: $TMPDIR, else /var/tmp)",       \
			offsetof(struct bench_shared, dir), COMPLETE_DIR                                               \
	}
#define BENCH_OUTPUT_OPTIONS                                                                                           \
	DISPLAY_OPTIONS(struct bench_shared),                                                                          \
	{                                                                                                              \
		'q', "quiet", NULL, opt_flag, "do not show progress", offsetof(struct bench_shared, quiet)             \
	}
#define BENCH_SHARED_OPTIONS(runs_help, time_help)                                                                     \
	{.help = "Measuring:"},                                                                                        \
		{'r', "runs", "N", opt_int, runs_help, offsetof(struct bench_shared, runs), .min = 1, .max = 1000000}, \
		{'t', "time", "TIME", bench_opt_time, time_help}, BENCH_DIR_OPTION, {.help = "Output:"},               \
		BENCH_OUTPUT_OPTIONS

/* The options --policy and --prio. The struct `settings` must have members `policy` and `prio`. */
#define BENCH_POLICY_OPTIONS(settings, policy_help)                                                                    \
	{0,                                                                                                            \
	 "policy",                                                                                                     \
	 "POLICY",                                                                                                     \
	 opt_word,                                                                                                     \
	 policy_help,                                                                                                  \
	 offsetof(settings, policy),                                                                                   \
	 COMPLETE_WORDS,                                                                                               \
	 "other batch fifo rr"},                                                                                       \
	{                                                                                                              \
		0, "prio", "N", opt_int, "real-time priority, for fifo and rr", offsetof(settings, prio),              \
			COMPLETE_NONE, NULL, 1, 99                                                                     \
	}

/* The option --cpus. `cpus_help` says what runs on these CPUs. */
#define BENCH_CPUS_OPTION(cpus_help)                                                                                   \
	{                                                                                                              \
		'c', "cpus", "LIST", bench_opt_cpus, cpus_help                                                         \
	}

/* The options --loads and --list. The struct `settings` must have members `loads` and `list`. */
#define BENCH_LOADS_OPTIONS(settings, defaults)                                                                        \
	{0, "loads", "LIST", bench_opt_loads, BENCH_LOADS_HELP " (default: " defaults ")", offsetof(settings, loads)}, \
	{                                                                                                              \
		'l', "list", NULL, opt_flag, "list the loads", offsetof(settings, list)                                \
	}

/* The option --seed, for the random order of `what`. The struct `settings` must have a member `seed`. */
#define BENCH_SEED_OPTION(settings, what)                                                                              \
	{                                                                                                              \
		0, "seed", "N", opt_int,                                                                               \
			"seed for the random order of the " what " (default: a new one, which is saved with the run)", \
			offsetof(settings, seed), .min = 1, .max = 0x7fffffff                                          \
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
	struct run run; /* the results */
	double load;    /* load average when the test started */
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
/* Adds a note to the run. */
#define bench_note(s, ...) run_note(&(s)->run, __VA_ARGS__)
/*
 * Shows a progress line if standard error is a terminal. The next progress line replaces it. If `all` is greater than
 * 0, the line shows `done` of `all`.
 */
void bench_progress(struct bench_session *s, double done, double all, const char *what);
/*
 * Prints, saves and draws the result, and frees the session. Returns the exit status. If s->err is set, prints a
 * message, and the status is 125.
 */
int bench_end(struct bench_session *s);

/* Frees the session without a result. Returns `status`. */
int bench_quit(struct bench_session *s, int status);

#define BENCH_DONE (-1)

/* The test that `sctrace bench NAME` runs: the data and functions in which the tests differ. */
struct bench_test {
	const char *name;
	const struct opt_command *face;
	size_t settings;                  /* size in bytes of the test's settings, whose first member is a struct
					   * bench_shared */
	void (*defaults)(void *settings); /* fills in the default settings; NULL if all defaults are zero */
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
 * Runs a test and leaves the result in the session; argv[0] is the test's name. Returns BENCH_DONE, and the caller must
 * call bench_end(). Otherwise returns an exit status, and the caller must call bench_quit().
 */
int bench_measure(const struct bench_test *t, struct bench_session *s, int argc, char **argv);

#endif
