/*
 * What being traced costs a call, kept for the boot: measuring it takes longer than many a program runs. In
 * $XDG_RUNTIME_DIR/sctrace-costs.json, which the system removes at log-out (XDG Base Directory Specification); where there is
 * no such folder, nothing is kept.
 */
#ifndef SCTRACE_ENGINE_COSTS_H
#define SCTRACE_ENGINE_COSTS_H

#include <stddef.h>

/* Noise only adds, so the first runs of a boot measure, and the least of what they found is used from then on. */
#define COSTS_MEASURED 5

/* One measurement: a list of numbers that belong together, the first of which is the cost. */
#define COSTS_NUMBERS 4
struct cost_numbers {
	double v[COSTS_NUMBERS];
};

/*
 * The least cost that is kept under `name` for this machine as it is now (its boot, kernel, processors and version of sctrace).
 * 0 and *least; -ENOENT where fewer than COSTS_MEASURED were kept: then one is to be measured and given to costs_keep().
 */
int costs_find(const char *name, struct cost_numbers *least);
/* Keeps one more. *least: the least one, this or an earlier one. What cannot be written is measured again next time. */
void costs_keep(const char *name, const struct cost_numbers *measured, struct cost_numbers *least);

#endif
