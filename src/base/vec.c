#include "base/vec.h"

#include "base/memory.h"

void vec_reserve(void **v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return;
	*cap = *cap ? *cap * 2 : 8;
	*v = memory_resize(*v, *cap * size);
}
