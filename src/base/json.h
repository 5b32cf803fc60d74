/* jansson where memory may run out. */
#ifndef SCTRACE_BASE_JSON_H
#define SCTRACE_BASE_JSON_H

#include <jansson.h>
#include <stdio.h>

/* json_loadf(3), which without memory frees what it never had. NULL and *error, also where memory ran out. */
json_t *json_read(FILE *f, size_t flags, json_error_t *error);

/* What jansson has no memory for is left out of what it makes: from now on that is noted (base/memory.h). */
void json_note_failures(void);

#endif
