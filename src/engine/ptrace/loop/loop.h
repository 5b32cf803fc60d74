/* The stop loop: gets the next event. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_LOOP_H
#define SCTRACE_ENGINE_PTRACE_LOOP_LOOP_H

#include "engine/ptrace/state/tracer.h"

/* engine_ops.next. */
int tracer_next(struct engine *e, struct event *ev);

#endif
