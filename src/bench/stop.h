/* Ctrl-C during a measurement: what was measured so far is kept and shown, so the signals only raise a flag. */
#ifndef SCTRACE_BENCH_STOP_H
#define SCTRACE_BENCH_STOP_H

#include <signal.h>

/*
 * Takes over SIGINT, SIGTERM and SIGHUP (those not ignored); blocking calls then end with EINTR. SIGCHLD is as usual,
 * and a write that fails is an error alone (outfile_catch_signals()).
 */
void stop_catch(void);
/* The signal that asked us to end, or 0. */
int stop_signal(void);
/* The flag itself, for those who take a pointer to one. */
const volatile sig_atomic_t *stop_flag(void);
/* For a child: signals act as they do by default again, none is pending in the flag. */
void stop_release(void);

#endif
