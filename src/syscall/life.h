/*
 * The life cycle of a call. A call enters and then returns, unless its thread ends first. If a signal interrupts it,
 * the kernel restarts it, or it returns EINTR, or the program leaves it by longjmp(3). The caller passes the calls of a
 * thread in order to this state machine, which reports how each call ended. The state machine is pure.
 */
#ifndef SCTRACE_SYSCALL_LIFE_H
#define SCTRACE_SYSCALL_LIFE_H

#include "base/vec.h"
#include "event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each entry of a call has exactly one of these ends. */
enum call_end {
	CALL_RETURNED,   /* the program has its result */
	CALL_RESTARTED,  /* it was interrupted, and enters again as the same call */
	CALL_UNFINISHED, /* it will never return */
};

/* An entry that has ended. */
struct life_end {
	enum call_end end;
	struct call call;
	uint64_t ns;       /* CALL_RETURNED: time in the kernel, summed over all entries of the call */
	bool begun_unseen; /* it was reported by life_interrupt_unseen() */
	void *tag;         /* the value of call_life.tag at its first entry */
};

/*
 * The number of interrupted calls that are remembered for each thread. If nested handlers exceed it, the oldest call
 * counts as unfinished.
 */
#define LIFE_DEPTH 16

/* The ends that one step produced. If the order matters, the oldest comes first. */
struct life_ends {
	size_t n;
	struct life_end v[LIFE_DEPTH + 2];
};

/* A call that a signal interrupted, and whose end is not yet known. */
struct life_interrupted {
	struct call call;
	uint64_t ns;       /* time in the kernel so far */
	bool restarting;   /* the next entry is its restart, unless something else happens first */
	bool begun_unseen; /* the caller did not see its entry */
	void *tag;
};

/* The calls of one thread. A struct of zeros means that no call was made. Free with life_free(). */
struct call_life {
	uint64_t carried_ns; /* time that the call in progress spent in the kernel before its restart */
	void *tag;           /* the caller's value for the call in progress; its restart inherits it */
	VEC(struct life_interrupted) interrupted; /* the last one is the newest */
};

void life_free(struct call_life *l);

/* The call that was interrupted last, or NULL. A caller that moves the thread may correct its ip. */
struct call *life_interrupted(const struct call_life *l);

/*
 * A call enters; `c` has arch, nr, args, ip and sp. If it restarts the interrupted call of the same place, sets
 * c->restart, sets nr and args to those of the first entry (because restart_syscall(2) has others), and adds
 * CALL_RESTARTED to `out`.
 */
void life_enter(struct call_life *l, struct call *c, struct life_ends *out);
/*
 * The call in progress returns `ns` nanoseconds after this entry; `c` has result, error and err. Adds CALL_RETURNED to
 * `out`, or nothing if the call was interrupted. rt_sigreturn(2) has no error: its result register belongs to the
 * interrupted program.
 */
void life_exit(struct call_life *l, struct call *c, uint64_t ns, struct life_ends *out);
/*
 * Like life_exit() with an ERESTART error, for a call whose entry was not passed to life_enter().
 */
void life_interrupt_unseen(struct call_life *l, const struct call *c, uint64_t ns, struct life_ends *out);

/* True if `c`, the call in progress, is an rt_sigreturn(2) for which the caller must call life_return_to(). */
bool life_wants_frame(const struct call_life *l, const struct call *c);
/* The state that rt_sigreturn(2) restores. */
struct life_frame {
	uint64_t ip;     /* where the program continues */
	int64_t result;  /* value of its result register */
	uint64_t length; /* length in bytes of the instruction that makes a call */
};
/*
 * The call in progress is rt_sigreturn(2). If it returns to an interrupted call, the frame shows whether that call is
 * restarted or returned EINTR, and calls that were interrupted later are unfinished.
 */
void life_return_to(struct call_life *l, const struct life_frame *f, struct life_ends *out);
/* The call that the next entry restarts, unless something else happens first; NULL if there is none. */
const struct life_interrupted *life_restarting(const struct call_life *l);
/*
 * For a caller that cannot read signal frames: a call other than the restart was made, so the interrupted calls
 * returned EINTR.
 */
void life_moved_on(struct call_life *l, struct life_ends *out);
/*
 * The thread has ended or runs another program. `c`, the call in progress (or NULL), and all interrupted calls are
 * unfinished.
 */
void life_vanish(struct call_life *l, const struct call *c, struct life_ends *out);

#endif
