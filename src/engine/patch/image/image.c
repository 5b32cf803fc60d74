/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/image.h"

#include "base/memory.h"
#include "engine/patch/code/ring.h"

#include "engine/patch/image/region.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "tracee/proc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

struct image *image_new(void)
{
	struct image *img = memory_zeroed(1, sizeof(*img));
	img->refs = 1;
	return img;
}

static struct image_borrower *find_borrower(const struct image *img, pid_t pid)
{
	for (size_t i = 0; i < img->borrowers.n; i++)
		if (img->borrowers.v[i].pid == pid)
			return &img->borrowers.v[i];
	return NULL;
}

struct image_actions *image_actions_of(const struct task *task)
{
	struct image *img = image_of(task);
	struct image_borrower *b = find_borrower(img, task->proc->pid);
	return b ? &b->actions : &img->actions;
}

void image_borrow(const struct task *parent, const struct task *child)
{
	const struct image_actions copy = *image_actions_of(parent);
	const struct image_borrower b = {child->proc->pid, copy, {FAULT_INHERITED, FAULT_INHERITED}, false};
	vec_push(&image_of(child)->borrowers, b);
}

/* A limit for all images, because a program can have many children. This number of sites takes 600 MB. */
#define SITES_IN_ALL 2000000

/* Counts an image that is traced by ptrace. The footer gives the reason of the first one. */
static void count_fallback(struct patch *p, const char *why)
{
	p->fallback_images++;
	if (!p->fallback_why.len)
		buf_adds(&p->fallback_why, why);
}

struct image *image_copy(struct patch *p, const struct task *parent)
{
	const struct image *from = image_of(parent);
	struct image *img = image_new();
	img->state = from->state;
	img->cleaned = from->cleaned;
	img->start = from->start;
	img->sigsys = from->sigsys;
	img->sigsys.blockers = img->sigsys.awaiting = 0; /* the copied numbers count threads of the parent */
	img->actions = *image_actions_of(parent);
	img->watch = from->watch;
	img->rseq = from->rseq;
	img->has_thread_pointer = from->has_thread_pointer;
	img->blocking = from->blocking;
	img->counters = from->counters;
	img->counters.words = NULL;
	img->counters.off = false;
	img->counters.sharers = img->counters.apart = 0;
	if (img->counters.region)
		img->counters.region->refs++;
	img->threads = thread_table_copy(from->threads);
	img->ring_group = from->ring_group;
	img->ring_most = from->ring_most;
	img->unnamed = from->unnamed;
	/* For a child that is not followed. image_begin_child() finds out which rows its memory really has. */
	memcpy(img->sites.followed, from->sites.followed, sizeof(img->sites.followed));
	img->sites.unfollowed = from->sites.unfollowed;
	img->sites.serial = from->sites.serial;
	img->sites.copied_serial = patch_task_of(parent) ? patch_task_of(parent)->serial : 0;
	p->images++;
	if (p->nsites + from->sites.by_ip.n <= SITES_IN_ALL)
		site_copy_all(p, img, from);
	else
		img->state = IMAGE_FALLBACK;
	if (img->state == IMAGE_FALLBACK)
		count_fallback(p, "the programs have too many call sites");
	return img;
}

/* Releases one reference. `img` may be NULL. */
static void image_put(struct patch *p, struct image *img)
{
	if (!img || --img->refs > 0)
		return;
	usage_end(img);
	site_free_all(p, img);
	vec_free(&img->entered);
	vec_free(&img->mappings);
	vec_free(&img->borrowers);
	thread_table_free(img->threads);
	vec_free(&img->scratches_taken);
	region_give_words(img->counters.region, img->counters.words);
	region_put(p, img->counters.region);
	free(img);
}

bool image_has_agent(const struct image *img)
{
	return img->state != IMAGE_NEW && img->counters.region && !img->cleaned;
}

struct agent_slot *image_slot(const struct image *img, uint64_t slot_addr)
{
	const struct region *r = img->counters.region;
	return r && r->slots ? region_slot_at(r, slot_addr & ~(uint64_t)(SLOT_ALIGN - 1)) : NULL;
}

/* --- which calls the agent makes --- */

/*
 * Must the call run under ptrace? That is so for execveat(2), which the agent does not support; for restart_syscall(2),
 * which continues another call; for seccomp(2), which changes the filters that arming depends on; for mlockall(2), which
 * locks the engine's memory as well (dispatch_end_slow()); and for personality(2), which can make data executable (image/scan.c).
 */
static bool is_special(int64_t nr)
{
	return nr == SYS_execveat || nr == SYS_restart_syscall || nr == SYS_seccomp || nr == SYS_mlockall ||
	       nr == SYS_personality;
}

/* Must the tracer see this call now? While a thread blocks SIGSYS, it must see each change of a signal mask. */
static bool is_watched(const struct image *img, int64_t nr)
{
	return (nr == SYS_rt_sigprocmask && img->sigsys.blockers > 0) ||
	       (nr == SYS_rt_sigreturn && (img->sigsys.awaiting > 0 || img->sites.unfollowed)) ||
	       (nr == SYS_execve && img->sigsys.ignored);
}

void image_expect_usual_calls(struct patch *p)
{
	static const int16_t usual[] = {
		SYS_access,
		CPU_SET_THREAD_POINTER,
		SYS_brk,
		SYS_close,
		SYS_exit_group,
		SYS_faccessat,
		SYS_getrandom,
		SYS_mmap,
		SYS_mprotect,
		SYS_munmap,
		SYS_newfstatat,
		SYS_openat,
		SYS_pread64,
		SYS_prlimit64,
		SYS_read,
		SYS_rseq,
		SYS_set_robust_list,
		SYS_set_tid_address,
		SYS_write,
	};
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (usual[i] >= 0) /* some processors lack some calls */
			vec_push(&p->calls, usual[i]);
}

void image_map_known_calls(const struct patch *p, struct image *img, struct region *r)
{
	for (size_t i = 0; i < p->calls.n; i++)
		if (!is_watched(img, p->calls.v[i]) && p->record_way[p->calls.v[i]] != RECORD_STOPS)
			img->counters.map[p->calls.v[i]] = region_entry(p, r, p->calls.v[i]);
	img->counters.known = p->calls.n;
}

void image_expect_call(struct patch *p, int64_t nr)
{
	if (is_special(nr) || nr < 0 || nr >= AGENT_NUMBERS)
		return;
	for (size_t i = 0; i < p->calls.n; i++)
		if (p->calls.v[i] == nr)
			return;
	vec_push(&p->calls, (int16_t)nr);
}

static uint64_t map_address(int64_t row)
{
	return AGENT_DATA_AT(map) + 4 * (uint64_t)row;
}

void image_map_new_calls(struct patch *p, const struct task *task)
{
	struct image *img = image_of(task);
	if (img->state != IMAGE_READY || img->counters.off)
		return;
	for (size_t i = img->counters.known; i < p->calls.n; i++) {
		const int64_t nr = p->calls.v[i];
		if (img->counters.map[nr] || is_watched(img, nr) || p->record_way[nr] == RECORD_STOPS)
			continue;
		uint32_t entry = region_entry(p, img->counters.region, (int)nr);
		if (remote_write(task->tid, map_address(nr), &entry, sizeof(entry)) == 0)
			img->counters.map[nr] = entry;
	}
	img->counters.known = p->calls.n;
}

bool image_map_call(struct patch *p, struct task *task, int64_t nr, bool refused)
{
	struct image *img = image_of(task);
	const int row = patch_row(p, nr);
	if (row < 0 || img->state != IMAGE_READY || img->counters.off || is_special(nr) || is_watched(img, nr) ||
	    p->record_way[row] == RECORD_STOPS)
		return false;
	uint32_t entry = img->counters.map[row];
	uint32_t there = 0;
	if (entry && !refused)
		return true;
	if (entry) {
		/*
		 * If the agent has cleared the entry, a bucket of the histogram is half full, or the table of errors
		 * is almost full. If the entry is
		 * unchanged, the agent refused the call because of its arguments, or another thread has already mapped
		 * the call again.
		 */
		if (remote_read(task->tid, map_address(row), &there, sizeof(there)) == 0 && there == entry)
			return false;
		region_empty(p, img->counters.region, patch_task_of(task)->lane, row);
		if (region_is_full(img->counters.region, patch_task_of(task)->lane)) {
			image_fall_back(p, task, "its calls fail with too many different errors");
			return false;
		}
	} else
		entry = region_entry(p, img->counters.region, row);
	if (row >= AGENT_NUMBERS && remote_write(task->tid, AGENT_DATA_AT(others), p->others, sizeof(p->others)) < 0)
		return false;
	if (remote_write(task->tid, map_address(row), &entry, sizeof(entry)) < 0)
		return false;
	img->counters.map[row] = entry;
	image_expect_call(p, nr);
	return true;
}

/* Removes the call from the agent's map: the agent passes it to the tracer until image_map_call() adds it again. */
static void unmap_call(const struct task *task, int64_t nr)
{
	struct image *img = image_of(task);
	static const uint32_t none;
	if (img->state != IMAGE_READY || !img->counters.map[nr])
		return;
	img->counters.map[nr] = 0;
	remote_write(task->tid, map_address(nr), &none, sizeof(none));
}

void image_note_ignored(const struct task *task)
{
	image_of(task)->sigsys.ignored = true;
	unmap_call(task, SYS_execve);
}

void image_note_blocked(struct task *task, bool blocked)
{
	struct image *img = image_of(task);
	if (patch_task_of(task)->sigsys_blocked == blocked)
		return;
	patch_task_of(task)->sigsys_blocked = blocked;
	img->sigsys.blockers += blocked ? 1 : -1;
	if (img->sigsys.blockers > 0)
		unmap_call(task, SYS_rt_sigprocmask);
}

/* Writes a word of the agent's data, unless the image has no agent. */
static void write_word(const struct task *task, uint64_t at, uint64_t word)
{
	if (image_of(task)->state == IMAGE_READY)
		remote_write(task->tid, at, &word, sizeof(word));
}

static uint64_t fault_address(int sig)
{
	return AGENT_DATA_AT(fault) + (sig == SIGBUS ? sizeof(uint64_t) : 0);
}

uint64_t image_fault_handler(const struct task *task, int sig)
{
	uint64_t handler = FAULT_UNKNOWN;
	const struct image_borrower *b = find_borrower(image_of(task), task->proc->pid);
	if (b && b->faults[sig == SIGBUS] != FAULT_INHERITED)
		return b->faults[sig == SIGBUS];
	remote_read(task->tid, fault_address(sig), &handler, sizeof(handler));
	return handler;
}

void image_note_fault(struct task *task, int sig, uint64_t handler)
{
	struct image_borrower *b = find_borrower(image_of(task), task->proc->pid);
	if (b)
		b->faults[sig == SIGBUS] = handler;
	else
		write_word(task, fault_address(sig), handler);
}

void image_note_faults(struct task *task, const struct proc_status *s)
{
	static const int signals[] = {SIGSEGV, SIGBUS};
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if ((s->caught | s->ignored) & SIGBIT(signals[i]))
			image_note_fault(task, signals[i],
					 s->caught & SIGBIT(signals[i]) ? FAULT_UNKNOWN : 1 /* SIG_IGN */);
}

/* Adds bits to agent_data.watch. */
static void watch(const struct task *task, uint64_t bits)
{
	struct image *img = image_of(task);
	if (img->state != IMAGE_READY || (img->watch & bits) == bits)
		return;
	img->watch |= bits;
	write_word(task, AGENT_DATA_AT(watch), img->watch);
}

void image_watch_borrower(const struct task *task)
{
	if (find_borrower(image_of(task), task->proc->pid))
		watch(task, WATCH_FAULTS);
}

void image_note_sigsys(struct task *task, const uint64_t action[ACTION_WORDS])
{
	struct image_actions *a = image_actions_of(task);
	a->known = true;
	memcpy(a->sigsys, action, sizeof(a->sigsys));
	if (action[ACTION_HANDLER] != 0 /* SIG_DFL */)
		watch(task, WATCH_SIGSYS);
}

void image_answer_query(struct task *task, bool answers)
{
	struct image *img = image_of(task);
	if (answers)
		watch(task, WATCH_DEFAULT);
	else if (img->watch & WATCH_DEFAULT)
		write_word(task, AGENT_DATA_AT(watch), img->watch &= ~(uint64_t)WATCH_DEFAULT);
}

void image_note_handler(struct task *task, int sig, bool blocks)
{
	struct image *img = image_of(task);
	struct image_actions *a = image_actions_of(task);
	a->blocking_handlers = blocks ? a->blocking_handlers | SIGBIT(sig) : a->blocking_handlers & ~SIGBIT(sig);
	if (!blocks || img->blocking & SIGBIT(sig))
		return;
	img->blocking |= SIGBIT(sig);
	write_word(task, AGENT_DATA_AT(blocking), img->blocking);
}

void image_note_frames(struct task *task)
{
	struct image *img = image_of(task);
	struct patch_task *pt = patch_task_of(task);
	bool awaiting = pt && (pt->moved_frames > 0 || life_interrupted(&thread_of(task)->life) ||
			       pt->returns_blocked || (pt->sigsys_blocked && pt->signalled));
	if (!img || !pt || pt->awaiting == awaiting)
		return;
	pt->awaiting = awaiting;
	img->sigsys.awaiting += awaiting ? 1 : -1;
	if (awaiting)
		unmap_call(task, SYS_rt_sigreturn);
}

bool image_is_followed(const struct image *img, uint64_t ip)
{
	for (unsigned i = 0; i < AGENT_FOLLOWED; i++)
		if (ip && img->sites.followed[i] == ip)
			return true;
	return false;
}

bool image_follow(const struct patch *p, const struct task *task, uint64_t ip)
{
	struct image *img = image_of(task);
	struct cpu_regs moved = {.CPU_IP = ip};
	unsigned row = 0;
	if (p->watchdog_fd >= 0 || img->sites.unfollowed || !site_follow_registers(img, &moved))
		return false;
	if (image_is_followed(img, ip))
		return true;
	while (row < AGENT_FOLLOWED && img->sites.followed[row])
		row++;
	const uint64_t to[2] = {ip, moved.CPU_IP}, at = AGENT_DATA_AT(followed) + row * sizeof(to);
	if (row == AGENT_FOLLOWED || remote_write(task->tid, at, to, sizeof(to)) < 0)
		return false;
	img->sites.followed[row] = ip;
	return true;
}

void image_unfollow(const struct task *task, const struct site *s)
{
	static const uint64_t none[AGENT_FOLLOWED][2];
	struct image *img = image_of(task);
	for (uint64_t k = 0; k < RELOCATE_MAX && !img->sites.unfollowed; k++)
		img->sites.unfollowed = image_is_followed(img, s->ip + k);
	if (!img->sites.unfollowed)
		return;
	unmap_call(task, SYS_rt_sigreturn);
	remote_write(task->tid, AGENT_DATA_AT(followed), none, sizeof(none));
}

void image_forget_task(const struct task *task)
{
	struct image *img = image_of(task);
	const struct patch_task *pt = patch_task_of(task);
	if (!img || !pt)
		return;
	img->sigsys.blockers -= pt->sigsys_blocked;
	img->sigsys.awaiting -= pt->awaiting;
}

/* Returns a task that runs in the image, or 0. The task img->user may have ended, and its number may be used again. */
static pid_t find_user(const struct patch *p, const struct image *img)
{
	size_t i = 0;
	const struct task *task = tasks_find(&p->t.tasks, img->user);
	if (task && image_of(task) == img)
		return task->tid;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (image_of(task) == img)
			return task->tid;
	return 0;
}

void image_switch(struct patch *p, struct image *img, bool off)
{
	static const uint32_t none[AGENT_CALLS];
	if (img->state != IMAGE_READY || img->counters.off == off)
		return;
	img->counters.off = off;
	pid_t user = find_user(p, img);
	if (user)
		remote_write(user, map_address(0), off ? none : img->counters.map, sizeof(img->counters.map));
}

static void write_base(const struct patch *p, const struct image *img)
{
	const uint64_t base = AGENT_BASE | (uint64_t)(img->counters.apart > 0) << BASE_APART;
	pid_t user = img->state == IMAGE_READY ? find_user(p, img) : 0;
	if (user)
		remote_write(user, AGENT_DATA_AT(base), &base, sizeof(base));
}

bool image_tell_apart(struct patch *p, const struct task *parent, const struct task *child, const struct cpu_regs *r)
{
	struct image *img = image_of(parent);
	struct image_borrower *b = find_borrower(img, child->proc->pid);
	if (!b || !cpu_reads_thread_pointer() || vfork_frame_note_thread(parent, r) < 0)
		return false;
	b->apart = true;
	if (img->counters.apart++ == 0)
		write_base(p, img);
	return true;
}

bool image_others_wait(const struct patch *p, const struct task *task)
{
	size_t i = 0;
	const struct task *x;
	if (task->proc->ntasks == 1 && image_of(task)->refs == 1)
		return true;
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x != task && image_of(x) == image_of(task) && x->tid != thread_of(task)->vfork_parent &&
		    !(p->attaching && x->stopped))
			return false;
	return true;
}

void image_end_single_thread(struct task *task)
{
	struct image *img = image_of(task);
	if (img->state != IMAGE_READY || !img->counters.single_thread)
		return;
	img->counters.single_thread = false;
	write_word(task, AGENT_DATA_AT(single_thread), 0);
}

void image_begin_child(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	img->user = task->tid;
	img->counters.single_thread = false;
	img->counters.words = region_take_words(img->counters.region);
	const uint64_t words[4] = {AGENT_BASE, region_address(img->counters.region, img->counters.words), 0, 0};
	_Static_assert(offsetof(struct agent_data, taken) == offsetof(struct agent_data, base) + 24, "written at once");
	remote_write(task->tid, AGENT_DATA_AT(base), words, sizeof(words));
	/* The parent's rows may be newer than the copy of its memory. */
	uint64_t followed[AGENT_FOLLOWED][2] = {{0}};
	remote_read(task->tid, AGENT_DATA_AT(followed), followed, sizeof(followed));
	for (unsigned i = 0; i < AGENT_FOLLOWED; i++)
		img->sites.followed[i] = followed[i][0];
	image_map_new_calls(p, task);
}

void image_note_mask(const struct patch *p, struct task *task)
{
	uint64_t mask = 0;
	if (p->arming == ARM_SUD && ptrace_retry(PTRACE_GETSIGMASK, task->tid, sizeof(mask), &mask) == 0)
		image_note_blocked(task, mask & SIGBIT(SIGSYS));
}

void image_refuse_all(const struct task *task)
{
	static const uint32_t none[AGENT_CALLS];
	unsigned char code[64];
	/* If the image is not known, the program may have memory of its own at the agent's address. */
	if (remote_read(task->tid, AGENT_CODE, code, sizeof(code)) < 0 || memcmp(code, agent_begin, sizeof(code)) != 0)
		return;
	remote_write(task->tid, AGENT_DATA_AT(map), none, sizeof(none));
}

/* Restores all sites, and interrupts all threads, because only a thread that is resumed by PTRACE_SYSCALL stops at its calls. */
static void leave_to_ptrace(struct patch *p, struct task *task)
{
	size_t i = 0;
	const struct task *x;
	site_restore_all(task);
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (!x->stopped && x->proc && image_of(x) == image_of(task))
			ptrace_retry(PTRACE_INTERRUPT, x->tid, NULL, NULL);
}

void image_fall_back(struct patch *p, struct task *task, const char *why)
{
	struct image *img = image_of(task);
	if (img->state == IMAGE_FALLBACK)
		return;
	img->user = task->tid; /* it is alive, so the map can be written through it */
	image_switch(p, img, true);
	img->state = IMAGE_FALLBACK;
	if (p->arming == ARM_KNOCK)
		leave_to_ptrace(p, task);
	count_fallback(p, why);
	if (p->debug)
		fprintf(stderr, "sctrace: [%d] traced by ptrace: %s\n", (int)task->tid, why);
}

uint64_t image_count_calls(const struct patch *p, const struct image *img)
{
	const struct region *r = img->counters.region;
	uint64_t n = p->recorded;
	size_t at = 0;
	const struct task *x;
	for (unsigned i = 0; r && r->slots && i < r->used; i++)
		n += __atomic_load_n(&region_slot(r, i)->entered, __ATOMIC_RELAXED);
	while (p->count_threads && (x = map_next(&p->t.tasks.by_tid, &at, NULL)))
		if (r && image_of(x) == img && patch_task_of(x) && patch_task_of(x)->lane)
			n += region_lane_calls(r, patch_task_of(x)->lane);
	return n;
}

void image_leave(struct patch *p, struct process *proc)
{
	struct image *img = proc->image;
	struct image_borrower *b = img ? find_borrower(img, proc->pid) : NULL;
	bool apart = b && b->apart;
	proc->image = NULL;
	if (b)
		*b = img->borrowers.v[--img->borrowers.n];
	if (apart && --img->counters.apart == 0)
		write_base(p, img);
	else if (img && proc->hold && !apart && --img->counters.sharers == 0)
		image_switch(p, img, false);
	image_put(p, img);
}
