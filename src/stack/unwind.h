/* SPDX-License-Identifier: MIT */
/* Walks the stack of a stopped thread with libunwind. The unwind tables are read from the memory of the process. */
#ifndef SCTRACE_STACK_UNWIND_H
#define SCTRACE_STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct mem;
struct unwind; /* what is known about a process until it calls execve(2) */

/*
 * Called for each frame, the innermost first. If `exact`, `ip` is the address of the instruction itself (in the
 * innermost frame, or if a signal interrupted it); otherwise it is the address after a call instruction. Return false
 * to end the walk.
 */
typedef bool (*unwind_fn)(void *ctx, uint64_t ip, bool exact);

/* Loads libunwind. It must have succeeded before any other function is called. Returns 0, or -ENOSYS and the reason. */
int unwind_load(struct buf *why);
/* Reads /proc/PID/maps, and the ELF headers in `mem`. Returns NULL if there is no such process. */
struct unwind *unwind_open(pid_t pid, const struct mem *mem);
void unwind_close(struct unwind *u); /* `u` may be NULL */
/* Has some code no .eh_frame_hdr (static programs, Go), or another word size? Then symbol_walk() is needed. */
bool unwind_is_blind(const struct unwind *u);
/* Walks the stack, in `mem`, of a thread in a ptrace-stop. Returns the number of calls of `fn`, or -errno. */
int unwind_walk(struct unwind *u, pid_t tid, const struct mem *mem, unwind_fn fn, void *ctx);

/* Returns a hash of the executable mappings of files in `pid`, which changes with them; 0 if they cannot be read. */
uint64_t unwind_fingerprint(pid_t pid);

/* Parses the head of an .eh_frame_hdr section, whose table leads to a program's unwind information. */

/* Where the unwind table of a module is in the memory of the process. */
struct eh_frame {
	uint64_t header; /* address of .eh_frame_hdr */
	uint64_t table;  /* address of its binary search table */
	uint64_t count;  /* number of entries in that table, each of 8 bytes */
};

/*
 * Parses the first `n` bytes, at `head`, of an .eh_frame_hdr section whose address is `addr` (Linux Standard Base, "Eh
 * Frame Header"; DWARF exception header encodings). Returns 0 and fills in *t, or -ENOTSUP for an encoding that linkers
 * do not write.
 */
int eh_frame_parse(const uint8_t *head, size_t n, uint64_t addr, struct eh_frame *t);

#endif
