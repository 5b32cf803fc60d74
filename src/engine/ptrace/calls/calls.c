#include "engine/ptrace/calls/calls.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "engine/ptrace/state/event.h"
#include "engine/ptrace/state/group.h"
#include "syscall/table.h"

#include <string.h>

bool tracer_call_is(const struct call *c, const char *name)
{
	return c->nr >= 0 && c->nr == syscall_number(c->arch, name); /* -1: the architecture does not have the call */
}

static bool counted(const struct tracer *t, const struct task *task)
{
	return task->proc->counted && (t->config.want & CAP_COUNTS);
}

/*
 * Adds the ends of calls to the counts. The tracing cost of a call is that of one entry and one exit. If a call was
 * interrupted, the cost of its earlier entries was already subtracted.
 */
static void record(struct tracer *t, struct task *task, const struct life_ends *ends)
{
	struct summary_group *g = ends->n && counted(t, task) ? tracer_group(t, task) : NULL;
	for (size_t i = 0; g && i < ends->n; i++)
		summary_end(&t->counts, g, &ends->v[i]);
}

static void read_frame(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	const struct call *c = &k->call;
	struct life_frame f = {.length = c->ip - arch_call_site(c->arch, c->ip)};
	struct life_ends ends;
	if (arch_sigframe(c->arch, tracer_mem(t, task), c->sp, &f.ip, &f.result) < 0)
		return;
	life_return_to(&k->life, &f, &ends);
	record(t, task, &ends);
}

void tracer_call_at_attach(struct tracer *t, struct task *task, bool report)
{
	struct thread *k = thread_of(task);
	k->resumes = arch_read_call(task->tid, &k->resumed) == 0;
	if (!report || !task->proc->counted)
		return;
	struct event *ev = tracer_event(t, EV_ATTACH, task);
	ev->call = k->resumed;
	if (!k->resumes)
		ev->call.nr = -1;
	ev->call.desc = ev->call.nr < 0 ? NULL : syscall_lookup(ev->call.arch, ev->call.nr);
}

/*
 * Called at each call. If attaching interrupted a call with a time limit, the thread's first call is
 * restart_syscall(2), by which the kernel continues the interrupted call. restart_syscall(2) has no arguments, so its
 * number and arguments are replaced by those of the interrupted call, which tracer_call_at_attach() has read from the
 * registers. The instruction pointer is after the call instruction, or at this instruction if the kernel moves the
 * pointer back before the thread stops (aarch64).
 */
static void name_resumed(struct thread *k)
{
	struct call *c = &k->call;
	const struct call *r = &k->resumed;
	bool first = k->resumes;
	k->resumes = false;
	if (!first || !tracer_call_is(c, "restart_syscall") || c->arch != r->arch || c->sp != r->sp ||
	    (c->ip != r->ip && arch_call_site(c->arch, c->ip) != r->ip))
		return;
	c->restart = true;
	c->nr = r->nr;
	memcpy(c->args, r->args, sizeof(c->args));
}

void tracer_call_enter(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	struct call *c = &k->call;
	struct life_ends ends;
	c->error = false;
	c->cost_ns = c->spread_ns = 0;
	k->in_call = true;
	life_enter(&k->life, c, &ends);
	name_resumed(k);
	record(t, task, &ends);
	if (life_wants_frame(&k->life, c))
		read_frame(t, task);
	c->enter_ns = clock_ns();
}

void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns)
{
	struct thread *k = thread_of(task);
	struct life_ends ends;
	k->call.cost_ns = t->unseen_cost.ns > 0 ? (uint64_t)t->unseen_cost.ns : 0;
	k->call.spread_ns = (uint64_t)t->unseen_cost.spread_ns;
	life_interrupt_unseen(&k->life, &k->call, elapsed_ns, &ends);
	record(t, task, &ends);
}

/* Counts a child process that is not followed. The kernel reports only new threads (ptrace(2), PTRACE_O_TRACECLONE). */
static void note_unfollowed(struct tracer *t, struct task *task, const struct call *c)
{
	static const char *const names[] = {"fork", "vfork", "clone", "clone3"};
	struct thread *k = thread_of(task);
	bool creates = false, reported = k->reported_child;
	k->reported_child = false;
	if (!task->proc->counted || t->options & PTRACE_O_TRACEFORK || reported || c->error || c->result <= 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		creates |= tracer_call_is(c, names[i]);
	t->result.unfollowed += creates;
}

void tracer_call_exit(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	struct call *c = &k->call;
	struct life_ends ends;
	const struct tracer_cost *cost = &t->cost[t->handled.noticed];
	c->duration_ns = t->handled.noticed_ns - k->entered_ns;
	c->cost_ns = cost->ns > 0 ? (uint64_t)cost->ns + t->handled.in_vain_ns : 0;
	c->spread_ns = (uint64_t)cost->spread_ns;
	k->in_call = false;
	note_unfollowed(t, task, c);
	life_exit(&k->life, c, c->duration_ns, &ends);
	record(t, task, &ends);
}

void tracer_call_vanish(struct tracer *t, struct task *task)
{
	struct thread *k = thread_of(task);
	struct life_ends ends;
	if (!task->proc)
		return;
	life_vanish(&k->life, k->in_call ? &k->call : NULL, &ends);
	record(t, task, &ends);
	if (k->in_call && (t->config.want & CAP_EVENTS) && task->proc->counted)
		tracer_event(t, EV_VANISH, task)->call = k->call;
	k->in_call = false;
}
