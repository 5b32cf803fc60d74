/* The stop loop: starts and attaches, gets the next event, detaches. */
#ifndef SCTRACE_ENGINE_PTRACE_LOOP_H
#define SCTRACE_ENGINE_PTRACE_LOOP_H

#include "engine/ptrace/tracer.h"

/* engine_ops.next. */
int tracer_next(struct engine *e, struct event *ev);

/* Decodes and handles a wait status of a task (ptrace(2), "Stopped states"). Returns 1 if events are pending, otherwise 0. */
int tracer_stop(struct tracer *t, struct task *task, int status);

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

/* Stops all tasks and detaches from them without harm. Tasks that do not stop in time are detached when sctrace exits. */
void tracer_detach_all(struct tracer *t);
/* engine_ops.detach. */
int tracer_detach(struct engine *e);
/* engine_ops.is_needed: calls that a seccomp filter stops fail without a tracer. */
bool tracer_is_needed(const struct engine *e);

#endif
