/* SPDX-License-Identifier: MIT */
#include "engine/patch/threads/threads.h"

#include "arch/arch.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "syscall/restart.h"
#include "tracee/proc.h"

#include <linux/audit.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* Are all changes of the process's signal handlers seen? Sets *actions to the agent's count of these changes. */
static bool is_steady(const struct task *task, uint64_t *actions)
{
	const struct image *img = image_of(task);
	const struct agent_words *words = img->counters.words;
	bool steady = words && img->refs == 1 && task->proc->ntasks == 1 && !img->handlers.unsteady;
	*actions = steady ? __atomic_load_n(&words->actions, __ATOMIC_RELAXED) : 0;
	return steady;
}

enum handler_state { HANDLER_UNKNOWN, HANDLER_NONE, HANDLER_SOME };

/* Does the process have a handler for `sig`? The agent's count of actions saves reading /proc for each signal. */
static enum handler_state handler_of(const struct task *task, int sig)
{
	const struct image_handlers *h = &image_of(task)->handlers;
	uint64_t actions;
	if (!is_steady(task, &actions) || !h->known || h->actions != actions)
		return HANDLER_UNKNOWN;
	return h->caught & SIGBIT(sig) ? HANDLER_SOME : HANDLER_NONE;
}

/*
 * Returns what will see the thread's position when the thread gets `sig`. If /proc cannot be read, a handler is
 * assumed, so that the thread leaves the agent. The same holds if the stack will be walked (-k). `r` holds the thread's
 * registers.
 */
static enum stepout_for seen_by(const struct patch *p, const struct task *task, const struct cpu_regs *r, int sig)
{
	struct image_handlers *h = &image_of(task)->handlers;
	struct proc_status s;
	uint64_t actions;
	bool steady = is_steady(task, &actions);
	bool dumped = core_is_dumped_by(sig);
	enum stepout_for unseen = p->t.config.want & CAP_STOPS ? STEPOUT_PROGRAM : STEPOUT_UNSEEN;
	if (!dumped && handler_of(task, sig) != HANDLER_UNKNOWN)
		return handler_of(task, sig) == HANDLER_SOME ? STEPOUT_CAUGHT : unseen;
	proc_status(task->tid, &s);
	/*
	 * /proc is soon out of date if the thread has counted a new action, but has not made the call that sets it yet.
	 * At the end of a call, no such call is outstanding.
	 */
	h->known = steady && s.has_signals && (int64_t)r->CPU_RESTARTED >= 0;
	h->actions = actions;
	h->caught = s.caught;
	if (!s.has_signals || s.caught & SIGBIT(sig))
		return handler_of(task, sig) == HANDLER_SOME ? STEPOUT_CAUGHT : STEPOUT_PROGRAM;
	/* Such a signal does not end the first process of a pid namespace (pid_namespaces(7)). */
	return dumped && !(s.ignored & SIGBIT(sig)) && !s.init ? STEPOUT_CORE : unseen;
}

/*
 * If the signal carries `from`, an address in the agent or a stub, replaces it by the program's address. A filter's
 * SIGSYS carries the address of the call. A fault or step carries the address of an instruction, which may have moved
 * into a stub (sigaction(2), si_addr).
 */
static void mend_address(struct task *task, const siginfo_t *si, uint64_t from)
{
	uint64_t ip;
	siginfo_t mended = *si;
	bool filter = si->si_signo == SIGSYS && si->si_code == 1 /* SYS_SECCOMP */ &&
		      (uint64_t)(uintptr_t)si->si_call_addr == from;
	bool here = (si->si_signo == SIGFPE || si->si_signo == SIGILL || si->si_signo == SIGTRAP) && si->si_code > 0 &&
		    (uint64_t)(uintptr_t)si->si_addr == from;
	if ((!filter && !here) || arch_ip(task->tid, &ip) < 0)
		return;
	*(filter ? &mended.si_call_addr : &mended.si_addr) = (void *)ip; /* NOLINT(performance-no-int-to-ptr) */
	ptrace_retry(PTRACE_SETSIGINFO, task->tid, NULL, &mended);
}

/*
 * Called when the agent has faulted at `ip`, because the program's stack has no room for the agent's frame. A system
 * call needs no stack, so the call is made from the stub, which needs no stack either. Returns false if the agent did
 * not cause the fault.
 */
static bool survive_fault(struct patch *p, struct task *task, uint64_t ip)
{
	struct cpu_regs r;
	if (ip == AGENT_AT(agent_sigreturn_bad) || ip == AGENT_AT(agent_record_return_bad))
		return false;
	stepout(p, task, STEPOUT_PROGRAM);
	if (cpu_get(task->tid, &r) < 0)
		return false;
	const struct site *before = map_get(&image_of(task)->sites.by_ip, r.CPU_IP + CPU_CALL_SIZE);
	const struct site *after =
		ip - AGENT_CODE < AGENT_CODE_SIZE ? map_get(&image_of(task)->sites.by_ip, r.CPU_IP) : NULL;
	if (before && before->stub) {
		r.CPU_IP = before->stub + STUB_AFTER_CALL;
		dispatch_run_slow(p, task, &r, (int64_t)r.CPU_NR);
		return true;
	}
	if (after && after->kind == SITE_LONG)
		site_follow_moved(task);
	return after != NULL;
}

/* Does the instruction at `ip` read the clock? It faults if the program had forbidden that before sctrace attached (PR_SET_TSC). */
static bool is_clock_read(const struct task *task, uint64_t ip)
{
	unsigned char code[CPU_CALL_SIZE];
	return remote_read(task->tid, ip, code, sizeof(code)) == 0 && cpu_is_clock_read(code);
}

/*
 * In a stub, only the part up to the return from the agent uses the stack. A fault after it is the program's: the kernel
 * also raises SIGSEGV if rseq_cs is invalid (rseq(2)), whatever the thread is about to execute.
 */
static bool can_be_ours(const struct image *img, uint64_t ip)
{
	const struct site *s = site_of_stub(img, ip);
	return !s || ip - s->stub <= STUB_STACK_END;
}

/*
 * Called when the thread was moved from `from`, in the agent or a stub, to `ip`. The signal handler will return to
 * `ip`, so an interrupted call is noted with that address.
 */
static void note_way_out(const struct patch *p, struct task *task, uint64_t from, uint64_t ip)
{
	const struct map *sites = &image_of(task)->sites.by_ip;
	struct call *last = life_interrupted(&thread_of(task)->life);
	const struct site *after = map_get(sites, ip);
	const struct site *before = map_get(sites, ip + CPU_CALL_SIZE);
	if (site_moved_from(image_of(task), ip) && !image_follow(p, task, ip))
		patch_task_of(task)->moved_frames++;
	if (last && after && last->ip == from)
		last->ip = after->ip;
	else if (last && before && last->ip == from + CPU_CALL_SIZE)
		last->ip = before->ip;
}

/*
 * The program single-steps itself (TF in its flags), and must see only steps of its own instructions. Its calls are
 * made from the stub. Natively, no step is reported between the call and the end of the instruction after it. Returns
 * true if this step must be hidden.
 */
static bool hide_step(struct patch *p, struct task *task, const siginfo_t *si, uint64_t ip)
{
	struct patch_task *pt = patch_task_of(task);
	const struct site *s = site_of_stub(image_of(task), ip);
	uint64_t hidden = pt->step_hidden;
	uint64_t off = s ? ip - s->stub : 0;
	if (si->si_signo != SIGTRAP || si->si_code != TRAP_TRACE)
		return false;
	pt->step_hidden = s && off == STUB_MOVED && (!s->moved || s->kind == SITE_EARLY) ? s->ip : 0;
	if (s && s->kind == SITE_EARLY && off == STUB_EARLY)
		return true; /* hidden, because the program's own code has no jump at the site */
	if (off >= STUB_AFTER_CALL && off < STUB_EXIT)
		return off <= STUB_MOVED;
	return ip == hidden || (stepout_needed(task, ip) && survive_fault(p, task, ip));
}

/* Moves the thread out of the agent before a signal handler runs. Returns STOP_PASS if the signal must be delivered. */
static enum tracer_verdict leave_code(struct patch *p, struct task *task, const siginfo_t *si)
{
	struct cpu_regs r;
	if (cpu_get(task->tid, &r) < 0)
		return STOP_PASS;
	uint64_t ip = r.CPU_IP;
	if (hide_step(p, task, si, ip))
		return STOP_HANDLED;
	bool inside = stepout_needed(task, ip);
	if (inside) {
		bool fault = (si->si_signo == SIGSEGV || si->si_signo == SIGBUS) && si->si_code > 0 &&
			     can_be_ours(image_of(task), ip);
		if (fault && is_clock_read(task, ip))
			image_fall_back(p, task, CLOCK_IS_FORBIDDEN);
		if (fault && (record_survive_fault(p, task) || survive_fault(p, task, ip))) {
			dispatch_mend_fault(p, task, si->si_signo);
			return task->stopped ? STOP_HANDLED : STOP_RESUMED;
		}
		/* Reads the registers again, because survive_fault() may have moved the thread. */
		if ((fault || si->si_signo == SIGTRAP) && cpu_get(task->tid, &r) < 0)
			return STOP_PASS;
	}
	bool sees = inside || core_is_dumped_by(si->si_signo);
	enum stepout_for what = sees ? seen_by(p, task, &r, si->si_signo) : STEPOUT_UNSEEN;
	/* The program's handler of a fault must see the native address of the instruction that faulted. */
	bool caused = si->si_code > 0 && si->si_code != SI_KERNEL && core_is_dumped_by(si->si_signo);
	/*
	 * sctrace usually sees the rt_sigreturn(2) of a signal handler, and corrects where the thread continues. It cannot
	 * do so if it has been killed (attached processes), or if it does not trace the task (a child of vfork(2) without
	 * -f). The thread must then be able to continue at the address in the handler's frame, so this address must not
	 * be in the middle of a jump that replaced two instructions.
	 */
	bool unseen = p->watchdog_fd >= 0 || !arm_is_served(p, task);
	bool handled = what == STEPOUT_PROGRAM || what == STEPOUT_CAUGHT;
	bool outlives = handled && unseen && !caused;
	patch_task_of(task)->steps = inside && handled && stepout_waits(&r);
	if (patch_task_of(task)->steps) {
		record_end_interrupted(p, task, &r, what == STEPOUT_CAUGHT);
		return STOP_PASS;
	}
	if (inside) {
		stepout_from(p, task, &r, what == STEPOUT_CORE ? STEPOUT_UNSEEN : outlives ? STEPOUT_HANDLER : what);
		if (handled)
			note_way_out(p, task, ip, r.CPU_IP);
	}
	if (what == STEPOUT_CORE)
		core_prepare(p, task, si);
	if (inside)
		mend_address(task, si, ip);
	return STOP_PASS;
}

/*
 * The kernel has moved the thread back to a call that ptrace has seen, and the signal has no handler, so the call will be made
 * again. If the site made it, the agent would count it as another call. So the stub makes it. The kernel itself chooses how a call
 * with a time limit continues, if the thread is where it has moved it: restart_syscall(2) never runs in the agent.
 */
static void restart_in_stub(const struct patch *p, struct task *task, int sig)
{
	const struct life_interrupted *it = life_restarting(&thread_of(task)->life);
	struct cpu_regs r;
	if (!CPU_RESTARTS_EARLY || !it || p->record || it->call.err == ERESTART_RESTARTBLOCK ||
	    image_of(task)->state != IMAGE_READY || cpu_get(task->tid, &r) < 0)
		return;
	const struct site *s = map_get(&image_of(task)->sites.by_ip, r.CPU_IP + CPU_CALL_SIZE);
	if (!s || !s->stub || s->ip != it->call.ip || seen_by(p, task, &r, sig) != STEPOUT_UNSEEN)
		return;
	r.CPU_IP = s->stub + STUB_AFTER_CALL;
	if (p->arming == ARM_KNOCK) { /* the instruction there does not stop by itself */
		dispatch_run_slow(p, task, &r, (int64_t)r.CPU_NR);
		return;
	}
	r.CPU_IP -= CPU_CALL_SIZE;
	cpu_set(task->tid, &r);
}

/*
 * Handles a signal for the program. If nothing will see the thread's position, the thread may stay where it is. But if
 * calls are recorded, the record of an interrupted call must be completed.
 */
static enum tracer_verdict pass_signal(struct patch *p, struct task *task, const siginfo_t *si)
{
	int sig = si->si_signo;
	bool stays = !p->record && !core_is_dumped_by(sig) && handler_of(task, sig) == HANDLER_NONE;
	enum tracer_verdict v = stays ? STOP_PASS : leave_code(p, task, si);
	if (v == STOP_PASS) {
		restart_in_stub(p, task, sig);
		dispatch_note_delivery(p, task, sig);
		image_note_frames(task);
	}
	return v;
}

/* The agent has called for sctrace. `r` is as if the thread had stopped at its call. */
static enum tracer_verdict answer_knock(struct patch *p, struct task *task, struct cpu_regs *r)
{
	const struct call call = {.arch = CPU_ARCH, .nr = (int64_t)r->CPU_NR};
	if (!patch_task_of(task) || !arm_is_served(p, task)) {
		r->CPU_IP -= CPU_CALL_SIZE; /* the call is made unseen */
		cpu_set(task->tid, r);
		return STOP_HANDLED;
	}
	if (withdraw_before(p, task, &call, r))
		return task->stopped ? STOP_HANDLED : STOP_RESUMED;
	return task->stopped ? dispatch_stop(p, task, &call, r) : STOP_RESUMED;
}

enum tracer_verdict signals_stop(struct tracer *t, struct task *task, const siginfo_t *si)
{
	struct patch *p = patch_of(t);
	struct patch_task *pt = patch_task_of(task);
	struct cpu_regs r;
	bool forced = si->si_signo == SIGSYS && pt && pt->armed && p->arming == ARM_SUD;
	if (forced && dispatch_is_forced(task, si, &r)) {
		const struct call call = {.arch = si->si_arch, .nr = si->si_syscall};
		dispatch_mend_forced(p, task);
		if (task->stopped && (call.nr == SYS_execve || call.nr == SYS_execveat))
			sigkill_guard_inherit(p, task);
		/* The agent's handler could not tell the SIGSYS of the program's own dispatch from that of sctrace. */
		if (task->stopped && call.nr == SYS_prctl && r.CPU_ARG0 == SUD_PRCTL)
			sigkill_guard_remove(p, task, false);
		if (task->stopped && withdraw_before(p, task, &call, &r))
			return task->stopped ? STOP_HANDLED : STOP_RESUMED;
		return task->stopped ? dispatch_stop(p, task, &call, &r) : STOP_RESUMED;
	}
	struct image *img = image_of(task);
	const enum knock knock = p->arming == ARM_KNOCK && img ? stepout_knock(task, si, &r) : KNOCK_NONE;
	if (knock != KNOCK_NONE)
		return knock == KNOCK_PAST ? STOP_HANDLED : answer_knock(p, task, &r);
	if (pt && pt->steps && si->si_signo == SIGTRAP) {
		pt->steps = false;
		stepout_of_frame(p, task);
		return STOP_HANDLED;
	}
	if (!img || !img->counters.region)
		return STOP_PASS;
	bool ignored = sigkill_guard_ignores(task, si);
	if (forced) {
		if (!ignored)
			sigkill_guard_remove(p, task, true);
		/*
		 * A SIGSYS with a positive si_code comes from a filter. It is left as it is: it ends a program that
		 * blocks or ignores it (force_sig_info_to_task).
		 */
		if (si->si_code <= 0)
			dispatch_mend_sigsys(p, task, si, !ignored);
		if (!task->stopped)
			return STOP_RESUMED;
	}
	if (ignored && p->record)
		stepout(p, task, STEPOUT_UNSEEN);
	if (ignored)
		return STOP_IGNORED;
	return pt ? pass_signal(p, task, si) : STOP_PASS;
}
