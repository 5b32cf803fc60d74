/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include "base/memory.h"

#include <stdlib.h>

/* The slot where the search begins. Fibonacci hashing (Knuth, TAOCP 3, 6.4): the top bits of key * 2^64 / phi. */
static size_t home(const struct map *m, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> (64 - __builtin_ctzll(m->cap)));
}

uint64_t map_key(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

void map_free_all(struct map *m)
{
	void *value;
	for (size_t i = 0; (value = map_next(m, &i, NULL));)
		free(value);
	map_free(m);
}

/* Returns the slot of `key`, or the empty slot in which it must be stored. There is always an empty slot. */
static struct map_slot *find(const struct map *m, uint64_t key)
{
	size_t i = home(m, key);
	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->cap ? find(m, key)->value : NULL;
}

static void grow(struct map *m)
{
	struct map big = {.cap = m->cap ? m->cap * 2 : 16, .n = m->n};
	big.slots = memory_zeroed(big.cap, sizeof(*big.slots));
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].value)
			*find(&big, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = big;
}

void map_put(struct map *m, uint64_t key, void *value)
{
	if (m->n + 1 > m->cap / 2)
		grow(m);
	struct map_slot *s = find(m, key);
	m->n += !s->value;
	*s = (struct map_slot){key, value};
}

/*
 * Empties the slot `hole`. A search stops at the first empty slot. Therefore each later entry that a search would no
 * longer find is moved into the hole, and its old slot becomes the hole (TAOCP 3, 6.4, algorithm R).
 */
static void close_hole(struct map *m, size_t hole)
{
	size_t mask = m->cap - 1;
	for (size_t i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		size_t h = home(m, m->slots[i].key);
		if (((i - h) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole] = (struct map_slot){0};
}

void *map_remove(struct map *m, uint64_t key)
{
	if (!m->cap)
		return NULL;
	struct map_slot *s = find(m, key);
	void *value = s->value;
	if (value) {
		m->n--;
		close_hole(m, (size_t)(s - m->slots));
	}
	return value;
}

void *map_next(const struct map *m, size_t *i, uint64_t *key)
{
	for (; *i < m->cap; (*i)++) {
		struct map_slot *s = &m->slots[*i];
		if (!s->value)
			continue;
		if (key)
			*key = s->key;
		(*i)++;
		return s->value;
	}
	return NULL;
}
