#include "trace/count.h"

#include "arch/arch.h"
#include "base/buf.h"
#include "base/memory.h"
#include "syscall/kinds.h"
#include "syscall/life.h"
#include "syscall/table.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* What is kept of a thread. */
struct counted {
	struct call_life life;       /* its tag is the group of the call, NULL if it is not selected */
	struct summary_group *group; /* of --by */
};

static struct trace_count *count_of(struct trace_sink *s)
{
	return (struct trace_count *)s;
}

enum trace_by trace_by_parse(const char *word)
{
	static const char *const words[] = {
		[BY_PROCESS] = "process", [BY_THREAD] = "thread", [BY_FD] = "fd", [BY_PATH] = "path"};
	for (unsigned i = BY_PROCESS; word && i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], word) == 0)
			return (enum trace_by)i;
	return BY_NOTHING;
}

/* Is descriptor `i` the file itself and not a folder that a path beside it begins in (AT_EMPTY_PATH, as fstat(3) has it)? */
static bool stands_alone(const struct event *ev, const struct syscall_desc *d, unsigned i)
{
	char byte;
	int ended = 0;
	if (i + 1 == d->nargs || d->args[i + 1].kind != K_PATH || !ev->call.args[i + 1])
		return true;
	return ev->mem && mem_string(ev->mem, ev->call.args[i + 1], &byte, 1, &ended) == 0 && ended;
}

/* The descriptor that the call is about: the first that is one, or -1. */
static int call_fd(const struct event *ev)
{
	const struct syscall_desc *d = ev->call.desc;
	for (unsigned i = 0; d && i < d->nargs; i++) {
		int fd = (int)ev->call.args[i];
		if (d->args[i].kind == K_FD || (d->args[i].kind == K_DIRFD && fd >= 0 && stands_alone(ev, d, i)))
			return fd;
	}
	return -1;
}

static bool call_path(const struct event *ev, struct buf *out)
{
	const struct syscall_desc *d = ev->call.desc;
	for (unsigned i = 0; d && ev->mem && i < d->nargs; i++) {
		char path[PATH_MAX];
		int ended;
		ssize_t n = d->args[i].kind == K_PATH
				    ? mem_string(ev->mem, ev->call.args[i], path, sizeof(path), &ended)
				    : -1;
		if (n <= 0)
			continue;
		buf_add(out, path, (size_t)n);
		return true;
	}
	return false;
}

/* FNV-1a (Fowler, Noll, Vo), of the id too. */
static uint64_t group_hash(const char *name, int64_t id)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)id;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return h;
}

static struct summary_group *find_group(struct trace_count *c, const char *name, int64_t id)
{
	uint64_t key = group_hash(name, id);
	struct summary_group *g = map_get(&c->groups, key);
	if (g && g->id == id && strcmp(g->name, name) == 0)
		return g;
	/* What has a group of its own has been found by now. */
	bool full = c->summary->groups.n >= SUMMARY_GROUPS_MAX;
	g = full ? summary_others(c->summary) : summary_group(c->summary, name, id);
	if (g && !full && map_put(&c->groups, key, g) < 0)
		memory_note_failure();
	return g;
}

/* The row of --by that the call belongs to; descriptors and paths are looked up while the call is on its way. */
static struct summary_group *group_of(struct trace_count *c, const struct event *ev)
{
	const struct names *n = c->sink.session->names;
	struct buf name = {0};
	int64_t id = -1;
	int fd = call_fd(ev);
	if (c->by == BY_PROCESS || c->by == BY_THREAD) {
		id = c->by == BY_PROCESS ? ev->pid : ev->tid;
		n->comm(n->ctx, (pid_t)id, &name);
	} else if (c->by == BY_FD) {
		if (fd >= 0) {
			buf_addf(&name, "%d<", fd);
			n->fd(n->ctx, ev->tid, fd, &name);
			buf_addc(&name, '>');
		} else
			buf_adds(&name, "(no descriptor)");
	} else if (c->by == BY_PATH) {
		if (fd >= 0)
			n->fd(n->ctx, ev->tid, fd, &name);
		else
			call_path(ev, &name);
		if (!name.len)
			buf_adds(&name, "(no path)");
	}
	struct summary_group *g = find_group(c, buf_str(&name), id);
	buf_free(&name);
	return g;
}

/* Adds the ends of calls to their groups; the tag of a call that is not selected is NULL. */
static void record(const struct trace_count *t, const struct life_ends *ends)
{
	for (size_t i = 0; i < ends->n; i++) {
		const struct life_end *e = &ends->v[i];
		const struct call *c = &e->call;
		bool returned = e->end == CALL_RETURNED;
		bool bytes = returned && !c->error && c->result > 0 && c->desc && c->desc->result == R_BYTES;
		if (!e->tag)
			continue;
		summary_record(t->summary, e->tag, c->arch, c->nr,
			       &(struct call_outcome){.end = e->end,
						      .ns = (double)e->ns,
						      .cost_ns = returned ? (double)c->cost_ns : 0,
						      .spread_ns = (double)c->spread_ns,
						      .error = c->error,
						      .err = c->err,
						      .bytes = bytes ? (uint64_t)c->result : 0});
	}
}

/* What an entry tells of calls that were interrupted. If no frame can be read, the first entry that is not a restart settles them. */
static void settle(struct trace_count *t, struct counted *k, const struct call *c, const struct mem *mem)
{
	struct life_frame f = {.length = c->ip - arch_call_site(c->arch, c->ip)};
	struct life_ends ends;
	bool readable = mem != NULL;
	if (readable && !life_wants_frame(&k->life, c))
		return;
	readable = readable && arch_sigframe(c->arch, mem, c->sp, &f.ip, &f.result) == 0;
	if (readable)
		life_return_to(&k->life, &f, false, &ends);
	else
		life_moved_on(&k->life, &ends);
	record(t, &ends);
}

/* The call enters; true: it is the restart of one that is counted. */
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
	if (ev->kind == EV_VANISH)
		life_vanish(&k->life, &c, &ends);
	else
		life_exit(&k->life, &c, c.duration_ns, &ends);
	record(t, &ends);
}

static void count_enter(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_count *t = count_of(s);
	struct counted *k = trace_own(s, task);
	if (enter(t, k, ev))
		return;
	if (!k->group || t->by == BY_FD || t->by == BY_PATH)
		k->group = group_of(t, ev);
	k->life.tag = k->group;
}

static void count_leave(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	leave(count_of(s), trace_own(s, task), ev);
}

/* It is not counted, but tells what became of a call that was interrupted. */
static void count_unwanted(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct counted *k = trace_own(s, task);
	if (ev->kind == EV_ENTER)
		enter(count_of(s), k, ev);
	k->life.tag = NULL;
	if (ev->kind != EV_ENTER)
		leave(count_of(s), k, ev);
}

/* A thread that runs another program counts under that name. */
static void count_other(struct trace_sink *s, struct trace_task *task, const struct event *ev)
{
	struct trace_count *t = count_of(s);
	struct counted *k = trace_own(s, task);
	if (ev->kind == EV_EXEC && k->group && (t->by == BY_PROCESS || t->by == BY_THREAD))
		k->group = group_of(t, ev);
}

/* What was interrupted never came back. */
static void count_gone(struct trace_sink *s, struct trace_task *task)
{
	struct counted *k = trace_own(s, task);
	struct life_ends ends;
	life_vanish(&k->life, NULL, &ends);
	record(count_of(s), &ends);
	life_free(&k->life);
}

static const struct trace_sink_ops count_ops = {.task_size = sizeof(struct counted),
						.enter = count_enter,
						.leave = count_leave,
						.other = count_other,
						.unwanted = count_unwanted,
						.gone = count_gone};

void trace_count_init(struct trace_count *c, enum trace_by by, struct summary *summary)
{
	*c = (struct trace_count){.sink.ops = &count_ops, .by = by, .summary = summary};
}

void trace_count_free(struct trace_count *c)
{
	map_free(&c->groups);
}
