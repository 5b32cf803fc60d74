/* Gives up tracing if the kernel refuses something that tracing needs. */
#ifndef SCTRACE_ENGINE_PTRACE_STATE_GIVE_UP_H
#define SCTRACE_ENGINE_PTRACE_STATE_GIVE_UP_H

#include "engine/ptrace/state/tracer.h"

/*
 * Gives up tracing. A note gives the reason with strerror(-err). The started program is killed, tracer_detach_all()
 * detaches from attached processes, and tracer_next() returns `err` from now on. Only the first call has an effect.
 * Returns the error of the first call.
 */
int tracer_give_up(struct tracer *t, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * Gives up tracing if the kernel keeps refusing a ptrace(2) request for a task. That task may stay stopped for ever, so
 * nothing must wait for it.
 */
void tracer_check_refused(struct tracer *t);
/* engine_ops.kill: sends `sig` to all processes, except attached ones and a program that still waits for spawn_go(). */
void tracer_kill(struct engine *e, int sig);

#endif
