#include "io/cost.h"

#include <math.h>

#define CLASS_MIN  8.0 /* requests; the mean of fewer is left out */
#define SPREAD_MIN 8.0 /* largest size against smallest */

static unsigned class_of(double bytes)
{
	int exponent = 0;
	if (bytes < 1)
		return 0;
	frexp(bytes, &exponent); /* 1 has exponent 1 */
	return exponent < IO_COST_CLASSES ? (unsigned)exponent : IO_COST_CLASSES - 1;
}

void io_cost_add(struct io_cost *c, double bytes, double ns)
{
	struct io_cost_class *k = &c->classes[class_of(bytes)];
	k->n++;
	k->bytes += bytes;
	k->ns += ns;
}

void io_cost_merge(struct io_cost *c, const struct io_cost *from)
{
	for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
		c->classes[i].n += from->classes[i].n;
		c->classes[i].bytes += from->classes[i].bytes;
		c->classes[i].ns += from->classes[i].ns;
	}
}

struct io_fit io_cost_fit(const struct io_cost *c)
{
	double least = INFINITY, most = 0;
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
	for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
		const struct io_cost_class *k = &c->classes[i];
		if (k->n < CLASS_MIN || k->ns <= 0)
			continue;
		double x = k->bytes / k->n;
		double y = k->ns / k->n;
		double weight = 1 / (y * y);
		least = fmin(least, fmax(x, 1));
		most = fmax(most, x);
		w += weight;
		wx += weight * x;
		wy += weight * y;
		wxx += weight * x * x;
		wxy += weight * x * y;
	}
	double det = w * wxx - wx * wx;
	if (most < SPREAD_MIN * least || det <= 0)
		return (struct io_fit){0};
	double slope = fmax((w * wxy - wx * wy) / det, 0);
	return (struct io_fit){true, fmax((wy - slope * wx) / w, 0), slope};
}
