/*
 * Our sudden death, in a process that was attached to: until the watchdog (attach.c) has turned dispatch off, and in threads that
 * were just then stopped by it, SIGSYS would end the program. So it has a handler meanwhile (agent_sigsys), which while we
 * live never runs.
 */
#include "engine/patch/patch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SA_RESTORER 0x04000000

#define SCRATCH (AGENT_DATA + offsetof(struct agent_data, scratch))

/* Has the program set its action for SIGSYS; the former one goes to `old`. By way of int3: the task may be in a call. */
static int set_action(struct patch *p, struct task *task, const uint64_t *action, uint64_t *old)
{
	struct user_regs_struct saved, r;
	size_t size = ACTION_WORDS * sizeof(*action);
	if (ptrace(PTRACE_GETREGS, task->tid, NULL, &saved) < 0 || remote_write(task->tid, SCRATCH, action, size) < 0)
		return -ESRCH;
	r = saved;
	r.rip = AGENT_AT(agent_remote);
	r.rax = SYS_rt_sigaction;
	r.rdi = SIGSYS;
	r.rsi = SCRATCH;
	r.rdx = SCRATCH + size;
	r.r10 = sizeof(uint64_t);
	int err = remote_run(&p->t, task, &r);
	if (err == -ESRCH)
		return err;
	ptrace(PTRACE_SETREGS, task->tid, NULL, &saved);
	if (err < 0 || (int64_t)r.rax < 0)
		return -EINVAL;
	return remote_read(task->tid, SCRATCH + size, old, size);
}

void guard_install(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	const uint64_t action[ACTION_WORDS] = {[ACTION_HANDLER] = AGENT_AT(agent_sigsys),
					       [ACTION_FLAGS] = SA_RESTORER | SA_SIGINFO | SA_ONSTACK,
					       [ACTION_RESTORER] = AGENT_AT(agent_sigsys_restorer)};
	if (set_action(p, task, action, img->guarded_action) < 0)
		return;
	const uint64_t next = img->guarded_action[ACTION_HANDLER];
	remote_write(task->tid, AGENT_DATA + offsetof(struct agent_data, next), &next, sizeof(next));
	memcpy(img->sigsys_action, action, sizeof(action));
	img->guarded = img->minds_sigsys = true;
}

void guard_waited(struct tracer *t, pid_t tid, int status)
{
	siginfo_t si;
	struct user_regs_struct r;
	const struct task *task = patch_of(t)->watchdog_fd >= 0 ? tasks_find(&t->tasks, tid) : NULL;
	if (!task || !task->proc || !patch_task_of(task) || !WIFSTOPPED(status) || status >> 8 != SIGSYS ||
	    ptrace(PTRACE_GETSIGINFO, tid, NULL, &si) < 0 || !dispatch_is_forced(task, &si, &r))
		return;
	uint64_t site = (uint64_t)(uintptr_t)si.si_call_addr - 2;
	patch_task_of(task)->redone = ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rip), site) == 0;
}

void guard_remove(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	uint64_t ours[ACTION_WORDS];
	if (!img->guarded || set_action(p, task, img->guarded_action, ours) < 0)
		return;
	img->guarded = img->minds_sigsys = false;
	if (img->guarded_action[ACTION_HANDLER] != 0) /* SIG_DFL */
		dispatch_note_action(task, SIGSYS, img->guarded_action);
}

void guard_veil(struct task *task)
{
	struct image *img = image_of(task);
	const struct call *c = &task->call;
	if (!img->guarded || c->error || c->args[0] != SIGSYS)
		return;
	if (c->args[2])
		remote_write(task->tid, c->args[2], img->guarded_action, sizeof(img->guarded_action));
	if (c->args[1])
		img->guarded = false; /* from here on it has one of its own, in place of ours */
}
