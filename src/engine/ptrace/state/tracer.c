#include "engine/ptrace/state/tracer.h"

#include <stdlib.h>
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
	tasks_free(&t->tasks);
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
