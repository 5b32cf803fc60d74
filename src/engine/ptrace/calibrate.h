/* The cost of a traced call, measured on a child of its own, or kept from earlier (engine/costs.h). */
#ifndef SCTRACE_ENGINE_PTRACE_CALIBRATE_H
#define SCTRACE_ENGINE_PTRACE_CALIBRATE_H

#include "engine/ptrace/state/tracer.h"

/* `pinned`: sctrace and the program share a CPU. 0 or -errno, and *cost is zero. */
int tracer_calibrate(struct tracer_cost *cost, bool pinned);
/* Appends that the cost is part of the times shown, because it could not be measured, and why. */
void tracer_cost_unknown(const struct tracer_cost *cost, struct buf *out);
/* Waits until a child to calibrate on, which is not traced yet, sets *ready; false: it ended before. */
bool tracer_await_child(pid_t pid, const _Atomic int *ready);

#endif
