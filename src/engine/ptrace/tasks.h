/* Follows tasks: resumes them, and handles new and ending tasks, execve(2), signals and group-stops. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_H
#define SCTRACE_ENGINE_PTRACE_TASKS_H

#include "engine/ptrace/tracer.h"

/* Resumes a stopped task with its pending signal, or detaches if task.release is set. The task may have died. */
void tracer_resume(struct tracer *t, struct task *task);
/* Like tracer_release(), but does not call tracer_ops.detach. */
void tracer_detach_task(struct tracer *t, struct task *task);

/*
 * Handles new tasks. The kernel reports a new task twice, by a stop of the child and by an event of its parent, in any
 * order. A child whose stop comes first stays stopped (task.early_status) until its parent's event, unless its parent
 * was killed before that event.
 */

/* Handles PTRACE_EVENT_FORK, _VFORK or _CLONE of the parent. */
void tracer_on_child(struct tracer *t, struct task *parent, int event);
/* Adds a task whose parent was killed before it reported the task; /proc says to which process it belongs. */
void tracer_adopt(struct tracer *t, struct task *task);
/* Adopts all tasks whose parents will not report them any more. */
void tracer_adopt_orphans(struct tracer *t);

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

/*
 * Handles PTRACE_EVENT_EXEC: the task runs a new program. It is now the only thread of its process, with the leader's
 * id.
 */
void tracer_on_exec(struct tracer *t, struct task *task);

/* Handles a signal-delivery-stop. */
void tracer_on_signal(struct tracer *t, struct task *task, int sig);
/* Handles PTRACE_EVENT_STOP: a group-stop begins or ends, a new task exists, or PTRACE_INTERRUPT has taken effect. */
void tracer_on_event_stop(struct tracer *t, struct task *task, int sig);

#endif
