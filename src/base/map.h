/*
 * A hash map from 64-bit keys (task ids, addresses) to pointers. Look-ups take constant time, so that no list is walked
 * for each event.
 */
#ifndef SCTRACE_BASE_MAP_H
#define SCTRACE_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: empty; removal closes the gap, so there are no tombstones */
};

/* A map of zeros is empty. The caller owns the values; map_free() frees only the table. */
struct map {
	struct map_slot *slots;
	size_t n, cap;
};

/* A key for `text`: its FNV-1a hash. Texts may share a key, so compare what is found. */
uint64_t map_key(const char *text);
void map_free(struct map *m);
/* The value at `key`, or NULL. */
void *map_get(const struct map *m, uint64_t key);
/*
 * Sets `key` to `value`, which must not be NULL, and replaces an earlier value. Returns 0, or -ENOMEM, which it notes
 * (base/memory.h).
 */
int map_put(struct map *m, uint64_t key, void *value);
/* Removes `key` and returns its value, or NULL. */
void *map_remove(struct map *m, uint64_t key);
/*
 * Walks through all entries: start with *i = 0. Returns the next value and its key, or NULL at the end. The map must
 * not change during the walk.
 */
void *map_next(const struct map *m, size_t *i, uint64_t *key);

#endif
