#include "engine/ptrace/loop/loop.h"

#include "base/clock.h"
#include "engine/ptrace/loop/stops.h"
#include "engine/ptrace/state/give_up.h"
#include "engine/ptrace/tasks/children.h"
#include "engine/ptrace/tasks/deaths.h"
#include "engine/ptrace/tasks/resume.h"
#include "engine/ptrace/wait/wait.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The number of stops taken from the kernel at once. All stopped tasks are handled before any is handled twice. */
#define WAIT_BATCH 256

/*
 * Blocks until the first stop. If a new task has stopped that its parent has not reported yet, polls instead and calls
 * tracer_adopt_orphans(), because the parent may have been killed before its report. The end of the parent may not show
 * this: the end of a leader is reported only after the ends of all its threads, and the new task may be one of these
 * threads.
 */
static pid_t wait_first(struct tracer *t, int *status, struct rusage *usage, enum noticed *how)
{
	*how = NOTICED_POLLING;
	while (t->unreported && !t->failed && !(t->config.woken && *t->config.woken)) {
		pid_t tid = tracer_wait(t, -1, status, WNOHANG, usage);
		if (tid)
			return tid;
		clock_sleep_ns(1000000);
		tracer_adopt_orphans(t);
	}
	if (t->failed)
		return t->failed;
	pid_t tid = tracer_await_records(t, status, usage);
	if (tid == 0)
		tid = tracer_spin(t, -1, status, usage);
	if (tid == 0 && t->config.woken && *t->config.woken)
		return -EINTR; /* the signal has already arrived, so it would not end the sleep of tracer_wait() */
	if (tid)
		return tid;
	*how = NOTICED_ASLEEP;
	return tracer_wait(t, -1, status, 0, usage);
}

/* How many times in succession a single task's stop is taken before the other tasks are polled again. */
#define LONE_MAX 4

/*
 * Returns true if another stop should be taken before the first one is handled. wait4(2) always examines the tasks in
 * the same order, so if stops were handled one by one, the last tasks would wait as long as the first ones have stops.
 * If only one task has stopped, the other tasks are polled only once in LONE_MAX times.
 */
static bool takes_more(struct tracer *t)
{
	if (t->waits.taken.n > 1)
		t->waits.lone = 0;
	return t->waits.taken.n < WAIT_BATCH && t->tasks.by_tid.n > 1 &&
	       (t->waits.taken.n > 1 || t->waits.lone == 0 || t->waits.lone == LONE_MAX);
}

/* Takes all stops from the kernel (t->waits); blocks for the first. Returns 0, or -errno like tracer_wait(). */
static int take_waiting(struct tracer *t)
{
	t->waits.taken.n = t->waits.next = 0;
	if (t->unreported)
		tracer_adopt_orphans(t);
	t->waits.lone = t->waits.lone < LONE_MAX ? t->waits.lone + 1 : 1;
	do {
		int status = 0;
		struct rusage usage = {0};
		enum noticed how = NOTICED_POLLING;
		pid_t tid = t->waits.taken.n ? tracer_wait(t, -1, &status, WNOHANG, &usage)
					     : wait_first(t, &status, &usage, &how);
		if (tid <= 0 && t->waits.taken.n)
			break;
		if (tid <= 0)
			return tid ? tid : -EINTR;
		if (tid == t->root.pid && !WIFSTOPPED(status))
			t->result.usage = usage;
		uint64_t rss = WIFSTOPPED(status) ? 0 : (uint64_t)usage.ru_maxrss * 1024;
		uint64_t in_vain_ns = how == NOTICED_ASLEEP ? t->waits.spin.in_vain_ns : 0;
		vec_push(&t->waits.taken, (struct wait_status){tid, status, clock_ns(), how, in_vain_ns, rss});
	} while (takes_more(t));
	return 0;
}

static int start_failed(struct tracer *t)
{
	struct spawned s = {.go_fd = t->root.go_fd, .err_fd = t->root.err_fd};
	t->root.go_fd = t->root.err_fd = -1;
	int error = spawn_finish(&s);
	return error ? -error : -ECHILD;
}

/* Handles one wait status. Returns 1 if events are pending, 0 if not, or -errno. */
static int serve(struct tracer *t, struct wait_status w)
{
	struct task *task = tasks_find(&t->tasks, w.tid);
	t->handled = w;
	if (!task && !WIFSTOPPED(w.status)) {
		if (w.tid == t->root.pid) {
			t->result.status = w.status;
			t->root.left = false;
		}
		return 0;
	}
	if (!task)
		task = tasks_add(&t->tasks, w.tid);
	bool root = w.tid == t->root.pid;
	bool ran = t->root.ran;
	tracer_note_peak(t, task, w.peak_rss_bytes);
	int r = tracer_stop(t, task, w.status);
	if (t->root.ran && !ran)
		tracer_expect_records(t);
	if (root && !WIFSTOPPED(w.status) && !t->root.ran) {
		t->failed = start_failed(t);
		return 0;
	}
	if (r == 0 && t->current && !t->hold_current) {
		tracer_resume(t, t->current);
		t->current = NULL;
	}
	return r;
}

/* Called before a stop is handled, and after an interrupted wait: reports everything that was recorded. */
static bool look_first(struct tracer *t, struct event *ev)
{
	if (t->looked || !t->ops->look)
		return false;
	t->looked = true;
	if (t->ops->record_flow(t) != FLOW_FEW)
		tracer_expect_records(t);
	t->ops->look(t);
	return t->ops->next_recorded(t, ev);
}

int tracer_next(struct engine *e, struct event *ev)
{
	struct tracer *t = (struct tracer *)e;
	for (;;) {
		tracer_check_refused(t);
		if (t->ops->next_recorded && t->ops->next_recorded(t, ev))
			return 1;
		t->hold_current = false;
		if (t->events.next < t->events.n) {
			*ev = t->events.v[t->events.next++];
			return 1;
		}
		if (t->failed)
			return t->failed;
		if (t->detaching)
			return 0;
		t->events.n = t->events.next = 0;
		if (t->config.idle)
			t->config.idle(t->config.idle_ctx);
		if (t->current) {
			tracer_resume(t, t->current);
			t->current = NULL;
			continue;
		}
		if (!t->tasks.by_tid.n && !t->root.left)
			return 0;
		int r = t->config.woken && *t->config.woken ? -EINTR : 0;
		if (r == 0 && t->waits.next == t->waits.taken.n) {
			t->looked = false; /* what is recorded during the wait comes before the next stop */
			r = take_waiting(t);
		}
		if (r == -ECHILD && !t->failed)
			return 0;
		if (look_first(t, ev))
			return 1;
		if (r == 0)
			r = serve(t, t->waits.taken.v[t->waits.next++]);
		/* All tasks whose stops were taken had stopped before the look. */
		if (r < 0 || t->waits.next == t->waits.taken.n)
			t->looked = false;
		if (r < 0 && r != -EINTR)
			tracer_give_up(t, r, "cannot continue tracing");
		if (r == -EINTR)
			return r;
	}
}
