/* The stop loop itself: waiting, handing out events, resuming. */
#include "engine/ptrace/state/tracer.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "syscall/table.h"
#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void tracer_note(struct tracer *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_clear(&t->note);
	buf_addv(&t->note, fmt, ap);
	va_end(ap);
	struct event *ev = &t->pending[t->npending < 4 ? t->npending++ : 3];
	*ev = (struct event){.kind = EV_NOTE, .time_ns = clock_ns(), .text = buf_str(&t->note)};
}

const struct mem *tracer_mem(struct tracer *t, const struct task *task)
{
	t->mem_pid = task->tid;
	t->mem = (struct mem){t->userfaultfd ? mem_read_present : mem_read_process, &t->mem_pid};
	return &t->mem;
}

uint64_t tracer_peak_rss(pid_t pid)
{
	int64_t bytes = proc_peak_rss(pid);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

static int default_request(const struct tracer *t, const struct task *task)
{
	/* Under a filter of ours the kernel stops at the wanted calls by itself; only their ends need asking for. */
	return (t->filter && !thread_of(task)->in_call) || !task->proc->counted ? PTRACE_CONT : PTRACE_SYSCALL;
}

void tracer_resume(struct tracer *t, struct task *task)
{
	if (!task->stopped)
		return;
	if (task->release) {
		tracer_let_go(t, task);
		return;
	}
	task->stopped = false;
	int sig = task->deliver;
	task->deliver = 0;
	int request = task->listening          ? PTRACE_LISTEN
		      : t->ops->resume_request ? t->ops->resume_request(t, task)
					       : default_request(t, task);
	if (ptrace(request, task->tid, NULL, task->listening ? 0 : sig) == 0 || errno == ESRCH)
		return; /* ESRCH: it was killed meanwhile; its death is waited for like any other */
	/* Any other failure ends it all (check_refused). */
	task->stopped = true;
	task->deliver = sig;
}

int tracer_give_up(struct tracer *t, int err, const char *fmt, ...)
{
	if (t->failed)
		return t->failed;
	struct buf text = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	tracer_note(t, "%s: %s", buf_str(&text), strerror(-err));
	buf_free(&text);
	t->failed = err;
	tracer_kill(&t->base, SIGKILL);
	if (t->ops && t->ops->gave_up)
		t->ops->gave_up(t);
	return err;
}

/* A task that a request was refused for may stand still for ever: that is not waited for. */
static void check_refused(struct tracer *t)
{
	pid_t tid;
	int err = ptrace_refused(&tid);
	if (err)
		tracer_give_up(t, -err, "cannot trace task %d any further", (int)tid);
}

static int start_failed(struct tracer *t)
{
	struct spawned s = {.go_fd = t->go_fd, .err_fd = t->err_fd};
	t->go_fd = t->err_fd = -1;
	t->exec_error = spawn_finish(&s);
	return t->exec_error ? -t->exec_error : -ECHILD;
}

/*
 * The peak resident set of a descendant: what wait4(2) says includes its parent's before its execve(2), which is counted too.
 * Not so the started program's own, whose parent was sctrace: there the exit event tells.
 */
static void note_peak(struct tracer *t, const struct task *task, uint64_t bytes)
{
	const struct process *p = task->proc;
	if (bytes && p && p->counted && !p->root && !p->attached && bytes > t->result.peak_rss_bytes)
		t->result.peak_rss_bytes = bytes;
}

/* One wait status; 1: events are pending, 0: none, -errno. */
static int serve(struct tracer *t, const struct wait_status *w)
{
	struct task *task = tasks_find(&t->tasks, w->tid);
	if (!task && !WIFSTOPPED(w->status)) {
		if (w->tid == t->root) {
			t->result.status = w->status;
			t->root_left = false;
		}
		return 0;
	}
	if (!task)
		task = tasks_add(&t->tasks, w->tid);
	if (!task)
		return -ENOMEM;
	bool root = w->tid == t->root;
	note_peak(t, task, w->peak_rss_bytes);
	int r = tracer_stop(t, task, w->status);
	if (root && !WIFSTOPPED(w->status) && !t->root_ran) {
		t->failed = start_failed(t);
		return 0;
	}
	if (r == 0 && t->current) {
		tracer_resume(t, t->current);
		t->current = NULL;
	}
	return r;
}

int tracer_next(struct engine *e, struct event *ev)
{
	struct tracer *t = (struct tracer *)e;
	for (;;) {
		check_refused(t);
		if (t->next_pending < t->npending) {
			*ev = t->pending[t->next_pending++];
			return 1;
		}
		if (t->failed)
			return t->failed;
		t->npending = t->next_pending = 0;
		if (t->current) {
			tracer_resume(t, t->current);
			t->current = NULL;
			continue;
		}
		if (!tasks_count(&t->tasks) && !t->root_left)
			return 0;
		if (t->config.woken && *t->config.woken)
			return -EINTR;
		int r = t->next_waited == t->waited.n ? tracer_take_waiting(t) : 0;
		if (r == -ECHILD && !t->failed)
			return 0;
		if (r == 0)
			r = serve(t, &t->waited.v[t->next_waited++]);
		if (r < 0 && r != -EINTR)
			tracer_give_up(t, r, "cannot go on tracing");
		if (r == -EINTR)
			return r;
	}
}

int tracer_collect(struct engine *e, struct summary *s)
{
	struct tracer *t = (struct tracer *)e;
	summary_merge(s, &t->counts);
	summary_free(&t->counts);
	map_free(&t->groups);
	return s->failed ? -ENOMEM : 0;
}

void tracer_kill(struct engine *e, int sig)
{
	struct tracer *t = (struct tracer *)e;
	if (sig == SIGKILL)
		t->config.woken = NULL; /* the ends of all that is left are waited for, whatever comes */
	size_t i = 0;
	struct process *p;
	while ((p = map_next(&t->tasks.processes, &i, NULL)))
		if (!p->attached && !(p->root && t->root_waits))
			kill(p->pid, sig);
}

void tracer_result(const struct engine *e, struct engine_result *r)
{
	const struct tracer *t = (const struct tracer *)e;
	*r = t->result;
}

int tracer_pin(const struct engine_config *config, struct buf *why)
{
	cpu_set_t set;
	if (!config->spawn.pin_tracer)
		return 0;
	CPU_ZERO(&set);
	for (size_t i = 0; i < config->spawn.ncpus; i++)
		CPU_SET((size_t)config->spawn.cpus[i], &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return 0;
	int err = errno;
	buf_addf(why, "cannot stay on one CPU: %s", strerror(err));
	return -err;
}

/* A traced program gets no privileges from its file, unless its tracer has them (execve(2)). */
static void note_lost_privileges(struct tracer *t)
{
	struct stat st;
	int err;
	char *path = geteuid() == 0 ? NULL : spawn_find(t->config.spawn.argv[0], t->config.spawn.envp, &err);
	if (path && stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
		tracer_note(t, "'%s' is set-%s: traced by an ordinary user it runs without that privilege", path,
			    st.st_mode & S_ISUID ? "uid" : "gid");
	free(path);
}

/* The program that is to be started, waiting at its first stop. */
static int start_program(struct tracer *t, struct buf *why)
{
	struct spawned child;
	int r = spawn_start(&t->config.spawn, &child, why);
	if (r < 0)
		return r;
	t->root = child.pid;
	t->root_waits = true;
	t->go_fd = child.go_fd;
	t->err_fd = child.err_fd;
	if (ptrace(PTRACE_SEIZE, child.pid, NULL, t->options) < 0) {
		r = -errno;
		buf_addf(why,
			 "not allowed to trace '%s': %s (in a container ptrace must be let through; see also "
			 "/proc/sys/kernel/yama/ptrace_scope)",
			 t->config.spawn.argv[0], strerror(-r));
		return r;
	}
	struct task *task = tasks_add(&t->tasks, child.pid);
	if (!task || tasks_join(&t->tasks, task, child.pid) < 0)
		return -ENOMEM;
	task->fresh = false;
	task->proc->root = task->proc->counted = true;
	t->result.processes = 1;
	/* It blocks in read(2) on the pipe; a stop there sets it up for its next calls. */
	int status;
	if (ptrace(PTRACE_INTERRUPT, child.pid, NULL, NULL) < 0)
		return -errno;
	r = tracer_wait_task(t, child.pid, &status);
	if (r < 0 || !WIFSTOPPED(status))
		return r < 0 ? r : -ECHILD;
	task->stopped = true;
	r = spawn_go(&child);
	t->root_waits = r < 0;
	tracer_resume(t, task);
	note_lost_privileges(t);
	return r;
}

static unsigned long options_for(const struct engine_config *config, const struct tracer *t)
{
	unsigned long o = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
	if (config->follow || t->hold || t->ops->birth)
		o |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	/* Threads belong to the program even without -f; clone(2) without CLONE_THREAD is told apart at the birth. */
	o |= PTRACE_O_TRACECLONE;
	if (t->filter)
		o |= PTRACE_O_TRACESECCOMP;
	if (t->filter || t->exit_kill || config->kill_on_exit)
		o |= PTRACE_O_EXITKILL;
	return o;
}

void tracer_init(struct tracer *t, const struct tracer_ops *ops)
{
	t->ops = ops;
	t->go_fd = t->err_fd = -1;
	t->tasks.task_size = sizeof(struct thread);
}

int tracer_start(struct tracer *t, const struct engine_config *config, struct buf *why)
{
	t->config = *config;
	t->options = options_for(config, t);
	pid_t earlier;
	ptrace_refused(&earlier); /* what probes and calibrations were refused */
	int r = 0;
	if (config->spawn.argv)
		r = start_program(t, why);
	for (size_t i = 0; r == 0 && i < config->nattach; i++)
		r = tracer_attach(t, config->attach[i], why);
	if (r < 0 && t->root && !t->root_waits)
		kill(t->root, SIGKILL);
	if (r < 0 && !why->len)
		buf_adds(why, buf_str(&t->note)); /* why it was given up */
	if (r < 0 && !why->len)
		buf_addf(why, "cannot start tracing: %s", strerror(-r));
	return r;
}

int tracer_detach(struct engine *e)
{
	struct tracer *t = (struct tracer *)e;
	tracer_detach_all(t);
	check_refused(t);
	return t->failed;
}

void tracer_free(struct tracer *t)
{
	if (t->go_fd >= 0)
		close(t->go_fd);
	if (t->err_fd >= 0)
		close(t->err_fd);
	size_t i = 0;
	struct task *task;
	while ((task = map_next(&t->tasks.by_tid, &i, NULL)))
		life_free(&thread_of(task)->life);
	tasks_free(&t->tasks);
	map_free(&t->groups);
	summary_free(&t->counts);
	vec_free(&t->waited);
	buf_free(&t->note);
}
