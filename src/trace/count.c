/* SPDX-License-Identifier: MIT */
#include "trace/count.h"

#include "arch/arch.h"
#include "base/buf.h"
#include "syscall/call_table.h"
#include "syscall/life.h"
#include "syscall/uring_ops.h"
#include "tracee/names.h"
#include "tracee/uring.h"

#include <string.h>

/* The sink's data for a thread. */
struct counted {
	struct call_life life;       /* calls of the thread, with their groups as tags; NULL: not selected */
	struct summary_group *group; /* the group of the call in progress (--by) */
};

enum trace_by trace_by_parse(const char *word)
{
	static const char *const words[] = {
		[BY_PROCESS] = "process", [BY_THREAD] = "thread", [BY_FD] = "fd", [BY_PATH] = "path"};
	for (unsigned i = BY_PROCESS; word && i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], word) == 0)
			return (enum trace_by)i;
	return BY_NOTHING;
}

static struct summary_group *find_group(struct trace_count *c, const char *name, int64_t id)
{
	uint64_t key = map_key(name) ^ (uint64_t)id;
	struct summary_group *g = map_get(&c->groups, key);
	if (g && g->id == id && strcmp(g->name, name) == 0)
		return g;
	/* The group is new. If the limit of groups is reached, the calls go to a common group. */
	bool full = c->summary->groups.n >= SUMMARY_GROUPS_MAX;
	g = full ? summary_others(c->summary) : summary_group(c->summary, name, id);
	if (!full)
		map_put(&c->groups, key, g);
	return g;
}

static void add_fd(struct trace_subject *s, struct buf *out)
{
	struct trace_ref *fd = trace_subject_fd(s);
	if (fd) {
		const struct buf *text = trace_ref_text(s, fd);
		buf_add_signed(out, fd->fd);
		if (text->len) {
			buf_addc(out, '<');
			buf_add(out, text->s, text->len);
			buf_addc(out, '>');
		}
	} else
		buf_adds(out, "(no descriptor)");
}

static void add_path(struct trace_subject *s, struct buf *out)
{
	struct trace_ref *r = trace_subject_fd(s);
	if (!r)
		r = trace_subject_path(s);
	if (r)
		buf_adds(out, buf_str(trace_ref_text(s, r)));
	if (!out->len)
		buf_adds(out, "(no path)");
}

/* Returns the group of --by. Descriptors and paths must be looked up while the call is in progress. */
static struct summary_group *group_of(struct trace_count *c, struct trace_task *k, const struct event *ev)
{
	const struct names *n = c->sink.session->names;
	struct buf *name = &c->name;
	int64_t id = -1;
	buf_clear(name);
	if (c->by == BY_PROCESS || c->by == BY_THREAD) {
		id = c->by == BY_PROCESS ? ev->pid : ev->tid;
		n->comm(n->ctx, (pid_t)id, name);
	} else if (c->by == BY_FD)
		add_fd(&k->subject, name);
	else if (c->by == BY_PATH)
		add_path(&k->subject, name);
	return find_group(c, buf_str(name), id);
}

/* Counts calls that have ended, each in its group. A call that is not selected has no group (its tag is NULL). */
static void record(const struct trace_count *t, const struct life_ends *ends)
{
	for (size_t i = 0; i < ends->n; i++)
		if (ends->v[i].tag)
			summary_end(t->summary, ends->v[i].tag, &ends->v[i]);
}

/*
 * Finds out how interrupted calls ended, now that the thread enters another call. If signal frames cannot be read, an
 * entry that is not a restart is taken to mean that the interrupted calls returned EINTR.
 */
static void settle(struct trace_count *t, struct counted *k, const struct call *c, const struct mem *mem)
{
	struct life_frame f = {.length = c->ip - arch_call_site(c->arch, c->ip)};
	struct life_ends ends;
	bool readable = mem != NULL;
	if (readable && !life_wants_frame(&k->life, c))
		return;
	readable = readable && arch_sigframe(c->arch, mem, c->sp, &f.ip, &f.result) == 0;
	if (readable)
		life_return_to(&k->life, &f, &ends);
	else
		life_moved_on(&k->life, &ends);
	record(t, &ends);
}

/* Handles the entry of a call. Returns true if the call is the restart of a call that is counted. */
static bool enter(struct trace_count *t, struct counted *k, const struct event *ev)
{
	struct call c = ev->call;
	struct life_ends ends;
	life_enter(&k->life, &c, &ends);
	record(t, &ends);
	if (c.restart)
		return k->life.tag;
	k->life.tag = NULL;
	settle(t, k, &c, ev->mem);
	return false;
}

static void leave(struct trace_count *t, struct counted *k, const struct event *ev)
{
	struct call c = ev->call;
	struct life_ends ends;
	if (c.withdrawn && !c.restart)
		return; /* the call was not made, so neither its beginning nor its end counts */
	if (ev->kind == EV_VANISH)
		life_vanish(&k->life, &c, &ends);
	else
		life_exit(&k->life, &c, c.duration_ns, &ends);
	record(t, &ends);
}

/* Notes the time of an event of the thread whose calls are in this group. */
static void note_time(const struct trace_count *t, struct counted *k, const struct event *ev)
{
	struct summary_group *g = k->group;
	if (t->by != BY_THREAD || !g)
		return;
	if (!g->first_ns)
		g->first_ns = ev->time_ns;
	/* A thread ends with its exit. Until sctrace sees that, time passes that is not the program's. */
	if (ev->kind == EV_VANISH && ev->call.desc && ev->call.desc->result == R_NONE)
		return;
	if (ev->time_ns > g->last_ns)
		g->last_ns = ev->time_ns;
	if (ev->kind == EV_VANISH)
		g->unfinished_ns += (double)(ev->time_ns - ev->call.enter_ns);
}

static void count_enter(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_count *t = (struct trace_count *)s;
	struct counted *k = trace_own(s, task);
	if (enter(t, k, ev))
		return;
	if (!k->group || t->by == BY_FD || t->by == BY_PATH)
		k->group = group_of(t, task, ev);
	k->life.tag = k->group;
	note_time(t, k, ev);
}

/*
 * For --by=path: moves a call that has returned a descriptor to the group of the file that this descriptor refers to.
 * The path that the program passed to open(2) may be a symbolic link or relative, and would be another group.
 */
static void regroup(struct trace_count *t, struct counted *k, const struct event *ev)
{
	const struct names *n = t->sink.session->names;
	const struct call *c = &ev->call;
	if (t->by != BY_PATH || ev->kind != EV_EXIT || !k->life.tag || !c->desc || c->desc->result != R_FD || c->error)
		return;
	buf_clear(&t->name);
	if (n->fd(n->ctx, ev->tid, (int)c->result, &t->name))
		k->life.tag = find_group(t, buf_str(&t->name), -1);
}

/* Returns the group of a request: that of its process, its thread, or the file that it uses. */
static struct summary_group *group_of_request(struct trace_count *c, const struct uring_request *q)
{
	const struct names *n = c->sink.session->names;
	int64_t id = c->by == BY_PROCESS ? q->pid : c->by == BY_THREAD ? q->tid : -1;
	struct buf *name = &c->name;
	buf_clear(name);
	if (id >= 0)
		n->comm(n->ctx, (pid_t)id, name);
	else if (c->by != BY_NOTHING && q->file < 0)
		buf_adds(name, c->by == BY_FD ? "(no descriptor)" : "(no path)");
	else if (c->by != BY_NOTHING) {
		if (c->by == BY_FD)
			buf_addf(name, "%d<", q->file);
		n->fd(n->ctx, q->tid, q->file, name);
		if (c->by == BY_FD)
			buf_addc(name, '>');
	}
	return find_group(c, buf_str(name), id);
}

/* Counts the requests whose completions were seen at the end of this call. */
static void count_requests(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_count *t = (struct trace_count *)s;
	(void)task;
	for (size_t i = 0; ev->uring && i < ev->uring->completions.n; i++) {
		const struct uring_completion *c = &ev->uring->completions.v[i];
		const struct uring_op *op = uring_op(c->request.opcode);
		/* The second completion of a request without a copy only says that its buffer is free (IORING_OP_SEND_ZC). */
		if (!c->known || c->flags & URING_NOTIF)
			continue;
		bool moves = op && (op->reads || op->writes) && c->result > 0;
		summary_record(t->summary, group_of_request(t, &c->request), SYSCALL_URING_ARCH, c->request.opcode,
			       &(struct call_outcome){.end = CALL_RETURNED,
						      .ns = (double)c->ns,
						      .cost_ns = (double)ev->call.cost_ns,
						      .spread_ns = (double)ev->call.spread_ns,
						      .error = c->result < 0,
						      .err = c->result < 0 ? -c->result : 0,
						      .bytes = moves ? (uint64_t)c->result : 0});
	}
}

static void count_left(void *ctx, const struct uring_request *q)
{
	struct trace_count *t = ctx;
	summary_record(t->summary, group_of_request(t, q), SYSCALL_URING_ARCH, q->opcode,
		       &(struct call_outcome){.end = CALL_UNFINISHED});
}

static void count_end(struct trace_sink *s)
{
	if (s->session->uring)
		uring_each_left(s->session->uring, count_left, s);
}

static void count_leave(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	count_requests(s, task, ev);
	struct counted *k = trace_own(s, task);
	regroup((struct trace_count *)s, k, ev);
	leave((struct trace_count *)s, k, ev);
	note_time((struct trace_count *)s, k, ev);
}

/* Handles a call that is not selected. It is not counted, but it may show how an interrupted call ended. */
static void count_unwanted(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct counted *k = trace_own(s, task);
	if (ev->kind == EV_ENTER)
		enter((struct trace_count *)s, k, ev);
	k->life.tag = NULL;
	if (ev->kind != EV_ENTER)
		leave((struct trace_count *)s, k, ev);
}

/* If a thread executes another program, counts its calls under the new program's name. Notes when a thread ends. */
static void count_other(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_count *t = (struct trace_count *)s;
	struct counted *k = trace_own(s, task);
	if (ev->kind == EV_EXEC && k->group && (t->by == BY_PROCESS || t->by == BY_THREAD))
		k->group = group_of(t, task, ev);
	if (ev->kind == EV_DEATH)
		note_time(t, k, ev);
}

/* Handles the end of a thread: its interrupted calls are recorded as calls that never returned. */
static void count_gone(struct trace_sink *s, struct trace_task *task)
{
	struct counted *k = trace_own(s, task);
	struct life_ends ends;
	life_vanish(&k->life, NULL, &ends);
	record((struct trace_count *)s, &ends);
	life_free(&k->life);
}

static const struct trace_sink_ops count_ops = {.task_size = sizeof(struct counted),
						.enter = count_enter,
						.leave = count_leave,
						.other = count_other,
						.unwanted = count_unwanted,
						.gone = count_gone,
						.end = count_end};
static const struct trace_sink_ops request_ops = {.leave = count_requests, .end = count_end};

void trace_count_init(struct trace_count *c, enum trace_by by, struct summary *summary, bool requests_only)
{
	*c = (struct trace_count){.sink.ops = requests_only ? &request_ops : &count_ops,
				  .by = by,
				  .requests_only = requests_only,
				  .summary = summary};
}

void trace_count_free(struct trace_count *c)
{
	map_free(&c->groups);
	buf_free(&c->name);
}
