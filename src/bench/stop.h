/* Handles Ctrl-C during a measurement: the handler only sets a flag, so that the results so far can be shown. */
#ifndef SCTRACE_BENCH_STOP_H
#define SCTRACE_BENCH_STOP_H

#include <signal.h>

/*
 * Installs handlers for SIGINT, SIGTERM and SIGHUP unless they are ignored; blocking calls then fail with EINTR. Also
 * resets SIGCHLD to its default action, and calls outfile_catch_signals(), so that failing writes return errors.
 */
void stop_catch(void);
/* Returns the signal that asked sctrace to stop, or 0 if none did. */
int stop_signal(void);
/* Returns a pointer to the flag that the handlers set (0, or the signal), for functions that test it repeatedly. */
const volatile sig_atomic_t *stop_flag(void);
/* Must be called in a new child: restores the default signal actions and clears the flag. */
void stop_release(void);

#endif
