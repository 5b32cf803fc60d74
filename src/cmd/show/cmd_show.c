#include "cmd/show/cmd_show.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "cmd/cmd.h"
#include "cmd/display.h"
#include "cmd/trace/cmd_trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `sctrace show`: displays a recording as a live trace would have been displayed. */
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

static void loop(struct trace *t, struct show_window *window)
{
	struct event ev;
	/* A table appears only at the end, so the progress can be shown on the same terminal. */
	struct show_progress progress = {.recording = t->recording, .output = t->shows ? t->out.common.fd : -1};
	uint64_t last_ns = 0;
	while (!t->out.common.failed && t->ops->next(t->engine, &ev) == 1) {
		if (show_window_has(window, &ev)) {
			last_ns = ev.time_ns;
			trace_pipeline_event(&t->pipeline, &ev);
		}
		show_progress(&progress);
	}
	show_progress_end(&progress);
	/* Tables show the time since start_ns as the duration, which must be that of the recording. */
	uint64_t start_ns = t->pipeline.session.start_ns;
	t->totals.c.start_ns = clock_ns() - (last_ns > start_ns ? last_ns - start_ns : 0);
}

static int show(struct trace *t, struct show_window *window)
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
	char **program = words->n ? memory_zeroed(1, (words->n + 1) * sizeof(*program)) : NULL;
	if (program)
		memcpy(program, words->v, words->n * sizeof(*program));
	t->program = program;
	t->stack = recording_stack(t->recording);
	trace_say_unused(t);
	trace_wire_wants(t);
	if (trace_open_outputs(t, t->o.output, &why) < 0) {
		diag_error("%s", buf_str(&why));
		trace_out_close(&t->out.common, &why);
		free(program);
		return EXIT_OWN;
	}
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
	free(program);
	/* If the output has failed, the recording was not read to its end, so whether it is complete is not checked. */
	bool complete = t->failure.err || recording_is_complete(t->recording, &why);
	if (!complete)
		diag_error("show: %s", buf_str(&why));
	return status || complete ? status : EXIT_UNREADABLE;
}

static int open_and_show(struct trace *t, const char *path)
{
	auto_buf why = {0};
	int status = EXIT_UNREADABLE;
	struct show_window window = {0};
	t->recording_name = path;
	if (recording_open(&t->recording, path, &why) < 0 ||
	    show_window_open(&window, &t->o, recording_head_of(t->recording), path, &why) < 0)
		diag_error("show: %s", buf_str(&why));
	else
		status = show(t, &window);
	show_window_free(&window);
	return status;
}

/* Returns the recording that the output would overwrite while it is read, or NULL. */
static const char *overwritten(const struct trace_opts *o, char *const *paths)
{
	for (; *paths; paths++) {
		const char *path = input_path(*paths);
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
	show_face(&face, rows, SHOW_OPTIONS);
	show_all_options(&all, all_rows, SHOW_OPTIONS);
	trace_opts_init(&t.o);
	recording_head_init(&t.head);
	outfile_catch_signals();
	enum opt_outcome outcome = opt_parse(&all, &t.o, argc, argv, &first, &why);
	if (outcome != OPT_OK)
		status = put_outcome(&face, outcome, "show: ", &why);
	else if (show_check(&t.o, &why) < 0)
		put_usage_error("show: ", buf_str(&why));
	else if (overwritten(&t.o, argv + first))
		diag_error("show: the output would overwrite the recording '%s'; write it to another file",
			   overwritten(&t.o, argv + first));
	else if (input_refused(argv + first))
		diag_error("show: %s", input_refused(argv + first));
	else if (t.o.diff && argc - first != 2)
		diag_error("show: --diff needs two recordings, as made by sctrace --record FILE PROGRAM");
	else if (t.o.diff)
		status = show_diff(&t.o, argv + first);
	else if (t.o.profile && argc > first)
		status = show_profile(&t.o, argv + first);
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
