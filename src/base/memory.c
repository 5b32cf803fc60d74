#include "base/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Global like errno: one flag for the whole process. */
static atomic_bool ran_out;

void memory_note_failure(void)
{
	ran_out = true;
}

void *memory_zeroed(size_t size)
{
	void *p = calloc(1, size);
	if (!p)
		memory_note_failure();
	return p;
}

FILE *memory_fopen(const char *path)
{
	FILE *f = fopen(path, "re");
	if (!f && errno == ENOMEM)
		memory_note_failure();
	return f;
}

bool memory_ran_out(void)
{
	return ran_out;
}
