/* SPDX-License-Identifier: MIT */
/* Handles signals for the program, and signals that the agent's code raises. */
#ifndef SCTRACE_ENGINE_PATCH_THREADS_PATCH_SIGNALS_H
#define SCTRACE_ENGINE_PATCH_THREADS_PATCH_SIGNALS_H

#include "engine/patch/state.h"

/* tracer_ops.signal: a signal-delivery-stop. */
enum tracer_verdict signals_stop(struct tracer *t, struct task *task, const siginfo_t *si);

#endif
