/* Arming: makes calls from outside the agent stop. */
#ifndef SCTRACE_ENGINE_PATCH_ARM_ARM_H
#define SCTRACE_ENGINE_PATCH_ARM_ARM_H

#include "engine/patch/state.h"

struct proc_status;

/*
 * Chooses how tasks are armed on this machine for `want` (CAP_*). 0 and *how, or -errno; `why` says how, or why it cannot be
 * done.
 */
int arm_choose(unsigned want, enum arming *how, struct buf *why);
/* Arms or disarms a stopped task: its calls from outside the agent stop, or not. */
void arm_task(const struct patch *p, struct task *task, bool on);
/*
 * Must the engine handle this task's calls? True if they are counted; also under a filter, which stays in force in descendants
 * that nobody asked for.
 */
bool arm_is_served(const struct patch *p, const struct task *task);

/* Builds the filter that the program installs before it starts; the caller frees it by call_filter_free(). 0 or -ENOMEM. */
int arm_filter_build(struct call_filter *f);

/* SECCOMP_RET_DATA of our filter. If several filters return the same action, the kernel reports the newest one's (seccomp(2)). */
#define ARM_FILTER_MARK 0x5c7a

/* Which filter stopped the task: none (it is not in a seccomp stop), ours, or the program's. */
enum arm_stop { ARM_STOP_NONE, ARM_STOP_SCTRACE, ARM_STOP_PROGRAM };
/* Distinguishes them. In a seccomp stop it also sets arch and nr of `call`. */
enum arm_stop arm_read_stop(pid_t tid, struct call *call);
/* Does the process have seccomp filters besides ours and those that sctrace was started with? `s` is its /proc/PID/status. */
bool arm_is_filtered(const struct patch *p, const struct proc_status *s);
/*
 * Gives a call that the program's own filter sent to a tracer the result ENOSYS, as without a tracer (seccomp(2),
 * SECCOMP_RET_TRACE).
 */
void arm_answer_enosys(pid_t tid);

#endif
