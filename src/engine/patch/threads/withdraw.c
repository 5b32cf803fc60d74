/* SPDX-License-Identifier: MIT */
#include "engine/patch/threads/threads.h"

#include "base/clock.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/tracer.h"
#include "tracee/proc.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/*
 * How long sctrace waits for a thread to stop, and how long a call is delayed altogether. A parent of vfork(2) does not
 * stop before its child has called execve(2) or ended.
 */
#define STOP_NS              (NSEC_PER_SEC / 10)
#define RETRY_NS             (NSEC_PER_SEC / 5000)
#define WITHDRAW_PATIENCE_NS (10 * NSEC_PER_SEC)

/* Threads that were stopped here, and must be resumed. */
struct halted {
	struct task **v;
	size_t n, cap;
};

/* May a thread that has stopped with `status` be moved? False inside of clone(2), or if a forced SIGSYS comes first. */
static bool is_movable(const struct patch *p, const struct task *task, int status)
{
	struct cpu_regs r;
	siginfo_t si;
	const int event = status >> 16;
	if (event == PTRACE_EVENT_EXIT)
		return true;
	if (status >> 8 == SIGSYS && ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) == 0 &&
	    dispatch_is_forced(task, &si, &r))
		return false;
	/* In attached processes, a signal handler may return to a stub (STEPOUT_HANDLER). */
	bool returns = p->watchdog_fd >= 0 && patch_task_of(task) && patch_task_of(task)->moved_frames;
	return (event == 0 || event == PTRACE_EVENT_STOP || event == PTRACE_EVENT_SECCOMP) &&
	       !dispatch_is_pending(task->tid) && !returns;
}

/* Stops a running thread. If it stops for another reason, the loop handles that. Returns false if it cannot be moved. */
static bool halt(struct patch *p, struct task *task, struct halted *halted)
{
	int status;
	int got = remote_interrupt(&p->t, task, STOP_NS, &status);
	if (got <= 0)
		return got == 0;
	if (status >> 16 != PTRACE_EVENT_STOP || WSTOPSIG(status) != SIGTRAP || task->fresh) {
		tracer_keep_status(&p->t, task->tid, status);
		return !WIFSTOPPED(status) || (!task->fresh && is_movable(p, task, status));
	}
	task->stopped = true;
	vec_push(halted, task);
	return is_movable(p, task, status);
}

/*
 * Moves a stopped thread out of the engine's code. If `stay` is true, the engine's code stays after all, and the thread is
 * moved from the middle of a jump, where its native address would be, to the instruction that has moved from there.
 */
static bool leave(struct patch *p, struct task *task, bool stay)
{
	struct cpu_regs r;
	if (!stay)
		stepout(p, task, STEPOUT_PROGRAM);
	if (cpu_get(task->tid, &r) < 0)
		return true;                     /* it has ended */
	if (stay && !remote_restart_pending(&r)) /* a restart begins at the call, where the jump begins */
		site_follow_moved(task);
	return !stepout_needed(task, r.CPU_IP);
}

/* Calls leave() for all other threads of the image. */
static bool leave_all(struct patch *p, const struct task *task, bool stay)
{
	size_t i = 0;
	struct task *x;
	bool out = true;
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x != task && x->proc && image_of(x) == image_of(task) && !x->exiting)
			out &= leave(p, x, stay);
	return out;
}

/* Is a child of vfork(2) running in the image? Its parent cannot stop. */
static bool is_in_vfork(const struct patch *p, const struct task *task)
{
	size_t i = 0;
	const struct task *x;
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x->proc && image_of(x) == image_of(task) && thread_of(x)->vfork_parent)
			return true;
	return false;
}

/* Stops all other threads of the image. Returns false if one of them cannot be moved out of the engine's code yet. */
static bool halt_others(struct patch *p, const struct task *task, struct halted *halted)
{
	size_t i = 0;
	struct task *x;
	bool out = true;
	while (out && (x = map_next(&p->t.tasks.by_tid, &i, NULL))) {
		if (x == task || !x->proc || image_of(x) != image_of(task))
			continue;
		const struct wait_status *taken = tracer_taken_status(&p->t, x->tid);
		out = taken        ? !WIFSTOPPED(taken->status) || (!x->fresh && is_movable(p, x, taken->status))
		      : x->stopped ? is_movable(p, x, PTRACE_EVENT_STOP << 16)
				   : halt(p, x, halted);
	}
	return out;
}

/* Unmaps the engine's memory. All threads of the image are stopped outside of it. */
static void clean(struct patch *p, struct task *task)
{
	size_t i = 0;
	struct task *x;
	struct image *img = image_of(task);
	struct areas areas = {0};
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x->proc && image_of(x) == img)
			arm_task(p, x, false);
	site_restore_all(task);
	sigkill_guard_remove(p, task, false);
	setup_areas(img, &areas);
	site_free_all(p, img);
	image_fall_back(p, task, "it has mapped memory at the addresses of the agent");
	waits_end(p, img);
	if (task->stopped)
		img->cleaned = maps_unmap(p, task, areas.v, areas.n);
	vec_free(&areas);
}

/* Moves the task back to before its call, so that it stops there again. */
static void repeat(struct task *task, const struct call *call, struct cpu_regs r, uint64_t after)
{
	r.CPU_IP = after - CPU_CALL_SIZE;
	r.CPU_NR = (unsigned long long)call->nr;
	r.CPU_RESTARTED = CPU_NO_CALL;
	patch_task_of(task)->redone = false;
	cpu_set(task->tid, &r);
}

bool withdraw_before(struct patch *p, struct task *task, const struct call *call, struct cpu_regs *r)
{
	struct patch_task *pt = patch_task_of(task);
	struct halted halted = {0};
	const uint64_t back = pt->redone ? CPU_CALL_SIZE : 0, args[6] = CPU_ARGS(r);
	if (p->t.detaching || !ranges_meet(task, call, args))
		return false;
	const struct site *s = site_of_stub(image_of(task), r->CPU_IP + back);
	const uint64_t now = clock_ns(), after = s ? s->ip : 0;
	pt->delayed_ns = pt->delayed_ns ? pt->delayed_ns : now;
	bool waits = is_in_vfork(p, task);
	if (waits)
		clock_sleep_ns(RETRY_NS);
	bool out = !waits && halt_others(p, task, &halted);
	if (out && !leave_all(p, task, false)) {
		leave_all(p, task, true);
		out = false;
	}
	if (out && s) { /* site_free_all() frees the site */
		r->CPU_IP = after - back;
		cpu_set(task->tid, r);
	}
	if (out)
		clean(p, task);
	for (size_t i = 0; i < halted.n; i++)
		tracer_resume(&p->t, halted.v[i]);
	vec_free(&halted);
	/* If the engine's memory cannot be unmapped in time, the call fails (ranges_hide()). */
	bool again = !out && now - pt->delayed_ns < WITHDRAW_PATIENCE_NS;
	if (again)
		repeat(task, call, *r, r->CPU_IP + back);
	else
		pt->delayed_ns = 0;
	return again || !task->stopped;
}

bool core_is_dumped_by(int sig)
{
	const uint64_t signals = SIGBIT(SIGABRT) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGILL) | SIGBIT(SIGQUIT) |
				 SIGBIT(SIGSEGV) | SIGBIT(SIGSYS) | SIGBIT(SIGTRAP) | SIGBIT(SIGXCPU) | SIGBIT(SIGXFSZ);
	return signals & SIGBIT(sig);
}

/* How long sctrace waits for a thread to stop. The kernel's dump waits for all threads as well, but without a limit. */
#define CORE_PATIENCE_NS NSEC_PER_SEC

/* Removes the wait status from the list, so that the stop loop does not handle it. */
static void forget_status(struct tracer *t, struct wait_status *w)
{
	struct wait_status *end = t->waits.taken.v + --t->waits.taken.n;
	memmove(w, w + 1, (size_t)(end - w) * sizeof(*w));
}

/* Did PTRACE_INTERRUPT stop the task? A call that waits under ptrace first ends with a restart error. */
static bool is_interrupted(const struct task *task, int status)
{
	struct cpu_regs r;
	return WIFSTOPPED(status) &&
	       (status >> 16 == PTRACE_EVENT_STOP ||
		(status >> 8 == (SIGTRAP | 0x80) && cpu_get(task->tid, &r) == 0 && remote_restart_pending(&r)));
}

/*
 * The thread has stopped with `status`. Moves it out of the agent, so that it is before or after its call. Returns true
 * if it had stopped for a request to sctrace (a forced SIGSYS), which needs no other handling.
 */
static bool move_out(struct patch *p, struct task *task, int status)
{
	int event = status >> 16;
	bool asked = dispatch_undo(task, status);
	/* At the other ptrace events, the thread is in a call that creates a child or ends the thread. */
	if (event == 0 || event == PTRACE_EVENT_STOP || event == PTRACE_EVENT_SECCOMP)
		stepout(p, task, STEPOUT_CORE);
	return asked;
}

/*
 * Stops a thread and moves it out of the agent. The thread is not resumed, because the signal that dumps core will end
 * it. A stop for another reason is left to the stop loop. Returns false if the thread may still be running.
 */
static bool stop_thread(struct patch *p, struct task *task)
{
	struct wait_status *taken = tracer_taken_status(&p->t, task->tid);
	int status;
	if (taken && move_out(p, task, taken->status)) {
		task->stopped = true;
		forget_status(&p->t, taken);
	}
	if (task->stopped && !taken)
		stepout(p, task, STEPOUT_CORE);
	if (taken || task->stopped)
		return true;
	int got = remote_interrupt(&p->t, task, CORE_PATIENCE_NS, &status);
	if (got > 0) {
		bool interrupted = is_interrupted(task, status);
		task->stopped = move_out(p, task, status) || interrupted;
		if (!task->stopped)
			tracer_keep_status(&p->t, task->tid, status);
	}
	return got >= 0;
}

/* Stops the other threads and moves them out of the agent. Returns false if one of them may still be running. */
static bool step_others_out(struct patch *p, const struct task *task)
{
	size_t i = 0;
	struct task *x;
	bool still = true;
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL))) {
		if (x != task && x->proc == task->proc)
			still &= stop_thread(p, x);
	}
	return still;
}

static bool make_call(struct patch *p, struct task *task, uint64_t nr, uint64_t addr, uint64_t size, uint64_t advice)
{
	struct cpu_regs r;
	return cpu_get(task->tid, &r) == 0 &&
	       remote_call_to_trap(&p->t, task, &r, nr, (const uint64_t[6]){addr, size, advice}) == 0;
}

/* Unmaps the engine's memory, except the page with the code for that, which is excluded from the dump. */
static bool unmap_agent(struct patch *p, struct task *task)
{
	struct areas areas = {0};
	setup_areas(image_of(task), &areas);
	bool ok = make_call(p, task, SYS_madvise, AGENT_CODE, AGENT_CODE_SIZE, MADV_DONTDUMP);
	for (size_t i = 0; ok && i < areas.n; i++)
		ok = areas.v[i].addr == AGENT_CODE ||
		     make_call(p, task, SYS_munmap, areas.v[i].addr, areas.v[i].size, 0);
	vec_free(&areas);
	return ok;
}

/*
 * The kernel dumps the code of a file if that code was written to, and otherwise only the ELF header (vma_dump_size()
 * in fs/coredump.c). The engine has written to this code, so the code is excluded from the dump. The vDSO is always
 * dumped.
 */
static void keep_code_out(struct patch *p, struct task *task)
{
	const struct image *img = image_of(task);
	maps_read(task);
	for (size_t i = 0; i < img->mappings.n; i++) {
		const struct mapping *m = &img->mappings.v[i];
		uint64_t lo = m->lo + (m->file_offset ? 0 : maps_page());
		if (m->patchable && m->ino && lo < m->hi &&
		    !make_call(p, task, SYS_madvise, lo, m->hi - lo, MADV_DONTDUMP))
			return;
	}
}

void core_prepare(struct patch *p, struct task *task, const siginfo_t *si)
{
	struct image *img = image_of(task);
	struct cpu_regs saved;
	siginfo_t again = *si;
	struct proc_status s;
	if (!image_has_agent(img))
		return;
	stepout(p, task, STEPOUT_CORE);
	/* The agent stays if another process uses it, or if the program has a filter, which might forbid unmapping. */
	if (img->refs > 1 || !step_others_out(p, task) || img->sigsys.sealed || cpu_get(task->tid, &saved) < 0)
		return;
	proc_status(task->tid, &s);
	site_restore_all(task);
	keep_code_out(p, task);
	img->cleaned = unmap_agent(p, task);
	img->state = IMAGE_FALLBACK;
	cpu_set(task->tid, &saved);
	ptrace_retry(PTRACE_SETSIGINFO, task->tid, NULL, &again);
	/*
	 * The mask from /proc is used, not the one that remote_run() restores: in sigsuspend(2), ptrace(2) gives the
	 * mask that will be in force after the call, and that mask may block the signal.
	 */
	ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(s.blocked), &s.blocked);
}
