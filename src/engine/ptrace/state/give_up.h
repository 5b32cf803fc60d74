/*
 * The end of tracing before its time: the kernel refuses what tracing needs, or there is no memory for what a tracer must know (a task,
 * a status). If memory ran out only for something that is shown, tracing goes on, and the end of the command tells it
 * (base/memory.h).
 */
#ifndef SCTRACE_ENGINE_PTRACE_STATE_GIVE_UP_H
#define SCTRACE_ENGINE_PTRACE_STATE_GIVE_UP_H

#include "engine/ptrace/state/tracer.h"

/*
 * Tracing is over. A note says why, with strerror(-err) appended; the program that was started is killed, the processes that
 * were attached to are detached from by tracer_detach_all(), and tracer_next() returns `err` from now on. Only the
 * first call counts. Returns the error of the first call.
 */
int tracer_give_up(struct tracer *t, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Gives up if the kernel keeps refusing a request: the task may stand still for ever and must not be waited for. */
void tracer_check_refused(struct tracer *t);
/* engine_ops.kill: sends `sig` to the processes that were not attached to. */
void tracer_kill(struct engine *e, int sig);

#endif
