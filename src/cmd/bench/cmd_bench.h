/* SPDX-License-Identifier: MIT */
/* What the tests of `sctrace bench` share with the command that runs them. */
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

#define BENCH_WORDS_MAX 32

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
	/* What a user would type for the short form of the test in `sctrace bench`; ends with NULL. */
	const char *shortened[BENCH_WORDS_MAX + 1];
};

#define BENCH_TESTS 5
extern const struct bench_test bench_tests[BENCH_TESTS];

#endif
