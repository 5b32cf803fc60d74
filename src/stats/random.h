/* Pseudo-random numbers from a seed that can be printed: the same seed gives the same run. */
#ifndef SCTRACE_STATS_RANDOM_H
#define SCTRACE_STATS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* State of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). */
struct rng {
	uint64_t state;
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
/* Uniform in the open interval (0, 1). */
double rng_unit(struct rng *r);
/* Uniform in [0, n), without bias. 0 if n is 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Standard normal (Marsaglia's polar method). */
double rng_normal(struct rng *r);
/* Beta(a, b) for a, b >= 1, computed from two gamma variates (Marsaglia and Tsang, ACM TOMS 26, 2000). */
double rng_beta(struct rng *r, double a, double b);
/* Puts the numbers 0 to n-1 into `order` in random order (Fisher and Yates). */
void rng_shuffle(struct rng *r, size_t *order, size_t n);

#endif
