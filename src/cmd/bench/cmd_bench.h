/* Code that the tests of `sctrace bench` share: options, progress, notes, and displaying the result. */
#ifndef SCTRACE_CMD_BENCH_CMD_BENCH_H
#define SCTRACE_CMD_BENCH_CMD_BENCH_H

#include "base/buf.h"
#include "bench/loads.h"
#include "bench/place.h"
#include "bench/results/results.h"
#include "bench/sched.h"
#include "bench/stop.h"
#include "cli/opt.h"
#include "cmd/display.h"
#include "present/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_list {
	int v[SCHED_PROCS];
	size_t n;
};

/* The settings of all tests. Each test has only some of the options that set them. */
struct bench_options {
	struct page_options show;
	const char *dir;
	bool quiet, list;
	int runs;
	uint64_t time_ns;     /* 0: --time was not given, and the test has no default */
	struct cpu_list cpus; /* empty: --cpus was not given */
	const char *policy;   /* NULL: the test's default */
	int prio;             /* 0: the default of the policy or the test */
	int seed;             /* 0: --seed was not given */

	bool in_process, single, per_process, no_count; /* of bench syscall */
	uint64_t size;                                  /* of bench switch */
	struct number_list procs, nice;                 /* of bench sched */
	struct load_list loads;                         /* of bench latency and bench load */
	uint64_t interval_ns;                           /* of bench latency */
	bool show_output, ignore_failure;               /* of bench load */
};

/* Parses a list of CPUs. This process must be allowed to use the CPUs. */
opt_parse_fn bench_opt_cpus;
/* Parses a duration above zero. */
opt_parse_fn bench_opt_time;
/* Parses a list such as "none,net,suite+disk". */
opt_parse_fn bench_opt_loads;

#define BENCH_AT(member) .offset = offsetof(struct bench_options, member)

/* The options --dir and --quiet and those of cmd/display.h. `sctrace bench` without the name of a test has them too. */
#define BENCH_DIR                                                                                                      \
	0, "dir", "DIR", opt_string, "create files in this directory (default: $TMPDIR, else /var/tmp)",               \
		BENCH_AT(dir), COMPLETE_DIR
#define BENCH_OUTPUT_OPTIONS                                                                                           \
	DISPLAY_OPTIONS(struct bench_options),                                                                         \
	{                                                                                                              \
		'q', "quiet", NULL, opt_flag, "do not show progress", BENCH_AT(quiet)                                  \
	}
#define BENCH_SHARED_OPTIONS(runs_help, time_help)                                                                     \
	{.help = "Measuring:"}, {'r', "runs", "N", opt_int, runs_help, BENCH_AT(runs), .min = 1, .max = 1000000},      \
		{'t', "time", "TIME", bench_opt_time, time_help, BENCH_AT(time_ns)}, {BENCH_DIR}, {.help = "Output:"}, \
		BENCH_OUTPUT_OPTIONS

#define BENCH_POLICY_OPTIONS(policy_help)                                                                              \
	{0, "policy", "POLICY", opt_word, policy_help, BENCH_AT(policy), COMPLETE_WORDS, "other batch fifo rr"},       \
	{                                                                                                              \
		0, "prio", "N", opt_int, "real-time priority, for fifo and rr", BENCH_AT(prio), .min = 1, .max = 99    \
	}

/* The options --loads and --list. */
#define BENCH_LOADS_OPTIONS(defaults)                                                                                  \
	{0,                                                                                                            \
	 "loads",                                                                                                      \
	 "LIST",                                                                                                       \
	 bench_opt_loads,                                                                                              \
	 "measure under these loads; A+B runs several at once (see --list) (default: " defaults ")",                   \
	 .complete = COMPLETE_LIST,                                                                                    \
	 .words = LOAD_WORDS},                                                                                         \
	{                                                                                                              \
		'l', "list", NULL, opt_flag, "list the loads", BENCH_AT(list)                                          \
	}

/* The values of the option --seed, for the random order of `what`. */
#define BENCH_SEED(what)                                                                                               \
	0, "seed", "N", opt_int,                                                                                       \
		"seed for the random order of the " what " (default: a new one, which is saved with the run)",         \
		BENCH_AT(seed), .min = 1, .max = 0x7fffffff

/* A test that is running. */
struct bench_session {
	struct bench_options *o; /* the settings of the test, which the session frees */
	int err;                 /* 0, or -errno if measuring failed */

	char self[4096]; /* path of the sctrace program */
	const char *dir;
	struct results_start start;
	struct run run;           /* the results */
	struct progress progress; /* shows the progress if standard error is a terminal */
	uint64_t shown_ns;
};

#define BENCH_DONE (-1)

/*
 * Parses the arguments into `o`. Returns BENCH_DONE, and the index of the first operand in *first. Returns an exit
 * status if it has printed help, or a message about wrong usage.
 */
int bench_parse(const struct opt_command *c, struct bench_options *o, int argc, char **argv, int *first);
/* Starts a test: catches signals, and describes the machine. Returns 0, or an exit status after printing a message. */
int bench_begin(struct bench_session *s, const char *kind, int argc, char **argv);
/* Returns the seed that was given with --seed, or a new one. */
uint64_t bench_seed(const struct bench_options *o);
/*
 * Prints, saves and draws the result, and frees the session. Returns the exit status, which is EXIT_OWN after a message
 * if s->err is set. If a signal interrupted the test, ends this process by that signal.
 */
int bench_end(struct bench_session *s);
/* Frees the session without a result. Returns `status`. */
int bench_quit(struct bench_session *s, int status);

/* The test that `sctrace bench NAME` runs: the data and functions in which the tests differ. */
struct bench_test {
	const char *name;
	const struct opt_command *face;
	struct bench_options defaults; /* of all settings except the loads */
	const char *loads;             /* the default of --loads, or NULL */
	void (*list)(struct buf *out); /* appends what --list prints; NULL if the test has no such option */
	bool takes_operands;
	void (*operands)(struct buf *out); /* appends words for completion, each followed by a space; may be NULL */
	/* Checks the settings and the `n` operands. Returns 0, or -EINVAL with the reason in `why`. May be NULL. */
	int (*check)(const struct bench_options *o, char **words, size_t n, struct buf *why);
	/*
	 * Measures. Adds the method, the subjects and the notes to the run of the session. Returns 0, also if a signal
	 * interrupted the test and there are results, or -errno. If the user can do something about the error, the
	 * reason is in `why`. -ERANGE means that the options do not suit each other.
	 */
	int (*run)(struct bench_session *s, char **words, size_t n, struct buf *why);
};

/* `sctrace bench` without the name of a test: its options; and runs a short form of each test. argv[0] is "bench". */
extern const struct opt_command bench_all_face;
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
