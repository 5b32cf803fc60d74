#include "base/vec.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>

bool vec_reserve(void **v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return true;
	size_t want = *cap ? *cap * 2 : 8;
	if (want > SIZE_MAX / size)
		return false;
	void *p = realloc(*v, want * size);
	if (!p) {
		memory_note_failure();
		return false;
	}
	*v = p;
	*cap = want;
	return true;
}
