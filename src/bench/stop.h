/* Ctrl-C during a measurement. The results so far are kept and shown, so the signals only set a flag. */
#ifndef SCTRACE_BENCH_STOP_H
#define SCTRACE_BENCH_STOP_H

#include <signal.h>

/*
 * Handles SIGINT, SIGTERM and SIGHUP unless they are ignored; blocking calls then fail with EINTR. Sets SIGCHLD to its
 * default, and makes failing writes return errors (outfile_catch_signals()).
 */
void stop_catch(void);
/* The signal that asked sctrace to stop, or 0. */
int stop_signal(void);
/* The flag itself, for functions that take a pointer to it. */
const volatile sig_atomic_t *stop_flag(void);
/* For a child: restores the default signal actions and clears the flag. */
void stop_release(void);

#endif
