/* SPDX-License-Identifier: MIT */
#include "engine/bpf/loader.h"
#include "engine/bpf/skeleton.h"
#include "engine/costs.h"
#include "stats/hist.h"
#include "stats/summary.h"
#include "syscall/call_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/audit.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Converts the kernel half's maps to rows of a summary. Each reading adds what was counted since the last one. */
static void add_cpu(struct row_counts *sum, const struct row_counts *c, unsigned long long epoch)
{
	sum->entered += c->entered;
	sum->returned += c->returned;
	sum->errors += c->errors;
	sum->restarted += c->restarted;
	sum->ns += c->ns;
	sum->restarted_ns += c->restarted_ns;
	sum->squares += c->squares;
	sum->big_squares += c->big_squares;
	sum->sum += c->sum;
	sum->waits += c->waits;
	sum->waited_ns += c->waited_ns;
	sum->last_ns = c->last_ns > sum->last_ns ? c->last_ns : sum->last_ns;
	if (c->epoch != epoch)
		return;
	if (sum->epoch != epoch || c->min_ns < sum->min_ns)
		sum->min_ns = c->min_ns;
	if (sum->epoch != epoch || c->max_ns > sum->max_ns)
		sum->max_ns = c->max_ns;
	sum->epoch = epoch;
}

/* Sums one row over all CPUs, with its smallest and greatest time of this epoch, or 0. Returns 0 or -errno. */
static int bpf_read_row(struct bpf_engine *b, unsigned int slot, struct row_counts *sum)
{
	*sum = (struct row_counts){0};
	if (bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.slots), &slot, b->per_cpu) < 0)
		return -errno;
	for (unsigned int i = 0; i < b->cpus; i++)
		add_cpu(sum, &b->per_cpu[i], b->skel->bss->epoch);
	return 0;
}

/* Returns the slot of a row, or 0 if there is none. */
static unsigned int bpf_find_row(const struct bpf_engine *b, const struct row_key *key)
{
	unsigned int slot = 0;
	return bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.rows), key, &slot) < 0 ? 0 : slot;
}

/* Reads the tags of rows that are new since the previous call. */
static void bpf_find_rows(struct bpf_engine *b)
{
	unsigned int end = __atomic_load_n(&b->skel->bss->next_slot, __ATOMIC_ACQUIRE);
	end = end < b->max_slots ? end : b->max_slots;
	while (b->rows.n < end)
		vec_push(&b->rows, (struct row_seen){0});
	for (unsigned int slot = 1; slot < end; slot++)
		if (!b->rows.v[slot].used && __atomic_load_n(&b->tags[slot].used, __ATOMIC_ACQUIRE))
			b->rows.v[slot] = (struct row_seen){.key = b->tags[slot].key, .used = true};
}

static uint32_t row_arch(const struct row_key *key)
{
	uint32_t native = syscall_native_arch();
	if (!key->compat)
		return native;
	return native == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM;
}

static struct summary_group *row_group(const struct bpf_engine *b, const struct row_key *key, struct summary *s)
{
	struct row_owner o = {.comm = ""};
	if (b->skel->rodata->split == SPLIT_NONE)
		return summary_group(s, "", -1);
	bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.owners), &key->id, &o);
	return summary_group(s, o.comm, key->id);
}

static void extend(struct summary_group *g, uint64_t first_ns, uint64_t last_ns)
{
	g->first_ns = g->first_ns && g->first_ns < first_ns ? g->first_ns : first_ns;
	g->last_ns = g->last_ns > last_ns ? g->last_ns : last_ns;
}

/* Adds when each thread began and ended, and the time of the calls that did not return, once. */
static void collect_lives(struct bpf_engine *b, struct summary *s)
{
	const int fd = bpf_map__fd(b->skel->maps.owners);
	unsigned int id, *at = NULL;
	for (; bpf_map_get_next_key(fd, at, &id) == 0; at = &id) {
		struct row_owner o;
		if (id == ROW_ID_SELF || bpf_map_lookup_elem(fd, &id, &o) < 0)
			continue;
		struct summary_group *g = summary_group(s, o.comm, id);
		extend(g, o.first_ns, o.end_ns);
		g->unfinished_ns += (double)o.unfinished_ns;
		if (!o.unfinished_ns)
			continue;
		o.unfinished_ns = 0; /* the thread has ended, so the kernel half no longer writes to the entry */
		bpf_map_update_elem(fd, &id, &o, BPF_EXIST);
	}
}

/* Adds what was counted in a chunk since the last reading, over its shards, without the cost of counting. */
static void collect_chunk(struct bpf_engine *b, struct hist *h, unsigned int chunk, unsigned int first_bucket)
{
	while (b->chunks_seen.n <= chunk)
		vec_push(&b->chunks_seen, (struct hist_chunk){0});
	for (unsigned int i = 0; i < CHUNK_SIZE; i++) {
		uint64_t n = 0;
		for (unsigned int k = 0; k < b->shards; k++)
			n += __atomic_load_n(&b->chunks[chunk * b->shards + k].count[i], __ATOMIC_RELAXED);
		uint64_t low = hist_bucket_low(first_bucket + i);
		double middle = (double)low + (double)(hist_bucket_low(first_bucket + i + 1) - low - 1) / 2;
		double own = middle - b->cost.ns;
		hist_add(h, own > 0 ? (uint64_t)own : 0, n - b->chunks_seen.v[chunk].count[i]);
		b->chunks_seen.v[chunk].count[i] = n;
	}
}

/* Adds to `h` the times, without the cost of counting, that a slot has counted since they were last read. */
static void bpf_collect_hist(struct bpf_engine *b, struct hist *h, unsigned int slot)
{
	for (unsigned int i = 0; i < CHUNKS_PER_ROW; i++) {
		unsigned int chunk = __atomic_load_n(&b->hists[slot].chunk[i], __ATOMIC_ACQUIRE);
		if (chunk)
			collect_chunk(b, h, chunk, i * CHUNK_SIZE);
	}
}

static double own_ns(const struct bpf_engine *b, double ns)
{
	return ns > b->cost.ns ? ns - b->cost.ns : 0;
}

/* Adds the difference between two readings of a row to `c`. */
static void add_counts(const struct bpf_engine *b, struct call_stats *c, const struct row_counts *now,
		       const struct row_counts *was)
{
	uint64_t returned = now->returned - was->returned;
	uint64_t restarted = now->restarted - was->restarted;
	double ns = (double)(now->ns - was->ns);
	double squares = (double)(now->squares - was->squares) +
			 (double)(now->big_squares - was->big_squares) * (1 << SQUARE_SHIFT) * (1 << SQUARE_SHIFT);
	double n = (double)returned;
	double cost = b->cost.ns;
	if (returned && now->epoch && (!c->returned || own_ns(b, (double)now->min_ns) < c->min_ns))
		c->min_ns = own_ns(b, (double)now->min_ns);
	if (returned && now->epoch && (!c->returned || own_ns(b, (double)now->max_ns) > c->max_ns))
		c->max_ns = own_ns(b, (double)now->max_ns);
	c->entered += now->entered - was->entered;
	c->returned += returned;
	c->restarted += restarted;
	c->errors += now->errors - was->errors;
	c->judged += returned;
	c->waits += now->waits - was->waits;
	/* The earlier entries of a restarted call were interrupted while they waited. */
	c->waited_ns += (double)(now->waited_ns - was->waited_ns) + (double)(now->restarted_ns - was->restarted_ns);
	c->ns += ns + (double)(now->restarted_ns - was->restarted_ns);
	call_stats_charge(c, (double)(returned + restarted), cost, b->cost.spread_ns);
	c->ns_squared += squares - 2 * cost * ns + n * cost * cost; /* sum of (x - cost)^2 */
	if (syscall_returns_bytes(c->arch, c->nr))
		c->bytes += now->sum - was->sum;
}

/* Adds to `s` what one row has counted since it was last read. */
static int bpf_collect_row(struct bpf_engine *b, unsigned int slot, struct summary *s)
{
	struct row_seen *row = &b->rows.v[slot];
	struct row_counts now;
	int r = bpf_read_row(b, slot, &now);
	if (r < 0)
		return r;
	if (now.entered == row->counts.entered && now.returned == row->counts.returned &&
	    now.restarted == row->counts.restarted)
		return 0;
	struct summary_group *g = row_group(b, &row->key, s);
	struct call_stats *c = summary_call(s, g, row_arch(&row->key), row->key.nr);
	add_counts(b, c, &now, &row->counts);
	if (b->skel->rodata->split == SPLIT_THREAD)
		extend(g, now.last_ns, now.last_ns);
	row->counts = now;
	bpf_collect_hist(b, &c->hist, slot);
	return 0;
}

static uint64_t *errno_seen(struct bpf_engine *b, const struct row_errno *key)
{
	for (size_t i = 0; i < b->errnos.n; i++)
		if (b->errnos.v[i].key.slot == key->slot && b->errnos.v[i].key.err == key->err)
			return &b->errnos.v[i].count;
	vec_push(&b->errnos, (struct errno_seen){.key = *key});
	return &b->errnos.v[b->errnos.n - 1].count;
}

/* Adds to `s` how often calls have failed with each error since the previous call of this function. */
static void bpf_collect_errnos(struct bpf_engine *b, struct summary *s)
{
	int fd = bpf_map__fd(b->skel->maps.errnos);
	struct row_errno key, *at = NULL;
	for (; bpf_map_get_next_key(fd, at, &key) == 0; at = &key) {
		uint64_t n = 0;
		const struct row_seen *row = key.slot < b->rows.n ? &b->rows.v[key.slot] : NULL;
		uint64_t *seen = errno_seen(b, &key);
		if (!row || !row->used || row->key.id == ROW_ID_SELF || bpf_map_lookup_elem(fd, &key, &n) < 0 ||
		    n == *seen)
			continue;
		struct summary_group *g = row_group(b, &row->key, s);
		summary_errno(s, g, &(struct call_errno){row_arch(&row->key), row->key.nr, (int)key.err, n - *seen});
		*seen = n;
	}
}

int bpf_collect(struct engine *e, struct summary *s)
{
	struct bpf_engine *b = (struct bpf_engine *)e;
	int r = 0;
	bpf_find_rows(b);
	for (unsigned int slot = 1; r == 0 && slot < b->rows.n; slot++)
		if (b->rows.v[slot].used && b->rows.v[slot].key.id != ROW_ID_SELF)
			r = bpf_collect_row(b, slot, s);
	if (r == 0)
		bpf_collect_errnos(b, s);
	if (r == 0 && b->skel->rodata->split == SPLIT_THREAD)
		collect_lives(b, s);
	summary_merge(s, &b->retired);
	summary_free(&b->retired);
	__atomic_fetch_add(&b->skel->bss->epoch, 1, __ATOMIC_RELAXED);
	return r;
}

/* If counts are split, reuses the rows of ended processes or threads, so that there is always a free row. */
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
	bpf_map_delete_elem(bpf_map__fd(k->maps.owners), &b->rows.v[slot].key.id);
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
	if (b->skel->rodata->split == SPLIT_THREAD)
		collect_lives(b, &b->retired);
	free_errnos(b);
	for (unsigned int slot = 1; slot < b->rows.n; slot++)
		if (has_ended(b, slot))
			free_row(b, slot);
	map_free(&b->ended);
	return 0;
}

/* The cost of counting: getppid(2) is timed by sctrace before counting starts, and by the kernel half after that. */
/* Returns the mean of the fastest batch, as the kernel half measured it; or -errno, which is below zero. */
static double counted_cost(struct bpf_engine *b, unsigned int *slot)
{
	const struct row_key key = {.id = ROW_ID_SELF, .nr = SYS_getppid};
	struct row_counts before, after;
	double best = INFINITY;
	costs_make_calls(BPF_BATCH);
	*slot = bpf_find_row(b, &key);
	int r = *slot ? bpf_read_row(b, *slot, &before) : -EIO;
	for (int i = 0; r == 0 && i < BPF_BATCHES; i++) {
		costs_make_calls(BPF_BATCH);
		r = bpf_read_row(b, *slot, &after);
		double ns = (double)(after.ns - before.ns) / BPF_BATCH;
		if (after.returned - before.returned != BPF_BATCH)
			r = -EIO;
		best = ns < best ? ns : best;
		before = after;
	}
	return r < 0 ? r : best;
}

int bpf_calibrate(struct bpf_engine *b, double native_ns)
{
	unsigned int slot;
	struct hist h = {0};
	int r = bpf_mark(b, getpid(), TASK_SELF | TASK_UNSEEN);
	if (r < 0)
		return r;
	double counted = counted_cost(b, &slot);
	r = bpf_mark(b, getpid(), 0);
	if (counted < 0)
		r = (int)counted;
	if (r == 0) {
		bpf_collect_hist(b, &h, slot); /* nothing is subtracted yet, because b->cost is 0 */
		b->cost.ns = counted - native_ns;
		b->cost.spread_ns = hist_sd(&h);
	}
	hist_free(&h);
	return r;
}
