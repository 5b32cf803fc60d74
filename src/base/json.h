/* Wrappers of jansson that handle running out of memory. */
#ifndef SCTRACE_BASE_JSON_H
#define SCTRACE_BASE_JSON_H

#include <jansson.h>
#include <stdio.h>

/*
 * Like json_loadf(3), but safe if memory runs out, where json_loadf(3) frees memory twice. On failure, returns NULL and
 * fills in *error.
 */
json_t *json_read(FILE *f, size_t flags, json_error_t *error);

/* jansson silently omits values for which it has no memory. After this call such failures are noted (base/memory.h). */
void json_note_failures(void);

#endif
