/* Figures that follow from a subject's samples, in the file for other programs (jq, pandas); not read back. */
#ifndef SCTRACE_RUN_DERIVED_H
#define SCTRACE_RUN_DERIVED_H

#include "run/run.h"

#include <jansson.h>

/* Adds them to the subject's object. run_judge() was called. */
void derived_add(const struct run *r, const struct run_subject *s, json_t *o);

#endif
