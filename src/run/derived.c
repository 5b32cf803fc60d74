#include "run/derived.h"

#include "base/buf.h"
#include "run/judge.h"

#include <math.h>

static void set_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, isfinite(v) ? json_real(v) : json_null());
}

static void set_count(json_t *o, const char *key, size_t n)
{
	json_object_set_new(o, key, json_integer((json_int_t)n));
}

/* Adds the members PREFIXminSUFFIX, PREFIXmedianSUFFIX and so on. Their unit is `scale` seconds. */
static void set_summary(json_t *o, const char *prefix, const char *suffix, const struct sample_summary *d, double scale)
{
	const struct {
		const char *name;
		double value;
	} parts[] = {{"min", d->min}, {"q1", d->q1},   {"median", d->median}, {"mean", d->mean},
		     {"q3", d->q3},   {"max", d->max}, {"stddev", d->stddev}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct buf key = {0};
		buf_addf(&key, "%s%s%s", prefix, parts[i].name, suffix);
		set_real(o, buf_str(&key), d->n ? parts[i].value / scale : NAN);
		buf_free(&key);
	}
}

static void add_compare(const struct run_subject *s, json_t *o)
{
	const struct sample_summary *wall = &s->judged.of[METRIC_TIME];
	double rss = run_median(s, METRIC_PEAK_RSS);
	set_count(o, "samples", s->samples[METRIC_TIME].n);
	if (s->unable)
		return;
	set_summary(o, "wall_", "_s", wall, 1);
	set_summary(o, "user_", "_s", &s->judged.of[METRIC_USER], 1);
	set_summary(o, "system_", "_s", &s->judged.of[METRIC_SYSTEM], 1);
	set_real(o, "wall_fence_low_s", wall->fence_low);
	set_real(o, "wall_fence_high_s", wall->fence_high);
	set_real(o, "wall_median_low95_s", s->judged.median_ci.low);
	set_real(o, "wall_median_high95_s", s->judged.median_ci.high);
	set_real(o, "wall_cv", wall->cv);
	set_count(o, "wall_outliers", run_outliers(s));
	json_object_set_new(o, "peak_rss_bytes", rss > 0 ? json_integer((json_int_t)rss) : json_null());
	set_real(o, "times_the_fastest", s->judged.slowdown);
	set_real(o, "times_reference", s->judged.relative);
	set_real(o, "times_reference_low95", s->judged.relative_ci.low);
	set_real(o, "times_reference_high95", s->judged.relative_ci.high);
	json_object_set_new(o, "difference_seen", json_boolean(!s->judged.same_as_reference));
}

/* Adds by how many percent `s` took longer than the subject "none", which was measured without a load. */
static void add_over_none(const struct run *r, const struct run_subject *s, json_t *o)
{
	struct interval ratio = {NAN, NAN};
	double over = run_over_none(r, s, &ratio);
	set_real(o, "over_none_percent", over);
	json_t *pair = json_array();
	json_array_append_new(pair, isfinite(ratio.low) ? json_real(100 * (ratio.low - 1)) : json_null());
	json_array_append_new(pair, isfinite(ratio.high) ? json_real(100 * (ratio.high - 1)) : json_null());
	json_object_set_new(o, "over_none_interval_percent", pair);
}

void derived_add(const struct run *r, const struct run_subject *s, json_t *o)
{
	unsigned bits = run_subject_bits(r, s);
	if (bits == RUN_COMPARE)
		add_compare(s, o);
	if (!(bits & RUN_SAMPLED) || bits == RUN_COMPARE)
		return;
	const struct sample_summary *d = &s->judged.of[METRIC_TIME];
	bool ns = bits & (RUN_SYSCALL | RUN_SWITCH);
	set_count(o, "samples", d->n);
	set_summary(o, "", ns ? "_ns" : "_s", d, ns ? 1e-9 : 1);
	set_count(o, "outliers_low", d->outliers_low);
	set_count(o, "outliers_high", d->outliers_high);
	if (bits == RUN_SCHED)
		set_real(o, "throughput_per_s", run_median(s, METRIC_THROUGHPUT));
	if (bits == RUN_LOAD)
		add_over_none(r, s, o);
}
