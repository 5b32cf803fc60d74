#include "base/diag.h"
#include "base/outfile.h"
#include "cmd/show/cmd_show.h"
#include "out/width.h"
#include "trace/changes.h"
#include "trace/pipeline.h"
#include "trace/seccomp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 };

#define STRING_MOST 256 /* compare at most this many bytes of a string, because each call is kept in memory */

/* Passes the events of a recording to a sink. Returns 0, or TROUBLE after a message. */
static int give(struct trace_sink *s, const struct trace_opts *o, struct recording *r, const char *path)
{
	struct trace_pipeline p = {.select = &o->select, .session = {.names = recording_names(r)}};
	struct engine *e = recording_engine(r);
	struct event ev;
	auto_buf why = {0};
	trace_pipeline_add(&p, s);
	trace_pipeline_begin(&p);
	struct show_progress progress = {.recording = r, .output = -1};
	struct show_window window;
	bool complete = show_window_open(&window, o, recording_head_of(r), path, &why) == 0;
	while (complete && e->ops->next(e, &ev) == 1) {
		if (show_window_has(&window, &ev))
			trace_pipeline_event(&p, &ev);
		show_progress(&progress);
	}
	show_progress_end(&progress);
	trace_pipeline_end(&p);
	show_window_free(&window);
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
		trace_changes_text(t, term_cut_width(o->output ? -1 : STDOUT_FILENO), &out);
	int err = outfile_put(o->output, &out, &why);
	/* A reader that has read enough (`| head -1`) is not an error that the user must read. */
	if (err && (err != -EPIPE || o->output))
		diag_error("%s", buf_str(&why));
	if (err)
		status = TROUBLE;
	return status;
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

int show_diff(const struct trace_opts *o, char *const *paths)
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

int show_profile(const struct trace_opts *o, char *const *paths)
{
	struct trace_seccomp t;
	auto_buf out = {0}, why = {0};
	int status = 0;
	trace_seccomp_init(&t);
	for (; *paths && !status; paths++) {
		struct recording *r = NULL;
		if (recording_open(&r, *paths, &why) < 0)
			status = EXIT_UNREADABLE;
		else if (give(&t.sink, o, r, *paths) != 0)
			status = EXIT_UNREADABLE;
		if (r)
			recording_close_read(r);
	}
	if (!status && trace_seccomp_profile(&t, o->profile, o->output ? -1 : STDOUT_FILENO, &out, &why) < 0)
		status = EXIT_OWN;
	if (!status && outfile_put(o->output, &out, &why) < 0)
		status = EXIT_OWN;
	if (why.len)
		diag_error("show: %s", buf_str(&why));
	trace_seccomp_free(&t);
	return status;
}
