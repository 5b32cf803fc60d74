/* SPDX-License-Identifier: MIT */
/* The calls of a thread: their beginnings, their ends (syscall/life.h), and the counts. */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_H
#define SCTRACE_ENGINE_PTRACE_CALLS_H

#include "engine/engine.h"
#include "engine/ptrace/tracer.h"

/* Returns true if this is the call `name`, which need not exist on the call's architecture. */
bool tracer_call_is(const struct call *c, const char *name);
/* Called when a call begins. The caller has set arch, nr, args, ip and sp of the thread's call. */
void tracer_call_enter(struct tracer *t, struct task *task);
/*
 * At the first stop of an attached thread: saves the call that restart_syscall(2) may continue. Queues EV_ATTACH if
 * `report` is set.
 */
void tracer_call_at_attach(struct tracer *t, struct task *task, bool report);
/* Called when the call returns. The caller has set result, error and err of the thread's call. */
void tracer_call_exit(struct tracer *t, struct task *task);
/*
 * Called when a signal has interrupted the thread's call after `elapsed_ns` (the call's `err` is one of the codes in
 * syscall/restart.h), and the tracer did not see the call's entry. The tracer counts the call however it ends, so from
 * now on the tracer must see a restart of the call.
 */
void tracer_call_interrupted(struct tracer *t, struct task *task, uint64_t elapsed_ns);
/* Called when the thread has ended: its call and its interrupted calls stay unfinished. */
void tracer_call_vanish(struct tracer *t, struct task *task);

/* Handles a syscall-stop, or a stop by sctrace's seccomp filter: reads the call, creates its events, tampers with it. */
void tracer_syscall_stop(struct tracer *t, struct task *task);

/* Returns true if the task's current call must be reported as an event. */
bool tracer_wants_call(const struct tracer *t, const struct task *task);

/*
 * Handles CLONE_UNTRACED of clone(2), by which a program asks that a child is not traced. The request is meant for
 * other tracers, so sctrace traces such a child as well. It clears the bit while the call runs, and restores the bit
 * afterwards: in the parent, and in the child at its first stop.
 */

/* Called at the end of a call, and at the first stop of a child. Restores the bit if it was cleared. */
void tracer_untraced_exit(const struct task *task);

/* A seccomp filter that stops only the wanted calls (SECCOMP_RET_TRACE). */

/* A filter. It is built before the fork, because this allocates memory, and installed in the child. */
struct call_filter {
	struct sock_filter *code;
	unsigned short len;
};

/*
 * Builds the filter for the wanted calls of the native architecture. Calls of other architectures, numbers without
 * a name or beyond CALL_SET_MAX, and those of mem_call_serves_pages(), always stop. The caller calls
 * call_filter_free().
 */
void call_filter_build(struct call_filter *f, const struct call_set *only);
void call_filter_free(struct call_filter *f);
/*
 * Installs the filter (`ctx`, a struct call_filter) in the child, with no_new_privs only if needed. Returns 0 or
 * -errno.
 */
int call_filter_install(void *ctx);

#endif
