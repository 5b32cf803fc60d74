/* Parses the head of an .eh_frame_hdr section, whose table leads to a program's unwind information. */
#ifndef SCTRACE_STACK_EH_FRAME_H
#define SCTRACE_STACK_EH_FRAME_H

#include <stddef.h>
#include <stdint.h>

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
