#include "engine/ptrace/tasks/children.h"

#include "base/clock.h"
#include "engine/ptrace/calls/calls.h"
#include "engine/ptrace/calls/untraced.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/tasks/attach.h"
#include "engine/ptrace/tasks/resume.h"
#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

bool tracer_first_stop(struct tracer *t, struct task *task, int sig)
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

/*
 * If a task is adopted before its parent reports it, this does no harm: when the parent's event comes,
 * tracer_on_child() finds that the child is known.
 */
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

/*
 * Before ORPHAN_MIN_NS have passed, a slow parent may still report the task. After ORPHAN_MAX_NS, the parent will not
 * report it any more.
 */
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
