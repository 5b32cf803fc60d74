/* Waiting for stops and ends, and what the kernel says instead. */
#ifndef SCTRACE_ENGINE_PTRACE_WAIT_WAIT_H
#define SCTRACE_ENGINE_PTRACE_WAIT_WAIT_H

#include "engine/ptrace/state/tracer.h"

/*
 * wait4(2) for a stop or an end (__WALL) of `pid`, or of any task with -1. Returns a task's id; 0 with WNOHANG if there is no news;
 * -EINTR if sctrace received a signal; -ECHILD if there is nothing to wait for; if the kernel refuses to wait, tracing is
 * given up. `usage` is set at ends only; NULL: not wanted.
 */
pid_t tracer_wait(struct tracer *t, pid_t pid, int *status, int options, struct rusage *usage);
/* As tracer_wait(), without sleeping, and only if that may pay. 0: there was no news. */
pid_t tracer_spin(struct tracer *t, pid_t pid, int *status, struct rusage *usage);
/* Spins first, then sleeps. */
pid_t tracer_wait_or_signal(struct tracer *t, pid_t pid, int *status, struct rusage *usage);
/* The same for one task, and signals to sctrace do not end it. */
pid_t tracer_wait_task(struct tracer *t, pid_t tid, int *status);
/* Queues a status that was waited for elsewhere, so that the loop serves it like any other. */
void tracer_keep_status(struct tracer *t, pid_t tid, int status);

#endif
