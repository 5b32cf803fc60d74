/* --record and --last: begins the recording, saves its last part, and closes it. */
#include "cmd/trace/trace.h"

#include "config.h"
#include "measure/env.h"
#include "trace/stack.h"

#include <sys/wait.h>

void trace_record_begin(struct trace *t)
{
	const struct trace_opts *o = &t->o;
	const struct trace_recorder_config c = {.writer = t->writer,
						.stack = t->stack,
						.call_stacks = o->stacks,
						.crash_stacks = o->last_set,
						.all_calls = !o->select.by_call,
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

void trace_save_last(struct trace *t)
{
	struct engine_result result;
	struct buf footer = {0};
	t->ops->result(t->engine, &result);
	t->ops->footer(t->engine, &footer);
	recording_save(t->writer, &(struct recording_end){&result, buf_str(&footer)});
	buf_free(&footer);
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
	struct buf footer = {0}, why = {0};
	t->ops->footer(t->engine, &footer);
	const struct recording_end end = {result, buf_str(&footer)};
	int r = recording_close(t->writer, &end, &why);
	t->writer = NULL;
	if (r < 0)
		trace_fail(&t->failure, r, "%s", buf_str(&why));
	buf_free(&footer);
	buf_free(&why);
}
