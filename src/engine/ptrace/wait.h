/* Waits for stops and ends of tasks, and handles refusals of the kernel. */
#ifndef SCTRACE_ENGINE_PTRACE_WAIT_H
#define SCTRACE_ENGINE_PTRACE_WAIT_H

#include "engine/ptrace/tracer.h"

/*
 * Calls wait4(2) for a stop or an end (__WALL) of `pid`, or of any task if `pid` is -1. Returns a task's id; 0 with
 * WNOHANG if nothing was reported; -EINTR if sctrace received a signal; -ECHILD if there is nothing to wait for. If the
 * kernel refuses to wait, tracing is given up. Sets `usage` only at ends; it may be NULL.
 */
pid_t tracer_wait(struct tracer *t, pid_t pid, int *status, int options, struct rusage *usage);
/* Like tracer_wait(), but does not sleep, and polls only if that may save time. Returns 0 if nothing was reported. */
pid_t tracer_spin(struct tracer *t, pid_t pid, int *status, struct rusage *usage);
/* If the engine records calls, tracer_await_records() looks for records during the next milliseconds. */
void tracer_expect_records(struct tracer *t);
/*
 * Called at the birth of a task. If it is an untraced child, it may soon write to the output of the trace. So
 * tracer_await_records() returns after each short pause, so that the lines of its parent's calls do not appear much later.
 */
void tracer_expect_output(struct tracer *t);
/*
 * While records may come fast (tracer_expect_records()), waits for a stop or an end of any task. Returns the task's id;
 * -EINTR if many records wait to be read, or sctrace received a signal; 0 if no records are expected.
 */
pid_t tracer_await_records(struct tracer *t, int *status, struct rusage *usage);
/* Like tracer_wait(), but for one task, and spins before it sleeps. Signals to sctrace do not interrupt the wait. */
pid_t tracer_wait_task(struct tracer *t, pid_t tid, int *status);
/* Returns the task's status if it was taken from the kernel and the loop has not handled it, or NULL. */
struct wait_status *tracer_taken_status(struct tracer *t, pid_t tid);
/* Queues a status that was waited for elsewhere, so that the loop handles it like any other status. */
void tracer_keep_status(struct tracer *t, pid_t tid, int status);

#endif
