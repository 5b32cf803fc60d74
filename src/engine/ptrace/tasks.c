/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"
#include "base/clock.h"
#include "engine/ptrace/tracer.h"
#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void tracer_detach_task(struct tracer *t, struct task *task)
{
	int sig = task->deliver;
	task->deliver = 0;
	if (task->stopped)
		tracer_leave_main(t, task);
	/*
	 * If the task is not known to be stopped, it may have just stopped for a signal, which PTRACE_DETACH would
	 * discard. The kernel detaches such a task when sctrace exits.
	 */
	long r = task->stopped ? ptrace_retry(PTRACE_DETACH, task->tid, NULL, sig) : 0;
	/*
	 * If the kernel refuses PTRACE_DETACH, it detaches the task when sctrace exits, but does not deliver the signal
	 * (wait_task_stopped() in kernel/exit.c). So the signal is sent again. A SIGSYS is not sent again, because the
	 * engine may have caused it.
	 */
	bool own = sig == SIGSYS && t->ops->signal;
	if (r < 0 && errno != ESRCH && sig && !own && task->proc)
		syscall(SYS_tgkill, task->proc->pid, task->tid, sig);
	tracer_forget(t, task);
}

/* Calls tracer_ops.detach for one task, detaches from the task with its pending signal, and removes it. */
static void tracer_release(struct tracer *t, struct task *task)
{
	if (t->ops->detach)
		t->ops->detach(t, task);
	tracer_detach_task(t, task);
}

void tracer_resume(struct tracer *t, struct task *task)
{
	if (!task->stopped)
		return;
	if (task->release) {
		tracer_release(t, task);
		return;
	}
	task->stopped = false;
	int sig = task->deliver;
	task->deliver = 0;
	/* The call begins now. Handling its stop and writing its output is not part of its duration. */
	if (thread_of(task)->entering)
		thread_of(task)->entered_ns = clock_ns();
	thread_of(task)->entering = false;
	/* sctrace's filter stops the task at the wanted calls, so PTRACE_SYSCALL is needed only for their ends. */
	int request = task->listening          ? PTRACE_LISTEN
		      : t->ops->resume_request ? t->ops->resume_request(t, task)
		      : !task->proc->counted || (t->filter && !thread_of(task)->in_call) ? PTRACE_CONT
											 : PTRACE_SYSCALL;
	if (ptrace_retry(request, task->tid, NULL, task->listening ? 0 : sig) == 0 || errno == ESRCH)
		return; /* ESRCH: the task was killed in the meantime, and the loop will see its end */
	/* The kernel has refused the request: tracer_check_refused() will give up tracing. */
	task->stopped = true;
	task->deliver = sig;
}

/*
 * Returns the flags of the clone(2) that created the child. If the call has no flags (fork), or they cannot be read,
 * the kind of the event determines them. *certain is set if no other thread can have changed the flags since the kernel
 * read them.
 */
static uint64_t child_flags(struct tracer *t, struct task *parent, int event, bool *certain)
{
	const struct thread *p = thread_of(parent);
	uint64_t flags = 0;
	*certain = p->in_call && tracer_call_is(&p->call, "clone");
	if (*certain)
		return p->call.args[0];
	*certain = !p->in_call && t->ops->unseen_clone && t->ops->unseen_clone(t, parent, event, &flags);
	if (*certain)
		return flags;
	/* clone3(2): the first member of the structure contains the flags. */
	if (p->in_call && tracer_call_is(&p->call, "clone3") &&
	    mem_get(tracer_mem(t, parent), p->call.args[0], &flags, sizeof(flags)) == 0)
		return flags;
	*certain = p->in_call && (tracer_call_is(&p->call, "fork") || tracer_call_is(&p->call, "vfork"));
	return event == PTRACE_EVENT_VFORK ? CLONE_VM | CLONE_VFORK : event == PTRACE_EVENT_CLONE ? CLONE_THREAD : 0;
}

/* Returns the thread group of a task, from /proc/TID/status; 0 if the task is gone. */
static pid_t thread_group(pid_t tid)
{
	struct proc_status s;
	proc_status(tid, &s);
	return s.tgid;
}

/* Handles the first stop, by `sig`, of a task that was reported. Returns false if it was detached as not needed. */
static bool tracer_first_stop(struct tracer *t, struct task *task, int sig)
{
	task->fresh = false;
	task->listening = tracer_is_stopping(sig);
	if (!task->proc->counted && !t->hold && !task->proc->hold && !task->proc->root) {
		if (t->current == task)
			t->current = NULL;
		tracer_release(t, task);
		return false;
	}
	tracer_set_options(t, task);
	if (task->proc->attached)
		tracer_call_at_attach(t, task, t->config.reports_attached);
	tracer_untraced_exit(task);
	if (t->ops->first_stop)
		t->ops->first_stop(t, task);
	return true;
}

/* Handles the first stop of a task that stopped before its parent reported it. */
static void serve_early_stop(struct tracer *t, struct task *task)
{
	int early = task->early_status;
	task->early_status = 0;
	if (!early)
		return;
	t->unreported--;
	if (tracer_first_stop(t, task, WSTOPSIG(early)) && !t->detaching)
		tracer_resume(t, task);
}

/* If the parent reports the task after all, tracer_on_child() finds that it is known, so adopting does no harm. */
void tracer_adopt(struct tracer *t, struct task *task)
{
	pid_t group = thread_group(task->tid);
	tasks_join(&t->tasks, task, group ? group : task->tid);
	if (task->proc->ntasks == 1) {
		task->proc->counted = t->config.follow;
		task->proc->execed = true;
		t->result.processes += task->proc->counted;
		t->result.unfollowed += !task->proc->counted;
	}
	t->result.threads += task->proc->counted;
}

/* Until ORPHAN_MIN_NS, a slow parent may still report the task. After ORPHAN_MAX_NS, it will not any more. */
#define ORPHAN_MIN_NS (NSEC_PER_SEC / 10)
#define ORPHAN_MAX_NS (2 * NSEC_PER_SEC)

/*
 * True if the task's parent was killed before it reported the task. The sign is that sctrace no longer traces the
 * task's process or, if the task is a new process, its parent process; or that ORPHAN_MAX_NS have passed.
 */
static bool is_orphan(const struct tracer *t, const struct task *task)
{
	struct proc_status s;
	uint64_t age = clock_ns() - task->early_ns;
	if (age < ORPHAN_MIN_NS || age > ORPHAN_MAX_NS)
		return age > ORPHAN_MAX_NS;
	proc_status(task->tid, &s);
	return !map_get(&t->tasks.processes, (uint64_t)(s.tgid == task->tid ? s.parent : s.tgid));
}

void tracer_adopt_orphans(struct tracer *t)
{
	VEC(struct task *) orphans = {0};
	struct task *task;
	for (size_t i = 0; t->unreported && (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (!task->proc && task->early_status && is_orphan(t, task))
			vec_push(&orphans, task);
	for (size_t k = 0; k < orphans.n; k++) {
		tracer_adopt(t, orphans.v[k]);
		serve_early_stop(t, orphans.v[k]);
	}
	vec_free(&orphans);
}

/*
 * Corrects CLONE_THREAD in `flags`. The flags of clone3(2) are in memory, and another thread may have changed them
 * since the kernel read them. The kernel knows whether the task is a thread of the group: if it is not, tgkill(2) fails
 * with ESRCH. If the kernel refuses that call, /proc gives the answer. If the task has already ended, `flags` is not
 * changed.
 */
static uint64_t checked_flags(uint64_t flags, pid_t group, pid_t tid)
{
	bool is_thread = syscall(SYS_tgkill, group, tid, 0) == 0 || (errno != ESRCH && thread_group(tid) == group);
	if (is_thread)
		return flags | CLONE_THREAD | CLONE_VM;
	bool gone = flags & CLONE_THREAD && kill(tid, 0) < 0 && errno == ESRCH;
	return gone ? flags : flags & ~(uint64_t)CLONE_THREAD;
}

void tracer_on_child(struct tracer *t, struct task *parent, int event)
{
	unsigned long msg = 0;
	if (ptrace_retry(PTRACE_GETEVENTMSG, parent->tid, NULL, &msg) < 0)
		return;
	pid_t tid = (pid_t)msg;
	bool certain;
	uint64_t flags = child_flags(t, parent, event, &certain);
	struct task *child = tasks_find(&t->tasks, tid);
	if (child && child->proc)
		return;
	if (!child)
		child = tasks_add(&t->tasks, tid);
	if (!certain)
		flags = checked_flags(flags, parent->proc->pid, tid);
	pid_t group = flags & CLONE_THREAD ? parent->proc->pid : tid;
	tasks_join(&t->tasks, child, group);
	bool thread = group == parent->proc->pid;
	if (!thread) {
		child->proc->counted = parent->proc->counted && t->config.follow;
		child->proc->execed = true;
		child->proc->attached = parent->proc->attached;
		t->result.processes += child->proc->counted;
		t->result.unfollowed += parent->proc->counted && !child->proc->counted;
	}
	thread_of(parent)->reported_child = true;
	t->result.threads += child->proc->counted;
	thread_of(child)->untraced = thread_of(parent)->untraced;
	thread_of(child)->options = thread_of(parent)->options; /* the kernel has given the child the options of its
								 * parent (ptrace_init_task()) */
	if (event == PTRACE_EVENT_VFORK) {
		thread_of(parent)->vfork_child = tid;
		thread_of(child)->vfork_parent = parent->tid;
	}
	if (t->ops->new_task)
		t->ops->new_task(t, parent, child, flags);
	bool counted = child->proc->counted;
	serve_early_stop(t, child);
	if (counted) {
		struct event *ev = tracer_event(t, EV_NEW_TASK, parent);
		ev->child = tid;
		ev->is_thread = thread;
	}
}

void tracer_on_death(struct tracer *t, struct task *task, int status)
{
	if (!task->proc) { /* the task ended before its parent reported it */
		tasks_remove(&t->tasks, task);
		return;
	}
	/* The kernel reports the end of a leader only after the ends of all other threads of the process. */
	bool last = task->tid == task->proc->pid;
	tracer_call_vanish(t, task);
	if (last && task->tid == t->root.pid) {
		t->result.status = status;
		if (t->root.ran && !t->result.wall_ns)
			t->result.wall_ns = clock_ns() - t->root.start_ns;
	}
	if (task->proc->counted && (!task->proc->root || t->root.ran)) {
		struct event *ev = tracer_event(t, EV_DEATH, task);
		ev->status = status;
		ev->is_process = last;
		if (last && t->config.usage) {
			ev->cpu_ns = task->proc->cpu_ns;
			ev->peak_rss_bytes = task->proc->peak_rss_bytes;
		}
		ev->mem = NULL;
	}
	tracer_forget(t, task);
}

void tracer_on_exit(struct tracer *t, struct task *task)
{
	task->exiting = true;
	task->group_stopped = false;
	if (task->tid != task->proc->pid || !task->proc->counted)
		return;
	int64_t rss = proc_peak_rss(task->tid);
	task->proc->cpu_ns = clock_cpu_ns(task->tid);
	task->proc->peak_rss_bytes = rss > 0 ? (uint64_t)rss : 0;
	if (rss > 0 && (uint64_t)rss > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = (uint64_t)rss;
	t->result.rss_is_largest = t->result.processes > 1;
}

void tracer_note_peak(struct tracer *t, const struct task *task, uint64_t bytes)
{
	const struct process *p = task->proc;
	if (bytes && p && p->counted && !p->root && !p->attached && bytes > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = bytes;
}

/* Removes the threads that execve(2) has ended: all but its caller, also the leader if that was another one. */
static void forget_threads(struct tracer *t, struct task *survivor)
{
	struct task *x;
	const struct process *proc = survivor->proc;
	/* Only a task that belongs to a process can execute. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	for (size_t i = 0; proc->ntasks > 1 && (x = map_next(&t->tasks.by_tid, &i, NULL));) {
		if (x == survivor || x->proc != proc)
			continue;
		tracer_call_vanish(t, x);
		tracer_forget(t, x);
		i = 0; /* tracer_forget() has changed the map, so the iteration begins again */
	}
}

void tracer_on_exec(struct tracer *t, struct task *task)
{
	unsigned long former = (unsigned long)task->tid;
	if (!task->proc || task->proc->ntasks > 1)
		ptrace_retry(PTRACE_GETEVENTMSG, task->tid, NULL, &former);
	struct task *caller = tasks_find(&t->tasks, (pid_t)former);
	if (!caller || !caller->proc)
		caller = task;
	pid_t leader = task->tid;
	pid_t old = caller->tid;
	forget_threads(t, caller);
	tracer_leave_group(t, caller); /* the name of the group will change */
	tasks_rename(&t->tasks, caller, leader);
	caller->stopped = true;
	thread_of(caller)->vfork_parent = 0;
	bool first = caller->proc->root && !caller->proc->execed;
	caller->proc->execed = true;
	if (first) {
		t->root.ran = true;
		t->root.start_ns = clock_ns();
	}
	if (old != leader)
		tracer_set_options(t, caller);
	bool ended = t->ops->exec && t->ops->exec(t, caller);
	if (first && t->config.find_main)
		tracer_find_main(t, caller);
	t->current = caller;
	if (!caller->proc->counted)
		return;
	struct event *ev = tracer_event(t, EV_EXEC, caller);
	ev->child = old;
	if (ended && tracer_wants_call(t, caller))
		tracer_event(t, EV_EXIT, caller)->call = thread_of(caller)->call;
	if (!first && t->config.break_on && t->config.break_on(t->config.break_ctx, ev)) {
		caller->release = true;
		t->root.left |= caller->proc->root;
	}
}

void tracer_on_event_stop(struct tracer *t, struct task *task, int sig)
{
	bool stopping = tracer_is_stopping(sig);
	if (task->fresh && !tracer_first_stop(t, task, sig))
		return;
	task->listening = stopping;
	if (stopping == task->group_stopped)
		return;
	task->group_stopped = stopping;
	bool wanted = tracer_reports_all(t) || task->tid == t->root.pid;
	if (!wanted || !task->proc->counted)
		return;
	struct event *ev = tracer_event(t, stopping ? EV_STOP : EV_CONT, task);
	ev->sig.si_signo = sig;
}

/*
 * Returns true if the task was killed after its signal-delivery-stop, and so gets no other signal. A killed task leaves
 * that stop, so that requests fail with ESRCH, and enters the stop of PTRACE_EVENT_EXIT, which PTRACE_GETSIGINFO then
 * describes.
 */
static bool was_killed(const struct task *task, int sig)
{
	siginfo_t now;
	return ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &now) < 0 ? errno == ESRCH : now.si_signo != sig;
}

void tracer_on_signal(struct tracer *t, struct task *task, int sig)
{
	/*
	 * Only events contain more than the number of a signal. Without events, the siginfo of a SIGCHLD is not read,
	 * because this would delay the program once for each of its children.
	 */
	bool number_only = sig == SIGCHLD && !tracer_reports_all(t);
	siginfo_t si = {.si_signo = sig};
	if (!number_only && ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0) {
		/*
		 * The task can no longer be traced, and the origin of the signal is unknown. A SIGSYS is discarded if
		 * the engine uses SIGSYS, because the engine has most likely caused it.
		 */
		task->deliver = sig == SIGSYS && t->ops->signal ? 0 : sig;
		return;
	}
	if (si.si_signo != sig) { /* as in was_killed() */
		task->stopped = false;
		return;
	}
	if (sig == SIGTRAP && t->main.armed && task->proc->pid == t->root.pid && tracer_at_main(t, task))
		return;
	enum tracer_verdict v = t->ops->signal ? t->ops->signal(t, task, &si) : STOP_PASS;
	bool shown = (v == STOP_PASS || v == STOP_IGNORED) && tracer_reports_all(t) && task->proc->counted;
	/* If the engine could not find out whether it has caused a SIGSYS, the task may just have been killed. */
	if (v == STOP_RESUMED || (shown && v == STOP_PASS && sig == SIGSYS && was_killed(task, sig))) {
		task->stopped = false;
		return;
	}
	if (v == STOP_PASS)
		task->deliver = sig;
	if (!shown)
		return;
	struct event *ev = tracer_event(t, EV_SIGNAL, task);
	ev->sig = si;
	if (arch_ip(task->tid, &ev->ip) < 0)
		ev->ip = 0;
	else if (t->ops->native_ip)
		ev->ip = t->ops->native_ip(t, task, ev->ip);
}
