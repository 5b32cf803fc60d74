/* Parsers for options that only the tracer has. The settings that they write to are a struct trace_opts. */
#ifndef SCTRACE_CMD_TRACE_OPT_VALUES_H
#define SCTRACE_CMD_TRACE_OPT_VALUES_H

#include "cli/opt.h"

opt_parse_fn trace_opt_break, trace_opt_columns, trace_opt_decode_fds, trace_opt_pid_names, trace_opt_constants,
	trace_opt_engine, trace_opt_env, trace_opt_expect, trace_opt_expr, trace_opt_format, trace_opt_hist,
	trace_opt_json, trace_opt_last, trace_opt_named_expr, trace_opt_nothing, trace_opt_overhead, trace_opt_path,
	trace_opt_pids, trace_opt_quiet, trace_opt_sort, trace_opt_successful;

#endif
