#include "tracee/task_list.h"

#include "base/memory.h"

#include <stdlib.h>

void tasks_free(struct tasks *t)
{
	void *p;
	for (size_t i = 0; (p = map_next(&t->by_tid, &i, NULL));)
		free(p);
	for (size_t i = 0; (p = map_next(&t->processes, &i, NULL));)
		free(p);
	map_free(&t->by_tid);
	map_free(&t->processes);
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
