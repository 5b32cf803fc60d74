#include "engine/ptrace/state/group.h"

#include "tracee/proc.h"

static int64_t group_id(const struct tracer *t, const struct task *task)
{
	if (t->config.want & CAP_BY_THREAD)
		return task->tid;
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
	if (task->proc && (t->config.want & CAP_BY_THREAD || task->proc->ntasks == 1))
		tracer_leave_group(t, task);
	life_free(&thread_of(task)->life);
	tasks_remove(&t->tasks, task);
}
