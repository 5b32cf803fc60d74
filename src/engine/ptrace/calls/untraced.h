/*
 * Children that the program asks to be left untraced (clone(2), CLONE_UNTRACED). The program cannot mean us, so the bit is taken
 * out while the call runs, and put back when it is over: in the parent, and in the child at its first stop.
 */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_UNTRACED_H
#define SCTRACE_ENGINE_PTRACE_CALLS_UNTRACED_H

#include "engine/ptrace/state/tracer.h"

void tracer_untraced_enter(struct tracer *t, struct task *task);
void tracer_untraced_exit(const struct task *task);

#endif
