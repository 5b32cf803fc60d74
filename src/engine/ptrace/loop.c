/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "engine/ptrace/tracer.h"
#include "tracee/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

#define SYSCALL_STOP (SIGTRAP | 0x80)

static void on_ptrace_event(struct tracer *t, struct task *task, int event, int sig)
{
	switch (event) {
	case PTRACE_EVENT_STOP:
		tracer_on_event_stop(t, task, sig);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		tracer_on_child(t, task, event);
		tracer_expect_output(t);
		break;
	case PTRACE_EVENT_EXEC:
		tracer_on_exec(t, task);
		break;
	case PTRACE_EVENT_EXIT:
		tracer_on_exit(t, task);
		break;
	case PTRACE_EVENT_SECCOMP:
		if (!t->ops->seccomp)
			tracer_syscall_stop(t, task);
		else if (t->ops->seccomp(t, task) == STOP_RESUMED)
			task->stopped = false;
		break;
	default: /* PTRACE_EVENT_VFORK_DONE, and events of later kernels: nothing to do */
		break;
	}
}

int tracer_stop(struct tracer *t, struct task *task, int status)
{
	t->current = task;
	if (!WIFSTOPPED(status)) {
		t->current = NULL;
		t->unreported -= task->early_status != 0;
		tracer_on_death(t, task, status);
		return t->events.n > 0;
	}
	task->stopped = true;
	task->listening = false;
	int event = status >> 16;
	int sig = WSTOPSIG(status);
	task->mid_call = (event && event != PTRACE_EVENT_STOP) || sig == SYSCALL_STOP;
	if (!task->proc && task->early_status) {
		tracer_adopt(t, task);
		t->unreported--;
		task->early_status = 0;
		task->fresh = false;
	}
	if (!task->proc && event != PTRACE_EVENT_EXEC) {
		/* A child may stop before its parent's event. It stays stopped until the parent has reported it. */
		task->early_status = status;
		task->early_ns = clock_ns();
		t->unreported++;
		t->current = NULL;
		return 0;
	}
	if (event)
		on_ptrace_event(t, task, event, sig);
	else if (sig == SYSCALL_STOP) {
		if (!t->ops->syscall_stop || !t->ops->syscall_stop(t, task))
			tracer_syscall_stop(t, task);
	} else
		tracer_on_signal(t, task, sig);
	return t->events.n > 0;
}

int tracer_pin(const struct engine_config *config, struct buf *why)
{
	int r = config->spawn.pin_tracer ? spawn_pin(&config->spawn) : 0;
	if (r < 0)
		buf_addf(why, "cannot keep the program on one CPU: %s", diag_error_text(-r));
	return r;
}

/* Warns if the program does not gain its file's privileges, because the tracer does not have them (execve(2)). */
static void note_lost_privileges(struct tracer *t)
{
	struct stat st;
	int err;
	auto_free char *path = geteuid() == 0 ? NULL : spawn_find(t->config.spawn.argv[0], t->config.spawn.envp, &err);
	if (path && stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
		tracer_note(t, "'%s' is a set-%s program; it runs without its privileges, because it is traced", path,
			    st.st_mode & S_ISUID ? "uid" : "gid");
}

/* Explains why the child that will execute the program cannot be traced. */
static void explain(const struct tracer *t, pid_t child, int err, struct buf *why)
{
	pid_t tracer = attach_tracer_of(child);
	buf_addf(why, "tracing '%s' is not permitted: ", t->config.spawn.argv[0]);
	if (tracer)
		buf_addf(why, "process %d traces sctrace and its children, and a process can have only one tracer",
			 (int)tracer);
	else
		buf_addf(why, "%s (a container must permit ptrace%s)", diag_error_text(err),
			 access(ATTACH_YAMA, F_OK) == 0 ? "; see also " ATTACH_YAMA : "");
}

/* Starts the program, and resumes it from its first stop. Its next calls, which make the execve(2), will stop. */
static int start_program(struct tracer *t, struct buf *why)
{
	struct spawned child;
	int r = spawn_start(&t->config.spawn, &child, why);
	if (r < 0)
		return r;
	t->root.pid = child.pid;
	t->root.waits = true;
	t->root.go_fd = child.go_fd;
	t->root.err_fd = child.err_fd;
	if (ptrace(PTRACE_SEIZE, child.pid, NULL, t->options) < 0) {
		r = -errno;
		explain(t, child.pid, -r, why);
		return r;
	}
	struct task *task = tasks_add(&t->tasks, child.pid);
	tasks_join(&t->tasks, task, child.pid);
	task->fresh = false;
	task->proc->root = task->proc->counted = true;
	t->result.processes = t->result.threads = 1;
	/*
	 * The child blocks in read(2) on the pipe of spawn_go(). The child must stop once, because only a stopped task
	 * can be resumed in such a way that its next calls stop (PTRACE_SYSCALL).
	 */
	int status;
	if (ptrace_retry(PTRACE_INTERRUPT, child.pid, NULL, NULL) < 0)
		return -errno;
	r = tracer_wait_task(t, child.pid, &status);
	if (r < 0 || !WIFSTOPPED(status))
		return r < 0 ? r : -ECHILD;
	task->stopped = true;
	r = spawn_go(&child);
	t->root.waits = r < 0;
	tracer_resume(t, task);
	note_lost_privileges(t);
	return r;
}

static unsigned long options_for(const struct engine_config *config, const struct tracer *t)
{
	unsigned long o = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
	/* A child that is not followed must not be traced even for a moment, because it may have a tracer of its own. */
	if (config->follow || t->hold || t->ops->new_task)
		o |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	/*
	 * New threads belong to the program, so they are traced even without -f. If clone(2) has created a process
	 * instead of a thread, this is recognised when the parent reports the new task.
	 */
	o |= PTRACE_O_TRACECLONE;
	if (t->filter)
		o |= PTRACE_O_TRACESECCOMP;
	if (t->filter || t->exit_kill || config->kill_on_exit)
		o |= PTRACE_O_EXITKILL;
	return o;
}

/*
 * Attaches to all processes of the list. A server's workers may end between the command that listed them and this
 * function. So those that have ended are only reported, unless none is left.
 */
static int attach_list(struct tracer *t, struct buf *why)
{
	const struct engine_config *c = &t->config;
	auto_buf ended = {0};
	size_t n = 0;
	int r = 0;
	for (size_t i = 0; i < c->nattach; i++) {
		buf_clear(why);
		r = tracer_attach(t, c->attach[i], why);
		if (r == 0)
			continue;
		if (!proc_is_over(c->attach[i]))
			return r;
		buf_addf(&ended, "%s%d", n++ ? ", " : "", (int)c->attach[i]);
	}
	if (n == c->nattach)
		return r;
	buf_clear(why);
	if (n)
		tracer_note(t, ENGINE_SOME_ENDED, n, c->nattach, buf_str(&ended));
	return 0;
}

int tracer_start(struct tracer *t, const struct engine_config *config, struct buf *why)
{
	t->config = *config;
	t->options = options_for(config, t);
	pid_t earlier;
	ptrace_refused(&earlier); /* clears the refusals that probes and calibrations have recorded */
	int r = 0;
	if (config->spawn.argv)
		r = start_program(t, why);
	if (r == 0 && config->nattach)
		r = attach_list(t, why);
	if (r < 0 && t->root.pid && !t->root.waits)
		kill(t->root.pid, SIGKILL);
	if (r < 0 && !why->len)
		buf_adds(why, buf_str(&t->note)); /* the reason why tracing was given up */
	if (r < 0 && !why->len)
		buf_addf(why, "cannot start tracing: %s", diag_error_text(-r));
	return r;
}

/* Handles a stop during the detaching: notes new and ended tasks, discards events. The task stays stopped. */
static void note_stop(struct tracer *t, const struct wait_status *w)
{
	struct task *task = tasks_find(&t->tasks, w->tid);
	t->handled = *w; /* a call that ends with this stop ends now, and not at the stop that was handled before */
	/* Tracing was given up: a child that its parent has not reported yet must be killed as well. */
	if (!task && t->failed && t->root.pid && WIFSTOPPED(w->status))
		kill(w->tid, SIGKILL);
	if (!task && WIFSTOPPED(w->status))
		task = tasks_add(&t->tasks, w->tid);
	if (!task)
		return;
	bool dying = t->failed && t->root.pid && WIFSTOPPED(w->status) && !(task->proc && task->proc->attached);
	tracer_stop(t, task, w->status);
	t->events.n = t->events.next = 0;
	t->current = NULL;
	if (dying)
		ptrace_retry(PTRACE_CONT, w->tid, NULL, NULL); /* the task was killed, and its end will follow */
}

#define DETACH_PATIENCE_NS NSEC_PER_SEC
/*
 * How long sctrace waits for threads that are in vfork(2) after everything else was detached. The program runs meanwhile.
 * A thread that is not detached properly may be killed, because its calls still raise SIGSYS.
 */
#define VFORK_PATIENCE_NS (5 * NSEC_PER_SEC)

/* True if the task waits in vfork(2) for a stopped child. PTRACE_INTERRUPT does not end this wait. */
static bool waits_for_child(const struct tracer *t, const struct task *task)
{
	while (!task->stopped) {
		const struct task *child = tasks_find(&t->tasks, thread_of(task)->vfork_child);
		if (!child || thread_of(child)->vfork_parent != task->tid)
			return false;
		task = child; /* it may wait for a child of its own */
	}
	return true;
}

/* True if all tasks are stopped, apart from those that cannot be stopped. */
static bool all_stopped(const struct tracer *t)
{
	struct task *task;
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (!task->stopped && !task->exiting && !waits_for_child(t, task))
			return false;
	return true;
}

static void interrupt_all(struct tracer *t)
{
	struct task *task;
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (!task->stopped)
			ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

/*
 * First calls ops->detach for all stopped threads, so that they leave the engine's code. Then calls ops->leave, which
 * restores their processes. Then detaches from these threads; if `all` is set, also from threads that are not stopped.
 */
static void release_tasks(struct tracer *t, bool all)
{
	struct task *task;
	for (size_t i = 0; t->ops->detach && (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (task->stopped && task->proc)
			t->ops->detach(t, task);
	for (size_t i = 0; t->ops->leave && (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (task->stopped && task->proc)
			t->ops->leave(t, task);
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (task->stopped || all) {
			tracer_detach_task(t, task);
			i = 0; /* tracer_detach_task() has changed the map, so the iteration begins again */
		}
}

/*
 * Waits at most `patience_ns` until all tasks are stopped, apart from those that cannot be stopped. If tracing was given
 * up, also waits for children that their parents have not reported yet.
 */
static void await_stops(struct tracer *t, uint64_t patience_ns)
{
	uint64_t until = clock_ns() + patience_ns;
	while (!all_stopped(t) || (t->failed && t->root.pid && !t->root.waits)) {
		struct wait_status w = {.noticed = NOTICED_POLLING};
		w.tid = tracer_wait(t, -1, &w.status, WNOHANG, NULL);
		w.noticed_ns = clock_ns();
		if (w.tid < 0 && w.tid != -EINTR)
			break;
		if (w.tid > 0)
			note_stop(t, &w);
		else if (clock_ns() > until)
			break;
		else
			clock_sleep_ns(100000);
	}
}

void tracer_detach_all(struct tracer *t)
{
	t->detaching = true;
	while (t->waits.next < t->waits.taken.n)
		note_stop(t, &t->waits.taken.v[t->waits.next++]);
	interrupt_all(t);
	await_stops(t, DETACH_PATIENCE_NS);
	/*
	 * PTRACE_INTERRUPT does not end the wait of a vfork(2) parent, whose child is among the stopped tasks. When the
	 * child has been detached and executes a program, the parent stops. If a task still does not stop, the kernel
	 * detaches it when sctrace exits, or kills it if it was started with PTRACE_O_EXITKILL.
	 */
	release_tasks(t, false);
	if (t->tasks.by_tid.n && !t->failed)
		await_stops(t, VFORK_PATIENCE_NS);
	release_tasks(t, true);
}

int tracer_detach(struct engine *e)
{
	struct tracer *t = (struct tracer *)e;
	tracer_detach_all(t);
	tracer_check_refused(t);
	return t->failed;
}

bool tracer_is_needed(const struct engine *e)
{
	return ((const struct tracer *)e)->filter;
}
