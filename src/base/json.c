#include "base/json.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdlib.h>

/* A global variable, because jansson passes no context pointer to its allocator functions. */
static jmp_buf way_out;

static void *allocate(size_t n)
{
	void *p = malloc(n);
	if (!p)
		longjmp(way_out, 1);
	return p;
}

/*
 * If an allocation fails in json_loadf(), libjansson 2.14 frees memory twice or dereferences NULL. Therefore allocate()
 * never returns NULL, but leaves json_loadf() by longjmp(3). The memory that json_loadf() had allocated leaks.
 */
json_t *json_read(FILE *f, size_t flags, json_error_t *error)
{
	json_malloc_t usual;
	json_free_t usual_free;
	json_t *volatile doc = NULL;
	json_get_alloc_funcs(&usual, &usual_free);
	if (setjmp(way_out) == 0) {
		json_set_alloc_funcs(allocate, free);
		doc = json_loadf(f, flags, error);
	} else
		*error = (json_error_t){.line = -1, .column = -1, .text = "memory ran out"};
	json_set_alloc_funcs(usual, usual_free);
	return doc;
}

static void *allocate_or_note(size_t n)
{
	void *p = malloc(n);
	if (!p)
		memory_note_failure();
	return p;
}

void json_note_failures(void)
{
	json_set_alloc_funcs(allocate_or_note, free);
}
