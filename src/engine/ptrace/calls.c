/* One call's life: it enters, comes back, is interrupted and restarted, or vanishes with its task. */
#include "engine/ptrace/tracer.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "syscall/table.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef USERFAULTFD_IOC_NEW /* Linux 6.1 */
#define USERFAULTFD_IOC_NEW 0xaa00
#endif

/* The kernel's codes for an interrupted call (include/linux/errno.h); no program ever sees them. */
enum { RESTART_SYS = 512, RESTART_NOINTR = 513, RESTART_NOHAND = 514, RESTART_BLOCK = 516 };

/* Interrupted calls that are remembered for each task; deeper nesting counts the oldest as unfinished. */
#define INTERRUPTED_MAX 16

static bool was_interrupted(const struct call *c)
{
	return c->error && (c->err == RESTART_SYS || c->err == RESTART_NOINTR || c->err == RESTART_NOHAND ||
			    c->err == RESTART_BLOCK);
}

static bool is_call(const struct call *c, const char *name)
{
	return c->nr >= 0 && c->nr == syscall_number(c->arch, name); /* -1: the architecture has no such call */
}

static bool counted(const struct tracer *t, const struct task *task)
{
	return task->proc->counted && (t->config.want & CAP_COUNTS);
}

/* Adds a call's end to the counts. Its tracing cost is one enter-and-exit; a carried part has paid its own. */
static void record_at(struct tracer *t, struct task *task, const struct call *c, enum call_end end, uint64_t ns,
		      const struct tracer_cost *cost)
{
	if (!counted(t, task))
		return;
	struct summary_group *g = tracer_group(t, task);
	if (!g)
		return;
	bool bytes = end == CALL_RETURNED && !c->error && c->result > 0 && syscall_returns_bytes(c->arch, c->nr);
	summary_record(&t->counts, g, c->arch, c->nr,
		       &(struct call_outcome){.end = end,
					      .ns = (double)ns,
					      .cost_ns = end == CALL_RETURNED ? cost->ns : 0,
					      .spread_ns = cost->spread_ns,
					      .error = c->error,
					      .err = c->err,
					      .bytes = bytes ? (uint64_t)c->result : 0});
}

static void record(struct tracer *t, struct task *task, const struct call *c, enum call_end end, uint64_t ns)
{
	record_at(t, task, c, end, ns, &t->cost);
}

static struct interrupted *top(struct task *task)
{
	return task->interrupted.n ? &task->interrupted.v[task->interrupted.n - 1] : NULL;
}

void tracer_call_restarts_unseen(struct tracer *t, struct task *task)
{
	const struct interrupted *it = top(task);
	if (!it || !it->restarting)
		return;
	record(t, task, &it->call, CALL_RESTARTED, it->elapsed_ns);
	task->interrupted.n--;
}

/* rt_sigreturn(2): the frame it returns to tells what became of the call that the signal interrupted. */
static void settle_by_frame(struct tracer *t, struct task *task)
{
	uint64_t ip;
	int64_t result;
	if (!task->interrupted.n ||
	    arch_sigframe(task->call.arch, tracer_mem(t, task), task->call.sp, &ip, &result) < 0)
		return;
	for (size_t i = task->interrupted.n; i-- > 0;) {
		struct interrupted *it = &task->interrupted.v[i];
		bool again = ip == arch_call_site(it->call.arch, it->call.ip);
		bool failed = ip == it->call.ip && result == -EINTR;
		if (!again && !failed)
			continue;
		while (task->interrupted.n > i + 1)
			record(t, task, &task->interrupted.v[--task->interrupted.n].call, CALL_UNFINISHED, 0);
		it->restarting = again;
		if (it->unseen || t->calls_unseen)
			tracer_call_restarts_unseen(t, task);
		if (failed) {
			it->call.error = true;
			it->call.err = EINTR;
			record_at(t, task, &it->call, CALL_RETURNED, it->elapsed_ns,
				  it->unseen ? &t->unseen_cost : &t->cost);
			task->interrupted.n--;
		}
		return;
	}
}

/* Is this entry the continuation of the call that was interrupted last? */
static bool continues(const struct interrupted *it, const struct call *c)
{
	return it->restarting && c->arch == it->call.arch && c->ip == it->call.ip && c->sp == it->call.sp &&
	       (c->nr == it->call.nr || is_call(c, "restart_syscall"));
}

void tracer_call_enter(struct tracer *t, struct task *task)
{
	struct call *c = &task->call;
	c->restart = false;
	c->error = false;
	c->cost_ns = (uint64_t)t->cost.ns;
	c->spread_ns = (uint64_t)t->cost.spread_ns;
	task->carried_ns = 0;
	task->in_call = true;
	struct interrupted *it = top(task);
	if (it && continues(it, c)) {
		c->restart = true;
		c->nr = it->call.nr;
		for (int i = 0; i < 6; i++)
			c->args[i] = it->call.args[i];
		task->carried_ns = it->elapsed_ns;
		record(t, task, c, CALL_RESTARTED, 0);
		task->interrupted.n--;
	} else if (it) {
		/* Without a handler in between the very next call is the restart; this one is a handler's. */
		it->restarting = false;
		if (is_call(c, "rt_sigreturn"))
			settle_by_frame(t, task);
	}
	c->enter_ns = clock_ns();
	task->entered_at = c->enter_ns;
}

static void interrupt(struct tracer *t, struct task *task, uint64_t elapsed, bool unseen)
{
	/* Stack frames below this call's are gone: what was interrupted there was left by longjmp(3). */
	while (task->interrupted.n && top(task)->call.sp <= task->call.sp)
		record(t, task, &task->interrupted.v[--task->interrupted.n].call, CALL_UNFINISHED, 0);
	if (task->interrupted.n == INTERRUPTED_MAX) {
		record(t, task, &task->interrupted.v[0].call, CALL_UNFINISHED, 0);
		for (size_t i = 1; i < task->interrupted.n; i++)
			task->interrupted.v[i - 1] = task->interrupted.v[i];
		task->interrupted.n--;
	}
	struct interrupted it = {.call = task->call, .elapsed_ns = elapsed, .restarting = !unseen, .unseen = unseen};
	if (!vec_push(&task->interrupted, it))
		record(t, task, &task->call, CALL_UNFINISHED, elapsed);
}

void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns)
{
	interrupt(t, task, elapsed_ns, true);
}

void tracer_call_exit(struct tracer *t, struct task *task)
{
	struct call *c = &task->call;
	uint64_t ns = clock_ns() - task->entered_at;
	c->duration_ns = ns;
	task->in_call = false;
	if (c->error && (is_call(c, "rt_sigreturn") || is_call(c, "sigreturn"))) {
		c->error = false; /* the register is the interrupted program's own */
		c->err = 0;
	}
	if (was_interrupted(c))
		interrupt(t, task, ns + task->carried_ns, false);
	else
		record(t, task, c, CALL_RETURNED, ns + task->carried_ns);
}

void tracer_call_abandon(struct tracer *t, struct task *task)
{
	while (task->interrupted.n)
		record(t, task, &task->interrupted.v[--task->interrupted.n].call, CALL_UNFINISHED, 0);
}

void tracer_call_vanish(struct tracer *t, struct task *task)
{
	if (task->in_call && task->proc) {
		record(t, task, &task->call, CALL_UNFINISHED, clock_ns() - task->entered_at);
		if ((t->config.want & CAP_EVENTS) && task->proc->counted)
			tracer_event(t, EV_VANISH, task)->call = task->call;
	}
	task->in_call = false;
	if (task->proc)
		tracer_call_abandon(t, task);
}

/* Reads what the stop is: 'e'nter, 'x'it, or 0 where the task died or is in no syscall-stop. */
static char read_stop(struct task *task, struct call *c)
{
	struct __ptrace_syscall_info info;
	long n = ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof(info), &info);
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
	/* Kernels before 5.3: enter and exit take turns. */
	int r = task->in_call ? arch_read_result(task->tid, c) : arch_read_call(task->tid, c);
	return r < 0 ? 0 : task->in_call ? 'x' : 'e';
}

/* The program's own start: its calls count from the execve(2) that brings it in. */
static bool before_start(const struct tracer *t, const struct task *task)
{
	return task->proc->root && !task->proc->execed && !is_call(&task->call, "execve") && !t->calibrating;
}

static void ask_inject(struct tracer *t, struct task *task, const struct event *ev)
{
	struct engine_tamper tamper = {0};
	if (!t->config.inject || !(t->config.want & CAP_INJECT) || !t->config.inject(t->config.inject_ctx, ev, &tamper))
		return;
	if (tamper.delay_enter_ns)
		clock_sleep_ns(tamper.delay_enter_ns);
	task->tamper_exit_delay_ns = tamper.delay_exit_ns;
	task->set_result = tamper.set_result && arch_skip_call(task->tid) == 0;
	task->tamper_result = tamper.result;
	/* A stop by a seccomp filter takes no signal along; the call's end does. */
	if (tamper.signal && t->filter)
		task->tamper_signal = tamper.signal;
	else if (tamper.signal)
		task->deliver = tamper.signal;
}

static void finish_inject(struct task *task)
{
	if (task->set_result && arch_set_result(task->tid, task->tamper_result) == 0) {
		task->call.result = task->tamper_result;
		task->call.error = task->tamper_result < 0 && task->tamper_result >= -4095;
		task->call.err = task->call.error ? (int)-task->tamper_result : 0;
	}
	task->set_result = false;
	if (task->tamper_signal)
		task->deliver = task->tamper_signal;
	task->tamper_signal = 0;
	if (task->tamper_exit_delay_ns)
		clock_sleep_ns(task->tamper_exit_delay_ns);
	task->tamper_exit_delay_ns = 0;
}

/* Is this call wanted as an event? */
static bool wanted(const struct tracer *t, const struct task *task)
{
	const struct call *c = &task->call;
	const struct call_set *only = t->config.only;
	if (!(t->config.want & CAP_EVENTS) || !task->proc->counted)
		return false;
	return !only || c->arch != syscall_native_arch() || c->nr < 0 || c->nr >= CALL_SET_MAX ||
	       (only->bits[c->nr / 64] >> (c->nr % 64) & 1);
}

/* From userfaultfd(2), or from its device (linux/userfaultfd.h). */
static void note_userfaultfd(struct tracer *t, const struct call *c)
{
	bool native = c->arch == syscall_native_arch();
	t->userfaultfd |= !c->error && native &&
			  (c->nr == SYS_userfaultfd ||
			   (c->nr == SYS_ioctl && (uint32_t)c->args[1] == (uint32_t)USERFAULTFD_IOC_NEW));
}

void tracer_syscall_stop(struct tracer *t, struct task *task)
{
	char stop = read_stop(task, &task->call);
	if (stop == 'e') {
		if (before_start(t, task))
			return;
		tracer_call_enter(t, task);
		if (wanted(t, task)) {
			task->call.desc = syscall_lookup(task->call.arch, task->call.nr);
			struct event *ev = tracer_event(t, EV_ENTER, task);
			ev->call = task->call;
			ev->launch = task->proc->root && !task->proc->execed;
			ask_inject(t, task, ev);
		}
		tracer_untraced_enter(t, task);
		/* The time the tracer itself took up to here is none of the call's. */
		task->entered_at = clock_ns();
	} else if (stop == 'x' && task->in_call) {
		tracer_untraced_exit(task);
		tracer_call_exit(t, task);
		note_userfaultfd(t, &task->call);
		finish_inject(task);
		if (wanted(t, task))
			tracer_event(t, EV_EXIT, task)->call = task->call;
	}
}
