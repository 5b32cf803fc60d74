/* One counted run of a program: which calls it made and how long they took, by the best engine that works here. */
#ifndef SCTRACE_MEASURE_COUNT_H
#define SCTRACE_MEASURE_COUNT_H

#include "engine/engine.h"
#include "stats/summary.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct count_spec {
	const char *engine; /* its name, or NULL: the best */
	char *const *argv;
	const char *dir;                    /* working directory, or NULL */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited */
	bool follow;                        /* children too */
	const volatile sig_atomic_t *stop;  /* becomes non-zero when the user wants to end; may be NULL */
};

struct count {
	struct summary calls;
	struct engine_result result;
	const char *engine; /* whose counts these are */
};

/* Frees what count_take() filled. */
void count_free(struct count *c);
/*
 * Runs the program once under the engine, until it and its followed children have ended. 0 and *c (then count_free());
 * -EINTR when *stop was set: everything that was started has been killed; another -errno, and `why` says why not. Times
 * outside of the calls are the engine's as much as the program's: take them from sample_take().
 */
int count_take(const struct count_spec *spec, struct count *c, struct buf *why);

#endif
