/* The ends of tasks, and the peak of their memory. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_DEATHS_H
#define SCTRACE_ENGINE_PTRACE_TASKS_DEATHS_H

#include "engine/ptrace/state/tracer.h"

/* PTRACE_EVENT_EXIT: the task is about to end, and its memory is still there to be measured. */
void tracer_on_exit(struct tracer *t, struct task *task);
/* The task has ended with `status` (wait(2)), and is forgotten. */
void tracer_on_death(struct tracer *t, struct task *task, int status);
/*
 * The peak resident set of a descendant that ended, in bytes, by wait4(2). It includes its parent's from before execve(2), which is
 * counted anyway. That does not hold for the started program, whose parent was sctrace: tracer_on_exit() measures it.
 */
void tracer_note_peak(struct tracer *t, const struct task *task, uint64_t bytes);

#endif
