/* SPDX-License-Identifier: MIT */
#include "run/judge.h"

#include "base/buf.h"
#include "stats/change.h"

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

/* Returns true if sample i of `a` and sample i of `b` come from the same round: `r` is an unmerged run of compare. */
static bool in_rounds(const struct run *r, const struct run_subject *a, const struct run_subject *b)
{
	bool both = false;
	for (size_t i = 0; i < r->subjects.n; i++)
		for (size_t k = 0; a == &r->subjects.v[i] && k < r->subjects.n; k++)
			both |= b == &r->subjects.v[k];
	return both && r->bits == RUN_COMPARE && !r->merged;
}

/*
 * Appends what disturbed the times of a comparison, such as "other programs used 30 % of the processor time", and returns
 * true. If too few and too short runs do not tell how busy other programs were, this counts as a disturbance, because
 * it cannot be excluded. Returns false if the times were not disturbed.
 */
static bool run_disturbed(const struct run *r, struct buf *out)
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
	else if (!isfinite(m->other_cpu_share))
		buf_adds(out, "it is not known how busy other programs were");
	return out->len > before;
}

/*
 * Returns how often compare may have tested the intervals to decide whether to end. Each interval must be wider if there were
 * several tests (CHANGE_LOOKS in stats/change.h).
 */
static double run_looks(const struct run *r)
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

/* A condition that is tested for one subject in both runs. */
struct question {
	const struct condition *c;
	const struct gate_run *base, *run;
	const char *name; /* name of the subject; NULL for the program that -c counted */
	const struct run_subject *a, *b;
	bool paired; /* `a` and `b` are subjects of one run */
	double alpha;
	bool doubtful; /* becomes true if a condition seems to hold, but a run was disturbed */
	struct buf *failed, *undecided;
};

/*
 * Returns the sum that the condition tests: over the calls of the subject `s` or, if `s` is NULL, of the whole run.
 * Returns NAN if no calls were counted.
 */
static double figure(const struct condition *c, const struct run *r, const struct run_subject *s)
{
	if (s && !s->counts.known)
		return NAN;
	const struct summary *calls = s ? &s->counts.by_call : &r->calls;
	double before = s ? s->counts.calls_before_main : r->program.known ? r->program.calls_before_main : NAN;
	return condition_sum(c, calls) - (c->after_main ? before : 0);
}

/*
 * Returns a time or the peak memory of the program that a run of kind "count" executed once, or NAN if it is unknown.
 */
static double of_program(enum condition_metric m, const struct run_program *p)
{
	const struct {
		enum condition_metric m;
		double value;
	} known[] = {
		{CONDITION_WALL, p->wall_s},
		{CONDITION_USER, p->user_s},
		{CONDITION_SYSTEM, p->system_s},
		{CONDITION_CPU, p->user_s + p->system_s},
		{CONDITION_PEAK_RSS, p->peak_rss_bytes},
	};
	for (size_t i = 0; p->known && i < sizeof(known) / sizeof(*known); i++)
		if (known[i].m == m)
			return known[i].value;
	return NAN;
}

/* Appends the samples of the condition's metric to `out`, which the caller frees. */
static void samples_of(const struct condition *c, const struct run *r, const struct run_subject *s, struct reals *out)
{
	enum metric m = condition_samples(c);
	const struct run_metric *own = s && c->metric == CONDITION_OWN ? run_metric_find(s, c->own) : NULL;
	for (size_t i = 0; own && i < own->samples.n; i++)
		vec_push(out, own->samples.v[i]);
	if (c->metric == CONDITION_OWN)
		return;
	if (!s) {
		double only = of_program(c->metric, &r->program);
		if (!isnan(only))
			vec_push(out, only);
		return;
	}
	const struct reals *system = &s->samples[METRIC_SYSTEM];
	for (size_t i = 0; i < s->samples[m].n; i++) {
		double more = c->metric != CONDITION_CPU ? 0 : i < system->n ? system->v[i] : NAN;
		vec_push(out, s->samples[m].v[i] + more);
	}
}

/* Appends a change with its sign and unit. */
static void say_change(const struct condition *c, double v, struct buf *out)
{
	if (c->percent) {
		buf_addf(out, "%+.1f %%", v);
		return;
	}
	buf_addc(out, v < 0 ? '-' : '+');
	condition_say(c, fabs(v), out);
}

/*
 * Appends a sentence: "wall>5%: 'ls' changed by +6.1 % (95 % interval: +5.2 % to +7.0 %) from a to b". A change from 0
 * cannot be a percentage.
 */
static void say(const struct question *q, const struct change *d, struct buf *out)
{
	buf_addf(out, "%s: ", q->c->text);
	if (q->name)
		buf_addf(out, "'%s' ", q->name);
	if (isinf(d->value)) {
		buf_addf(out, "was 0 in %s, but not in %s", q->base->label, q->run->label);
		return;
	}
	buf_adds(out, "changed by ");
	say_change(q->c, d->value, out);
	if (d->interval.low < d->interval.high) {
		buf_adds(out, " (95 % interval: ");
		say_change(q->c, d->interval.low, out);
		buf_adds(out, " to ");
		say_change(q->c, d->interval.high, out);
		buf_addc(out, ')');
	}
	buf_addf(out, " from %s to %s", q->base->label, q->run->label);
}

static bool is_time(enum condition_metric m)
{
	return m == CONDITION_WALL || m == CONDITION_USER || m == CONDITION_SYSTEM || m == CONDITION_CPU ||
	       m == CONDITION_THROUGHPUT || m == CONDITION_OWN;
}

/*
 * Appends what disturbed one of two runs, so that their times differ also for equal programs. The rows of a single run
 * were measured in alternation, so a disturbance hit all of them.
 */
static bool say_disturbed(const struct question *q, struct buf *out)
{
	auto_buf what = {0};
	bool found = false;
	for (int i = 0; i < 2 && !found && q->base->run != q->run->run && is_time(q->c->metric); i++) {
		const struct gate_run *r = i ? q->run : q->base;
		found = run_disturbed(r->run, &what);
		if (!found)
			continue;
		buf_addf(out, ", but %s during %s; measure both in one comparison, or again ", buf_str(&what),
			 r->label);
		if (isfinite(r->run->method.other_cpu_share))
			buf_adds(out, "at a quieter time\n");
		else
			buf_addf(out, "with %d runs or more\n", RUN_LOADS_MIN);
	}
	return found;
}

/* The gate fails if every value of the interval fulfils the condition, and passes if no value does. */
static void decide(struct question *q, const struct change *d)
{
	bool low = condition_holds(q->c, d->interval.low);
	bool high = condition_holds(q->c, d->interval.high);
	auto_buf disturbed = {0};
	if (low && high && say_disturbed(q, &disturbed)) {
		say(q, d, q->undecided);
		buf_adds(q->undecided, buf_str(&disturbed));
		q->doubtful = true;
	} else if (low && high) {
		say(q, d, q->failed);
		buf_addc(q->failed, '\n');
	} else if (low || high) {
		say(q, d, q->undecided);
		buf_adds(q->undecided, "; more samples of both runs are needed to decide\n");
	}
}

/* Appends the beginning of a sentence about the subject: "wall>5%: 'ls' " */
static void begin_sentence(const struct question *q)
{
	buf_addf(q->undecided, "%s: %s%s%s", q->c->text, q->name ? "'" : "", q->name ? q->name : "",
		 q->name ? "' " : "the program ");
}

static void cannot_decide(const struct question *q, const char *why)
{
	begin_sentence(q);
	buf_addf(q->undecided, "%s in %s or %s\n", why, q->base->label, q->run->label);
}

static void too_few(const struct question *q, size_t na, size_t nb)
{
	begin_sentence(q);
	buf_addf(q->undecided, "has too few samples, %zu in %s and %zu in %s; each run needs at least %d\n", na,
		 q->base->label, nb, q->run->label, CHANGE_LEAST);
}

/* Converts a ratio (1.05) to a change in percent (5). */
static struct change percent(struct change d)
{
	d.value = 100 * (d.value - 1);
	d.interval = (struct interval){100 * (d.interval.low - 1), 100 * (d.interval.high - 1)};
	return d;
}

/* Returns false if a run does not have enough samples of the figure. */
static bool ask_samples(struct question *q)
{
	struct reals a = {0};
	struct reals b = {0};
	struct change d;
	samples_of(q->c, q->base->run, q->a, &a);
	samples_of(q->c, q->run->run, q->b, &b);
	bool enough = a.n >= CHANGE_LEAST && b.n >= CHANGE_LEAST;
	if (!a.n || !b.n)
		cannot_decide(q, "has no such figure");
	else if (!enough)
		too_few(q, a.n, b.n);
	else {
		int rc = change_measure(&(struct change_spec){.a = a.v,
							      .na = a.n,
							      .b = b.v,
							      .nb = b.n,
							      .paired = q->paired,
							      .relative = q->c->percent,
							      .alpha = q->alpha},
					&d);
		if (rc == 0 && q->c->percent)
			d = percent(d);
		if (rc < 0)
			cannot_decide(q, q->c->metric == CONDITION_OWN ? "has runs whose output lacks this metric"
								       : "was not measured");
		else if (isnan(d.interval.low))
			cannot_decide(q, "has the value zero (of which a percentage cannot be computed)");
		else
			decide(q, &d);
	}
	vec_free(&a);
	vec_free(&b);
	return enough;
}

/* Returns false if the calls were not counted. Counts are exact, so both ends of the interval are the change itself. */
static bool ask_counts(struct question *q)
{
	double a = figure(q->c, q->base->run, q->a);
	double b = figure(q->c, q->run->run, q->b);
	double d = q->c->percent ? (a == b ? 0 : 100 * (b - a) / a) : b - a;
	const char *option = condition_excluded_by(q->c, &q->base->run->selection);
	if (option) {
		auto_buf why = {0};
		buf_addf(&why, "was counted without these calls (%s)", option);
		cannot_decide(q, buf_str(&why));
		return false;
	}
	bool partly = q->a && q->b && fabs(q->a->counts.counted_bytes - q->b->counts.counted_bytes) > 0;
	if (partly)
		cannot_decide(q, "was counted for only a part of the input");
	else if (isnan(d))
		cannot_decide(q, q->c->after_main ? "has no number of calls before main" : "was not counted");
	else
		decide(q, &(struct change){d, {d, d}});
	return !partly && !isnan(d);
}

/* Returns false if the runs do not contain what the condition tests. */
static bool ask(struct question *q)
{
	return condition_sums_calls(q->c) ? ask_counts(q) : ask_samples(q);
}

bool gate_judge(const struct conditions *c, const struct gate_run *base, const struct gate_run *run, struct buf *failed,
		struct buf *undecided)
{
	const struct run *from = base->run;
	struct question q = {.base = base, .run = run, .failed = failed, .undecided = undecided};
	size_t subjects = from->bits == RUN_COUNT ? 1 : from->subjects.n;
	bool all = true;
	q.alpha = CHANGE_ALPHA / (double)(c->list.n * subjects);
	for (size_t i = 0; i < c->list.n; i++) {
		bool tested = false;
		for (size_t k = 0; k < subjects; k++) {
			q.c = &c->list.v[i];
			q.a = from->bits == RUN_COUNT ? NULL : &from->subjects.v[k];
			q.name = q.a ? q.a->name : NULL;
			q.b = q.a ? run_find(run->run, q.name) : NULL;
			if (q.a && !q.b)
				cannot_decide(&q, "is missing");
			else
				tested |= ask(&q);
		}
		all &= tested;
	}
	return all && !q.doubtful;
}

bool gate_judge_rows(const struct conditions *c, const struct run *run, struct buf *failed, struct buf *undecided)
{
	const struct run_subject *subjects = run->subjects.v;
	const struct run_subject *a = &subjects[run->method.reference ? run->reference : 0];
	struct gate_run base = {run, a->name};
	struct question q = {.base = &base, .a = a, .paired = !run->merged, .failed = failed, .undecided = undecided};
	bool all = true;
	q.alpha = CHANGE_ALPHA / (double)(c->list.n * (run->subjects.n - 1)) / run_looks(run);
	for (size_t i = 0; i < c->list.n; i++) {
		bool tested = false;
		for (size_t k = 0; k < run->subjects.n; k++) {
			const struct gate_run other = {run, subjects[k].name};
			q.c = &c->list.v[i];
			q.b = &subjects[k];
			q.run = &other;
			if (q.b != a)
				tested |= ask(&q);
		}
		all &= tested;
	}
	return all;
}
