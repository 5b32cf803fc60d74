#include "engine/ptrace/state/event.h"

#include "base/clock.h"

#include <stdarg.h>
#include <string.h>

struct mem tracer_mem_of(const struct tracer *t, pid_t *tid)
{
	return (struct mem){t->serves_pages ? mem_read_present : mem_read_process, tid};
}

const struct mem *tracer_mem(struct tracer *t, const struct task *task)
{
	t->mem_pid = task->tid;
	t->mem = tracer_mem_of(t, &t->mem_pid);
	return &t->mem;
}

struct event *tracer_event(struct tracer *t, enum event_kind kind, const struct task *task)
{
	struct event *ev = &t->events.v[t->events.n < 4 ? t->events.n++ : 3];
	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->tid = task->tid;
	ev->pid = task->proc ? task->proc->pid : task->tid;
	ev->time_ns = clock_ns();
	ev->mem = tracer_mem(t, task);
	return ev;
}

void tracer_note(struct tracer *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_clear(&t->note);
	buf_addv(&t->note, fmt, ap);
	va_end(ap);
	struct event *ev = &t->events.v[t->events.n < 4 ? t->events.n++ : 3];
	*ev = (struct event){.kind = EV_NOTE, .time_ns = clock_ns(), .text = buf_str(&t->note)};
}
