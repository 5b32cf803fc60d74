/* Resumes stopped tasks, or detaches from them. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_RESUME_H
#define SCTRACE_ENGINE_PTRACE_TASKS_RESUME_H

#include "engine/ptrace/state/tracer.h"

/* Resumes a stopped task with its pending signal, or detaches if task.release is set. The task may have died. */
void tracer_resume(struct tracer *t, struct task *task);
/* Calls tracer_ops.detach for one task, detaches from the task with its pending signal, and removes it. */
void tracer_release(struct tracer *t, struct task *task);
/* Like tracer_release(), but does not call tracer_ops.detach. */
void tracer_detach_task(struct tracer *t, struct task *task);

#endif
