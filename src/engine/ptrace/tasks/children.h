/*
 * Handles new tasks. The kernel reports a new task twice, by a stop of the child and by an event of its parent, in any
 * order. A child whose stop comes first stays stopped (task.early_status) until its parent's event, unless its parent
 * was killed before that event.
 */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_CHILDREN_H
#define SCTRACE_ENGINE_PTRACE_TASKS_CHILDREN_H

#include "engine/ptrace/state/tracer.h"

/* Handles PTRACE_EVENT_FORK, _VFORK or _CLONE of the parent. */
void tracer_on_child(struct tracer *t, struct task *parent, int event);
/*
 * Handles the first stop, by `sig`, of a task that its parent has reported. Returns false if the task was detached,
 * because it need not be traced.
 */
bool tracer_first_stop(struct tracer *t, struct task *task, int sig);
/* Adds a task whose parent was killed before it reported the task; /proc says to which process it belongs. */
void tracer_adopt(struct tracer *t, struct task *task);
/* Adopts all tasks whose parents will not report them any more. */
void tracer_adopt_orphans(struct tracer *t);

#endif
