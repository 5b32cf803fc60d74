#include "run/judge.h"

#include "base/buf.h"

#include <errno.h>
#include <math.h>
#include <string.h>

bool run_usable(const struct run_subject *s)
{
	return !s->unable && s->judged.of[METRIC_TIME].n > 0;
}

double run_median(const struct run_subject *s, enum metric m)
{
	return s->judged.of[m].n ? s->judged.of[m].median : NAN;
}

const struct run_subject *run_fastest(const struct run *r)
{
	return r->fastest < r->subjects.n ? &r->subjects.v[r->fastest] : NULL;
}

const char *run_engine(const struct run *r)
{
	for (size_t i = 0; i < r->subjects.n; i++)
		if (r->subjects.v[i].counts.known)
			return r->subjects.v[i].counts.engine;
	return NULL;
}

bool run_counted_partly(const struct run_subject *s)
{
	return s->counts.known && s->counts.counted_bytes < s->input_bytes;
}

size_t run_outliers(const struct run_subject *s)
{
	return s->judged.of[METRIC_TIME].outliers_low + s->judged.of[METRIC_TIME].outliers_high;
}

/*
 * Returns true if sample i of `a` and sample i of `b` come from the same round, that is, from one unmerged run of
 * compare.
 */
static bool in_rounds(const struct run *r, const struct run_subject *a, const struct run_subject *b)
{
	bool both = false;
	for (size_t i = 0; i < r->subjects.n; i++)
		for (size_t k = 0; a == &r->subjects.v[i] && k < r->subjects.n; k++)
			both |= b == &r->subjects.v[k];
	return both && r->bits == RUN_COMPARE && !r->merged;
}

bool run_disturbed(const struct run *r, struct buf *out)
{
	const struct run_method *m = &r->method;
	size_t before = out->len;
	if (r->bits != RUN_COMPARE)
		return false;
	if (m->other_cpu_share > RUN_OTHERS_MAX)
		buf_addf(out, "other programs used %.0f %% of the processor time", 100 * m->other_cpu_share);
	else if (m->steal_share > RUN_STEAL_MAX)
		buf_addf(out, "other guests of the hypervisor used %.0f %% of the processor time",
			 100 * m->steal_share);
	else if (m->throttled > 0)
		buf_adds(out, "the control group limited the processor time");
	else if (!isfinite(m->other_cpu_share) && r->env.load.one > 0.5 * r->env.cpu.online)
		buf_adds(out, "the machine was busy at the start");
	return out->len > before;
}

double run_looks(const struct run *r)
{
	return !r->merged && r->method.looks > 1 ? r->method.looks : 1;
}

int run_ratio(const struct run *r, const struct run_subject *a, const struct run_subject *b, struct change *ratio)
{
	const struct reals *x = &a->samples[METRIC_TIME];
	const struct reals *y = &b->samples[METRIC_TIME];
	bool paired = in_rounds(r, a, b);
	if (x->n < CHANGE_LEAST || y->n < CHANGE_LEAST)
		return -EINVAL;
	int rc = change_measure(&(struct change_spec){.a = y->v,
						      .na = y->n,
						      .b = x->v,
						      .nb = x->n,
						      .paired = paired,
						      .relative = true,
						      .alpha = CHANGE_ALPHA / (paired ? run_looks(r) : 1)},
				ratio);
	double x_median = run_median(a, METRIC_TIME);
	double y_median = run_median(b, METRIC_TIME);
	if (rc < 0)
		return rc;
	ratio->value = x_median == 0 && y_median == 0 ? 1 : x_median / y_median;
	ratio->interval.low = fmin(ratio->interval.low, ratio->value);
	ratio->interval.high = fmax(ratio->interval.high, ratio->value);
	return 0;
}

bool run_slower(const struct run *r, const struct run_subject *a, const struct run_subject *b)
{
	struct change ratio;
	return run_ratio(r, a, b, &ratio) == 0 && ratio.interval.low > 1;
}

const struct run_metric *run_metric_find(const struct run_subject *s, const char *name)
{
	for (size_t i = 0; i < s->metrics.n; i++)
		if (s->metrics.v[i].name && strcmp(s->metrics.v[i].name, name) == 0)
			return &s->metrics.v[i];
	return NULL;
}

void run_metric_names(const struct run *r, struct strings *names)
{
	for (size_t i = 0; i < r->subjects.n; i++)
		for (size_t k = 0; k < r->subjects.v[i].metrics.n; k++) {
			const char *name = r->subjects.v[i].metrics.v[k].name;
			bool known = !name;
			for (size_t j = 0; j < names->n; j++)
				known |= name && strcmp(names->v[j], name) == 0;
			if (!known)
				strings_add(names, name);
		}
}

/* Summarises the samples of a metric of --metric that are known. */
static void judge_metric(struct run_metric *m)
{
	struct reals known = {0};
	for (size_t i = 0; i < m->samples.n; i++)
		if (isfinite(m->samples.v[i]))
			vec_push(&known, m->samples.v[i]);
	sample_summarise(known.v, known.n, &m->judged);
	vec_free(&known);
}

static void judge_samples(const struct run *r, struct run_subject *s)
{
	s->judged = (struct run_judged){
		.median_ci = {NAN, NAN}, .relative = NAN, .relative_ci = {NAN, NAN}, .slowdown = NAN};
	for (int m = 0; m < METRICS; m++)
		sample_summarise(s->samples[m].v, s->samples[m].n, &s->judged.of[m]);
	for (size_t i = 0; i < s->metrics.n; i++)
		judge_metric(&s->metrics.v[i]);
	const struct reals *time = &s->samples[METRIC_TIME];
	/* Only compare displays the interval of the median. */
	if (time->n >= 2 && r->bits == RUN_COMPARE) {
		/* The seed of the bootstrap depends only on the run, so that all reports of a run are identical. */
		uint64_t seed = r->method.seed > 0 ? (uint64_t)r->method.seed : 1;
		boot_median(time->v, time->n, seed, &s->judged.median_ci);
	}
}

/* Sets r->reference. Returns 0, or -EINVAL if no subject has the name that the user gave. */
static int find_reference(struct run *r)
{
	const char *name = r->method.reference;
	r->reference = r->fastest;
	if (!name)
		return 0;
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (strcmp(s->name, name) == 0 || (s->base && strcmp(s->base, name) == 0)) {
			r->reference = i;
			return 0;
		}
	}
	return -EINVAL;
}

static void relate(struct run *r)
{
	for (size_t i = 0; i < r->subjects.n && r->reference < r->subjects.n; i++) {
		struct run_subject *s = &r->subjects.v[i];
		const struct run_subject *to = &r->subjects.v[r->reference];
		double median = run_median(s, METRIC_TIME);
		if (!run_usable(s) || !(median > 0))
			continue;
		s->judged.slowdown = median / run_median(run_fastest(r), METRIC_TIME);
		if (!(run_median(to, METRIC_TIME) > 0))
			continue;
		s->judged.relative = median / run_median(to, METRIC_TIME);
		if (s == to)
			continue;
		struct change ratio;
		if (run_ratio(r, s, to, &ratio) < 0)
			continue;
		s->judged.relative_ci = ratio.interval;
		s->judged.same_as_reference = boot_spans_one(&ratio.interval);
	}
}

int run_judge(struct run *r)
{
	r->fastest = r->reference = r->subjects.n;
	for (size_t i = 0; i < r->subjects.n; i++) {
		struct run_subject *s = &r->subjects.v[i];
		judge_samples(r, s);
		const struct run_subject *best = run_fastest(r);
		if (run_usable(s) && (!best || run_median(s, METRIC_TIME) < run_median(best, METRIC_TIME)))
			r->fastest = i;
	}
	if (r->bits != RUN_COMPARE)
		return 0;
	int found = find_reference(r);
	relate(r);
	return found;
}

double run_over_none(const struct run *r, const struct run_subject *s, struct interval *ratio)
{
	const char *name = r->bits == RUN_BENCH ? "load none" : "none";
	const struct run_subject *none = run_find(r, name);
	*ratio = (struct interval){NAN, NAN};
	if (!none || none == s || !run_usable(none))
		return NAN;
	struct change change;
	if (run_ratio(r, s, none, &change) == 0)
		*ratio = change.interval;
	return 100 * (s->judged.of[METRIC_TIME].mean / none->judged.of[METRIC_TIME].mean - 1);
}

const char *run_scanned(const struct run *r)
{
	for (size_t i = 0; i < r->subjects.n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < r->subjects.n; k++) {
			const struct run_subject *s = &r->subjects.v[k];
			n += run_usable(s) && s->buffer_bytes > 0 && strcmp(s->base, r->subjects.v[i].base) == 0;
		}
		if (n >= 3)
			return r->subjects.v[i].base;
	}
	return NULL;
}

/*
 * Returns true if `x` is the same strategy as `s` with a larger buffer, and the median time of `s` is longer by more
 * than RUN_WORTHWHILE.
 */
static bool looks_better(const struct run_subject *x, const struct run_subject *s)
{
	return run_usable(x) && strcmp(x->base, s->base) == 0 && x->buffer_bytes > s->buffer_bytes &&
	       run_median(s, METRIC_TIME) > run_median(x, METRIC_TIME) * (1 + RUN_WORTHWHILE);
}

bool run_larger_looks_better(const struct run *r, const struct run_subject *s)
{
	bool better = false;
	for (size_t i = 0; i < r->subjects.n; i++)
		better |= looks_better(&r->subjects.v[i], s);
	return better;
}

bool run_none_pays(const struct run *r, const struct run_subject *s)
{
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *x = &r->subjects.v[i];
		struct change ratio;
		if (run_usable(x) && strcmp(x->base, s->base) == 0 && x->buffer_bytes > s->buffer_bytes &&
		    (run_ratio(r, s, x, &ratio) < 0 || ratio.interval.high > 1 + RUN_WORTHWHILE))
			return false;
	}
	return true;
}

/*
 * Returns true if looks_better() is true for some larger buffer, and the gain is more than chance. With fewer than
 * CHANGE_LEAST samples of a row, chance cannot be excluded; the function then returns true nevertheless.
 */
static bool larger_pays(const struct run *r, const struct run_subject *s)
{
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *x = &r->subjects.v[i];
		if (looks_better(x, s) && (s->judged.of[METRIC_TIME].n < CHANGE_LEAST ||
					   x->judged.of[METRIC_TIME].n < CHANGE_LEAST || run_slower(r, s, x)))
			return true;
	}
	return false;
}

const struct run_subject *run_knee(const struct run *r, const char *base)
{
	const struct run_subject *found = NULL;
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (run_usable(s) && strcmp(s->base, base) == 0 && (!found || s->buffer_bytes < found->buffer_bytes) &&
		    !larger_pays(r, s))
			found = s;
	}
	return found;
}
