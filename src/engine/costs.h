/*
 * Keeps the measured cost of tracing a call until the next boot, because a measurement takes longer than many programs
 * run. The costs are in sctrace-costs.json, in the folder of engine/kept.h.
 */
#ifndef SCTRACE_ENGINE_COSTS_H
#define SCTRACE_ENGINE_COSTS_H

/*
 * The number of measurements that are made after a boot. Later runs use the smallest traced time and the smallest native
 * time of these, because noise can only increase a time. The smallest difference of the two times of one measurement is
 * not used: it is too small if noise has increased the native time.
 */
#define COSTS_MEASURED 5

/* How often a measurement is tried: on a busy machine, it may fail, or find a cost that is not above zero. */
#define COSTS_TRIES 5

/* One measurement, in ns: the time of a call that is traced, the time of the same call natively, and more. */
enum { COST_TRACED, COST_NATIVE, COST_SPREAD, COST_TICK, COSTS_NUMBERS };
struct cost_numbers {
	double v[COSTS_NUMBERS];
};

/* Returns the cost of tracing a call. It is not above zero if it could not be measured. */
static inline double cost_of(const struct cost_numbers *n)
{
	return n->v[COST_TRACED] - n->v[COST_NATIVE];
}

/* Makes `n` calls of getppid(2), whose cost is measured. */
void costs_make_calls(int n);
/*
 * Makes `batches` times `batch` calls without a tracer. Returns the time of one call in ns: the mean of the fastest
 * batch, which other processes have disturbed least.
 */
double costs_native(int batches, int batch);

struct costs;

/*
 * Reads the kept costs of this machine in its present state (boot, number of processors, version of sctrace). Returns
 * NULL if nothing can be kept; the other functions accept NULL.
 */
struct costs *costs_open(void);
void costs_close(struct costs *c);
/*
 * Finds the smallest times that are kept under `name`. Returns 0 with *least set; the other numbers belong to the
 * smallest traced time. Returns -ENOENT if fewer than COSTS_MEASURED are kept; the caller should then measure and call
 * costs_keep().
 */
int costs_find(const struct costs *c, const char *name, struct cost_numbers *least);
/*
 * Keeps one more measurement, and sets *least as costs_find() does. If the file cannot be written, the next run
 * measures again.
 */
void costs_keep(struct costs *c, const char *name, const struct cost_numbers *measured, struct cost_numbers *least);

#endif
