/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"
#include "base/clock.h"
#include "engine/ptrace/tracer.h"
#include "tracee/proc.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * True if sctrace traces task `tid`, or any known task if `tid` is -1. If wait4(2) fails with ECHILD although sctrace
 * traces a task, a sandbox refuses the call.
 */
static bool is_traced(const struct tracer *t, pid_t tid)
{
	struct proc_status s;
	if (tid > 0)
		return proc_status(tid, &s) == 0 && s.tracer == getpid();
	const struct task *task;
	for (size_t i = 0; (task = map_next(&t->tasks.by_tid, &i, NULL));)
		if (is_traced(t, task->tid))
			return true;
	return false;
}

/* More interruptions of wait4(2) per second than this are not caused by signals: the result EINTR is being faked. */
#define INTERRUPTIONS    1000
#define INTERRUPTIONS_NS NSEC_PER_SEC

static int interrupted(struct tracer *t)
{
	if (t->waits.interruptions.n++ == 0)
		t->waits.interruptions.since_ns = clock_ns();
	if (t->waits.interruptions.n < INTERRUPTIONS)
		return -EINTR;
	t->waits.interruptions.n = 0;
	return clock_ns() - t->waits.interruptions.since_ns > INTERRUPTIONS_NS
		       ? -EINTR
		       : tracer_give_up(t, -EIO, "cannot wait for the program, because each wait4(2) is interrupted");
}

/*
 * From this number of tasks on, waitid(2) is called first to find out whether the status is a stop or an end, so that a
 * rusage is requested only at an end. For a rusage, the kernel adds up the resource use of all threads.
 */
#define MANY_TASKS 64

/* Takes the stop of a task. Returns 0 if it was killed, or if an execve(2) has given its id to another task. */
static pid_t take_stop(pid_t tid, int *status)
{
	siginfo_t info = {0};
	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) < 0)
		return errno == ECHILD ? 0 : -1;
	*status = info.si_status << 8 |
		  0x7f; /* as in wait4(2) (kernel/exit.c, wait_task_stopped()); musl has no W_STOPCODE() */
	return info.si_pid;
}

static pid_t take_end(pid_t tid, int *status, struct rusage *usage)
{
	pid_t ended = wait4(tid, status, __WALL | WNOHANG, usage);
	return ended < 0 && errno == ECHILD ? 0 : ended;
}

/*
 * Like wait4(2), but sets `usage` only at an end, and calls tracer_ops.waited before it takes the stop from the kernel.
 * If sctrace is killed before it takes the stop, the kernel delivers the signal of the stop to the task. If sctrace is
 * killed later, that signal is lost (wait_task_stopped() in kernel/exit.c).
 */
static pid_t look_and_take(struct tracer *t, pid_t pid, int *status, int options, struct rusage *usage)
{
	idtype_t which = pid > 0 ? P_PID : P_ALL;
	for (pid_t before = 0;;) {
		siginfo_t info = {0};
		if (waitid(which, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL | options) < 0)
			return -1;
		if (!info.si_pid)
			return 0;
		bool stopped = info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED;
		if (stopped && t->ops->waited)
			t->ops->waited(t, info.si_pid, info.si_status << 8 | 0x7f);
		pid_t tid = stopped ? take_stop(info.si_pid, status) : take_end(info.si_pid, status, usage);
		if (tid || options & WNOHANG)
			return tid;
		/* waitid(2) reports the task again, although wait4(2) found nothing: a sandbox refuses wait4(2) */
		if (info.si_pid == before) {
			errno = ECHILD;
			return -1;
		}
		before = info.si_pid;
	}
}

pid_t tracer_wait(struct tracer *t, pid_t pid, int *status, int options, struct rusage *usage)
{
	for (int tries = 3;;) {
		bool look = (usage && t->tasks.by_tid.n >= MANY_TASKS) || (t->config.nattach && t->ops->waited);
		pid_t tid = look ? look_and_take(t, pid, status, options, usage)
				 : wait4(pid, status, __WALL | options, usage);
		if (tid >= 0) {
			t->waits.interruptions.n = 0;
			if (tid > 0 && !look && t->ops->waited)
				t->ops->waited(t, tid, *status);
			return tid;
		}
		if (errno == EINTR)
			return interrupted(t);
		if (errno == ECHILD && !is_traced(t, pid))
			return -ECHILD;
		if (--tries == 0)
			return tracer_give_up(t, -errno, "cannot wait for the program");
	}
}

/* The next stop of a busy program comes within this time. */
#define SPIN_NS 50000
/*
 * A poll that succeeds earns one credit, up to SPIN_CREDIT, and a poll without a result costs two. So sctrace polls only
 * while about two thirds of its polls succeed; otherwise it would waste CPU time that the traced programs need. Without
 * credit, it polls once in SPIN_RETRIES times.
 */
#define SPIN_CREDIT  8
#define SPIN_RETRIES 64

/* Polls for SPIN_NS. Returns 0 if nothing was reported. Usually returns 0 at once if the last polls did not succeed. */
static pid_t spin_wait(struct tracer *t, pid_t pid, int *status, struct rusage *usage)
{
	struct spin *s = &t->waits.spin;
	s->in_vain_ns = 0;
	if (s->credit == 0 && ++s->passed % SPIN_RETRIES)
		return 0;
	const uint64_t start = clock_ns();
	uint64_t now;
	do {
		pid_t tid = tracer_wait(t, pid, status, WNOHANG, usage);
		if (tid) {
			s->credit += s->credit < SPIN_CREDIT;
			return tid;
		}
		arch_pause();
	} while ((now = clock_ns()) < start + SPIN_NS);
	s->in_vain_ns = s->credit ? 0 : now - start;
	s->credit -= s->credit > 1 ? 2 : s->credit;
	return 0;
}

/* True if there is a second CPU, so that the program does not need the CPU on which sctrace spins. */
static bool may_spin(struct tracer *t)
{
	cpu_set_t set;
	bool pinned = t->config.spawn.pin_tracer;
	if (t->waits.spin.may == 0)
		t->waits.spin.may =
			!pinned && sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1 ? 1 : -1;
	return t->waits.spin.may > 0;
}

pid_t tracer_spin(struct tracer *t, pid_t pid, int *status, struct rusage *usage)
{
	return may_spin(t) ? spin_wait(t, pid, status, usage) : 0;
}

/*
 * How long sctrace polls the rings after the start of the program, and again whenever it has found many records. Without
 * polling, a fast program would soon fill its ring. It would then stop and wait until sctrace has handled all records. A
 * short program would end with most of its records still unhandled.
 */
#define FLOW_NS 8000000
/*
 * The pause between two looks at the rings. After a pause in which few records came, the next one is twice as long;
 * after a pause in which too many came, it is half as long. A short pause suits a burst of
 * records. But each look needs the CPU, which the traced programs may need as well, and delays a program that writes to
 * the same memory. A ring has room for the records of at least 1 ms.
 */
#define FLOW_PAUSE_LEAST_NS 50000
#define FLOW_PAUSE_MOST_NS  1000000

static uint64_t within_limits(uint64_t pause_ns)
{
	pause_ns = pause_ns > FLOW_PAUSE_LEAST_NS ? pause_ns : FLOW_PAUSE_LEAST_NS;
	return pause_ns < FLOW_PAUSE_MOST_NS ? pause_ns : FLOW_PAUSE_MOST_NS;
}

void tracer_expect_records(struct tracer *t)
{
	if (t->ops->record_flow)
		t->waits.flow_until_ns = clock_ns() + FLOW_NS;
}

void tracer_expect_output(struct tracer *t)
{
	if (!t->ops->record_flow || !t->config.output || t->config.follow)
		return;
	tracer_expect_records(t);
	t->waits.output_until_ns = t->waits.flow_until_ns;
	t->waits.pause_ns = FLOW_PAUSE_LEAST_NS;
}

pid_t tracer_await_records(struct tracer *t, int *status, struct rusage *usage)
{
	sigset_t child, before;
	pid_t r = 0;
	const uint64_t begin = clock_ns();
	if (begin >= t->waits.flow_until_ns || !may_spin(t))
		return 0;
	/* SIGCHLD is blocked before wait4(2) looks for a stop, so that no stop between both goes unnoticed. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	for (uint64_t now = begin; r == 0 && now < t->waits.flow_until_ns; now = clock_ns()) {
		r = tracer_wait(t, -1, status, WNOHANG, usage);
		enum flow flow = t->ops->record_flow(t);
		if (flow == FLOW_FAST)
			t->waits.pause_ns = within_limits(t->waits.pause_ns / 2);
		bool due = now > begin && now < t->waits.output_until_ns;
		if (r == 0 && (flow != FLOW_FEW || due || (t->config.woken && *t->config.woken)))
			r = -EINTR;
		if (r == 0) {
			t->waits.pause_ns = within_limits(now > begin ? t->waits.pause_ns * 2 : t->waits.pause_ns);
			const struct timespec pause = clock_to_timespec(t->waits.pause_ns);
			sigtimedwait(&child, NULL, &pause);
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

pid_t tracer_wait_task(struct tracer *t, pid_t tid, int *status)
{
	pid_t r;
	do {
		r = tracer_spin(t, tid, status, NULL);
		r = r ? r : tracer_wait(t, tid, status, 0, NULL);
	} while (r == -EINTR && !t->failed);
	return r;
}

struct wait_status *tracer_taken_status(struct tracer *t, pid_t tid)
{
	for (size_t i = t->waits.next; i < t->waits.taken.n; i++)
		if (t->waits.taken.v[i].tid == tid)
			return &t->waits.taken.v[i];
	return NULL;
}

void tracer_keep_status(struct tracer *t, pid_t tid, int status)
{
	vec_push(&t->waits.taken, (struct wait_status){tid, status, clock_ns()});
}
