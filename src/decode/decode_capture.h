/* SPDX-License-Identifier: MIT */
/*
 * Captures: copies of the memory that decoders read. This is the form of syscall/capture.h that runs outside the program.
 * Decoders find in the captures of a call all that they would find in the program's memory.
 */
#ifndef SCTRACE_DECODE_DECODE_CAPTURE_H
#define SCTRACE_DECODE_DECODE_CAPTURE_H

#include "event.h"
#include "syscall/captured.h"
#include "tracee/mem.h"

#include <stdbool.h>
#include <stddef.h>

/* Where captures go: `bytes` contains struct captured, each followed by its bytes, from offset `head` to offset `at`. */
struct capture_room {
	unsigned char *bytes;
	size_t head, at, most;
};

/* A call whose memory is captured from outside. */
struct capture_source {
	const struct memory_tables *tables;
	const uint64_t *args;
	const struct mem *live;
	uint64_t string_max;
	int64_t result;
	bool made; /* the call was made, with this result; otherwise only its input is captured */
};
/* Adds the memory of arguments according to these `n` rules. All of the memory is untrusted. */
void decode_capture_rules(struct capture_room *room, const struct capture_source *from,
			  const struct memory_rule_of *rules, unsigned n);

/* Captures calls. Initialise with decode_captures_init(); free with decode_captures_free(). */
struct decode_captures {
	struct memory_tables tables;
	struct capture_room room;
	uint64_t string_max;
};
/*
 * At most `string_max` bytes of each buffer are captured, and `most` bytes in all. All arguments and variables of
 * execve(2) are captured.
 */
void decode_captures_init(struct decode_captures *c, uint64_t string_max, size_t most);
void decode_captures_free(struct decode_captures *c);
/* Removes all captures. */
void decode_captures_clear(struct decode_captures *c);
/* Adds captures, and a capture of `n` bytes, to those that are there. */
void decode_captures_add_list(struct decode_captures *c, const struct captured_list *list);
void decode_captures_add(struct decode_captures *c, uint64_t addr, const void *bytes, size_t n, bool before);
/* Returns all captures. They are valid until others are added. */
struct captured_list decode_captures_list(const struct decode_captures *c);
/* Adds the memory that the kernel reads, at the entry of the call. Its captures have `before` set. */
void decode_capture_enter(struct decode_captures *c, const struct call *call, const struct mem *mem);
/*
 * Adds the memory that the kernel has written, when the call has returned. The captures of its entry must have been added
 * before.
 */
void decode_capture_exit(struct decode_captures *c, const struct call *call, const struct mem *mem);

#endif
