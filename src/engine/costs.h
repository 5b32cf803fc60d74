/*
 * Keeps the measured cost of tracing a call until the next boot, because a measurement takes longer than many programs
 * run. The costs are in sctrace-costs.json, in the folder of engine/kept.h.
 */
#ifndef SCTRACE_ENGINE_COSTS_H
#define SCTRACE_ENGINE_COSTS_H

#include <stddef.h>

/*
 * The number of measurements that are made after a boot. Later runs use the smallest of their results, because noise
 * can only increase a measurement.
 */
#define COSTS_MEASURED 5

/*
 * How often a measurement is tried. On a busy machine, a measurement may fail, or find a cost that is not above zero.
 */
#define COSTS_TRIES 5

/* One measurement: a list of numbers, of which the first is the cost. */
#define COSTS_NUMBERS 4
struct cost_numbers {
	double v[COSTS_NUMBERS];
};

struct costs;

/*
 * Reads the kept costs of this machine in its present state (boot, number of processors, version of sctrace). Returns
 * NULL if nothing can be kept; the other functions accept NULL.
 */
struct costs *costs_open(void);
void costs_close(struct costs *c);
/*
 * Finds the smallest cost that is kept under `name`. Returns 0 with *least set. Returns -ENOENT if fewer than
 * COSTS_MEASURED are kept; the caller should then measure and call costs_keep().
 */
int costs_find(const struct costs *c, const char *name, struct cost_numbers *least);
/*
 * Keeps one more measurement, and sets *least to the smallest one. If the file cannot be written, the next run measures
 * again.
 */
void costs_keep(struct costs *c, const char *name, const struct cost_numbers *measured, struct cost_numbers *least);

#endif
