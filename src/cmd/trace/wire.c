/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/diag.h"
#include "cmd/display.h"
#include "cmd/trace/cmd_trace.h"
#include "config.h"
#include "measure/machine_env.h"
#include "out/width.h"
#include "run/run.h"
#include "syscall/call_table.h"
#include "trace/trace_save.h"
#include "trace/trace_stack.h"
#include "tracee/names.h"
#include "tracee/proc.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Connects the parts of a trace. The options decide which sinks there are and how each is configured. */
/* If only these views are shown, not all calls must be events, and the program runs faster. */
static void want_few(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	struct trace_select select = {0};
	size_t at;
	t->few = (o->tree || o->files) && !o->io && !o->count && !o->count_too && !o->select.by_call;
	if (!t->few)
		return;
	if (o->tree) {
		trace_select_parse(&select, "trace", 5, TRACE_TREE_CALLS, &at, NULL);
		trace_select_only(&select, &t->only);
	}
	if (o->files)
		trace_files_calls(&t->only);
	trace_select_free(&select);
}

void trace_wire_wants(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	trace_select_only(&o->select, &t->only);
	want_few(t);
	/* Threads stop at the calls that are tampered with and, if stacks are shown, at all selected calls. */
	t->stops = o->stacks || o->folded ? t->only : (struct call_set){0};
	trace_injects_stops(&o->injects, &t->stops);
	trace_look_stops(&o->look, &t->stops);
	/* A recording contains calls but no counts, so calls from a recording are counted one by one. */
	t->by_events = o->folded || ((o->count || o->count_too || trace_opts_page(o)) &&
				     (t->recording || trace_opts_need_events(o)));
	/* Recorded calls are shown later (`sctrace show`), unless the user named an output or a format. */
	bool later = o->record && !o->output && o->format == TRACE_TEXT;
	t->shows = o->count_too || (!o->count && !o->folded && !trace_opts_page(o) && !later);
}

void trace_wire_requests(struct trace *t, struct engine_config *c)
{
	const int64_t enter = syscall_number(syscall_native_arch(), "io_uring_enter");
	t->counts_requests = t->ops->caps & CAP_EVENTS && enter >= 0 && enter < CALL_SET_MAX &&
			     (!t->o.select.by_call || t->only.bits[enter / 64] >> (enter % 64) & 1);
	if (!t->counts_requests)
		return;
	trace_select_rings(&t->rings);
	c->want |= CAP_EVENTS;
	c->only = &t->rings;
}

static bool wants_colour(const struct trace *t)
{
	const char *when = t->o.color ? t->o.color : "auto";
	if (strcmp(when, "auto") != 0)
		return strcmp(when, "never") != 0;
	return width_look(t->out.common.fd).colour;
}

static struct trace_decoding decoding(const struct trace_opts *o)
{
	return (struct trace_decoding){.string_max = (unsigned)o->string_max,
				       .verbose = o->verbose_count > 0,
				       .fd_names = o->look.fd_names,
				       .pid_names = o->look.pid_names > 0,
				       .outer_ids = o->look.outer_ids,
				       .namespaces = o->look.namespaces,
				       .look = &o->look};
}

static unsigned emit_flags(const struct trace_opts *o, bool colour)
{
	static const unsigned constants[] = {
		[CONSTANTS_NAMED] = 0, [CONSTANTS_RAW] = EMIT_RAW_NAMES, [CONSTANTS_BOTH] = EMIT_BOTH_NAMES};
	unsigned hex = o->hex > 1 ? EMIT_HEX_STRINGS : o->hex ? EMIT_HEX_NONPRINT : 0;
	return hex | constants[o->look.constants] | (colour ? EMIT_COLOUR : 0) | (o->arg_names ? EMIT_ARG_NAMES : 0);
}

/* Returns what walks the stacks at fatal signals: for -k, and for a recording that was made with --last. Or else NULL. */
static struct stack *crashes_of(const struct trace *t)
{
	return t->o.stacks || (t->recording && recording_head_of(t->recording)->last) ? t->stack : NULL;
}

/* Returns how many threads are attached to. */
static uint64_t number_of_threads(pid_t pid)
{
	auto_buf text = {0};
	if (proc_process(pid) != pid)
		return 1;
	return proc_read(pid, "status", &text) < 0 ? 0 : proc_number(buf_str(&text), "Threads");
}

/*
 * Returns true if several threads may exist when the trace begins: sctrace has attached to them, or a recording begins
 * in the middle of the trace (--last and -f). Only threads that have made calls are known, so the number of known
 * threads does not say whether a line needs its id.
 */
static bool begins_with_several(const struct trace *t)
{
	const struct recording_head *h = t->recording ? recording_head_of(t->recording) : NULL;
	uint64_t n = t->program != NULL;
	for (size_t i = 0; i < t->o.pids.n; i++)
		n += number_of_threads(t->o.pids.v[i]);
	n += trace_opts_watch(&t->o) ? 2 : 0;
	return h ? (h->last && h->follow) || h->several : n > 1;
}

static struct trace_sink *wire_text(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	bool colour = wants_colour(t);
	struct trace_text_config c = {.out = &t->out,
				      .stack = o->stacks ? t->stack : NULL,
				      .crashes = crashes_of(t),
				      .waiting = &t->waiting,
				      .decoding = decoding(o),
				      .emit_flags = emit_flags(o, colour),
				      .column = (size_t)o->column,
				      .pids = o->always_pid && o->output ? PIDS_ALWAYS
					      : o->always_pid            ? PIDS_OF_ALL
					      : t->out.separate          ? PIDS_NEVER
					      : !o->output && t->several ? PIDS_OF_ALL
					      : !o->output               ? PIDS_OF_SEVERAL
					      : o->follow || t->several  ? PIDS_ALWAYS
									 : PIDS_SINCE_SEVERAL,
				      .times = o->times,
				      .waits = trace_select_needs_exit(&o->select),
				      .numbers = o->numbers,
				      .addresses = o->addresses,
				      .bold = colour};
	trace_text_init(&t->shown.text, &c);
	return &t->shown.text.sink;
}

/* Returns the name of the machine on which the calls were made, or NULL. */
static const char *host_of(struct trace *t)
{
	if (t->recording)
		return recording_head_of(t->recording)->about.machine.host;
	return uname(&t->machine) == 0 ? t->machine.nodename : NULL;
}

static struct trace_sink *wire_json(struct trace *t)
{
	struct trace_json_config c = {.out = &t->out,
				      .stack = t->o.stacks ? t->stack : NULL,
				      .crashes = crashes_of(t),
				      .decoding = decoding(&t->o),
				      .host = host_of(t),
				      .recording = t->recording_name,
				      .program = t->program};
	if (t->o.format == TRACE_JSON)
		trace_json_init(&t->shown.json, &c);
	else if (t->o.format == TRACE_CSV)
		trace_csv_init(&t->shown.csv, &c);
	else
		trace_perfetto_init(&t->shown.json, &c);
	return &t->shown.json.sink;
}

static struct trace_sink *wire_truss(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	struct trace_truss_config c = {.out = &t->out.common,
				       .decoding = decoding(o),
				       .pids = o->follow > 0,
				       .tids = o->truss_thread_ids,
				       .clock = o->times.clock != CLOCK_NONE,
				       .relative = o->times.relative != PRECISION_NONE};
	trace_truss_init(&t->shown.truss, &c);
	return &t->shown.truss.sink;
}

static void wire_totals(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	const struct strings *recorded = t->recording ? &recording_head_of(t->recording)->about.selection : NULL;
	for (size_t i = 0; recorded && i < recorded->n; i++)
		strings_add(&t->selection, recorded->v[i]);
	trace_select_say(&o->select, &t->selection);
	t->totals.c = (struct trace_totals_config){
		.engine = t->engine,
		.choice = buf_str(&t->choice),
		.children_known = !t->recording || recording_head_of(t->recording)->follow,
		.waiting = &t->waiting_calls,
		.uncounted = !o->count && !o->count_too && !o->io,
		.tabled = o->count || o->count_too,
		.by_events = t->by_events,
		.by_both = t->count_threads,
		.uring = &t->pipeline.uring,
		.calls = o->select.by_call ? &o->select.calls : NULL,
		.selection = &t->selection,
		.by = trace_by_parse(o->by),
		.view = o->view,
		.errors = o->errors,
		.overhead_set = o->overhead_set,
		.overhead_ns = o->overhead_ns,
		.hist = o->hist,
		.save = o->save,
		.expect = &o->expect,
		.program = t->program,
		.several = o->interval_ns || o->count_too,
		.machine = t->recording ? &recording_head_of(t->recording)->about.machine : NULL,
		.start_ns = t->pipeline.session.start_ns,
		.out = &t->out.common,
		.separate = o->count && trace_opts_separate(o) ? &t->out : NULL,
		.failure = &t->failure};
	t->totals.c.view.colour = wants_colour(t);
}

static void wire_source(struct trace *t)
{
	struct trace_session *s = &t->pipeline.session;
	if (t->recording) {
		const struct recording_head *h = recording_head_of(t->recording);
		s->names = recording_names(t->recording);
		s->start_ns = h->start_ns;
		s->real_offset_ns = h->real_offset_ns;
		return;
	}
	names_keep_sockets(&t->names);
	s->names = &t->names.names;
	s->start_ns = clock_ns();
	s->real_offset_ns = (int64_t)(clock_real_ns() - s->start_ns);
	/* The patch engine looks names up some time after the calls in any case, so names can be kept for a moment. */
	if (t->follows_names) {
		names_keep(&t->names);
		t->pipeline.kept = &t->names;
	}
}

/* --record and --last: begins the recording, saves its last part, and closes it. */
static void trace_record_begin(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	const struct trace_recorder_config c = {.writer = t->writer,
						.stack = t->stack,
						.call_stacks = o->stacks,
						.crash_stacks = o->last_set,
						.all_calls = !o->select.by_call || t->follows_names,
						.string_max = trace_string_max(o),
						.look = &o->look};
	struct recording_head *h = &t->head;
	h->start_ns = t->pipeline.session.start_ns;
	h->real_offset_ns = t->pipeline.session.real_offset_ns;
	h->string_max = c.string_max;
	h->follow = o->follow > 0;
	h->stacks = o->stacks;
	h->last = o->last_set;
	h->several = t->several;
	if (o->last_set && o->last.calls)
		h->about.last_calls = (double)o->last.calls;
	field_set(&h->about.version, SCTRACE_VERSION);
	field_set(&h->about.engine, t->ops->name);
	h->about.program.known = t->program != NULL;
	for (size_t i = 0; t->program && t->program[i]; i++)
		strings_add(&h->about.program, t->program[i]);
	h->about.selection.known = true;
	trace_select_say(&o->select, &h->about.selection);
	env_collect(&h->about.machine, NULL);
	recording_begin(t->writer, h, t->out.common.stop);
	trace_recorder_init(&t->recorder, &c, &t->pipeline.session);
	trace_pipeline_add(&t->pipeline, &t->recorder.sink);
}

void trace_wire(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	struct trace_pipeline *p = &t->pipeline;
	p->select = &o->select;
	p->limit = o->limit;
	t->several = begins_with_several(t);
	wire_source(t);
	t->out.names = p->session.names;
	wire_totals(t);
	if (t->counts_requests || (t->by_events && (o->count || o->count_too || o->io))) {
		trace_count_init(&t->count, t->totals.c.by, &t->totals.events, t->counts_requests);
		trace_pipeline_add(p, &t->count.sink);
	}
	if (o->io) {
		trace_io_init(&t->io);
		t->io.profile.here = !t->recording;
		trace_pipeline_add(p, &t->io.sink);
	}
	if (o->tree) {
		trace_tree_init(&t->tree);
		trace_pipeline_add(p, &t->tree.sink);
		for (size_t i = 0; i < o->pids.n; i++)
			trace_tree_attached(&t->tree, o->pids.v[i]);
	}
	if (o->files) {
		trace_files_init(&t->files);
		trace_pipeline_add(p, &t->files.sink);
	}
	if (o->profile) {
		trace_seccomp_init(&t->seccomp);
		trace_pipeline_add(p, &t->seccomp.sink);
	}
	if (o->folded) {
		trace_folded_init(&t->folded, t->stack, strcmp(o->folded, "folded,time") == 0);
		trace_pipeline_add(p, &t->folded.sink);
	}
	if (t->writer)
		trace_record_begin(t);
	if (t->shows)
		trace_pipeline_add(p, o->truss ? wire_truss(t) : o->format == TRACE_TEXT ? wire_text(t) : wire_json(t));
}

void trace_say_unjudged(const struct trace *t)
{
	const struct trace_opts *o = &t->o;
	bool marks = !o->select.waited && o->times.waits && t->shows && o->format == TRACE_TEXT && !o->truss;
	uint64_t n = marks ? t->shown.text.unjudged : t->pipeline.unjudged;
	if (n && (o->look.quiet & QUIET_ALL) != QUIET_ALL)
		diag_note("it is not known of %llu call%s whether %s waited, so %s %s; see Waits in sctrace(1)",
			  (unsigned long long)n, n == 1 ? "" : "s", n == 1 ? "it" : "they", n == 1 ? "it" : "they",
			  marks    ? n == 1 ? "has no mark" : "have no mark"
			  : n == 1 ? "is left out"
				   : "are left out");
}

/*
 * The end of a trace. With --io, --tree or --format=html: makes a run, and displays it as `sctrace report` does. Explains
 * why no call was selected.
 */
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
	auto_buf lines = {0};
	io_profile_say(&t->io.profile, &lines);
	strings_add_lines(&run->footer, buf_str(&lines));
}

void trace_page_show(struct trace *t, const struct engine_result *result)
{
	struct run run;
	auto_buf why = {0};
	struct table_look look = width_look(t->out.common.fd);
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
	trace_fail(&t->failure, r, "%s", buf_str(&why));
	if (t->o.paths)
		show_paths(t);
	else
		display_run_into(&run, format_of(&t->o), &look, &t->out.common.buf);
	trace_save_free(&run, t->totals.c.machine);
}

void trace_show_seccomp(struct trace *t)
{
	struct trace_out *out = &t->out.common;
	auto_buf why = {0};
	int r = trace_seccomp_profile(&t->seccomp, t->o.profile, out->fd, &out->buf, &why);
	trace_fail(&t->failure, r, "%s", buf_str(&why));
}

void trace_say_unseen(const struct trace *t)
{
	auto_buf lines = {0};
	if (t->shows && !t->totals.c.tabled)
		uring_say(&t->pipeline.uring, &lines);
	for (size_t at = 0, length; at < lines.len; at += length + 1) {
		length = strcspn(buf_str(&lines) + at, "\n");
		diag_note("%.*s", (int)length, buf_str(&lines) + at);
	}
}

void trace_hint(const struct trace *t)
{
	auto_buf selected = {0}, tampered = {0};
	bool none =
		t->pipeline.nsinks && !t->counts_requests ? !t->pipeline.selected : !summary_calls(&t->totals.summary);
	if (none)
		trace_select_hint(&t->o.select, &selected);
	if (selected.len)
		diag_note("no selected call was made; %s", buf_str(&selected));
	trace_injects_hint(&t->o.injects, &tampered);
	if (tampered.len)
		diag_note("no call was tampered with; %s", buf_str(&tampered));
}

void trace_save_last(struct trace *t)
{
	struct engine_result result;
	auto_buf footer = {0};
	t->ops->result(t->engine, &result);
	t->ops->footer(t->engine, &footer);
	recording_save(t->writer, &(struct recording_end){&result, buf_str(&footer)});
}

void trace_record_end_of(struct trace *t, const struct event *ev)
{
	bool asked = !t->program || ev->pid == t->root;
	bool failed = WIFSIGNALED(ev->status) || WEXITSTATUS(ev->status) != 0;
	if (failed && (asked || (WIFSIGNALED(ev->status) && trace_is_crash(WTERMSIG(ev->status)))))
		trace_save_last(t);
}

void trace_record_close(struct trace *t, const struct engine_result *result)
{
	auto_buf footer = {0}, why = {0};
	t->ops->footer(t->engine, &footer);
	const struct recording_end end = {result, buf_str(&footer)};
	int r = recording_close(t->writer, &end, &why);
	t->writer = NULL;
	trace_fail(&t->failure, r, "%s", buf_str(&why));
}
