/* Shows how far a measurement has come. */
#ifndef SCTRACE_BENCH_PROGRESS_H
#define SCTRACE_BENCH_PROGRESS_H

#include <stdint.h>

/* A zeroed struct shows nothing. */
struct progress {
	/*
	 * Shows that `done` of `all` has been measured, and that `what` is being measured. If `all` is 0, the duration
	 * is unknown. NULL: nothing is shown.
	 */
	void (*show)(void *ctx, double done, double all, const char *what);
	void *ctx;
	double done, all;
	const char *what;
	uint64_t since_ns; /* if not 0, `done` is a time in ns, to which the time since `since_ns` is added */
};

/* Shows the members of `p`. Long measurements call this about ten times a second. */
void progress_show(const struct progress *p);
/* Shows `what`, a step of unknown duration. */
void progress_say(const struct progress *p, const char *what);

#endif
