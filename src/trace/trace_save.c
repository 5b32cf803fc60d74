/* SPDX-License-Identifier: MIT */
#include "trace/trace_save.h"

#include "base/buf.h"
#include "base/clock.h"
#include "measure/machine_env.h"
#include "run/run.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

static void fill_program(struct run_program *p, const struct engine_result *r)
{
	bool ended = r->wall_ns > 0; /* otherwise, the end of the program is not part of the trace */
	p->known = true;
	p->wall_s = ended ? (double)r->wall_ns / 1e9 : NAN;
	p->user_s = ended ? clock_timeval_s(&r->usage.ru_utime) : NAN;
	p->system_s = ended ? clock_timeval_s(&r->usage.ru_stime) : NAN;
	p->peak_rss_bytes = ended && r->peak_rss_bytes ? (double)r->peak_rss_bytes : NAN;
	p->largest = r->rss_is_largest ? TRUTH_YES : TRUTH_NO;
	p->calls_before_main = r->main_found != MAIN_UNKNOWN ? (double)r->before_main : NAN;
	if (r->main_found != MAIN_UNKNOWN)
		field_set(&p->main_found_by, r->main_found == MAIN_SYMBOL ? "symbol" : "entry point");
	p->processes = r->processes ? (double)r->processes : NAN;
	p->untraced_children = r->unfollowed ? (double)r->unfollowed : NAN;
	p->exit_status = ended && WIFEXITED(r->status) ? WEXITSTATUS(r->status) : NAN;
	p->killed_by_signal = ended && WIFSIGNALED(r->status) ? WTERMSIG(r->status) : NAN;
	p->lost_calls = (double)r->lost;
}

void trace_save_document(const char *engine, bool program, const char *calls, const char *more,
			 const struct engine_result *r, struct buf *out)
{
	struct run_program p;
	fields_init(&run_program_fields, &p);
	fill_program(&p, r);
	json_t *o = program ? fields_write(&run_program_fields, &p, 0) : json_null();
	auto_free char *text = json_dumps(o, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	buf_addf(out, "{\"engine\": \"%s\",\n\"program\": %s,\n%s\"syscalls\": %s}\n", engine, text, more, calls);
	json_decref(o);
	fields_free(&run_program_fields, &p);
}

/* Saves the options of the table, so that it is shown again in the same way. */
static void fill_view(struct run_view *v, const struct summary_view *of, bool errors, const char *hist)
{
	auto_buf columns = {0};
	auto_buf sort = {0};
	v->known = true;
	summary_columns_say(&of->columns, &columns);
	summary_sort_say(of->sort, &sort);
	field_set(&v->columns, columns.len ? buf_str(&columns) : NULL);
	field_set(&v->sort, sort.len ? buf_str(&sort) : NULL);
	field_set(&v->by, of->by);
	v->top = of->top ? of->top : NAN;
	field_set(&v->hist, hist);
	v->errors = errors ? TRUTH_YES : TRUTH_UNKNOWN;
	v->wide = of->format == SUMMARY_WIDE ? TRUTH_YES : TRUTH_UNKNOWN;
}

void trace_save_make(struct run *run, const struct trace_save *what)
{
	int argc = 0;
	while (what->argv && what->argv[argc])
		argc++;
	run_init(run, "count", argc, what->argv);
	if (what->machine)
		run->env = *what->machine;
	else
		env_collect(&run->env, NULL);
	field_set(&run->engine, what->engine);
	run->selection.known = true;
	for (size_t i = 0; i < what->selection->n; i++)
		strings_add(&run->selection, what->selection->v[i]);
	if (what->argv)
		fill_program(&run->program, what->result);
	fill_view(&run->view, what->view, what->errors, what->hist);
	strings_add_lines(&run->footer, what->footer);
	run->calls = *what->calls;
}

void trace_save_free(struct run *run, const struct env *machine)
{
	run->calls = (struct summary){0};
	if (machine)
		fields_init(&env_fields, &run->env);
	run_free(run);
}

int trace_save_run(const char *path, const struct trace_save *what, struct buf *why)
{
	struct run run;
	trace_save_make(&run, what);
	int e = run_save(&run, path, why);
	trace_save_free(&run, what->machine);
	return e;
}
