/* Walking a stopped thread's stack by libunwind, from the tables that its program and libraries carry in memory. */
#ifndef SCTRACE_STACK_UNWIND_H
#define SCTRACE_STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unwind; /* what is known of one process image */

/*
 * Called for each frame, innermost first; `exact`: `ip` is the very instruction (the innermost frame, or one that a
 * signal interrupted), not the one after a call. false ends the walk.
 */
typedef bool (*unwind_fn)(void *ctx, uint64_t ip, bool exact);

/* Reads what /proc/PID/maps and the ELF headers in memory tell. NULL: no memory, or no such process. */
struct unwind *unwind_open(pid_t pid);
void unwind_close(struct unwind *u); /* NULL is fine */
/*
 * Is there code in it that has no .eh_frame_hdr table (programs linked statically, Go's), or is it of another word size?
 * Then a walk would end there, and symbol_walk() goes on.
 */
bool unwind_is_blind(const struct unwind *u);
/* Walks thread `tid`, in a ptrace stop: how many frames were told, or -errno. */
int unwind_walk(struct unwind *u, pid_t tid, unwind_fn fn, void *ctx);

/* A number that changes when the executable mappings of files in `pid` do; 0 where they cannot be read. */
uint64_t unwind_fingerprint(pid_t pid);

#endif
