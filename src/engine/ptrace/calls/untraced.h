/*
 * Handles CLONE_UNTRACED of clone(2), by which a program asks that a child is not traced. The request is meant for
 * other tracers, so sctrace traces such a child as well. It clears the bit while the call runs, and restores the bit
 * afterwards: in the parent, and in the child at its first stop.
 */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_UNTRACED_H
#define SCTRACE_ENGINE_PTRACE_CALLS_UNTRACED_H

#include "engine/ptrace/state/tracer.h"

/* Called at the entry of a call. If it is a clone(2) with CLONE_UNTRACED, clears the bit and remembers where it was. */
void tracer_untraced_enter(struct tracer *t, struct task *task);
/* Called at the end of a call, and at the first stop of a child. Restores the bit if it was cleared. */
void tracer_untraced_exit(const struct task *task);

#endif
