/* SPDX-License-Identifier: MIT */
/* Finds out what is mapped in the traced program, and where there is room (proc_pid_maps(5)). */
#ifndef SCTRACE_ENGINE_PATCH_REMOTE_MAPS_H
#define SCTRACE_ENGINE_PATCH_REMOTE_MAPS_H

#include "engine/patch/state.h"

/* One mapping of executable memory. */
struct mapping {
	uint64_t lo, hi;
	uint64_t dev, ino;
	uint64_t file_offset;
	uint64_t base;  /* address at which the beginning of the file is mapped, or 0 */
	bool patchable; /* executable, private and not writable mapping of a file */
};

/* Reads the executable mappings of the process into its image. If it has ended, there are none afterwards. */
void maps_read(const struct task *task);
/* Returns the mapping that contains `addr`, or NULL. */
const struct mapping *maps_find(const struct image *img, uint64_t addr);
/* Returns when a mapped file was last changed (st_ctime), in ns since 1970, or 0 if that is unknown. */
int64_t maps_changed(pid_t pid, const struct mapping *m);
/* Returns the address of a free range of `size` bytes within 2 GiB of `near`, or 0. */
uint64_t maps_gap(pid_t pid, uint64_t near, size_t size);
/* Returns the address of `n` unused bytes at the end of the last page of a file's code, or 0 if there are none. */
uint64_t maps_room(pid_t pid, size_t n);

/* Unmaps what the engine has mapped in an attached process. */

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
bool maps_unmap(struct patch *p, struct task *task, const struct area *v, size_t n);

#endif
