/* Wrappers of jansson functions that behave correctly when memory runs out. */
#ifndef SCTRACE_BASE_JSON_H
#define SCTRACE_BASE_JSON_H

#include <jansson.h>
#include <stdio.h>

/*
 * Like json_loadf(3), but also correct if memory runs out: json_loadf(3) then frees memory twice. On failure, returns
 * NULL and fills in *error.
 */
json_t *json_read(FILE *f, size_t flags, json_error_t *error);

/*
 * When memory runs out, jansson silently omits values. After a call of this function, each allocation of jansson that
 * fails is recorded (base/memory.h).
 */
void json_note_failures(void);

#endif
