/* SPDX-License-Identifier: MIT */
#include "stats/random.h"

#include <math.h>

void rng_seed(struct rng *r, uint64_t seed)
{
	r->state = seed;
}

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

double rng_unit(struct rng *r)
{
	return ((double)(rng_next(r) >> 12) + 0.5) * 0x1p-52;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	if (!n)
		return 0;
	/* Numbers below 2^64 mod n are rejected, because they would make some results more likely than others. */
	uint64_t least = -n % n;
	uint64_t x;
	do
		x = rng_next(r);
	while (x < least);
	return x % n;
}

double rng_normal(struct rng *r)
{
	double u;
	double s;
	do {
		u = 2 * rng_unit(r) - 1;
		double v = 2 * rng_unit(r) - 1;
		s = u * u + v * v;
	} while (s >= 1);
	return u * sqrt(-2 * log(s) / s);
}

/* Returns a number with the distribution Gamma(a, 1), where a >= 1. */
static double gamma_variate(struct rng *r, double a)
{
	double d = a - 1.0 / 3;
	double c = 1 / sqrt(9 * d);
	for (;;) {
		double x = rng_normal(r);
		double v = 1 + c * x;
		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(rng_unit(r)) < 0.5 * x * x + d - d * v + d * log(v))
			return d * v;
	}
}

double rng_beta(struct rng *r, double a, double b)
{
	double x = gamma_variate(r, a);
	return x / (x + gamma_variate(r, b));
}

void rng_shuffle(struct rng *r, size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)rng_below(r, i), other = order[k];
		order[k] = order[i - 1];
		order[i - 1] = other;
	}
}
