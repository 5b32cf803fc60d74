/*
 * Where a program has bytes that no thread can ever execute: the padding between functions. Pure but for reading `mem`.
 *
 * The proof is the unwind table: every function that compilers and glibc's assembly emit has a frame description entry
 * (LSB Core, "Exception Frames"); what lies between the end of one and the begin of the next and consists of nothing
 * but fill bytes belongs to no function.
 */
#ifndef SCTRACE_ENGINE_PATCH_CODE_PADDING_H
#define SCTRACE_ENGINE_PATCH_CODE_PADDING_H

#include "tracee/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gap {
	uint64_t lo, hi;
};

/*
 * The gaps between functions that begin in [lo, hi) of the ELF object loaded at `base`, at most `max` of them,
 * ascending. Returns how many, or -ENOEXEC where the object has no unwind table in the usual form (table of sdata4,
 * datarel).
 */
int padding_gaps(const struct mem *m, uint64_t base, uint64_t lo, uint64_t hi, struct gap *gaps, int max);

/* The function that `addr` lies in, by the same table: [*lo, *hi). 0, or -ENOEXEC where it cannot be told. */
int padding_function(const struct mem *m, uint64_t base, uint64_t addr, uint64_t *lo, uint64_t *hi);

/*
 * For objects without an unwind table (Go's): runs of five or more int3 in the `n` bytes at `lo`, which no program runs
 * through on purpose. Returns how many gaps.
 */
int padding_traps(const unsigned char *bytes, size_t n, uint64_t lo, struct gap *gaps, int max);

/* Are these `n` bytes fill: a run of no-ops as assemblers write them (Intel SDM 2B, NOP), or of int3? */
bool padding_is_fill(const unsigned char *p, size_t n);

/* A way of jumps from the end of a two-byte jump to five free bytes: each hop two bytes, the last place five. */
#define PADDING_HOPS 4
struct padding_way {
	int n;
	uint64_t at[PADDING_HOPS + 1]; /* at[n - 1] is where the five bytes are */
};

/* Of more gaps than these the rest is not looked at. */
#define PADDING_GAPS 64

/*
 * Finds the shortest way from `from` (the address after the first short jump) through free bytes of `gaps`. Free bytes
 * are taken off the gaps' front. False where there is none.
 */
bool padding_find_way(uint64_t from, struct gap *gaps, int n, struct padding_way *way);

#endif
