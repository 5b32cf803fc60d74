/*
 * The patch engine: calls are counted and timed inside the program. This file is its host side's wiring: what each stop
 * means here. agent.S runs in the program; children.c, image.c, site.c, stepout.c, remote.c, maps.c do the work; padding.c and
 * encode.c are the pure parts; sud.c arms threads, so that a call from outside the agent stops as a SIGSYS.
 */
#include "engine/patch/patch.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "engine/costs.h"
#include "syscall/table.h"
#include "tracee/proc.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/audit.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

/* Gives up on the agent in this image: from now on its calls are traced by ptrace. */
void image_fall_back(struct patch *p, struct task *task, const char *why)
{
	struct image *img = image_of(task);
	if (img->state == IMAGE_FALLBACK)
		return;
	image_switch(p, img, true);
	img->state = IMAGE_FALLBACK;
	p->fallback_images++;
	if (!p->fallback_why.len)
		buf_adds(&p->fallback_why, why);
	if (p->debug)
		fprintf(stderr, "sctrace: [%d] traced by ptrace: %s\n", (int)task->tid, why);
}

/* --- other signals --- */

/* Does the process have a handler for `sig`? Where that cannot be read, yes: then the thread leaves our code. */
static bool is_caught(pid_t tid, int sig)
{
	struct proc_status s;
	proc_status(tid, &s);
	return !s.has_signals || s.caught & SIGBIT(sig);
}

/*
 * What tells an address of ours, `from`, tells the program's: a filter's SIGSYS where the call was made, and a fault or a step of
 * an instruction that moved into a stub (sigaction(2), si_addr).
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
	ptrace(PTRACE_SETSIGINFO, task->tid, NULL, &mended);
}

/*
 * The agent faulted, at `ip`: there is no room for its frame on the program's stack, of which a system call needs none. The call
 * is made from its stub, which needs none either. False: the fault is not the agent's doing.
 */
static bool survive_fault(struct patch *p, struct task *task, uint64_t ip)
{
	struct user_regs_struct r;
	if (ip == AGENT_AT(agent_sigreturn_bad))
		return false;
	stepout(p, task, true);
	if (ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return false;
	const struct site *before = map_get(&image_of(task)->sites, r.rip + 2);
	const struct site *behind = ip - AGENT_CODE < AGENT_PAGE ? map_get(&image_of(task)->sites, r.rip) : NULL;
	if (before && before->stub) {
		r.rip = before->stub + STUB_AFTER_CALL;
		dispatch_run_slow(p, task, &r, (int64_t)r.rax);
		return true;
	}
	if (behind && behind->kind == SITE_LONG)
		site_follow_moved(task);
	return behind != NULL;
}

/* The thread left our code at `from`, and its handler will return to elsewhere: an interrupted call is looked for there. */
static void note_way_out(struct task *task, uint64_t from)
{
	uint64_t ip = 0;
	arch_ip(task->tid, &ip);
	const struct map *sites = &image_of(task)->sites;
	struct interrupted *last = task->interrupted.n ? &task->interrupted.v[task->interrupted.n - 1] : NULL;
	const struct site *behind = map_get(sites, ip);
	const struct site *before = map_get(sites, ip + 2);
	if (site_moved_from(image_of(task), ip))
		patch_task_of(task)->moved_frames++;
	if (last && behind && last->call.ip == from)
		last->call.ip = behind->ip;
	else if (last && before && last->call.ip == from + 2)
		last->call.ip = before->ip;
}

/*
 * The program single-steps itself (TF in its flags): it is told of its own instructions alone. A call of that kind is made from
 * the stub, and as natively none is told of between the call and the end of the instruction behind it. True: not to be told.
 */
static bool hide_step(struct patch *p, struct task *task, const siginfo_t *si, uint64_t ip)
{
	struct patch_task *pt = patch_task_of(task);
	const struct site *s = site_of_stub(image_of(task), ip);
	uint64_t hidden = pt->step_hidden;
	uint64_t off = s ? ip - s->stub : 0;
	if (si->si_signo != SIGTRAP || si->si_code != TRAP_TRACE)
		return false;
	pt->step_hidden = s && off == STUB_MOVED && !s->moved ? s->ip : 0;
	if (off >= STUB_AFTER_CALL && off < STUB_EXIT)
		return off <= STUB_MOVED;
	return ip == hidden || (stepout_needed(task, ip) && survive_fault(p, task, ip));
}

/* A signal that is none of ours: the thread leaves our code before its handler runs. */
static enum tracer_verdict pass_signal(struct patch *p, struct task *task, const siginfo_t *si)
{
	uint64_t ip;
	if (arch_ip(task->tid, &ip) < 0)
		return STOP_PASS;
	if (hide_step(p, task, si, ip))
		return STOP_OURS;
	if (stepout_needed(task, ip)) {
		bool fault = (si->si_signo == SIGSEGV || si->si_signo == SIGBUS) && si->si_code > 0;
		if (fault && survive_fault(p, task, ip))
			return STOP_OURS;
		bool caught = is_caught(task->tid, si->si_signo);
		stepout(p, task, caught);
		if (caught)
			note_way_out(task, ip);
		mend_address(task, si, ip);
	}
	dispatch_note_delivery(task, si->si_signo);
	image_note_frames(task);
	return STOP_PASS;
}

static enum tracer_verdict on_signal(struct tracer *t, struct task *task, const siginfo_t *si)
{
	struct patch *p = patch_of(t);
	struct patch_task *pt = patch_task_of(task);
	struct user_regs_struct r;
	bool forced = si->si_signo == SIGSYS && pt && pt->armed && p->arming == ARM_SUD;
	if (forced && dispatch_is_forced(task, si, &r))
		return dispatch_forced(p, task, si, &r);
	struct image *img = image_of(task);
	if (!img || !img->region)
		return STOP_PASS;
	if (forced) {
		sigkill_guard_remove(p, task, true);
		if (si->si_code <=
		    0) /* else a filter's: what is blocked or ignored ends the program (force_sig_info_to_task) */
			dispatch_mend_own(p, task, si);
		if (!task->stopped)
			return STOP_HELD;
	}
	return pt ? pass_signal(p, task, si) : STOP_PASS;
}

/* A call that the filter stopped. Where calls are traced by ptrace its entry was seen already. */
static enum tracer_verdict on_seccomp(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	const struct patch_task *pt = patch_task_of(task);
	const struct image *img = image_of(task);
	struct call call;
	struct user_regs_struct r;
	enum arm_stop whose = arm_read_stop(task->tid, &call);
	if (whose == ARM_STOP_THEIRS)
		arm_answer_theirs(task->tid);
	if (whose != ARM_STOP_OURS || task->in_call || !img || img->state != IMAGE_READY || !pt || pt->slow ||
	    ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return STOP_OURS;
	return dispatch_stop(p, task, &call, &r);
}

static bool on_syscall_stop(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct patch_task *pt = patch_task_of(task);
	uint64_t ip;
	bool masked = p->arming == ARM_FILTER;
	if (!pt || (!pt->slow && !masked))
		return false;
	/* A handler came before the call, and this one is the agent's, which counts it itself. The other will stop again. */
	if (pt->slow && !task->in_call && arch_ip(task->tid, &ip) == 0 && ip - AGENT_CODE < AGENT_PAGE) {
		pt->slow = false;
		arm_task(p, task, image_of(task)->state == IMAGE_READY);
		return true;
	}
	if (masked && task->in_call)
		seccomp_mask_exit(task);
	tracer_syscall_stop(t, task);
	if (masked && task->in_call)
		seccomp_mask_enter(p, task);
	if (pt->slow && !task->in_call) {
		pt->slow = false;
		pt->completed_ip = task->call.ip;
		if (!task->call.error && dispatch_sets_filter(task->call.nr, task->call.args[0], task->call.args[1]))
			p->seccomp_seen = true;
		bool returned = task->call.nr == SYS_rt_sigreturn;
		if (task->call.nr == SYS_rt_sigprocmask || (returned && (pt->sigsys_blocked || pt->returns_blocked)))
			patch_note_mask(p, task);
		pt->returns_blocked &= !returned;
		if (task->call.nr == SYS_rt_sigaction)
			sigkill_guard_mask(task);
		if (returned && site_follow_moved(task) && pt->moved_frames)
			pt->moved_frames--;
		image_note_frames(task);
		arm_task(p, task, image_of(task)->state == IMAGE_READY);
	}
	return true;
}

static void on_detach(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	const struct image *img = image_of(task);
	if (!img)
		patch_refuse_all(task);
	if (!img || !img->region)
		return;
	/* For threads that cannot be stopped, too; a child that goes alone may share it with its parent. */
	if (img->selected && t->detaching)
		img->region->slots[AGENT_SLOTS_SIZE] = 0;
	patch_settle_pending(p, task);
	arm_task(p, task, false);
	if (task->proc->counted)
		stepout(p, task, true);
	if (!t->detaching)
		patch_refuse_all(task);
}

static void on_leave(struct tracer *t, struct task *task)
{
	patch_clean(patch_of(t), task);
}

static int resume_request(struct tracer *t, const struct task *task)
{
	struct patch_task *pt = patch_task_of(task);
	const struct image *img = image_of(task);
	remote_release();
	if (pt && img)
		pt->serial = img->serial;
	if (!patch_is_served(patch_of(t), task))
		return PTRACE_CONT;
	return (pt && pt->slow) || !img || img->state != IMAGE_READY ? PTRACE_SYSCALL : PTRACE_CONT;
}

static uint64_t calls_so_far(struct tracer *t)
{
	return region_calls(patch_of(t));
}

/* From here on no call stops that we could not answer. */
static void on_gave_up(struct tracer *t)
{
	region_switch_off(patch_of(t));
}

static const struct tracer_ops patch_ops = {
	.waited = sigkill_guard_waited,
	.signal = on_signal,
	.seccomp = on_seccomp,
	.birth = patch_on_birth,
	.first_stop = patch_on_first_stop,
	.exec = patch_on_exec,
	.death = patch_on_death,
	.detach = on_detach,
	.leave = on_leave,
	.gave_up = on_gave_up,
	.resume_request = resume_request,
	.syscall_stop = on_syscall_stop,
	.calls_so_far = calls_so_far,
};

int patch_adopt(struct patch *p, pid_t pid)
{
	struct user_regs_struct r, saved;
	int status;
	struct tracer *t = &p->t;
	t->ops = &patch_ops;
	t->config.want = CAP_COUNTS;
	long options =
		PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | (p->arming == ARM_FILTER ? PTRACE_O_TRACESECCOMP : 0);
	if (ptrace(PTRACE_SEIZE, pid, NULL, options) < 0)
		return -errno;
	struct task *task = tasks_add(&t->tasks, pid);
	if (!task || tasks_join(&t->tasks, task, pid) < 0 || !patch_give_data(task))
		return -ENOMEM;
	task->fresh = false;
	task->proc->counted = true;
	task->proc->image = image_new();
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || tracer_wait_task(t, pid, &status) < 0 ||
	    !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0 || !task->proc->image)
		return -ECHILD;
	task->stopped = true;
	saved = r;
	/* Only its own loop runs in it: no thread can be behind a call. */
	((struct image *)task->proc->image)->from_start = true;
	uint64_t at = tracer_entry_point(pid);
	int err = at ? image_setup(p, task, at) : -ENOEXEC;
	ptrace(PTRACE_SETREGS, pid, NULL, &saved);
	arm_task(p, task, true);
	t->current = task;
	return err;
}

/* --- the engine --- */

/* The time stamp counter must tick evenly through all states (Intel SDM 3B, 17.17.1: CPUID 80000007H, EDX bit 8). */
static bool tsc_is_invariant(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}

static int patch_probe(unsigned want, struct buf *why)
{
	enum arming how;
	if (!tsc_is_invariant()) {
		buf_adds(why, "the processor's time stamp counter is not invariant");
		return -ENOTSUP;
	}
	return arm_choose(want, &how, why);
}

static unsigned ways_allowed(void)
{
	const char *s = getenv("SCTRACE_PATCH");
	if (!s)
		return WAY_SHORT | WAY_LONG | WAY_REDIRECT;
	return (strstr(s, "short") ? WAY_SHORT : 0) | (strstr(s, "long") ? WAY_LONG : 0) |
	       (strstr(s, "redirect") ? WAY_REDIRECT : 0);
}

/* The cost of the agent and the length of a tick, on a child that another engine of this kind traces. */
static void measure_agent(struct patch *p)
{
	struct patch *probe = calloc(1, sizeof(*probe));
	if (!probe)
		return;
	probe->watchdog_fd = -1;
	probe->arming = p->arming;
	probe->ways = WAY_SHORT | WAY_LONG | WAY_REDIRECT;
	probe->tsc0 = p->tsc0;
	probe->ns0 = p->ns0;
	probe->t.go_fd = probe->t.err_fd = -1;
	if (patch_calibrate(probe) == 0)
		p->fast = probe->fast;
	p->tick_ns = probe->tick_ns;
	region_free_all(probe);
	plan_free_all(probe);
	vec_free(&probe->calls);
	tracer_free(&probe->t);
	buf_free(&probe->fallback_why);
	free(probe);
}

/* Both ways' costs; where one cannot be had its times keep it, and the footer says so. */
static void calibrate(struct patch *p, bool pinned)
{
	const char *name = p->arming == ARM_SUD ? "patch, armed by dispatch" : "patch, armed by a filter";
	struct cost_numbers n;
	(void)tracer_calibrate(&p->t.cost, pinned);
	if (costs_find(name, &n) < 0) {
		measure_agent(p);
		n = (struct cost_numbers){{p->fast.ns, p->fast.spread_ns, p->tick_ns}};
		if (p->fast.ns > 0)
			costs_keep(name, &n, &n);
	}
	p->fast = (struct tracer_cost){n.v[0], n.v[1]};
	p->tick_ns = n.v[2];
	p->t.unseen_cost = p->fast;
}

static void patch_free(struct patch *p)
{
	if (p->t.failed)
		sigkill_guard_rescue(p);
	tracer_detach_all(&p->t);
	remote_release();
	region_free_all(p);
	plan_free_all(p);
	vec_free(&p->calls);
	vec_free(&p->resume_points);
	call_filter_free(&p->filter);
	if (p->watchdog_fd >= 0)
		close(p->watchdog_fd);
	tracer_free(&p->t);
	buf_free(&p->fallback_why);
	free(p);
}

/* Settles how tasks are armed; a filter is installed by the program before it runs and stays in all that descends from it. */
static int set_arming(struct patch *p, struct engine_config *c)
{
	struct buf how = {0};
	int r = arm_choose(c->nattach ? CAP_ATTACH : 0, &p->arming, &how);
	struct proc_status own;
	buf_free(&how);
	proc_status(getpid(), &own);
	p->filters = own.filters + (p->arming == ARM_FILTER);
	if (r < 0 || p->arming == ARM_SUD)
		return r;
	c->spawn.before_exec = call_filter_install;
	c->spawn.before_exec_ctx = &p->filter;
	p->t.filter = p->t.hold = true;
	return arm_filter_build(&p->filter);
}

static int patch_start(struct engine **out, const struct engine_config *config, struct buf *why)
{
	struct engine_config c = *config;
	int r = tracer_pin(config, why);
	struct patch *p = r < 0 ? NULL : calloc(1, sizeof(*p));
	if (!p)
		return r < 0 ? r : -ENOMEM;
	p->t.base.ops = &engine_patch;
	p->t.ops = &patch_ops;
	p->t.go_fd = p->t.err_fd = -1;
	p->tsc0 = __rdtsc();
	p->ns0 = clock_ns();
	p->ways = ways_allowed();
	p->debug = getenv("SCTRACE_DEBUG") != NULL;
	p->watchdog_fd = -1;
	r = set_arming(p, &c);
	if (r == 0)
		calibrate(p, config->spawn.pin_tracer);
	p->t.calls_unseen = true;
	p->t.exit_kill = config->spawn.argv != NULL;
	if (r == 0 && config->nattach)
		r = patch_start_watchdog(p);
	if (r == 0)
		r = tracer_start(&p->t, &c, &patch_ops, why);
	if (r == 0 && config->nattach)
		r = patch_attach_all(p);
	if (r < 0) {
		patch_free(p);
		return r;
	}
	*out = &p->t.base;
	return 0;
}

static int patch_collect(struct engine *e, struct summary *s)
{
	struct patch *p = (struct patch *)e;
	region_collect_all(p);
	return tracer_collect(e, s);
}

static void patch_footer(const struct engine *e, struct buf *text)
{
	const struct patch *p = (const struct patch *)e;
	buf_adds(text, "engine: patch; ");
	if (p->fast.ns > 0)
		buf_addf(text, "%.2f us per call of tracing removed from the times above", p->fast.ns / 1e3);
	else
		buf_adds(text, "its cost could not be measured and is part of the times above");
	if (p->t.cost.ns > 0)
		buf_addf(text, " (%.1f us for calls that went by ptrace)", p->t.cost.ns / 1e3);
	if (p->fallback_images)
		buf_addf(text, "\n%llu of %llu program images were traced by ptrace: %s",
			 (unsigned long long)p->fallback_images, (unsigned long long)p->images,
			 buf_str(&p->fallback_why));
}

static void patch_stop(struct engine *e)
{
	patch_free((struct patch *)e);
}

const struct engine_ops engine_patch = {
	.name = "patch",
	.purpose = "counts and times calls inside the program: fast, needs no privilege; x86-64",
	.caps = CAP_COUNTS | CAP_BY_PROCESS | CAP_FOLLOW | CAP_ATTACH,
	.probe = patch_probe,
	.start = patch_start,
	.next = tracer_next,
	.collect = patch_collect,
	.detach = tracer_detach,
	.kill = tracer_kill,
	.result = tracer_result,
	.footer = patch_footer,
	.stop = patch_stop,
};
