/* SPDX-License-Identifier: MIT */
#include "engine/patch/threads/threads.h"

#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/remote/remote.h"
#include "tracee/proc.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SA_RESTORER 0x04000000

#define SCRATCH AGENT_DATA_AT(scratch)

#define SIGSYS_IGNORED 1 /* SIG_IGN */

/*
 * Makes the program set its action for SIGSYS. `old` is set to the previous action. If the next stop must be one that can
 * deliver a signal (`delivers`), the call must end at a trap.
 */
static int set_action(struct patch *p, struct task *task, const uint64_t *action, uint64_t *old, bool delivers)
{
	struct cpu_regs saved, r;
	size_t size = ACTION_WORDS * sizeof(*action);
	if (cpu_get(task->tid, &saved) < 0 || remote_write(task->tid, SCRATCH, action, size) < 0)
		return -ESRCH;
	const uint64_t args[6] = {SIGSYS, SCRATCH, SCRATCH + size, sizeof(uint64_t)};
	r = saved;
	int err = delivers ? remote_call_to_trap(&p->t, task, &r, SYS_rt_sigaction, args)
			   : remote_excursion_call(&p->t, task, AGENT_AT(agent_call), &r, SYS_rt_sigaction, args);
	if (err == -ESRCH)
		return err;
	cpu_set(task->tid, &saved);
	if (err < 0 || (int64_t)(delivers ? r.CPU_RESULT : r.CPU_MADE) < 0)
		return -EINVAL;
	return remote_read(task->tid, SCRATCH + size, old, size);
}

void sigkill_guard_install(struct patch *p, struct task *task)
{
	static const uint64_t none[ACTION_WORDS];
	struct image_actions *a = image_actions_of(task);
	struct proc_status s;
	/*
	 * This handler can run in several threads at the same time. Some programs (varnishd) give all threads the same alternate
	 * stack, for fatal signals, where the handlers would overwrite each other's frames. So this handler uses that stack only if
	 * the program handles SIGSYS itself. Programs of Go do, and the stacks of goroutines can be too small for a frame.
	 */
	const bool handled = proc_status(task->tid, &s) == 0 && s.caught & SIGBIT(SIGSYS);
	/*
	 * All signals are blocked while this handler runs. If another handler interrupted it, a system call of that
	 * handler would raise SIGSYS while SIGSYS is blocked, and the kernel would end the process.
	 */
	const uint64_t action[ACTION_WORDS] = {[ACTION_HANDLER] = AGENT_AT(agent_sigsys),
					       [ACTION_FLAGS] = SA_RESTORER | SA_SIGINFO | (handled ? SA_ONSTACK : 0),
					       [ACTION_RESTORER] = AGENT_AT(agent_sigsys_restorer),
					       [ACTION_MASK] = ~0ull};
	if (set_action(p, task, action, a->guarded_action, false) < 0)
		return;
	const bool ignored = a->guarded_action[ACTION_HANDLER] == SIGSYS_IGNORED;
	/* If SIGSYS is ignored, the agent's handler calls an instruction that returns. */
	const uint64_t next = ignored ? AGENT_AT(agent_r1) : a->guarded_action[ACTION_HANDLER];
	remote_write(task->tid, AGENT_DATA_AT(next), &next, sizeof(next));
	image_note_sigsys(task, action);
	image_answer_query(task, memcmp(a->guarded_action, none, sizeof(none)) == 0);
	a->guarded = true;
	if (ignored)
		image_note_ignored(task);
}

/*
 * Called if ptrace(2) cannot move the thread back to before its call, and the thread will be detached soon: sends it a
 * SIGSYS, which makes the agent's handler (agent_sigsys) move it back. If the thread had blocked SIGSYS, the kernel has
 * reset the action, and the signal would end the process. No signal is sent then, and the call is lost, because only
 * ptrace(2) could move the thread.
 */
static void send_again(const struct task *task)
{
	siginfo_t si = {.si_signo = SIGSYS, .si_code = AGENT_AGAIN};
	struct proc_status s;
	if (image_of(task) && image_actions_of(task)->guarded && proc_status(task->tid, &s) == 0 &&
	    s.caught & SIGBIT(SIGSYS))
		syscall(SYS_rt_tgsigqueueinfo, task->proc->pid, task->tid, SIGSYS, &si);
}

void sigkill_guard_waited(struct tracer *t, pid_t tid, int status)
{
	siginfo_t si;
	struct cpu_regs r;
	const struct task *task = patch_of(t)->watchdog_fd >= 0 ? tasks_find(&t->tasks, tid) : NULL;
	/* If sctrace has not armed the thread, the program has turned dispatch on itself, and the signal is for the program. */
	if (!task || !task->proc || !patch_task_of(task) || !patch_task_of(task)->armed || !WIFSTOPPED(status) ||
	    status >> 8 != SIGSYS)
		return;
	if (ptrace_retry(PTRACE_GETSIGINFO, tid, NULL, &si) < 0 || cpu_get(tid, &r) < 0) {
		send_again(task);
		return;
	}
	if (si.si_code != SUD_SIGSYS || r.CPU_IP != (uint64_t)(uintptr_t)si.si_call_addr)
		return;
	uint64_t site = r.CPU_IP - CPU_CALL_SIZE;
	patch_task_of(task)->redone = cpu_set_ip(tid, site) == 0;
	if (!patch_task_of(task)->redone)
		send_again(task);
}

void sigkill_guard_rescue(struct patch *p)
{
	size_t i = 0;
	struct task *task;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL))) {
		siginfo_t si;
		if (task->stopped || !patch_task_of(task) ||
		    ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0 || si.si_signo != SIGSYS ||
		    si.si_code != SUD_SIGSYS)
			continue;
		sigkill_guard_waited(&p->t, task->tid, SIGSYS << 8 | 0x7f);
		dispatch_block_again(task);
		ptrace_retry(PTRACE_DETACH, task->tid, NULL, NULL);
	}
}

void sigkill_guard_remove(struct patch *p, struct task *task, bool delivers)
{
	struct image_actions *a = image_actions_of(task);
	uint64_t replaced[ACTION_WORDS];
	if (!a->guarded || set_action(p, task, a->guarded_action, replaced, delivers) < 0)
		return;
	a->guarded = a->known = false;
	if (a->guarded_action[ACTION_HANDLER] != 0) /* SIG_DFL */
		dispatch_note_action(task, SIGSYS, a->guarded_action);
}

static bool hides_ignored(const struct task *task)
{
	const struct image_actions *a = image_actions_of(task);
	return a->guarded && a->guarded_action[ACTION_HANDLER] == SIGSYS_IGNORED;
}

void sigkill_guard_inherit(struct patch *p, struct task *task)
{
	if (hides_ignored(task))
		sigkill_guard_remove(p, task, false);
}

bool sigkill_guard_ignores(const struct task *task, const siginfo_t *si)
{
	if (si->si_signo != SIGSYS || !hides_ignored(task))
		return false;
	if (si->si_code > 0)
		memset(image_actions_of(task)->guarded_action, 0, sizeof(image_actions_of(task)->guarded_action));
	return si->si_code <= 0;
}

void sigkill_guard_mask(struct task *task)
{
	struct image_actions *a = image_actions_of(task);
	const struct call *c = &thread_of(task)->call;
	if (!a->guarded || c->nr != SYS_rt_sigaction || c->error || c->args[0] != SIGSYS)
		return;
	if (c->args[2])
		remote_write(task->tid, c->args[2], a->guarded_action, sizeof(a->guarded_action));
	if (!c->args[1])
		return;
	a->guarded = false; /* the program's own action has replaced agent_sigsys */
	image_answer_query(task, false);
}
