/* Unmaps what the engine has mapped in an attached process. */
#ifndef SCTRACE_ENGINE_PATCH_REMOTE_UNMAP_H
#define SCTRACE_ENGINE_PATCH_REMOTE_UNMAP_H

#include "engine/patch/state.h"

struct area {
	uint64_t addr, size;
};

struct areas {
	struct area *v;
	size_t n, cap;
};

/*
 * Makes a stopped task unmap `n` areas. The code for this is written to unused bytes of the program's own code, because
 * the agent's code may be in one of the areas. Returns false if this code could not be written, or if the task has ended.
 * The results of the calls of munmap(2) are not checked.
 */
bool unmap_areas(struct patch *p, struct task *task, const struct area *v, size_t n);

#endif
