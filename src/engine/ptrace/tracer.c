/* SPDX-License-Identifier: MIT */
#include "engine/ptrace/tracer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "tracee/proc.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tracer_init(struct tracer *t, const struct tracer_ops *ops)
{
	t->ops = ops;
	t->root.go_fd = t->root.err_fd = -1;
	t->tasks.task_size = sizeof(struct thread);
}

void tracer_free(struct tracer *t)
{
	if (t->root.go_fd >= 0)
		close(t->root.go_fd);
	if (t->root.err_fd >= 0)
		close(t->root.err_fd);
	struct task *task;
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		life_free(&thread_of(task)->life);
	map_free_all(&t->tasks.by_tid);
	map_free_all(&t->tasks.processes);
	map_free(&t->groups);
	summary_free(&t->counts);
	summary_free(&t->before);
	vec_free(&t->waits.taken);
	buf_free(&t->note);
}

int tracer_collect(struct engine *e, struct summary *s)
{
	struct tracer *t = (struct tracer *)e;
	if (t->ops->gather)
		t->ops->gather(t);
	summary_merge(s, &t->counts);
	if (t->main.armed)
		summary_merge(&t->before, &t->counts);
	summary_free(&t->counts);
	map_free(&t->groups);
	return 0;
}

void tracer_result(const struct engine *e, struct engine_result *r)
{
	const struct tracer *t = (const struct tracer *)e;
	*r = t->result;
	r->before = &t->before;
}

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

static int64_t group_id(const struct tracer *t, const struct task *task)
{
	return t->config.want & CAP_BY_PROCESS ? task->proc->pid : -1;
}

void tracer_group_name(struct tracer *t, const struct task *task, char *name, size_t size, int64_t *id)
{
	*id = group_id(t, task);
	name[0] = '\0';
	if (*id >= 0)
		proc_comm(task->tid, name, size);
}

struct summary_group *tracer_group(struct tracer *t, const struct task *task)
{
	struct summary_group *g = map_get(&t->groups, (uint64_t)group_id(t, task));
	if (g)
		return g;
	char name[32];
	int64_t id;
	tracer_group_name(t, task, name, sizeof(name), &id);
	g = summary_group(&t->counts, name, id);
	map_put(&t->groups, (uint64_t)id, g);
	return g;
}

void tracer_leave_group(struct tracer *t, const struct task *task)
{
	map_remove(&t->groups, (uint64_t)group_id(t, task));
}

void tracer_forget(struct tracer *t, struct task *task)
{
	if (t->ops->death)
		t->ops->death(t, task);
	if (task->proc && task->proc->ntasks == 1)
		tracer_leave_group(t, task);
	life_free(&thread_of(task)->life);
	tasks_remove(&t->tasks, task);
}

void tracer_kill(struct engine *e, int sig)
{
	struct tracer *t = (struct tracer *)e;
	if (sig == SIGKILL)
		t->config.woken = NULL; /* signals to sctrace no longer interrupt the wait for the ends of the killed
					 * tasks */
	struct process *p;
	for (size_t i = 0; (p = map_next(&t->tasks.processes, &i, NULL));)
		if (!p->attached && !(p->root && t->root.waits))
			kill(p->pid, sig);
}

int tracer_give_up(struct tracer *t, int err, const char *fmt, ...)
{
	if (t->failed)
		return t->failed;
	auto_buf text = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	tracer_note(t, "%s: %s", buf_str(&text), strerror(-err));
	t->failed = err;
	tracer_kill(&t->base, SIGKILL);
	if (t->ops->gave_up)
		t->ops->gave_up(t);
	return err;
}

void tracer_check_refused(struct tracer *t)
{
	pid_t tid;
	int err = ptrace_refused(&tid);
	if (err)
		tracer_give_up(t, -err, "cannot trace task %d any further", (int)tid);
}

struct task *tasks_find(const struct tasks *t, pid_t tid)
{
	return map_get(&t->by_tid, (uint64_t)tid);
}

struct task *tasks_add(struct tasks *t, pid_t tid)
{
	if (tasks_find(t, tid))
		return NULL;
	struct task *task = memory_zeroed(1, t->task_size ? t->task_size : sizeof(*task));
	task->tid = tid;
	task->fresh = true;
	map_put(&t->by_tid, (uint64_t)tid, task);
	return task;
}

void tasks_join(struct tasks *t, struct task *task, pid_t pid)
{
	struct process *p = map_get(&t->processes, (uint64_t)pid);
	if (!p) {
		p = memory_zeroed(1, sizeof(*p));
		p->pid = pid;
		map_put(&t->processes, (uint64_t)pid, p);
	}
	p->ntasks++;
	task->proc = p;
}

void tasks_remove(struct tasks *t, struct task *task)
{
	struct process *p = task->proc;
	map_remove(&t->by_tid, (uint64_t)task->tid);
	if (p && --p->ntasks == 0) {
		map_remove(&t->processes, (uint64_t)p->pid);
		free(p);
	}
	free(task);
}

void tasks_rename(struct tasks *t, struct task *task, pid_t leader)
{
	struct task *old = tasks_find(t, leader);
	if (old == task)
		return;
	if (old)
		tasks_remove(t, old);
	map_remove(&t->by_tid, (uint64_t)task->tid);
	task->tid = leader;
	map_put(&t->by_tid, (uint64_t)leader, task);
}
