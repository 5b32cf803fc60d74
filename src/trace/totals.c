/* SPDX-License-Identifier: MIT */
#include "trace/totals.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/size.h"
#include "out/width.h"
#include "run/field.h"
#include "syscall/call_table.h"
#include "syscall/uring_ops.h"
#include "trace/expect.h"
#include "trace/out.h"
#include "trace/trace_save.h"
#include "trace/wall.h"
#include "tracee/uring.h"

#include <stdlib.h>
#include <string.h>

/* Removes the calls that -e excludes, because the engine counted all calls. */
static void drop_unwanted(const struct filter *wanted, struct summary *s)
{
	for (size_t i = 0; wanted && i < s->groups.n; i++) {
		struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->calls.n; k++) {
			struct call_stats *c = g->calls.v[k];
			if (call_stats_is_request(c) || filter_matches(wanted, c->arch, c->nr))
				continue;
			hist_free(&c->hist);
			*c = (struct call_stats){.arch = c->arch, .nr = c->nr};
		}
		size_t kept = 0;
		for (size_t k = 0; k < g->errnos.n; k++)
			if (g->errnos.v[k].arch == SYSCALL_URING_ARCH ||
			    filter_matches(wanted, g->errnos.v[k].arch, g->errnos.v[k].nr))
				g->errnos.v[kept++] = g->errnos.v[k];
		g->errnos.n = kept;
	}
}

/* Implements -O: the cost that the user gives replaces the measured cost. */
static void apply_overhead(const struct trace_totals *t, struct summary *s)
{
	for (size_t i = 0; t->c.overhead_set && i < s->groups.n; i++) {
		struct summary_group *g = s->groups.v[i];
		for (size_t k = 0; k < g->calls.n; k++) {
			struct call_stats *c = g->calls.v[k];
			if (!c->returned || call_stats_is_request(c))
				continue;
			double n = (double)c->returned;
			double each = c->cost_ns / n - (double)t->c.overhead_ns;
			c->ns_squared += each * (2 * c->ns + n * each); /* sum of (x + each)^2 */
			c->ns += each * n;
			c->min_ns = c->min_ns + each > 0 ? c->min_ns + each : 0;
			c->max_ns = c->max_ns + each > 0 ? c->max_ns + each : 0;
			c->cost_ns = (double)t->c.overhead_ns * n;
			c->spread_ns = 0;
			struct hist moved = {0};
			for (uint32_t b = 0; b < c->hist.n; b++) {
				double ns = (double)hist_bucket_low(c->hist.first + b) + each;
				if (c->hist.count[b])
					hist_add(&moved, ns > 0 ? (uint64_t)ns : 0, c->hist.count[b]);
			}
			hist_free(&c->hist);
			c->hist = moved;
		}
	}
}

/* Copies the calls before main that were counted and that -e selects. */
static void choose_before(const struct trace_totals *t, const struct engine_result *r, struct summary *before)
{
	if (!r->before)
		return;
	summary_merge(before, r->before);
	if (t->c.by_events)
		return; /* only selected calls were counted, and trace_totals_main() has implemented -O */
	drop_unwanted(t->c.calls, before);
	apply_overhead(t, before);
}

static uint64_t calls_of(const struct summary_group *g)
{
	uint64_t n = 0;
	for (size_t i = 0; i < g->calls.n; i++)
		n += g->calls.v[i]->entered;
	return n;
}

/* Returns the name under which a process or thread made most calls. execve(2) can change the name. */
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

/* Merges the rows of each process or thread that has had several names. */
static void unite_names(const struct trace_totals *t, struct summary *s)
{
	struct summary united = {0};
	if (t->c.by != BY_PROCESS && t->c.by != BY_THREAD)
		return;
	for (size_t i = 0; i < s->groups.n; i++) {
		struct summary_group *g = s->groups.v[i];
		char *name = memory_copy(name_of(s, g->id));
		free(g->name);
		g->name = name;
	}
	summary_merge(&united, s);
	summary_free(s);
	*s = united;
}

/* Sets t->period to the calls since the last call of this function, and adds t->period to t->summary. */
static void collect(struct trace_totals *t)
{
	struct engine *e = t->c.engine;
	int r = 0;
	summary_free(&t->period);
	if (!t->c.by_events || t->c.by_both)
		r = e->ops->collect(e, &t->period);
	summary_merge(&t->period, &t->events); /* engines do not count requests of io_uring */
	summary_clear(&t->events);
	if (r < 0)
		trace_fail(t->c.failure, r, "cannot read the counts of engine %s: %s", e->ops->name,
			   diag_error_text(-r));
	drop_unwanted(t->c.calls, &t->period);
	apply_overhead(t, &t->period);
	unite_names(t, &t->period);
	summary_merge(&t->summary, &t->period);
	unite_names(t, &t->summary);
}

static void render(const struct trace_totals *t, const struct summary *s)
{
	struct summary_view v = t->c.view;
	v.width = width_look(t->c.out->fd).width;
	summary_render(s, &v, &t->c.out->buf);
}

static bool is_for_people(enum summary_format f)
{
	return f == SUMMARY_TEXT || f == SUMMARY_WIDE || f == SUMMARY_MARKDOWN;
}

static void heading(const struct trace_totals *t, const char *what)
{
	/* In Markdown, a table begins after a blank line. */
	if (is_for_people(t->c.view.format))
		buf_addf(&t->c.out->buf, "%.3f s, %s:\n%s", (double)(clock_ns() - t->c.start_ns) / 1e9, what,
			 t->c.view.format == SUMMARY_MARKDOWN ? "\n" : "");
}

static void print_table(const struct trace_totals *t, const char *what, const struct summary *s)
{
	heading(t, what);
	render(t, s);
	buf_addc(&t->c.out->buf, '\n');
	trace_out_flush(t->c.out);
}

void trace_totals_period(struct trace_totals *t)
{
	collect(t);
	print_table(t, "since the last table", &t->period);
}

void trace_totals_so_far(struct trace_totals *t)
{
	collect(t);
	print_table(t, "so far", &t->summary);
}

void trace_totals_main(struct trace_totals *t)
{
	struct summary now = {0};
	if (t->c.by_both)
		t->c.engine->ops->collect(t->c.engine, &t->events);
	summary_merge(&now, &t->events);
	apply_overhead(t, &now);
	summary_merge(&t->before, &t->summary);
	summary_merge(&t->before, &now);
	summary_free(&now);
}

void trace_totals_complete(const struct trace_totals *t, struct engine_result *r)
{
	if (!t->c.by_events)
		return;
	r->before = &t->before;
	r->before_main = summary_calls(&t->before);
}

/*
 * Appends "program: 2.11 s wall, 0.14 s user, 1.95 s system, peak RSS 968 KiB; 31 calls before main". The end of the
 * program is missing, for example, in a recording that was truncated, or that was saved while the program ran (--last).
 */
static void program_line(const struct trace_totals *t, const struct engine_result *r, struct buf *out)
{
	if (!t->c.program)
		return;
	buf_adds(out, "program: ");
	if (!r->wall_ns) {
		buf_adds(out, "its times are not known, because its end is not part of the trace\n");
		return;
	}
	trace_wall_program(&t->summary, r, t->c.selection->n == 0, out);
	if (r->peak_rss_bytes) {
		buf_adds(out, r->rss_is_largest ? ", peak RSS of the largest process " : ", peak RSS ");
		size_human(out, r->peak_rss_bytes);
	}
	if (r->main_found != MAIN_UNKNOWN)
		buf_addf(out, "; %llu %scall%s before %s", (unsigned long long)r->before_main,
			 t->c.by_events && t->c.selection->n ? "selected " : "", r->before_main == 1 ? "" : "s",
			 r->main_found == MAIN_SYMBOL ? "main" : "its entry point (it has no symbol main)");
	if (r->processes > 1)
		buf_addf(out, "; %llu processes", (unsigned long long)r->processes);
	buf_addc(out, '\n');
}

static void unfollowed_line(const struct engine_result *r, struct buf *out)
{
	if (r->unfollowed)
		buf_addf(out, "not traced: %llu child process%s; -f traces child processes as well\n",
			 (unsigned long long)r->unfollowed, r->unfollowed == 1 ? "" : "es");
}

static void selection_line(const struct trace_totals *t, struct buf *out)
{
	for (size_t i = 0; i < t->c.selection->n; i++)
		buf_addf(out, "%s %s", i ? "" : "selection:", t->c.selection->v[i]);
	buf_adds(out, t->c.selection->n ? "; other calls were not counted\n" : "");
}

static bool any_completed(const struct summary *s)
{
	for (size_t i = 0; i < s->groups.n; i++)
		for (size_t k = 0; k < s->groups.v[i]->calls.n; k++)
			if (s->groups.v[i]->calls.v[k]->returned)
				return true;
	return false;
}

static bool any_requests(const struct summary *s)
{
	for (size_t i = 0; i < s->groups.n; i++)
		for (size_t k = 0; k < s->groups.v[i]->calls.n; k++)
			if (call_stats_is_request(s->groups.v[i]->calls.v[k]) && s->groups.v[i]->calls.v[k]->entered)
				return true;
	return false;
}

/* Says what the rows of requests mean, and what of io_uring was not seen. */
static void uring_lines(const struct trace_totals *t, struct buf *out)
{
	if (t->c.tabled && any_requests(&t->summary))
		buf_adds(out, "io_uring: the rows io_uring:... are requests, which are not part of the sums; their "
			      "time is that until sctrace saw the completion\n");
	if (t->c.uring)
		uring_say(t->c.uring, out);
}

static void engine_lines(const struct trace_totals *t, struct buf *out)
{
	const struct engine_ops *ops = t->c.engine->ops;
	if (t->c.overhead_set)
		buf_addf(out, "engine: %s; %.1f us per call subtracted from the times above (-O)", ops->name,
			 (double)t->c.overhead_ns / 1e3);
	else
		ops->footer(t->c.engine, out);
	buf_addf(out, "\n%s%s", t->c.choice, *t->c.choice ? "\n" : "");
}

/* Appends the lines below the tables. The saved run contains them as well. */
static void say_footer(const struct trace_totals *t, const struct engine_result *r, struct buf *text)
{
	auto_buf hist = {0};
	if (t->c.uncounted) {
		program_line(t, r, text);
		unfollowed_line(r, text);
		return;
	}
	if (!any_completed(&t->summary))
		buf_addf(text, "%s completed%s\n", t->c.selection->n ? "none of the selected calls" : "no call",
			 t->c.program ? "" : " while sctrace was counting");
	char name[64];
	for (const char *rest = t->c.hist; rest && summary_next_hist(&rest, name, sizeof(name));)
		if (!summary_render_hist(&t->summary, name, 80, &hist))
			buf_addf(text, "%s: no %scall of this name returned\n", name,
				 t->c.selection->n ? "selected " : "");
	if (t->c.waiting && t->c.waiting->len)
		buf_addf(text, "waiting: %s\n", buf_str(t->c.waiting));
	program_line(t, r, text);
	if (!t->c.program || !r->wall_ns)
		trace_wall_unknown(&t->summary, text);
	if (t->c.by == BY_THREAD && !t->c.selection->n)
		trace_wall_threads(&t->summary, text);
	unfollowed_line(r, text);
	selection_line(t, text);
	uring_lines(t, text);
	engine_lines(t, text);
	if (r->lost)
		buf_addf(text, "lost: %llu call%s could not be counted\n", (unsigned long long)r->lost,
			 r->lost == 1 ? "" : "s");
}

static void footer(const struct trace_totals *t, const char *lines)
{
	int width = width_look(t->c.out->fd).width;
	const struct summary_below below = {t->c.errors, t->c.hist, t->c.view.format, width};
	summary_render_below(&t->summary, &below, lines, &t->c.out->buf);
}

static void json_document(const struct trace_totals *t, const struct engine_result *r, const char *expect)
{
	auto_buf calls = {0}, more = {0};
	if (*expect)
		buf_addf(&more, "\"expect\": %s,\n", expect);
	if (t->c.by == BY_THREAD && !t->c.selection->n)
		trace_wall_threads_json(&t->summary, &more);
	summary_render(&t->summary, &t->c.view, &calls);
	trace_save_document(t->c.engine->ops->name, t->c.program != NULL, buf_str(&calls), buf_str(&more), r,
			    &t->c.out->buf);
}

static void judge(struct trace_totals *t, const struct engine_result *r, struct buf *json)
{
	struct summary before = {0};
	const struct trace_expect e = {t->c.expect,          &t->summary,        &before, t->c.selection, r,
				       t->c.program != NULL, t->c.children_known};
	choose_before(t, r, &before);
	trace_expect_judge(&e, &t->unmet, &t->unknown, json);
	summary_free(&before);
}

static struct trace_save to_save(const struct trace_totals *t, const struct engine_result *r, const char *lines)
{
	return (struct trace_save){
		t->c.program, t->c.engine->ops->name, &t->summary,   r, &t->c.view, t->c.errors, t->c.hist,
		lines,        t->c.machine,           t->c.selection};
}

static void save(const struct trace_totals *t, const struct engine_result *r, const char *lines)
{
	auto_buf why = {0};
	const struct trace_save what = to_save(t, r, lines);
	int e = trace_save_run(t->c.save, &what, &why);
	if (e < 0)
		trace_fail(t->c.failure, e, "%s", buf_str(&why));
}

/* Adds the engine's last counts. Appends the lines below the table, and the results of --expect as JSON. */
static void conclude(struct trace_totals *t, const struct engine_result *r, struct buf *lines, struct buf *expect)
{
	collect(t);
	say_footer(t, r, lines);
	if (t->c.expect && t->c.expect->list.n)
		judge(t, r, expect);
}

/* Appends the table of one process and the lines below it, or a JSON document. */
static void process_table(const struct trace_totals *t, const struct summary_group *g, struct buf *out)
{
	struct summary one = {0};
	struct summary_view v = t->c.view;
	auto_buf name = {0}, lines = {0}, table = {0};
	summary_merge_group(&one, summary_group(&one, "", -1), g);
	v.by = NULL;
	v.width = width_look(-1).width;
	summary_render(&one, &v, &table);
	escape_c(&name, g->name, strlen(g->name), false);
	buf_addf(&lines, "process: %lld %s\n", (long long)g->id, buf_str(&name));
	selection_line(t, &lines);
	engine_lines(t, &lines);
	const struct summary_below below = {t->c.errors, t->c.hist, v.format, v.width};
	if (v.format == SUMMARY_JSON)
		buf_addf(out,
			 "{\"engine\": \"%s\",\n\"process\": {\"pid\": %lld, \"name\": \"%s\"},\n\"syscalls\": %s}\n",
			 t->c.engine->ops->name, (long long)g->id, buf_str(&name), buf_str(&table));
	else
		buf_add(out, table.s, table.len);
	if (is_for_people(v.format))
		summary_render_below(&one, &below, buf_str(&lines), out);
	summary_free(&one);
}

/* Writes the table of each process to its own file. */
static void process_tables(const struct trace_totals *t)
{
	const struct trace_outputs *o = t->c.separate;
	for (size_t i = 0; i < t->summary.groups.n; i++) {
		const struct summary_group *g = t->summary.groups.v[i];
		struct trace_out out;
		auto_buf path = {0}, why = {0};
		trace_out_name(o->separate, (pid_t)g->id, (pid_t)g->id, g->name, &path);
		int r = calls_of(g) ? trace_out_open(&out, buf_str(&path), o->append, &why) : 1;
		if (r == 0) {
			process_table(t, g, &out.buf);
			r = trace_out_close(&out, &why);
		}
		if (r < 0)
			trace_fail(t->c.failure, r, "%s", buf_str(&why));
	}
}

void trace_totals_final(struct trace_totals *t, const struct engine_result *r)
{
	enum summary_format f = t->c.view.format;
	auto_buf lines = {0};
	auto_buf expect = {0};
	conclude(t, r, &lines, &expect);
	if (t->c.separate)
		process_tables(t);
	else if (f == SUMMARY_JSON)
		json_document(t, r, buf_str(&expect));
	else {
		if (t->c.several)
			heading(t, "in total");
		render(t, &t->summary);
		if (is_for_people(f))
			footer(t, buf_str(&lines));
	}
	if (t->c.save)
		save(t, r, buf_str(&lines));
}

void trace_totals_run(struct trace_totals *t, const struct engine_result *r, struct run *run)
{
	auto_buf lines = {0};
	auto_buf expect = {0};
	conclude(t, r, &lines, &expect);
	const struct trace_save what = to_save(t, r, buf_str(&lines));
	trace_save_make(run, &what);
}

void trace_totals_free(struct trace_totals *t)
{
	summary_free(&t->summary);
	summary_free(&t->period);
	summary_free(&t->events);
	summary_free(&t->before);
	buf_free(&t->unmet);
	buf_free(&t->unknown);
}
