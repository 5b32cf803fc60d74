/* SPDX-License-Identifier: MIT */
#include "engine/patch/threads/threads.h"

#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/image_plan.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/tracer.h"
#include "tracee/proc.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* So many calls of an image must have run under ptrace before it can fall back for that reason; a power of two. */
#define SLOW_LEAST 512

/* Moves the task back to its call instruction, so that it makes call `nr` again. */
static void redo(const struct task *task, struct cpu_regs *r, int64_t nr)
{
	r->CPU_IP -= CPU_CALL_SIZE;
	r->CPU_NR = (unsigned long long)nr;
	r->CPU_RESTARTED = CPU_NO_CALL;
	cpu_set(task->tid, r);
}

void dispatch_run_slow(const struct patch *p, struct task *task, struct cpu_regs *r, int64_t nr)
{
	struct patch_task *pt = patch_task_of(task);
	arm_task(p, task, false);
	pt->slow = true;
	pt->slow_ip = r->CPU_IP;
	redo(task, r, nr);
}

/* Prepares an rt_sigaction(2) that sets the program's own action for SIGSYS. Returns false if that is the default. */
static bool sigsys_action(struct task *task, uint64_t args[6])
{
	const struct image_actions *a = image_actions_of(task);
	args[0] = SIGSYS;
	args[1] = AGENT_DATA_AT(scratch);
	args[3] = sizeof(uint64_t);
	return image_has_agent(image_of(task)) && a->known && a->sigsys[ACTION_HANDLER] != 0 /* SIG_DFL */ &&
	       remote_write(task->tid, args[1], a->sigsys, sizeof(a->sigsys)) == 0;
}

static void block_sigsys(const struct task *task)
{
	uint64_t mask = 0;
	if (ptrace_retry(PTRACE_GETSIGMASK, task->tid, sizeof(mask), &mask) < 0)
		return;
	mask |= SIGBIT(SIGSYS);
	ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(mask), &mask);
}

/*
 * Are all signals except `sig` blocked? Then `sig` was, too: C libraries block all signals around clone(2). The agent
 * passes other masks with SIGSYS to the tracer.
 */
static bool is_all_else(uint64_t mask, int sig)
{
	uint64_t whole = mask | SIGBIT(sig) | MASK_EITHER;
	return !(mask & SIGBIT(sig)) && (uint32_t)whole == UINT32_MAX && whole >> 32 >= MASK_HIGH;
}

/* Did the thread block SIGSYS before a SIGSYS was forced? Sets *mask to the present mask. */
static bool was_blocked(const struct task *task, uint64_t *mask)
{
	return ptrace_retry(PTRACE_GETSIGMASK, task->tid, sizeof(*mask), mask) == 0 &&
	       (patch_task_of(task)->sigsys_blocked || is_all_else(*mask, SIGSYS));
}

bool dispatch_block_again(const struct task *task)
{
	uint64_t mask = 0;
	bool blocked = was_blocked(task, &mask);
	mask |= SIGBIT(SIGSYS);
	if (blocked)
		ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(mask), &mask);
	return blocked;
}

/*
 * When the kernel forces SIGSYS (force_sig_info_to_task), it unblocks SIGSYS in a thread that blocked it. If SIGSYS was
 * blocked or ignored, it also resets the action. This function restores the mask and the action. If a thread blocks all
 * other signals, it had blocked SIGSYS as well.
 */
void dispatch_mend_forced(struct patch *p, struct task *task)
{
	uint64_t args[6] = {0};
	bool blocked = dispatch_block_again(task);
	/*
	 * If SIGSYS was neither blocked nor ignored, the kernel did not change the action. A seccomp filter of the
	 * program might forbid the rt_sigaction(2) that restores the action, so this call is made only if necessary.
	 */
	bool reset = blocked || image_actions_of(task)->sigsys[ACTION_HANDLER] == 1 /* SIG_IGN */;
	if (reset && sigsys_action(task, args))
		remote_call(&p->t, task, SYS_rt_sigaction, args);
}

void dispatch_mend_fault(struct patch *p, struct task *task, int sig)
{
	const uint64_t handler = image_fault_handler(task, sig);
	const uint64_t at = AGENT_DATA_AT(scratch);
	uint64_t mask = 0, found[ACTION_WORDS];
	uint64_t args[6] = {(uint64_t)sig, 0, at, sizeof(uint64_t)};
	bool acts = handler != FAULT_UNKNOWN && handler != 0 /* SIG_DFL */ && !image_of(task)->sigsys.sealed;
	/* The kernel resets only the handler, and leaves the flags and the mask of the action as they were. */
	bool reset = acts && remote_call(&p->t, task, SYS_rt_sigaction, args) == 0 &&
		     remote_read(task->tid, at, found, sizeof(found)) == 0 && found[ACTION_HANDLER] != handler;
	/* The handler was reset although it was not SIG_IGN, so the signal was blocked. */
	bool blocked = reset && handler > 1;
	if (reset) {
		found[ACTION_HANDLER] = handler;
		args[1] = at;
		args[2] = 0;
		if (remote_write(task->tid, at, found, sizeof(found)) == 0)
			remote_call(&p->t, task, SYS_rt_sigaction, args);
	}
	if (!task->stopped || ptrace_retry(PTRACE_GETSIGMASK, task->tid, sizeof(mask), &mask) < 0)
		return;
	/* If a thread blocks all other signals, it had blocked this one as well. */
	if (!blocked && !is_all_else(mask, sig))
		return;
	mask |= SIGBIT(sig);
	ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(mask), &mask);
}

bool dispatch_is_forced(const struct task *task, const siginfo_t *si, struct cpu_regs *r)
{
	uint64_t back = patch_task_of(task) && patch_task_of(task)->redone ? CPU_CALL_SIZE : 0;
	return si->si_signo == SIGSYS && si->si_code == SUD_SIGSYS && cpu_get(task->tid, r) == 0 &&
	       r->CPU_IP + back == (uint64_t)(uintptr_t)si->si_call_addr;
}

bool dispatch_is_pending(pid_t tid)
{
	siginfo_t si[32];
	struct __ptrace_peeksiginfo_args args = {.off = 0, .flags = 0, .nr = 32};
	uint64_t mask = 0;
	/* A forced SIGSYS is never blocked (force_sig_info_to_task), but the program's own may be. */
	if (ptrace_retry(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0 || mask & SIGBIT(SIGSYS))
		return false;
	long n = ptrace_retry(PTRACE_PEEKSIGINFO, tid, &args, si);
	for (long i = 0; i < n; i++)
		if (si[i].si_signo == SIGSYS && si[i].si_code == SUD_SIGSYS)
			return true;
	return false;
}

bool dispatch_undo(const struct task *task, int status)
{
	siginfo_t si;
	struct cpu_regs r;
	bool forced = status >> 8 == SIGSYS && ptrace_retry(PTRACE_GETSIGINFO, task->tid, NULL, &si) == 0 &&
		      dispatch_is_forced(task, &si, &r);
	bool pending =
		status >> 16 == PTRACE_EVENT_STOP && dispatch_is_pending(task->tid) && cpu_get(task->tid, &r) == 0;
	struct patch_task *pt = patch_task_of(task);
	/* A call by which the recorder asks sctrace is not a call of the program. */
	if ((forced || pending) && !record_is_asking(&r)) {
		r.CPU_IP += pt->redone ? CPU_CALL_SIZE : 0;
		pt->redone = false;
		redo(task, &r, (int64_t)r.CPU_NR); /* the kernel has set it to the call's number (syscall_rollback()) */
	}
	return forced;
}

/*
 * Called when the program is about to install a filter: makes the image fall back. If the program's filter answers a
 * call itself, that call does not stop at sctrace's filter, but under ptrace, calls stop before filters run. With TSYNC
 * (seccomp(2)), the filter applies to all threads at once, so all threads are interrupted.
 */
static void make_room_for_filter(struct patch *p, struct task *task, bool all_threads)
{
	size_t i = 0;
	struct task *x;
	image_fall_back(p, task, "it has a seccomp filter of its own");
	while (all_threads && (x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x != task && x->proc == task->proc && !x->stopped)
			ptrace_retry(PTRACE_INTERRUPT, x->tid, NULL, NULL);
}

void dispatch_note_action(struct task *task, int sig, const uint64_t action[ACTION_WORDS])
{
	image_of(task)->handlers.known = false;
	image_of(task)->handlers.unsteady |= (action[ACTION_FLAGS] & SA_RESETHAND) != 0;
	/* If sctrace has set a handler for SIGSYS (sigkill_guard.c), the program's handler replaces it. */
	if (sig == SIGSYS)
		image_note_sigsys(task, action);
	if (sig == SIGSEGV || sig == SIGBUS)
		image_note_fault(task, sig, action[ACTION_HANDLER]);
	/*
	 * Handlers that block all signals, as those of shells for SIGCHLD do, are not noted: was_blocked() recognises
	 * them.
	 */
	bool by_mask =
		action[ACTION_MASK] & SIGBIT(SIGSYS) && !is_all_else(action[ACTION_MASK] & ~SIGBIT(SIGSYS), SIGSYS);
	bool by_itself = sig == SIGSYS && !(action[ACTION_FLAGS] & SA_NODEFER);
	bool handled = action[ACTION_HANDLER] > 1; /* neither SIG_DFL nor SIG_IGN */
	image_note_handler(task, sig, handled && (by_mask || by_itself));
}

void dispatch_note_delivery(const struct patch *p, struct task *task, int sig)
{
	struct image_actions *a = image_actions_of(task);
	struct patch_task *pt = patch_task_of(task);
	struct proc_status s;
	pt->signalled = true;
	pt->returns_blocked |= pt->sigsys_blocked;
	if (!(a->blocking_handlers & SIGBIT(sig)) && p->arming != ARM_KNOCK)
		return;
	proc_status(task->tid, &s);
	pt->handlers += p->arming == ARM_KNOCK && (!s.has_signals || s.caught & SIGBIT(sig));
	if (!(a->blocking_handlers & SIGBIT(sig)))
		return;
	if (!(s.caught & SIGBIT(sig)))
		return;
	if (sig == SIGSYS && a->known && a->sigsys[ACTION_FLAGS] & SA_RESETHAND)
		a->sigsys[ACTION_HANDLER] = 0; /* SIG_DFL */
	image_note_blocked(task, true);
}

static void watch_action(struct task *task, const struct cpu_regs *r)
{
	uint64_t action[ACTION_WORDS];
	if (r->CPU_ARG1 && r->CPU_ARG0 - 1 < 64 && r->CPU_ARG3 == 8 &&
	    remote_read(task->tid, r->CPU_ARG1, action, sizeof(action)) == 0)
		dispatch_note_action(task, (int)r->CPU_ARG0, action);
}

/* Notes what the call is about to change, if the engine depends on it. */
static void watch_call(struct patch *p, struct task *task, int64_t nr, const struct cpu_regs *r)
{
	struct image *img = image_of(task);
	ranges_watch(task, nr, r);
	waits_note_call(task, nr, r);
	const uint64_t args[3] = {r->CPU_ARG0, r->CPU_ARG1, r->CPU_ARG2};
	record_watch_names(p, task, nr, args);
	bool filter = seccomp_sets_filter(nr, args);
	bool strict = seccomp_sets_strict(nr, args);
	img->sigsys.sealed |= filter || strict;
	if (filter || strict)
		record_permit_all(p);
	if (filter && p->arming != ARM_SUD)
		make_room_for_filter(p, task, nr == SYS_seccomp && r->CPU_ARG1 & SECCOMP_FILTER_FLAG_TSYNC);
	if (strict || (nr == SYS_prctl && r->CPU_ARG0 == PR_SET_TSC))
		image_fall_back(p, task, CLOCK_IS_FORBIDDEN);
	if (nr == SYS_prctl && r->CPU_ARG0 == SUD_PRCTL) {
		image_fall_back(p, task, SUD_IS_ITS_OWN);
		site_restore_running(task); /* the kernel compares the address of each call with a range */
	}
	if (nr == SYS_rt_sigaction && r->CPU_ARG0 != SIGSYS)
		watch_action(task, r);
}

/*
 * Notes a new action for SIGSYS just before the call. After a SIGSYS that is forced before it, the old action is
 * restored.
 */
static void watch_sigsys_action(struct task *task, int64_t nr, const struct cpu_regs *r)
{
	if (nr == SYS_rt_sigaction && r->CPU_ARG0 == SIGSYS)
		watch_action(task, r);
}

/*
 * If the program had sent itself a SIGSYS, which was pending and blocked, the kernel may deliver it in place of the
 * SIGSYS that a call should have raised. That call has not been made yet, so it is made now. SIGSYS is blocked again,
 * so the program's signal becomes pending again (ptrace_signal() in kernel/signal.c).
 */
void dispatch_mend_sigsys(struct patch *p, struct task *task, const siginfo_t *si, bool delivers)
{
	struct cpu_regs saved, r;
	unsigned char code[CPU_CALL_SIZE];
	siginfo_t again = *si;
	uint64_t args[6] = {0}, mask;
	if (cpu_get(task->tid, &saved) < 0)
		return;
	r = saved;
	if (!delivers && sigsys_action(task, args)) {
		if (remote_excursion_call(&p->t, task, AGENT_AT(agent_call), &r, SYS_rt_sigaction, args) == -ESRCH)
			return;
	} else if (sigsys_action(task, args)) {
		if (remote_call_to_trap(&p->t, task, &r, SYS_rt_sigaction, args) == -ESRCH)
			return;
		cpu_set(task->tid, &saved);
		ptrace_retry(PTRACE_SETSIGINFO, task->tid, NULL, &again);
	}
	/*
	 * If the kernel has moved the thread back before a call, CPU_NR holds the call's number. If a call has ended at
	 * this address, its result may be the same number.
	 */
	bool ended = saved.CPU_IP == patch_task_of(task)->completed_ip && !thread_of(task)->call.error &&
		     (uint64_t)thread_of(task)->call.result == saved.CPU_RESULT;
	bool lost = si->si_code <= 0 && saved.CPU_NR == saved.CPU_RESTARTED && !ended &&
		    remote_read(task->tid, saved.CPU_IP - CPU_CALL_SIZE, code, CPU_CALL_SIZE) == 0 &&
		    cpu_is_call(code) && saved.CPU_IP - AGENT_CODE >= AGENT_CODE_SIZE;
	if (lost ? was_blocked(task, &mask) : patch_task_of(task)->sigsys_blocked)
		block_sigsys(task);
	if (lost) {
		watch_call(p, task, (int64_t)saved.CPU_NR, &saved);
		watch_sigsys_action(task, (int64_t)saved.CPU_NR, &saved);
		dispatch_run_slow(p, task, &saved, (int64_t)saved.CPU_RESULT);
	}
}

/* Returns the site's stub if the agent can make this call, otherwise 0. Sets *why to the reason for this stop. */
static uint64_t fast_way(struct patch *p, struct task *task, const struct cpu_regs *r, const struct call *call,
			 enum stop_reason *why)
{
	struct image *img = image_of(task);
	img->handlers.unsteady |= call->arch != CPU_ARCH;
	*why = call->arch != CPU_ARCH ? STOP_FOREIGN : img->state == IMAGE_FALLBACK ? STOP_FALLBACK : STOP_SHARED;
	/*
	 * While a child process of vfork(2) whose calls are not counted has this memory (counters.apart), the agent
	 * refuses exit(2). If the thread were sent to the agent again, it would stop again, until the child has its
	 * own memory.
	 */
	if (call->arch != CPU_ARCH || img->state != IMAGE_READY || img->counters.off ||
	    (call->nr == SYS_exit && img->counters.apart > 0))
		return 0;
	struct site *s = site_of_stub(img, r->CPU_IP);
	const bool refused = s != NULL, surveyed = img->sites.surveyed;
	const bool ends = call->nr == SYS_exit || call->nr == SYS_exit_group;
	const bool alone = task->proc->ntasks == 1 && img->refs == 1;
	if (!s && (alone || ends) && call->nr >= 0 && call->nr < AGENT_NUMBERS &&
	    p->record_way[call->nr] == RECORD_STOPS) {
		/*
		 * The site is not patched, because this call would stop at a patched site as well. If there were other
		 * threads, one of them could make another call at the site, and it would be patched by a long jump while
		 * this thread returns to the middle of the jump. exit(2) does not return. At a patched site, it would stop in
		 * the agent, from where stepout() does not move a thread. The loader makes arch_prctl(2) after it has mapped the
		 * libraries, so their known sites can be patched at this stop.
		 */
		if (call->nr == CPU_SET_THREAD_POINTER)
			plan_apply_mapped(p, task, r->CPU_IP);
		*why = img->sites.surveyed == surveyed ? STOP_REQUIRED : STOP_SURVEY;
		return 0;
	}
	*why = STOP_SITE;
	if (!s)
		s = visit_site(p, task, r->CPU_IP, call->nr);
	if (!s || !s->stub || s->kind == SITE_HOPELESS || !task->stopped)
		return 0;
	if (p->record && cpu_sets_thread_pointer(call->nr, r))
		record_expect(p, task, r->CPU_ARG1);
	bool fast = image_map_call(p, task, call->nr, refused);
	*why = !fast ? STOP_ARGUMENTS : refused ? STOP_WATCHED : s->kind == SITE_REDIRECT ? STOP_SITE : STOP_FIRST;
	if (img->sites.surveyed != surveyed)
		*why = STOP_SURVEY;
	return fast || (refused && record_retry(p, task, call->nr, why)) ? s->stub : 0;
}

void dispatch_leave_stub(const struct patch *p, const struct task *task)
{
	struct cpu_regs r;
	const struct site *s;
	if ((!CPU_RESTARTS_EARLY && !(p->t.config.want & CAP_STOPS)) || cpu_get(task->tid, &r) < 0)
		return;
	s = site_of_stub(image_of(task), r.CPU_IP);
	if (!s || s->kind == SITE_LONG || r.CPU_IP != s->stub + STUB_AFTER_CALL)
		return;
	cpu_return_to(&r, s->ip);
	cpu_set(task->tid, &r);
}

/* Makes the call run under ptrace: from its entry, where the filter has stopped it, or from the call instruction. */
static void go_slow(struct patch *p, struct task *task, struct cpu_regs *r, int64_t nr)
{
	struct call at;
	const struct site *s = map_get(&image_of(task)->sites.by_ip, r->CPU_IP);
	if (p->arming == ARM_SUD || arm_read_stop(task->tid, &at) == ARM_STOP_NONE) {
		dispatch_run_slow(p, task, r, nr);
		return;
	}
	if (s && s->kind == SITE_LONG) {
		/* The next instructions have moved, so the call must be made from the stub, to which the site jumps. */
		redo(task, r, nr);
		return;
	}
	arm_task(p, task, false);
	patch_task_of(task)->slow = true;
	dispatch_leave_stub(p, task);
	tracer_syscall_stop(&p->t, task);
	/* If the number is negative, the kernel does not make the call, and leaves the result to the tracer (__seccomp_filter()). */
	if (nr < 0)
		arm_answer_enosys(task->tid);
	seccomp_mask_enter(p, task);
	ranges_hide(task);
}

/*
 * Called for each call that runs under ptrace while the image has the agent. If a SIGSYS has stopped it, it stops three
 * times, but only twice if ptrace traces all calls. Falls back if more than three out of four of the image's calls were such
 * calls. With a filter, they stop only twice, and would then stop three times.
 */
static void judge(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	const uint64_t n = ++img->slow.calls;
	if (n == 1)
		img->slow.others = image_count_calls(p, img);
	if (p->arming == ARM_SUD && n >= SLOW_LEAST && (n & (n - 1)) == 0 &&
	    (image_count_calls(p, img) - img->slow.others) < n / 3)
		image_fall_back(p, task, "the agent could not make most of its calls");
}

/*
 * If a handler has returned to a call that it interrupted, restarts the call under ptrace. The call is made from the
 * stub, because its site is patched. Returns false if no call was interrupted, or if its restart is recorded.
 */
static bool restart_slow(const struct patch *p, struct task *task)
{
	const struct life_interrupted *it = life_restarting(&thread_of(task)->life);
	struct cpu_regs r;
	if (!it || (p->record && !it->begun_unseen) || image_of(task)->state != IMAGE_READY ||
	    cpu_get(task->tid, &r) < 0)
		return false;
	const uint64_t in_stub = site_native_of(image_of(task), r.CPU_IP);
	const struct site *s = map_get(&image_of(task)->sites.by_ip, (in_stub ? in_stub : r.CPU_IP) + CPU_CALL_SIZE);
	if (!s || !s->stub || s->ip != it->call.ip)
		return false;
	r.CPU_IP = s->stub + STUB_AFTER_CALL;
	dispatch_run_slow(p, task, &r, (int64_t)r.CPU_NR);
	return true;
}

/*
 * After mlockall(2): unlocks the engine's memory, because locked memory counts towards RLIMIT_MEMLOCK, which the program
 * needs itself. Memory of the engine that is mapped later extends the unlocked mappings, and is not locked either.
 */
static void unlock_agent(struct patch *p, struct task *task)
{
	struct areas areas = {0};
	setup_areas(image_of(task), &areas);
	for (size_t i = 0; i < areas.n && task->stopped; i++)
		remote_call(&p->t, task, SYS_munlock, (const uint64_t[6]){areas.v[i].addr, areas.v[i].size});
	vec_free(&areas);
}

/* Called after an rt_sigreturn(2) that has stopped: if the handler has returned to an instruction that has moved, to `ip`. */
static void end_frame(struct task *task, uint64_t ip)
{
	const struct image *img = image_of(task);
	struct patch_task *pt = patch_task_of(task);
	const uint64_t moved = site_native_of(img, ip);
	if ((site_follow_moved(task) || moved) && pt->moved_frames && !image_is_followed(img, moved ? moved : ip))
		pt->moved_frames--;
}

bool dispatch_begin_fallback(struct patch *p, struct task *task, int64_t nr, struct cpu_regs *r)
{
	if (image_of(task)->cleaned) { /* the task has run code since it stopped at the call */
		redo(task, r, nr);
		return false;
	}
	watch_call(p, task, nr, r);
	watch_sigsys_action(task, nr, r);
	patch_task_of(task)->slow = true;
	return true;
}

void dispatch_end_slow(struct patch *p, struct task *task)
{
	struct patch_task *pt = patch_task_of(task);
	const struct call *c = &thread_of(task)->call;
	bool returned = c->nr == SYS_rt_sigreturn;
	struct cpu_regs r = {0};
	bool read = cpu_get(task->tid, &r) == 0;
	pt->slow = false;
	pt->completed_ip = r.CPU_IP;
	if (c->nr == SYS_mlockall && !c->error && image_has_agent(image_of(task)) && !image_of(task)->sigsys.sealed)
		unlock_agent(p, task);
	p->seccomp_seen |= !c->error && seccomp_sets_filter(c->nr, c->args);
	if (c->nr == SYS_rt_sigprocmask || (returned && (pt->sigsys_blocked || pt->returns_blocked)))
		image_note_mask(p, task);
	pt->returns_blocked &= !returned;
	pt->handlers -= returned && pt->handlers;
	if (returned)
		end_frame(task, r.CPU_IP);
	image_note_frames(task);
	record_forget_closed(p, task, c);
	if (read)
		record_admit_at(p, task, r.CPU_THREAD_POINTER);
	if (p->arming == ARM_KNOCK && scan_is_due(c) && image_of(task)->state == IMAGE_READY)
		scan_image(p, task);
	if (task->stopped && (!returned || !restart_slow(p, task)))
		arm_task(p, task, image_of(task)->state == IMAGE_READY);
}

enum tracer_verdict dispatch_stop(struct patch *p, struct task *task, const struct call *call, struct cpu_regs *r)
{
	int64_t nr = call->nr;
	r->CPU_IP += patch_task_of(task)->redone ? CPU_CALL_SIZE : 0;
	patch_task_of(task)->redone = false;
	resume_point_forget(p, task);
	patch_task_of(task)->completed_ip = 0;
	if (p->t.detaching && p->arming == ARM_FILTER)
		return STOP_HANDLED; /* the call continues from its entry */
	if (p->t.detaching) {
		redo(task, r, nr); /* the task will make the call after it is detached */
		return STOP_HANDLED;
	}
	if (p->record && record_is_asking(r)) {
		record_answer(p, task, r);
		return STOP_HANDLED;
	}
	watch_call(p, task, nr, r);
	/* The agent does not know how long an interrupted call took before, so ptrace handles its restart. */
	enum stop_reason why = STOP_RESTART;
	uint64_t stub = life_restarting(&thread_of(task)->life) ? 0 : fast_way(p, task, r, call, &why);
	patch_note_stop(p, why, nr);
	if (!task->stopped)
		return STOP_RESUMED;
	if (!stub) {
		p->slow_calls++;
		watch_sigsys_action(task, nr, r);
		if (image_of(task)->state == IMAGE_READY && !image_of(task)->counters.off)
			judge(p, task);
		go_slow(p, task, r, nr);
		return STOP_HANDLED;
	}
	r->CPU_IP = stub;
	r->CPU_NR = (unsigned long long)nr;
	r->CPU_RESTARTED = CPU_NO_CALL;
	cpu_set(task->tid, r);
	return STOP_HANDLED;
}
