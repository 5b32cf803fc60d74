/*
 * If a program asks prctl(2) whether it has a filter (PR_GET_SECCOMP), the answer must be that it has none. The kernel
 * refuses strict mode to a process that has a filter, so strict mode is enforced here (seccomp(2),
 * SECCOMP_SET_MODE_STRICT).
 */
#include "engine/patch/arm/seccomp_mask.h"

#include "arch/arch.h"
#include "engine/patch/arm/arm.h"
#include "syscall/table.h"
#include "tracee/proc.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

bool seccomp_sets_strict(int64_t nr, const uint64_t args[3])
{
	return (nr == SYS_prctl && args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_STRICT) ||
	       (nr == SYS_seccomp && args[0] == SECCOMP_SET_MODE_STRICT && args[1] == 0 && args[2] == 0);
}

bool seccomp_sets_filter(int64_t nr, const uint64_t args[3])
{
	return (nr == SYS_seccomp && args[0] == SECCOMP_SET_MODE_FILTER) ||
	       (nr == SYS_prctl && args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_FILTER);
}

static bool allowed_in_strict_mode(const struct call *c)
{
	return c->arch == syscall_native_arch() &&
	       (c->nr == SYS_read || c->nr == SYS_write || c->nr == SYS_exit || c->nr == SYS_rt_sigreturn);
}

/* Ends the thread as if by SIGKILL, as the kernel does in strict mode (kernel/seccomp.c, __secure_computing_strict). */
static void end_thread(const struct task *task)
{
	struct user_regs_struct r;
	if (task->proc->ntasks == 1 || ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) < 0) {
		kill(task->proc->pid, SIGKILL);
		return;
	}
	r.orig_rax = SYS_exit;
	ptrace_retry(PTRACE_SETREGS, task->tid, NULL, &r);
}

/* Has the program itself installed seccomp filters? The program may see its own filters. */
static bool is_filtered(const struct patch *p, const struct task *task)
{
	struct proc_status s;
	proc_status(task->tid, &s);
	return arm_is_filtered(p, &s);
}

void seccomp_mask_enter(const struct patch *p, struct task *task)
{
	const struct call *c = &thread_of(task)->call;
	struct patch_task *pt = patch_task_of(task);
	if (pt->strict && !allowed_in_strict_mode(c))
		end_thread(task);
	bool asks = c->nr == SYS_prctl && c->args[0] == PR_GET_SECCOMP;
	pt->pretend = c->arch == syscall_native_arch() && (seccomp_sets_strict(c->nr, c->args) || asks) &&
		      !is_filtered(p, task);
}

void seccomp_mask_exit(struct task *task)
{
	struct patch_task *pt = patch_task_of(task);
	if (!pt->pretend || arch_set_result(task->tid, 0) < 0)
		return;
	pt->strict = seccomp_sets_strict(thread_of(task)->call.nr, thread_of(task)->call.args);
	pt->pretend = false;
}
