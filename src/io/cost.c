#include "io/cost.h"

#include <math.h>

#define CLASS_MIN  8.0 /* minimum number of requests in a class */
#define SPREAD_MIN 8.0 /* minimum ratio of the pages of two classes */
#define DISTURBED  16.0

void io_tally_add(struct io_tally *t, double ns, double spread_ns)
{
	t->n++;
	t->ns += ns;
	t->spread_ns += spread_ns;
	hist_add(&t->took, (uint64_t)ns, 1);
}

void io_tally_add_judged(struct io_tally *t, double ns, double spread_ns, bool waited)
{
	if (!waited) {
		io_tally_add(t, ns, spread_ns);
		return;
	}
	t->n++;
	t->ns += ns;
	t->spread_ns += spread_ns;
	t->waits++;
	t->waited_ns += ns;
}

void io_tally_free(struct io_tally *t)
{
	hist_free(&t->took);
	*t = (struct io_tally){0};
}

double io_tally_mean(const struct io_tally *t)
{
	return t->n > 0 ? t->ns / t->n : 0;
}

/* Returns the mean time of the calls that were not disturbed, and sets *n to their number. */
static double undisturbed(const struct io_tally *t, double *n)
{
	double limit = DISTURBED * hist_quantile(&t->took, 0.5);
	double sum = 0;
	*n = 0;
	for (uint32_t i = 0; i < t->took.n; i++) {
		uint32_t b = t->took.first + i;
		double middle = ((double)hist_bucket_low(b) + (double)hist_bucket_low(b + 1) - 1) / 2;
		if (middle > limit)
			break;
		sum += middle * (double)t->took.count[i];
		*n += (double)t->took.count[i];
	}
	return *n > 0 ? fmin(sum / *n, t->ns / t->n) : io_tally_mean(t);
}

double io_tally_each(const struct io_tally *t)
{
	double n;
	return undisturbed(t, &n);
}

struct io_delays io_tally_delays(const struct io_tally *t)
{
	double n;
	double each = undisturbed(t, &n);
	/* The sum of the others is not exact, because a histogram rounds. Without disturbed calls, there are no delays. */
	return t->n > n ? (struct io_delays){t->n - n, fmax(t->ns - each * t->n, 0)} : (struct io_delays){0};
}

static unsigned class_of(double pages)
{
	int exponent = 0;
	if (pages < 1)
		return 0;
	frexp(pages, &exponent); /* the exponent of 1 is 1 */
	return exponent < IO_COST_CLASSES ? (unsigned)exponent : IO_COST_CLASSES - 1;
}

void io_cost_add(struct io_cost *c, double pages, double bytes, double ns, double spread_ns)
{
	struct io_cost_class *k = &c->classes[class_of(pages)];
	k->pages += pages;
	k->bytes += bytes;
	io_tally_add(&k->calls, ns, spread_ns);
}

void io_cost_merge(struct io_cost *c, const struct io_cost *from)
{
	for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
		struct io_cost_class *to = &c->classes[i];
		const struct io_cost_class *k = &from->classes[i];
		to->pages += k->pages;
		to->bytes += k->bytes;
		to->calls.n += k->calls.n;
		to->calls.ns += k->calls.ns;
		to->calls.spread_ns += k->calls.spread_ns;
		hist_merge(&to->calls.took, &k->calls.took);
	}
}

void io_cost_free(struct io_cost *c)
{
	for (unsigned i = 0; i < IO_COST_CLASSES; i++)
		io_tally_free(&c->classes[i].calls);
}

struct io_fit io_cost_fit(const struct io_cost *c)
{
	double least = INFINITY, most = 0;
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
	for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
		const struct io_cost_class *k = &c->classes[i];
		double y = io_tally_each(&k->calls);
		if (k->calls.n < CLASS_MIN || y <= 0)
			continue;
		double x = k->pages / k->calls.n;
		double weight = 1 / (y * y);
		least = fmin(least, x);
		most = fmax(most, x);
		w += weight;
		wx += weight * x;
		wy += weight * y;
		wxx += weight * x * x;
		wxy += weight * x * y;
	}
	double det = w * wxx - wx * wx;
	if (most <= 0 || most < SPREAD_MIN * least || det <= 0)
		return (struct io_fit){0};
	double slope = fmax((w * wxy - wx * wy) / det, 0);
	return (struct io_fit){true, fmax((wy - slope * wx) / w, 0), slope};
}

const struct io_cost_class *io_cost_light(const struct io_cost *c)
{
	return c->classes[0].calls.n >= CLASS_MIN ? &c->classes[0] : NULL;
}
