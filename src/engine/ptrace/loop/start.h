/* Starting a program, and attaching, up to the first stops. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_START_H
#define SCTRACE_ENGINE_PTRACE_LOOP_START_H

#include "engine/ptrace/state/tracer.h"

/* Sets a tracer after tracer_init() up for `config`, starts and attaches. 0, or -errno and `why` is a sentence. */
int tracer_start(struct tracer *t, const struct engine_config *config, struct buf *why);
/* Puts sctrace on the CPUs of `config` if --pin asks for that, before anything is measured. 0, or -errno and `why`. */
int tracer_pin(const struct engine_config *config, struct buf *why);

#endif
