/* What an event's decoders read of a program's memory, kept; and memory that consists of what was kept. */
#ifndef SCTRACE_RECORDING_CAPTURES_H
#define SCTRACE_RECORDING_CAPTURES_H

#include "base/buf.h"
#include "base/vec.h"
#include "tracee/mem.h"

#include <stdint.h>

struct capture {
	uint64_t addr;
	size_t at; /* of its bytes in `bytes` */
	uint32_t len;
};

/* Zero-initialised is empty. */
struct captures {
	VEC(struct capture) list;
	struct buf bytes;
	const struct mem *under; /* the memory whose reads are kept, or NULL */
};

void captures_free(struct captures *c);
/* Forgets all captures, and keeps what is read of `under` from now on. */
void captures_begin(struct captures *c, const struct mem *under);
/* Appends a capture. Where memory runs out, it is missing, and memory_ran_out() says so. */
void captures_add(struct captures *c, uint64_t addr, const void *bytes, size_t n);
/* Memory that reads `under` and keeps what it read. */
struct mem captures_keeping(struct captures *c);
/* Memory that consists of the captures: what was not captured cannot be read (-EFAULT). */
struct mem captures_memory(struct captures *c);

#endif
