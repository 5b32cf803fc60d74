/* SPDX-License-Identifier: MIT */
/* The tables of fields: the members of a run and their names in the file. */
#include "base/buf.h"
#include "base/memory.h"
#include "config.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct metric_row metric_rows[METRICS] = {
#define METRIC(id, member, scale, key, column, median, title, unit, better, kinds)                                     \
	[METRIC_##id] = {key, column, median, title, unit, better, kinds},
#include "run/metrics.def"
#undef METRIC
};

#define NESTED(type, key, kind, member, kinds, flags, of)                                                              \
	{                                                                                                              \
		key, kind, offsetof(struct type, member), kinds, flags, of, NULL                                       \
	}
#define NAMED(type, key, kind, member, kinds, flags) NESTED(type, key, kind, member, kinds, flags, NULL)
#define ROW(type, kind, member, kinds)               NESTED(type, #member, kind, member, kinds, 0, NULL)
#define OPTIONAL(type, kind, member, kinds)          NESTED(type, #member, kind, member, kinds, FIELD_OPTIONAL, NULL)

static const struct field counts_rows[] = {
	ROW(run_counts, FIELD_STRING, engine, 0),
	ROW(run_counts, FIELD_INTEGER, counted_bytes, 0),
	ROW(run_counts, FIELD_INTEGER, calls, 0),
	ROW(run_counts, FIELD_INTEGER, reads, 0),
	ROW(run_counts, FIELD_INTEGER, writes, 0),
	ROW(run_counts, FIELD_INTEGER, errors, 0),
	ROW(run_counts, FIELD_INTEGER, moved_bytes, 0),
	ROW(run_counts, FIELD_REAL, in_calls_s, 0),
	ROW(run_counts, FIELD_REAL, in_calls_resolution_s, 0),
	OPTIONAL(run_counts, FIELD_INTEGER, waits, 0),
	OPTIONAL(run_counts, FIELD_REAL, waited_s, 0),
	ROW(run_counts, FIELD_INTEGER, calls_before_main, 0),
	ROW(run_counts, FIELD_INTEGER, bytes_before_main, 0),
	NAMED(run_counts, "processes_left", FIELD_TRUTH, left, 0, FIELD_OPTIONAL),
	ROW(run_counts, FIELD_CALLS, by_call, 0),
};
static const struct fields counts_fields = FIELDS(counts_rows, struct run_counts);

static const struct field use_fields_rows[] = {
#define USE(member, word, title, unit) ROW(run_use, (unit) == IN_SHARES ? FIELD_REAL : FIELD_INTEGER, member, 0),
#include "run/uses.def"
#undef USE
};
static const struct fields use_fields = FIELDS(use_fields_rows, struct run_use);

static const struct field own_metric_rows[] = {
	ROW(run_metric, FIELD_STRING, name, 0),
	ROW(run_metric, FIELD_REALS, samples, 0),
};
static const struct fields own_metric_fields = FIELDS(own_metric_rows, struct run_metric);

static const struct field process_rows[] = {
	ROW(run_process, FIELD_INTEGER, nice, 0),
	ROW(run_process, FIELD_TRUTH, done, 0),
	ROW(run_process, FIELD_REAL, latency_s, 0),
	ROW(run_process, FIELD_REAL, cpu_share, 0),
	ROW(run_process, FIELD_REAL, cpu_share_by_weight, 0),
	ROW(run_process, FIELD_INTEGER, voluntary_switches, 0),
	ROW(run_process, FIELD_INTEGER, involuntary_switches, 0),
	ROW(run_process, FIELD_REALS, progress_s, 0),
	ROW(run_process, FIELD_TRIPLES, slices_s, 0),
	ROW(run_process, FIELD_TRUTH, slices_whole, 0),
};
static const struct fields process_fields = FIELDS(process_rows, struct run_process);

static const struct field repetition_rows[] = {
	ROW(run_repetition, FIELD_REAL, throughput_per_s, 0),
	ROW(run_repetition, FIELD_REAL, latency_mean_s, 0),
	ROW(run_repetition, FIELD_REAL, others_share, 0),
	NESTED(run_repetition, "processes", FIELD_LIST, processes, 0, 0, &process_fields),
};
static const struct fields repetition_fields = FIELDS(repetition_rows, struct run_repetition);

#define OPS   (RUN_SYSCALL | RUN_SWITCH)
#define LOADS (RUN_LATENCY | RUN_LOAD)

static const struct field subject_rows[] = {
	ROW(run_subject, FIELD_STRING, name, 0),
	ROW(run_subject, FIELD_STRING, unit, 0),
	OPTIONAL(run_subject, FIELD_STRING, test, 0),
	ROW(run_subject, FIELD_STRING, unable, 0),
	OPTIONAL(run_subject, FIELD_STRING, failed, RUN_COMPARE),
	ROW(run_subject, FIELD_STRING, strategy, RUN_COMPARE),
	ROW(run_subject, FIELD_STRING, command, RUN_COMPARE),
	ROW(run_subject, FIELD_INTEGER, buffer_bytes, RUN_COMPARE),
	ROW(run_subject, FIELD_INTEGER, input_bytes, RUN_COMPARE),
	OPTIONAL(run_subject, FIELD_TEXTS, parameters, RUN_COMPARE),
	ROW(run_subject, FIELD_REAL, first_run_s, RUN_COMPARE),
	NAMED(run_subject, "peak_rss_is_largest_process", FIELD_TRUTH, largest, RUN_COMPARE, FIELD_OPTIONAL),
	OPTIONAL(run_subject, FIELD_TRUTH, copied, RUN_COMPARE),
	OPTIONAL(run_subject, FIELD_TRUTH, input_changed, RUN_COMPARE),
	OPTIONAL(run_subject, FIELD_TRUTH, traced, RUN_COMPARE),
	OPTIONAL(run_subject, FIELD_INTEGER, output_bytes, RUN_COMPARE),
	NESTED(run_subject, "counts", FIELD_OBJECT, counts, RUN_COMPARE, FIELD_OPTIONAL, &counts_fields),
	NESTED(run_subject, "use", FIELD_OBJECT, use, RUN_COMPARE, FIELD_OPTIONAL, &use_fields),
	NESTED(run_subject, "metrics", FIELD_LIST, metrics, RUN_COMPARE, FIELD_OPTIONAL, &own_metric_fields),
	ROW(run_subject, FIELD_STRING, group, RUN_SYSCALL),
	ROW(run_subject, FIELD_STRING, about, OPS),
	ROW(run_subject, FIELD_INTEGER, batch, RUN_SYSCALL),
	ROW(run_subject, FIELD_REAL, kernel_calls, RUN_SYSCALL),
	ROW(run_subject, FIELD_REAL, two_loops_ns, RUN_SYSCALL),
	ROW(run_subject, FIELD_REAL, resolution_ns, RUN_SYSCALL),
	ROW(run_subject, FIELD_TRUTH, resolved, RUN_SYSCALL),
	OPTIONAL(run_subject, FIELD_TRUTH, trap, RUN_SYSCALL),
	ROW(run_subject, FIELD_INTEGER, failures, RUN_SYSCALL),
	ROW(run_subject, FIELD_STRING, what, RUN_SWITCH),
	ROW(run_subject, FIELD_STRING, cpus, RUN_SWITCH),
	ROW(run_subject, FIELD_INTEGER, rounds, RUN_SWITCH),
	ROW(run_subject, FIELD_REAL, round_median_ns, RUN_SWITCH),
	ROW(run_subject, FIELD_REAL, own_median_ns, RUN_SWITCH),
	NAMED(run_subject, "voluntary_switches_per_round", FIELD_REAL, voluntary_per_round, RUN_SWITCH, 0),
	NAMED(run_subject, "involuntary_switches_per_round", FIELD_REAL, involuntary_per_round, RUN_SWITCH, 0),
	NESTED(run_subject, "runs", FIELD_LIST, repetitions, RUN_SCHED, 0, &repetition_fields),
	ROW(run_subject, FIELD_INTEGER, wakeups, RUN_LATENCY),
	ROW(run_subject, FIELD_REAL, mean_ns, RUN_LATENCY),
	ROW(run_subject, FIELD_INTEGER, min_ns, RUN_LATENCY),
	ROW(run_subject, FIELD_INTEGER, max_ns, RUN_LATENCY),
	ROW(run_subject, FIELD_REAL, stddev_ns, RUN_LATENCY),
	ROW(run_subject, FIELD_REAL, median_ns, RUN_LATENCY),
	ROW(run_subject, FIELD_REAL, p99_ns, RUN_LATENCY),
	ROW(run_subject, FIELD_REAL, p999_ns, RUN_LATENCY),
	ROW(run_subject, FIELD_INTEGER, missed, RUN_LATENCY),
	ROW(run_subject, FIELD_NUMBERS, load_work, LOADS),
	OPTIONAL(run_subject, FIELD_REAL, load_span_s, LOADS),
	NAMED(run_subject, "histogram_ns", FIELD_HIST, hist, RUN_LATENCY, 0),
#define METRIC(id, member, scale, key, column, median, title, in, better, kinds)                                       \
	{key,                                                                                                          \
	 (in) == IN_SECONDS || METRIC_##id == METRIC_THROUGHPUT ? FIELD_REALS : FIELD_WHOLE,                           \
	 offsetof(struct run_subject, samples[METRIC_##id]),                                                           \
	 sizeof(key) > 1 ? (kinds) : RUN_BENCH, /* no subject has RUN_BENCH: run.c writes TIME, which has key "" */    \
	 0,                                                                                                            \
	 NULL,                                                                                                         \
	 NULL},
#include "run/metrics.def"
#undef METRIC
};
const struct fields run_subject_fields = FIELDS(subject_rows, struct run_subject);

static const struct field method_rows[] = {
	ROW(run_method, FIELD_INTEGER, input_bytes, RUN_COMPARE),
	ROW(run_method, FIELD_STRING, input, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_STRING, input_name, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_STRING, output, RUN_COMPARE),
	ROW(run_method, FIELD_STRING, cpus, RUN_SYSCALL | RUN_SCHED | LOADS),
	ROW(run_method, FIELD_STRING, mode, RUN_SYSCALL),
	ROW(run_method, FIELD_INTEGER, samples, OPS),
	ROW(run_method, FIELD_INTEGER, sample_ns, OPS),
	ROW(run_method, FIELD_INTEGER, seed, RUN_COMPARE | RUN_SYSCALL | RUN_LOAD),
	ROW(run_method, FIELD_INTEGER, warmup, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_INTEGER, looks, RUN_COMPARE),
	ROW(run_method, FIELD_TRUTH, cold, RUN_COMPARE),
	ROW(run_method, FIELD_TRUTH, fsync, RUN_COMPARE),
	ROW(run_method, FIELD_TRUTH, shell, RUN_COMPARE),
	ROW(run_method, FIELD_REAL, shell_taken_out_s, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_REAL, shell_after_s, RUN_COMPARE),
	ROW(run_method, FIELD_REAL, other_cpu_share, RUN_COMPARE),
	ROW(run_method, FIELD_REAL, steal_share, RUN_COMPARE),
	ROW(run_method, FIELD_REAL, input_resident_share, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_INTEGER, throttled, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_INTEGER, oom_kills, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_STRING, input_file_system, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_TRUTH, input_sparse, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_TRUTH, counted, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_STRING, reference, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_TRUTH, explain, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_TRUTH, usage, RUN_COMPARE),
	OPTIONAL(run_method, FIELD_STRING, columns, RUN_COMPARE),
	ROW(run_method, FIELD_REAL, clock_ns, RUN_SYSCALL),
	ROW(run_method, FIELD_REAL, clock_step_ns, RUN_SYSCALL),
	ROW(run_method, FIELD_REAL, single_ns, RUN_SYSCALL),
	ROW(run_method, FIELD_REAL, loop_ns, RUN_SYSCALL),
	ROW(run_method, FIELD_REAL, spread_ns, RUN_SYSCALL),
	ROW(run_method, FIELD_INTEGER, working_set_bytes, RUN_SWITCH),
	ROW(run_method, FIELD_STRING, policy, RUN_SWITCH | RUN_SCHED | RUN_LATENCY),
	ROW(run_method, FIELD_REAL, alone_s, RUN_SCHED),
	ROW(run_method, FIELD_INTEGER, chunks, RUN_SCHED),
	ROW(run_method, FIELD_REAL, chunk_ns, RUN_SCHED),
	ROW(run_method, FIELD_INTEGER, interval_ns, RUN_LATENCY),
	ROW(run_method, FIELD_INTEGER, time_ns, RUN_LATENCY),
	ROW(run_method, FIELD_INTEGER, priority, RUN_LATENCY),
	ROW(run_method, FIELD_TRUTH, memory_locked, RUN_LATENCY),
	ROW(run_method, FIELD_TRUTH, idle_states_held, RUN_LATENCY),
	ROW(run_method, FIELD_STRING, command, RUN_LOAD),
	ROW(run_method, FIELD_INTEGER, suite_times, RUN_LOAD),
	ROW(run_method, FIELD_STRING, suite_without, RUN_LOAD),
};
const struct fields run_method_fields = FIELDS(method_rows, struct run_method);

#define METHOD(key, member) NESTED(run_methods, key, FIELD_OBJECT, member, 0, FIELD_OPTIONAL, &run_method_fields)
static const struct field methods_rows[] = {
	METHOD("syscall", syscall), METHOD("switch", switches), METHOD("sched", sched),
	METHOD("latency", latency), METHOD("load", load),
};
static const struct fields methods_fields = FIELDS(methods_rows, struct run_methods);

static const struct field warning_rows[] = {
	ROW(run_warning, FIELD_STRING, name, 0),   ROW(run_warning, FIELD_STRING, what, 0),
	ROW(run_warning, FIELD_STRING, advice, 0), OPTIONAL(run_warning, FIELD_STRING, text, 0),
	ROW(run_warning, FIELD_STRINGS, rows, 0),
};
static const struct fields warning_fields = FIELDS(warning_rows, struct run_warning);

static const struct field program_rows[] = {
	ROW(run_program, FIELD_REAL, wall_s, 0),
	ROW(run_program, FIELD_REAL, user_s, 0),
	ROW(run_program, FIELD_REAL, system_s, 0),
	ROW(run_program, FIELD_INTEGER, peak_rss_bytes, 0),
	NAMED(run_program, "peak_rss_is_largest_process", FIELD_TRUTH, largest, 0, 0),
	ROW(run_program, FIELD_INTEGER, calls_before_main, 0),
	ROW(run_program, FIELD_STRING, main_found_by, 0),
	ROW(run_program, FIELD_INTEGER, processes, 0),
	NAMED(run_program, "untraced_children", FIELD_INTEGER, untraced_children, 0, FIELD_OPTIONAL),
	ROW(run_program, FIELD_INTEGER, exit_status, 0),
	ROW(run_program, FIELD_INTEGER, killed_by_signal, 0),
	ROW(run_program, FIELD_INTEGER, lost_calls, 0),
};
const struct fields run_program_fields = FIELDS(program_rows, struct run_program);

static const struct field io_size_rows[] = {
	ROW(run_io_size, FIELD_INTEGER, bytes, 0),
	ROW(run_io_size, FIELD_INTEGER, requests, 0),
};
static const struct fields io_size_fields = FIELDS(io_size_rows, struct run_io_size);

static const struct field io_file_rows[] = {
	ROW(run_io_file, FIELD_STRING, name, 0),
	ROW(run_io_file, FIELD_STRING, kind, 0),
	ROW(run_io_file, FIELD_INTEGER, opens, 0),
	ROW(run_io_file, FIELD_INTEGER, calls, 0),
	ROW(run_io_file, FIELD_INTEGER, reads, 0),
	ROW(run_io_file, FIELD_INTEGER, writes, 0),
	ROW(run_io_file, FIELD_INTEGER, read_bytes, 0),
	ROW(run_io_file, FIELD_INTEGER, written_bytes, 0),
	ROW(run_io_file, FIELD_REAL, time_s, 0),
	ROW(run_io_file, FIELD_INTEGER, sequential, 0),
	ROW(run_io_file, FIELD_INTEGER, random, 0),
	ROW(run_io_file, FIELD_INTEGER, reread, 0),
	ROW(run_io_file, FIELD_INTEGER, rewritten, 0),
	ROW(run_io_file, FIELD_INTEGER, seeks, 0),
	ROW(run_io_file, FIELD_INTEGER, seeks_without_effect, 0),
	ROW(run_io_file, FIELD_INTEGER, syncs, 0),
	ROW(run_io_file, FIELD_INTEGER, mmaps, 0),
	ROW(run_io_file, FIELD_INTEGER, unclosed, 0),
	OPTIONAL(run_io_file, FIELD_INTEGER, read_waits, 0),
	OPTIONAL(run_io_file, FIELD_REAL, read_waited_s, 0),
	NESTED(run_io_file, "sizes", FIELD_LIST, sizes, 0, 0, &io_size_fields),
	OPTIONAL(run_io_file, FIELD_HIST, read_sizes, 0),
	OPTIONAL(run_io_file, FIELD_HIST, write_sizes, 0),
	OPTIONAL(run_io_file, FIELD_TRIPLES, read_marks, 0),
	OPTIONAL(run_io_file, FIELD_TRIPLES, write_marks, 0),
};
const struct fields run_io_file_fields = FIELDS(io_file_rows, struct run_io_file);

static const struct field io_finding_rows[] = {
	ROW(run_io_finding, FIELD_STRING, kind, 0),       ROW(run_io_finding, FIELD_STRING, file, 0),
	ROW(run_io_finding, FIELD_STRING, text, 0),       ROW(run_io_finding, FIELD_REAL, cost_s, 0),
	ROW(run_io_finding, FIELD_REAL, saving_low_s, 0), ROW(run_io_finding, FIELD_REAL, saving_high_s, 0),
	ROW(run_io_finding, FIELD_REAL, delays_s, 0),
};
const struct fields run_io_finding_fields = FIELDS(io_finding_rows, struct run_io_finding);

static const struct field io_rows[] = {
	NESTED(run_io, "files", FIELD_LIST, files, 0, 0, &run_io_file_fields),
	NESTED(run_io, "findings", FIELD_LIST, findings, 0, 0, &run_io_finding_fields),
};
static const struct fields io_fields = FIELDS(io_rows, struct run_io);

static const struct field tree_process_rows[] = {
	ROW(run_tree_process, FIELD_INTEGER, pid, 0),         ROW(run_tree_process, FIELD_INTEGER, parent, 0),
	ROW(run_tree_process, FIELD_INTEGER, depth, 0),       ROW(run_tree_process, FIELD_STRING, command, 0),
	ROW(run_tree_process, FIELD_REAL, start_s, 0),        ROW(run_tree_process, FIELD_REAL, wall_s, 0),
	ROW(run_tree_process, FIELD_REAL, cpu_s, 0),          ROW(run_tree_process, FIELD_INTEGER, peak_rss_bytes, 0),
	ROW(run_tree_process, FIELD_INTEGER, exit_status, 0), ROW(run_tree_process, FIELD_STRING, killed_by, 0),
	ROW(run_tree_process, FIELD_STRING, reason, 0),       ROW(run_tree_process, FIELD_STRING, message, 0),
	ROW(run_tree_process, FIELD_TRUTH, is_cause, 0),
};
static const struct fields tree_process_fields = FIELDS(tree_process_rows, struct run_tree_process);

static const struct field tree_rows[] = {
	NESTED(run_tree, "processes", FIELD_LIST, processes, 0, 0, &tree_process_fields),
};
static const struct fields tree_fields = FIELDS(tree_rows, struct run_tree);

static const struct field path_rows[] = {
	ROW(run_path, FIELD_STRING, path, 0),
	ROW(run_path, FIELD_STRINGS, uses, 0),
	OPTIONAL(run_path, FIELD_STRING, target, 0),
};
static const struct fields path_fields = FIELDS(path_rows, struct run_path);

static const struct field paths_rows[] = {
	NESTED(run_paths, "paths", FIELD_LIST, paths, 0, 0, &path_fields),
};
static const struct fields paths_fields = FIELDS(paths_rows, struct run_paths);

static const struct field view_rows[] = {
	OPTIONAL(run_view, FIELD_STRING, columns, 0), OPTIONAL(run_view, FIELD_STRING, sort, 0),
	OPTIONAL(run_view, FIELD_STRING, by, 0),      OPTIONAL(run_view, FIELD_STRING, hist, 0),
	OPTIONAL(run_view, FIELD_INTEGER, top, 0),    OPTIONAL(run_view, FIELD_TRUTH, errors, 0),
	OPTIONAL(run_view, FIELD_TRUTH, wide, 0),     OPTIONAL(run_view, FIELD_TRUTH, calls, 0),
	OPTIONAL(run_view, FIELD_INTEGER, files, 0),
};
static const struct fields view_fields = FIELDS(view_rows, struct run_view);

#define ANY_TEST (RUN_TESTS | RUN_BENCH)

/*
 * The members of the document after "schema" and "schema_version". The key "results", with the subjects, is written in
 * run.c.
 */
static const struct field run_rows[] = {
	NAMED(run, "sctrace_version", FIELD_STRING, version, 0, 0),
	ROW(run, FIELD_STRING, kind, 0),
	ROW(run, FIELD_STRING, date, 0),
	ROW(run, FIELD_STRINGS, command, 0),
	NESTED(run, "environment", FIELD_OBJECT, env, 0, 0, &env_fields),
	NESTED(run, "settings", FIELD_OBJECT, method, RUN_COMPARE, FIELD_OPTIONAL, &run_method_fields),
	NESTED(run, "method", FIELD_OBJECT, method, RUN_TESTS, FIELD_OPTIONAL, &run_method_fields),
	NESTED(run, "method", FIELD_OBJECT, methods, RUN_BENCH, FIELD_OPTIONAL, &methods_fields),
	NAMED(run, "results", FIELD_CALLS, calls, RUN_COUNT, 0),
	OPTIONAL(run, FIELD_STRINGS, head, ANY_TEST),
	OPTIONAL(run, FIELD_TEXTS, heads, RUN_BENCH),
	OPTIONAL(run, FIELD_STRINGS, notes, 0),
	NESTED(run, "warnings", FIELD_LIST, warnings, RUN_COMPARE, 0, &warning_fields),
	OPTIONAL(run, FIELD_STRINGS, lessons, 0),
	OPTIONAL(run, FIELD_STRINGS, reasons, RUN_COMPARE),
	OPTIONAL(run, FIELD_TRUTH, interrupted, 0),
	ROW(run, FIELD_STRING, engine, RUN_COUNT),
	ROW(run, FIELD_STRINGS, selection, RUN_COUNT),
	NESTED(run, "program", FIELD_OBJECT, program, RUN_COUNT, 0, &run_program_fields),
	NESTED(run, "view", FIELD_OBJECT, view, RUN_COUNT, FIELD_OPTIONAL, &view_fields),
	OPTIONAL(run, FIELD_STRINGS, footer, RUN_COUNT),
	NESTED(run, "io", FIELD_OBJECT, io, RUN_COUNT, FIELD_OPTIONAL, &io_fields),
	NESTED(run, "files", FIELD_OBJECT, files, RUN_COUNT, FIELD_OPTIONAL, &paths_fields),
	NESTED(run, "tree", FIELD_OBJECT, tree, RUN_COUNT, FIELD_OPTIONAL, &tree_fields),
};
const struct fields run_fields = FIELDS(run_rows, struct run);

unsigned run_kind_bits(const char *kind)
{
	static const struct {
		const char *kind;
		unsigned bits;
	} kinds[] = {{"count", RUN_COUNT},         {"compare", RUN_COMPARE},   {"bench-syscall", RUN_SYSCALL},
		     {"bench-switch", RUN_SWITCH}, {"bench-sched", RUN_SCHED}, {"bench-latency", RUN_LATENCY},
		     {"bench-load", RUN_LOAD},     {"bench", RUN_BENCH}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].bits;
	return 0;
}

unsigned run_subject_bits(const struct run *r, const struct run_subject *s)
{
	char kind[32];
	snprintf(kind, sizeof(kind), "bench-%.20s", s->test ? s->test : "");
	return r->bits == RUN_BENCH ? run_kind_bits(kind) : r->bits;
}

void run_init(struct run *r, const char *kind, int argc, char *const *argv)
{
	fields_init(&run_fields, r);
	field_set(&r->kind, kind);
	field_set(&r->version, SCTRACE_VERSION);
	env_now(&r->date);
	r->bits = run_kind_bits(kind);
	r->command.known = true;
	for (int i = 0; i < argc; i++)
		strings_add(&r->command, argv[i]);
}

static void subject_free(struct run_subject *s)
{
	free(s->base); /* fields_free() frees only members with a row in the table, and zeroes the others */
	fields_free(&run_subject_fields, s);
}

void run_free(struct run *r)
{
	for (size_t i = 0; i < r->subjects.n; i++)
		subject_free(&r->subjects.v[i]);
	vec_free(&r->subjects);
	fields_free(&run_fields, r);
}

void run_io_free(struct run_io *io)
{
	fields_free(&io_fields, io);
}

struct run_subject *run_add_subject(struct run *r, const char *name, const char *unit)
{
	struct run_subject s;
	fields_init(&run_subject_fields, &s);
	vec_push(&r->subjects, s);
	struct run_subject *at = &r->subjects.v[r->subjects.n - 1];
	field_set(&at->name, name);
	field_set(&at->unit, unit);
	return at;
}

void run_clear_warnings(struct run *r)
{
	for (size_t i = 0; i < r->warnings.n; i++)
		fields_free(&warning_fields, &r->warnings.v[i]);
	vec_free(&r->warnings);
}

const struct run_subject *run_find(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->subjects.n; i++)
		if (strcmp(r->subjects.v[i].name, name) == 0)
			return &r->subjects.v[i];
	return NULL;
}

void run_note(struct run *r, const char *fmt, ...)
{
	auto_buf text = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	bool known = false;
	for (size_t i = 0; i < r->notes.n; i++)
		known |= strcmp(r->notes.v[i], buf_str(&text)) == 0;
	if (!known)
		strings_add(&r->notes, buf_str(&text));
}
