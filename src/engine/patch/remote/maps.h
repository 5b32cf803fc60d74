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

/*
 * Reads the executable mappings of the task's process into the mappings of its image. The image has no mappings
 * afterwards if the process has ended.
 */
void maps_read(const struct task *task);
/* Returns the mapping that contains `addr`, or NULL. */
const struct mapping *maps_find(const struct image *img, uint64_t addr);
/*
 * Returns the time of the last change of a mapped file (st_ctime), in nanoseconds since 1970. Returns 0 if it is not
 * known, for example because the file was removed.
 */
int64_t maps_changed(pid_t pid, const struct mapping *m);
/* Returns the address of a free range of `size` bytes within 2 GiB of `near`, or 0. */
uint64_t maps_gap(pid_t pid, uint64_t near, size_t size);
/* Returns the address of `n` unused bytes at the end of the last page of a file's code, or 0 if there are none. */
uint64_t maps_room(pid_t pid, size_t n);

#endif
