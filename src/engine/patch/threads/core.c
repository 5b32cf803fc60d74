#include "engine/patch/threads/core.h"

#include "base/clock.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/maps.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/remote/unmap.h"
#include "engine/patch/threads/dispatch.h"
#include "engine/patch/threads/stepout.h"
#include "engine/ptrace/wait.h"
#include "tracee/proc.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

bool core_is_dumped_by(int sig)
{
	const uint64_t signals = SIGBIT(SIGABRT) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGILL) | SIGBIT(SIGQUIT) |
				 SIGBIT(SIGSEGV) | SIGBIT(SIGSYS) | SIGBIT(SIGTRAP) | SIGBIT(SIGXCPU) | SIGBIT(SIGXFSZ);
	return signals & SIGBIT(sig);
}

/* How long sctrace waits for a thread to stop. The kernel's dump waits for all threads as well, but without a limit. */
#define PATIENCE_NS NSEC_PER_SEC

/* Removes the wait status from the list, so that the stop loop does not handle it. */
static void forget_status(struct tracer *t, struct wait_status *w)
{
	struct wait_status *end = t->waits.taken.v + --t->waits.taken.n;
	memmove(w, w + 1, (size_t)(end - w) * sizeof(*w));
}

/* Did PTRACE_INTERRUPT stop the task? A call that waits under ptrace first ends with a restart error. */
static bool is_interrupted(const struct task *task, int status)
{
	struct user_regs_struct r;
	return WIFSTOPPED(status) &&
	       (status >> 16 == PTRACE_EVENT_STOP ||
		(status >> 8 == (SIGTRAP | 0x80) && ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) == 0 &&
		 remote_restart_pending(&r)));
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
	int got = remote_interrupt(&p->t, task, PATIENCE_NS, &status);
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
	struct user_regs_struct r;
	return ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) == 0 &&
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
 * in fs/coredump.c). The engine has written to this code, so the code is excluded from the dump.
 */
static void keep_code_out(struct patch *p, struct task *task)
{
	const struct image *img = image_of(task);
	maps_read(task);
	for (size_t i = 0; i < img->mappings.n; i++) {
		const struct mapping *m = &img->mappings.v[i];
		uint64_t lo = m->lo + (m->file_offset ? 0 : AGENT_PAGE);
		if (m->patchable && lo < m->hi && !make_call(p, task, SYS_madvise, lo, m->hi - lo, MADV_DONTDUMP))
			return;
	}
}

void core_prepare(struct patch *p, struct task *task, const siginfo_t *si)
{
	struct image *img = image_of(task);
	struct user_regs_struct saved;
	siginfo_t again = *si;
	struct proc_status s;
	if (img->state != IMAGE_READY)
		return;
	stepout(p, task, STEPOUT_CORE);
	/* The agent stays if another process uses it, or if the program has a filter, which might forbid unmapping. */
	if (img->refs > 1 || !step_others_out(p, task) || img->sigsys.sealed ||
	    ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &saved) < 0)
		return;
	proc_status(task->tid, &s);
	site_restore_all(task);
	keep_code_out(p, task);
	img->cleaned = unmap_agent(p, task);
	img->state = IMAGE_FALLBACK;
	ptrace_retry(PTRACE_SETREGS, task->tid, NULL, &saved);
	ptrace_retry(PTRACE_SETSIGINFO, task->tid, NULL, &again);
	/*
	 * The mask from /proc is used, not the one that remote_run() restores: in sigsuspend(2), ptrace(2) gives the
	 * mask that will be in force after the call, and that mask may block the signal.
	 */
	ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(s.blocked), &s.blocked);
}
