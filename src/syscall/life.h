/*
 * The life cycle of a call. A call enters and returns, or its thread ends before. If a signal interrupts it, the kernel makes it
 * again, or it gives EINTR, or the program leaves it by longjmp(3). Whoever sees the calls of a thread, in their order,
 * tells them to this state machine, which tells how each call ended. It reads nothing but its arguments.
 */
#ifndef SCTRACE_SYSCALL_LIFE_H
#define SCTRACE_SYSCALL_LIFE_H

#include "base/vec.h"
#include "event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each entry of a call comes to exactly one of these ends. */
enum call_end {
	CALL_RETURNED,   /* the program has its result */
	CALL_RESTARTED,  /* it was interrupted, and enters again as the same call */
	CALL_UNFINISHED, /* it never returns */
};

/* An entry that came to its end. */
struct life_end {
	enum call_end end;
	struct call call;
	uint64_t ns;       /* CALL_RETURNED: time in the kernel, over all entries of the call */
	bool begun_unseen; /* it was told by life_interrupt_unseen() */
	void *tag;         /* call_life.tag at its first entry */
};

/*
 * So many interrupted calls of a thread are remembered. If a handler within a handler exceeds it, the oldest counts as
 * unfinished.
 */
#define LIFE_DEPTH 16

/* The ends that one step brought, oldest first where order matters. */
struct life_ends {
	size_t n;
	struct life_end v[LIFE_DEPTH + 2];
};

/* A call that a signal interrupted, and whose end is not known yet. */
struct life_interrupted {
	struct call call;
	uint64_t ns;       /* in the kernel so far */
	bool restarting;   /* if nothing else comes, the next entry is its restart */
	bool begun_unseen; /* the caller did not see it begin, and will not see its restart */
	void *tag;
};

/* The calls of one thread. Zero-initialised, no call was made; free with life_free(). */
struct call_life {
	uint64_t carried_ns; /* time that the call in progress spent in the kernel before its restart */
	void *tag;           /* the caller's, of the call in progress; its restart has it, too */
	VEC(struct life_interrupted) interrupted; /* the last one is the newest */
};

void life_free(struct call_life *l);

/* The call that was interrupted last, or NULL. A caller that moves the thread may correct its ip. */
struct call *life_interrupted(const struct call_life *l);

/*
 * A call enters (arch, nr, args, ip, sp of `c`). Sets c->restart if it continues the interrupted call of the same place; then nr
 * and args are those of the first entry, because restart_syscall(2) has others, and out has CALL_RESTARTED.
 */
void life_enter(struct call_life *l, struct call *c, struct life_ends *out);
/*
 * The call in progress comes back (result, error, err of `c`) after `ns` since this entry. out has CALL_RETURNED, or nothing if
 * it was interrupted. rt_sigreturn(2) has no error: the register is the interrupted program's.
 */
void life_exit(struct call_life *l, struct call *c, uint64_t ns, struct life_ends *out);
/* As life_exit() with one of the ERESTART errors, of a call that was not told by life_enter(); nor will its restart be. */
void life_interrupt_unseen(struct call_life *l, const struct call *c, uint64_t ns, struct life_ends *out);

/* Is `c`, the call in progress, an rt_sigreturn(2) whose frame is to be told by life_return_to()? */
bool life_wants_frame(const struct call_life *l, const struct call *c);
/* What rt_sigreturn(2) goes back to. */
struct life_frame {
	uint64_t ip;     /* where the program goes on */
	int64_t result;  /* in its result register */
	uint64_t length; /* of the instruction that makes a call, in bytes */
};
/*
 * The call in progress is rt_sigreturn(2). If it goes back to an interrupted call, the frame tells whether that is made again or
 * gave EINTR, and calls that were interrupted later are unfinished. `restarts_unseen`: its restart will not be told.
 */
void life_return_to(struct call_life *l, const struct life_frame *f, bool restarts_unseen, struct life_ends *out);
/* If the next entry continues the call that was interrupted last: that entry will not be told. */
void life_restarts_unseen(struct call_life *l, struct life_ends *out);
/* For a caller that cannot read frames: another call than the restart came, so the interrupted ones gave EINTR. */
void life_moved_on(struct call_life *l, struct life_ends *out);
/* The thread is gone, or runs another program: `c`, the call in progress or NULL, and what was interrupted are unfinished. */
void life_vanish(struct call_life *l, const struct call *c, struct life_ends *out);

#endif
