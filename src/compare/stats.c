/* From samples to the figures of a row. */
#include "compare/compare.h"

#include "base/buf.h"
#include "syscall/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static double wall_of(const struct sample *s)
{
	return (double)s->wall_ns * 1e-9;
}

static double user_of(const struct sample *s)
{
	return (double)s->user_ns * 1e-9;
}

static double system_of(const struct sample *s)
{
	return (double)s->system_ns * 1e-9;
}

static double rss_of(const struct sample *s)
{
	return (double)s->peak_rss_bytes;
}

double *compare_values(const struct subject *s, double (*value)(const struct sample *))
{
	double *v = calloc(s->samples.n + 1, sizeof(*v));
	for (size_t i = 0; v && i < s->samples.n; i++)
		v[i] = value(&s->samples.v[i]);
	return v;
}

static int numbers_of(const struct compare *c, struct numbers *x, const struct subject *s,
		      double (*value)(const struct sample *))
{
	*x = (struct numbers){.ci = {NAN, NAN}};
	double *v = compare_values(s, value);
	if (!v)
		return -ENOMEM;
	int err = sample_summarise(v, s->samples.n, &x->of);
	if (!err && s->samples.n > 1)
		err = boot_median(v, s->samples.n, (uint64_t)c->opt.seed, &x->ci);
	free(v);
	return err;
}

double compare_median(const struct subject *s, size_t offset)
{
	double *v = calloc(s->samples.n + 1, sizeof(*v));
	if (!v)
		return 0;
	for (size_t i = 0; i < s->samples.n; i++) {
		uint64_t x;
		memcpy(&x, (const char *)&s->samples.v[i] + offset, sizeof(x));
		v[i] = (double)x;
	}
	double median = s->samples.n ? quantile_sorted(v, sample_sort(v, s->samples.n), 0.5) : 0;
	free(v);
	return median;
}

int compare_exit_status(const struct sample *s)
{
	return WIFSIGNALED(s->status) ? 128 + WTERMSIG(s->status) : WEXITSTATUS(s->status);
}

double compare_first_s(const struct subject *s)
{
	if (s->has_first)
		return wall_of(&s->first);
	return s->samples.n ? wall_of(&s->samples.v[0]) : 0;
}

bool compare_first_differs(const struct subject *s)
{
	enum { RUNS_MIN = 3 };
	size_t counted = s->has_first ? 0 : 1; /* without a warm-up it is one of the samples */
	struct sample_summary rest;
	double *v = compare_values(s, wall_of);
	bool known = v && s->samples.n >= counted + RUNS_MIN &&
		     sample_summarise(v + counted, s->samples.n - counted, &rest) == 0;
	free(v);
	double first = compare_first_s(s);
	return known && ((first > rest.fence_high && first > 1.5 * rest.median) ||
			 (first < rest.fence_low && first * 1.5 < rest.median));
}

size_t compare_outliers(const struct subject *s)
{
	return s->wall.of.outliers_low + s->wall.of.outliers_high;
}

/* The sums over all calls of the counted run. */
static void sum_calls(struct subject *s)
{
	const struct summary *sum = &s->count.calls;
	int64_t read_nr = syscall_number(syscall_native_arch(), "read");
	int64_t write_nr = syscall_number(syscall_native_arch(), "write");
	for (size_t g = 0; g < sum->groups.n; g++)
		for (size_t i = 0; i < sum->groups.v[g]->calls.n; i++) {
			const struct call_stats *k = sum->groups.v[g]->calls.v[i];
			uint64_t calls = call_stats_calls(k);
			s->calls += calls;
			s->errors += k->errors;
			s->moved += k->bytes;
			s->call_seconds += k->ns * 1e-9;
			s->call_resolution += call_stats_resolution(k) * (double)k->returned * 1e-9;
			if (k->arch == syscall_native_arch() && k->nr == read_nr)
				s->reads += calls;
			if (k->arch == syscall_native_arch() && k->nr == write_nr)
				s->writes += calls;
		}
}

const struct subject *compare_fastest(const struct compare *c)
{
	const struct subject *best = NULL;
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		if (!s->unable && s->wall.of.n && (!best || s->wall.of.median < best->wall.of.median))
			best = s;
	}
	return best;
}

double compare_slowdown(const struct compare *c, const struct subject *s)
{
	const struct subject *best = compare_fastest(c);
	return best && best->wall.of.median > 0 && s->wall.of.n ? s->wall.of.median / best->wall.of.median : NAN;
}

static int evaluate_one(const struct compare *c, struct subject *s)
{
	struct numbers rss;
	int err = numbers_of(c, &s->wall, s, wall_of);
	err = err ? err : numbers_of(c, &s->user, s, user_of);
	err = err ? err : numbers_of(c, &s->system, s, system_of);
	err = err ? err : numbers_of(c, &rss, s, rss_of);
	if (err)
		return err;
	s->peak_rss = rss.of.n ? rss.of.median : 0;
	if (s->counted)
		sum_calls(s);
	return 0;
}

int compare_evaluate(struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++) {
		int err = evaluate_one(c, c->subjects.v[i]);
		if (err)
			return err;
	}
	return 0;
}

int compare_ratio(const struct compare *c, const struct subject *a, const struct subject *b, struct interval *ratio)
{
	/* One sample has no spread: nothing can be told from chance. */
	if (a->samples.n < 2 || b->samples.n < 2)
		return -EINVAL;
	double *x = compare_values(a, wall_of);
	double *y = compare_values(b, wall_of);
	int err = x && y ? boot_ratio(x, a->samples.n, y, b->samples.n, (uint64_t)c->opt.seed, ratio) : -ENOMEM;
	free(x);
	free(y);
	return err;
}

int compare_relate(struct compare *c)
{
	const struct subject *reference = c->subjects.v[c->reference];
	for (size_t i = 0; i < c->subjects.n; i++) {
		struct subject *s = c->subjects.v[i];
		s->relative = NAN;
		s->relative_ci = (struct interval){NAN, NAN};
		s->same_as_reference = false;
		if (s->unable || !(s->wall.of.median > 0) || !(reference->wall.of.median > 0))
			continue;
		s->relative = s->wall.of.median / reference->wall.of.median;
		if (s == reference)
			continue;
		int err = compare_ratio(c, s, reference, &s->relative_ci);
		if (err == -ENOMEM)
			return err;
		s->same_as_reference = err == 0 && boot_spans_one(&s->relative_ci);
	}
	return 0;
}

bool compare_slower(const struct compare *c, const struct subject *a, const struct subject *b)
{
	struct interval ratio;
	return compare_ratio(c, a, b, &ratio) == 0 && ratio.low > 1;
}
