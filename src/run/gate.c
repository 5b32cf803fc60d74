#include "run/gate.h"

#include "base/buf.h"
#include "run/judge.h"
#include "stats/change.h"

#include <math.h>

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
	struct buf what = {0};
	bool found = false;
	for (int i = 0; i < 2 && !found && q->base->run != q->run->run && is_time(q->c->metric); i++) {
		const struct gate_run *r = i ? q->run : q->base;
		found = run_disturbed(r->run, &what);
		if (found)
			buf_addf(out,
				 ", but %s during %s; measure both in one comparison, or again at a quieter time\n",
				 buf_str(&what), r->label);
	}
	buf_free(&what);
	return found;
}

/* The gate fails if every value of the interval fulfils the condition, and passes if no value does. */
static void decide(struct question *q, const struct change *d)
{
	bool low = condition_holds(q->c, d->interval.low);
	bool high = condition_holds(q->c, d->interval.high);
	struct buf disturbed = {0};
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
	buf_free(&disturbed);
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
		struct buf why = {0};
		buf_addf(&why, "was counted without these calls (%s)", option);
		cannot_decide(q, buf_str(&why));
		buf_free(&why);
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
