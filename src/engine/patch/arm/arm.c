/* SPDX-License-Identifier: MIT */
#include "engine/patch/arm/arm.h"

#include "arch/arch.h"
#include "base/helper.h"
#include "base/memory.h"
#include "base/ptrace.h"
#include "engine/patch/code/agent.h"
#include "syscall/call_table.h"
#include "tracee/proc.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* SECCOMP_RET_DATA of sctrace's filter. The kernel reports that of the newest filter with the action (seccomp(2)). */
#define ARM_FILTER_MARK 0x5c7a
#define FIELD(member)   offsetof(struct seccomp_data, member)

/*
 * A filter that stops all calls except those made at addresses of the agent. libseccomp cannot compare the instruction
 * pointer (seccomp(2), struct seccomp_data), so the instructions are written out.
 */
static const struct sock_filter template[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CPU_ARCH, 0, 5),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(instruction_pointer) + 4),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AGENT_CODE >> 32, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(instruction_pointer)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)AGENT_CODE, 0, 1),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0 /* the end of the agent, filled in below */, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | ARM_FILTER_MARK),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
enum { AT_END = 6 };

void arm_filter_build(struct call_filter *f)
{
	*f = (struct call_filter){memory_get(sizeof(template)), sizeof(template) / sizeof(*template)};
	memcpy(f->code, template, sizeof(template));
	f->code[AT_END].k = (uint32_t)AGENT_AT(agent_allowed_end);
}

/*
 * Does the kernel support filters that send a call to a tracer? Linux 4.14 and later answer this question (seccomp(2)).
 */
static int filter_probe(struct buf *why)
{
	const uint32_t action = SECCOMP_RET_TRACE;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		return 0;
	int r = -errno;
	buf_addf(why, "calls cannot be intercepted by a seccomp filter: %s", strerror(-r));
	return r;
}

/* Returns whether the environment permits this way of intercepting calls. Both are permitted if the variable is not set. */
static bool allowed(const char *name)
{
	const char *s = getenv("SCTRACE_ARM");
	return !s || strcmp(s, name) == 0;
}

int arm_choose(unsigned want, enum arming *how, struct buf *why)
{
	struct buf sud = {0};
	if (!allowed("sud") && !allowed("filter")) {
		buf_addf(why, "the variable SCTRACE_ARM is '%s', but must be sud or filter", getenv("SCTRACE_ARM"));
		return -EINVAL;
	}
	*how = ARM_SUD;
	int r = allowed("sud") ? sud_probe(&sud) : -ENOTSUP;
	if (r < 0 && sud.len == 0)
		buf_adds(&sud, "SCTRACE_ARM does not permit Syscall User Dispatch");
	if (r == 0)
		buf_adds(why, "calls are intercepted by Syscall User Dispatch");
	else if (want & CAP_ATTACH && CPU_KNOCKS) {
		*how = ARM_KNOCK;
		r = 0;
		buf_adds(why,
			 "all system calls in the code of a running process are patched when sctrace attaches to it");
	} else if (want & CAP_ATTACH)
		buf_addf(why, "the calls of a running process cannot be intercepted: %s", buf_str(&sud));
	else if (want & CAP_LEAVE)
		buf_addf(why, "sctrace cannot detach from a program whose calls a seccomp filter intercepts (%s)",
			 buf_str(&sud));
	else if (!allowed("filter"))
		buf_addf(why, "%s; SCTRACE_ARM does not permit the seccomp filter", buf_str(&sud));
	else {
		*how = ARM_FILTER;
		r = filter_probe(why);
		if (r == 0)
			buf_addf(why, "calls are intercepted by a seccomp filter (%s)%s", buf_str(&sud),
				 CPU_KNOCKS ? "; in running processes (-p), all system calls in their code are patched"
					    : "");
	}
	buf_free(&sud);
	return r;
}

bool arm_is_filtered(const struct patch *p, const struct proc_status *s)
{
	/* If the number of filters cannot be read, the program may have installed one. */
	return s->filters > p->filters || (s->filters == 0 && p->seccomp_seen && (s->filtered || !s->has_signals));
}

void arm_task(const struct patch *p, struct task *task, bool on)
{
	struct patch_task *pt = patch_task_of(task);
	const struct image *img = image_of(task);
	uint64_t selector = img && img->sigsys.selected ? AGENT_STATS + AGENT_SLOTS_SIZE : 0;
	/* A filter cannot be switched off; on_seccomp() (patch.c) handles its stops by the state of the image. */
	if (pt && pt->armed != on && (p->arming != ARM_SUD || sud_arm(task->tid, on, selector) == 0))
		pt->armed = on;
}

enum arm_stop arm_read_stop(pid_t tid, struct call *call)
{
	struct __ptrace_syscall_info info;
	unsigned long mark = 0;
	if (ptrace_retry(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) < 0 ||
	    (info.op != PTRACE_SYSCALL_INFO_SECCOMP && info.op != PTRACE_SYSCALL_INFO_ENTRY))
		return ARM_STOP_NONE;
	call->arch = info.arch;
	call->nr = (int64_t)info.entry.nr; /* seccomp.nr is at the same place */
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		return ARM_STOP_ENTRY;
	return ptrace_retry(PTRACE_GETEVENTMSG, tid, NULL, &mark) == 0 && mark == ARM_FILTER_MARK ? ARM_STOP_SCTRACE
												  : ARM_STOP_PROGRAM;
}

void arm_answer_enosys(pid_t tid)
{
	struct cpu_regs r;
	if (cpu_get(tid, &r) < 0)
		return;
	r.CPU_RESTARTED = CPU_NO_CALL;
	r.CPU_RESULT = (unsigned long long)-ENOSYS;
	cpu_set(tid, &r);
}

bool arm_is_served(const struct patch *p, const struct task *task)
{
	return task->proc->counted || p->arming == ARM_FILTER;
}

/*
 * If a program asks prctl(2) whether it has a filter (PR_GET_SECCOMP), the answer must be that it has none. The kernel
 * refuses strict mode to a process that has a filter, so strict mode is enforced here (seccomp(2),
 * SECCOMP_SET_MODE_STRICT).
 */
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
	struct cpu_regs r;
	if (task->proc->ntasks == 1 || cpu_get(task->tid, &r) < 0) {
		kill(task->proc->pid, SIGKILL);
		return;
	}
	r.CPU_RESTARTED = SYS_exit;
	cpu_set(task->tid, &r);
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

/* Defined in linux/ptrace.h, which cannot be included together with sys/ptrace.h. */
#define PTRACE_SET_SUD 0x4210
#define PTRACE_GET_SUD 0x4211
struct sud_config {
	uint64_t mode, selector, offset, len;
};
#define SUD_OFF 0
#define SUD_ON  1

int sud_arm(pid_t tid, bool on, uint64_t selector)
{
	struct sud_config c = {.mode = SUD_OFF};
	if (on)
		c = (struct sud_config){SUD_ON, selector, AGENT_CODE, AGENT_AT(agent_allowed_end) - AGENT_CODE};
	return ptrace_retry(PTRACE_SET_SUD, tid, sizeof(c), &c) < 0 ? -errno : 0;
}

bool sud_is_on(pid_t tid)
{
	struct sud_config c = {.mode = SUD_OFF};
	return CPU_DISPATCHES && ptrace_retry(PTRACE_GET_SUD, tid, sizeof(c), &c) == 0 && c.mode == SUD_ON;
}

/* Turns dispatch on in a child. Returns 0 or -errno. */
static int try_on_child(void)
{
	pid_t pid = helper_seize();
	int status = 0;
	int r = pid < 0 ? pid : ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 ? -errno : 0;
	if (r == 0 && waitpid(pid, &status, __WALL) < 0)
		r = -errno;
	if (r == 0)
		r = WIFSTOPPED(status) ? sud_arm(pid, true, 0) : -ECHILD;
	if (pid > 0)
		helper_kill(pid);
	return r;
}

/*
 * Returns true if PTRACE_SET_SUD surely works, so that try_on_child(), which takes 0.3 ms, is not needed. Linux 6.4 added
 * the request. The prctl(2) changes nothing, because dispatch is already off in sctrace. It fails if this architecture or
 * the kernel's configuration has no dispatch.
 */
static bool is_certain(void)
{
	struct utsname u;
	int major = 0, minor = 0;
	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 4)) &&
	       prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0;
}

int sud_probe(struct buf *why)
{
	static int known = 1; /* 1: not tried yet; the result is kept, because it does not change */
	if (!CPU_DISPATCHES) {
		buf_adds(why, "Linux has no Syscall User Dispatch on this processor, or sctrace does not use it there");
		return -ENOTSUP;
	}
	if (known > 0)
		known = is_certain() ? 0 : try_on_child();
	if (known < 0)
		buf_addf(why,
			 "the kernel cannot enable Syscall User Dispatch for another process, which needs Linux 6.4 or "
			 "later: %s",
			 strerror(-known));
	return known;
}
