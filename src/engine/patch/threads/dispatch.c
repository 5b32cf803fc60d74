/* A call from outside the agent: who makes it, and how the SIGSYS that was forced leaves no trace. */
#include "engine/patch/patch.h"

#include "tracee/proc.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* Sends the task back to before its call. */
static void redo(const struct task *task, struct user_regs_struct *r, int64_t nr)
{
	r->rip -= 2;
	r->rax = (unsigned long long)nr;
	r->orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, task->tid, NULL, r);
}

/* Lets the call run where it is, unarmed and traced; it is armed again when it came back (syscall_stop). */
void dispatch_run_slow(const struct patch *p, struct task *task, struct user_regs_struct *r, int64_t nr)
{
	struct patch_task *pt = patch_task_of(task);
	arm_task(p, task, false);
	pt->slow = true;
	redo(task, r, nr);
}

/* The program's own action for SIGSYS, where it can be written from; false where it has none. */
static bool own_action(struct task *task, uint64_t args[6])
{
	const struct image *img = image_of(task);
	args[0] = SIGSYS;
	args[1] = AGENT_DATA + offsetof(struct agent_data, scratch);
	args[3] = sizeof(uint64_t);
	return img->state == IMAGE_READY && img->minds_sigsys &&
	       remote_write(task->tid, args[1], img->sigsys_action, sizeof(img->sigsys_action)) == 0;
}

static void block_sigsys(const struct task *task)
{
	uint64_t mask = 0;
	if (ptrace(PTRACE_GETSIGMASK, task->tid, sizeof(mask), &mask) < 0)
		return;
	mask |= SIGBIT(SIGSYS);
	ptrace(PTRACE_SETSIGMASK, task->tid, sizeof(mask), &mask);
}

static bool is_all_else(uint64_t mask)
{
	return !(mask & SIGBIT(SIGSYS)) && __builtin_popcountll(mask) >= 55;
}

/* Before a signal was forced: did the thread block it? *mask is what it blocks now. */
static bool was_blocked(const struct task *task, uint64_t *mask)
{
	return ptrace(PTRACE_GETSIGMASK, task->tid, sizeof(*mask), mask) == 0 &&
	       (patch_task_of(task)->sigsys_blocked || is_all_else(*mask));
}

bool dispatch_block_again(const struct task *task)
{
	uint64_t mask = 0;
	bool blocked = was_blocked(task, &mask);
	mask |= SIGBIT(SIGSYS);
	if (blocked)
		ptrace(PTRACE_SETSIGMASK, task->tid, sizeof(mask), &mask);
	return blocked;
}

/*
 * The kernel forces the signal: a thread that blocked it has it unblocked, and where it was blocked or ignored its action is
 * reset (force_sig_info_to_task). Who blocks everything, as C libraries do around births, had it blocked too.
 */
static void mend_forced_signal(struct patch *p, struct task *task)
{
	uint64_t args[6] = {0};
	bool blocked = dispatch_block_again(task);
	/* Else it is as it was, and a filter of the program's may forbid the call (force_sig_info_to_task). */
	bool reset = blocked || image_of(task)->sigsys_action[ACTION_HANDLER] == 1 /* SIG_IGN */;
	if (reset && own_action(task, args))
		remote_call(&p->t, task, SYS_rt_sigaction, args);
}

bool dispatch_is_forced(const struct task *task, const siginfo_t *si, struct user_regs_struct *r)
{
	uint64_t back = patch_task_of(task) && patch_task_of(task)->redone ? 2 : 0;
	return si->si_signo == SIGSYS && si->si_code == SUD_SIGSYS && ptrace(PTRACE_GETREGS, task->tid, NULL, r) == 0 &&
	       r->rip + back == (uint64_t)(uintptr_t)si->si_call_addr;
}

enum tracer_verdict dispatch_forced(struct patch *p, struct task *task, const siginfo_t *si, struct user_regs_struct *r)
{
	mend_forced_signal(p, task);
	return task->stopped ? dispatch_stop(p, task, &(struct call){.arch = si->si_arch, .nr = si->si_syscall}, r)
			     : STOP_HELD;
}

/*
 * A filter of the program's own is coming, and what it answers by itself outranks ours, which would not see it. Under ptrace
 * calls stop before any filter looks; with TSYNC (seccomp(2)) that must hold for all threads at once.
 */
static void make_room_for_filter(struct patch *p, struct task *task, bool all_threads)
{
	size_t i = 0;
	struct task *x;
	image_fall_back(p, task, "it has a seccomp filter of its own");
	while (all_threads && (x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x != task && x->proc == task->proc && !x->stopped)
			ptrace(PTRACE_INTERRUPT, x->tid, NULL, NULL);
}

bool dispatch_sets_filter(int64_t nr, uint64_t arg0, uint64_t arg1)
{
	return (nr == SYS_seccomp && arg0 == SECCOMP_SET_MODE_FILTER) ||
	       (nr == SYS_prctl && arg0 == PR_SET_SECCOMP && arg1 == SECCOMP_MODE_FILTER);
}

/* Flags or arguments with it are refused (seccomp(2)): so libseccomp asks whether there is the call. */
static bool sets_strict(int64_t nr, const struct user_regs_struct *r)
{
	return (nr == SYS_seccomp && r->rdi == SECCOMP_SET_MODE_STRICT && r->rsi == 0 && r->rdx == 0) ||
	       (nr == SYS_prctl && r->rdi == PR_SET_SECCOMP && r->rsi == SECCOMP_MODE_STRICT);
}

void dispatch_note_action(struct task *task, int sig, const uint64_t action[ACTION_WORDS])
{
	struct image *img = image_of(task);
	/* Where SIGSYS has a handler of ours, the program's comes in its place (sigkill_guard.c). */
	if (sig == SIGSYS) {
		img->minds_sigsys = true;
		memcpy(img->sigsys_action, action, ACTION_WORDS * sizeof(*action));
	}
	/* Where all else is blocked, too, was_blocked() sees it by itself: shells have such handlers of SIGCHLD. */
	bool by_mask = action[ACTION_MASK] & SIGBIT(SIGSYS) && !is_all_else(action[ACTION_MASK] & ~SIGBIT(SIGSYS));
	bool by_itself = sig == SIGSYS && !(action[ACTION_FLAGS] & SA_NODEFER);
	bool handled = action[ACTION_HANDLER] > 1; /* neither SIG_DFL nor SIG_IGN */
	image_note_handler(task, sig, handled && (by_mask || by_itself));
}

void dispatch_note_delivery(struct task *task, int sig)
{
	struct image *img = image_of(task);
	struct patch_task *pt = patch_task_of(task);
	struct proc_status s;
	pt->signalled = true;
	pt->returns_blocked |= pt->sigsys_blocked;
	if (!(img->blocking_handlers & SIGBIT(sig)))
		return;
	proc_status(task->tid, &s);
	if (!(s.caught & SIGBIT(sig)))
		return;
	if (sig == SIGSYS && img->minds_sigsys && img->sigsys_action[ACTION_FLAGS] & SA_RESETHAND)
		img->sigsys_action[ACTION_HANDLER] = 0; /* SIG_DFL */
	image_note_blocked(task, true);
}

static void watch_action(struct task *task, const struct user_regs_struct *r)
{
	uint64_t action[ACTION_WORDS];
	if (r->rsi && r->rdi - 1 < 64 && r->r10 == 8 && remote_read(task->tid, r->rsi, action, sizeof(action)) == 0)
		dispatch_note_action(task, (int)r->rdi, action);
}

/* Calls that change what we stand on. */
static void watch_call(struct patch *p, struct task *task, int64_t nr, const struct user_regs_struct *r)
{
	struct image *img = image_of(task);
	ranges_watch(task, nr, r);
	bool filter = dispatch_sets_filter(nr, r->rdi, r->rsi);
	bool strict = sets_strict(nr, r);
	img->sealed |= filter || strict;
	if (filter && p->arming == ARM_FILTER)
		make_room_for_filter(p, task, nr == SYS_seccomp && r->rsi & SECCOMP_FILTER_FLAG_TSYNC);
	if (strict || (nr == SYS_prctl && r->rdi == PR_SET_TSC))
		image_fall_back(p, task, "it may not read the time stamp counter");
	if (nr == SYS_prctl && r->rdi == 59) /* PR_SET_SYSCALL_USER_DISPATCH */
		image_fall_back(p, task, "the program uses Syscall User Dispatch itself");
	if (nr == SYS_rt_sigaction && r->rdi != SIGSYS)
		watch_action(task, r);
}

/* Not before the call is about to be made: at a stop on the way there the action that is mended must still be the former one. */
static void watch_own_action(struct task *task, int64_t nr, const struct user_regs_struct *r)
{
	if (nr == SYS_rt_sigaction && r->rdi == SIGSYS)
		watch_action(task, r);
}

/*
 * A SIGSYS of the program's own, while ours are about. Where it was pending and blocked, the kernel delivered it in place of
 * one that a call of the program's should have raised: that call is yet to be made, and the signal, blocked again, goes back
 * to be pending (ptrace_signal in kernel/signal.c).
 */
void dispatch_mend_own(struct patch *p, struct task *task, const siginfo_t *si)
{
	struct user_regs_struct saved, r;
	unsigned char code[2];
	siginfo_t again = *si;
	uint64_t args[6] = {0}, mask;
	if (ptrace(PTRACE_GETREGS, task->tid, NULL, &saved) < 0)
		return;
	if (own_action(task, args)) {
		/* By way of int3, so that the stop at its end is one that can deliver the signal. */
		r = saved;
		r.rip = AGENT_AT(agent_remote);
		r.rax = SYS_rt_sigaction;
		r.rdi = args[0];
		r.rsi = args[1];
		r.rdx = 0;
		r.r10 = args[3];
		if (remote_run(&p->t, task, &r) == -ESRCH)
			return;
		ptrace(PTRACE_SETREGS, task->tid, NULL, &saved);
		ptrace(PTRACE_SETSIGINFO, task->tid, NULL, &again);
	}
	/* The kernel had rolled the call back: its number is in rax again. Or one came to its end there with that for a result. */
	bool ended = saved.rip == patch_task_of(task)->completed_ip && !task->call.error &&
		     (uint64_t)task->call.result == saved.rax;
	bool lost = si->si_code <= 0 && saved.rax == saved.orig_rax && !ended &&
		    remote_read(task->tid, saved.rip - 2, code, 2) == 0 && code[0] == 0x0f && code[1] == 0x05 &&
		    saved.rip - AGENT_CODE >= AGENT_PAGE;
	if (lost ? was_blocked(task, &mask) : patch_task_of(task)->sigsys_blocked)
		block_sigsys(task);
	if (lost) {
		watch_call(p, task, (int64_t)saved.rax, &saved);
		watch_own_action(task, (int64_t)saved.rax, &saved);
		dispatch_run_slow(p, task, &saved, (int64_t)saved.rax);
	}
}

/* Does the agent take this call? Then its stub, else 0. */
static uint64_t fast_way(struct patch *p, struct task *task, const struct user_regs_struct *r, const struct call *call)
{
	struct image *img = image_of(task);
	if (call->arch != AUDIT_ARCH_X86_64 || img->state != IMAGE_READY || img->off)
		return 0;
	struct site *s = site_of_stub(img, r->rip);
	bool refused = s != NULL;
	if (!s)
		s = site_visit(p, task, r->rip);
	if (!s || !s->stub || s->kind == SITE_HOPELESS || !task->stopped)
		return 0;
	return image_map_call(p, task, call->nr, refused) ? s->stub : 0;
}

/* Under ptrace from here on: at the entry where the filter stopped it, or once more from the beginning. */
static void go_slow(struct patch *p, struct task *task, struct user_regs_struct *r, int64_t nr)
{
	struct call at;
	const struct site *s = map_get(&image_of(task)->sites, r->rip);
	if (p->arming == ARM_SUD || arm_read_stop(task->tid, &at) == ARM_STOP_NONE) {
		dispatch_run_slow(p, task, r, nr);
		return;
	}
	if (s && s->kind == SITE_LONG) {
		/* What was behind the call has moved: the jump there now leads to the stub, whose own call stops next. */
		redo(task, r, nr);
		return;
	}
	arm_task(p, task, false);
	patch_task_of(task)->slow = true;
	tracer_syscall_stop(&p->t, task);
	seccomp_mask_enter(p, task);
}

enum tracer_verdict dispatch_stop(struct patch *p, struct task *task, const struct call *call,
				  struct user_regs_struct *r)
{
	int64_t nr = call->nr;
	r->rip += patch_task_of(task)->redone ? 2 : 0;
	patch_task_of(task)->redone = false;
	resume_point_forget(p, task);
	patch_task_of(task)->completed_ip = 0;
	if (p->t.detaching && p->arming == ARM_FILTER)
		return STOP_OURS; /* it is at its entry, and goes on from there */
	if (p->t.detaching) {
		redo(task, r, nr); /* it makes the call by itself, when it is let go */
		return STOP_OURS;
	}
	watch_call(p, task, nr, r);
	uint64_t stub = fast_way(p, task, r, call);
	if (!task->stopped)
		return STOP_HELD;
	if (!stub) {
		watch_own_action(task, nr, r);
		go_slow(p, task, r, nr);
		return STOP_OURS;
	}
	tracer_call_restarts_unseen(&p->t, task);
	r->rip = stub;
	r->rax = (unsigned long long)nr;
	r->orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, task->tid, NULL, r);
	return STOP_OURS;
}
