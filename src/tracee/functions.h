/* SPDX-License-Identifier: MIT */
/*
 * Functions of ELF objects in the program's memory, as unwind tables show them (LSB Core, "Exception Frames"). Every function that
 * compilers and glibc's assembly emit has a frame description entry. Nothing in this memory is trusted.
 */
#ifndef SCTRACE_TRACEE_FUNCTIONS_H
#define SCTRACE_TRACEE_FUNCTIONS_H

#include "tracee/mem.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#define FUNCTIONS_SEGMENTS 64 /* no more program headers are read */

/* The binary search table of an object's .eh_frame_hdr. */
struct unwind_table {
	const struct mem *m;
	uint64_t hdr;   /* address of .eh_frame_hdr; the table's entries are relative to it */
	uint64_t first; /* address of entry 0: two int32, location and frame description */
	uint32_t n;
};

/* Reads the header of the 64-bit ELF object at `base`. Returns false if there is none. */
bool functions_head(const struct mem *m, uint64_t base, Elf64_Ehdr *eh);
/* Reads program header number `i`. */
bool functions_segment(const struct mem *m, uint64_t base, const Elf64_Ehdr *eh, unsigned i, Elf64_Phdr *ph);
/* Opens the table of the object at `base`. Returns 0, or -ENOEXEC if it has none in the usual form (sdata4, datarel). */
int functions_open(struct unwind_table *u, const struct mem *m, uint64_t base);
/* Reads entry `i`: the address of a function, and that of its frame description. Returns 0 or -EFAULT. */
int functions_entry(const struct unwind_table *u, uint32_t i, uint64_t *loc, uint64_t *fde);
/* Sets *end to the end of the function at `loc`, which the frame description at `fde` gives. Returns 0 or -EFAULT. */
int functions_end(const struct unwind_table *u, uint64_t loc, uint64_t fde, uint64_t *end);
/* Returns the number of the first entry whose location is above `addr`, or -EFAULT. */
int64_t functions_above(const struct unwind_table *u, uint64_t addr);
/* Sets [*lo, *hi) to the function that contains `addr`. Returns 0, or -ENOEXEC if the table does not show it. */
int functions_find(const struct mem *m, uint64_t base, uint64_t addr, uint64_t *lo, uint64_t *hi);

#endif
