/* SPDX-License-Identifier: MIT */
/*
 * Keeps the measured cost of tracing a call until the next boot, because a measurement takes longer than many programs
 * run. The costs are in sctrace-costs.json, in the folder of engine/costs.h.
 */
#ifndef SCTRACE_ENGINE_COSTS_H
#define SCTRACE_ENGINE_COSTS_H

#include <stddef.h>

/*
 * Files in which sctrace keeps what it has found out, for later runs. They are valid until the next boot. They are in
 * $XDG_RUNTIME_DIR, which the system may remove earlier, at log-out (XDG Base Directory Specification). If the variable
 * is not set, as after sudo(8) and su(1), the folder is /run/user/UID, or /run for root. If the folder does not exist,
 * nothing is kept.
 */

struct buf;

/*
 * Opens the folder. Returns its descriptor, which the caller closes. Returns -1 unless sctrace's user owns the folder
 * and nobody else can write to it, because sctrace trusts the files in it.
 */
int kept_folder(void);
/*
 * Appends a line that says for which machine and which sctrace a file is valid: boot, number of processors, version, and
 * the executable itself, because two builds of a version can read the contents differently. The boot id stands for the
 * kernel and the model of the processors, which do not change during one boot. Appends nothing if the boot id or the
 * executable is unknown; nothing can then be kept.
 */
void kept_describe_machine(struct buf *out);
/*
 * Writes the `n` bytes to a new file and renames it to `name`, so that no process reads an incomplete file. If that
 * fails, the old file stays.
 */
void kept_replace(int folder, const char *name, const void *bytes, size_t n);

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
