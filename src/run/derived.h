/*
 * Figures computed from a subject's samples. They are saved only for other programs (jq, pandas): sctrace does not read
 * them.
 */
#ifndef SCTRACE_RUN_DERIVED_H
#define SCTRACE_RUN_DERIVED_H

#include "run/run.h"

#include <jansson.h>

/* Adds the figures of `s` to its JSON object `o`. Call run_judge() first. */
void derived_add(const struct run *r, const struct run_subject *s, json_t *o);

#endif
