/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/image.h"

#include "base/memory.h"
#include "engine/patch/image/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit on the number of programs, because a process can execute files with any number of different names. */
#define PROGRAMS_MAX 4096

struct usage {
	char program[PROC_NAME];
	bool known;   /* an image with counters has ended, so `calls` is valid */
	bool threads; /* the program starts threads */
	uint64_t calls[AGENT_CALLS / 64 +
		       1]; /* bit set of the numbers of calls that the program makes, as far as known */
};

struct usage *usage_find(struct patch *p, const char *program)
{
	const uint64_t key = map_key(program);
	struct usage *u = map_get(&p->usages, key);
	if (u)
		return strncmp(u->program, program, PROC_NAME) == 0 ? u : NULL;
	if (!program[0] || p->usages.n == PROGRAMS_MAX)
		return NULL;
	u = memory_zeroed(1, sizeof(*u));
	snprintf(u->program, sizeof(u->program), "%s", program);
	map_put(&p->usages, key, u);
	return u;
}

void usage_free_all(struct patch *p)
{
	map_free_all(&p->usages);
}

static uint64_t entered(const struct region *r, unsigned slot)
{
	return __atomic_load_n(&region_slot(r, slot)->entered, __ATOMIC_RELAXED);
}

void usage_begin(struct image *img)
{
	const struct region *r = img->counters.region;
	if (!img->start.usage || img->start.usage->known)
		return;
	img->entered.n = 0;
	for (unsigned i = 0; r->slots && i < r->used; i++)
		vec_push(&img->entered, entered(r, i));
}

void usage_end(struct image *img)
{
	const struct region *r = img->counters.region;
	struct usage *u = img->start.usage;
	if (!img->entered.n || !r || !r->slots || img->state != IMAGE_READY)
		return;
	for (unsigned i = 0; i < r->used; i++) {
		uint64_t before = i < img->entered.n ? img->entered.v[i] : 0;
		if (entered(r, i) != before || img->counters.map[r->call_of[i]] & SLOT_F_PLAIN)
			usage_add(u, r->call_of[i]);
	}
	u->known = true;
}

bool usage_includes(const struct usage *u, int nr)
{
	return !u || !u->known || u->threads || nr < 0 || u->calls[nr / 64] >> (nr % 64) & 1;
}

void usage_add(struct usage *u, int nr)
{
	if (u && nr >= 0)
		u->calls[nr / 64] |= 1ull << (nr % 64);
}

void usage_note_threads(struct usage *u)
{
	if (u)
		u->threads = true;
}
