/* The part of a recording that `sctrace show` shows: --last, --since, --until, --pid, --tid. */
#include "base/buf.h"
#include "base/memory.h"
#include "cmd/show/cmd_show.h"
#include "trace/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The calls of one thread. */
struct window_thread {
	uint64_t calls;             /* all calls of the thread; known after the first pass */
	uint64_t seen;              /* calls that have begun in this pass */
	bool last, wanted;          /* one of the last calls has begun; the call in progress is wanted */
	struct window_thread *next; /* a later thread with the same id */
};

/* Returns the data of the thread. When it ends, a later thread with its id gets other data. */
static struct window_thread *thread_of(struct map *threads, pid_t tid)
{
	struct window_thread *t = map_get(threads, (uint64_t)tid);
	if (!t) {
		t = memory_zeroed(1, sizeof(*t));
		map_put(threads, (uint64_t)tid, t);
	}
	return t;
}

static struct window_thread *end_thread(struct map *threads, pid_t tid)
{
	struct window_thread *t = thread_of(threads, tid);
	if (!t->next)
		t->next = memory_zeroed(1, sizeof(*t));
	map_put(threads, (uint64_t)tid, t->next);
	return t;
}

/* The first pass: counts the calls of each thread. */
static int count_calls(struct show_window *w, const char *path, struct buf *why)
{
	struct recording *r;
	struct event ev;
	struct map now = {0};
	int err = recording_open(&r, path, why);
	if (err < 0)
		return err;
	struct engine *e = recording_engine(r);
	while (e->ops->next(e, &ev) == 1) {
		struct window_thread *t = thread_of(&now, ev.tid);
		if (!map_get(&w->threads, (uint64_t)ev.tid))
			map_put(&w->threads, (uint64_t)ev.tid, t);
		t->calls += trace_begins(&ev);
		if (ev.kind == EV_DEATH)
			end_thread(&now, ev.tid);
	}
	map_free(&now);
	recording_close_read(r);
	return 0;
}

int show_window_open(struct show_window *w, const struct trace_opts *o, const struct recording_head *h,
		     const char *path, struct buf *why)
{
	*w = (struct show_window){.o = o, .start_ns = h->start_ns, .last = (uint64_t)o->show_last};
	bool given = o->show_last > 0;
	if (!given && h->last && h->about.last_calls > 0)
		w->last = (uint64_t)h->about.last_calls;
	if (w->last && strcmp(path, "-") == 0) {
		if (given)
			buf_adds(why, "--last reads the recording twice, which is not possible with standard input; "
				      "name a file");
		w->last = 0;
		if (given)
			return -EINVAL;
	}
	w->active = w->last || o->since_ns || o->until_ns || o->show_pids.n || o->show_tids.n;
	return w->last ? count_calls(w, path, why) : 0;
}

static bool has_id(const pid_t *v, size_t n, pid_t id)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == id)
			return true;
	return !n;
}

static bool is_in_time(const struct show_window *w, const struct event *ev)
{
	uint64_t at = ev->kind == EV_CALL ? ev->call.enter_ns : ev->time_ns;
	uint64_t since = w->start_ns + w->o->since_ns;
	return at >= since && (!w->o->until_ns || at < w->start_ns + w->o->until_ns);
}

bool show_window_has(struct show_window *w, const struct event *ev)
{
	const struct trace_opts *o = w->o;
	if (!w->active)
		return true;
	struct window_thread *t = thread_of(&w->threads, ev->tid);
	bool mine = has_id(o->show_pids.v, o->show_pids.n, ev->pid) && has_id(o->show_tids.v, o->show_tids.n, ev->tid);
	if (trace_begins(ev)) {
		t->last = !w->last || t->seen + w->last >= t->calls;
		t->seen++;
		t->wanted = mine && t->last && is_in_time(w, ev);
	}
	if (ev->kind == EV_EXEC && ev->child != ev->tid)
		t->wanted = thread_of(&w->threads, ev->child)->wanted;
	/* Sinks must know of threads and programs even if these events are not shown. */
	bool wanted = ev->kind == EV_NEW_TASK || ev->kind == EV_EXEC ? mine
		      : trace_begins(ev) || ev->kind == EV_EXIT || ev->kind == EV_VANISH
			      ? t->wanted
			      : mine && is_in_time(w, ev) && (!w->last || t->last || !t->calls || ev->kind == EV_DEATH);
	if (ev->kind == EV_DEATH)
		free(end_thread(&w->threads, ev->tid));
	return wanted;
}

void show_window_free(struct show_window *w)
{
	size_t i = 0;
	struct window_thread *t, *next;
	while ((t = map_next(&w->threads, &i, NULL)))
		for (; t; t = next) {
			next = t->next;
			free(t);
		}
	map_free(&w->threads);
}
