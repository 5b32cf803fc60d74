/* One counted run of a program: its calls and their times, from the best engine that works on this machine. */
#ifndef SCTRACE_MEASURE_COUNT_H
#define SCTRACE_MEASURE_COUNT_H

#include "engine/engine.h"
#include "stats/summary.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;

struct count_spec {
	const char *engine; /* its name, or NULL for the best one */
	char *const *argv;
	const char *dir;                    /* working directory, or NULL */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: inherited */
	bool follow;                        /* also count children */
	const volatile sig_atomic_t *stop;  /* becomes non-zero when the user wants to stop; may be NULL */
};

struct count {
	struct summary calls;
	struct engine_result result;
	const char *engine; /* the engine that counted */
};

/* Frees the contents that count_take() filled in. */
void count_free(struct count *c);
/*
 * Runs the program once under the engine until it and its followed children have ended. Returns 0 and fills in *c (free
 * with count_free()); -EINTR if *stop was set, after killing everything it started; or another -errno with the reason
 * in `why`. The engine distorts times outside calls; use sample_take() for them.
 */
int count_take(const struct count_spec *spec, struct count *c, struct buf *why);

#endif
