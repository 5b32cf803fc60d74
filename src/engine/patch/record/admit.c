/* Gives rings to threads, and maintains the program's table of the threads that have one. */
#include "engine/patch/record/record.h"

#include "base/memory.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/thread_table.h"
#include "engine/patch/remote/remote.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

static struct agent_ring *ring_here(const struct region *r, unsigned index)
{
	return (struct agent_ring *)(void *)(r->slots + AGENT_STATS_SIZE + (size_t)index * RING_SIZE);
}

/*
 * A value in sctrace's copy of the table: several threads have this fs base, so all their calls stop. The program's
 * table has 0 instead.
 */
#define SHARED 1

static bool write_row(const struct task *task, struct agent_thread *row, uint64_t fs_base, uint64_t scratch)
{
	const struct agent_thread there = {.fs_base = fs_base, .scratch = scratch == SHARED ? 0 : scratch};
	uint64_t at = thread_table_address(image_of(task)->threads, thread_bucket(fs_base), row);
	*row = (struct agent_thread){.fs_base = fs_base, .scratch = scratch};
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
 * of the row may stay unchanged: before another thread with this fs base runs, sctrace admits that thread, and thereby
 * overwrites the copy.
 */
static void free_row(const struct patch *p, const struct record_thread *th)
{
	struct agent_thread *row = th->image->threads ? thread_table_row(th->image->threads, th->fs_base) : NULL;
	if (!row || row->scratch != scratch_address(th->index))
		return;
	*row = (struct agent_thread){0};
	for (size_t i = 0; i < p->record->threads.n; i++) {
		const struct record_thread *o = p->record->threads.v[i];
		if (is_vfork_parent(o, th) && o->task && o->fs_base == th->fs_base && !patch_task_of(o->task)->slow)
			*row = (struct agent_thread){.fs_base = o->fs_base, .scratch = scratch_address(o->index)};
	}
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
		if (o != th && o->task && o->image == th->image && row->scratch == scratch_address(o->index))
			return !patch_task_of(o->task)->slow && !is_vfork_parent(o, th) && !is_vfork_parent(th, o) &&
			       !are_vfork_siblings(o, th);
	}
	return false;
}

/* Makes the stopped task extend the mapping at `at`. */
static bool extend(struct patch *p, struct task *task, uint64_t at, uint64_t old, uint64_t new)
{
	struct user_regs_struct r;
	const uint64_t args[6] = {at, old, new};
	return ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) == 0 &&
	       remote_excursion_call(&p->t, task, AGENT_AT(agent_call), &r, SYS_mremap, args) == 0 && r.rbx == at;
}

/*
 * Makes the program map ring number `index` and its scratch memory. The number of mapped rings is doubled as often as
 * necessary. If only one of the two can be mapped, later attempts fail as well.
 */
static bool map_ring(struct patch *p, struct task *task, unsigned index)
{
	struct image *img = image_of(task);
	const unsigned before = img->counters.rings;
	unsigned rings = before;
	while (rings <= index)
		rings *= 2;
	if (rings == before)
		return true;
	/*
	 * Mapping needs an excursion. After an excursion, a signal that waits for its delivery could not be delivered
	 * any more. A thread in a group-stop would have to leave the group-stop.
	 */
	if (task->deliver || task->listening ||
	    !extend(p, task, AGENT_STATS, AGENT_STATS_SIZE + (uint64_t)before * RING_SIZE,
		    AGENT_STATS_SIZE + (uint64_t)rings * RING_SIZE) ||
	    !extend(p, task, SCRATCHES_AT, (uint64_t)before * SCRATCH_SIZE, (uint64_t)rings * SCRATCH_SIZE))
		return false;
	img->counters.rings = rings;
	return true;
}

/* Gives the task ring number `index`. The caller has reserved this ring in the region, and the image has mapped it. */
static struct record_thread *thread_new(struct patch *p, struct task *task, unsigned index)
{
	struct record_thread *th = memory_zeroed(1, sizeof(*th));
	th->tid = task->tid;
	th->pid = task->proc->pid;
	th->task = task;
	th->turn = UINT64_MAX;
	th->image = image_of(task);
	th->region = th->image->counters.region;
	th->index = index;
	struct agent_ring *ring = ring_here(th->region, index);
	memset(ring, 0, sizeof(*ring));
	ring->limit = p->record->limit;
	ring->string_max = p->record->string_max;
	th->reader = (struct record_reader){.ring = ring, .limit = p->record->limit};
	vec_push(&p->record->threads, th);
	patch_task_of(task)->recorded = th;
	return th;
}

static struct record_thread *take_ring(struct patch *p, struct task *task)
{
	struct region *region = image_of(task)->counters.region;
	int i = region_take_ring(region);
	if (i >= 0 && map_ring(p, task, (unsigned)i))
		return thread_new(p, task, (unsigned)i);
	if (i >= 0)
		region_give_ring(region, (unsigned)i);
	return NULL;
}

void record_adopt(struct patch *p, struct task *task, unsigned index)
{
	struct record_thread *th = thread_new(p, task, index);
	struct agent_thread *row = thread_table_row(th->image->threads, 0);
	*row = (struct agent_thread){.fs_base = 0, .scratch = scratch_address(th->index)};
	th->has_ring = true;
}

/*
 * Clears the thread's scratch memory and writes the ring's address to it, if that was not done before. The thread that
 * had this memory before may have ended in the middle of a call, for example as a child of vfork(2).
 */
static bool write_ring(const struct task *task, struct record_thread *th)
{
	const struct agent_scratch scratch = {.busy = SCRATCH_IDLE, .ring = ring_address(th->index)};
	if (!th->has_ring)
		th->has_ring = remote_write(task->tid, scratch_address(th->index), &scratch, sizeof(scratch)) == 0;
	return th->has_ring;
}

bool record_admit_at(struct patch *p, struct task *task, uint64_t fs_base)
{
	struct image *img = image_of(task);
	if (!p->record || !img || !img->threads || img->state != IMAGE_READY || !task->proc->counted)
		return false;
	struct record_thread *th = recorded_of(task);
	if (!th)
		th = take_ring(p, task);
	struct agent_thread *row = th ? thread_table_row(img->threads, fs_base) : NULL;
	if (!row || row->scratch == SHARED)
		return false;
	if (th->fs_base == fs_base && row->scratch == scratch_address(th->index))
		return true;
	free_row(p, th);
	th->fs_base = fs_base;
	if (is_contended(p, row, th))
		return write_row(task, row, fs_base, SHARED) && false;
	return write_ring(task, th) && write_row(task, row, fs_base, scratch_address(th->index));
}

void record_expect(const struct task *task, uint64_t fs_base)
{
	struct record_thread *th = recorded_of(task);
	struct agent_thread *row = th && th->has_ring ? thread_table_row(th->image->threads, fs_base) : NULL;
	/*
	 * The row of the old fs base stays. If another thread gets that fs base meanwhile, all its calls stop (SHARED).
	 */
	if (row && !row->scratch && write_row(task, row, fs_base, scratch_address(th->index)))
		th->fs_base = fs_base;
}

bool record_admit(struct patch *p, struct task *task)
{
	struct user_regs_struct r;
	return p->record && ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) == 0 &&
	       record_admit_at(p, task, r.fs_base);
}

void record_forget_copied(struct task *task)
{
	struct image *img = image_of(task);
	if (!img || !img->threads)
		return;
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
	struct agent_thread *row = thread_table_row(th->image->threads, th->fs_base);
	return !row || row->scratch == SHARED || write_row(task, row, th->fs_base, scratch_address(th->index));
}

void record_dismiss(const struct patch *p, struct record_thread *th)
{
	region_give_ring(th->region, th->index);
	free_row(p, th);
}
