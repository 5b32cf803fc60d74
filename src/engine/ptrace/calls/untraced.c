#include "engine/ptrace/calls/untraced.h"

#include "arch/arch.h"
#include "engine/ptrace/calls/calls.h"
#include "engine/ptrace/state/event.h"
#include "syscall/table.h"

#include <sched.h>

void tracer_untraced_enter(struct tracer *t, struct task *task)
{
	const struct call *c = &thread_of(task)->call;
	struct untraced u = {.where = UNTRACED_NO};
	if (!(t->options & PTRACE_O_TRACECLONE) || c->arch != syscall_native_arch())
		return;
	if (tracer_call_is(c, "clone"))
		u = (struct untraced){UNTRACED_REGISTER, 0, c->args[0]};
	else if (tracer_call_is(c, "clone3") &&
		 mem_get(tracer_mem(t, task), c->args[0], &u.flags, sizeof(u.flags)) == 0)
		u = (struct untraced){UNTRACED_MEMORY, c->args[0], u.flags};
	if (u.where == UNTRACED_NO || !(u.flags & CLONE_UNTRACED))
		return;
	uint64_t flags = u.flags & ~(uint64_t)CLONE_UNTRACED;
	if (u.where == UNTRACED_REGISTER)
		arch_set_first_arg(task->tid, flags);
	else
		ptrace_retry(PTRACE_POKEDATA, task->tid, u.addr, flags);
	thread_of(task)->untraced = u;
}

void tracer_untraced_exit(const struct task *task)
{
	struct untraced *u = &thread_of(task)->untraced;
	if (u->where == UNTRACED_REGISTER)
		arch_restore_first_arg(task->tid, u->flags);
	else if (u->where == UNTRACED_MEMORY)
		ptrace_retry(PTRACE_POKEDATA, task->tid, u->addr, u->flags);
	u->where = UNTRACED_NO;
}
