/* SPDX-License-Identifier: MIT */
#include "trace/pipeline.h"

#include "base/memory.h"
#include "decode/decode.h"
#include "syscall/call_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

void trace_pipeline_add(struct trace_pipeline *p, struct trace_sink *s)
{
	s->session = &p->session;
	s->slot = p->nsinks;
	p->sinks[p->nsinks++] = s;
}

static struct trace_task *task_of(struct trace_pipeline *p, pid_t tid, pid_t pid)
{
	if (p->last && p->last->tid == tid)
		return p->last;
	struct trace_task *k = map_get(&p->tasks, (uint64_t)tid);
	if (k)
		return p->last = k;
	k = memory_zeroed(1, sizeof(*k));
	for (unsigned i = 0; i < p->nsinks; i++)
		k->own[i] = memory_zeroed(1, p->sinks[i]->ops->task_size);
	map_put(&p->tasks, (uint64_t)tid, k);
	k->tid = tid;
	k->pid = pid;
	p->session.tasks++;
	p->session.tasks_seen++;
	return k;
}

static void task_gone(struct trace_pipeline *p, struct trace_task *k)
{
	for (unsigned i = 0; i < p->nsinks; i++) {
		if (p->sinks[i]->ops->gone)
			p->sinks[i]->ops->gone(p->sinks[i], k);
		free(k->own[i]);
	}
	p->last = NULL;
	map_remove(&p->tasks, (uint64_t)k->tid);
	p->session.tasks--;
	trace_subject_free(&k->subject);
	free(k);
}

/*
 * A thread that calls execve(2) continues with the id of the leader, so `leader` gets its data. Afterwards, `former` has
 * the data of the leader, which has ended.
 */
static void become_leader(const struct trace_pipeline *p, struct trace_task *former, struct trace_task *leader)
{
	struct trace_task ended = *leader;
	*leader = *former;
	*former = ended;
	former->tid = leader->tid;
	leader->tid = ended.tid;
	for (unsigned i = 0; i < p->nsinks; i++) {
		void *own = leader->own[i];
		if (!p->sinks[i]->ops->of_id)
			continue;
		leader->own[i] = former->own[i];
		former->own[i] = own;
	}
}

/* Replaces a call that contains another one (socketcall(2) of i386) by the inner one, as read at the entry. */
static void unwrap(struct trace_task *k, struct event *ev)
{
	if (trace_begins(ev))
		k->is_inside = decode_inside(&ev->call, ev->kind == EV_CALL ? ev->entry_mem : ev->mem, &k->real);
	if (!k->is_inside)
		return;
	if (ev->kind == EV_EXIT || ev->kind == EV_CALL)
		ev->call.result = decode_inside_result(&ev->call, ev->mem);
	ev->call.nr = k->real.nr;
	ev->call.desc = k->real.desc;
	memcpy(ev->call.args, k->real.args, sizeof(ev->call.args));
}

typedef void event_fn(struct trace_sink *s, struct trace_task *k, const struct event *ev);

static bool is_wanted(struct trace_pipeline *p, struct trace_task *k, const struct event *ev)
{
	if (trace_begins(ev))
		k->selected = trace_select_enter(p->select, ev, &k->subject);
	bool known = trace_begins(ev) || k->in_call;
	k->in_call = ev->kind == EV_ENTER;
	return k->selected && known && (k->in_call || trace_select_exit(p->select, ev, &p->unjudged));
}

static void on_call(struct trace_pipeline *p, struct trace_task *k, struct event *ev)
{
	unwrap(k, ev);
	if (trace_begins(ev))
		trace_subject_begin(&k->subject, ev, p->session.names);
	k->subject.ev = ev;
	ev->uring = uring_concerns(ev) ? uring_call(&p->uring, ev, p->session.names) : NULL;
	bool wanted = is_wanted(p, k, ev);
	p->selected += wanted && ev->kind != EV_ENTER;
	for (unsigned i = 0; i < p->nsinks; i++) {
		const struct trace_sink_ops *ops = p->sinks[i]->ops;
		event_fn *fn = !wanted ? ops->unwanted : ev->kind == EV_ENTER ? ops->enter : ops->leave;
		if (fn)
			fn(p->sinks[i], k, ev);
	}
}

static void on_other(struct trace_pipeline *p, struct trace_task *k, const struct event *ev)
{
	if (ev->kind == EV_SIGNAL && !trace_select_signal(p->select, ev->sig.si_signo))
		return;
	for (unsigned i = 0; i < p->nsinks; i++)
		if (p->sinks[i]->ops->other)
			p->sinks[i]->ops->other(p->sinks[i], k, ev);
}

/* Notes how a call that has ended has changed names. */
static void change_names(struct names_kept *k, const struct event *ev)
{
	const uint64_t began_ns = ev->call.enter_ns;
	const struct syscall_changed r = syscall_changed(&ev->call);
	if (r.what == CHANGES_ALL || ev->kind == EV_VANISH)
		names_kept_end(k);
	else if (r.what == CHANGES_FDS)
		names_kept_close(k, r.first, r.last, began_ns, ev->time_ns);
	else if (r.what == CHANGES_ADDRESSES)
		names_kept_readdress(k, r.first, began_ns);
	else if (r.what == CHANGES_FILES)
		names_kept_change(k, ev->time_ns);
	else if (r.what == CHANGES_OTHERS && !ev->names)
		names_kept_drop(k);
}

static void keep_names(struct names_kept *k, const struct event_names *names)
{
	for (unsigned i = 0; names && i < names->n; i++)
		names_kept_record(k, &names->v[i]);
}

/* Is it a close(2) that is passed on as one event? */
static bool is_whole_close(const struct event *ev)
{
	return ev->kind == EV_CALL && ev->call.nr == SYS_close && ev->call.arch == syscall_native_arch() &&
	       !ev->call.foreign;
}

static void note_names(struct trace_pipeline *p, const struct event *ev)
{
	const struct syscall_desc *d = ev->call.desc;
	bool late = ev->time_ns > p->kept_until;
	bool ends = ev->kind == EV_EXIT || ev->kind == EV_VANISH || (ev->kind == EV_CALL && !is_whole_close(ev));
	names_kept_at(p->kept, ev->tid, ev->pid, trace_begins(ev) && ev->absent ? (int)(ev->absent - 1) : -1);
	if (ends && d && syscall_changes_names(d))
		change_names(p->kept, ev);
	if (ends || trace_begins(ev))
		keep_names(p->kept, ev->kind == EV_CALL ? ev->names_before : ev->names);
	if (ev->kind == EV_CALL)
		keep_names(p->kept, ev->names);
	if (ev->kind == EV_EXEC || (ev->kind == EV_DEATH && ev->is_process))
		names_kept_end(p->kept);
	if (ev->kind == EV_NEW_TASK && !ev->is_thread)
		names_kept_born(p->kept, ev->child);
	if (late || ev->kind == EV_DEATH)
		names_kept_drop(p->kept);
	if (late)
		p->kept_until = ev->time_ns + NAMES_KEPT_NS;
}

void trace_pipeline_begin(struct trace_pipeline *p)
{
	p->takes_calls = true;
	for (unsigned i = 0; i < p->nsinks; i++)
		p->takes_calls &= p->sinks[i]->ops->takes_calls;
	p->session.uring = &p->uring;
	for (unsigned i = 0; i < p->nsinks; i++)
		if (p->sinks[i]->ops->begin)
			p->sinks[i]->ops->begin(p->sinks[i]);
}

/*
 * Are the names that the call has changed others than those of its arguments? close(2), whose result has no name, changes names
 * only after its line. The name of a new descriptor belongs to the result.
 */
static bool changes_no_shown(const struct event *ev)
{
	const struct call *c = &ev->call;
	const struct syscall_desc *d = c->desc;
	const bool native = c->arch == syscall_native_arch() && !c->foreign;
	if (!native || ev->absent || (d->result != R_FD && d->result != R_FCNTL) || c->nr == SYS_io_uring_setup)
		return native && !ev->absent && c->nr == SYS_close;
	for (unsigned i = 0; i < d->nargs; i++)
		if ((int32_t)c->args[i] == (int32_t)c->result && !c->error)
			return false;
	return true;
}

/*
 * May this event, EV_CALL, be passed on as it is? Some calls change the names of descriptors or processes, as dup2(2)
 * does. Their arguments are shown with the names before the call, so the beginning is passed on first. A sink that must keep
 * something from the beginning of each call until its end also gets both.
 */
static bool stays_whole(const struct trace_pipeline *p, const struct event *ev)
{
	const struct syscall_desc *d = ev->call.desc;
	return p->takes_calls &&
	       !(d && (uring_concerns(ev) || !(syscall_keeps_names(&ev->call) || changes_no_shown(ev))));
}

/*
 * Passes EV_CALL on as EV_ENTER and EV_EXIT. Changes the event in place, and only the members that are different in the
 * two events, because copying an event takes time.
 */
static void split(struct trace_pipeline *p, struct event *ev)
{
	struct call *c = &ev->call;
	const uint64_t time_ns = ev->time_ns, duration_ns = c->duration_ns;
	const struct mem *mem = ev->mem;
	const int64_t result = c->result;
	const int err = c->err;
	const enum call_wait wait = c->wait;
	const struct event_names *names = ev->names;
	ev->kind = EV_ENTER;
	ev->time_ns = c->enter_ns;
	ev->mem = ev->entry_mem;
	ev->names = ev->names_before;
	c->result = 0;
	c->error = false;
	c->err = 0;
	c->wait = WAIT_UNKNOWN;
	c->duration_ns = 0;
	trace_pipeline_event(p, ev);
	ev->kind = EV_EXIT;
	ev->time_ns = time_ns;
	ev->mem = mem;
	ev->names = names;
	c->result = result;
	c->error = err != 0;
	c->err = err;
	c->wait = wait;
	c->duration_ns = duration_ns;
	trace_pipeline_event(p, ev);
}

void trace_pipeline_event(struct trace_pipeline *p, struct event *ev)
{
	if (trace_pipeline_is_full(p))
		return;
	if (ev->kind == EV_CALL && !stays_whole(p, ev)) {
		split(p, ev);
		return;
	}
	if (p->kept)
		note_names(p, ev);
	struct trace_task *former = ev->kind == EV_EXEC ? map_get(&p->tasks, (uint64_t)ev->child) : NULL;
	struct trace_task *k = task_of(p, ev->tid, ev->pid);
	if (former == k)
		former = NULL;
	if (former)
		become_leader(p, former, k);
	if (trace_begins(ev) || ev->kind == EV_EXIT || ev->kind == EV_VANISH) {
		on_call(p, k, ev);
		if (p->kept && is_whole_close(ev))
			change_names(p->kept, ev);
	} else {
		uring_other(&p->uring, ev);
		on_other(p, k, ev);
	}
	if (former)
		task_gone(p, former);
	if (ev->kind == EV_NEW_TASK && ev->is_thread)
		task_of(p, ev->child, ev->pid);
	if (ev->kind == EV_DEATH)
		task_gone(p, k);
}

void trace_pipeline_end(struct trace_pipeline *p)
{
	size_t i = 0;
	struct trace_task *k;
	p->session.ending = true;
	while ((k = map_next(&p->tasks, &i, NULL))) {
		task_gone(p, k);
		i = 0;
	}
	map_free(&p->tasks);
	for (unsigned s = 0; s < p->nsinks; s++)
		if (p->sinks[s]->ops->end)
			p->sinks[s]->ops->end(p->sinks[s]);
	uring_free(&p->uring);
}
