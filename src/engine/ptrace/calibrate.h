/* Finds the cost of a traced call: measures it with a child, or takes the kept value (engine/costs.h). */
#ifndef SCTRACE_ENGINE_PTRACE_CALIBRATE_H
#define SCTRACE_ENGINE_PTRACE_CALIBRATE_H

#include "engine/ptrace/tracer.h"

struct costs;

/*
 * Finds the cost for each way in which the end of a call is noticed. If it could not be measured, its `ns` is not above
 * zero, and its `err` says why. `kept` may be NULL.
 */
void tracer_calibrate(struct costs *kept, struct tracer_cost cost[NOTICED_WAYS]);
/* Appends that the times include the cost of tracing, and the reason why this cost could not be measured. */
void tracer_cost_unknown(const struct tracer_cost *cost, struct buf *out);
/*
 * Waits until a child for calibration, which must not be traced yet, sets *ready. Returns false if the child has ended
 * without setting it.
 */
bool tracer_await_child(pid_t pid, const _Atomic int *ready);

#endif
