/*
 * Handles children that the program does not want to be traced (clone(2), CLONE_UNTRACED). This request is meant for
 * other tracers. So the bit is cleared while the call runs, and restored afterwards: in the parent, and in the child at
 * its first stop.
 */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_UNTRACED_H
#define SCTRACE_ENGINE_PTRACE_CALLS_UNTRACED_H

#include "engine/ptrace/state/tracer.h"

void tracer_untraced_enter(struct tracer *t, struct task *task);
void tracer_untraced_exit(const struct task *task);

#endif
