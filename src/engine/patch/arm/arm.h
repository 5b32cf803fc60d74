/* SPDX-License-Identifier: MIT */
/* Arming: makes calls from outside the agent stop. */
#ifndef SCTRACE_ENGINE_PATCH_ARM_ARM_H
#define SCTRACE_ENGINE_PATCH_ARM_ARM_H

#include "base/buf.h"
#include "engine/patch/state.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

/* What stopped the task at a call: ptrace at its entry, sctrace's filter, one of the program's, or none of them. */
enum arm_stop { ARM_STOP_NONE, ARM_STOP_ENTRY, ARM_STOP_SCTRACE, ARM_STOP_PROGRAM };
/* Finds out what stopped the task. Unless the result is ARM_STOP_NONE, the function also sets arch and nr of `call`. */
enum arm_stop arm_read_stop(pid_t tid, struct call *call);
/* Does the process, with /proc/PID/status `s`, have other filters than sctrace's and those that sctrace inherited? */
bool arm_is_filtered(const struct patch *p, const struct proc_status *s);
/*
 * Gives the task's call the result ENOSYS. A filter of the program's has sent this call to a tracer, and without a
 * tracer such a call fails with ENOSYS (seccomp(2), SECCOMP_RET_TRACE).
 */
void arm_answer_enosys(pid_t tid);

/* Hides sctrace's seccomp filter from the program that runs under it. */

/*
 * Does call `nr` with these arguments ask for strict mode? seccomp(2) refuses strict mode if flags or arguments are not
 * 0; libseccomp makes such calls to find out whether the kernel has seccomp(2).
 */
bool seccomp_sets_strict(int64_t nr, const uint64_t args[3]);
/* Does call `nr` with these arguments install a filter? */
bool seccomp_sets_filter(int64_t nr, const uint64_t args[3]);
/* Called at the entry of a call under ptrace: notes whether its result must be changed; enforces strict mode. */
void seccomp_mask_enter(const struct patch *p, struct task *task);
/* Called at the end of the call, before its result is read: changes the result if necessary. */
void seccomp_mask_exit(struct task *task);

/*
 * Arming by Syscall User Dispatch (Documentation/admin-guide/syscall-user-dispatch.rst), which a tracer can turn on in
 * a thread since Linux 6.4.
 */

#define SUD_PRCTL  59 /* PR_SET_SYSCALL_USER_DISPATCH (linux/prctl.h, Linux 5.11) */
#define SUD_SIGSYS 2  /* si_code SYS_USER_DISPATCH (asm-generic/siginfo.h) */

/*
 * Turns dispatch on or off in a stopped thread. `selector` is the address of a byte in the thread's memory; while this
 * byte is 0, dispatch has no effect. `selector` is 0 if there is no such byte. Returns 0 or -errno.
 */
int sud_arm(pid_t tid, bool on, uint64_t selector);
/* Is dispatch on in a stopped thread? If sctrace has not armed it, the program uses dispatch itself. */
bool sud_is_on(pid_t tid);
#define SUD_IS_ITS_OWN "it uses Syscall User Dispatch itself" /* why an image falls back */
/* Does this kernel support dispatch that a tracer sets? Returns 0, or -errno with the reason in `why`. */
int sud_probe(struct buf *why);

/*
 * The watchdog: a small process that outlives sctrace and then turns Syscall User Dispatch off in attached processes. The
 * agent's handler of SIGSYS does the same, but it cannot run in a thread that blocks SIGSYS: the next call of such a thread
 * would end the process.
 *
 * A thread of sctrace, the sentinel, only waits. When sctrace dies, it ends much earlier than the main thread, and the
 * watchdog notices that (watchdog.c).
 */

/* Starts the watchdog and sets p->watchdog_fd. Returns 0 or -errno. */
int watchdog_start(struct patch *p);
/*
 * Gives the watchdog the memory of region `r`, whose descriptor is `fd`. When sctrace dies, the watchdog clears the
 * selector byte in that memory, so that dispatch is off, and the byte that allows the agent to record calls. Does nothing
 * if there is no watchdog.
 */
void watchdog_watch(const struct patch *p, const struct region *r, int fd);
/* Tells the watchdog that no process uses the memory of region `r` any more. The watchdog then unmaps it. */
void watchdog_forget(const struct patch *p, const struct region *r);

#endif
