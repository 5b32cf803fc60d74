#include "engine/patch/arm/arm.h"

#include "base/memory.h"
#include "engine/patch/arm/sud.h"
#include "tracee/proc.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
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
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
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
	else if (want & CAP_ATTACH)
		buf_addf(why, "the calls of a running process cannot be intercepted: %s", buf_str(&sud));
	else if (!allowed("filter"))
		buf_addf(why, "%s; SCTRACE_ARM does not permit the seccomp filter", buf_str(&sud));
	else {
		*how = ARM_FILTER;
		r = filter_probe(why);
		if (r == 0)
			buf_addf(why, "calls are intercepted by a seccomp filter (%s)", buf_str(&sud));
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
	if (pt && pt->armed != on && (p->arming == ARM_FILTER || sud_arm(task->tid, on, selector) == 0))
		pt->armed = on;
}

enum arm_stop arm_read_stop(pid_t tid, struct call *call)
{
	struct __ptrace_syscall_info info;
	unsigned long mark = 0;
	if (ptrace_retry(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) < 0 ||
	    info.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return ARM_STOP_NONE;
	call->arch = info.arch;
	call->nr = (int64_t)info.seccomp.nr;
	return ptrace_retry(PTRACE_GETEVENTMSG, tid, NULL, &mark) == 0 && mark == ARM_FILTER_MARK ? ARM_STOP_SCTRACE
												  : ARM_STOP_PROGRAM;
}

void arm_answer_enosys(pid_t tid)
{
	struct user_regs_struct r;
	if (ptrace_retry(PTRACE_GETREGS, tid, NULL, &r) < 0)
		return;
	r.orig_rax = (unsigned long long)-1;
	r.rax = (unsigned long long)-ENOSYS;
	ptrace_retry(PTRACE_SETREGS, tid, NULL, &r);
}

bool arm_is_served(const struct patch *p, const struct task *task)
{
	return task->proc->counted || p->arming == ARM_FILTER;
}
