/* SPDX-License-Identifier: MIT */
/*
 * Padding: the bytes between functions, which no thread ever executes. The functions declared here change no memory of
 * the program; those that read it do so through struct mem.
 *
 * The unwind table proves that no thread executes the padding. Every function that compilers and glibc's assembly emit
 * has a frame description entry (LSB Core, "Exception Frames"). If all bytes between the end of one function and the
 * beginning of the next are fill, these bytes belong to no function.
 */
#ifndef SCTRACE_ENGINE_PATCH_X86_64_PADDING_H
#define SCTRACE_ENGINE_PATCH_X86_64_PADDING_H

#include "tracee/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gap {
	uint64_t lo, hi; /* addresses; `hi` is the first one after the gap */
};

/*
 * Finds the gaps between functions of the ELF object loaded at `base`. Returns the number of gaps that begin in [lo,
 * hi), at most `max`, in ascending order. Returns -ENOEXEC if the object has no unwind table in the usual form (sdata4,
 * datarel).
 */
int padding_gaps(const struct mem *m, uint64_t base, uint64_t lo, uint64_t hi, struct gap *gaps, int max);

/*
 * Is the ELF object loaded at `base` a program of Go that contains no code of C? A program with code of C has an interpreter,
 * or the linker of C has linked it, and then it has a segment for thread-local storage.
 */
bool padding_is_of_go(const struct mem *m, uint64_t base);

/*
 * For functions that no unwind table describes (those of Go): finds runs of five or more int3 after `from`, which is the
 * address of an instruction. No program executes such runs on purpose. The `n` bytes at `lo` hold the program's own
 * code, without the engine's jumps. Constants can contain the same bytes (0xcccccccccccccccd is used to divide by 10),
 * so the code is disassembled from `from` on, and a run counts only if a multiple of 16 follows it, where a function
 * can begin. Returns the number of gaps.
 */
int padding_traps(const unsigned char *bytes, size_t n, uint64_t lo, uint64_t from, struct gap *gaps, int max);

/* Are these `n` bytes fill: a run of no-ops as assemblers write them (Intel SDM 2B, NOP), or of int3? */
bool padding_is_fill(const unsigned char *p, size_t n);
/* Do these `n` bytes begin with at least `least` bytes of fill? */
bool padding_begins(const unsigned char *p, size_t n, size_t least);

/* The longest way: a short jump leads to up to PADDING_HOPS hops of two bytes, and the last one to five free bytes. */
#define PADDING_HOPS 4
struct padding_way {
	int n;
	uint64_t at[PADDING_HOPS + 1]; /* at[n - 1] is the address of the five bytes */
};

/* The largest number of gaps that are considered. */
#define PADDING_GAPS 64

/*
 * Finds the shortest way from `from`, the address after the first short jump, through free bytes of `gaps`. Removes the
 * bytes that the way uses from the beginning of their gaps. Returns false if there is no way.
 */
bool padding_find_way(uint64_t from, struct gap *gaps, int n, struct padding_way *way);

#endif
