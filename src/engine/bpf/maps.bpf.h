/* SPDX-License-Identifier: MIT */
/* The kernel half's settings, counters and maps, and the rows in which it counts calls. Only it includes this file. */
#ifndef SCTRACE_ENGINE_BPF_MAPS_BPF_H
#define SCTRACE_ENGINE_BPF_MAPS_BPF_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "shared.h"

/* The loader sets these constants before it loads the programs. */
const volatile unsigned int scope = SCOPE_TASKS;
const volatile unsigned int split = SPLIT_NONE;
const volatile unsigned int follow = 0;
const volatile unsigned int self_tgid = 0;
const volatile unsigned int watch = 0;      /* calls are reported as `rules` says, and not counted */
const volatile unsigned int only_comms = 0; /* only processes with these names are in scope */
const volatile unsigned int only_uids = 0;  /* only processes of these users are in scope */
const volatile struct watch_rule rules[WATCH_CALLS] = {};
const volatile unsigned int max_slots = 1;
const volatile unsigned int max_chunks = 1;
const volatile unsigned int shards = 1; /* a power of two, at most SHARDS_MAX */

/* Set when counting stops. The entry hook goes first, so the exit hook may see a call that did not pass it. */
unsigned int closing = 0;

/* The loader reads these. It writes `epoch`, and `live` and `processes` for the program that it starts. */
unsigned int next_slot = 0; /* the loader sets next_slot, next_chunk and epoch to 1 before it loads the programs */
unsigned int next_chunk = 0;
unsigned long long epoch = 0;    /* minima and maxima start anew when this number changes */
unsigned long long lost = 0;     /* calls that could not be counted */
unsigned long long untimed = 0;  /* calls that did not pass the entry hook because a seccomp filter answered them */
unsigned long long no_chunk = 0; /* times that were not added to a histogram */
unsigned long long lost_errnos = 0;
long long live = 0; /* counted processes that are alive */
unsigned long long processes = 0, unfollowed = 0;
unsigned int root_tgid = 0; /* the started program */
unsigned long long root_exec_ns = 0, root_exit_ns = 0;
unsigned long long peak_rss_pages = 0, processes_measured = 0;

/* A map of the kernel. The loader sets the number of entries of those that have one here, before it loads the programs. */
#define MAP(name, kind, entries, key_type, value_type, flags)                                                          \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_##kind);                                                                     \
		__uint(max_entries, entries);                                                                          \
		__uint(map_flags, flags);                                                                              \
		__type(key, key_type);                                                                                 \
		__type(value, value_type);                                                                             \
	} name SEC(".maps")

MAP(tasks, TASK_STORAGE, 0, int, struct task_state, BPF_F_NO_PREALLOC);
MAP(targets, HASH, 1024, unsigned int, unsigned int, 0); /* tgid of a process to count */
MAP(rows, HASH, 1, struct row_key, unsigned int, 0);
/* The tags of the rows, indexed by slot, so that the loader can find new rows without iterating over `rows`. */
MAP(tags, ARRAY, 1, unsigned int, struct row_tag, BPF_F_MMAPABLE);
MAP(slots, PERCPU_ARRAY, 1, unsigned int, struct row_counts, 0);
MAP(hists, ARRAY, 1, unsigned int, struct row_hist, BPF_F_MMAPABLE);
MAP(chunks, ARRAY, 1, unsigned int, struct hist_chunk, BPF_F_MMAPABLE);
MAP(errnos, HASH, 4096, struct row_errno, unsigned long long, 0);
MAP(owners, HASH, 1, unsigned int, struct row_owner, 0);

struct comm {
	char text[COMM_SIZE];
};
MAP(wanted_comms, HASH, 256, struct comm, unsigned int, 0);
MAP(wanted_uids, HASH, 256, unsigned int, unsigned int, 0);
MAP(cgroup, CGROUP_ARRAY, 1, unsigned int, unsigned int, 0);

/* Slots and chunks that the loader freed after the processes that used them had ended. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__type(value, unsigned int);
} free_slots SEC(".maps"), free_chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} ring SEC(".maps");

#define MAX_ERRNO 4095 /* include/linux/err.h */

static __always_inline unsigned int row_id(struct task_struct *task, const struct task_state *t)
{
	if (t->flags & TASK_SELF)
		return ROW_ID_SELF;
	return split == SPLIT_PROCESS ? task->tgid : split == SPLIT_THREAD ? task->pid : 0;
}

static __always_inline void note_owner(struct task_struct *task, unsigned int id)
{
	struct row_owner new = {.first_ns = bpf_ktime_get_ns()};
	struct row_owner *o = bpf_map_lookup_elem(&owners, &id);
	if (o) {
		bpf_probe_read_kernel(o->comm, sizeof(o->comm), task->comm);
		o->end_ns = 0; /* another task with this id may have ended */
		return;
	}
	bpf_probe_read_kernel(new.comm, sizeof(new.comm), task->comm);
	bpf_map_update_elem(&owners, &id, &new, BPF_ANY);
}

/* A thread ends. If its last call was interrupted to end it, the call has left the kernel but has not returned. */
static __always_inline void note_end(struct task_struct *task, const struct task_state *t)
{
	unsigned int id = task->pid;
	struct row_owner *o = split == SPLIT_THREAD ? bpf_map_lookup_elem(&owners, &id) : 0;
	if (!o)
		return;
	o->end_ns = bpf_ktime_get_ns();
	if (t->flags & TASK_IN_CALL)
		o->unfinished_ns = o->end_ns - t->enter_ns;
	else if (t->interrupted.slot)
		o->unfinished_ns = t->interrupted.ns;
}

/* Returns a slot or chunk: one that was freed, or else the next one below `max`. Returns 0 if there is none. */
static __always_inline unsigned int new_index(void *freed, unsigned int *next, unsigned int max)
{
	unsigned int i;
	if (split != SPLIT_NONE && bpf_map_pop_elem(freed, &i) == 0)
		return i;
	if (*next >= max)
		return 0;
	i = __sync_fetch_and_add(next, 1);
	return i < max ? i : 0;
}

/* Returns the slot of a row and allocates it at the first use. Returns 0 if no slot is free. */
static __noinline unsigned int row_slot(struct task_struct *task, struct task_state *t, long long nr,
					unsigned int compat)
{
	struct row_key key = {.id = row_id(task, t), .compat = compat, .nr = nr};
	unsigned int *found = bpf_map_lookup_elem(&rows, &key);
	if (found)
		return *found;
	unsigned int slot = new_index(&free_slots, &next_slot, max_slots);
	struct row_tag *tag = slot ? bpf_map_lookup_elem(&tags, &slot) : 0;
	if (!tag)
		return 0;
	if (split != SPLIT_NONE)
		note_owner(task, key.id);
	if (bpf_map_update_elem(&rows, &key, &slot, BPF_NOEXIST) == 0) {
		tag->key = key;
		__sync_fetch_and_add(&tag->used, 1); /* atomic, so that `key` is visible before `used` is */
		return slot;
	}
	bpf_map_push_elem(&free_slots, &slot, 0);
	found = bpf_map_lookup_elem(&rows, &key); /* another CPU added the row first */
	return found ? *found : 0;
}

static __always_inline unsigned int find_slot(struct task_struct *task, struct task_state *t, long long nr)
{
	unsigned int compat = is_compat(task);
	unsigned int key = (unsigned int)nr ^ compat << 31;
	unsigned int i = key & (TASK_CACHE - 1);
	if (t->cache[i].slot && t->cache[i].key == key)
		return t->cache[i].slot;
	unsigned int slot = row_slot(task, t, nr, compat);
	t->cache[i].key = key;
	t->cache[i].slot = slot;
	return slot;
}

/* Returns the chunk for the times of one power of two, allocated at the first use; 0 if no chunk is free. */
static __always_inline unsigned int row_chunk(struct row_hist *h, unsigned int which)
{
	if (which >= CHUNKS_PER_ROW)
		return 0;
	unsigned int chunk = h->chunk[which];
	if (chunk)
		return chunk;
	chunk = new_index(&free_chunks, &next_chunk, max_chunks);
	if (!chunk)
		return 0;
	unsigned int before = __sync_val_compare_and_swap(&h->chunk[which], 0, chunk);
	if (before && split != SPLIT_NONE)
		bpf_map_push_elem(&free_chunks, &chunk, 0);
	return before ? before : chunk;
}

static __always_inline void hist_count(unsigned int slot, unsigned long long ns)
{
	unsigned int bucket;
	unsigned int which = chunk_of(ns, &bucket);
	struct row_hist *h = bpf_map_lookup_elem(&hists, &slot);
	unsigned int chunk = h ? row_chunk(h, which) : 0;
	unsigned int at = chunk * shards + (bpf_get_smp_processor_id() & (shards - 1));
	struct hist_chunk *c = chunk ? bpf_map_lookup_elem(&chunks, &at) : 0;
	if (c)
		__sync_fetch_and_add(&c->count[bucket & (CHUNK_SIZE - 1)], 1);
	else
		__sync_fetch_and_add(&no_chunk, 1);
}

static __always_inline void count_errno(unsigned int slot, unsigned int err)
{
	struct row_errno key = {.slot = slot, .err = err};
	unsigned long long zero = 0;
	unsigned long long *n = bpf_map_lookup_elem(&errnos, &key);
	if (!n) {
		bpf_map_update_elem(&errnos, &key, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&errnos, &key);
	}
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		__sync_fetch_and_add(&lost_errnos, 1);
}

/*
 * Counts a call of `slot` that returned `ret` after `ns`; `waited` is 1 if the thread lost its CPU meanwhile. The
 * function is not static, because the kernel's verifier checks a global function only once, but a static one once for
 * each caller. The return value has no meaning.
 */
__noinline int count_returned(unsigned int slot, unsigned long long ns, long ret, unsigned long long waited,
			      unsigned long long now)
{
	struct row_counts *s = bpf_map_lookup_elem(&slots, &slot);
	if (!s)
		return 0;
	if (s->epoch != epoch) {
		s->epoch = epoch;
		s->min_ns = ns;
		s->max_ns = ns;
	}
	s->returned++;
	s->last_ns = now;
	s->ns += ns;
	if (waited) {
		s->waits++;
		s->waited_ns += ns;
	}
	if (ns < s->min_ns)
		s->min_ns = ns;
	if (ns > s->max_ns)
		s->max_ns = ns;
	if (ns >> (2 * SQUARE_SHIFT))
		s->big_squares += (ns >> SQUARE_SHIFT) * (ns >> SQUARE_SHIFT);
	else
		s->squares += ns * ns;
	if (ret > 0)
		s->sum += ret;
	hist_count(slot, ns);
	if (ret < 0 && ret >= -MAX_ERRNO) {
		s->errors++;
		count_errno(slot, -ret);
	}
	return 0;
}

static __always_inline void count_entered(unsigned int slot)
{
	struct row_counts *s = bpf_map_lookup_elem(&slots, &slot);
	if (s)
		s->entered++;
}

static __always_inline void count_restarted(unsigned int slot, unsigned long long ns)
{
	struct row_counts *s = bpf_map_lookup_elem(&slots, &slot);
	if (!s)
		return;
	s->restarted++;
	s->restarted_ns += ns;
}

#endif
