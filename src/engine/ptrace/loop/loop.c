#include "engine/ptrace/loop/loop.h"

#include "engine/ptrace/loop/batch.h"
#include "engine/ptrace/loop/stops.h"
#include "engine/ptrace/state/give_up.h"
#include "engine/ptrace/tasks/deaths.h"
#include "engine/ptrace/tasks/resume.h"

#include <errno.h>
#include <sys/wait.h>

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
	tracer_note_peak(t, task, w.peak_rss_bytes);
	int r = tracer_stop(t, task, w.status);
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

/*
 * Before the next stop is handled, reports everything that was recorded. This function is also called when a signal has
 * interrupted the wait for a stop.
 */
static bool look_first(struct tracer *t, struct event *ev)
{
	if (t->looked || !t->ops->look)
		return false;
	t->looked = true;
	t->waits.records_flow = t->waits.records_flow || t->ops->has_many_records(t);
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
		if (t->current) {
			tracer_resume(t, t->current);
			t->current = NULL;
			continue;
		}
		if (!t->tasks.by_tid.n && !t->root.left)
			return 0;
		if (t->config.woken && *t->config.woken)
			return -EINTR;
		int r = t->waits.next == t->waits.taken.n ? tracer_take_waiting(t) : 0;
		if (r == -ECHILD && !t->failed)
			return 0;
		if (look_first(t, ev))
			return 1;
		t->looked = false;
		if (r == 0)
			r = serve(t, t->waits.taken.v[t->waits.next++]);
		if (r < 0 && r != -EINTR)
			tracer_give_up(t, r, "cannot continue tracing");
		if (r == -EINTR)
			return r;
	}
}
