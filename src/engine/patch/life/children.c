#include "engine/patch/life/children.h"

#include "base/memory.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/image/usage.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/threads/sigkill_guard.h"
#include "engine/patch/threads/stepout.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/ptrace.h>

struct patch_task *children_give_state(struct task *task)
{
	if (!task->data)
		task->data = memory_zeroed(1, sizeof(struct patch_task));
	return task->data;
}

/*
 * Sets *flags for a clone(2) whose entry the tracer did not see, because the agent made the call. PTRACE_EVENT_FORK and
 * PTRACE_EVENT_VFORK determine these flags: the agent makes a fork-like call only if the call's flags are in a register
 * and do not include CLONE_VM, and a vfork-like call only without CLONE_THREAD. PTRACE_EVENT_CLONE can report a thread, or
 * a process that does not send SIGCHLD when it ends.
 */
bool children_unseen_clone(struct tracer *t, const struct task *parent, int event, uint64_t *flags)
{
	const struct patch_task *pt = patch_task_of(parent);
	const struct image *img = image_of(parent);
	bool vfork = event == PTRACE_EVENT_VFORK;
	(void)t;
	if (event == PTRACE_EVENT_CLONE || !img || img->state != IMAGE_READY || !pt || !pt->armed || pt->slow ||
	    (vfork && (img->refs > 1 || parent->proc->ntasks > 1)))
		return false;
	*flags = vfork ? CLONE_VM | CLONE_VFORK : 0;
	return true;
}

/* Copies the state that a child inherits across clone(2). */
static void inherit(const struct task *parent, struct task *child)
{
	const struct patch_task *from = patch_task_of(parent);
	children_give_state(child);
	if (!from)
		return;
	patch_task_of(child)->sigsys_blocked = from->sigsys_blocked;
	if (child->proc != parent->proc) { /* the child has a copy of the stack, with the signal frames on it */
		patch_task_of(child)->moved_frames = from->moved_frames;
		patch_task_of(child)->signalled = from->signalled;
		patch_task_of(child)->returns_blocked = from->returns_blocked;
	}
	if (image_of(child))
		image_of(child)->sigsys.blockers += from->sigsys_blocked;
}

/*
 * May a child that sctrace does not follow run untraced from its first instruction? Yes, if the agent has made the
 * vfork-like call that created it, and is writing the record of this call. The parent's scratch memory is then busy
 * while the child runs, so the agent records nothing for the child. No, if the parent was attached: when sctrace detaches,
 * it restores the code, in which the child may still be.
 */
static bool may_run_untraced(const struct tracer *t, const struct task *parent, const struct user_regs_struct *r)
{
	return !t->hold && !parent->proc->attached && r->rip == AGENT_AT(agent_record_vfork_after);
}

/* Gives a new process its parent's image, or a copy of it. */
static void give_image(struct tracer *t, const struct task *parent, const struct task *child, uint64_t flags)
{
	struct image *img = image_of(parent);
	struct user_regs_struct r;
	if (!(flags & CLONE_VM)) {
		child->proc->image = image_copy(patch_of(t), parent);
		image_map_new_calls(patch_of(t),
				    parent); /* for its next children: earlier ones may have made new calls */
		return;
	}
	child->proc->image = img;
	img->refs++;
	if (!(flags & CLONE_SIGHAND))
		image_borrow(parent, child);
	bool apart = !child->proc->counted || (t->config.want & CAP_BY_PROCESS);
	bool ignored = !child->proc->counted && flags & CLONE_VFORK &&
		       ptrace_retry(PTRACE_GETREGS, parent->tid, NULL, &r) == 0;
	if (!apart || (ignored && may_run_untraced(t, parent, &r)))
		return;
	/* The child's calls must not be counted as its parent's. */
	child->proc->hold = true;
	if (ignored && image_tell_apart(patch_of(t), parent, child, &r))
		return;
	/* While the child lives, all calls of the image stop. */
	img->counters.sharers++;
	img->user = parent->tid;
	image_switch(patch_of(t), img, true);
}

void children_on_new_task(struct tracer *t, struct task *parent, struct task *child, uint64_t flags)
{
	/* From now on, another task may update the same slots. The slot of clone(2) is always updated with a lock. */
	if (image_of(parent))
		image_end_single_thread(parent);
	if (image_of(parent) && flags & CLONE_THREAD)
		usage_note_threads(image_of(parent)->start.usage);
	/* While a child of vfork(2) exists, the agent does not count the actions that another thread sets. */
	if (image_of(parent) && flags & CLONE_VM && (flags & (CLONE_VFORK | CLONE_THREAD)) != CLONE_VFORK)
		image_of(parent)->handlers.known = false;
	if (image_of(parent) && !child->proc->image)
		give_image(t, parent, child, flags);
	inherit(parent, child);
	record_note_parent(patch_of(t), parent, child);
}

void children_on_first_stop(struct tracer *t, struct task *task)
{
	struct patch *p = patch_of(t);
	struct image *img = image_of(task);
	/*
	 * If the kernel did not report the clone(2), the image is unknown. The task is then traced by ptrace, and its
	 * copy of the agent must pass all calls to the tracer. The same is true for a copy of an image without sites
	 * (image_copy).
	 */
	bool copied_fallback = img && img->state == IMAGE_FALLBACK && img->counters.region && img->refs == 1;
	if (p->record && (!img || img->refs == 1)) /* not for a thread or a child of vfork(2) */
		record_free_child(task);
	if (!img || copied_fallback)
		image_refuse_all(task);
	children_give_state(task);
	if (!img || img->state != IMAGE_READY)
		return;
	bool served = arm_is_served(p, task);
	bool forked = img->refs == 1 && task->tid == task->proc->pid;
	bool apart = served && forked && (t->config.want & CAP_BY_PROCESS || !task->proc->counted);
	if (forked)
		site_check_copied(p, task);
	if (!served || apart)
		stepout_child(task, apart);
	if (!served) {
		sigkill_guard_inherit(p, task);
		return;
	}
	if (apart && setup_own_region(p, task) < 0)
		image_fall_back(p, task, "there is no memory for its counters");
	if (forked)
		image_begin_child(p, task); /* its copy of the agent's memory is older than the parent's use of locks */
	if (forked)
		record_forget_copied(task);
	image_watch_borrower(task);
	record_admit(p, task);
	image_note_frames(task);
	arm_task(p, task, img->state == IMAGE_READY);
}

void children_on_death(struct tracer *t, struct task *task)
{
	remote_release(t, task->tid);
	image_forget_task(task);
	record_leave(patch_of(t), task);
	if (task->proc && task->proc->ntasks == 1)
		image_leave(patch_of(t), task->proc);
	free(task->data);
	task->data = NULL;
}
