/* Attaching to running processes, and the ptrace(2) options of tasks. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H
#define SCTRACE_ENGINE_PTRACE_TASKS_ATTACH_H

#include "engine/ptrace/state/tracer.h"

/*
 * Attaches to all threads of a process. If `tid` is not the leader of its process, attaches to this thread only. Returns
 * 0, or -errno with a sentence in `why`.
 */
int tracer_attach(struct tracer *t, pid_t tid, struct buf *why);
/* With this file, the kernel's module Yama restricts ptrace(2). Not all kernels have it. */
#define ATTACH_YAMA "/proc/sys/kernel/yama/ptrace_scope"
/* Returns the process that traces `pid`, or 0. */
pid_t attach_tracer_of(pid_t pid);
/*
 * Returns true if process `pid` traces process `self`, directly or through other tracers (`tracer_of` returns the tracer
 * of a process). If `self` attached to it, both could stop each other for ever, and SIGKILL would not end them.
 */
bool attach_is_mutual(pid_t pid, pid_t self, pid_t (*tracer_of)(pid_t pid));
/* Sets the options of a stopped task. Only leaders of started or attached processes stop at their exit. */
void tracer_set_options(struct tracer *t, const struct task *task);

#endif
