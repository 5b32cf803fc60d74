/*
 * The end of a trace. With --io, --tree or --format=html: makes a run, and displays it as `sctrace report` does. Explains
 * why no call was selected.
 */
#include "cmd/trace/trace.h"

#include "base/diag.h"
#include "cmd/display.h"
#include "out/term.h"
#include "run/run.h"
#include "trace/save.h"

#include <string.h>
#include <unistd.h>

/* Returns the name of the table's format for display_run_into(), such as "csv". */
static const char *format_of(const struct trace_opts *o)
{
	static const char *const formats[] = {
		[SUMMARY_TEXT] = "text",   [SUMMARY_WIDE] = "text", [SUMMARY_TRUSS] = "text",
		[SUMMARY_STRACE] = "text", [SUMMARY_CSV] = "csv",   [SUMMARY_MARKDOWN] = "markdown",
		[SUMMARY_JSON] = "json",
	};
	return o->html ? "html" : formats[o->view.format];
}

/* Prints the list of --format=paths. */
static void show_paths(struct trace *t)
{
	struct trace_out *out = &t->out.common;
	size_t left = trace_files_list(&t->files, t->o.files, isatty(out->fd), &out->buf);
	if (left)
		diag_note("%zu path%s left out of the list, because %s a newline; --json contains %s", left,
			  left == 1 ? " is" : "s are", left == 1 ? "it contains" : "they contain",
			  left == 1 ? "it" : "them");
}

/* Adds what --io has not seen to the lines below the tables. */
static void add_unseen(const struct trace *t, struct run *run)
{
	struct buf lines = {0};
	io_profile_say(&t->io.profile, &lines);
	strings_add_lines(&run->footer, buf_str(&lines));
	buf_free(&lines);
}

void trace_page_show(struct trace *t, const struct engine_result *result)
{
	struct run run;
	struct buf why = {0};
	struct table_look look = term_look(t->out.common.fd);
	trace_totals_run(&t->totals, result, &run);
	run.view.calls = t->o.count || t->o.count_too ? TRUTH_UNKNOWN : TRUTH_NO;
	if (t->o.top_set)
		run.view.files = t->o.view.top;
	if (t->o.io) {
		add_unseen(t, &run);
		io_profile_finish(&t->io.profile, &run.io);
	}
	if (t->o.tree)
		trace_tree_finish(&t->tree, &run.tree);
	if (t->o.files)
		trace_files_finish(&t->files, t->o.files, &run.files);
	look.colour = t->totals.c.view.colour;
	int r = t->o.save ? run_save(&run, t->o.save, &why) : 0;
	if (r < 0)
		trace_fail(&t->failure, r, "%s", buf_str(&why));
	if (t->o.paths)
		show_paths(t);
	else
		display_run_into(&run, format_of(&t->o), &look, &t->out.common.buf);
	trace_save_free(&run, t->totals.c.machine);
	buf_free(&why);
}

void trace_show_seccomp(struct trace *t)
{
	struct trace_out *out = &t->out.common;
	struct buf why = {0};
	int r = trace_seccomp_profile(&t->seccomp, t->o.profile, out->fd, &out->buf, &why);
	if (r < 0)
		trace_fail(&t->failure, r, "%s", buf_str(&why));
	buf_free(&why);
}

void trace_say_unseen(const struct trace *t)
{
	struct buf lines = {0};
	if (t->shows && !t->totals.c.tabled)
		uring_say(&t->pipeline.uring, &lines);
	for (const char *line = buf_str(&lines); *line; line += strcspn(line, "\n") + 1)
		diag_note("%.*s", (int)strcspn(line, "\n"), line);
	buf_free(&lines);
}

void trace_hint(const struct trace *t)
{
	struct buf selected = {0}, tampered = {0};
	bool none =
		t->pipeline.nsinks && !t->counts_requests ? !t->pipeline.selected : !summary_calls(&t->totals.summary);
	if (none)
		trace_select_hint(&t->o.select, &selected);
	if (selected.len)
		diag_note("no selected call was made; %s", buf_str(&selected));
	trace_injects_hint(&t->o.injects, &tampered);
	if (tampered.len)
		diag_note("no call was tampered with; %s", buf_str(&tampered));
	buf_free(&selected);
	buf_free(&tampered);
}
