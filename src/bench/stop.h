/* SPDX-License-Identifier: MIT */
/* Handles Ctrl-C during a measurement: the handler only sets a flag, so that the results so far can be shown. */
#ifndef SCTRACE_BENCH_STOP_H
#define SCTRACE_BENCH_STOP_H

#include <signal.h>
#include <stdint.h>

/*
 * Installs handlers for SIGINT, SIGTERM, SIGHUP and SIGQUIT unless they are ignored (nohup); blocking calls then fail with
 * EINTR. SIG_IGN cannot be used instead, because the programs that sctrace runs would inherit it across execve(2). Also
 * resets SIGCHLD to its default action, and calls outfile_catch_signals(), so that failing writes return errors.
 */
void stop_catch(void);
/* Returns the signal that asked sctrace to stop, or 0 if none did. */
int stop_signal(void);
/* Returns a pointer to the flag that the handlers set (0, or the signal), for functions that test it repeatedly. */
const volatile sig_atomic_t *stop_flag(void);
/* Must be called in a new child: restores the default signal actions and clears the flag. */
void stop_release(void);

/* Shows how far a measurement has come. */

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
