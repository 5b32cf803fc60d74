/* Handles signals to a task, and group-stops. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_SIGNALS_H
#define SCTRACE_ENGINE_PTRACE_TASKS_SIGNALS_H

#include "engine/ptrace/state/tracer.h"

/* Handles a signal-delivery-stop. */
void tracer_on_signal(struct tracer *t, struct task *task, int sig);
/* Handles PTRACE_EVENT_STOP: a group-stop begins or ends, a new task exists, or PTRACE_INTERRUPT has taken effect. */
void tracer_on_event_stop(struct tracer *t, struct task *task, int sig);

#endif
