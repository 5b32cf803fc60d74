/* The calls of a thread: their beginnings, their ends (syscall/life.h), and the counts. */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_CALLS_H
#define SCTRACE_ENGINE_PTRACE_CALLS_CALLS_H

#include "engine/ptrace/state/tracer.h"

/* Returns true if this is the call `name`, which need not exist on the call's architecture. */
bool tracer_call_is(const struct call *c, const char *name);
/* Called when a call begins. The caller has set arch, nr, args, ip and sp of the thread's call. */
void tracer_call_enter(struct tracer *t, struct task *task);
/*
 * At the first stop of an attached thread: saves the call that restart_syscall(2) may continue. Queues EV_ATTACH if
 * `report` is set.
 */
void tracer_call_at_attach(struct tracer *t, struct task *task, bool report);
/* Called when the call returns. The caller has set result, error and err of the thread's call. */
void tracer_call_exit(struct tracer *t, struct task *task);
/*
 * Called when a signal has interrupted the thread's call after `elapsed_ns` (the call's `err` is one of the codes in
 * syscall/restart.h), and the tracer did not see the call's entry. The tracer counts the call however it ends, so from
 * now on the tracer must see a restart of the call.
 */
void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns);
/* Called when the thread has ended: its call and its interrupted calls stay unfinished. */
void tracer_call_vanish(struct tracer *t, struct task *task);

#endif
