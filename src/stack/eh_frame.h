/* The table by which a program's frames are found: the head of an .eh_frame_hdr section. */
#ifndef SCTRACE_STACK_EH_FRAME_H
#define SCTRACE_STACK_EH_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* Where a module's unwind table lies in the process. */
struct eh_frame {
	uint64_t header; /* of .eh_frame_hdr */
	uint64_t table;  /* its binary search table */
	uint64_t count;  /* entries of 8 bytes */
};

/*
 * Reads the head of an .eh_frame_hdr section (Linux Standard Base, "Eh Frame Header"; DWARF exception header encodings)
 * that lies at `addr`: 0 and *t, or -ENOTSUP for an encoding that linkers do not write. Pure.
 */
int eh_frame_parse(const uint8_t *head, size_t n, uint64_t addr, struct eh_frame *t);

#endif
