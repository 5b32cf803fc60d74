/* Counting (-c, -C): calls that came as events, what the engine counted, and the tables made of both. */
#include "trace/trace.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/size.h"
#include "decode/decode.h"
#include "out/term.h"
#include "syscall/kinds.h"
#include "syscall/table.h"
#include "trace/save.h"
#include "tracee/mem.h"
#include "tracee/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool by_is(const struct trace *t, const char *what)
{
	return t->o.by && strcmp(t->o.by, what) == 0;
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

static void fd_path(pid_t pid, int fd, struct buf *out)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
	ssize_t n = readlink(link, path, sizeof(path));
	if (n > 0)
		buf_add(out, path, (size_t)n);
}

static void comm(pid_t tid, struct buf *out)
{
	char name[64];
	proc_comm(tid, name, sizeof(name));
	buf_adds(out, name);
}

/* FNV-1a (Fowler, Noll, Vo), of the id too. */
static uint64_t group_hash(const char *name, int64_t id)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)id;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return h;
}

static struct summary_group *find_group(struct trace *t, const char *name, int64_t id)
{
	uint64_t key = group_hash(name, id);
	struct summary_group *g = map_get(&t->groups, key);
	if (g && g->id == id && strcmp(g->name, name) == 0)
		return g;
	/* What has a group of its own has been found by now. */
	bool full = t->summary.groups.n >= SUMMARY_GROUPS_MAX;
	g = full ? summary_others(&t->summary) : summary_group(&t->summary, name, id);
	if (g && !full && map_put(&t->groups, key, g) < 0)
		t->summary.failed = true;
	return g;
}

/* The row of --by that the call belongs to; descriptors and paths are looked up while the call is on its way. */
static struct summary_group *group_of(struct trace *t, const struct event *ev)
{
	struct buf name = {0};
	int64_t id = -1;
	int fd = call_fd(ev);
	if (by_is(t, "process") || by_is(t, "thread")) {
		id = by_is(t, "process") ? ev->pid : ev->tid;
		comm((pid_t)id, &name);
	} else if (by_is(t, "fd")) {
		if (fd >= 0) {
			buf_addf(&name, "%d<", fd);
			fd_path(ev->tid, fd, &name);
			buf_addc(&name, '>');
		} else
			buf_adds(&name, "(no descriptor)");
	} else if (by_is(t, "path")) {
		if (fd >= 0)
			fd_path(ev->tid, fd, &name);
		else
			call_path(ev, &name);
		if (!name.len)
			buf_adds(&name, "(no path)");
	}
	struct summary_group *g = find_group(t, buf_str(&name), id);
	buf_free(&name);
	return g;
}

/* Adds the ends of calls to their groups; the tag of a call that is not selected is NULL. */
static void record(struct trace *t, const struct life_ends *ends)
{
	for (size_t i = 0; i < ends->n; i++) {
		const struct life_end *e = &ends->v[i];
		const struct call *c = &e->call;
		bool returned = e->end == CALL_RETURNED;
		bool bytes = returned && !c->error && c->result > 0 && c->desc && c->desc->result == R_BYTES;
		if (!e->tag)
			continue;
		summary_record(&t->summary, e->tag, c->arch, c->nr,
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
static void settle(struct trace *t, struct trace_task *k, const struct call *c, const struct mem *mem)
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
static bool enter(struct trace *t, struct trace_task *k, const struct event *ev)
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

static void leave(struct trace *t, struct trace_task *k, const struct event *ev)
{
	struct call c = ev->call;
	struct life_ends ends;
	if (ev->kind == EV_VANISH)
		life_vanish(&k->life, &c, &ends);
	else
		life_exit(&k->life, &c, c.duration_ns, &ends);
	record(t, &ends);
}

void trace_count_enter(struct trace *t, struct trace_task *k, const struct event *ev)
{
	if (enter(t, k, ev))
		return;
	if (!k->group || by_is(t, "fd") || by_is(t, "path"))
		k->group = group_of(t, ev);
	k->life.tag = k->group;
}

void trace_count_leave(struct trace *t, struct trace_task *k, const struct event *ev)
{
	leave(t, k, ev);
}

void trace_count_unselected(struct trace *t, struct trace_task *k, const struct event *ev)
{
	if (ev->kind == EV_ENTER)
		enter(t, k, ev);
	k->life.tag = NULL;
	if (ev->kind != EV_ENTER)
		leave(t, k, ev);
}

void trace_count_exec(struct trace *t, struct trace_task *k, const struct event *ev)
{
	if (k->group && (by_is(t, "process") || by_is(t, "thread")))
		k->group = group_of(t, ev);
}

void trace_count_gone(struct trace *t, struct trace_task *k)
{
	struct life_ends ends;
	life_vanish(&k->life, NULL, &ends);
	record(t, &ends);
	life_free(&k->life);
}

/* Calls that -e leaves out, where the engine counted them all. */
static void drop_unwanted(const struct trace *t, struct summary *s)
{
	for (size_t i = 0; t->o.select.by_call && i < s->groups.n; i++) {
		struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->calls.n; k++) {
			struct call_stats *c = g->calls.v[k];
			if (filter_matches(&t->o.select.calls, c->arch, c->nr))
				continue;
			hist_free(&c->hist);
			*c = (struct call_stats){.arch = c->arch, .nr = c->nr};
		}
		size_t kept = 0;
		for (size_t k = 0; k < g->errnos.n; k++)
			if (filter_matches(&t->o.select.calls, g->errnos.v[k].arch, g->errnos.v[k].nr))
				g->errnos.v[kept++] = g->errnos.v[k];
		g->errnos.n = kept;
	}
}

/* -O: the cost of tracing that the user names takes the place of the measured one. */
static void apply_overhead(const struct trace *t, struct summary *s)
{
	for (size_t i = 0; t->o.overhead_set && i < s->groups.n; i++) {
		struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->calls.n; k++) {
			struct call_stats *c = g->calls.v[k];
			if (!c->returned)
				continue;
			double each = c->cost_ns / (double)c->returned - (double)t->o.overhead_ns;
			c->ns += each * (double)c->returned;
			c->min_ns = c->min_ns + each > 0 ? c->min_ns + each : 0;
			c->max_ns = c->max_ns + each > 0 ? c->max_ns + each : 0;
			c->cost_ns = (double)t->o.overhead_ns * (double)c->returned;
			c->spread_ns = 0;
			struct hist moved = {0};
			for (uint32_t b = 0; b < c->hist.n; b++) {
				double ns = (double)hist_bucket_low(c->hist.first + b) + each;
				if (c->hist.count[b] &&
				    hist_add(&moved, ns > 0 ? (uint64_t)ns : 0, c->hist.count[b]) < 0)
					s->failed = true;
			}
			hist_free(&c->hist);
			c->hist = moved;
		}
	}
}

static uint64_t calls_of(const struct summary_group *g)
{
	uint64_t n = 0;
	for (size_t i = 0; i < g->calls.n; i++)
		n += g->calls.v[i]->entered;
	return n;
}

/* The name under which a process or thread made the most calls: it changes with each execve(2). */
static const char *name_of(const struct summary *s, int64_t id)
{
	const char *name = "";
	uint64_t most = 0;
	for (size_t i = 0; i < s->groups.n; i++) {
		const struct summary_group *g = s->groups.v[i];
		uint64_t n = g->id == id ? calls_of(g) : 0;
		if (g->id != id || n < most)
			continue;
		most = n;
		name = g->name;
	}
	return name;
}

/* One row for each process or thread, whatever names it had. */
static void unite_names(const struct trace *t, struct summary *s)
{
	struct summary united = {0};
	if (!by_is(t, "process") && !by_is(t, "thread"))
		return;
	for (size_t i = 0; i < s->groups.n; i++) {
		struct summary_group *g = s->groups.v[i];
		char *name = strdup(name_of(s, g->id));
		char *old = g->name;
		if (name) {
			g->name = name;
			free(old);
		} else
			s->failed = true;
	}
	summary_merge(&united, s);
	summary_free(s);
	*s = united;
}

/* Takes over what came since the last time: into t->period, and from there into t->summary. */
static void collect(struct trace *t)
{
	summary_free(&t->period);
	if (t->by_events)
		return;
	int r = t->ops->collect(t->engine, &t->period);
	if (r < 0)
		trace_fail(t, r, "engine %s could not hand over its counts: %s", t->ops->name, strerror(-r));
	drop_unwanted(t, &t->period);
	apply_overhead(t, &t->period);
	unite_names(t, &t->period);
	summary_merge(&t->summary, &t->period);
	unite_names(t, &t->summary);
}

static void render(struct trace *t, const struct summary *s)
{
	if (s->failed)
		trace_fail(t, -ENOMEM, "no memory is left: calls are missing from the table");
	struct summary_view v = t->o.view;
	v.colour = t->colour;
	v.width = term_look(t->out.fd).width;
	if (summary_render(s, &v, &t->out.buf) < 0)
		trace_fail(t, -ENOMEM, "no memory is left for the table");
}

static void heading(struct trace *t, const char *what)
{
	if (t->o.view.format == SUMMARY_TEXT || t->o.view.format == SUMMARY_WIDE)
		buf_addf(&t->out.buf, "%.3f s, %s:\n", (double)(clock_ns() - t->start_ns) / 1e9, what);
}

void trace_count_period(struct trace *t)
{
	if (t->by_events) {
		trace_count_so_far(t);
		return;
	}
	collect(t);
	heading(t, "since the last table");
	render(t, &t->period);
	buf_addc(&t->out.buf, '\n');
	trace_out_flush(&t->out);
}

void trace_count_so_far(struct trace *t)
{
	struct summary now = {0};
	collect(t);
	heading(t, "so far");
	/* A copy, for tasks know their rows where events are counted. */
	summary_merge(&now, &t->summary);
	unite_names(t, &now);
	render(t, &now);
	summary_free(&now);
	buf_addc(&t->out.buf, '\n');
	trace_out_flush(&t->out);
}

static void add_seconds(struct buf *out, double ns)
{
	if (ns >= 1e8 || ns <= 0)
		buf_addf(out, "%.2f s", ns / 1e9);
	else
		duration_human(out, ns);
}

static double timeval_ns(const struct timeval *tv)
{
	return (double)tv->tv_sec * 1e9 + (double)tv->tv_usec * 1e3;
}

/* "program: 2.11 s wall, 0.14 s user, 1.95 s system, peak RSS 968 KiB; 31 calls before main" */
static void program_line(const struct trace *t, const struct engine_result *r, struct buf *out)
{
	if (!t->program)
		return;
	buf_adds(out, "program: ");
	add_seconds(out, (double)r->wall_ns);
	buf_adds(out, " wall, ");
	add_seconds(out, timeval_ns(&r->usage.ru_utime));
	buf_adds(out, " user, ");
	add_seconds(out, timeval_ns(&r->usage.ru_stime));
	buf_adds(out, " system");
	if (r->peak_rss_bytes) {
		buf_adds(out, r->rss_is_largest ? ", peak RSS of the largest process " : ", peak RSS ");
		size_human(out, r->peak_rss_bytes);
	}
	if (r->main_found != MAIN_UNKNOWN)
		buf_addf(out, "; %llu calls before %s", (unsigned long long)r->before_main,
			 r->main_found == MAIN_SYMBOL ? "main" : "its entry point (there is no symbol main)");
	if (r->processes > 1)
		buf_addf(out, "; %llu processes", (unsigned long long)r->processes);
	buf_addc(out, '\n');
}

static void footer(struct trace *t, const struct engine_result *r)
{
	struct buf *out = &t->out.buf;
	if (t->o.errors) {
		buf_addc(out, '\n');
		summary_render_errors(&t->summary, out);
	}
	if (t->o.hist) {
		buf_addc(out, '\n');
		if (!summary_render_hist(&t->summary, t->o.hist, 80, out))
			buf_addf(out, "%s: no such call came back\n", t->o.hist);
	}
	program_line(t, r, out);
	if (t->o.overhead_set)
		buf_addf(out, "engine: %s; %.1f us per call removed from the times above, as -O says\n", t->ops->name,
			 (double)t->o.overhead_ns / 1e3);
	else {
		t->ops->footer(t->engine, out);
		buf_addc(out, '\n');
	}
	if (r->lost)
		buf_addf(out, "lost: %llu calls could not be counted\n", (unsigned long long)r->lost);
}

/* A whole JSON document: the calls, the program, the engine. */
static void json_document(struct trace *t, const struct engine_result *r)
{
	struct buf calls = {0};
	struct summary_view v = t->o.view;
	summary_render(&t->summary, &v, &calls);
	trace_save_document(t->ops->name, t->program != NULL, buf_str(&calls), r, &t->out.buf);
	buf_free(&calls);
}

void trace_count_final(struct trace *t, const struct engine_result *r)
{
	enum summary_format f = t->o.view.format;
	collect(t);
	unite_names(t, &t->summary);
	if (f == SUMMARY_JSON)
		json_document(t, r);
	else {
		if (t->o.interval_ns || t->o.count_too)
			heading(t, "in all");
		render(t, &t->summary);
		if (f == SUMMARY_TEXT || f == SUMMARY_WIDE || f == SUMMARY_MARKDOWN) {
			buf_adds(&t->out.buf, f == SUMMARY_MARKDOWN ? "\n" : "");
			footer(t, r);
		}
	}
	if (t->o.save) {
		struct buf why = {0};
		int e = trace_save_run(t->o.save, t->program, t->ops->name, &t->summary, r, &why);
		if (e < 0)
			trace_fail(t, e, "%s", buf_str(&why));
		buf_free(&why);
	}
}
