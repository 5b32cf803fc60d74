/* Arming: makes calls from outside the agent stop. */
#ifndef SCTRACE_ENGINE_PATCH_ARM_ARM_H
#define SCTRACE_ENGINE_PATCH_ARM_ARM_H

#include "engine/patch/state.h"

struct proc_status;

/*
 * Chooses how tasks are armed on this machine for `want` (CAP_*). Returns 0, sets *how, and describes the choice in
 * `why`; or returns -errno with the reason in `why`.
 */
int arm_choose(unsigned want, enum arming *how, struct buf *why);
/* Arms or disarms a stopped task. The calls of an armed task stop if they are made from outside the agent. */
void arm_task(const struct patch *p, struct task *task, bool on);
/*
 * Must the engine handle this task's calls? True if these calls are counted. With a filter it is always true, because
 * the filter stays active in descendants that are not to be traced.
 */
bool arm_is_served(const struct patch *p, const struct task *task);

/* Builds the filter that the program installs before it starts. The caller frees it with call_filter_free(). */
void arm_filter_build(struct call_filter *f);

/* Which filter stopped the task: none (the task is not in a seccomp stop), sctrace's, or one of the program's. */
enum arm_stop { ARM_STOP_NONE, ARM_STOP_SCTRACE, ARM_STOP_PROGRAM };
/* Finds out which filter stopped the task. In a seccomp stop, the function also sets arch and nr of `call`. */
enum arm_stop arm_read_stop(pid_t tid, struct call *call);
/* Does the process, with /proc/PID/status `s`, have other filters than sctrace's and those that sctrace inherited? */
bool arm_is_filtered(const struct patch *p, const struct proc_status *s);
/*
 * Gives the task's call the result ENOSYS. A filter of the program's has sent this call to a tracer, and without a
 * tracer such a call fails with ENOSYS (seccomp(2), SECCOMP_RET_TRACE).
 */
void arm_answer_enosys(pid_t tid);

#endif
