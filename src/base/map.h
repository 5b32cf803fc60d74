/* SPDX-License-Identifier: MIT */
/* A hash map from 64-bit keys (task ids, addresses) to pointers. It is used for look-ups that happen at each event. */
#ifndef SCTRACE_BASE_MAP_H
#define SCTRACE_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL if the slot is empty */
};

/* A zeroed struct is an empty map. The values belong to the caller: map_free() frees only the table. */
struct map {
	struct map_slot *slots;
	size_t n, cap;
};

/* Returns the FNV-1a hash of `text`. Different texts may have the same key: callers must compare the texts. */
uint64_t map_key(const char *text);
void map_free(struct map *m);
/* Does the same, and frees the values by free(3). */
void map_free_all(struct map *m);
/* Returns the value of `key`, or NULL. */
void *map_get(const struct map *m, uint64_t key);
/* Sets the value of `key`, and replaces an earlier value. `value` must not be NULL. */
void map_put(struct map *m, uint64_t key, void *value);
/* Removes `key` and returns its value, or NULL. */
void *map_remove(struct map *m, uint64_t key);
/*
 * Iterates over all entries. Set *i = 0 before the first call. Returns the next value, and its key in *key unless `key`
 * is NULL; returns NULL after the last entry. The map must not change during the iteration.
 */
void *map_next(const struct map *m, size_t *i, uint64_t *key);

#endif
