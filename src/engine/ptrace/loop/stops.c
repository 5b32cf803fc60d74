/* What a wait status means (ptrace(2), "Stopped states"), and what follows from it. */
#include "engine/ptrace/state/tracer.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "syscall/table.h"
#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)

struct event *tracer_event(struct tracer *t, enum event_kind kind, const struct task *task)
{
	/* One stop gives three events at the most (vanish, exec or death, note). */
	struct event *ev = &t->pending[t->npending < 4 ? t->npending++ : 3];
	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->tid = task->tid;
	ev->pid = task->proc ? task->proc->pid : task->tid;
	ev->time_ns = clock_ns();
	ev->mem = tracer_mem(t, task);
	return ev;
}

/* Death of the last thread: the process's own end. */
static void process_ended(struct tracer *t, struct task *task, int status)
{
	if (task->proc->pid != t->root)
		return;
	t->result.status = status;
	if (t->root_ran && !t->result.wall_ns)
		t->result.wall_ns = clock_ns() - t->root_t0;
}

static void task_died(struct tracer *t, struct task *task, int status)
{
	if (!task->proc) { /* it came and went before its birth was told */
		tasks_remove(&t->tasks, task);
		return;
	}
	/* A zombie leader reports when the last thread is gone; the others as they go. */
	bool last = task->tid == task->proc->pid;
	tracer_call_vanish(t, task);
	if (last)
		process_ended(t, task, status);
	if (task->proc->counted && (!task->proc->root || t->root_ran)) {
		struct event *ev = tracer_event(t, EV_DEATH, task);
		ev->status = status;
		ev->is_process = last;
		ev->mem = NULL;
	}
	tracer_forget(t, task);
}

/*
 * The flags of the clone that a birth event tells of. What the call does not say (fork, or flags that cannot be read)
 * follows from the event's kind. *sure: it says so in its registers, which nobody changes.
 */
static uint64_t birth_flags(struct tracer *t, struct task *parent, int event, bool *sure)
{
	const struct thread *p = thread_of(parent);
	const struct call *c = &p->call;
	uint64_t flags = 0;
	*sure = p->in_call && c->nr == syscall_number(c->arch, "clone");
	if (*sure)
		return c->args[0];
	/* clone3(2): the flags are the structure's first member. */
	if (p->in_call && c->nr == syscall_number(c->arch, "clone3") &&
	    mem_get(tracer_mem(t, parent), c->args[0], &flags, sizeof(flags)) == 0)
		return flags;
	return event == PTRACE_EVENT_VFORK ? CLONE_VM | CLONE_VFORK : event == PTRACE_EVENT_CLONE ? CLONE_THREAD : 0;
}

/* The thread group of a new task, from its status file: one read, only at births. 0 where it is gone. */
static pid_t thread_group(pid_t tid)
{
	struct proc_status s;
	proc_status(tid, &s);
	return s.tgid;
}

static void set_options(struct tracer *t, const struct task *task)
{
	bool leader = task->tid == task->proc->pid && (task->proc->root || task->proc->attached);
	unsigned long options = task->proc->attached ? tracer_attach_options(t) : t->options;
	if (!leader)
		options &= ~(unsigned long)PTRACE_O_TRACEEXIT;
	ptrace(PTRACE_SETOPTIONS, task->tid, NULL, options);
}

bool tracer_is_stopping(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* A new task's first stop, its birth known. A child that nobody asked for is let go: false. */
static bool on_first_stop(struct tracer *t, struct task *task, int sig)
{
	task->fresh = false;
	task->listening = tracer_is_stopping(sig);
	if (!task->proc->counted && !t->hold && !task->proc->hold && !task->proc->root) {
		if (t->current == task)
			t->current = NULL;
		tracer_let_go(t, task);
		return false;
	}
	set_options(t, task);
	tracer_untraced_exit(task);
	if (t->ops->first_stop)
		t->ops->first_stop(t, task);
	return true;
}

/* The stop that came before the task's birth was known is dealt with now. */
static void serve_early_stop(struct tracer *t, struct task *task)
{
	int early = task->early_status;
	task->early_status = 0;
	if (!early)
		return;
	t->unborn--;
	if (on_first_stop(t, task, WSTOPSIG(early)) && !t->detaching)
		tracer_resume(t, task);
}

/*
 * A task that nobody will tell the birth of, because its parent was killed in the very stop that would have told it. It
 * belongs to whom its status file says. Too early a guess does no harm: a birth that is told later finds it known.
 */
static bool adopt(struct tracer *t, struct task *task)
{
	pid_t group = thread_group(task->tid);
	if (tasks_join(&t->tasks, task, group ? group : task->tid) < 0) {
		tracer_give_up(t, -ENOMEM, "cannot trace task %d", (int)task->tid);
		return false;
	}
	if (task->proc->ntasks == 1) {
		task->proc->counted = t->config.follow;
		task->proc->execed = true;
		t->result.processes++;
	}
	return true;
}

/* Who is late because the machine is busy tells yet; who was killed is gone from the list soon. */
#define ORPHAN_NS      (NSEC_PER_SEC / 10)
#define SURE_ORPHAN_NS (2 * NSEC_PER_SEC)

/* Did whoever bore the task die before telling? The process it is of, or comes of, is not traced any more. */
static bool is_orphan(const struct tracer *t, const struct task *task)
{
	struct proc_status s;
	uint64_t age = clock_ns() - task->early_ns;
	if (age < ORPHAN_NS || age > SURE_ORPHAN_NS)
		return age > SURE_ORPHAN_NS;
	proc_status(task->tid, &s);
	return !map_get(&t->tasks.processes, (uint64_t)(s.tgid == task->tid ? s.parent : s.tgid));
}

void tracer_adopt_orphans(struct tracer *t)
{
	VEC(struct task *) orphans = {0};
	size_t i = 0;
	struct task *task;
	while (t->unborn && (task = map_next(&t->tasks.by_tid, &i, NULL)))
		if (!task->proc && task->early_status && is_orphan(t, task) && !vec_push(&orphans, task))
			break;
	for (size_t k = 0; k < orphans.n; k++)
		if (adopt(t, orphans.v[k]))
			serve_early_stop(t, orphans.v[k]);
	vec_free(&orphans);
}

/*
 * clone3(2)'s flags may have become others in memory since the kernel read them; whose thread a task is it knows (tgkill(2): ESRCH where
 * it is none of the group's); where the call is refused, /proc tells. Who is gone already is what the flags say.
 */
static uint64_t believe(uint64_t flags, pid_t group, pid_t tid)
{
	bool is_thread = syscall(SYS_tgkill, group, tid, 0) == 0 || (errno != ESRCH && thread_group(tid) == group);
	if (is_thread)
		return flags | CLONE_THREAD | CLONE_VM;
	bool gone = flags & CLONE_THREAD && kill(tid, 0) < 0 && errno == ESRCH;
	return gone ? flags : flags & ~(uint64_t)CLONE_THREAD;
}

static void on_birth(struct tracer *t, struct task *parent, int event)
{
	unsigned long msg = 0;
	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &msg) < 0)
		return;
	pid_t tid = (pid_t)msg;
	bool sure;
	uint64_t flags = birth_flags(t, parent, event, &sure);
	struct task *child = tasks_find(&t->tasks, tid);
	if (child && child->proc)
		return;
	if (!child)
		child = tasks_add(&t->tasks, tid);
	if (!sure)
		flags = believe(flags, parent->proc->pid, tid);
	pid_t group = flags & CLONE_THREAD ? parent->proc->pid : tid;
	if (!child || tasks_join(&t->tasks, child, group) < 0) {
		tracer_give_up(t, -ENOMEM, "cannot trace task %d", (int)tid);
		return;
	}
	bool thread = group == parent->proc->pid;
	if (!thread) {
		child->proc->counted = parent->proc->counted && t->config.follow;
		child->proc->execed = true;
		child->proc->attached = parent->proc->attached;
		t->result.processes++;
	} else
		t->result.threads++;
	thread_of(child)->untraced = thread_of(parent)->untraced;
	if (t->ops->birth)
		t->ops->birth(t, parent, child, flags);
	bool counted = child->proc->counted;
	serve_early_stop(t, child);
	if (counted) {
		struct event *ev = tracer_event(t, EV_BIRTH, parent);
		ev->child = tid;
		ev->is_thread = thread;
	}
}

/* The other threads of a process that ran execve(2) are gone, the leader too where another thread called. */
static void forget_threads(struct tracer *t, struct task *survivor)
{
	size_t i = 0;
	struct task *x;
	VEC(struct task *) gone = {0};
	if (survivor->proc->ntasks > 1)
		while ((x = map_next(&t->tasks.by_tid, &i, NULL)))
			if (x != survivor && x->proc == survivor->proc && !vec_push(&gone, x))
				break;
	for (size_t k = 0; k < gone.n; k++) {
		tracer_call_vanish(t, gone.v[k]);
		tracer_forget(t, gone.v[k]);
	}
	vec_free(&gone);
}

static void on_exec(struct tracer *t, struct task *task)
{
	unsigned long former = 0;
	ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &former);
	struct task *caller = tasks_find(&t->tasks, (pid_t)former);
	if (!caller || !caller->proc)
		caller = task;
	pid_t leader = task->tid;
	pid_t old = caller->tid;
	forget_threads(t, caller);
	tracer_leave_group(t, caller); /* its name will be another */
	if (tasks_rename(&t->tasks, caller, leader) < 0) {
		t->current = NULL;
		tracer_give_up(t, -ENOMEM, "cannot trace task %d", (int)leader);
		return;
	}
	caller->stopped = true;
	bool first = caller->proc->root && !caller->proc->execed;
	caller->proc->execed = true;
	if (first) {
		t->root_ran = true;
		t->root_t0 = clock_ns();
	}
	if (old != leader)
		set_options(t, caller);
	if (t->ops->exec)
		t->ops->exec(t, caller);
	if (first && t->config.find_main)
		tracer_find_main(t, caller);
	t->current = caller;
	if (!caller->proc->counted)
		return;
	struct event *ev = tracer_event(t, EV_EXEC, caller);
	ev->child = old;
	if (!first && t->config.break_on && t->config.break_on(t->config.break_ctx, ev)) {
		caller->release = true;
		t->root_left |= caller->proc->root;
	}
}

static void on_exit_event(struct tracer *t, struct task *task)
{
	task->exiting = true;
	task->group_stopped = false;
	if (task->tid != task->proc->pid || !task->proc->counted)
		return;
	uint64_t rss = tracer_peak_rss(task->tid);
	if (rss > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = rss;
	t->result.rss_is_largest = t->result.processes > 1;
}

/* PTRACE_EVENT_STOP: a group-stop begins or ends, a new task is there, or PTRACE_INTERRUPT took hold. */
static void on_event_stop(struct tracer *t, struct task *task, int sig)
{
	bool stopping = tracer_is_stopping(sig);
	if (task->fresh && !on_first_stop(t, task, sig))
		return;
	task->listening = stopping;
	if (stopping == task->group_stopped)
		return;
	task->group_stopped = stopping;
	bool wanted = t->config.want & CAP_EVENTS || task->tid == t->root;
	if (!wanted || !task->proc->counted)
		return;
	struct event *ev = tracer_event(t, stopping ? EV_STOP : EV_CONT, task);
	ev->sig.si_signo = sig;
}

static void on_signal(struct tracer *t, struct task *task, int sig)
{
	siginfo_t si;
	if (ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0) {
		/* All is over: whose it is cannot be told, and of an engine with signals of its own a SIGSYS is most likely its. */
		task->deliver = sig == SIGSYS && t->ops->signal ? 0 : sig;
		return;
	}
	if (sig == SIGTRAP && t->main_armed && task->proc->pid == t->root && tracer_at_main(t, task))
		return;
	enum tracer_verdict v = t->ops->signal ? t->ops->signal(t, task, &si) : STOP_PASS;
	if (v == STOP_HELD)
		task->stopped = false;
	if (v != STOP_PASS)
		return;
	task->deliver = sig;
	if (!(t->config.want & CAP_EVENTS) || !task->proc->counted)
		return;
	struct event *ev = tracer_event(t, EV_SIGNAL, task);
	ev->sig = si;
	if (arch_ip(task->tid, &ev->ip) < 0)
		ev->ip = 0;
}

static void on_seccomp(struct tracer *t, struct task *task)
{
	if (t->ops->seccomp) {
		if (t->ops->seccomp(t, task) == STOP_HELD)
			task->stopped = false;
		return;
	}
	tracer_syscall_stop(t, task);
}

static void on_ptrace_event(struct tracer *t, struct task *task, int event, int sig)
{
	switch (event) {
	case PTRACE_EVENT_STOP:
		on_event_stop(t, task, sig);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_birth(t, task, event);
		break;
	case PTRACE_EVENT_EXEC:
		on_exec(t, task);
		break;
	case PTRACE_EVENT_EXIT:
		on_exit_event(t, task);
		break;
	case PTRACE_EVENT_SECCOMP:
		on_seccomp(t, task);
		break;
	default: /* PTRACE_EVENT_VFORK_DONE and what later kernels add: nothing to do */
		break;
	}
}

int tracer_stop(struct tracer *t, struct task *task, int status)
{
	t->current = task;
	if (!WIFSTOPPED(status)) {
		t->current = NULL;
		t->unborn -= task->early_status != 0;
		task_died(t, task, status);
		return t->npending > 0;
	}
	task->stopped = true;
	task->listening = false;
	int event = status >> 16;
	int sig = WSTOPSIG(status);
	task->mid_call = (event && event != PTRACE_EVENT_STOP) || sig == SYSCALL_STOP;
	if (!task->proc && task->early_status && adopt(t, task)) {
		t->unborn--;
		task->early_status = 0;
		task->fresh = false;
	}
	if (!task->proc && event != PTRACE_EVENT_EXEC) {
		/* The child may report before its parent's event: it stays stopped until its birth is known. */
		task->early_status = status;
		task->early_ns = clock_ns();
		t->unborn++;
		t->current = NULL;
		return 0;
	}
	if (event)
		on_ptrace_event(t, task, event, sig);
	else if (sig == SYSCALL_STOP) {
		if (!t->ops->syscall_stop || !t->ops->syscall_stop(t, task))
			tracer_syscall_stop(t, task);
	} else
		on_signal(t, task, sig);
	return t->npending > 0;
}
