/* Resumes stopped tasks, or detaches from them. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_RESUME_H
#define SCTRACE_ENGINE_PTRACE_TASKS_RESUME_H

#include "engine/ptrace/state/tracer.h"

/*
 * Resumes a stopped task with its pending signal; detaches from it if `release` is set. A task that died meanwhile is not an
 * error.
 */
void tracer_resume(struct tracer *t, struct task *task);
/* Detaches from one task, with its pending signal, and removes it. */
void tracer_let_go(struct tracer *t, struct task *task);
/* The same, after tracer_ops.detach has been called for the task. */
void tracer_detach_task(struct tracer *t, struct task *task);

#endif
