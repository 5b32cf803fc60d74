/* SPDX-License-Identifier: MIT */
/* Runs a program once under the best engine that works on this machine, and counts and times its calls. */
#ifndef SCTRACE_MEASURE_CALL_COUNT_H
#define SCTRACE_MEASURE_CALL_COUNT_H

#include "engine/engine.h"
#include "stats/summary.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct count_spec {
	const char *engine; /* the engine to use; NULL: the best one */
	char *const *argv;
	const char *dir;                    /* working directory; NULL: that of sctrace */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited from sctrace */
	bool follow;                        /* also count the calls of the program's children */
	uint64_t limit_ns;                  /* all processes are killed if the run takes longer; 0: no limit */
	const volatile sig_atomic_t *stop;  /* *stop becomes non-zero when the user wants to stop; may be NULL */
	/* If not NULL, this function is called for each event (event.h), and calls are not counted. */
	void (*event)(void *ctx, struct event *ev);
	void *ctx;
	unsigned string_max; /* with `event`: the number of bytes of each buffer that decoders of the event read */
};

struct count {
	struct summary calls;
	struct engine_result result;
	double bytes_before_main; /* the bytes that calls before main moved; NAN if unknown */
	const char *engine;       /* the engine that was used */
	bool lost_privilege;      /* a set-user-ID program ran without its privileges, because it was traced */
	bool left;                /* processes still ran, from which the engine detached */
};

/* Frees what count_take() has stored in `c`. */
void count_free(struct count *c);
/*
 * How long after the end of the program the calls of the children that it left behind, such as a daemon, are counted.
 */
#define COUNT_PATIENCE_NS 500000000ull

/*
 * Runs the program once until it and its followed children have exited, or until COUNT_PATIENCE_NS after its exit. Sets
 * a handler for SIGALRM. Returns 0 and fills in *c (free it with
 * count_free()); -EINTR if *stop was set, after killing the program and its followed children; -ETIMEDOUT after
 * killing them because of `limit_ns`; or another -errno with
 * the reason in `why`. The engine slows the program down: times outside of calls must be measured with sample_take().
 */
int count_take(const struct count_spec *spec, struct count *c, struct buf *why);

#endif
