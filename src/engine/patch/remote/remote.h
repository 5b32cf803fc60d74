/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the program's memory, and runs code in it. To run code, the task must be in a signal-delivery-stop
 * or an event-stop, not in a syscall-stop.
 */
#ifndef SCTRACE_ENGINE_PATCH_REMOTE_REMOTE_H
#define SCTRACE_ENGINE_PATCH_REMOTE_REMOTE_H

#include "engine/patch/state.h"

/* Reads `n` bytes of memory that the program itself can read. Returns 0, or -EFAULT unless all could be read. */
int remote_read(pid_t tid, uint64_t addr, void *buf, size_t n);
/* Writes `n` bytes of memory, whatever its protection. Returns 0, or -EFAULT unless all could be written. */
int remote_write(pid_t tid, uint64_t addr, const void *buf, size_t n);
/*
 * Opens /proc/TID/mem. Returns a descriptor or -errno. The caller must not close the descriptor. It is valid until the next
 * call of remote_open() or remote_write() for another task, or until one of the functions below closes it. Files stay
 * open, so that the next write needs no open(2).
 */
int remote_open(pid_t tid);
/*
 * Must be called when this task has ended, or has called execve(2): its file still refers to the old memory. Closes the
 * file. Also closes files of ids that no task has any more: if the caller of execve(2) was not the first thread of its
 * process, its id has changed (ptrace(2), "execve(2) under ptrace").
 */
void remote_release(const struct tracer *t, pid_t tid);
/* Closes all files of remote_open(). */
void remote_release_all(void);
/* Writes with a descriptor of remote_open(), or else with ptrace(2) to a stopped thread. Returns 0 or -EFAULT. */
int remote_write_by(int fd, pid_t tid, uint64_t addr, const void *buf, size_t n);

/*
 * Waits for the next stop of a task that was just resumed. Returns 0; -ESRCH if the task has ended (its status is kept
 * for the stop loop); or -EFAULT if it did not stop in time, and was interrupted at its present position.
 */
int remote_next_stop(struct tracer *t, struct task *task, int *status);

/*
 * Interrupts a running task and waits for its next stop or its end. Returns 1 with the status, 0 if the task has ended
 * without one, -ETIMEDOUT if it has not stopped after `limit_ns` or tracing was given up, or another -errno.
 */
int remote_interrupt(struct tracer *t, const struct task *task, uint64_t limit_ns, int *status);

/* Do these registers belong to an interrupted call that the kernel will restart, or end with EINTR? */
bool remote_restart_pending(const struct cpu_regs *r);

/*
 * Runs code from r->CPU_IP to the next trap with registers `r`. Signals are blocked while the code runs. `known_mask` is
 * the task's signal mask, or NULL if it is not known. Afterwards `r` holds the registers at the trap, and the caller
 * sets the registers with which the task continues. Returns 0; -ESRCH if the task died (the stop loop still waits for
 * its end); or -EFAULT if it did not reach the trap and is stopped elsewhere.
 */
int remote_run(struct tracer *t, struct task *task, struct cpu_regs *r, const uint64_t *known_mask);
/* Sets the registers of a thread that has not begun the call `nr` yet; its instruction pointer stays. */
void remote_set_call(struct cpu_regs *r, uint64_t nr, const uint64_t args[6]);
/*
 * Makes one call with code of the agent, as remote_run() runs code: the call is followed by a trap, because only a
 * signal-delivery-stop can deliver a signal. `r` holds the task's registers; the caller restores them. Sets r->CPU_RESULT to
 * the result of the call. Returns 0, or an error as remote_run() does.
 */
int remote_call_to_trap(struct tracer *t, struct task *task, struct cpu_regs *r, uint64_t nr, const uint64_t args[6]);
/*
 * Makes one call with code of the agent. Afterwards the task is in a syscall-exit-stop with its old registers. Must not
 * be used while a call of the task is to be restarted. Returns the result of the call, or -errno. -EFAULT also means
 * that the call did not return.
 */
int64_t remote_call(struct tracer *t, struct task *task, uint64_t nr, const uint64_t args[6]);

/*
 * For an attached thread in an event-stop or at the entry of a call, if CPU_RESTARTS_EARLY is set. Only the kernel knows whether
 * the call at which the thread has stopped continues an interrupted call with a time limit (restart_syscall(2)), and it forgets that
 * when the thread is moved. This function finds it out, and sets the number of the call accordingly. Afterwards the thread is in
 * an event-stop before the call. Returns 0, or -errno if the thread has stopped differently.
 */
int remote_settle(struct tracer *t, struct task *task);

/*
 * An excursion: an attached thread runs code of the engine, and this code itself restores the thread's state at its end
 * (agent.S, `back`). So the thread continues correctly even if the kernel refuses a request of sctrace, or if sctrace
 * dies, at any moment.
 */
struct excursion {
	uint64_t start;  /* address of the code */
	uint64_t halt;   /* an address after a call, at which the thread must stop; 0: none */
	uint64_t masked; /* the address after the code's last call; this call restores the signal mask */
	uint64_t back;   /* address of the code's struct agent_back */
	/* The members below are set by remote_excursion(). */
	struct cpu_regs saved;
	uint64_t mask;
};
/*
 * Sends the thread to `start` with registers `r`. Returns 1 if the thread has stopped at `halt`, or 0 if it has stopped
 * at the last call, with its registers in `r`. Returns an error as remote_run() does.
 */
int remote_excursion(struct tracer *t, struct task *task, struct excursion *d, struct cpu_regs *r);
/* Resumes the thread from `halt` to the last call. Returns 0, or an error as remote_run() does. */
int remote_excursion_on(struct tracer *t, struct task *task, struct excursion *d, struct cpu_regs *r);
/*
 * Resumes the thread from the last call, so that it returns to its position before the excursion and stops there in an
 * event-stop. Returns 0, or an error as remote_run() does. The code must not be changed before this call.
 */
int remote_excursion_end(struct tracer *t, struct task *task, const struct excursion *d);
/* Makes one call by a copy of agent_call at `at`. Sets r->CPU_MADE to its result. Returns as remote_run() does. */
int remote_excursion_call(struct tracer *t, struct task *task, uint64_t at, struct cpu_regs *r, uint64_t nr,
			  const uint64_t args[6]);

/* Finds out what is mapped in the traced program, and where there is room (proc_pid_maps(5); maps.c). */

/* One mapping of executable memory. */
struct mapping {
	uint64_t lo, hi;
	uint64_t dev, ino;
	uint64_t file_offset;
	uint64_t base;  /* address at which the beginning of the file is mapped, or 0 */
	bool patchable; /* executable, private and not writable mapping of a file, or the vDSO (which has no inode) */
};

/* Returns the size of this kernel's pages, which is at most CPU_PAGE_MOST. */
uint64_t maps_page(void);
/* Reads the executable mappings of the process into its image. If it has ended, there are none afterwards. */
void maps_read(const struct task *task);
/* Returns the mapping that contains `addr`, or NULL. */
const struct mapping *maps_find(const struct image *img, uint64_t addr);
/* Returns when a mapped file was last changed (st_ctime), in ns since 1970, or 0 if that is unknown. */
int64_t maps_changed(pid_t pid, const struct mapping *m);
/* Returns the address of a free range of `size` bytes, a multiple of CPU_PAGE_MOST, within 2 GiB of `near`, or 0. */
uint64_t maps_gap(pid_t pid, uint64_t near, size_t size);
/* Returns the address of `n` unused bytes at the end of the last page of a file's code, or 0 if there are none. */
uint64_t maps_room(pid_t pid, size_t n);

/* Unmaps what the engine has mapped in an attached process (maps.c). */

struct area {
	uint64_t addr, size;
};

struct areas {
	struct area *v;
	size_t n, cap;
};

/*
 * Makes a stopped task unmap `n` areas. The code for this is written to unused bytes of the program's own code, because
 * the agent's code may be in one of the areas. Returns false if this code could not be written, or if the task has ended.
 * The results of the calls of munmap(2) are not checked.
 */
bool maps_unmap(struct patch *p, struct task *task, const struct area *v, size_t n);

#endif
