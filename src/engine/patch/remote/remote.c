/* SPDX-License-Identifier: MIT */
#include "engine/patch/remote/remote.h"

#include "base/clock.h"
#include "engine/patch/arm/arm.h"
#include "engine/ptrace/tracer.h"
#include "syscall/restart.h"
#include "tracee/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Open files /proc/TID/mem. They are used because process_vm_writev(2) cannot write to read-only memory, such as code.
 * There are several, because a shell and the commands that it runs stop alternately.
 */
#define HELD 4
static struct held {
	pid_t tid; /* 0: the entry is unused */
	int fd;
} held[HELD];
static unsigned turn; /* if all entries are in use, held[turn % HELD] is closed next */

static void release(struct held *h)
{
	if (h->tid)
		close(h->fd);
	h->tid = 0;
}

void remote_release(const struct tracer *t, pid_t tid)
{
	for (unsigned i = 0; i < HELD; i++)
		if (held[i].tid == tid || !tasks_find(&t->tasks, held[i].tid))
			release(&held[i]);
}

void remote_release_all(void)
{
	for (unsigned i = 0; i < HELD; i++)
		release(&held[i]);
}

int remote_open(pid_t tid)
{
	char path[40];
	struct held *h = NULL;
	for (unsigned i = 0; i < HELD; i++) {
		if (held[i].tid == tid)
			return held[i].fd;
		if (!held[i].tid)
			h = &held[i];
	}
	if (!h)
		release(h = &held[turn++ % HELD]);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	h->fd = open(path, O_RDWR | O_CLOEXEC);
	h->tid = h->fd < 0 ? 0 : tid;
	return h->fd < 0 ? -errno : h->fd;
}

int remote_read(pid_t tid, uint64_t addr, void *buf, size_t n)
{
	pid_t pid = tid;
	ssize_t got = mem_read_process(&pid, addr, buf, n);
	return got == (ssize_t)n ? 0 : -EFAULT;
}

/* Writes with ptrace(2) if writing to the file fails. Half of a patch would make the program crash. */
static int poke(pid_t tid, uint64_t addr, const unsigned char *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		uint64_t at = (addr + done) & ~(uint64_t)7;
		size_t from = addr + done - at;
		size_t len = n - done < 8 - from ? n - done : 8 - from;
		errno = 0;
		unsigned long word = (unsigned long)ptrace_retry(PTRACE_PEEKTEXT, tid, at, NULL);
		if (errno != 0)
			return -EFAULT;
		memcpy((unsigned char *)&word + from, bytes + done, len);
		if (ptrace_retry(PTRACE_POKETEXT, tid, at, word) < 0)
			return -EFAULT;
		done += len;
	}
	return 0;
}

int remote_write_by(int fd, pid_t tid, uint64_t addr, const void *buf, size_t n)
{
	if (fd >= 0 && pwrite(fd, buf, n, (off_t)addr) == (ssize_t)n)
		return 0;
	return poke(tid, addr, buf, n);
}

int remote_write(pid_t tid, uint64_t addr, const void *buf, size_t n)
{
	return remote_write_by(remote_open(tid), tid, addr, buf, n);
}

/* Is a timer running that would interrupt a blocking wait? */
static bool is_woken(void)
{
	struct itimerval v;
	return getitimer(ITIMER_REAL, &v) == 0 && (v.it_value.tv_sec || v.it_value.tv_usec);
}

/* How long sctrace waits for a thread in the agent. It needs far less, unless the program has changed the agent. */
#define PATIENCE_NS  (2 * NSEC_PER_SEC)
#define IMPATIENT_NS (NSEC_PER_SEC / 10)

/*
 * Has the task ended without a status to wait for? The status of a process's first thread comes only after all other
 * threads of the process have been waited for (ptrace(2), "Death under ptrace"), and sctrace may not have waited for
 * them yet. If that is not known, the task counts as ended only if it was interrupted and still has not stopped
 * (`overdue`). A living task must not count as ended: it would run into the trap of the agent's code, and the SIGTRAP
 * would end the program.
 */
static bool has_ended(pid_t tid, bool overdue)
{
	int ended = proc_has_ended(tid);
	return ended > 0 || (ended < 0 && overdue);
}

#define LOOK_NS (NSEC_PER_SEC / 1000)

/* Waits for the next stop or the end. Returns 0; -ESRCH if there will be none; -EFAULT if only an interrupt made the thread stop. */
static int await_stop(struct tracer *t, const struct task *task, int *status)
{
	struct patch *p = patch_of(t);
	uint64_t now = clock_ns();
	uint64_t until = now + (p->code_changed ? IMPATIENT_NS : PATIENCE_NS);
	uint64_t look = now + LOOK_NS;
	bool asked = false;
	for (;;) {
		pid_t tid = tracer_spin(t, task->tid, status, NULL);
		if (tid == 0)
			tid = tracer_wait(t, task->tid, status, is_woken() ? 0 : WNOHANG, NULL);
		if (tid > 0)
			break;
		if (tid == -ECHILD || t->failed)
			return -ESRCH;
		now = clock_ns();
		if (now > look && has_ended(task->tid, asked && now > until + PATIENCE_NS))
			return -ESRCH;
		if (now > look)
			look = now + LOOK_NS;
		if (!asked && now > until) {
			ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL);
			asked = p->code_changed = true;
		}
		if (tid == 0)
			clock_sleep_ns(20000);
	}
	return asked && WIFSTOPPED(*status) && *status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(*status) == SIGTRAP
		       ? -EFAULT
		       : 0;
}

int remote_next_stop(struct tracer *t, struct task *task, int *status)
{
	int err = await_stop(t, task, status);
	if (err == 0 && (!WIFSTOPPED(*status) || *status >> 16 == PTRACE_EVENT_EXIT)) {
		tracer_keep_status(t, task->tid, *status);
		err = -ESRCH;
	}
	if (err == -ESRCH)
		task->stopped = false;
	return err;
}

int remote_interrupt(struct tracer *t, const struct task *task, uint64_t limit_ns, int *status)
{
	const uint64_t until = clock_ns() + limit_ns;
	pid_t tid;
	if (ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL) < 0)
		return 0;
	while ((tid = tracer_wait(t, task->tid, status, WNOHANG, NULL)) == 0 || tid == -EINTR) {
		/* When a first thread has ended, it has no wait status until all others have ended (ptrace(2)). */
		if (proc_has_ended(task->tid) > 0)
			return 0;
		if (clock_ns() > until || t->failed)
			return -ETIMEDOUT;
		clock_sleep_ns(50000);
	}
	return tid > 0 ? 1 : tid == -ECHILD ? 0 : tid;
}

/* A limit on the number of stops before the expected one, larger than any code of the engine needs. */
#define STOPS_MAX 64

/*
 * Signals that faults raise are not blocked while the task runs code of the engine: if they were, the kernel would end the program
 * at a fault. If the task has stopped at such a signal that a process has sent (kill(2)), this function blocks the signal until
 * that code ends, and sends it again, so that the program gets it afterwards. A process cannot send SI_USER in the name of another
 * (rt_sigqueueinfo(2)), so the signal then carries SI_QUEUE. Returns false for other stops.
 */
static bool put_off_signal(const struct task *task, int status)
{
	siginfo_t si;
	uint64_t mask;
	const int sig = WSTOPSIG(status);
	if (status >> 16 || (sig != SIGSEGV && sig != SIGBUS && sig != SIGILL) ||
	    ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) < 0 || si.si_code > 0 ||
	    ptrace_retry(PTRACE_GETSIGMASK, task->tid, sizeof(mask), &mask) < 0)
		return false;
	mask |= SIGBIT(sig);
	si.si_code = si.si_code == SI_USER || si.si_code == SI_TKILL ? SI_QUEUE : si.si_code;
	return ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(mask), &mask) >= 0 &&
	       syscall(SYS_rt_tgsigqueueinfo, task->proc->pid, task->tid, sig, &si) == 0;
}

/* Waits until the task has stopped at the trap. If a group-stop comes first, the task joins it at its next stop. */
static int wait_for_trap(struct tracer *t, struct task *task)
{
	for (int i = 0; i < STOPS_MAX; i++) {
		int status;
		int err = remote_next_stop(t, task, &status);
		if (err < 0)
			return err;
		if (status >> 8 == SIGTRAP)
			return 0;
		if (status >> 16 == 0 && !put_off_signal(task, status)) /* a fault in the agent's code */
			return -EFAULT;
		ptrace_retry(PTRACE_CONT, task->tid, NULL, NULL);
	}
	return -EFAULT;
}

void remote_set_call(struct cpu_regs *r, uint64_t nr, const uint64_t args[6])
{
	r->CPU_RESTARTED = CPU_NO_CALL;
	r->CPU_NR = nr;
	cpu_set_args(r, args);
}

int remote_run(struct tracer *t, struct task *task, struct cpu_regs *r, const uint64_t *known_mask)
{
	pid_t tid = task->tid;
	uint64_t mask = known_mask ? *known_mask : 0;
	/* All signals are blocked except the trap itself, and faults. */
	uint64_t all = ~(SIGBIT(SIGTRAP) | SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL));
	r->CPU_RESTARTED = CPU_NO_CALL;
	if ((!known_mask && ptrace_retry(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0) ||
	    ptrace_retry(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0 || cpu_set(tid, r) < 0 ||
	    ptrace_retry(PTRACE_CONT, tid, NULL, NULL) < 0)
		return -ESRCH;
	int err = wait_for_trap(t, task);
	if (err == -ESRCH)
		return err;
	ptrace_retry(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
	if (cpu_get(tid, r) < 0)
		return -ESRCH;
	if (err == 0)
		cpu_leave_trap(r);
	return err;
}

int remote_call_to_trap(struct tracer *t, struct task *task, struct cpu_regs *r, uint64_t nr, const uint64_t args[6])
{
	remote_set_call(r, nr, args);
	r->CPU_IP = AGENT_AT(agent_remote);
	return remote_run(t, task, r, NULL);
}

/*
 * Waits for the next syscall-stop. Returns -EFAULT if the task does not reach it. All signals are blocked, so a signal
 * shows that the code has faulted, because the program has replaced it.
 */
static int wait_for_syscall_stop(struct tracer *t, struct task *task)
{
	int status;
	for (int i = 0; i < STOPS_MAX; i++) {
		if (ptrace_retry(PTRACE_SYSCALL, task->tid, NULL, NULL) < 0)
			return -ESRCH;
		int err = remote_next_stop(t, task, &status);
		if (err < 0 || status >> 8 == (SIGTRAP | 0x80))
			return err;
		if (status >> 16 == 0)
			break;
	}
	return -EFAULT;
}

/* --- excursions --- */

bool remote_restart_pending(const struct cpu_regs *r)
{
	return (int64_t)r->CPU_RESTARTED >= 0 && IS_RESTART_ERROR((int64_t)-r->CPU_RESULT);
}

/* Makes an interrupted call again, as the kernel does if there is no handler to run (signal(7)). */
static void restart_call(struct cpu_regs *r)
{
	if (!remote_restart_pending(r))
		return;
	r->CPU_IP -= CPU_CALL_SIZE;
	r->CPU_NR = (int64_t)r->CPU_RESULT == -ERESTART_RESTARTBLOCK ? SYS_restart_syscall : r->CPU_RESTARTED;
}

static int write_back(const struct task *task, uint64_t at, struct cpu_regs r, uint64_t mask)
{
	restart_call(&r);
	struct agent_back b = {.mask = mask, .flags = r.CPU_FLAGS, .ip = r.CPU_IP};
	_Static_assert(offsetof(struct cpu_regs, CPU_BACK_LAST) + 8 == sizeof(b.regs), "in the order of agent.S");
	memcpy(b.regs, &r, sizeof(b.regs));
	return remote_write(task->tid, at, &b, sizeof(b));
}

/* Called if the thread did not reach the expected address: restores the registers that it had before the excursion. */
static int restore_position(const struct task *task, const struct excursion *d)
{
	ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(d->mask), &d->mask);
	return cpu_set(task->tid, &d->saved) < 0 ? -ESRCH : -EFAULT;
}

/* Resumes the task to the entry of the call that ends at `ip`, or of the last call, whose registers are `r`. */
static int excursion_to(struct tracer *t, struct task *task, const struct excursion *d, uint64_t ip, struct cpu_regs *r)
{
	for (int i = 0; i < STOPS_MAX; i++) {
		int status;
		if (ptrace_retry(PTRACE_SYSCALL, task->tid, NULL, NULL) < 0)
			return -ESRCH;
		int err = remote_next_stop(t, task, &status);
		if (err == -ESRCH)
			return err;
		if (err < 0 || (status >> 16 == 0 && !put_off_signal(task, status))) {
			if (err < 0 || status >> 8 != (SIGTRAP | 0x80))
				break;
			if (cpu_get(task->tid, r) < 0)
				return -ESRCH;
			if (r->CPU_IP == ip || r->CPU_IP == d->masked)
				return r->CPU_IP == ip && ip != d->masked;
		}
	}
	return restore_position(task, d);
}

/*
 * Returns `r`. If a request has failed with -ESRCH, marks the task as running, so that the tracer does not resume it.
 * The excursion's code in the task restores the task's state by itself.
 */
static int note_lost(struct task *task, int r)
{
	if (r == -ESRCH)
		task->stopped = false;
	return r;
}

int remote_excursion(struct tracer *t, struct task *task, struct excursion *d, struct cpu_regs *r)
{
	const uint64_t all = ~(SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL));
	pid_t tid = task->tid;
	if (cpu_get(tid, &d->saved) < 0 || ptrace_retry(PTRACE_GETSIGMASK, tid, sizeof(d->mask), &d->mask) < 0)
		return note_lost(task, -ESRCH);
	if (write_back(task, d->back, d->saved, d->mask) < 0)
		return -EFAULT;
	r->CPU_IP = d->start;
	r->CPU_RESTARTED = CPU_NO_CALL;
	/* The order of these requests matters: if sctrace dies between them, the thread still restores its state. */
	if (cpu_set(tid, r) < 0 || ptrace_retry(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0)
		return note_lost(task, -ESRCH);
	return note_lost(task, excursion_to(t, task, d, d->halt ? d->halt : d->masked, r));
}

int remote_excursion_on(struct tracer *t, struct task *task, struct excursion *d, struct cpu_regs *r)
{
	return note_lost(task, excursion_to(t, task, d, d->masked, r));
}

int remote_excursion_end(struct tracer *t, struct task *task, const struct excursion *d)
{
	int status;
	/* In an event-stop, the kernel checks whether the thread's own call must be restarted. */
	do {
		if (ptrace_retry(PTRACE_INTERRUPT, task->tid, NULL, NULL) < 0 ||
		    ptrace_retry(PTRACE_CONT, task->tid, NULL, NULL) < 0)
			return note_lost(task, -ESRCH);
		const int err = remote_next_stop(t, task, &status);
		if (err == -ESRCH)
			return note_lost(task, err);
		if (err < 0)
			break;
	} while (put_off_signal(task, status));
	return restore_position(task, d) == -ESRCH ? note_lost(task, -ESRCH) : 0;
}

int remote_excursion_call(struct tracer *t, struct task *task, uint64_t at, struct cpu_regs *r, uint64_t nr,
			  const uint64_t args[6])
{
	remote_set_call(r, nr, args);
	struct excursion d = {.start = at,
			      .masked = at + (uint64_t)(agent_masked_call - agent_call),
			      .back = at + (uint64_t)(agent_back_call - agent_call)};
	int err = remote_excursion(t, task, &d, r);
	return err < 0 ? err : remote_excursion_end(t, task, &d);
}

/* Is the thread at a call that continues, if it was interrupted, as restart_syscall(2)? */
static bool may_continue(const struct task *task, const struct cpu_regs *r)
{
	unsigned char code[CPU_CALL_SIZE];
	const uint64_t nr = r->CPU_NR;
	return (nr == SYS_nanosleep || nr == SYS_clock_nanosleep || nr == SYS_futex) &&
	       remote_read(task->tid, r->CPU_IP, code, sizeof(code)) == 0 && cpu_is_call(code);
}

int remote_settle(struct tracer *t, struct task *task)
{
	struct cpu_regs r, entry;
	struct excursion d = {.mask = 0};
	struct call at;
	const uint64_t all = ~0ull;
	const pid_t tid = task->tid;
	const bool entered = CPU_RESTARTS_EARLY && arm_read_stop(tid, &at) == ARM_STOP_ENTRY;
	if (!CPU_RESTARTS_EARLY || task->listening || cpu_get(tid, &r) < 0 || (!entered && !may_continue(task, &r)))
		return 0;
	r.CPU_IP -= entered ? CPU_CALL_SIZE : 0;
	if (ptrace_retry(PTRACE_GETSIGMASK, tid, sizeof(d.mask), &d.mask) < 0 ||
	    ptrace_retry(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0)
		return note_lost(task, -ESRCH);
	/* The kernel sets the number before the call, which is then skipped. */
	int err = entered ? 0 : wait_for_syscall_stop(t, task);
	if (err == 0 && cpu_get(tid, &entry) == 0) {
		r.CPU_NR = entry.CPU_NR;
		entry.CPU_RESTARTED = CPU_NO_CALL;
		cpu_set(tid, &entry);
		err = wait_for_syscall_stop(t, task);
	}
	r.CPU_RESTARTED = CPU_NO_CALL;
	d.saved = r;
	if (err < 0)
		return note_lost(task, err == -ESRCH ? err : restore_position(task, &d));
	task->mid_call = false;
	if (cpu_set(tid, &r) < 0)
		return note_lost(task, -ESRCH);
	return remote_excursion_end(t, task, &d);
}

int64_t remote_call(struct tracer *t, struct task *task, uint64_t nr, const uint64_t args[6])
{
	struct cpu_regs saved, r;
	uint64_t mask = 0;
	const uint64_t all = ~0ull;
	pid_t tid = task->tid;
	if (cpu_get(tid, &saved) < 0 || ptrace_retry(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0)
		return -ESRCH;
	r = saved;
	r.CPU_IP = AGENT_AT(agent_call);
	remote_set_call(&r, nr, args);
	/* The end of the call is its second syscall-stop. A trap would raise SIGTRAP even in a program that ignores it. */
	if (write_back(task, AGENT_AT(agent_back_call), saved, mask) < 0)
		return -EFAULT;
	if (cpu_set(tid, &r) < 0 || ptrace_retry(PTRACE_SETSIGMASK, tid, sizeof(all), &all) < 0)
		return -ESRCH;
	/* In a seccomp stop, the task is at the entry of a call. The syscall-stop at that call's end comes first. */
	struct call at;
	bool at_entry = patch_of(t)->arming == ARM_FILTER && arm_read_stop(tid, &at) != ARM_STOP_NONE;
	int err = at_entry ? wait_for_syscall_stop(t, task) : 0;
	for (int i = 0; err == 0 && i < 2; i++)
		err = wait_for_syscall_stop(t, task);
	if (err == -ESRCH)
		return err;
	cpu_get(tid, &r);
	ptrace_retry(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
	cpu_set(tid, &saved);
	return err < 0 ? err : (int64_t)r.CPU_RESULT;
}
