#include "engine/ptrace/calls/stop.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "engine/ptrace/calls/calls.h"
#include "engine/ptrace/calls/untraced.h"
#include "engine/ptrace/state/event.h"
#include "syscall/table.h"
#include "tracee/mem.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef USERFAULTFD_IOC_NEW /* Linux 6.1 */
#define USERFAULTFD_IOC_NEW 0xaa00
#endif

/* Reads the stop. Returns 'e' for an entry, 'x' for an exit, or 0 if the task died or is not in a syscall-stop. */
static char read_stop(struct task *task, struct call *c)
{
	struct thread *k = thread_of(task);
	struct __ptrace_syscall_info info;
	long n = ptrace_retry(PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof(info), &info);
	if (n > 0 && (info.op == PTRACE_SYSCALL_INFO_ENTRY || info.op == PTRACE_SYSCALL_INFO_SECCOMP)) {
		c->arch = info.arch;
		c->foreign = c->arch != syscall_native_arch() && arch_is_foreign(task->tid);
		c->nr = (int64_t)info.entry.nr;
		for (int i = 0; i < 6; i++)
			c->args[i] = info.entry.args[i];
		c->ip = info.instruction_pointer;
		c->sp = info.stack_pointer;
		return 'e';
	}
	if (n > 0 && info.op == PTRACE_SYSCALL_INFO_EXIT) {
		c->result = info.exit.rval;
		c->error = info.exit.is_error;
		c->err = c->error ? (int)-info.exit.rval : 0;
		return 'x';
	}
	if (n > 0 || errno == ESRCH)
		return 0;
	/* Before Linux 5.3, the kernel does not say which stop it is. Entries and exits alternate. */
	int r = k->in_call ? arch_read_result(task->tid, c) : arch_read_call(task->tid, c);
	return r < 0 ? 0 : k->in_call ? 'x' : 'e';
}

/*
 * Returns true if the task is still the child in which sctrace's own code runs, before the execve(2) of the started
 * program. The calls of the program count from that execve(2) on.
 */
static bool before_start(const struct tracer *t, const struct task *task)
{
	return task->proc->root && !task->proc->execed && !tracer_call_is(&thread_of(task)->call, "execve") &&
	       !t->calibrating;
}

static void ask_inject(struct tracer *t, struct task *task, const struct event *ev)
{
	struct engine_tamper tamper = {0};
	if (!t->config.inject || !(t->config.want & CAP_INJECT) || !t->config.inject(t->config.inject_ctx, ev, &tamper))
		return;
	if (tamper.delay_enter_ns)
		clock_sleep_ns(tamper.delay_enter_ns);
	thread_of(task)->tamper = (struct tamper){
		.set_result = tamper.set_result && arch_skip_call(task->tid) == 0,
		.result = tamper.result,
		.exit_delay_ns = tamper.delay_exit_ns,
		/*
		 * At the stop of a seccomp filter, the kernel ignores a signal, so it is delivered at the end of the
		 * call.
		 */
		.signal = t->filter ? tamper.signal : 0,
	};
	thread_of(task)->call.injected = thread_of(task)->tamper.set_result;
	thread_of(task)->call.delayed = tamper.delay_enter_ns || tamper.delay_exit_ns;
	if (tamper.signal && !t->filter)
		task->deliver = tamper.signal;
}

static void finish_inject(struct task *task)
{
	struct thread *k = thread_of(task);
	struct call *c = &k->call;
	struct tamper *x = &k->tamper;
	if (x->set_result && arch_set_result(task->tid, x->result) == 0) {
		c->result = x->result;
		c->error = x->result < 0 && x->result >= -4095;
		c->err = c->error ? (int)-x->result : 0;
	}
	if (x->signal)
		task->deliver = x->signal;
	if (x->exit_delay_ns)
		clock_sleep_ns(x->exit_delay_ns);
	*x = (struct tamper){0};
}

bool tracer_wants_call(const struct tracer *t, const struct task *task)
{
	const struct call *c = &thread_of(task)->call;
	const struct call_set *only = t->config.only;
	if (!(t->config.want & CAP_EVENTS) || !task->proc->counted)
		return false;
	return !only || c->arch != syscall_native_arch() || c->nr < 0 || c->nr >= CALL_SET_MAX ||
	       (only->bits[c->nr / 64] >> (c->nr % 64) & 1);
}

/* Returns true if a process serves file systems of the type whose name is at `addr`: "fuse", "fuse.x", "fuseblk", "9p". */
static bool is_served(const struct mem *mem, uint64_t addr)
{
	char name[4] = "";
	mem_read(mem, addr, name, sizeof(name)); /* the kernel has read this memory, so it is present */
	return memcmp(name, "fuse", 4) == 0 || memcmp(name, "9p", 3) == 0;
}

/* Returns true if the message at `addr` has brought control data, which can be descriptors (unix(7)). */
static bool has_control(const struct mem *mem, uint64_t addr)
{
	struct msghdr head;
	return mem_get(mem, addr, &head, sizeof(head)) == 0 && head.msg_controllen > 0;
}

/*
 * Notes whether a traced program may serve page faults from now on. It has created a userfaultfd, by userfaultfd(2) or
 * its device (linux/userfaultfd.h), or has mounted a file system that a process serves. If fusermount(1), which sctrace
 * does not follow, has mounted it, the program receives the file descriptor in a message.
 */
static void note_serving(struct tracer *t, const struct task *task, const struct call *c)
{
	if (c->error || c->arch != syscall_native_arch() || t->serves_pages)
		return;
	pid_t pid = task->tid;
	const struct mem mem = {mem_read_present, &pid};
	switch (c->nr) {
	case SYS_userfaultfd:
		t->serves_pages = true;
		break;
	case SYS_ioctl:
		t->serves_pages = (uint32_t)c->args[1] == (uint32_t)USERFAULTFD_IOC_NEW;
		break;
	case SYS_mount:
		t->serves_pages = is_served(&mem, c->args[2]);
		break;
	case SYS_fsopen:
		t->serves_pages = is_served(&mem, c->args[0]);
		break;
	case SYS_recvmsg:
		t->serves_pages = !t->config.follow && has_control(&mem, c->args[1]) && mem_serves_pages(pid);
		break;
	default:
		break;
	}
}

void tracer_syscall_stop(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	char stop = read_stop(task, &k->call);
	if (stop == 'e') {
		if (before_start(t, task))
			return;
		if (t->ops->native_ip)
			k->call.ip = t->ops->native_ip(t, task, k->call.ip);
		tracer_call_enter(t, task);
		if (tracer_wants_call(t, task)) {
			k->call.desc = syscall_lookup(k->call.arch, k->call.nr);
			k->call.injected = k->call.delayed = false;
			struct event *ev = tracer_event(t, EV_ENTER, task);
			ev->call = k->call;
			ev->launch = task->proc->root && !task->proc->execed;
			ask_inject(t, task, ev);
		}
		tracer_untraced_enter(t, task);
		k->entering = true;
	} else if (stop == 'x' && k->in_call) {
		tracer_untraced_exit(task);
		tracer_call_exit(t, task);
		note_serving(t, task, &k->call);
		finish_inject(task);
		if (tracer_wants_call(t, task))
			tracer_event(t, EV_EXIT, task)->call = k->call;
	}
}
