/* SPDX-License-Identifier: MIT */
#include "measure/sample.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/ptrace.h"
#include "tracee/proc.h"
#include "tracee/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child stores in shared memory before it executes the program. */
struct child_report {
	uint64_t start_ns;
	struct rusage usage; /* resources used between fork() and execve(), which do not belong to the program */
	int exec_errno;      /* 0: execve(2) succeeded */
	const char *failed;  /* describes the step that failed; a string constant, so its address is valid in both
			      * processes */
};

/* The state of one run. */
struct watch {
	const struct sample_spec *spec;
	struct sample *out;
	struct child_report *report;
	pid_t root;
	struct map held; /* the watched tasks, without the root (the program); some may have ended */
	bool traced;
	bool root_ended;
	uint64_t end_ns;
	uint64_t exit_stop_ns; /* how long the root was stopped at its exit event */
	struct rusage usage;
};

/* These texts follow "cannot run 'PROGRAM'". */
static const char failed_dir[] = " in its directory";
static const char failed_cpus[] = " on the requested CPUs";
static const char failed_files[] = " with its output redirected";
static const char failed_exec[] = "";

static void child_fail(struct child_report *report, const char *what)
{
	report->exec_errno = errno;
	report->failed = what;
	_exit(127);
}

static void child_redirect(struct child_report *report, int from, int to)
{
	if (from >= 0 && from != to && dup2(from, to) < 0)
		child_fail(report, failed_files);
}

/* The child waits until sctrace watches it, and then executes the program. Does not return. */
static void child_run(const struct sample_spec *spec, struct child_report *report, int gate, const sigset_t *mask)
{
	char go;
	ssize_t got;
	/*
	 * The kernel kills the program if sctrace ends, unless the program is set-user-ID (prctl(2)). The children of the
	 * program do not inherit this setting, so daemons that it has started continue.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((got = read(gate, &go, 1)) < 0 && errno == EINTR)
		continue;
	if (got != 1)
		_exit(1); /* sctrace is gone already */
	if (spec->dir && chdir(spec->dir) < 0)
		child_fail(report, failed_dir);
	cpu_set_t set;
	CPU_ZERO(&set);
	for (size_t i = 0; i < spec->ncpus; i++)
		CPU_SET((size_t)spec->cpus[i], &set);
	if (spec->ncpus && sched_setaffinity(0, sizeof(set), &set) < 0)
		child_fail(report, failed_cpus);
	child_redirect(report, spec->stdin_fd, 0);
	child_redirect(report, spec->stdout_fd, 1);
	child_redirect(report, spec->stderr_fd, 2);
	sigprocmask(SIG_SETMASK, mask, NULL);
	getrusage(RUSAGE_SELF, &report->usage);
	report->start_ns = clock_ns();
	execvp(spec->argv[0], spec->argv);
	child_fail(report, failed_exec);
}

/* Forks the child, begins to watch it, and then lets it continue. Returns its pid or -errno. */
static pid_t start(struct watch *w, const sigset_t *mask)
{
	int gate[2];
	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0) {
		close(gate[1]);
		child_run(w->spec, w->report, gate[0], mask);
	}
	int err = errno;
	close(gate[0]);
	if (pid > 0) {
		/* Without PTRACE_O_EXITKILL, which would kill what the program has left behind if sctrace is killed. */
		long options = PTRACE_O_TRACEEXIT;
		if (w->spec->follow)
			options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
		w->traced = !w->spec->untraced && ptrace(PTRACE_SEIZE, pid, NULL, options) == 0;
		while (write(gate[1], "", 1) < 0 && errno == EINTR)
			continue;
	}
	close(gate[1]);
	return pid > 0 ? pid : -err;
}

static void kill_all(struct watch *w)
{
	size_t i = 0;
	uint64_t tid;
	while (map_next(&w->held, &i, &tid)) {
		struct proc_status s;
		if (proc_status((pid_t)tid, &s) == 0 && s.tracer == getpid())
			kill((pid_t)tid, SIGKILL);
	}
	if (!w->root_ended)
		kill(w->root, SIGKILL);
}

static bool stop_wanted(const struct watch *w)
{
	return w->spec->stop && *w->spec->stop;
}

/*
 * If `event` says that `parent` has created a task, adds this task to `held`, and returns its id; otherwise returns 0.
 * The kernel traces the task from now on, even if its first stop comes only after the program has exited.
 */
static pid_t hold_child(struct watch *w, pid_t parent, int event)
{
	unsigned long child;
	bool created = event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
	if (!created || ptrace_retry(PTRACE_GETEVENTMSG, parent, NULL, &child) != 0)
		return 0;
	map_put(&w->held, child, w);
	return (pid_t)child;
}

/* Waits until a report may be available, or until this time has passed. SIGCHLD is blocked, so no report is missed. */
static void wait_for_report(long ns)
{
	sigset_t chld;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigtimedwait(&chld, NULL, &(struct timespec){.tv_nsec = ns});
}

/* Asks a task that is still running after the program has exited to stop. Forgets it if it no longer exists. */
static void interrupt(struct watch *w, pid_t tid)
{
	if (ptrace_retry(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		map_remove(&w->held, (uint64_t)tid);
}

/* Handles a report of a task after the program has exited: detaches from the task. */
static void release(struct watch *w, pid_t tid, int status)
{
	map_remove(&w->held, (uint64_t)tid);
	if (!WIFSTOPPED(status))
		return;
	int event = status >> 16;
	pid_t child = hold_child(w, tid, event);
	ptrace_retry(PTRACE_DETACH, tid, NULL, event ? 0 : WSTOPSIG(status));
	if (child)
		interrupt(w, child);
}

/*
 * Detaches from all tasks that are still running after the program has exited, such as a daemon that the program
 * started. They stop in any order: the parent in vfork(2), for example, stops only after its child has been released.
 * A task that does not stop in time, because it waits for a device or for such a child, remains attached and continues
 * to run. If it stops during a later run, that run lets it continue, and then detaches from it.
 */
static void release_all(struct watch *w)
{
	enum { PATIENCE_NS = 200 * 1000 * 1000 };
	uint64_t until = clock_ns() + PATIENCE_NS;
	VEC(pid_t) tasks = {0};
	size_t i = 0;
	uint64_t tid;
	while (map_next(&w->held, &i, &tid))
		vec_push(&tasks, (pid_t)tid);
	for (i = 0; i < tasks.n; i++)
		interrupt(w, tasks.v[i]);
	vec_free(&tasks);
	while (w->held.n && clock_ns() < until) {
		int status;
		pid_t got = waitpid(-1, &status, __WALL | WNOHANG);
		if (got < 0)
			break;
		if (got > 0)
			release(w, got, status);
		else
			wait_for_report(PATIENCE_NS / 10);
	}
}

static void at_exit_event(struct watch *w, pid_t tid)
{
	uint64_t from = clock_ns();
	int64_t peak = proc_peak_rss(tid);
	if (peak > 0 && (uint64_t)peak > w->out->peak_rss_bytes)
		w->out->peak_rss_bytes = (uint64_t)peak;
	w->out->lost_privilege |= proc_lost_privilege(tid) != NULL;
	ptrace_retry(PTRACE_CONT, tid, NULL, 0);
	if (tid == w->root)
		w->exit_stop_ns += clock_ns() - from;
}

static void on_stop(struct watch *w, pid_t tid, int status)
{
	int sig = WSTOPSIG(status);
	int event = status >> 16;
	hold_child(w, tid, event);
	if (tid != w->root && !map_get(&w->held, (uint64_t)tid))
		map_put(&w->held, (uint64_t)tid, w);
	if (event == PTRACE_EVENT_EXIT) {
		at_exit_event(w, tid);
	} else if (event == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		/* With PTRACE_LISTEN, a task in a group-stop stays stopped until it receives SIGCONT. */
		ptrace_retry(PTRACE_LISTEN, tid, NULL, 0);
	} else {
		w->out->processes += event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK;
		ptrace_retry(PTRACE_CONT, tid, NULL, event ? 0 : sig);
	}
}

/* Handles a result of wait4(2). */
static void on_report(struct watch *w, pid_t tid, int status, const struct rusage *usage)
{
	if (WIFSTOPPED(status)) {
		on_stop(w, tid, status);
		return;
	}
	if (tid != w->root) {
		map_remove(&w->held, (uint64_t)tid);
		return;
	}
	w->end_ns = clock_ns();
	w->root_ended = true;
	w->out->status = status;
	w->usage = *usage;
}

/*
 * Waits until the program has exited. The signal that sets *stop is not blocked and can arrive just before the wait for a
 * report, so this wait has a time limit.
 */
static int watch_run(struct watch *w)
{
	enum { LOOK_NS = 500000000 };
	const uint64_t until = w->spec->limit_ns ? clock_ns() + w->spec->limit_ns : UINT64_MAX;
	bool killed = false;
	bool late = false;
	while (!w->root_ended) {
		int status;
		struct rusage usage;
		pid_t tid = wait4(w->spec->follow ? -1 : w->root, &status, __WALL | WNOHANG, &usage);
		if (tid > 0) {
			on_report(w, tid, status, &usage);
			continue;
		}
		if (tid < 0 && errno != EINTR)
			return -errno;
		uint64_t now = clock_ns();
		late |= now >= until;
		if ((stop_wanted(w) || late) && !killed) {
			kill_all(w);
			killed = true;
		}
		wait_for_report(late || until - now > LOOK_NS ? LOOK_NS : (long)(until - now));
	}
	if (killed || stop_wanted(w)) {
		kill_all(w);
		return stop_wanted(w) ? -EINTR : -ETIMEDOUT;
	}
	return 0;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_usec * 1000;
}

/* Returns `all` - `before`, or 0 if that is negative: the kernel's division into user and system time can decrease. */
static uint64_t since(uint64_t all, uint64_t before)
{
	return all > before ? all - before : 0;
}

static void fill(const struct watch *w)
{
	const struct rusage *u = &w->usage;
	const struct rusage *b = &w->report->usage;
	struct sample *s = w->out;
	s->wall_ns = since(since(w->end_ns, w->report->start_ns), w->exit_stop_ns);
	s->user_ns = since(timeval_ns(u->ru_utime), timeval_ns(b->ru_utime));
	s->system_ns = since(timeval_ns(u->ru_stime), timeval_ns(b->ru_stime));
	s->voluntary_switches = since((uint64_t)u->ru_nvcsw, (uint64_t)b->ru_nvcsw);
	s->involuntary_switches = since((uint64_t)u->ru_nivcsw, (uint64_t)b->ru_nivcsw);
	s->minor_faults = since((uint64_t)u->ru_minflt, (uint64_t)b->ru_minflt);
	s->major_faults = since((uint64_t)u->ru_majflt, (uint64_t)b->ru_majflt);
	s->block_in_bytes = 512 * since((uint64_t)u->ru_inblock, (uint64_t)b->ru_inblock);
	/* ru_maxrss also contains the memory of sctrace's child before execve(2). */
	if (!w->traced && u->ru_maxrss > b->ru_maxrss)
		s->peak_rss_bytes = 1024 * (uint64_t)u->ru_maxrss;
	s->block_out_bytes = 512 * since((uint64_t)u->ru_oublock, (uint64_t)b->ru_oublock);
}

static int run(struct watch *w, const sigset_t *mask, struct buf *why)
{
	pid_t pid = start(w, mask);
	if (pid < 0) {
		buf_addf(why, "cannot start a process: %s", diag_error_text(-pid));
		return pid;
	}
	w->root = pid;
	int err = watch_run(w);
	if (err != -EINTR && err != -ETIMEDOUT)
		release_all(w);
	if (err < 0)
		return err;
	if (w->report->exec_errno) {
		buf_addf(why, "cannot run '%s'%s: %s", w->spec->argv[0], w->report->failed,
			 spawn_error(w->spec->argv[0], w->report->exec_errno));
		return -w->report->exec_errno;
	}
	/*
	 * The kernel counted the stop at the exit event, which sctrace caused, as a voluntary context switch of the
	 * program. This switch is subtracted.
	 */
	fill(w);
	w->out->voluntary_switches -= w->traced && w->out->voluntary_switches > 0;
	return 0;
}

int sample_take(const struct sample_spec *spec, struct sample *s, struct buf *why)
{
	*s = (struct sample){.processes = 1};
	struct child_report *report =
		mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED)
		return -errno;
	struct watch w = {.spec = spec, .out = s, .report = report};
	sigset_t chld;
	sigset_t old;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	int err = sigprocmask(SIG_BLOCK, &chld, &old) < 0 ? -errno : 0;
	if (err)
		buf_addf(why, "cannot block SIGCHLD: %s", diag_error_text(-err));
	else {
		err = run(&w, &old, why);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	map_free(&w.held);
	munmap(report, sizeof(*report));
	return err;
}

/* Reads until the end of the pipe `in`, and then writes what was read to `result`. Keeps no other file open. */
static void read_all(int in, int result)
{
	static char data[64 * 1024];
	struct drained sum = {0};
	struct rusage u;
	long last = sysconf(_SC_OPEN_MAX);
	for (int fd = 0; fd < (last < 4096 ? last : 4096); fd++)
		if (fd != in && fd != result)
			close(fd);
	ssize_t n;
	while ((n = read(in, data, sizeof(data))) > 0 || (n < 0 && errno == EINTR))
		sum.bytes += n > 0 ? (uint64_t)n : 0;
	getrusage(RUSAGE_SELF, &u);
	sum.cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	_exit(write(result, &sum, sizeof(sum)) < 0);
}

int drain_open(struct drain *d, struct buf *why)
{
	int pipes[2][2] = {{-1, -1}, {-1, -1}};
	int err = pipe2(pipes[0], O_CLOEXEC) < 0 || pipe2(pipes[1], O_CLOEXEC) < 0 ? -errno : 0;
	pid_t pid = err ? -1 : fork();
	if (pid == 0) {
		/* The parent of the reader ends at once, so that sctrace does not get the reader's end from wait(2). */
		if (fork() == 0)
			read_all(pipes[0][0], pipes[1][1]);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	else if (!err)
		err = -errno;
	if (err < 0)
		buf_addf(why, "cannot start a process: %s", diag_error_text(-err));
	*d = (struct drain){.fd = pipes[0][1], .result = pipes[1][0]};
	close(pipes[0][0]);
	close(pipes[1][1]);
	if (err < 0) {
		close(d->fd);
		close(d->result);
	}
	return err;
}

void drain_close(struct drain *d, struct drained *result)
{
	enum { PATIENCE_MS = 200 };
	struct pollfd end = {.fd = d->result, .events = POLLIN};
	*result = (struct drained){0};
	close(d->fd);
	if (poll(&end, 1, PATIENCE_MS) > 0 && read(d->result, result, sizeof(*result)) < (ssize_t)sizeof(*result))
		*result = (struct drained){0};
	close(d->result);
}
