/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers. The same seed, which can be printed, always gives the same numbers. */
#ifndef SCTRACE_STATS_RANDOM_H
#define SCTRACE_STATS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* State of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). */
struct rng {
	uint64_t state;
};

void rng_seed(struct rng *r, uint64_t seed);
/* Returns the next number of 64 random bits. */
uint64_t rng_next(struct rng *r);
/* Returns a uniformly distributed number in the open interval (0, 1). */
double rng_unit(struct rng *r);
/* Returns a uniformly distributed integer from 0 to n - 1, or 0 if n is 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Returns a number with the standard normal distribution (Marsaglia's polar method). */
double rng_normal(struct rng *r);
/*
 * Returns a number with the distribution Beta(a, b), where a, b >= 1, computed from two gamma variates (Marsaglia and
 * Tsang, ACM TOMS 26, 2000).
 */
double rng_beta(struct rng *r, double a, double b);
/* Puts the `n` elements of `order` into random order (Fisher and Yates). */
void rng_shuffle(struct rng *r, size_t *order, size_t n);

#endif
