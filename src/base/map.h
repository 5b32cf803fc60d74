/* A hash map from 64-bit keys (task ids, addresses) to pointers; constant time, so no list is walked per event. */
#ifndef SCTRACE_BASE_MAP_H
#define SCTRACE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: empty; removed entries are closed up, so there are no tombstones */
};

/* Zero-initialised is empty. Values are the caller's; map_free() frees the table alone. */
struct map {
	struct map_slot *slots;
	size_t n, cap;
};

void map_free(struct map *m);
/* The value at `key`, or NULL. */
void *map_get(const struct map *m, uint64_t key);
/* Sets `key` to `value` (not NULL), replacing what was there; 0 or -ENOMEM, which is noted (base/memory.h). */
int map_put(struct map *m, uint64_t key, void *value);
/* Takes `key` out and returns what it held, or NULL. */
void *map_remove(struct map *m, uint64_t key);
/* Walks all entries: start with *i = 0; returns the next value and its key, or NULL at the end. Do not change
 * meanwhile. */
void *map_next(const struct map *m, size_t *i, uint64_t *key);

#endif
