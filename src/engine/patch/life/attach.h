/* Puts the agent into running processes. */
#ifndef SCTRACE_ENGINE_PATCH_LIFE_ATTACH_H
#define SCTRACE_ENGINE_PATCH_LIFE_ATTACH_H

#include "engine/patch/state.h"

/* Stops all tasks of the attached processes, puts the agent into these processes, and resumes the tasks. */
void attach_all(struct patch *p);

#endif
