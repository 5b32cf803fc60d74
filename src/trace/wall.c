/* SPDX-License-Identifier: MIT */
#include "trace/wall.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/size.h"
#include "syscall/call_table.h"

#include <stdlib.h>
#include <string.h>

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

/* Appends "0.72 s waiting in calls (read 0.70 s)": what took `ns`, and the row that contributed most, or NULL, with its time. */
static void say_share(double ns, const char *what, const struct call_stats *most, double most_ns, struct buf *out)
{
	add_seconds(out, ns);
	buf_adds(out, what);
	if (!most)
		return;
	buf_adds(out, " (");
	syscall_name(out, most->arch, most->nr);
	buf_addc(out, ' ');
	add_seconds(out, most_ns);
	buf_addc(out, ')');
}

#define WAITING_IN " waiting in calls"
#define PERHAPS_IN " in calls that may have waited"

/* At most so long took the calls of a row of which it is not known whether they waited. */
static double perhaps_ns(const struct call_stats *c)
{
	const double rest = c->ns - c->waited_ns, most = (double)(c->returned - c->judged) * c->max_ns;
	return c->judged == c->returned || rest < 0 ? 0 : rest < most ? rest : most;
}

/*
 * How long calls took, how long they waited, and how long they may have waited, with the rows that contributed most. `all`
 * owns the rows.
 */
struct waiting {
	struct summary all;
	const struct call_stats *most, *most_perhaps;
	double calls_ns, ns, perhaps;
	bool any, known,
		unknown; /* has a call waited? is it known of a call whether it has waited? is it not known of one? */
};

static struct waiting waiting_of(const struct summary *s)
{
	struct waiting w = {.ns = 0};
	struct summary_group *sums = summary_group(&w.all, "", -1);
	for (size_t i = 0; i < s->groups.n; i++)
		for (size_t k = 0; k < s->groups.v[i]->calls.n; k++) {
			const struct call_stats *c = s->groups.v[i]->calls.v[k];
			if (!call_stats_is_request(c))
				call_stats_add(summary_call(&w.all, sums, c->arch, c->nr), c);
		}
	for (size_t k = 0; k < sums->calls.n; k++) {
		const struct call_stats *c = sums->calls.v[k];
		w.calls_ns += c->ns;
		w.ns += c->waited_ns;
		w.perhaps += perhaps_ns(c);
		w.any |= c->waits > 0;
		w.known |= c->judged > 0;
		w.unknown |= c->judged < c->returned;
		w.most = !w.most || c->waited_ns > w.most->waited_ns ? c : w.most;
		w.most_perhaps = !w.most_perhaps || perhaps_ns(c) > perhaps_ns(w.most_perhaps) ? c : w.most_perhaps;
	}
	return w;
}

void trace_wall_program(const struct summary *s, const struct engine_result *r, bool all, struct buf *out)
{
	double wall = (double)r->wall_ns, user = timeval_ns(&r->usage.ru_utime),
	       system = timeval_ns(&r->usage.ru_stime);
	struct waiting w = waiting_of(s);
	const bool perhaps = w.known && w.perhaps > wall / 20, one = (w.any || perhaps) && r->threads == 1 && all;
	const double rest = wall - user - system - w.ns;
	add_seconds(out, wall);
	buf_adds(out, one ? " wall = " : " wall, ");
	add_seconds(out, user);
	buf_adds(out, one ? " user + " : " user, ");
	add_seconds(out, system);
	buf_adds(out, " system");
	if (w.any) {
		buf_adds(out, one ? " + " : ", ");
		say_share(w.ns, WAITING_IN, w.most, w.most->waited_ns, out);
	}
	if (w.unknown && !w.known)
		buf_adds(out, ", waits not known");
	if (one && rest > wall / 20) {
		buf_adds(out, " + ");
		say_share(rest,
			  perhaps ? " between calls, held by sctrace, or" PERHAPS_IN
				  : " between calls or held by sctrace",
			  perhaps ? w.most_perhaps : NULL, perhaps_ns(w.most_perhaps), out);
	} else if (perhaps) {
		buf_adds(out, ", up to ");
		say_share(w.perhaps, PERHAPS_IN, w.most_perhaps, perhaps_ns(w.most_perhaps), out);
	}
	summary_free(&w.all);
}

void trace_wall_unknown(const struct summary *s, struct buf *out)
{
	struct waiting w = waiting_of(s);
	if (w.unknown && !w.known)
		buf_adds(out, "waits: not known\n");
	else if (w.perhaps > w.calls_ns / 100) {
		buf_adds(out, "waits: up to ");
		say_share(w.perhaps, PERHAPS_IN, w.most_perhaps, perhaps_ns(w.most_perhaps), out);
		buf_addc(out, '\n');
	}
	summary_free(&w.all);
}

/* The largest number of threads that have a line. */
#define THREAD_LINES 10

/* The parts of the wall-clock time of a thread. */
enum { WAITING, MAY_HAVE_WAITED, OTHER_CALLS, UNFINISHED, BETWEEN, PARTS };
static const struct {
	const char *json, *text;
} parts[PARTS] = {
	[WAITING] = {"waiting_s", WAITING_IN},
	[MAY_HAVE_WAITED] = {"may_have_waited_s", PERHAPS_IN},
	[OTHER_CALLS] = {"other_calls_s", " in other calls"},
	[UNFINISHED] = {"unfinished_s", " in calls that did not return"},
	[BETWEEN] = {"between_calls_s", " between calls"},
};

/* Where the wall-clock time of a thread went, from its first event to its last, in ns. */
struct thread_time {
	const struct summary_group *group;
	double wall, part[PARTS];
};
struct thread_times {
	struct thread_time *v;
	size_t n, cap;
};

static struct thread_time thread_time(const struct summary_group *g)
{
	struct thread_time t = {g, (double)(g->last_ns - g->first_ns), {[UNFINISHED] = g->unfinished_ns}};
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct call_stats *c = g->calls.v[i];
		if (call_stats_is_request(c))
			continue;
		t.part[WAITING] += c->waited_ns;
		t.part[MAY_HAVE_WAITED] += perhaps_ns(c);
		/* Less than nothing may remain of short calls after the cost of tracing has been subtracted. */
		const double other = c->ns - c->waited_ns - perhaps_ns(c);
		t.part[OTHER_CALLS] += other > 0 ? other : 0;
	}
	double between = t.wall;
	for (size_t p = 0; p < BETWEEN; p++)
		between -= t.part[p];
	t.part[BETWEEN] = between > 0 ? between : 0;
	return t;
}

static int by_wall(const void *a, const void *b)
{
	const struct thread_time *x = a, *y = b;
	return x->wall < y->wall ? 1 : x->wall > y->wall ? -1 : x->group->id < y->group->id ? -1 : 1;
}

/* Appends "0.72 s waiting in calls (read 0.70 s) + 0.10 s in other calls". Parts below a hundredth are left out. */
static void say_parts(const struct thread_time *t, struct buf *out)
{
	const struct summary_group *g = t->group;
	const struct call_stats *most = NULL;
	const char *plus = "";
	for (size_t i = 0; i < g->calls.n; i++)
		most = !most || g->calls.v[i]->waited_ns > most->waited_ns ? g->calls.v[i] : most;
	for (size_t p = 0; p < PARTS; p++) {
		if (t->part[p] < t->wall / 100)
			continue;
		buf_adds(out, plus);
		plus = " + ";
		say_share(t->part[p], parts[p].text, p == WAITING ? most : NULL, most ? most->waited_ns : 0, out);
	}
}

/* Finds the times of all threads, those that lived longest first. Free with vec_free(). */
static void threads_of(const struct summary *s, struct thread_times *out)
{
	*out = (struct thread_times){0};
	for (size_t i = 0; i < s->groups.n; i++)
		if (s->groups.v[i]->last_ns > s->groups.v[i]->first_ns)
			vec_push(out, thread_time(s->groups.v[i]));
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_wall);
}

void trace_wall_threads(const struct summary *s, struct buf *out)
{
	struct thread_times all;
	threads_of(s, &all);
	for (size_t i = 0; i < all.n && i < THREAD_LINES; i++) {
		const struct thread_time *t = &all.v[i];
		buf_addf(out, "thread %lld (", (long long)t->group->id);
		escape_c(out, t->group->name, strlen(t->group->name), false);
		buf_adds(out, "): ");
		add_seconds(out, t->wall);
		buf_adds(out, " wall = ");
		say_parts(t, out);
		buf_addc(out, '\n');
	}
	if (all.n > THREAD_LINES)
		buf_addf(out, "threads: %zu more, which lived less long; --format=json lists all\n",
			 all.n - THREAD_LINES);
	vec_free(&all);
}

void trace_wall_threads_json(const struct summary *s, struct buf *out)
{
	struct thread_times all;
	threads_of(s, &all);
	for (size_t i = 0; i < all.n; i++) {
		const struct thread_time *t = &all.v[i];
		buf_addf(out, "%s{\"tid\": %lld, \"wall_s\": %.9f", i ? ",\n" : "\"threads\": [",
			 (long long)t->group->id, t->wall / 1e9);
		for (size_t p = 0; p < PARTS; p++)
			buf_addf(out, ", \"%s\": %.9f", parts[p].json, t->part[p] / 1e9);
		buf_addc(out, '}');
	}
	buf_adds(out, all.n ? "],\n" : "");
	vec_free(&all);
}
