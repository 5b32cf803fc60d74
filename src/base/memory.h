/* SPDX-License-Identifier: MIT */
/*
 * Memory that is never missing: if an allocation fails, sctrace ends. The functions below therefore never return NULL,
 * and no caller handles a lack of memory. Free the memory with free(3).
 */
#ifndef SCTRACE_BASE_MEMORY_H
#define SCTRACE_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Ends sctrace with a message and EXIT_OWN, as suddenly as SIGKILL would. A program that the patch engine runs is then
 * killed; other traced programs continue (sctrace.1, CAVEATS). Call this function if a library reports that it has no
 * memory.
 */
_Noreturn void memory_exhausted(void);
/*
 * From now on, memory_exhausted() calls `fn` before it ends this process (not in a child that was forked later).
 * `fn` must not need memory. NULL cancels this. There is one such function at a time.
 */
void memory_on_exhaustion(void (*fn)(void *ctx), void *ctx);

/* Like malloc(3). */
void *memory_get(size_t size);
/* Like calloc(3). */
void *memory_zeroed(size_t n, size_t size);
/* Like realloc(3). `size` must not be 0. */
void *memory_resize(void *p, size_t size);
/* Like strdup(3). */
char *memory_copy(const char *s);
/* Like strndup(3). */
char *memory_copy_part(const char *s, size_t len);
/* Declares a pointer whose memory is freed at the end of its block: `auto_free char *copy = memory_copy(s);`. */
#define auto_free __attribute__((cleanup(memory_free_at)))
static inline void memory_free_at(void *pointer)
{
	free(*(void **)pointer);
}
/* Opens `path` for reading like fopen(3). Returns NULL with errno if that fails for another reason than memory. */
FILE *memory_fopen(const char *path);

/* Growable arrays of one type: `struct { T *v; size_t n, cap; } xs = {0};` and vec_push(&xs, x). */

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
