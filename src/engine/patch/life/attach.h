/* Puts the agent into running processes. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_ATTACH_H
#define SCTRACE_ENGINE_PATCH_LIFE_ATTACH_H

#include "engine/patch/state.h"

/* Stops all tasks that the tracer has seized, puts the agent into their processes, and resumes them. */
void attach_all(struct patch *p);

#endif
