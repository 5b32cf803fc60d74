#include "engine/ptrace/tasks/options.h"

unsigned long tracer_attach_options(const struct tracer *t)
{
	return t->options & ~(unsigned long)PTRACE_O_EXITKILL;
}

void tracer_set_options(struct tracer *t, const struct task *task)
{
	bool leader = task->tid == task->proc->pid && (task->proc->root || task->proc->attached);
	unsigned long options = task->proc->attached ? tracer_attach_options(t) : t->options;
	if (!leader)
		options &= ~(unsigned long)PTRACE_O_TRACEEXIT;
	struct thread *k = thread_of(task);
	if (k->options != options && ptrace_retry(PTRACE_SETOPTIONS, task->tid, NULL, options) == 0)
		k->options = options;
}
