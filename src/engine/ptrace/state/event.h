/* The events of a tracer, and the memory that they are read from. */
#ifndef SCTRACE_ENGINE_PTRACE_STATE_EVENT_H
#define SCTRACE_ENGINE_PTRACE_STATE_EVENT_H

#include "engine/ptrace/state/tracer.h"

/* Queues an event with its ids, time and memory. The caller fills in the rest before the next call. */
struct event *tracer_event(struct tracer *t, enum event_kind kind, const struct task *task);
/* Queues an EV_NOTE with this text for the user. */
void tracer_note(struct tracer *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the memory of thread *tid, which must stay where it is. Reads only what no traced program has to provide. */
struct mem tracer_mem_of(const struct tracer *t, pid_t *tid);
/* Returns the memory of the task's process, which is valid until the next call of this function. */
const struct mem *tracer_mem(struct tracer *t, const struct task *task);

#endif
