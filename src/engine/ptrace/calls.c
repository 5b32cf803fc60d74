/* SPDX-License-Identifier: MIT */
#include "engine/ptrace/tracer.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "base/memory.h"
#include "syscall/call_table.h"
#include "tracee/mem.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

bool tracer_call_is(const struct call *c, const char *name)
{
	return c->nr >= 0 && c->nr == syscall_number(c->arch, name); /* -1: the architecture does not have the call */
}

static bool counted(const struct tracer *t, const struct task *task)
{
	return task->proc->counted && (t->config.want & CAP_COUNTS);
}

/*
 * Adds the ends of calls to the counts. The tracing cost of a call is that of one entry and one exit. If a call was
 * interrupted, the cost of its earlier entries was already subtracted.
 */
static void record(struct tracer *t, struct task *task, const struct life_ends *ends)
{
	struct summary_group *g = ends->n && counted(t, task) ? tracer_group(t, task) : NULL;
	for (size_t i = 0; g && i < ends->n; i++)
		summary_end(&t->counts, g, &ends->v[i]);
}

static void read_frame(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	const struct call *c = &k->call;
	struct life_frame f = {.length = c->ip - arch_call_site(c->arch, c->ip)};
	struct life_ends ends;
	if (arch_sigframe(c->arch, tracer_mem(t, task), c->sp, &f.ip, &f.result) < 0)
		return;
	if (t->ops->native_ip)
		f.ip = t->ops->native_ip(t, task, f.ip);
	life_return_to(&k->life, &f, &ends);
	record(t, task, &ends);
}

void tracer_call_at_attach(struct tracer *t, struct task *task, bool report)
{
	struct thread *k = thread_of(task);
	k->resumes = arch_read_call(task->tid, &k->resumed) == 0;
	if (!report || !task->proc->counted)
		return;
	struct event *ev = tracer_event(t, EV_ATTACH, task);
	ev->call = k->resumed;
	if (!k->resumes)
		ev->call.nr = -1;
	ev->call.desc = ev->call.nr < 0 ? NULL : syscall_lookup(ev->call.arch, ev->call.nr);
}

/*
 * Called at each call. If attaching interrupted a call with a time limit, the thread's first call is
 * restart_syscall(2), by which the kernel continues the interrupted call. restart_syscall(2) has no arguments, so its
 * number and arguments are replaced by those of the interrupted call, which tracer_call_at_attach() has read from the
 * registers. The instruction pointer is after the call instruction, or at this instruction if the kernel moves the
 * pointer back before the thread stops (aarch64).
 */
static void name_resumed(struct thread *k)
{
	struct call *c = &k->call;
	const struct call *r = &k->resumed;
	bool first = k->resumes;
	k->resumes = false;
	if (!first || !tracer_call_is(c, "restart_syscall") || c->arch != r->arch || c->sp != r->sp ||
	    (c->ip != r->ip && arch_call_site(c->arch, c->ip) != r->ip))
		return;
	c->restart = true;
	c->nr = r->nr;
	memcpy(c->args, r->args, sizeof(c->args));
}

void tracer_call_enter(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	struct call *c = &k->call;
	struct life_ends ends;
	c->error = false;
	c->cost_ns = c->spread_ns = 0;
	k->in_call = true;
	life_enter(&k->life, c, &ends);
	name_resumed(k);
	record(t, task, &ends);
	if (life_wants_frame(&k->life, c))
		read_frame(t, task);
	c->enter_ns = clock_ns();
}

void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns)
{
	struct thread *k = thread_of(task);
	struct life_ends ends;
	k->call.cost_ns = t->unseen_cost.ns > 0 ? (uint64_t)t->unseen_cost.ns : 0;
	k->call.spread_ns = (uint64_t)t->unseen_cost.spread_ns;
	life_interrupt_unseen(&k->life, &k->call, elapsed_ns, &ends);
	record(t, task, &ends);
}

/* Counts a child process that is not followed. The kernel reports only new threads (ptrace(2), PTRACE_O_TRACECLONE). */
static void note_unfollowed(struct tracer *t, struct task *task, const struct call *c)
{
	static const char *const names[] = {"fork", "vfork", "clone", "clone3"};
	struct thread *k = thread_of(task);
	bool creates = false, reported = k->reported_child;
	k->reported_child = false;
	if (!task->proc->counted || t->options & PTRACE_O_TRACEFORK || reported || c->error || c->result <= 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		creates |= tracer_call_is(c, names[i]);
	t->result.unfollowed += creates;
}

void tracer_call_exit(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	struct call *c = &k->call;
	struct life_ends ends;
	const struct tracer_cost *cost = &t->cost[t->handled.noticed];
	c->duration_ns = t->handled.noticed_ns - k->entered_ns;
	c->cost_ns = cost->ns > 0 ? (uint64_t)cost->ns + t->handled.in_vain_ns : 0;
	c->spread_ns = (uint64_t)cost->spread_ns;
	k->in_call = false;
	note_unfollowed(t, task, c);
	life_exit(&k->life, c, c->duration_ns, &ends);
	record(t, task, &ends);
}

void tracer_call_vanish(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	struct life_ends ends;
	if (!task->proc)
		return;
	life_vanish(&k->life, k->in_call ? &k->call : NULL, &ends);
	record(t, task, &ends);
	if (k->in_call && (t->config.want & CAP_EVENTS) && task->proc->counted)
		tracer_event(t, EV_VANISH, task)->call = k->call;
	k->in_call = false;
}

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
		/* A signal is ignored at the stop of a seccomp filter, so it is delivered at the call's end. */
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

/* Called at the entry of a call. If it is a clone(2) with CLONE_UNTRACED, clears the bit and remembers where it was. */
static void tracer_untraced_enter(struct tracer *t, struct task *task)
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

void tracer_untraced_exit(const struct task *task)
{
	struct untraced *u = &thread_of(task)->untraced;
	if (u->where == UNTRACED_REGISTER)
		arch_restore_first_arg(task->tid, u->flags);
	else if (u->where == UNTRACED_MEMORY)
		ptrace_retry(PTRACE_POKEDATA, task->tid, u->addr, u->flags);
	u->where = UNTRACED_NO;
}

/*
 * Returns true if call `nr` runs without a stop. A call without a name always stops, and the sinks decide whether to
 * show it. The calls that determine which memory may be read (mem_call_serves_pages()) also stop.
 */
static bool passes(const struct call_set *only, int nr)
{
	return nr < CALL_SET_MAX && !(only->bits[nr / 64] >> (nr % 64) & 1) && !mem_call_serves_pages(nr) &&
	       syscall_name_known(syscall_native_arch(), nr);
}

/* Appends RUN_LENGTH instructions that let calls `from` to `to` run without a stop; in ascending order only. */
#define RUN_LENGTH 4
static void add_run(struct call_filter *f, int from, int to)
{
	const struct sock_filter run[RUN_LENGTH] = {
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)to, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	};
	memcpy(f->code + f->len, run, sizeof(run));
	f->len += RUN_LENGTH;
}

/*
 * Does not use libseccomp: seccomp_export_bpf(3) of version 2.5 dereferences NULL if memory runs out. In addition, one
 * comparison for each run of numbers is cheaper than one for each number.
 */
void call_filter_build(struct call_filter *f, const struct call_set *only)
{
	/* Calls of other architectures stop as well, because their numbers have other meanings. */
	const struct sock_filter head[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, syscall_native_arch(), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	const struct sock_filter tail = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	const size_t head_length = sizeof(head) / sizeof(*head);
	*f = (struct call_filter){.code = memory_get((head_length + RUN_LENGTH * CALL_SET_MAX / 2 + 1) * sizeof(tail))};
	memcpy(f->code, head, sizeof(head));
	f->len = (unsigned short)head_length;
	for (int nr = 0, from = -1; nr <= CALL_SET_MAX; nr++) {
		bool passing = passes(only, nr);
		if (passing && from < 0)
			from = nr;
		else if (!passing && from >= 0) {
			add_run(f, from, nr - 1);
			from = -1;
		}
	}
	f->code[f->len++] = tail;
}

void call_filter_free(struct call_filter *f)
{
	free(f->code);
	*f = (struct call_filter){0};
}

int call_filter_install(void *ctx)
{
	const struct call_filter *f = ctx;
	struct sock_fprog prog = {f->len, f->code};
	/* Without CAP_SYS_ADMIN, no_new_privs is required (seccomp(2)), and set-uid programs do not gain privileges. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) == 0)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0 ? -errno : 0;
}
