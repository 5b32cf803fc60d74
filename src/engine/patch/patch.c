/* SPDX-License-Identifier: MIT */
/*
 * The patch engine counts and times calls inside the program. state.h defines its terms. Its folders, each of which
 * uses only those before it:
 *
 *   code/     what the code in the program and sctrace share
 *   x86_64/   what depends on the processor (cpu.h): the agent, stubs and jumps; the search for padding
 *   arm/      how calls from outside the agent are made to stop; the watchdog
 *   remote/   the program's memory and mappings, and code that runs in it
 *   image/    an address space: its counters, its call sites, and the agent in it
 *   record/   recorded calls: converts the records that threads have written into their rings to events
 *   threads/  what to do with a thread that has stopped at a call or with a signal
 *
 * This file starts and ends the engine, and connects it to the stop loop (engine/ptrace/tracer.h). Beside it, children.c
 * handles clone and exec, and patch_attach.c attaching and detaching.
 */
#include "engine/patch/patch.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "base/memory.h"
#include "engine/costs.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/image_plan.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/threads/threads.h"
#include "syscall/call_table.h"
#include "tracee/proc.h"

#include "engine/ptrace/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

/* Called when the filter has stopped a call. Under ptrace, the entry of the call was already handled. */
static enum tracer_verdict on_seccomp(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	const struct patch_task *pt = patch_task_of(task);
	const struct image *img = image_of(task);
	struct call call;
	struct cpu_regs r;
	enum arm_stop filter_owner = arm_read_stop(task->tid, &call);
	if (filter_owner == ARM_STOP_PROGRAM)
		arm_answer_enosys(task->tid);
	/* If the image has fallen back, ptrace has not seen the entry of a call that an armed thread was about to make. */
	bool handles = img && pt && (img->state == IMAGE_READY || (img->state == IMAGE_FALLBACK && pt->armed));
	if (filter_owner != ARM_STOP_SCTRACE || thread_of(task)->in_call || !handles || pt->slow ||
	    cpu_get(task->tid, &r) < 0)
		return STOP_HANDLED;
	if (withdraw_before(p, task, &call, &r))
		return task->stopped ? STOP_HANDLED : STOP_RESUMED;
	return dispatch_stop(p, task, &call, &r);
}

/* Is a call that has stopped at `ip` one of the agent's? An exit(2) that the agent passes to the tracer is not. */
static bool is_of_agent(uint64_t ip)
{
	return ip - AGENT_CODE < AGENT_CODE_SIZE && !agent_is_between(ip, agent_allowed_end, agent_announce);
}

/*
 * Called at a syscall-stop outside of a call. Returns false if the stop needs no more handling, because the agent makes
 * and counts the call, or because a call is made again or has ended.
 */
static bool begins_call(struct patch *p, struct task *task)
{
	struct patch_task *pt = patch_task_of(task);
	const struct image *img = image_of(task);
	/* While a handler runs, the thread stops at each call, so that the handler's return is seen (ARM_KNOCK). */
	const bool handler = pt && pt->handlers && img && img->state == IMAGE_READY;
	const bool fallback = (img && img->state == IMAGE_FALLBACK) || handler;
	const bool inside = pt && img && image_has_agent(img);
	struct call call = {.nr = -1};
	struct cpu_regs r;
	uint64_t ip;
	if (inside && (pt->slow || fallback) && arch_ip(task->tid, &ip) == 0 && is_of_agent(ip)) {
		/*
		 * A call was to run under ptrace, but a signal handler has run before that call was made, and the handler
		 * makes this call. The earlier call will stop again. Or the image has fallen back while the thread was in
		 * the agent. The thread stays armed until it makes a call from outside the agent.
		 */
		if (pt->slow)
			arm_task(p, task, true);
		pt->slow = false;
		return false;
	}
	if (!fallback || (pt && pt->slow))
		return true;
	if (inside && (arm_read_stop(task->tid, &call) != ARM_STOP_ENTRY || cpu_get(task->tid, &r) < 0 ||
		       withdraw_before(p, task, &call, &r) || !dispatch_begin_fallback(p, task, call.nr, &r)))
		return false;
	p->slow_calls++;
	patch_note_stop(p, handler ? STOP_SITE : STOP_FALLBACK, -1);
	return true;
}

static bool on_syscall_stop(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct patch_task *pt = patch_task_of(task);
	bool masked = p->arming == ARM_FILTER;
	if (!thread_of(task)->in_call && !begins_call(p, task))
		return true;
	if (!pt || (!pt->slow && !masked))
		return false;
	if (masked && thread_of(task)->in_call)
		seccomp_mask_exit(task);
	if (pt->slow && !thread_of(task)->in_call)
		dispatch_leave_stub(p, task);
	const bool served = t->serves_pages;
	tracer_syscall_stop(t, task);
	if (thread_of(task)->in_call)
		image_note_frames(task); /* an interrupted call that has begun again may last as long as the program */
	if (t->serves_pages != served)
		record_permit_all(p);
	if (masked && thread_of(task)->in_call)
		seccomp_mask_enter(p, task);
	if (pt->slow && thread_of(task)->in_call)
		ranges_hide(task);
	if (pt->slow && !thread_of(task)->in_call) {
		sigkill_guard_mask(task);
		dispatch_end_slow(p, task);
	}
	return true;
}

static int resume_request(struct tracer *t, const struct task *task)
{
	struct patch_task *pt = patch_task_of(task);
	const struct image *img = image_of(task);
	if (pt && img)
		pt->serial = img->sites.serial;
	if (pt && pt->steps)
		return PTRACE_SINGLESTEP;
	if (!arm_is_served(patch_of(t), task))
		return PTRACE_CONT;
	return (pt && (pt->slow || pt->handlers)) || !img || img->state != IMAGE_READY ? PTRACE_SYSCALL : PTRACE_CONT;
}

/* Called when a stop is about to be handled: reads the recorded calls first, because they are earlier than the stop. */
static void on_look(struct tracer *t)
{
	if (patch_of(t)->record)
		record_look(patch_of(t));
}

static const struct tracer_ops patch_ops = {
	.waited = sigkill_guard_waited,
	.signal = exec_signal,
	.seccomp = on_seccomp,
	.unseen_clone = children_unseen_clone,
	.new_task = children_on_new_task,
	.first_stop = children_on_first_stop,
	.exec = exec_done,
	.death = children_on_death,
	.detach = detach_task,
	.leave = detach_clean,
	.gave_up = region_switch_off,
	.resume_request = resume_request,
	.syscall_stop = on_syscall_stop,
	.look = on_look,
	.record_flow = record_flow,
	.native_ip = record_native_ip,
	.next_recorded = record_next,
	.gather = region_collect_all,
};

/* --- the engine --- */

/* Can programs have the agent's addresses, and are pages as large as the agent expects? */
static int memory_probe(struct buf *why)
{
	void *at = (void *)AGENT_CODE; /* NOLINT(performance-no-int-to-ptr) */
	const long page = sysconf(_SC_PAGESIZE);
	if (page > CPU_PAGE_MOST) {
		buf_addf(why, "pages of this kernel have %ld bytes, and may have %d at most", page, CPU_PAGE_MOST);
		return -ENOTSUP;
	}
	void *got = mmap(at, AGENT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == at)
		munmap(at, AGENT_PAGE);
	else if (errno == ENOMEM)
		buf_adds(why, "addresses of programs have fewer than 47 bits with this kernel");
	return got == at || errno != ENOMEM ? 0 : -ENOTSUP;
}

/* Returns the ways (WAY_*) that SCTRACE_PATCH permits: all if it is not set, and 0 if one of its words is not known. */
static unsigned ways_allowed(void)
{
	static const struct {
		const char *name;
		unsigned way;
	} ways[] = {{"short", WAY_SHORT}, {"long", WAY_LONG}, {"redirect", WAY_REDIRECT}};
	const char *s = getenv("SCTRACE_PATCH");
	unsigned allowed = s ? 0 : WAY_SHORT | WAY_LONG | WAY_REDIRECT;
	while (s && *s) {
		size_t i = 0, len = strcspn(s, ",");
		while (i < 3 && (strlen(ways[i].name) != len || memcmp(ways[i].name, s, len) != 0))
			i++;
		if (i == 3)
			return 0;
		allowed |= ways[i].way;
		s += len + (s[len] == ',');
	}
	return allowed;
}

static int patch_probe(unsigned want, struct buf *why)
{
	enum arming how;
	if (!cpu_has_steady_ticks()) {
		buf_adds(why, "the processor's time stamp counter is not invariant");
		return -ENOTSUP;
	}
	if (!proc_is_usable()) {
		buf_adds(why, "/proc is not mounted, or shows another pid namespace");
		return -ENOTSUP;
	}
	if (CPU_PAGES_VARY && memory_probe(why) < 0)
		return -ENOTSUP;
	if (!ways_allowed()) {
		buf_addf(why, "the variable SCTRACE_PATCH is '%s', but must be a list of short, long and redirect",
			 getenv("SCTRACE_PATCH"));
		return -EINVAL;
	}
	if (want & CAP_WAITS && !waits_probe()) {
		buf_adds(why, "it cannot tell which calls waited, because the kernel or the C library of sctrace lacks "
			      "restartable sequences (rseq(2)), or the processor lacks " CPU_READS_THREAD_POINTER);
		return -ENOTSUP;
	}
	int r = want & CAP_EVENTS && !(want & CAP_COUNTS) ? record_probe(why) : 0;
	return r < 0 ? r : arm_choose(want, &how, why);
}

static struct patch *patch_new(void)
{
	struct patch *p = memory_zeroed(1, sizeof(*p));
	p->t.base.ops = &engine_patch;
	tracer_init(&p->t, &patch_ops);
	p->tsc0 = cpu_ticks();
	p->ns0 = clock_ns();
	p->ways = WAY_SHORT | WAY_LONG | WAY_REDIRECT;
	p->watchdog_fd = -1;
	image_expect_usual_calls(p);
	return p;
}

static void patch_free(struct patch *p)
{
	if (p->t.failed)
		sigkill_guard_rescue(p);
	tracer_detach_all(&p->t);
	remote_release_all();
	record_close(p);
	region_free_all(p);
	plan_free_all(p);
	vec_free(&p->calls);
	vec_free(&p->often);
	vec_free(&p->resume_points);
	call_filter_free(&p->filter);
	if (p->watchdog_fd >= 0)
		close(p->watchdog_fd);
	tracer_free(&p->t);
	buf_free(&p->fallback_why);
	free(p);
}

/* Measures the cost of a call and the length of a tick with a second patch engine. Returns 0 or -errno. */
static int measure_agent(struct patch *p, struct cost_numbers *cost)
{
	struct patch *probe = patch_new();
	probe->arming = p->arming == ARM_SUD ? ARM_SUD : ARM_FILTER; /* only the first of many calls stops */
	probe->tsc0 = p->tsc0;
	probe->ns0 = p->ns0;
	int r = patch_calibrate(probe, cost);
	p->tick_ns = probe->tick_ns;
	patch_free(probe);
	return r;
}

/* Measures the cost of calls through the agent and ptrace. If that fails, none is subtracted, as the footer says. */
static void calibrate(struct patch *p)
{
	const char *name = p->arming == ARM_SUD ? "patch, armed by dispatch" : "patch, armed by a filter";
	struct cost_numbers n = {0}, measured;
	int r = 0;
	struct costs *kept = costs_open();
	tracer_calibrate(kept, p->t.cost);
	if (costs_find(kept, name, &n) < 0)
		for (int i = 0; i < COSTS_TRIES && (i == 0 || cost_of(&n) <= 0); i++)
			if ((r = measure_agent(p, &measured)) == 0)
				costs_keep(kept, name, &measured, &n);
	p->fast = (struct tracer_cost){cost_of(&n), n.v[COST_SPREAD], r};
	p->tick_ns = n.v[COST_TICK] > 0 ? n.v[COST_TICK] : p->tick_ns;
	p->t.unseen_cost = p->fast;
	costs_close(kept);
}

/* Chooses how tasks are armed. With ARM_FILTER, the program installs the filter before its execve(2). */
static int set_arming(struct patch *p, struct engine_config *c)
{
	struct buf how = {0};
	int r = arm_choose(c->nattach ? CAP_ATTACH : 0, &p->arming, &how);
	struct proc_status own;
	buf_free(&how);
	proc_status(getpid(), &own);
	p->filters = own.filters + (p->arming == ARM_FILTER);
	p->root = geteuid() == 0;
	p->rights = own.has_signals ? own.permitted : ~UINT64_C(0);
	if (r < 0 || p->arming != ARM_FILTER)
		return r;
	c->spawn.before_user = call_filter_install;
	c->spawn.before_ctx = &p->filter;
	p->t.filter = p->t.hold = true;
	arm_filter_build(&p->filter);
	return 0;
}

/* The agent counts all calls but these, which are to be events as well, and so stop. */
static void stop_at(struct patch *p, const struct call_set *only)
{
	for (int nr = 0; nr < AGENT_NUMBERS; nr++)
		if (only->bits[nr / 64] >> (nr % 64) & 1)
			p->record_way[nr] = RECORD_STOPS;
}

/* The kernel must be asked, and a seccomp filter of sctrace's own could answer in its place, or end sctrace. */
static bool has_only_native_calls(void)
{
	return prctl(PR_GET_SECCOMP) == 0 && syscall(CPU_OTHER_GETPID) < 0 && errno == ENOSYS;
}

static int patch_start(struct engine **out, const struct engine_config *config, struct buf *why)
{
	struct engine_config c = *config;
	int r = tracer_pin(config, why);
	if (r < 0)
		return r;
	struct patch *p = patch_new();
	p->ways = ways_allowed();
	/* Addresses in stack traces refer to the instructions that long jumps overwrite. */
	if (config->want & CAP_STOPS)
		p->ways &= ~(unsigned)WAY_LONG;
	p->debug = getenv("SCTRACE_DEBUG") != NULL;
	p->only_native = has_only_native_calls();
	p->waits = waits_probe();
	r = set_arming(p, &c);
	if (r == 0) {
		calibrate(p);
		plan_open_kept(p);
	}
	if (r == 0 && config->want & CAP_EVENTS && !(config->want & CAP_COUNTS))
		record_open(p, config);
	else if (config->want & CAP_EVENTS)
		stop_at(p, config->only);
	p->t.exit_kill = config->spawn.argv != NULL;
	if (r == 0 && config->nattach)
		r = watchdog_start(p);
	if (r == 0)
		r = tracer_start(&p->t, &c, why);
	if (r == 0 && config->nattach)
		attach_all(p);
	if (r < 0) {
		patch_free(p);
		return r;
	}
	*out = &p->t.base;
	return 0;
}

/* If fewer calls than this have stopped, the program was not slow for this reason. */
#define STOPS_LEAST 1000

/* The calls of a run: all of them, those that stopped, the most frequent reason for stops, and its most frequent call. */
struct stops {
	uint64_t all, stopped;
	int reason, nr;
};

static struct stops sum_stops(const struct patch *p)
{
	struct stops s = {.all = p->agent_calls + p->slow_calls};
	uint64_t of[STOP_REASONS] = {0};
	for (int k = 0; k < STOP_REASONS; k++) {
		for (int nr = 0; nr < AGENT_CALLS; nr++)
			of[k] += p->stops[k][nr];
		s.stopped += of[k];
		s.reason = of[k] > of[s.reason] ? k : s.reason;
	}
	for (int nr = 0; nr < AGENT_CALLS; nr++) {
		s.all += p->record ? p->record->reported_calls[nr] : 0;
		s.nr = p->stops[s.reason][nr] > p->stops[s.reason][s.nr] ? nr : s.nr;
	}
	s.all = s.all > s.stopped ? s.all : s.stopped;
	return s;
}

static const char *reason_text(const struct patch *p, int reason)
{
	static const char *const texts[STOP_REASONS] = {
		[STOP_FIRST] = "they were the first calls at their call sites",
		[STOP_WATCHED] = "sctrace had to see them, for example because they change signal masks",
		[STOP_SURVEY] = "sctrace patched the libraries of a new program at these stops",
		[STOP_SITE] = "the code at their call sites cannot be changed",
		[STOP_REQUIRED] = "these calls cannot be recorded, or an option requires a stop",
		[STOP_ARGUMENTS] = "these calls, or their arguments, need ptrace",
		[STOP_RESTART] = "signals had interrupted them",
		[STOP_FULL] = "sctrace could not read the records fast enough",
		[STOP_NO_RING] = "memory or address space is too scarce for the records of all threads",
		[STOP_CONTENDED] = ("several threads have the same " CPU_POINTER_NAME),
		[STOP_ASKED] = "sctrace had to read the memory of these calls itself",
		[STOP_ANNOUNCED] = "they change names that are shown, or may write to the terminal of the trace",
		[STOP_SHARED] = "other processes use the same memory",
		[STOP_FOREIGN] = "they do not use the 64-bit interface",
	};
	return reason == STOP_FALLBACK ? buf_str(&p->fallback_why) : texts[reason];
}

static void say_stops(const struct patch *p, const struct stops *s, struct buf *text)
{
	const char *name = syscall_name_known(syscall_native_arch(), s->nr);
	if (s->stopped < STOPS_LEAST || s->stopped <= s->all / 100)
		return;
	buf_addf(text, "%.0f %% of %llu calls stopped the program%s%s%s because %s",
		 100 * (double)s->stopped / (double)s->all, (unsigned long long)s->all, name ? ", mostly " : "",
		 name ? name : "", name ? "," : "", reason_text(p, s->reason));
}

/* Prints how many calls stopped, and why (tests/bench/threads.py). */
static void print_stops(const struct patch *p)
{
	const struct stops s = sum_stops(p);
	fprintf(stderr, "sctrace: stopped %llu of %llu\n", (unsigned long long)s.stopped, (unsigned long long)s.all);
	for (int k = 0; k < STOP_REASONS; k++)
		for (int nr = 0; nr < AGENT_CALLS; nr++)
			if (p->stops[k][nr])
				fprintf(stderr, "sctrace: stopped %d times at call %d: %s\n", (int)p->stops[k][nr], nr,
					reason_text(p, k));
}

static void patch_slowness(const struct engine *e, struct buf *text)
{
	const struct patch *p = (const struct patch *)e;
	const struct stops s = sum_stops(p);
	say_stops(p, &s, text);
}

/* The footer names the resolution of a clock that is at least this slow. A call takes some hundred nanoseconds. */
#define TICK_LONG_NS 5

static void patch_footer(const struct engine *e, struct buf *text)
{
	struct buf slow = {0};
	const struct patch *p = (const struct patch *)e;
	buf_adds(text, "engine: patch; ");
	if (p->fast.ns > 0)
		buf_addf(text, "the cost of tracing, %.2f us per call, was subtracted from the times above",
			 p->fast.ns / 1e3);
	else
		tracer_cost_unknown(&p->fast, text);
	if (p->t.cost[NOTICED_ASLEEP].ns > 0 && p->t.cost[NOTICED_ASLEEP].ns != p->t.cost[NOTICED_POLLING].ns)
		buf_addf(text, " (%.1f or %.1f us for calls that ptrace traced)", p->t.cost[NOTICED_ASLEEP].ns / 1e3,
			 p->t.cost[NOTICED_POLLING].ns / 1e3);
	else if (p->t.cost[NOTICED_ASLEEP].ns > 0)
		buf_addf(text, " (%.1f us for calls that ptrace traced)", p->t.cost[NOTICED_ASLEEP].ns / 1e3);
	if (p->fallback_images)
		buf_addf(text, "\n%llu of %llu program images were traced by ptrace: %s",
			 (unsigned long long)p->fallback_images, (unsigned long long)p->images,
			 buf_str(&p->fallback_why));
	if (p->tick_ns >= TICK_LONG_NS)
		buf_addf(text,
			 "\nthe clock of the processor ticks every %.0f ns, which limits how precise single times are",
			 p->tick_ns);
	if (p->unproven)
		buf_addf(text,
			 "\n%llu places that may contain a system call or data were left as they are; calls there are "
			 "not seen",
			 (unsigned long long)p->unproven);
	site_say_often(p, text);
	if (sum_stops(p).reason != STOP_FALLBACK)
		patch_slowness(e, &slow);
	buf_addf(text, "%s%s", slow.len ? "\n" : "", buf_str(&slow));
	buf_free(&slow);
}

static void patch_stop(struct engine *e)
{
	if (((struct patch *)e)->debug)
		print_stops((struct patch *)e);
	patch_free((struct patch *)e);
}

const struct engine_ops engine_patch = {
	.name = "patch",
	.purpose = "counts, times and records calls inside the program; fast; the default for -c and for traces",
	.caps = CAP_EVENTS | CAP_COUNTS | CAP_BY_PROCESS | CAP_FOLLOW | CAP_ATTACH | CAP_LEAVE | CAP_INJECT |
		CAP_STOPS | CAP_MAIN | CAP_WAITS | CAP_ERRNOS,
	.probe = patch_probe,
	.start = patch_start,
	.next = tracer_next,
	.collect = tracer_collect,
	.detach = tracer_detach,
	.is_needed = tracer_is_needed,
	.kill = tracer_kill,
	.result = tracer_result,
	.footer = patch_footer,
	.slowness = patch_slowness,
	.stop = patch_stop,
};
