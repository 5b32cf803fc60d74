/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/memory.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/region.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "tracee/cgroup.h"
#include "tracee/proc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Memory for rings: how large the ring of a thread is, where it lies, and how the program maps it. */
/*
 * Rings and scratch memories together take at most this part of a limit on memory or on address space, and of the memory
 * that is left at the beginning.
 */
#define PART_OF_LIMIT 16
#define PART_OF_LEFT  16
/* A new ring takes at most this part of what is left of that, so that later threads get rings, too; */
#define PART_OF_REST 256
/* and the ring of a thread that has filled its ring, this part. */
#define PART_TO_ENLARGE 16
/* The size of a new ring in pages, if all of it becomes resident at once (ring_group.foreign). */
#define FOREIGN_PAGES 4
/* Resident part of a scratch memory: the struct agent_scratch and the recorder's stack, and a page for page tables. */
#define SCRATCH_RESIDENT (2 * AGENT_PAGE)

/* --- how much --- */

static uint64_t group_left(const struct ring_group *g)
{
	return g->total > g->used ? g->total - g->used : 0;
}

static struct ring_group *own_group(const struct patch *p)
{
	return p->record->groups.v[0];
}

static struct ring_group *group_of(const struct patch *p, const struct image *img)
{
	return img->ring_group ? img->ring_group : own_group(p);
}

/* Returns the group of the task. If it is not known yet, reads its limits. */
static struct ring_group *find_group(struct patch *p, pid_t tid)
{
	struct record *rec = p->record;
	struct buf name = {0}, mounts = {0};
	cgroup_name(tid, &name);
	for (size_t i = 0; i < rec->groups.n; i++)
		if (strcmp(rec->groups.v[i]->name, buf_str(&name)) == 0) {
			buf_free(&name);
			return rec->groups.v[i];
		}
	struct ring_group *g = memory_zeroed(1, sizeof(*g));
	uint64_t available = cgroup_memory_available();
	proc_read(getpid(), "mountinfo", &mounts);
	struct cgroup_memory m = cgroup_memory(buf_str(&name), buf_str(&mounts), "");
	uint64_t left = m.left < available ? m.left : available, part = m.limit / PART_OF_LIMIT;
	g->total = left / PART_OF_LEFT < part ? left / PART_OF_LEFT : part;
	g->foreign = rec->groups.n > 0;
	g->name = memory_copy(buf_str(&name));
	vec_push(&rec->groups, g);
	buf_free(&name);
	buf_free(&mounts);
	return g;
}

void record_free_groups(struct record *rec)
{
	for (size_t i = 0; i < rec->groups.n; i++) {
		free(rec->groups.v[i]->name);
		free(rec->groups.v[i]);
	}
	vec_free(&rec->groups);
}

/* Determines how much memory and address space the rings of the task's image may take. */
static void note_limits(struct patch *p, const struct task *task)
{
	struct rlimit space;
	bool limited = prlimit(task->tid, RLIMIT_AS, NULL, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
	image_of(task)->ring_most = limited ? space.rlim_cur / PART_OF_LIMIT : UINT64_MAX;
	image_of(task)->ring_group = find_group(p, task->tid);
}

/* Returns how many bytes the rings of the image may still take. */
static uint64_t bytes_left(const struct patch *p, const struct image *img)
{
	const struct ring_group *g = group_of(p, img);
	uint64_t left = group_left(g->foreign ? own_group(p) : g);
	uint64_t most = img->ring_most > img->ring_bytes ? img->ring_most - img->ring_bytes : 0;
	if (g->foreign && group_left(g) < SCRATCH_RESIDENT)
		return 0;
	return left < most ? left : most;
}

/* Returns the size of a new ring, in pages, if `left` bytes are left. */
static unsigned pages_for(const struct patch *p, uint64_t left)
{
	unsigned pages = RING_PAGES_MOST;
	while (pages > p->record->pages_least && (uint64_t)pages * AGENT_PAGE > left / PART_OF_REST)
		pages /= 4;
	return pages;
}

static void plan_first(struct patch *p)
{
	p->ring_pages = pages_for(p, group_left(own_group(p)));
}

void record_plan_rings(struct patch *p)
{
	struct record *rec = p->record;
	find_group(p, getpid());
	/* A record with two buffers of the greatest size that is shown must fit into a ring. */
	rec->pages_least = 1;
	while (rec->pages_least < RING_PAGES_MOST && ring_limit(rec->pages_least) < 2 * rec->string_max + 512)
		rec->pages_least *= 4;
	plan_first(p);
}

/* Notes that the thread has got (`sign` 1), or returned (-1), `ring` bytes of rings and `scratch` bytes of scratch memory. */
static void count_bytes(struct patch *p, const struct record_thread *th, int sign, uint64_t ring, uint64_t scratch)
{
	struct ring_group *g = th->group;
	th->image->ring_bytes += (uint64_t)sign * (ring + scratch);
	g->used += (uint64_t)sign * (scratch < SCRATCH_RESIDENT ? scratch : SCRATCH_RESIDENT);
	g = g->foreign ? own_group(p) : g;
	g->used += (uint64_t)sign * ring;
	plan_first(p);
}

/* --- where --- */

/* Makes the stopped task extend the mapping at `at`, unless a filter of the program could end it for that. */
static bool extend(struct patch *p, struct task *task, uint64_t at, uint64_t old, uint64_t new)
{
	struct cpu_regs r;
	const uint64_t args[6] = {at, old, new};
	return !image_of(task)->sigsys.sealed && cpu_get(task->tid, &r) == 0 &&
	       remote_excursion_call(&p->t, task, AGENT_AT(agent_call), &r, SYS_mremap, args) == 0 && r.CPU_MADE == at;
}

/*
 * Makes the program map the first `need` bytes of the memory that begins `offset` bytes after `at`; *mapped bytes of it are
 * mapped already. To make few such calls, it maps twice as much as before if its address space is not limited.
 */
static bool map_more(struct patch *p, struct task *task, uint64_t at, uint64_t offset, uint64_t *mapped, uint64_t need,
		     uint64_t most)
{
	uint64_t new = *mapped;
	if (need <= *mapped)
		return true;
	note_limits(p, task);
	while (new < need)
		new = image_of(task)->ring_most == UINT64_MAX ? 2 * new : new + RING_SIZE;
	new = new < most ? new : most;
	/*
	 * Mapping needs an excursion. After an excursion, a signal that waits for its delivery could not be delivered
	 * any more. A thread in a group-stop would have to leave the group-stop.
	 */
	if (task->deliver || task->listening || !extend(p, task, at, offset + *mapped, offset + new))
		return false;
	*mapped = new;
	return true;
}

/* Reserves a scratch memory that the image has mapped. Returns its index, or -1. */
static int take_scratch(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	unsigned i = 0, word = 0;
	while (word < img->scratches_taken.n && !~img->scratches_taken.v[word])
		word++;
	if (word == img->scratches_taken.n)
		vec_push(&img->scratches_taken, 0);
	i = (unsigned)__builtin_ctzll(~img->scratches_taken.v[word]);
	const uint64_t need = ((uint64_t)word * 64 + i + 1) * p->scratch_size;
	if (need > SCRATCH_ROOM || !map_more(p, task, SCRATCHES_AT, 0, &img->counters.scratch_room, need, SCRATCH_ROOM))
		return -1;
	img->scratches_taken.v[word] |= 1ull << i;
	return (int)(word * 64 + i);
}

static void give_scratch(struct image *img, unsigned index)
{
	img->scratches_taken.v[index / 64] &= ~(1ull << index % 64);
}

/*
 * Returns the memory of a ring. Other threads will use the first rings again; the memory of the others is freed, if it is
 * worth a call.
 */
static void give_pages(struct region *region, unsigned page, unsigned pages)
{
	bool first = ((uint64_t)page + pages) * AGENT_PAGE <= RING_ROOM_AT_FIRST;
	region_give_ring(region, page, pages, first || pages == 1);
}

/* Reserves a ring that the image has mapped. Returns its first page, or -1. */
static int take_pages(struct patch *p, struct task *task, unsigned pages)
{
	struct image *img = image_of(task);
	int page = region_take_ring(img->counters.region, pages);
	if (page < 0 || map_more(p, task, AGENT_STATS, AGENT_STATS_SIZE, &img->counters.ring_room,
				 ((uint64_t)page + pages) * AGENT_PAGE, RING_ROOM))
		return page;
	region_give_ring(img->counters.region, (unsigned)page, pages, true);
	return -1;
}

/* Makes the thread use the ring at `page`, which is empty. */
static void begin_ring(const struct patch *p, struct record_thread *th, unsigned page, unsigned pages)
{
	struct agent_ring *ring =
		(struct agent_ring *)(void *)(th->region->slots + AGENT_STATS_SIZE + (size_t)page * AGENT_PAGE);
	uint32_t limit = ring_limit(pages);
	memset(ring, 0, th->group->foreign ? (size_t)pages * AGENT_PAGE : sizeof(*ring));
	ring->limit = limit < p->record->limit ? limit : p->record->limit;
	ring->end = ring_end(pages);
	ring->string_max = p->record->string_max;
	th->page = page;
	th->pages = pages;
	th->reader.ring = ring;
	th->reader.limit = ring->limit;
	th->reader.end = ring->end;
	th->reader.off = 0;
	th->reader.consumed = 0;
	record_permit(p, th);
}

struct record_thread *record_thread_new(struct patch *p, struct task *task, unsigned page, unsigned pages,
					unsigned index)
{
	struct record_thread *th = memory_zeroed(1, sizeof(*th));
	th->tid = task->tid;
	th->pid = task->proc->pid;
	th->task = task;
	th->turn = UINT64_MAX;
	th->image = image_of(task);
	th->region = th->image->counters.region;
	th->group = group_of(p, th->image);
	th->index = index;
	th->scratch = scratch_address(index, p->scratch_size);
	record_begin_names(p, th);
	begin_ring(p, th, page, pages);
	count_bytes(p, th, 1, (uint64_t)pages * AGENT_PAGE, p->scratch_size);
	vec_push(&p->record->threads, th);
	patch_task_of(task)->recorded = th;
	return th;
}

struct record_thread *record_take_ring(struct patch *p, struct task *task)
{
	const struct image *img = image_of(task);
	if (!img->ring_most)
		note_limits(p, task);
	uint64_t left = bytes_left(p, img);
	unsigned pages = pages_for(p, left);
	if (group_of(p, img)->foreign && pages > FOREIGN_PAGES)
		pages = p->record->pages_least > FOREIGN_PAGES ? p->record->pages_least : FOREIGN_PAGES;
	int page = -1, index = -1;
	if (left < (uint64_t)pages * AGENT_PAGE + p->scratch_size || (index = take_scratch(p, task)) < 0)
		return NULL;
	while ((page = take_pages(p, task, pages)) < 0 && pages > p->record->pages_least)
		pages /= 4;
	if (page >= 0)
		return record_thread_new(p, task, (unsigned)page, pages, (unsigned)index);
	give_scratch(image_of(task), (unsigned)index);
	return NULL;
}

void record_give_ring(struct patch *p, struct record_thread *th)
{
	give_pages(th->region, th->page, th->pages);
	give_scratch(th->image, th->index);
	count_bytes(p, th, -1, (uint64_t)th->pages * AGENT_PAGE, p->scratch_size);
}

bool record_enlarge(struct patch *p, struct record_thread *th)
{
	const unsigned old = th->page, before = th->pages, pages = 4 * before;
	const uint64_t more = ((uint64_t)pages - before) * AGENT_PAGE;
	if (pages > RING_PAGES_MOST || more > bytes_left(p, th->image) / PART_TO_ENLARGE)
		return false;
	int page = take_pages(p, th->task, pages);
	const uint64_t at = ring_address((unsigned)page);
	if (page < 0 || remote_write(th->tid, th->scratch + offsetof(struct agent_scratch, ring), &at, sizeof(at)) < 0)
		return false;
	begin_ring(p, th, (unsigned)page, pages);
	give_pages(th->region, old, before);
	count_bytes(p, th, 1, more, 0);
	return true;
}

/* Gives rings to threads, and maintains the program's table of the threads that have one. */
/*
 * A value in sctrace's copy of the table: several threads have this thread pointer, so all their calls stop. The program's
 * table has 0 instead.
 */
#define SHARED 1

static bool write_row(const struct task *task, struct agent_thread *row, uint64_t thread_pointer, uint64_t scratch)
{
	const struct agent_thread there = {.thread_pointer = thread_pointer,
					   .scratch = scratch == SHARED ? 0 : scratch};
	uint64_t at = thread_table_address(image_of(task)->threads, thread_bucket(thread_pointer), row);
	*row = (struct agent_thread){.thread_pointer = thread_pointer, .scratch = scratch};
	return remote_write(task->tid, at, &there, sizeof(there)) == 0;
}

/*
 * Is `o` the thread that waits in vfork(2) until `child` ends or calls execve(2)? `child` need not be such a child. If
 * the vfork(2) was recorded, the agent writes the parent's scratch memory into the program's table when the call
 * returns; sctrace may not have seen the child's execve(2) or end yet.
 */
static bool is_vfork_parent(const struct record_thread *o, const struct record_thread *child)
{
	return o->image == child->image && child->task && thread_of(child->task)->vfork_parent == o->tid;
}

/*
 * Frees the thread's row, or returns it to the parent whose recorded vfork(2) has created the thread. The program's copy
 * of the row may stay unchanged: before another thread with this thread pointer runs, sctrace admits that thread, and thereby
 * overwrites the copy.
 */
static void free_row(const struct patch *p, const struct record_thread *th)
{
	struct agent_thread *row = th->image->threads ? thread_table_row(th->image->threads, th->thread_pointer) : NULL;
	if (!row || row->scratch != th->scratch)
		return;
	*row = (struct agent_thread){0};
	const struct task *parent = th->task ? tasks_find(&p->t.tasks, thread_of(th->task)->vfork_parent) : NULL;
	const struct record_thread *o = parent ? recorded_of(parent) : NULL;
	if (o && is_vfork_parent(o, th) && o->thread_pointer == th->thread_pointer && !patch_task_of(parent)->slow)
		*row = (struct agent_thread){.thread_pointer = o->thread_pointer, .scratch = o->scratch};
}

/*
 * True if both are vfork(2) children of the same parent thread. They never run in the parent's memory at the same time: the
 * thread sleeps until a child calls execve(2) or ends, and only then can it create the next one.
 */
static bool are_vfork_siblings(const struct record_thread *a, const struct record_thread *b)
{
	return a->task && b->task && thread_of(a->task)->vfork_parent &&
	       thread_of(a->task)->vfork_parent == thread_of(b->task)->vfork_parent;
}

/*
 * True if another thread uses the row of the table of threads, and may run now. A vfork(2) child and its parent do not
 * count, because only one of them runs. Two vfork(2) children of one parent do not count either: sctrace may see the new
 * child before it sees the execve(2) of the previous child, which then still seems to use the row.
 */
static bool is_contended(const struct patch *p, const struct agent_thread *row, const struct record_thread *th)
{
	for (size_t i = 0; row->scratch && i < p->record->threads.n; i++) {
		const struct record_thread *o = p->record->threads.v[i];
		if (o != th && o->task && o->image == th->image && row->scratch == o->scratch)
			return !patch_task_of(o->task)->slow && !is_vfork_parent(o, th) && !is_vfork_parent(th, o) &&
			       !are_vfork_siblings(o, th);
	}
	return false;
}

#define POINTERS_TRIED 64

/* Is it the thread pointer of a program that does not use it, or one that give_pointer() has set in its place? */
static bool is_unused(uint64_t thread_pointer)
{
	return thread_pointer == 0 || thread_pointer - SCRATCHES_AT < SCRATCH_ROOM;
}

/*
 * On aarch64, Go programs without C code do not use the thread pointer, which is 0 in all their threads. All threads but the
 * first get one of their own. It is an address in the thread's scratch memory, which no program uses. A new thread inherits the
 * thread pointer of the thread that creates it; a process, too, so it may be in use although the scratch memory was free.
 * Returns the thread's row, and sets *thread_pointer.
 */
static struct agent_thread *give_pointer(const struct task *task, const struct record_thread *th,
					 uint64_t *thread_pointer)
{
	const struct agent_thread *row = NULL;
	uint64_t value = th->scratch - sizeof(value);
	for (int i = 0; i < POINTERS_TRIED && (!row || row->scratch); i++)
		row = thread_table_row(th->image->threads, value += sizeof(value));
	if (row && !row->scratch && cpu_give_thread_pointer(task->tid, value) >= 0)
		*thread_pointer = value;
	return thread_table_row(th->image->threads, *thread_pointer);
}

void record_take_pointer(const struct task *task)
{
	struct cpu_regs r;
	if (task->stopped && cpu_get(task->tid, &r) == 0 && r.CPU_THREAD_POINTER && is_unused(r.CPU_THREAD_POINTER))
		cpu_give_thread_pointer(task->tid, 0);
}

void record_adopt(struct patch *p, struct task *task, unsigned page)
{
	struct record_thread *th = record_thread_new(p, task, page, p->ring_pages, 0);
	struct agent_thread *row = thread_table_row(th->image->threads, 0);
	vec_push(&th->image->scratches_taken, 1);
	*row = (struct agent_thread){.thread_pointer = 0, .scratch = th->scratch};
	th->has_ring = true;
}

/*
 * Clears the thread's scratch memory and writes the ring's address to it, if that was not done before. The thread that
 * had this memory before may have ended in the middle of a call, for example as a child of vfork(2).
 */
static bool write_ring(const struct task *task, struct record_thread *th)
{
	const struct agent_scratch scratch = {.busy = SCRATCH_IDLE, .ring = ring_address(th->page)};
	if (!th->has_ring)
		th->has_ring = remote_write(task->tid, th->scratch, &scratch, sizeof(scratch)) == 0;
	return th->has_ring;
}

/* No thread gets a lane if fewer than this many lanes fit into the rest of the memory for rings: other threads need rings. */
#define LANES_LEAST 16

/* Gives the stopped task a lane if there is memory for it. Otherwise its calls are recorded. */
static void give_lane(struct patch *p, struct task *task, struct record_thread *th)
{
	struct patch_task *pt = patch_task_of(task);
	if (!p->count_threads || pt->lane || !th->has_ring || th->group->foreign)
		return;
	if (!th->image->ring_most)
		note_limits(p, task);
	if (bytes_left(p, th->image) < (uint64_t)LANES_LEAST * LANE_SIZE)
		return;
	int page = take_pages(p, task, RING_PAGES_MOST);
	if (page < 0)
		return;
	const uint64_t distance = ring_address((unsigned)page) - AGENT_STATS;
	struct lane *lane = memory_zeroed(1, sizeof(*lane));
	*lane = (struct lane){.slots = th->region->slots + distance,
			      .page = (unsigned)page,
			      .tid = task->tid,
			      .began_ns = clock_ns()};
	proc_comm(task->tid, lane->name, sizeof(lane->name));
	madvise(lane->slots, LANE_SIZE, MADV_REMOVE); /* a ring may have been there */
	if (remote_write(task->tid, th->scratch + offsetof(struct agent_scratch, lane), &distance, sizeof(distance)) <
	    0) {
		region_give_ring(th->region, lane->page, RING_PAGES_MOST, true);
		free(lane);
		return;
	}
	count_bytes(p, th, 1, LANE_SIZE, 0);
	pt->lane = lane;
}

/* Collects the last counts of the task's lane, and frees the lane. */
static void end_lane(struct patch *p, const struct record_thread *th)
{
	struct patch_task *pt = th->task ? patch_task_of(th->task) : NULL;
	if (!pt || !pt->lane)
		return;
	const unsigned page = pt->lane->page;
	region_end_lane(p, th->region, pt->lane);
	pt->lane = NULL;
	region_give_ring(th->region, page, RING_PAGES_MOST, false);
	count_bytes(p, th, -1, LANE_SIZE, 0);
}

bool record_admit_at(struct patch *p, struct task *task, uint64_t thread_pointer)
{
	struct image *img = image_of(task);
	if (!p->record || !img || !img->threads || img->state != IMAGE_READY || !task->proc->counted)
		return false;
	struct record_thread *th = recorded_of(task);
	if (!th)
		th = record_take_ring(p, task);
	struct agent_thread *row = th ? thread_table_row(img->threads, thread_pointer) : NULL;
	if (!row)
		return false;
	th->contended = row->scratch == SHARED;
	if (th->contended)
		return false;
	if (th->thread_pointer == thread_pointer && row->scratch == th->scratch) {
		give_lane(p, task, th);
		return true;
	}
	free_row(p, th);
	if (is_unused(thread_pointer) && is_contended(p, row, th))
		row = give_pointer(task, th, &thread_pointer);
	if (!row)
		return false;
	th->thread_pointer = thread_pointer;
	th->contended = is_contended(p, row, th);
	if (th->contended)
		return write_row(task, row, thread_pointer, SHARED) && false;
	if (!write_ring(task, th))
		return false;
	give_lane(p, task, th);
	return write_row(task, row, thread_pointer, th->scratch);
}

void record_expect(struct patch *p, struct task *task, uint64_t thread_pointer)
{
	struct record_thread *th = recorded_of(task);
	struct agent_thread *row = th && th->has_ring ? thread_table_row(th->image->threads, thread_pointer) : NULL;
	/*
	 * The row of the old thread pointer stays. If another thread gets that thread pointer meanwhile, all its calls stop (SHARED).
	 */
	if (!row || row->scratch || !write_row(task, row, thread_pointer, th->scratch))
		return;
	th->thread_pointer = thread_pointer;
	give_lane(p, task, th);
}

bool record_admit(struct patch *p, struct task *task)
{
	struct cpu_regs r;
	return p->record && cpu_get(task->tid, &r) == 0 && record_admit_at(p, task, r.CPU_THREAD_POINTER);
}

void record_forget_copied(struct task *task)
{
	struct image *img = image_of(task);
	if (!img || !img->threads)
		return;
	record_forget_names(task, true);
	for (unsigned i = 0; i < THREAD_BUCKETS; i++) {
		struct agent_thread *rows = img->threads->buckets[i];
		if (rows) {
			memset(rows, 0, THREAD_ROWS * sizeof(*rows));
			remote_write(task->tid, thread_table_address(img->threads, i, rows), rows,
				     THREAD_ROWS * sizeof(*rows));
		}
	}
}

bool record_take_back(const struct task *task)
{
	const struct record_thread *th = recorded_of(task);
	struct agent_thread *row = thread_table_row(th->image->threads, th->thread_pointer);
	return !row || row->scratch == SHARED || write_row(task, row, th->thread_pointer, th->scratch);
}

void record_dismiss(struct patch *p, struct record_thread *th)
{
	end_lane(p, th);
	record_give_ring(p, th);
	free_row(p, th);
}
