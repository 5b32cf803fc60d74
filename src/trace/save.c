#include "trace/save.h"

#include "base/buf.h"
#include "measure/env.h"
#include "run/run.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/wait.h>

static double seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

static json_t *real_or_null(bool known, double v)
{
	return known ? json_real(v) : json_null();
}

/* What is known of the program as a whole. */
static json_t *program_object(const struct engine_result *r)
{
	json_t *o = json_object();
	json_object_set_new(o, "wall_s", real_or_null(r->wall_ns > 0, (double)r->wall_ns / 1e9));
	json_object_set_new(o, "user_s", json_real(seconds(&r->usage.ru_utime)));
	json_object_set_new(o, "system_s", json_real(seconds(&r->usage.ru_stime)));
	json_object_set_new(o, "peak_rss_bytes",
			    r->peak_rss_bytes ? json_integer((json_int_t)r->peak_rss_bytes) : json_null());
	json_object_set_new(o, "peak_rss_is_largest_process", json_boolean(r->rss_is_largest));
	json_object_set_new(o, "calls_before_main",
			    r->main_found != MAIN_UNKNOWN ? json_integer((json_int_t)r->before_main) : json_null());
	json_object_set_new(o, "main_found_by",
			    r->main_found == MAIN_SYMBOL  ? json_string("symbol")
			    : r->main_found == MAIN_ENTRY ? json_string("entry point")
							  : json_null());
	json_object_set_new(o, "processes", json_integer((json_int_t)r->processes));
	json_object_set_new(o, "exit_status",
			    WIFEXITED(r->status) ? json_integer(WEXITSTATUS(r->status)) : json_null());
	json_object_set_new(o, "killed_by_signal",
			    WIFSIGNALED(r->status) ? json_integer(WTERMSIG(r->status)) : json_null());
	json_object_set_new(o, "lost_calls", json_integer((json_int_t)r->lost));
	return o;
}

void trace_save_document(const char *engine, bool program, const char *calls, const struct engine_result *r,
			 struct buf *out)
{
	json_t *p = program ? program_object(r) : json_null();
	char *text = json_dumps(p, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	buf_addf(out, "{\"engine\": \"%s\",\n\"program\": %s,\n\"syscalls\": %s}\n", engine, text ? text : "null",
		 calls);
	free(text);
	json_decref(p);
}

int trace_save_run(const char *path, char *const *argv, const char *engine, const struct summary *s,
		   const struct engine_result *r, struct buf *why)
{
	int argc = 0;
	while (argv && argv[argc])
		argc++;
	json_t *run = run_new("count", argc, argv, env_collect(NULL));
	if (!run) {
		buf_adds(why, "no memory is left to save the run");
		return -ENOMEM;
	}
	json_object_set_new(run, "engine", json_string(engine));
	json_object_set_new(run, "program", argv ? program_object(r) : json_null());
	int e = run_add_summary(run, s);
	if (e == 0)
		e = run_save(run, path, why);
	else
		buf_adds(why, "no memory is left to save the run");
	json_decref(run);
	return e;
}
