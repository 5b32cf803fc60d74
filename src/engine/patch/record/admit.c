/* Gives rings to threads, and maintains the program's table of the threads that have one. */
#include "engine/patch/record/record.h"

#include "engine/patch/image/thread_table.h"
#include "engine/patch/remote/remote.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

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
	if (!row || row->scratch != th->scratch)
		return;
	*row = (struct agent_thread){0};
	const struct task *parent = th->task ? tasks_find(&p->t.tasks, thread_of(th->task)->vfork_parent) : NULL;
	const struct record_thread *o = parent ? recorded_of(parent) : NULL;
	if (o && is_vfork_parent(o, th) && o->fs_base == th->fs_base && !patch_task_of(parent)->slow)
		*row = (struct agent_thread){.fs_base = o->fs_base, .scratch = o->scratch};
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

void record_adopt(struct patch *p, struct task *task, unsigned page)
{
	struct record_thread *th = record_thread_new(p, task, page, p->ring_pages, 0);
	struct agent_thread *row = thread_table_row(th->image->threads, 0);
	vec_push(&th->image->scratches_taken, 1);
	*row = (struct agent_thread){.fs_base = 0, .scratch = th->scratch};
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

bool record_admit_at(struct patch *p, struct task *task, uint64_t fs_base)
{
	struct image *img = image_of(task);
	if (!p->record || !img || !img->threads || img->state != IMAGE_READY || !task->proc->counted)
		return false;
	struct record_thread *th = recorded_of(task);
	if (!th)
		th = record_take_ring(p, task);
	struct agent_thread *row = th ? thread_table_row(img->threads, fs_base) : NULL;
	if (!row)
		return false;
	th->contended = row->scratch == SHARED;
	if (th->contended)
		return false;
	if (th->fs_base == fs_base && row->scratch == th->scratch)
		return true;
	free_row(p, th);
	th->fs_base = fs_base;
	th->contended = is_contended(p, row, th);
	if (th->contended)
		return write_row(task, row, fs_base, SHARED) && false;
	return write_ring(task, th) && write_row(task, row, fs_base, th->scratch);
}

void record_expect(const struct task *task, uint64_t fs_base)
{
	struct record_thread *th = recorded_of(task);
	struct agent_thread *row = th && th->has_ring ? thread_table_row(th->image->threads, fs_base) : NULL;
	/*
	 * The row of the old fs base stays. If another thread gets that fs base meanwhile, all its calls stop (SHARED).
	 */
	if (row && !row->scratch && write_row(task, row, fs_base, th->scratch))
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
	record_forget_names(task);
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
	return !row || row->scratch == SHARED || write_row(task, row, th->fs_base, th->scratch);
}

void record_dismiss(struct patch *p, struct record_thread *th)
{
	record_give_ring(p, th);
	free_row(p, th);
}
