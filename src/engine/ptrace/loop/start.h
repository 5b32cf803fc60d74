/* Starts a program or attaches to processes, up to the first stops. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_START_H
#define SCTRACE_ENGINE_PTRACE_LOOP_START_H

#include "engine/ptrace/state/tracer.h"

/*
 * Starts the program of `config`, and attaches to the processes of `config`. tracer_init() must have been called
 * before. Returns 0, or -errno with a sentence in `why`.
 */
int tracer_start(struct tracer *t, const struct engine_config *config, struct buf *why);
/*
 * Pins sctrace to the CPUs of `config` if --pin requests that. Must be called before anything is measured. Returns 0,
 * or -errno with the reason in `why`.
 */
int tracer_pin(const struct engine_config *config, struct buf *why);

#endif
