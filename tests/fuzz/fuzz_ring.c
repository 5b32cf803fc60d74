/* SPDX-License-Identifier: MIT */
/*
 * Reads a ring with arbitrary contents. The reader must terminate, must not read out of bounds, and must find captures
 * only in the records that contain them.
 */
#include "fuzz.h"

#include "engine/patch/record/reader.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_ring *ring = calloc(1, RING_HEAD + LIMIT + RECORD_MOST);
	struct record_reader r = {.ring = ring, .limit = LIMIT, .end = LIMIT + RECORD_MOST};
	/* Each step takes the ring's positions, which a program can change, from the input. */
	for (size_t at = 0; ring && size > 16 && at + 16 < size; at += size / 4 + 1) {
		uint16_t more;
		memcpy(&more, data + at, sizeof(more));
		ring->produced += more;
		memcpy(&ring->open, data + at + 2, 2);
		memcpy(&ring->next, data + at + 4, 2);
		size_t n = size - 16 < LIMIT + RECORD_MOST ? size - 16 : LIMIT + RECORD_MOST;
		memcpy((unsigned char *)ring + RING_HEAD, data + 16, n);
		(void)reader_fill(&r);
		for (int i = 0; i < 1000; i++) {
			struct record_item it = reader_peek(&r);
			char bytes[64];
			if (it.kind == RECORD_NONE)
				break;
			uint64_t addr = it.record->head == RECORD_HEAD_MOST ? it.record->args[1] : it.record->t0;
			const struct captured_list list = record_captures(it.record);
			(void)captured_read(&(struct captured_memory){&list, false, 0}, addr, bytes, sizeof(bytes));
			reader_pop(&r);
		}
	}
	reader_free(&r);
	free(ring);
	return 0;
}
