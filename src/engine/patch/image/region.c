/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/region.h"

#include "base/clock.h"
#include "base/memory.h"
#include "engine/patch/arm/arm.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns how much memory for rings a region may have. It takes only address space, which may be limited. */
static size_t ring_room(void)
{
	struct rlimit space;
	if (getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur / 32 >= RING_ROOM)
		return RING_ROOM;
	size_t room = space.rlim_cur / 32 & ~(size_t)(RING_SIZE - 1);
	return room > RING_ROOM_AT_FIRST ? room : RING_ROOM_AT_FIRST;
}

struct region *region_new(struct patch *p, const struct task *task)
{
	struct region *r = memory_zeroed(1, sizeof(*r));
	vec_push(&p->regions, r);
	r->refs = 1;
	r->size = AGENT_STATS_SIZE + (p->recorder ? ring_room() : 0);
	r->group_id = -1;
	r->discard = !task->proc->counted;
	if (p->t.config.want & CAP_BY_PROCESS)
		tracer_group_name(&p->t, task, r->group_name, sizeof(r->group_name), &r->group_id);
	return r;
}

struct agent_slot *region_slot(const struct region *r, unsigned i)
{
	return (struct agent_slot *)(void *)(r->slots + (size_t)i * SLOT_SIZE);
}

struct agent_slot *region_slot_at(const struct region *r, uint64_t at)
{
	const uint64_t off = at - AGENT_STATS, in = off < STATS_SIZE ? off : (off - STATS_SIZE) % LANE_SIZE;
	if (off >= r->size || in % SLOT_SIZE || in / SLOT_SIZE >= r->used ||
	    (off >= STATS_SIZE && in / SLOT_SIZE >= LANE_SLOTS))
		return NULL;
	return (struct agent_slot *)(void *)(r->slots + off);
}

static void seen_free(struct region_seen *seen)
{
	for (unsigned i = 0; i < AGENT_CALLS; i++)
		free(seen->slots[i]);
	vec_free(&seen->errnos);
}

struct agent_tail *region_tail(const struct region *r)
{
	return (struct agent_tail *)(void *)(r->slots + AGENT_SLOTS_SIZE);
}

/* --- the table of errors --- */

void region_add_errno(const struct region *r, const struct agent_slot *slot, int64_t nr, unsigned err)
{
	const uint64_t key = (uint64_t)(uint32_t)nr << ERRNO_BITS | err;
	size_t at = (size_t)((const unsigned char *)slot - r->slots);
	at = at < STATS_SIZE ? ERRNOS_AT : at - (at - STATS_SIZE) % LANE_SIZE + LANE_ERRNOS;
	struct agent_errno *row = (struct agent_errno *)(void *)(r->slots + at);
	for (struct agent_errno *end = row + ERRNOS_SIZE / sizeof(*row); row < end; row++) {
		uint64_t found = 0;
		if (!__atomic_compare_exchange_n(&row->key, &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
		    found != key)
			continue;
		__atomic_add_fetch(&row->count, 1, __ATOMIC_RELAXED);
		return;
	}
}

static bool is_half_full(const unsigned char *errnos)
{
	return ((const struct agent_errno *)(const void *)(errnos + ERRNOS_SIZE / 2))->key != 0;
}

bool region_is_full(const struct region *r, const struct lane *lane)
{
	return is_half_full(r->slots + ERRNOS_AT) || (lane && is_half_full(lane->slots + LANE_ERRNOS));
}

/* --- collecting the counts --- */

/* Returns the smallest number of ticks in bucket `b` (agent.h). */
static uint64_t bucket_low(unsigned b)
{
	unsigned shift = b < 32 ? 0 : b / 16 - 1;
	return b < 32 ? b : (uint64_t)(b - 16 * shift) << shift;
}

/* Returns how much was added since the last use. Does not write: the program may do so without a lock. */
static uint64_t since(const uint64_t *word, uint64_t *seen)
{
	uint64_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
	uint64_t more = now - *seen;
	*seen = now;
	return more;
}

static double own_ns(const struct patch *p, double ticks)
{
	double ns = ticks * p->tick_ns - p->fast.ns;
	return ns > 0 ? ns : 0;
}

/*
 * Returns the time, in ticks, that stands for the calls of bucket `b`: its middle. But no call took longer than the
 * longest one or less than the shortest one, if these are in this bucket.
 */
static double middle_of(const struct agent_slot *s, unsigned b)
{
	const double low = (double)bucket_low(b), high = (double)bucket_low(b + 1), middle = (low + high) / 2;
	const double longest = (double)__atomic_load_n(&s->max, __ATOMIC_RELAXED);
	const double shortest = (double)~__atomic_load_n(&s->min_not, __ATOMIC_RELAXED);
	if (longest >= low && longest < middle)
		return longest;
	return shortest > middle && shortest < high ? shortest : middle;
}

/* Adds the calls that are new in the histogram to `c`, and returns the number of these calls. */
static uint64_t take_hist(struct patch *p, const struct agent_slot *s, struct agent_slot *seen, struct call_stats *c)
{
	uint64_t n = 0;
	for (unsigned b = 0; b < SLOT_BUCKETS; b++) {
		uint32_t now = __atomic_load_n(&s->hist[b], __ATOMIC_RELAXED);
		uint32_t k = now - seen->hist[b];
		if (!k)
			continue;
		seen->hist[b] = now;
		double ns = own_ns(p, middle_of(s, b));
		hist_add(&c->hist, (uint64_t)ns, k);
		c->ns_squared += ns * ns * (double)k;
		n += k;
	}
	return n;
}

/* Returns what was already collected from a slot; `none` if nothing was, and this is the last time. */
static struct agent_slot *seen_slot(struct region_seen *seen, unsigned i, bool last, struct agent_slot *none)
{
	if (!last && !seen->slots[i])
		seen->slots[i] = memory_zeroed(1, SLOT_SIZE);
	return seen->slots[i] ? seen->slots[i] : none;
}

/* Adds the waits of `judged` calls. */
static void take_waits(const struct patch *p, const struct agent_slot *s, struct agent_slot *seen, struct call_stats *c,
		       uint64_t judged)
{
	uint64_t waits = since(&s->waits, &seen->waits), ticks = since(&s->waited, &seen->waited);
	double ns = (double)ticks * p->tick_ns - p->fast.ns * (double)waits;
	c->judged += judged;
	c->waits += waits;
	c->waited_ns += ns > 0 ? ns : 0;
	/* If the program was killed between two updates of the slot, one of them is missing. */
	if (c->waits > c->judged)
		c->waits = c->judged;
}

/* Adds the calls that are new in the slot and have failed with its first error. */
static void take_fails(struct patch *p, const struct agent_slot *s, struct agent_slot *seen, struct call_stats *c,
		       struct summary_group *g)
{
	const uint64_t n = since(&s->fails, &seen->fails), err = -__atomic_load_n(&s->failed, __ATOMIC_RELAXED);
	c->errors += n;
	if (n && err - 1 < ERRNO_MOST)
		summary_errno(&p->t.counts, g, &(struct call_errno){c->arch, c->nr, (int)err, n});
}

/* Adds what is new in the slot of a row. Adds to *in_progress the number of new calls that have not returned. */
static void take_slot(struct patch *p, const struct agent_slot *s, struct agent_slot *seen, int row,
		      struct summary_group *g, uint64_t *in_progress)
{
	if (s->entered == seen->entered && s->ticks == seen->ticks)
		return;
	struct call_stats *c = summary_call(&p->t.counts, g, syscall_native_arch(), patch_number(p, (unsigned)row));
	bool first = c->returned == 0;
	uint64_t unarmed = since(&s->unarmed, &seen->unarmed);
	uint64_t n = take_hist(p, s, seen, c);
	uint64_t entered = since(&s->entered, &seen->entered);
	c->returned += n;
	c->entered += entered;
	p->agent_calls += entered;
	*in_progress += entered - n;
	c->errors += since(&s->errors, &seen->errors);
	take_fails(p, s, seen, c, g);
	c->bytes += since(&s->bytes, &seen->bytes);
	c->ns += (double)since(&s->ticks, &seen->ticks) * p->tick_ns;
	call_stats_charge(c, (double)n, p->fast.ns, p->fast.spread_ns);
	take_waits(p, s, seen, c, n > unarmed ? n - unarmed : 0);
	double min_ns = own_ns(p, (double)~__atomic_load_n(&s->min_not, __ATOMIC_RELAXED));
	double max_ns = own_ns(p, (double)__atomic_load_n(&s->max, __ATOMIC_RELAXED));
	if (n && (first || min_ns < c->min_ns))
		c->min_ns = min_ns;
	if (n && max_ns > c->max_ns)
		c->max_ns = max_ns;
}

/* Adds what is new in a table of errors. */
static void take_errnos(struct patch *p, const unsigned char *errnos, struct region_seen *seen, struct summary_group *g)
{
	const struct agent_errno *rows = (const struct agent_errno *)(const void *)errnos;
	for (size_t i = 0; i < ERRNOS_SIZE / sizeof(*rows); i++) {
		uint64_t key = __atomic_load_n(&rows[i].key, __ATOMIC_RELAXED);
		if (!key)
			break;
		if (i == seen->errnos.n)
			vec_push(&seen->errnos, 0);
		const uint64_t n = since(&rows[i].count, &seen->errnos.v[i]);
		const struct call_stats *c =
			n ? summary_call(&p->t.counts, g, syscall_native_arch(), (int32_t)(key >> ERRNO_BITS)) : NULL;
		const int err = (int)(key & ERRNO_MOST);
		if (c)
			summary_errno(&p->t.counts, g, &(struct call_errno){c->arch, c->nr, err, n});
	}
}

/* Measures the length of a tick again: the longer sctrace runs, the more exact the measurement is. */
static void update_tick(struct patch *p)
{
	uint64_t ticks = cpu_ticks() - p->tsc0;
	if (ticks)
		p->tick_ns = (double)(clock_ns() - p->ns0) / (double)ticks;
}

static void region_collect(struct patch *p, struct region *r)
{
	if (r->discard || !r->slots || p->count_threads)
		return;
	struct summary_group *g = summary_group(&p->t.counts, r->group_name, r->group_id);
	const bool last = r->refs <= 0 && !r->pooled;
	uint64_t in_progress = 0;
	for (unsigned i = 0; i < r->used; i++) {
		struct agent_slot none = {0};
		take_slot(p, region_slot(r, i), seen_slot(&r->seen, i, last, &none), r->call_of[i], g, &in_progress);
	}
	take_errnos(p, r->slots + ERRNOS_AT, &r->seen, g);
}

static struct agent_slot *lane_slot(const struct lane *lane, unsigned i)
{
	return (struct agent_slot *)(void *)(lane->slots + (size_t)i * SLOT_SIZE);
}

static unsigned lane_slots(const struct region *r)
{
	return r->used < LANE_SLOTS ? r->used : LANE_SLOTS;
}

uint64_t region_lane_calls(const struct region *r, const struct lane *lane)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < lane_slots(r); i++)
		n += __atomic_load_n(&lane_slot(lane, i)->entered, __ATOMIC_RELAXED);
	return n;
}

static struct summary_group *collect_lane(struct patch *p, const struct region *r, struct lane *lane, bool last)
{
	struct summary_group *g = summary_group(&p->t.counts, lane->name, lane->tid);
	for (unsigned i = 0; i < lane_slots(r); i++) {
		struct agent_slot none = {0};
		take_slot(p, lane_slot(lane, i), seen_slot(&lane->seen, i, last, &none), r->call_of[i], g,
			  &lane->in_progress);
	}
	take_errnos(p, lane->slots + LANE_ERRNOS, &lane->seen, g);
	g->first_ns = g->first_ns && g->first_ns < lane->began_ns ? g->first_ns : lane->began_ns;
	g->last_ns = clock_ns();
	return g;
}

void region_end_lane(struct patch *p, const struct region *r, struct lane *lane)
{
	uint64_t began = 0, now = cpu_ticks();
	update_tick(p);
	struct summary_group *g = collect_lane(p, r, lane, true);
	for (unsigned i = 0; i < lane_slots(r); i++)
		began = lane_slot(lane, i)->began > began ? lane_slot(lane, i)->began : began;
	/* A thread makes one call at a time, so the call that has begun last is the one in progress. */
	if (lane->in_progress && began && now > began)
		g->unfinished_ns += (double)(now - began) * p->tick_ns;
	seen_free(&lane->seen);
	free(lane);
}

static void empty_slot(struct agent_slot *s, struct agent_slot *seen)
{
	for (unsigned b = 0; seen && b < SLOT_BUCKETS; b++) {
		uint32_t was = seen->hist[b];
		seen->hist[b] = 0;
		__atomic_sub_fetch(&s->hist[b], was, __ATOMIC_RELAXED);
	}
}

void region_empty(struct patch *p, struct region *r, struct lane *lane, int row)
{
	update_tick(p);
	region_collect(p, r);
	if (lane)
		collect_lane(p, r, lane, false);
	for (unsigned i = 0; i < r->used; i++)
		if (r->call_of[i] == row) {
			empty_slot(region_slot(r, i), r->seen.slots[i]);
			if (lane && i < LANE_SLOTS)
				empty_slot(lane_slot(lane, i), lane->seen.slots[i]);
		}
}

void region_collect_all(struct tracer *t)
{
	struct patch *p = patch_of(t);
	update_tick(p);
	for (size_t i = 0; i < p->regions.n; i++)
		region_collect(p, p->regions.v[i]);
	size_t at = 0;
	const struct task *task;
	while (p->count_threads && (task = map_next(&p->t.tasks.by_tid, &at, NULL)))
		if (image_of(task) && patch_task_of(task) && patch_task_of(task)->lane)
			collect_lane(p, image_of(task)->counters.region, patch_task_of(task)->lane, false);
}

void region_switch_off(struct tracer *t)
{
	const struct patch *p = patch_of(t);
	for (size_t i = 0; i < p->regions.n; i++)
		if (p->regions.v[i]->slots) {
			region_tail(p->regions.v[i])->selector = 0;
			region_tail(p->regions.v[i])->records = 0;
		}
}

static void region_free(struct region *r)
{
	if (r->slots)
		munmap(r->slots, r->size);
	if (r->pooled)
		close(r->fd);
	seen_free(&r->seen);
	vec_free(&r->pages_taken);
	free(r);
}

void region_put(struct patch *p, struct region *r)
{
	if (!r || --r->refs > 0 || r->pooled)
		return;
	update_tick(p);
	region_collect(p, r);
	for (size_t i = 0; i < p->regions.n; i++)
		if (p->regions.v[i] == r) {
			p->regions.v[i] = p->regions.v[--p->regions.n];
			break;
		}
	watchdog_forget(p, r);
	region_free(r);
}

void region_free_all(struct patch *p)
{
	for (size_t i = 0; i < p->regions.n; i++)
		region_free(p->regions.v[i]);
	vec_free(&p->regions);
}

/* --- slots --- */

static uint8_t slot_flags(int64_t nr)
{
	static const int16_t checked[] = {SYS_execve,
					  SYS_fork,
					  SYS_vfork,
					  SYS_clone,
					  SYS_clone3,
					  SYS_mmap,
					  SYS_mprotect,
					  SYS_pkey_mprotect,
					  SYS_munmap,
					  SYS_mremap,
					  SYS_madvise,
					  SYS_mincore,
					  SYS_msync,
					  SYS_mlock,
					  SYS_munlock,
					  SYS_rt_sigaction,
					  SYS_rt_sigreturn,
					  SYS_prctl,
					  CPU_SET_THREAD_POINTER,
					  SYS_rt_sigprocmask,
					  SYS_mlock2,
					  SYS_mbind,
					  SYS_shmat,
					  462 /* mseal */,
					  SYS_rseq};
	bool forks = nr == SYS_fork || nr == SYS_vfork || nr == SYS_clone || nr == SYS_clone3;
	uint8_t flags = (syscall_returns_bytes(syscall_native_arch(), nr) ? SLOT_F_BYTES : 0) |
			(forks ? SLOT_F_FORKS : 0) | (nr == SYS_execve ? SLOT_F_EXEC : 0);
	for (size_t i = 0; i < sizeof(checked) / sizeof(*checked); i++)
		if (checked[i] == nr)
			flags |= SLOT_F_CHECK;
	return flags;
}

uint32_t region_entry(const struct patch *p, struct region *r, int row)
{
	if (!r->entry_of[row]) {
		r->entry_of[row] = r->used * SLOT_SIZE + SLOT_ALIGN + slot_flags(patch_number(p, (unsigned)row));
		r->call_of[r->used++] = (int16_t)row;
	}
	uint32_t entry = r->entry_of[row];
	/* sctrace must see when a thread exits, and requests of ioctl(2) after which it reads the memory in another way. */
	bool lane = p->count_threads && p->record_way[row] == RECORD_WRITES && entry / SLOT_SIZE < LANE_SLOTS &&
		    !(entry & (SLOT_ALIGN - 1) & ~SLOT_F_BYTES) && row != SYS_ioctl && row != SYS_exit_group;
	bool plain = p->record && !(p->t.config.want & CAP_COUNTS) && p->record_way[row] == RECORD_PASSES &&
		     !(entry & (SLOT_ALIGN - 1) & ~SLOT_F_BYTES);
	return entry + (p->record_way[row] == RECORD_WRITES ? SLOT_F_RECORD : 0) + (plain || lane ? SLOT_F_PLAIN : 0);
}

/* --- the memory --- */

/* Is `fd` a memfd? The kernel keeps memfds on an internal mount, which has no other files that a program can open. */
static bool is_memfd(int fd)
{
	struct stat st, reference;
	int own = memfd_create("sctrace", MFD_CLOEXEC);
	bool same = own >= 0 && fstat(own, &reference) == 0 && fstat(fd, &st) == 0 && st.st_dev == reference.st_dev;
	if (own >= 0)
		close(own);
	return same;
}

/*
 * Opens descriptor `their_fd` of the program for writing. Returns a descriptor or -errno. Another task that shares the
 * program's descriptors may have replaced the file, so the file is checked before it is opened.
 */
static int open_memory(pid_t tid, int their_fd)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, their_fd);
	int there = open(path, O_PATH | O_CLOEXEC);
	if (there < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", there);
	int fd = is_memfd(there) ? open(path, O_RDWR | O_CLOEXEC) : -1;
	close(there);
	return fd < 0 ? -EBADF : fd;
}

/* Sets a memfd's size and maps it. It is sealed, because reading shrunk memory would raise SIGBUS in sctrace. */
static int map_memory(struct region *r, int fd)
{
	if (ftruncate(fd, (off_t)r->size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	void *at = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	r->slots = at;
	r->fd = fd;
	region_tail(r)->selector = 1;
	region_tail(r)->records = 1;
	return 0;
}

int region_adopt(struct region *r, pid_t tid, int their_fd)
{
	int fd = open_memory(tid, their_fd);
	if (fd < 0)
		return fd;
	int err = map_memory(r, fd);
	if (err < 0)
		close(fd);
	return err;
}

/* --- the pool: mapping existing memory takes an image less time than creating new memory --- */

/* If more images than this run at the same time, they share the last region of the pool. */
#define POOL_SIZE 8

static struct region *make_pooled(struct patch *p, const struct task *task, bool crowded)
{
	int fd = memfd_create("sctrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct region *r = fd < 0 ? NULL : region_new(p, task);
	if (!r || map_memory(r, fd) < 0) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	r->refs = 0;
	r->pooled = true;
	r->crowded = crowded;
	snprintf(r->path, sizeof(r->path), "/proc/%d/fd/%d", (int)getpid(), fd);
	region_tail(r)->mark = clock_ns() ^ (uintptr_t)r ^ (uint64_t)getpid() << 32;
	return r;
}

/* Returns a pooled region that is not in use, or the crowded one. Sets *n to the number of pooled regions. */
static struct region *find_pooled(const struct patch *p, unsigned *n)
{
	struct region *found = NULL;
	*n = 0;
	for (size_t i = 0; i < p->regions.n; i++) {
		struct region *r = p->regions.v[i];
		*n += r->pooled;
		if (r->pooled && (r->refs == 0 || (r->crowded && !found)))
			found = r;
	}
	return found;
}

struct region *region_from_pool(struct patch *p, const struct task *task, char *path)
{
	unsigned n;
	if (p->no_pool || p->watchdog_fd >= 0 || p->t.config.want & CAP_BY_PROCESS || !task->proc->counted)
		return NULL;
	struct region *r = find_pooled(p, &n);
	if (n < POOL_SIZE && (!r || r->refs))
		r = make_pooled(p, task, n == POOL_SIZE - 1);
	if (!r)
		return NULL;
	r->refs++;
	memcpy(path, r->path, sizeof(r->path));
	return r;
}

/* --- the rings of threads, and the words of images --- */

/* The bits of the first `pages` pages in a word. */
static uint64_t first_bits(unsigned pages)
{
	return ~0ull >> (64 - pages);
}

int region_take_ring(struct region *r, unsigned pages)
{
	const size_t words = (r->size - AGENT_STATS_SIZE) / RING_SIZE;
	for (size_t i = 0; i < words; i++) {
		if (i == r->pages_taken.n)
			vec_push(&r->pages_taken, 0);
		for (unsigned at = 0; ~r->pages_taken.v[i] && at < 64; at += pages)
			if (!(r->pages_taken.v[i] & first_bits(pages) << at)) {
				r->pages_taken.v[i] |= first_bits(pages) << at;
				return (int)(i * 64 + at);
			}
	}
	return -1;
}

void region_give_ring(struct region *r, unsigned page, unsigned pages, bool keep)
{
	r->pages_taken.v[page / 64] &= ~(first_bits(pages) << page % 64);
	if (!keep)
		madvise(r->slots + AGENT_STATS_SIZE + (size_t)page * AGENT_PAGE, (size_t)pages * AGENT_PAGE,
			MADV_REMOVE);
}

struct agent_words *region_take_words(struct region *r)
{
	for (size_t i = 0; i < AGENT_WORDS; i++)
		if (!(r->words_taken[i / 64] >> (i % 64) & 1)) {
			r->words_taken[i / 64] |= 1ull << (i % 64);
			return memset(&region_tail(r)->image[i], 0, sizeof(struct agent_words));
		}
	return NULL;
}

void region_give_words(struct region *r, const struct agent_words *words)
{
	size_t i = words ? (size_t)(words - region_tail(r)->image) : 0;
	if (words)
		r->words_taken[i / 64] &= ~(1ull << (i % 64));
}

uint64_t region_address(const struct region *r, const struct agent_words *words)
{
	return words ? AGENT_STATS + (uint64_t)((const unsigned char *)words - r->slots) : 0;
}
