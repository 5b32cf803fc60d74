/* Walks a stopped thread's stack with libunwind, using the unwind tables in the memory of its program and libraries. */
#ifndef SCTRACE_STACK_UNWIND_H
#define SCTRACE_STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unwind; /* what is known of one process image */

/*
 * Called for each frame, innermost first. `exact`: `ip` is the instruction itself (innermost frame, or interrupted by a
 * signal), not the one after a call. Returning false ends the walk.
 */
typedef bool (*unwind_fn)(void *ctx, uint64_t ip, bool exact);

/* Reads /proc/PID/maps and the ELF headers in memory. Returns NULL if there is no memory or no such process. */
struct unwind *unwind_open(pid_t pid);
void unwind_close(struct unwind *u); /* accepts NULL */
/*
 * True if part of the code has no .eh_frame_hdr table (static programs, Go), or has another word size. A walk would end
 * there, so use symbol_walk().
 */
bool unwind_is_blind(const struct unwind *u);
/* Walks thread `tid`, which is in a ptrace stop. Returns the number of frames passed to `fn`, or -errno. */
int unwind_walk(struct unwind *u, pid_t tid, unwind_fn fn, void *ctx);

/* A number that changes with the executable file mappings of `pid`; 0 if they cannot be read. */
uint64_t unwind_fingerprint(pid_t pid);

#endif
