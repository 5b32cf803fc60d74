/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/setup.h"

#include "base/memory.h"
#include "engine/patch/code/ring.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/image_plan.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "tracee/proc.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#define CODE_SIZE  ((size_t)(unattended_code_end - unattended_code))
#define AGENT_SIZE ((size_t)(agent_end - agent_begin))
/* Distance of the work area below the stack pointer, in memory that execve(2) maps (setup_arg_pages()). */
#define WORK_BELOW (2 * AGENT_CODE_SIZE)
#define WORK_MAX   (UNATTENDED_WORK_HEAD + AGENT_CODE_SIZE + UNATTENDED_DATA + STUB_SIZE + PLAN_EXTRA_STUBS)
_Static_assert(WORK_MAX < WORK_BELOW, "the work area ends below the stack pointer");

static uint64_t work_address(const struct cpu_regs *r)
{
	return (r->CPU_SP - WORK_BELOW) & ~(uint64_t)15;
}

/*
 * Is unattended setup possible? The setup code ends with the registers of cpu_first(), so the program must begin
 * with these registers. If the setup code fails, it raises SIGTRAP or a fault, and the kernel would change the mask or
 * action of a program that blocks or ignores this signal. If a program ignores SIGSYS or a fault, sctrace must note
 * that in the agent's data, which does not exist yet.
 */
static bool is_possible(const struct patch *p, const struct cpu_regs *r, const struct proc_status *s)
{
	const uint64_t faults = SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL) | SIGBIT(SIGTRAP);
	const struct cpu_regs first = cpu_first(r, r->CPU_IP);
	return !p->attended && (!p->recorder || (p->recorder_path[0] && !r->CPU_THREAD_POINTER)) &&
	       p->arming == ARM_SUD && p->watchdog_fd < 0 && s->has_signals &&
	       !((s->blocked | s->ignored) & (faults | SIGBIT(SIGSYS))) && r->CPU_IP > 1ull << 32 &&
	       memcmp(r, &first, sizeof(first)) == 0;
}

/* Fills in the work area, except for the stubs at its end. Returns the address to which their code must be copied. */
static unsigned char *fill_work(unsigned char *bytes, const struct image *img, uint64_t stubs)
{
	const struct agent_data data = setup_data(img, stubs);
	const struct stub_head head = encode_head();
	unsigned char *at = bytes + UNATTENDED_WORK_HEAD;
	memset(bytes, 0, UNATTENDED_WORK_HEAD);
	memcpy(at, agent_begin, AGENT_SIZE);
	memcpy(at + AGENT_SIZE, &data, UNATTENDED_DATA);
	memcpy(at + AGENT_SIZE + UNATTENDED_DATA, &head, sizeof(head));
	return at + AGENT_SIZE + UNATTENDED_DATA + sizeof(head);
}

/* Writes the code, work area and loader's sites, and moves the task there; or changes nothing, returns false. */
static bool write_all(struct patch *p, struct task *task, const struct cpu_regs *r, const char *path, uint64_t room,
		      uint64_t stubs, unsigned page)
{
	const struct image *img = image_of(task);
	const uint64_t mark = region_tail(img->counters.region)->mark;
	struct agent_unattended about = {.entry = r->CPU_IP,
					 .work = work_address(r),
					 .mark = mark,
					 .stats = AGENT_STATS_SIZE + img->counters.ring_room,
					 .scratch = scratch_address(0, p->scratch_size),
					 .ring = ring_address(page)};
	unsigned char code[PLAN_EXTRA_MAX], work[WORK_MAX];
	struct plan_extra extra = {.addr = room, .code = code, .n = CODE_SIZE, .stubs = fill_work(work, img, stubs)};
	struct cpu_regs to = *r;
	memcpy(about.path, path, SETUP_PATH);
	memcpy(about.recorder, p->recorder_path, SETUP_PATH);
	memcpy(code, unattended_code, CODE_SIZE);
	memcpy(code + (unattended_data - unattended_code), &about, sizeof(about));
	plan_apply_loader(p, task, r->CPU_IP, &extra);
	if (!extra.written)
		return false;
	const uint64_t nstubs = sizeof(struct stub_head) + extra.nstubs;
	memcpy(work + UNATTENDED_WORK_STUBS, &nstubs, sizeof(nstubs));
	to.CPU_IP = room;
	to.CPU_SETUP_STUBS = stubs;
	to.CPU_SETUP_FLAGS = p->recorder ? SETUP_RECORDS | SETUP_NO_RECORDS : 0;
	memset(code, 0, CODE_SIZE);
	if (remote_write(task->tid, about.work, work, (size_t)(extra.stubs - work) + extra.nstubs) == 0 &&
	    cpu_set(task->tid, &to) == 0)
		return true;
	site_restore_all(task);
	remote_write(task->tid, room, code, CODE_SIZE);
	return false;
}

/* Prepares the image for records. Returns the first page of its first thread's ring, or -1: no room. */
static int prepare_records(const struct patch *p, struct image *img)
{
	int page = region_take_ring(img->counters.region, p->ring_pages);
	uint64_t end = ((uint64_t)page + p->ring_pages) * AGENT_PAGE;
	img->threads = thread_table_new();
	img->counters.scratch_room = SCRATCH_ROOM_AT_FIRST;
	img->counters.ring_room = page >= 0 && end > RING_ROOM_AT_FIRST ? end : RING_ROOM_AT_FIRST;
	return page;
}

bool unattended_start(struct patch *p, struct task *task, const struct cpu_regs *r, const struct proc_status *s,
		      unsigned *page)
{
	struct image *img = image_of(task);
	char path[SETUP_PATH] = "";
	bool tried = img->setup.lo != 0;
	uint64_t room = tried ? 0 : plan_loader_room(p, r->CPU_IP, CODE_SIZE);
	struct region *region = room && is_possible(p, r, s) ? region_from_pool(p, task, path) : NULL;
	const uint64_t stubs = setup_stubs(r->CPU_IP);
	if (!region)
		return false;
	setup_counters(p, task, region);
	img->start.observed = true;
	img->start.entry = r->CPU_IP;
	img->setup.lo = room;
	img->setup.hi = room + CODE_SIZE;
	vec_push(&img->sites.pages, (struct stub_page){stubs, 1, STUB_AREA / STUB_SIZE});
	int first = p->recorder ? prepare_records(p, img) : 0;
	if (first < 0 || !write_all(p, task, r, path, room, stubs, (unsigned)first)) {
		if (p->recorder && first >= 0)
			region_give_ring(region, (unsigned)first, p->ring_pages, true);
		setup_forget(p, img);
		return false;
	}
	*page = (unsigned)first;
	patch_task_of(task)->armed = true;
	return true;
}

bool unattended_runs(const struct task *task, const struct cpu_regs *r)
{
	struct image *img = image_of(task);
	if (img && img->setup.hi && (r->CPU_IP < img->setup.lo || r->CPU_IP >= img->setup.hi))
		img->setup.hi = 0;
	return img && img->setup.hi;
}

bool unattended_undo(struct patch *p, struct task *task, struct cpu_regs *r)
{
	static const unsigned char zeros[WORK_MAX];
	struct image *img = image_of(task);
	const uint64_t stubs = setup_stubs(img->start.entry);
	/* If everything could be mapped, a later step has failed, which will fail in other images as well. */
	p->attended |= r->CPU_SETUP_STATS == AGENT_STATS && r->CPU_SETUP_STUBS == stubs;
	patch_task_of(task)->armed = false;
	site_restore_all(task);
	remote_write(task->tid, img->setup.lo, zeros, CODE_SIZE);
	remote_write(task->tid, work_address(r), zeros, WORK_MAX);
	setup_unmap(p, task, r, stubs);
	*r = cpu_first(r, img->start.entry);
	setup_forget(p, img);
	return task->stopped;
}

void unattended_settle(struct patch *p, struct task *task)
{
	static const unsigned char trap[] = CPU_TRAP;
	struct cpu_regs r;
	struct image *img = image_of(task);
	uint64_t end = img->setup.lo + (uint64_t)(unattended_armed - unattended_code);
	if (!img->setup.hi || !task->stopped || cpu_get(task->tid, &r) < 0 || !unattended_runs(task, &r) ||
	    remote_write(task->tid, end, trap, sizeof(trap)) < 0 || remote_run(&p->t, task, &r, NULL) == -ESRCH)
		return;
	if (r.CPU_IP == end + sizeof(trap)) {
		r = cpu_first(&r, img->start.entry);
		img->setup.hi = 0;
	} else if (!unattended_undo(p, task, &r))
		return;
	cpu_set(task->tid, &r);
}
