#include "engine/patch/life/exec.h"

#include "engine/patch/arm/arm.h"
#include "engine/patch/arm/sud.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/plan.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/unattended.h"
#include "engine/patch/life/children.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/threads/sigkill_guard.h"
#include "engine/patch/threads/signals.h"
#include "engine/patch/threads/stepout.h"
#include "engine/ptrace/calls.h"
#include "tracee/proc.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#define USER32_CS 0x23 /* arch/x86/include/asm/segment.h */

/* Notes which of SIGSYS, SIGSEGV and SIGBUS the program ignores at its start, because execve(2) keeps that. */
static void note_ignored(struct task *task, const struct proc_status *s)
{
	const uint64_t action[ACTION_WORDS] = {[ACTION_HANDLER] = 1 /* SIG_IGN */};
	if (s->ignored & SIGBIT(SIGSYS) && !image_actions_of(task)->guarded)
		image_note_sigsys(task, action);
	image_note_faults(task, s);
}

bool exec_enter_image(struct patch *p, struct task *task, uint64_t at, const struct user_regs_struct *r,
		      const uint64_t *mask, struct buf *why)
{
	if (!why->len) {
		int err = setup_image(p, task, at, r, mask);
		if (err == 0 && p->watchdog_fd >= 0)
			sigkill_guard_install(p, task);
		if (err == -ESRCH || !task->stopped) {
			/* The task may still run the agent's code, which no other thread may overwrite now. */
			if (err < 0)
				image_of(task)->state = IMAGE_FALLBACK;
			task->stopped = false;
			return false;
		}
		ptrace_retry(PTRACE_SETREGS, task->tid, NULL, r);
		if (err == -E2BIG)
			buf_adds(why, "its address-space limit (ulimit -v) is too small for the agent");
		else if (err == -EEXIST)
			buf_adds(why,
				 "the addresses of the agent are in use, by the program itself or by the agent of an "
				 "earlier sctrace");
		else if (err < 0)
			buf_addf(why, "the agent cannot be mapped: %s", strerror(-err));
	}
	p->images++;
	if (why->len)
		image_fall_back(p, task, buf_str(why));
	return true;
}

/* Sets `why` if the agent must not be put into a new image. */
static void find_obstacle(const struct patch *p, const struct user_regs_struct *r, const struct proc_status *s,
			  struct buf *why)
{
	if (r->cs == USER32_CS)
		buf_adds(why, "it is a 32-bit program");
	else if (setup_is_refused(s, why))
		;
	else if (arm_is_filtered(p, s))
		buf_adds(why, "it inherited a seccomp filter from a traced program");
}

/* Puts the agent into the image of a stopped task. `s` is its /proc/PID/status, and `r` holds its first registers. */
static void prepare_attended(struct patch *p, struct task *task, const struct user_regs_struct *r,
			     const struct proc_status *s, struct buf *why)
{
	struct image *img = image_of(task);
	if (!exec_enter_image(p, task, r->rip, r, s->has_signals ? &s->blocked : NULL, why) || why->len)
		return;
	img->start.observed = true;
	img->start.entry = r->rip;
	note_ignored(task, s);
	plan_apply_loader(p, task, r->rip, NULL);
	record_admit_at(p, task, r->fs_base);
	arm_task(p, task, true);
}

/* Puts the agent into a new image before its first instruction, without a stop if possible. */
static void prepare_image(struct patch *p, struct task *task, struct user_regs_struct *r)
{
	struct buf why = {0};
	struct proc_status s;
	unsigned page;
	proc_status(task->tid, &s);
	if (!s.has_signals)
		image_note_mask(p, task);
	else if (p->arming == ARM_SUD)
		image_note_blocked(task, s.blocked & SIGBIT(SIGSYS));
	image_of(task)->start.no_traps = s.ignored & SIGBIT(SIGTRAP);
	find_obstacle(p, r, &s, &why);
	/* execve(2) has returned, and must not look like a call that the kernel restarts. */
	r->rax = 0;
	r->orig_rax = (unsigned long long)-1;
	plan_begin(p, task, &s, r->rip);
	if (!why.len && unattended_start(p, task, r, &s, &page)) {
		p->images++;
		note_ignored(task, &s);
		if (p->record)
			record_adopt(p, task, page);
	} else
		prepare_attended(p, task, r, &s, &why);
	buf_free(&why);
}

enum tracer_verdict exec_signal(struct tracer *t, struct task *task, const siginfo_t *si)
{
	struct patch *p = patch_of(t);
	struct image *img = image_of(task);
	struct user_regs_struct r;
	/*
	 * A forced SIGSYS comes after setup, whose last call arms the thread. The program has no handlers yet, so other
	 * signals can be delivered while setup runs.
	 */
	bool fault = si->si_code > 0 && (si->si_signo == SIGTRAP || si->si_signo == SIGSEGV || si->si_signo == SIGBUS ||
					 si->si_signo == SIGILL);
	if (img && si->si_signo == SIGSYS && si->si_code == SUD_SIGSYS)
		img->setup.hi = 0;
	if (!img || !img->setup.hi || ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) < 0 ||
	    !unattended_runs(task, &r))
		return signals_stop(t, task, si);
	if (!fault)
		return STOP_PASS;
	record_leave(p, task);
	if (!unattended_undo(p, task, &r))
		return STOP_RESUMED;
	p->images--;
	prepare_image(p, task, &r);
	return task->stopped ? STOP_HANDLED : STOP_RESUMED;
}

bool exec_done(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct patch_task *pt = children_give_state(task);
	struct user_regs_struct r;
	bool held = task->proc->hold;
	remote_release(t, task->tid);
	image_forget_task(task);
	bool recorded = record_exec(p, task);
	if (!thread_of(task)->in_call && image_of(task))
		stepout_exec(image_of(task));
	image_leave(p, task->proc);
	task->proc->hold = false;
	task->proc->image = image_new();
	*pt = (struct patch_task){0};
	if (ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return recorded;
	bool stopped = thread_of(task)->in_call;
	if (stopped) {
		thread_of(task)->call.result = 0;
		thread_of(task)->call.error = false;
		tracer_call_exit(t, task);
	}
	if (arm_is_served(p, task))
		prepare_image(p, task, &r);
	else
		task->release = held;
	return recorded || stopped;
}
