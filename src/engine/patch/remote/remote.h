/*
 * Reading and writing the program's memory, and running code in it. To run code, the task must be in a signal-delivery-stop or an
 * event-stop, not in a syscall-stop.
 */
#ifndef SCTRACE_ENGINE_PATCH_REMOTE_REMOTE_H
#define SCTRACE_ENGINE_PATCH_REMOTE_REMOTE_H

#include "engine/patch/state.h"

/* Reads memory, whatever its protection: all `n` bytes and 0, or -EFAULT. */
int remote_read(pid_t tid, uint64_t addr, void *buf, size_t n);
/* Writes memory, whatever its protection: all `n` bytes and 0, or -EFAULT. */
int remote_write(pid_t tid, uint64_t addr, const void *buf, size_t n);
/*
 * Opens the memory as a file, which stays open until remote_release(). The descriptor, which the caller does not close, or
 * -errno.
 */
int remote_open(pid_t tid);
/* Closes that file. To be called before the task can get another address space. */
void remote_release(void);
/* Writes by a descriptor of remote_open(); if that fails, or `fd` is negative, by ptrace(2), which needs a stopped thread. */
int remote_write_by(int fd, pid_t tid, uint64_t addr, const void *buf, size_t n);

/*
 * Waits for the next stop of a task that was just resumed. 0; -ESRCH if the task has ended (its status is kept for the stop
 * loop); -EFAULT if it did not stop in time and was interrupted where it is.
 */
int remote_next_stop(struct tracer *t, struct task *task, int *status);

/* Do these registers belong to an interrupted call, which the kernel will restart or end with EINTR? */
bool remote_restart_pending(const struct user_regs_struct *r);

/*
 * Runs code from r->rip to the next int3 with registers `r`; signals are blocked meanwhile. `known_mask` is the task's signal mask,
 * or NULL if it is not known. Afterwards `r` holds the registers at
 * the int3, and the caller sets those that the task is to have. 0; -ESRCH if the task died (its end is still waited for); -EFAULT
 * if it did not reach the int3 and is stopped elsewhere.
 */
int remote_run(struct tracer *t, struct task *task, struct user_regs_struct *r, const uint64_t *known_mask);
/*
 * Makes one call through the agent. Afterwards the task is in a syscall-exit-stop with its registers as they were. Not to be used
 * while a call of its own is to be restarted. The result, or -errno; -EFAULT also if the call did not come back.
 */
int64_t remote_call(struct tracer *t, struct task *task, uint64_t nr, const uint64_t args[6]);

/*
 * An excursion: running code in an attached process so that the thread finds its way back by itself (agent.S, `back`) even if
 * sctrace is refused a request, or dies, at any moment.
 */
struct excursion {
	uint64_t start;  /* address of the code */
	uint64_t halt;   /* after a call in it where the thread is to be stopped, or 0 */
	uint64_t masked; /* after its last call, which restores the signal mask */
	uint64_t back;   /* address of its struct agent_back */
	/* Set by remote_excursion(): */
	struct user_regs_struct saved;
	uint64_t mask;
};
/*
 * Sends the thread with registers `r` to `start`. 1 at `halt`, 0 at the last call, with the registers there in `r`; or an error
 * as of remote_run().
 */
int remote_excursion(struct tracer *t, struct task *task, struct excursion *d, struct user_regs_struct *r);
/* Sends it on, from `halt` to the last call; 0, or an error as of remote_run(). */
int remote_excursion_on(struct tracer *t, struct task *task, struct excursion *d, struct user_regs_struct *r);
/*
 * Brings it back from the last call to where it was, in an event-stop; 0, or an error as of remote_run(). The code must not be
 * changed before this.
 */
int remote_excursion_end(struct tracer *t, struct task *task, const struct excursion *d);
/*
 * Makes one call in a copy of agent_call at `at`, with registers `r`; its result is in r->rbx. 0, or an error as of remote_run().
 */
int remote_excursion_call(struct tracer *t, struct task *task, uint64_t at, struct user_regs_struct *r);

#endif
