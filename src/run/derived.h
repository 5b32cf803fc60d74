/* Figures that follow from a subject's samples. They are written for other programs (jq, pandas) and not read back. */
#ifndef SCTRACE_RUN_DERIVED_H
#define SCTRACE_RUN_DERIVED_H

#include "run/run.h"

#include <jansson.h>

/* Adds them to the subject's object, after run_judge(). */
void derived_add(const struct run *r, const struct run_subject *s, json_t *o);

#endif
