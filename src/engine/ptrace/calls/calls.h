/* The calls of a thread, their ends (syscall/life.h), and the counts. */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_CALLS_H
#define SCTRACE_ENGINE_PTRACE_CALLS_CALLS_H

#include "engine/ptrace/state/tracer.h"

/* A call enters. The caller has set arch, nr, args, ip and sp of the thread's call. */
void tracer_call_enter(struct tracer *t, struct task *task);
/*
 * At the first stop of a thread that was attached to: saves the call in which it may be blocked, because
 * restart_syscall(2) may continue it.
 */
void tracer_call_at_attach(struct task *task);
/* The call returns. The caller has set result, error and err of the thread's call. */
void tracer_call_exit(struct tracer *t, struct task *task);
/*
 * The thread's call, whose entry was not seen, was interrupted after `elapsed_ns` (err is one of syscall/restart.h).
 * The tracer counts it from now on, however it ends, and must see its restart.
 */
void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns);
/* The thread is gone: its call, and its interrupted calls, are unfinished. */
void tracer_call_vanish(struct tracer *t, struct task *task);

#endif
