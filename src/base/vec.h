/* Growable arrays of one type: `struct { T *v; size_t n, cap; } xs = {0};` and vec_push(&xs, x). */
#ifndef SCTRACE_BASE_VEC_H
#define SCTRACE_BASE_VEC_H

#include <stddef.h>

/* Declares a variable or member that is an array of elements of type `T`. If zeroed, the array is empty. */
#define VEC(T)                                                                                                         \
	struct {                                                                                                       \
		T *v;                                                                                                  \
		size_t n, cap;                                                                                         \
	}

/* Ensures that the array has memory for one more element of `size` bytes. Call it only through vec_push(). */
void vec_reserve(void **v, size_t n, size_t *cap, size_t size);

/* Appends an element. */
#define vec_push(a, ...)                                                                                               \
	(vec_reserve((void **)&(a)->v, (a)->n, &(a)->cap, sizeof(*(a)->v)), (a)->v[(a)->n++] = (__VA_ARGS__), (void)0)
/* Frees the memory. The array is empty afterwards. */
#define vec_free(a) (free((a)->v), (a)->v = NULL, (a)->n = (a)->cap = 0, (void)0)

#endif
