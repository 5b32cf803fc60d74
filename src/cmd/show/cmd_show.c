/* SPDX-License-Identifier: MIT */
/* `sctrace show`: displays a recording as a live trace would have been displayed. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "cmd/cmd.h"
#include "cmd/display.h"
#include "cmd/trace/cmd_trace.h"
#include "out/width.h"
#include "trace/changes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state of the progress display. */
struct progress {
	const struct recording *recording;
	int output; /* descriptor of the output; if it is a terminal, no progress is shown */
	unsigned events;
	uint64_t due_ns; /* the time at which the progress is shown next */
	bool shown;
};

#define PERIOD_NS (NSEC_PER_SEC / 4)
#define PERIOD    4096 /* the clock is read once in this number of events */

/* Called after each event. Writes the progress at most four times a second, if standard error is a terminal. */
static void progress_show(struct progress *p)
{
	if (++p->events % PERIOD)
		return;
	uint64_t now_ns = clock_ns();
	int percent = recording_percent(p->recording);
	if (!p->due_ns)
		p->due_ns = now_ns + PERIOD_NS;
	if (now_ns < p->due_ns || percent < 0 || !isatty(STDERR_FILENO) || isatty(p->output))
		return;
	fprintf(stderr, "\rsctrace: %d %% of the recording read", percent);
	p->shown = true;
	p->due_ns = now_ns + PERIOD_NS;
}

/* Removes the line with the progress from the terminal. */
static void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

/* The processes or threads of a recording. */
struct window_ids {
	struct map known; /* id -> not NULL */
	VEC(pid_t) order; /* as they appear */
};

/* The part of a recording that is shown. */
struct window {
	const struct trace_opts *o;
	bool active; /* false: all of the recording */
	uint64_t start_ns, last;
	struct map threads; /* tid -> struct window_thread */
	struct window_ids pids, tids;
};

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
static int count_calls(struct window *w, const char *path, struct buf *why)
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

/*
 * Prepares the selection of events by --last, --since, --until, --pid and --tid. A recording that was made with --last N
 * shows the last N calls of each thread by default. Reads the recording in `path` once if it must know the number of calls.
 * Returns 0, or -errno with the reason in `why`. Call window_free() in every case.
 */
static int window_open(struct window *w, const struct trace_opts *o, const struct recording_head *h, const char *path,
		       struct buf *why)
{
	*w = (struct window){.o = o, .start_ns = h->start_ns, .last = (uint64_t)o->show_last};
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

static void note_id(struct window_ids *ids, pid_t id)
{
	if (map_get(&ids->known, (uint64_t)id))
		return;
	map_put(&ids->known, (uint64_t)id, ids);
	vec_push(&ids->order, id);
}

/* Says which of the wanted ids do not occur in the recording, and which ones do. `what` is "process" or "thread". */
static void say_missing(const struct window_ids *ids, const pid_t *wanted, size_t n, const char *what, const char *path)
{
	enum { SHOWN = 8 };
	auto_buf those = {0};
	for (size_t i = 0; i < ids->order.n && i < SHOWN; i++)
		buf_addf(&those, "%s%d", i ? ", " : "", (int)ids->order.v[i]);
	if (ids->order.n > SHOWN)
		buf_addf(&those, " and %zu more", ids->order.n - SHOWN);
	for (size_t i = 0; i < n; i++)
		if (!map_get(&ids->known, (uint64_t)wanted[i]))
			diag_note("'%s' has no %s %d; it has %s", path, what, (int)wanted[i],
				  those.len ? buf_str(&those) : "none");
}

static bool is_in_time(const struct window *w, const struct event *ev)
{
	uint64_t at = ev->kind == EV_CALL ? ev->call.enter_ns : ev->time_ns;
	uint64_t since = w->start_ns + w->o->since_ns;
	return at >= since && (!w->o->until_ns || at < w->start_ns + w->o->until_ns);
}

/* Returns true if the next event is shown. Must be called for each event, in their order. */
static bool window_has(struct window *w, const struct event *ev)
{
	const struct trace_opts *o = w->o;
	if (!w->active)
		return true;
	struct window_thread *t = thread_of(&w->threads, ev->tid);
	note_id(&w->pids, ev->pid);
	note_id(&w->tids, ev->tid);
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

static void window_free(struct window *w)
{
	size_t i = 0;
	struct window_thread *t, *next;
	while ((t = map_next(&w->threads, &i, NULL)))
		for (; t; t = next) {
			next = t->next;
			free(t);
		}
	map_free(&w->threads);
	map_free(&w->pids.known);
	map_free(&w->tids.known);
	vec_free(&w->pids.order);
	vec_free(&w->tids.order);
}

enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 };

#define STRING_MOST 256 /* compare at most this many bytes of a string, because each call is kept in memory */

/*
 * Passes the events of a recording that are in the window to a pipeline, until its output has *failed. `output` is as in
 * struct progress. Returns the time of the last of these events, or 0.
 */
static uint64_t pass(struct recording *r, struct window *w, struct trace_pipeline *p, int output, const bool *failed)
{
	struct engine *e = recording_engine(r);
	struct progress progress = {.recording = r, .output = output};
	struct event ev;
	uint64_t last_ns = 0;
	while (!*failed && e->ops->next(e, &ev) == 1) {
		if (window_has(w, &ev)) {
			last_ns = ev.time_ns;
			trace_pipeline_event(p, &ev);
		}
		progress_show(&progress);
	}
	progress_end(&progress);
	return last_ns;
}

/* Passes the events of a recording to a sink. Returns 0, or TROUBLE after a message. */
static int give(struct trace_sink *s, const struct trace_opts *o, struct recording *r, const char *path)
{
	struct trace_pipeline p = {.select = &o->select, .session = {.names = recording_names(r)}};
	auto_buf why = {0};
	trace_pipeline_add(&p, s);
	trace_pipeline_begin(&p);
	struct window window;
	bool complete = window_open(&window, o, recording_head_of(r), path, &why) == 0;
	if (complete)
		pass(r, &window, &p, -1, &(bool){false});
	trace_pipeline_end(&p);
	window_free(&window);
	complete = complete && recording_is_complete(r, &why);
	if (!complete)
		diag_error("show: '%s': %s", path, buf_str(&why));
	return complete ? 0 : TROUBLE;
}

static int print(const struct trace_tally *t, const struct trace_opts *o)
{
	auto_buf out = {0}, why = {0};
	int status = trace_changes_exist(t) ? DIFFERENT : SAME;
	if (o->format == TRACE_JSON)
		trace_changes_json(t, &out);
	else
		trace_changes_text(t, width_cut(o->output ? -1 : STDOUT_FILENO), &out);
	int err = outfile_put(o->output, &out, &why);
	/* A reader that has read enough (`| head -1`) is not an error that the user must read. */
	if (err && (err != -EPIPE || o->output))
		diag_error("%s", buf_str(&why));
	return err ? TROUBLE : status;
}

/* Appends "all calls", or the options with which the recording was made: "the calls of -e trace=openat". */
static void add_contents(const struct strings *selection, struct buf *out)
{
	buf_adds(out, selection->n ? "the calls of" : "all calls");
	for (size_t i = 0; i < selection->n; i++)
		buf_addf(out, " %s", selection->v[i]);
}

/* Calls that only one recording can contain look like differences between the programs. */
static void note_contents(struct recording *const *r, char *const *paths)
{
	const struct recording_head *a = recording_head_of(r[0]), *b = recording_head_of(r[1]);
	auto_buf first = {0}, second = {0};
	add_contents(&a->about.selection, &first);
	add_contents(&b->about.selection, &second);
	if (a->about.selection.known && b->about.selection.known && strcmp(buf_str(&first), buf_str(&second)) != 0)
		diag_note("'%s' contains %s, and '%s' %s; -e selects calls that both contain", paths[0],
			  buf_str(&first), paths[1], buf_str(&second));
	if (a->follow != b->follow)
		diag_note("only '%s' contains the calls of child processes (-f)", paths[b->follow]);
}

/*
 * Compares the recordings in the two files `paths`. Prints the differences to o->output or standard output. Returns an
 * exit status like diff(1): 0 if there are no differences, 1 if there are some, 2 after a message about an error.
 */
static int diff(const struct trace_opts *o, char *const *paths)
{
	struct trace_tally t = {.string_max = STRING_MOST};
	struct recording *r[2] = {NULL, NULL};
	int status = 0;
	for (unsigned i = 0; i < 2 && !status; i++) {
		auto_buf why = {0};
		if (recording_open(&r[i], paths[i], &why) < 0) {
			diag_error("show: %s", buf_str(&why));
			status = TROUBLE;
		} else if (recording_head_of(r[i])->string_max < t.string_max) {
			t.string_max = recording_head_of(r[i])->string_max;
		}
	}
	if (!status)
		note_contents(r, paths);
	for (unsigned i = 0; i < 2 && !status; i++) {
		trace_tally_begin(&t, i);
		status = give(&t.sink, o, r[i], paths[i]);
	}
	if (t.crowded)
		diag_note(
			"the recordings have more than %d different calls; the others are compared only by their names",
			TALLY_ROWS);
	if (!status)
		status = print(&t, o);
	for (unsigned i = 0; i < 2; i++)
		if (r[i])
			recording_close_read(r[i]);
	trace_tally_free(&t);
	return status;
}

/* Prints one profile for the programs of all recordings in `paths`. Returns 0, or a status after a message. */
static int profile(const struct trace_opts *o, char *const *paths)
{
	struct trace_seccomp t;
	auto_buf out = {0}, why = {0};
	int status = 0;
	trace_seccomp_init(&t);
	for (; *paths && !status; paths++) {
		struct recording *r = NULL;
		if (recording_open(&r, *paths, &why) < 0 || give(&t.sink, o, r, *paths) != 0)
			status = EXIT_UNREADABLE;
		if (r)
			recording_close_read(r);
	}
	if (!status && (trace_seccomp_profile(&t, o->profile, o->output ? -1 : STDOUT_FILENO, &out, &why) < 0 ||
			outfile_put(o->output, &out, &why) < 0))
		status = EXIT_OWN;
	if (why.len)
		diag_error("show: %s", buf_str(&why));
	trace_seccomp_free(&t);
	return status;
}

/*
 * Checks that the recording contains what the options ask for. Prints a note if fewer bytes of each string were
 * recorded than -s requests. Returns 0, or EXIT_USAGE after a message.
 */
static int suit(struct trace *t, const struct recording_head *h)
{
	struct trace_opts *o = &t->o;
	if ((o->stacks || o->folded) && !h->stacks) {
		diag_error("show: no stacks were recorded; record with -k to show them with -k or --stacks");
		return EXIT_USAGE;
	}
	if ((uint32_t)o->string_max > h->string_max) {
		diag_note("only %u bytes of each string were recorded; record with -s %d for more", h->string_max,
			  o->string_max);
		o->string_max = (int)h->string_max;
	}
	if (h->follow && !o->follow)
		o->follow = 1;
	return 0;
}

static void loop(struct trace *t, struct window *window)
{
	/* A table appears only at the end, so the progress can be shown on the same terminal. */
	uint64_t last_ns =
		pass(t->recording, window, &t->pipeline, t->shows ? t->out.common.fd : -1, &t->out.common.failed);
	/* Tables show the time since start_ns as the duration, which must be that of the recording. */
	uint64_t start_ns = t->pipeline.session.start_ns;
	t->totals.c.start_ns = clock_ns() - (last_ns > start_ns ? last_ns - start_ns : 0);
}

static int show(struct trace *t, struct window *window)
{
	struct engine_result result;
	auto_buf why = {0};
	const struct recording_head *h = recording_head_of(t->recording);
	int status = suit(t, h);
	if (status)
		return status;
	t->engine = recording_engine(t->recording);
	t->ops = t->engine->ops;
	/* `argv` of a program ends with NULL, but the list in the recording does not. */
	const struct strings *words = &h->about.program;
	auto_free char **program = words->n ? memory_zeroed(1, (words->n + 1) * sizeof(*program)) : NULL;
	if (program)
		memcpy(program, words->v, words->n * sizeof(*program));
	t->program = program;
	t->stack = recording_stack(t->recording);
	trace_say_unused(t);
	trace_wire_wants(t);
	status = trace_open_outputs(t);
	if (status)
		return status;
	if (!t->o.output) {
		t->out.common.fd = STDOUT_FILENO;
		t->out.common.eager = false;
	}
	trace_wire(t);
	trace_pipeline_begin(&t->pipeline);
	loop(t, window);
	/* With --last, the recording may have been saved while the program continued and was still traced. */
	t->pipeline.session.cut = h->last || !recording_is_complete(t->recording, &why);
	buf_clear(&why);
	status = trace_end(t, &result);
	t->program = NULL;
	/* If the output has failed, the recording was not read to its end, so whether it is complete is not checked. */
	bool complete = t->failure.err || recording_is_complete(t->recording, &why);
	if (!complete)
		diag_error("show: %s", buf_str(&why));
	if (!t->failure.err) {
		say_missing(&window->pids, t->o.show_pids.v, t->o.show_pids.n, "process", t->recording_name);
		say_missing(&window->tids, t->o.show_tids.v, t->o.show_tids.n, "thread", t->recording_name);
	}
	return status || complete ? status : EXIT_UNREADABLE;
}

static int open_and_show(struct trace *t, const char *path)
{
	auto_buf why = {0};
	int status = EXIT_UNREADABLE;
	struct window window = {0};
	t->recording_name = path;
	if (recording_open(&t->recording, path, &why) < 0 ||
	    window_open(&window, &t->o, recording_head_of(t->recording), path, &why) < 0)
		diag_error("show: %s", buf_str(&why));
	else
		status = show(t, &window);
	window_free(&window);
	return status;
}

/* Returns the recording that the output would overwrite while it is read, or NULL. */
static const char *overwritten(const struct trace_opts *o, char *const *paths)
{
	for (; *paths; paths++) {
		const char *path = display_input_path(*paths);
		if (outfile_is_same(o->output, path) || outfile_is_same(o->save, path))
			return path;
	}
	return NULL;
}

int cmd_show(int argc, char **argv)
{
	struct trace t = {0};
	auto_buf why = {0};
	struct opt rows[SHOW_OPTIONS], all_rows[SHOW_OPTIONS];
	struct opt_command face, all;
	int first = 1, status = EXIT_USAGE;
	show_face(&face, rows);
	show_all_options(&all, all_rows);
	trace_opts_init(&t.o);
	recording_head_init(&t.head);
	outfile_catch_signals();
	enum opt_outcome outcome = opt_parse(&all, &t.o, argc, argv, &first, &why);
	if (outcome != OPT_OK)
		status = display_outcome(&face, outcome, "show: ", &why);
	else if (show_check(&t.o, &why) < 0)
		display_usage_error("show: ", buf_str(&why));
	else if (overwritten(&t.o, argv + first))
		diag_error("show: the output would overwrite the recording '%s'; write it to another file",
			   overwritten(&t.o, argv + first));
	else if (display_input_refused(argv + first))
		diag_error("show: %s", display_input_refused(argv + first));
	else if (t.o.diff && argc - first != 2)
		diag_error("show: --diff needs two recordings, as made by sctrace --record FILE PROGRAM");
	else if (t.o.diff)
		status = diff(&t.o, argv + first);
	else if (t.o.profile && argc > first)
		status = profile(&t.o, argv + first);
	else if (argc - first > 1)
		diag_error("show: only one recording can be shown, but %d were given; --diff compares two",
			   argc - first);
	else if (argc == first)
		diag_error("show: no recording was given; name one file that sctrace --record FILE PROGRAM made");
	else
		status = open_and_show(&t, argv[first]);
	t.stack = NULL;
	trace_free(&t);
	if (t.recording)
		recording_close_read(t.recording);
	return status;
}
