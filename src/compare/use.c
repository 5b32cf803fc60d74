/* Runs a subject once more under a tracer to see how it uses its files (--columns). */
#include "compare/compare.h"

#include "base/clock.h"
#include "trace/io.h"
#include "trace/pipeline.h"
#include "tracee/names.h"

static void pass_on(void *ctx, struct event *ev)
{
	trace_pipeline_event(ctx, ev);
}

int compare_use(const struct count_spec *spec, struct run_use *use, struct buf *why)
{
	const struct trace_select everything = {0};
	struct trace_pipeline p = {.select = &everything, .session = {.names = &names_live, .start_ns = clock_ns()}};
	struct count_spec events = *spec;
	struct count c;
	struct trace_io io;
	struct run_io result = {0};
	events.event = pass_on;
	events.ctx = &p;
	events.string_max = IO_LINE_MAX;
	trace_io_init(&io);
	trace_pipeline_add(&p, &io.sink);
	trace_pipeline_begin(&p);
	int err = count_take(&events, &c, why);
	trace_pipeline_end(&p);
	if (err == 0) {
		io_profile_finish(&io.profile, &result);
		*use = result.use;
		count_free(&c);
	}
	run_io_free(&result);
	trace_io_free(&io);
	return err;
}
