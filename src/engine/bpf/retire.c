/* If counts are split, reuses the rows of ended processes or threads, so that there is always a free row. */
#include "engine/bpf/loader.h"

#include "engine/bpf/skeleton.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/* This many processes must have ended before rows are reused, so that looking at all slots is worthwhile. */
enum { ENOUGH = 32 };

/* Clears a row's histogram and frees its chunks. */
static void free_hist(struct bpf_engine *b, unsigned int slot)
{
	int fd = bpf_map__fd(b->skel->maps.free_chunks);
	struct row_hist *h = &b->hists[slot];
	for (unsigned int i = 0; i < CHUNKS_PER_ROW; i++) {
		unsigned int chunk = h->chunk[i];
		if (!chunk)
			continue;
		memset(&b->chunks[(size_t)chunk * b->shards], 0, b->shards * sizeof(*b->chunks));
		if (chunk < b->chunks_seen.n)
			b->chunks_seen.v[chunk] = (struct hist_chunk){0};
		h->chunk[i] = 0;
		bpf_map_update_elem(fd, NULL, &chunk, BPF_ANY);
	}
}

static void free_row(struct bpf_engine *b, unsigned int slot)
{
	const struct sctrace_bpf *k = b->skel;
	bpf_map_delete_elem(bpf_map__fd(k->maps.rows), &b->rows.v[slot].key);
	bpf_map_delete_elem(bpf_map__fd(k->maps.comms), &b->rows.v[slot].key.id);
	memset(b->per_cpu, 0, b->cpus * sizeof(*b->per_cpu));
	bpf_map_update_elem(bpf_map__fd(k->maps.slots), &slot, b->per_cpu, BPF_ANY);
	free_hist(b, slot);
	b->rows.v[slot] = (struct row_seen){0};
	__atomic_store_n(&b->tags[slot].used, 0, __ATOMIC_RELEASE);
	bpf_map_update_elem(bpf_map__fd(k->maps.free_slots), NULL, &slot, BPF_ANY);
}

static bool has_ended(const struct bpf_engine *b, unsigned int slot)
{
	const struct row_seen *row = slot < b->rows.n ? &b->rows.v[slot] : NULL;
	return row && row->used && map_get(&b->ended, row->key.id);
}

/* Deletes the error counts of the freed rows. b->retired already contains them. */
static void free_errnos(struct bpf_engine *b)
{
	int fd = bpf_map__fd(b->skel->maps.errnos);
	for (size_t i = 0; i < b->errnos.n; i++)
		if (has_ended(b, b->errnos.v[i].key.slot)) {
			bpf_map_delete_elem(fd, &b->errnos.v[i].key);
			b->errnos.v[i--] = b->errnos.v[--b->errnos.n];
		}
}

int bpf_retire(struct bpf_engine *b)
{
	int r = 0;
	if (b->ended.n < ENOUGH || __atomic_load_n(&b->skel->bss->next_slot, __ATOMIC_RELAXED) <= b->max_slots / 2)
		return 0;
	bpf_find_rows(b);
	for (unsigned int slot = 1; r == 0 && slot < b->rows.n; slot++)
		if (has_ended(b, slot))
			r = bpf_collect_row(b, slot, &b->retired);
	if (r < 0)
		return r;
	bpf_collect_errnos(b, &b->retired);
	free_errnos(b);
	for (unsigned int slot = 1; slot < b->rows.n; slot++)
		if (has_ended(b, slot))
			free_row(b, slot);
	map_free(&b->ended);
	return 0;
}
