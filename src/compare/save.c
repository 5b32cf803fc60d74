/* The saved run of a comparison: every sample, the figures of the table, the calls, the machine (sctrace-run(5)). */
#include "compare/compare.h"

#include "base/buf.h"
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* One quantity of all samples, in the order they were taken. */
struct series {
	const char *key;
	double scale;
	size_t offset; /* of a uint64_t in struct sample */
};

static const struct series series[] = {
	{"samples_s", 1e-9, offsetof(struct sample, wall_ns)},
	{"user_samples_s", 1e-9, offsetof(struct sample, user_ns)},
	{"system_samples_s", 1e-9, offsetof(struct sample, system_ns)},
	{"peak_rss_samples_bytes", 1, offsetof(struct sample, peak_rss_bytes)},
	{"voluntary_switches_samples", 1, offsetof(struct sample, voluntary_switches)},
	{"involuntary_switches_samples", 1, offsetof(struct sample, involuntary_switches)},
	{"minor_faults_samples", 1, offsetof(struct sample, minor_faults)},
	{"major_faults_samples", 1, offsetof(struct sample, major_faults)},
	{"block_in_samples_bytes", 1, offsetof(struct sample, block_in_bytes)},
	{"block_out_samples_bytes", 1, offsetof(struct sample, block_out_bytes)},
};

static uint64_t member(const struct sample *s, size_t offset)
{
	return *(const uint64_t *)(const void *)((const char *)s + offset);
}

static void add_series(json_t *o, const struct subject *s)
{
	for (size_t k = 0; k < sizeof(series) / sizeof(*series); k++) {
		json_t *a = json_array();
		for (size_t i = 0; i < s->samples.n; i++) {
			uint64_t v = member(&s->samples.v[i], series[k].offset);
			json_array_append_new(a, series[k].scale == 1 ? json_integer((json_int_t)v)
								      : json_real((double)v * series[k].scale));
		}
		json_object_set_new(o, series[k].key, a);
	}
}

static void add_statuses(json_t *o, const struct subject *s)
{
	json_t *a = json_array();
	for (size_t i = 0; i < s->samples.n; i++)
		json_array_append_new(a, json_integer(compare_exit_status(&s->samples.v[i])));
	json_object_set_new(o, "exit_status_samples", a);
}

static void add_numbers(json_t *o, const char *what, const struct numbers *x)
{
	const struct {
		const char *name;
		double value;
	} parts[] = {{"median", x->of.median},
		     {"q1", x->of.q1},
		     {"q3", x->of.q3},
		     {"min", x->of.min},
		     {"max", x->of.max},
		     {"mean", x->of.mean},
		     {"stddev", x->of.stddev},
		     {"fence_low", x->of.fence_low},
		     {"fence_high", x->of.fence_high},
		     {"median_low95", x->ci.low},
		     {"median_high95", x->ci.high}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct buf key = {0};
		buf_addf(&key, "%s_%s_s", what, parts[i].name);
		json_object_set_new(o, buf_str(&key), x->of.n ? real(parts[i].value) : json_null());
		buf_free(&key);
	}
}

/* The calls as a "count" run has them. */
static json_t *calls(const struct subject *s)
{
	json_t *holder = json_pack("{s:[]}", "results");
	json_t *rows = json_null();
	if (holder && run_add_summary(holder, &s->count.calls) == 0)
		rows = json_incref(json_object_get(holder, "results"));
	json_decref(holder);
	return rows;
}

static void add_counts(json_t *o, const struct subject *s)
{
	if (!s->counted)
		return;
	json_t *c = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:o}", "engine", s->count.engine,
			      "counted_bytes", (json_int_t)s->counted_bytes, "calls", (json_int_t)s->calls, "reads",
			      (json_int_t)s->reads, "writes", (json_int_t)s->writes, "errors", (json_int_t)s->errors,
			      "moved_bytes", (json_int_t)s->moved, "in_calls_s", s->call_seconds,
			      "in_calls_resolution_s", s->call_resolution, "calls_before_main",
			      (json_int_t)s->count.result.before_main, "by_call", calls(s));
	json_object_set_new(o, "counts", c ? c : json_null());
}

/* {"n": "1"} */
static json_t *parameters(const struct subject *s)
{
	json_t *o = json_object();
	for (size_t i = 0; i < s->params.n; i++)
		json_object_set_new(o, s->params.v[i].name, run_string(s->params.v[i].value));
	return o;
}

/* What the input was made of. */
static const char *input_kind(const struct compare *c)
{
	const char *input = c->opt.input ? c->opt.input : "random";
	return strcmp(input, "random") == 0 || strcmp(input, "zero") == 0 ? input : "file";
}

static bool in_shell(const struct compare *c)
{
	return c->subjects.n && !c->subjects.v[0]->strategy && !c->opt.no_shell;
}

static json_t *result(const struct compare *c, const struct subject *s)
{
	struct buf label = {0};
	compare_label(&label, s);
	json_t *o = json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:I}", "name", run_string(buf_str(&label)), "unit",
			      "s", "strategy", s->strategy ? json_string(s->strategy->name) : json_null(), "command",
			      s->strategy ? json_null() : run_string(s->command), "buffer_bytes",
			      s->buffer ? json_integer((json_int_t)s->buffer) : json_null(), "unable",
			      s->unable ? run_string(s->unable) : json_null(), "input_bytes", (json_int_t)c->work.size,
			      "samples", (json_int_t)s->samples.n);
	buf_free(&label);
	if (!s->strategy)
		json_object_set_new(o, "parameters", parameters(s));
	if (!o || s->unable)
		return o;
	add_series(o, s);
	add_statuses(o, s);
	add_numbers(o, "wall", &s->wall);
	add_numbers(o, "user", &s->user);
	add_numbers(o, "system", &s->system);
	json_object_set_new(o, "wall_cv", real(s->wall.of.cv));
	json_object_set_new(o, "wall_outliers", json_integer((json_int_t)compare_outliers(s)));
	json_object_set_new(o, "first_run_s",
			    s->has_first || s->samples.n ? json_real(compare_first_s(s)) : json_null());
	json_object_set_new(o, "peak_rss_bytes", s->peak_rss > 0 ? json_integer((json_int_t)s->peak_rss) : json_null());
	json_object_set_new(o, "peak_rss_is_largest_process", json_boolean(!s->strategy));
	json_object_set_new(o, "times_the_fastest", real(compare_slowdown(c, s)));
	json_object_set_new(o, "times_reference", real(s->relative));
	json_object_set_new(o, "times_reference_low95", real(s->relative_ci.low));
	json_object_set_new(o, "times_reference_high95", real(s->relative_ci.high));
	json_object_set_new(o, "difference_seen", json_boolean(!s->same_as_reference));
	add_counts(o, s);
	return o;
}

/* Below zero: not known. */
static json_t *share(double v)
{
	return v >= 0 ? json_real(v) : json_null();
}

static json_t *settings(const struct compare *c)
{
	return json_pack("{s:I, s:s, s:i, s:i, s:b, s:b, s:b, s:f, s:o, s:o, s:o}", "input_bytes",
			 (json_int_t)c->work.size, "input", input_kind(c), "seed", c->opt.seed, "warmup", c->opt.warmup,
			 "cold", c->opt.cold, "fsync", c->opt.fsync, "shell", in_shell(c), "shell_taken_out_s",
			 c->shell_s[0], "other_cpu_share", share(c->other_share), "steal_share", share(c->steal_share),
			 "input_resident_share", share(c->resident));
}

/* What there is to see, a string a sentence. */
static json_t *lessons(const struct compare *c)
{
	json_t *all = json_array();
	struct buf text = {0};
	compare_lessons(c, &text);
	char *save = NULL;
	char *lines = buf_take(&text);
	for (char *line = lines ? strtok_r(lines, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		json_array_append_new(all, run_string(line));
	free(lines);
	return all;
}

json_t *compare_document(const struct compare *c)
{
	json_t *run = run_new("compare", c->argc, c->argv, json_incref(c->env));
	if (!run)
		return NULL;
	for (size_t i = 0; i < c->subjects.n; i++)
		json_array_append_new(run_results(run), result(c, c->subjects.v[i]));
	json_object_set_new(run, "settings", settings(c));
	json_object_set_new(run, "warnings", compare_warn_json(c));
	json_object_set_new(run, "lessons", lessons(c));
	json_object_set_new(run, "interrupted", json_boolean(c->interrupted));
	return run;
}
