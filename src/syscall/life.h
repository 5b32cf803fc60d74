/* SPDX-License-Identifier: MIT */
/*
 * The life cycle of a call. A call enters and then returns, unless its thread ends first. If a signal interrupts a
 * call, there are three possibilities: the kernel restarts it, or it returns EINTR, or the program leaves it by
 * longjmp(3). The caller passes the calls of a thread, in order, to this state machine. The state machine reports how
 * each call ended. It has no side effects.
 */
#ifndef SCTRACE_SYSCALL_LIFE_H
#define SCTRACE_SYSCALL_LIFE_H

#include "base/memory.h"
#include "event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each entry of a call ends in exactly one of these ways. */
enum call_end {
	CALL_RETURNED,   /* the program has received the result */
	CALL_RESTARTED,  /* a signal interrupted the call, and its restart enters as the same call */
	CALL_UNFINISHED, /* the call will never return */
};

/* The end of one entry of a call. */
struct life_end {
	enum call_end end;
	struct call call;
	uint64_t ns; /* CALL_RETURNED: time in the kernel, summed over all entries of the call */
	void *tag;   /* the value of call_life.tag at the call's first entry */
};

/*
 * The number of interrupted calls that are remembered for each thread. If nested handlers exceed it, the oldest call
 * counts as unfinished.
 */
#define LIFE_DEPTH 16

/* The ends that one step produced, oldest first if the order matters. */
struct life_ends {
	size_t n;
	struct life_end v[LIFE_DEPTH + 2];
};

/* A call that a signal interrupted, and whose end is not yet known. */
struct life_interrupted {
	struct call call;
	uint64_t ns;       /* time in the kernel so far */
	bool restarting;   /* the next entry is the restart of this call, unless a signal handler runs first */
	bool begun_unseen; /* the caller did not see its entry */
	void *tag;
};

/* The calls of one thread. A struct of zeros means that no call was made. Free with life_free(). */
struct call_life {
	uint64_t carried_ns;         /* time that the call in progress spent in the kernel before its restart */
	enum call_wait carried_wait; /* whether it waited before its restart */
	void *tag;                   /* the caller's value for the call in progress; its restart inherits it */
	VEC(struct life_interrupted) interrupted; /* interrupted calls, oldest first */
};

void life_free(struct call_life *l);

/*
 * Returns the call that was interrupted last, or NULL. A caller that changes the thread's instruction pointer may
 * correct `ip` in the result.
 */
struct call *life_interrupted(const struct call_life *l);

/*
 * Must be called when a call enters; `c` has arch, nr, args, ip and sp. If `c` restarts the interrupted call of the
 * same call site, sets c->restart, and adds CALL_RESTARTED to `out`. Also copies nr and args from the first entry,
 * because restart_syscall(2) has another number and other arguments.
 */
void life_enter(struct call_life *l, struct call *c, struct life_ends *out);
/*
 * Must be called when the call in progress returns, `ns` nanoseconds after this entry; `c` has result, error and err.
 * Adds CALL_RETURNED to `out`, or nothing if the call was interrupted. Clears the error of rt_sigreturn(2), because its
 * result register belongs to the interrupted program.
 */
void life_exit(struct call_life *l, struct call *c, uint64_t ns, struct life_ends *out);
/*
 * Like life_exit() with an ERESTART error, for a call whose entry was not passed to life_enter().
 */
void life_interrupt_unseen(struct call_life *l, const struct call *c, uint64_t ns, struct life_ends *out);

/* True if `c`, the call in progress, is an rt_sigreturn(2) for which the caller must call life_return_to(). */
bool life_wants_frame(const struct call_life *l, const struct call *c);
/* The registers that rt_sigreturn(2) restores. */
struct life_frame {
	uint64_t ip;     /* the address where the program continues */
	int64_t result;  /* the value of the program's result register */
	uint64_t length; /* length in bytes of the instruction that makes a call */
};
/*
 * Must be called if the call in progress is an rt_sigreturn(2) and life_wants_frame() is true. If the signal handler
 * returns to an interrupted call, `f` shows whether that call is restarted or has returned EINTR. Calls that were
 * interrupted later than that call are unfinished.
 */
void life_return_to(struct call_life *l, const struct life_frame *f, struct life_ends *out);
/* Returns the call that the next entry restarts, unless a signal handler runs first. Returns NULL if there is none. */
const struct life_interrupted *life_restarting(const struct call_life *l);
/*
 * For callers that cannot read signal frames. Must be called when a call other than a restart enters: the interrupted
 * calls are taken to have returned EINTR.
 */
void life_moved_on(struct call_life *l, struct life_ends *out);
/*
 * Must be called if the thread has ended or runs another program. The call in progress (`c`, or NULL) and all
 * interrupted calls are unfinished.
 */
void life_vanish(struct call_life *l, const struct call *c, struct life_ends *out);

#endif
