/* Handles the ends of tasks, and measures the peak of their memory. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_DEATHS_H
#define SCTRACE_ENGINE_PTRACE_TASKS_DEATHS_H

#include "engine/ptrace/state/tracer.h"

/* Handles PTRACE_EVENT_EXIT: the task is about to end, and its memory can still be measured. */
void tracer_on_exit(struct tracer *t, struct task *task);
/* Handles the end of a task, and removes the task. `status` is that of wait(2). */
void tracer_on_death(struct tracer *t, struct task *task, int status);
/*
 * Notes the peak resident set of a descendant that has ended, in bytes, from wait4(2). This figure includes the peak of
 * the descendant's parent before execve(2), which does no harm, because the parent's own peak is taken into account
 * anyway. For the started program the figure would be wrong, because its parent was sctrace; tracer_on_exit() measures
 * the started program.
 */
void tracer_note_peak(struct tracer *t, const struct task *task, uint64_t bytes);

#endif
