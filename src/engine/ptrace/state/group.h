/* The groups to which the calls of threads are added. tracer_forget() also frees the other data of a thread. */
#ifndef SCTRACE_ENGINE_PTRACE_STATE_GROUP_H
#define SCTRACE_ENGINE_PTRACE_STATE_GROUP_H

#include "engine/ptrace/state/tracer.h"

/* Returns the group to which the task's calls are added, according to config.want. */
struct summary_group *tracer_group(struct tracer *t, const struct task *task);
/*
 * Writes the name of the group that tracer_group() returns to `name`, which has `size` bytes. Sets *id to the id of the
 * group's process or thread, or to -1.
 */
void tracer_group_name(struct tracer *t, const struct task *task, char *name, size_t size, int64_t *id);
/* Called when the task or its process ends, or runs another program: its next calls belong to a new group. */
void tracer_leave_group(struct tracer *t, const struct task *task);
/* Frees the data of a task that has ended or was detached. */
void tracer_forget(struct tracer *t, struct task *task);

#endif
