/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/setup.h"

#include "base/memory.h"
#include "engine/patch/arm/arm.h"
#include "engine/patch/code/ring.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "tracee/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

bool setup_is_refused(const struct proc_status *s, struct buf *why)
{
	if (s->pending & SIGBIT(SIGSYS)) /* the first forced SIGSYS would unblock the pending one */
		buf_adds(why, "a SIGSYS signal is pending");
	return why->len > 0;
}

struct agent_data setup_data(const struct image *img, uint64_t stubs)
{
	struct agent_data data = {.base = AGENT_BASE,
				  .words = region_address(img->counters.region, img->counters.words),
				  .single_thread = img->counters.single_thread,
				  .watch = img->watch,
				  .rseq = img->rseq,
				  .blocking = img->blocking,
				  .code = {{AGENT_CODE, AGENT_LIMIT}, {stubs, stubs ? stubs + STUB_AREA : 0}}};
	memcpy(data.map, img->counters.map, sizeof(data.map));
	return data;
}

/* Writes the agent's two pages with one call. */
static int write_agent(pid_t tid, const struct image *img, uint64_t stubs)
{
	unsigned char both[AGENT_CODE_SIZE + sizeof(struct agent_data)] = {0};
	const struct agent_data data = setup_data(img, stubs);
	memcpy(both, agent_begin, (size_t)(agent_end - agent_begin));
	memcpy(both + AGENT_CODE_SIZE, &data, sizeof(data));
	return remote_write(tid, AGENT_CODE, both, sizeof(both));
}

/* Writes the recorder, the recipes and an empty table of threads. */
static int write_recorder(pid_t tid, struct image *img, const unsigned char *recorder)
{
	img->threads = thread_table_new();
	return remote_write(tid, RECORDER_CODE, recorder, RECORDER_ROOM + RECIPES_ROOM);
}

#define SETUP_MAX 1024 /* the largest size of the code of a struct setup, in bytes */

/* Code of agent.S that runs once in the program, and the function that sctrace calls at the code's first trap. */
struct setup {
	const unsigned char *begin, *end; /* the code and its data; the code ends with the second trap */
	const unsigned char *trap[2], *closed, *masked, *back, *back_end; /* labels for an excursion (remote.h) */
	int (*middle)(struct region *, pid_t, const struct cpu_regs *);
};

static int check_setup(const struct cpu_regs *r)
{
	if (r->CPU_SETUP_FLAGS & SETUP_NO_RECORDS)
		return -EEXIST;
	if (r->CPU_SETUP_CODE == AGENT_CODE && r->CPU_SETUP_DATA == AGENT_DATA && r->CPU_SETUP_STATS == AGENT_STATS)
		return 0;
	return (int64_t)r->CPU_SETUP_CODE < 0    ? (int)(int64_t)r->CPU_SETUP_CODE
	       : (int64_t)r->CPU_SETUP_STATS < 0 ? (int)(int64_t)r->CPU_SETUP_STATS
						 : -ENOMEM;
}

static int finish_setup(struct region *region, pid_t tid, const struct cpu_regs *r)
{
	int err = check_setup(r);
	return err < 0 ? err : region_adopt(region, tid, (int)r->CPU_SETUP_FD);
}

static int finish_region(struct region *region, pid_t tid, const struct cpu_regs *r)
{
	return r->CPU_SETUP_STATS != AGENT_STATS ? -ENOMEM : region_adopt(region, tid, (int)r->CPU_SETUP_FD);
}

static const struct setup whole_setup = {.begin = setup_begin,
					 .end = setup_end,
					 .trap = {setup_trap1, setup_trap2},
					 .closed = setup_closed,
					 .masked = agent_masked_setup,
					 .back = agent_back_setup,
					 .back_end = setup_back_end,
					 .middle = finish_setup};
static const struct setup region_setup = {.begin = region_begin,
					  .end = region_end,
					  .trap = {region_trap1, region_trap2},
					  .closed = region_closed,
					  .masked = agent_masked_region,
					  .back = agent_back_region,
					  .back_end = region_back_end,
					  .middle = finish_region};

/* Runs the code at `at` as an excursion. No-ops are in place of the two traps. */
static int run_excursion(struct tracer *t, struct task *task, uint64_t at, const struct setup *s, struct cpu_regs *r,
			 struct region *region)
{
	struct excursion d = {.start = at,
			      .halt = at + (uint64_t)(s->closed - s->begin),
			      .masked = at + (uint64_t)(s->masked - s->begin),
			      .back = at + (uint64_t)(s->back - s->begin)};
	r->CPU_SETUP_FD = 0;
	int halted = remote_excursion(t, task, &d, r);
	int err = halted > 0 ? s->middle(region, task->tid, r) : halted < 0 ? halted : (int)r->CPU_SETUP_FD;
	struct cpu_regs rest;
	if (halted > 0 && remote_excursion_on(t, task, &d, &rest) == -ESRCH)
		return -ESRCH;
	return err != -ESRCH && halted >= 0 && remote_excursion_end(t, task, &d) == -ESRCH ? -ESRCH : err;
}

/* Runs the code at `at` up to its first trap, calls s->middle(), and runs the code to its second trap. */
static int run_to_traps(struct tracer *t, struct task *task, uint64_t at, const struct setup *s, struct cpu_regs *r,
			const uint64_t *mask, struct region *region, const char *path)
{
	r->CPU_IP = at;
	r->CPU_SETUP_FD = ROOM_MIN;
	int err = remote_run(t, task, r, mask);
	if (err < 0)
		return err;
	if ((int64_t)r->CPU_SETUP_FD < 0)
		return path && (int64_t)r->CPU_SETUP_FD != -E2BIG ? -ENOENT : (int)r->CPU_SETUP_FD;
	if (path)
		return check_setup(r);
	err = s->middle(region, task->tid, r);
	struct cpu_regs rest = *r;
	return remote_run(t, task, &rest, mask) == -ESRCH ? -ESRCH : err;
}

/*
 * Runs code for setup, which overwrites the program's code at `at` for a short time. If `path` is the name of pooled
 * memory, the program maps that memory instead, and there is no first trap. Returns -ENOENT if the program cannot open
 * `path`; in this case, nothing has changed.
 */
static int run_setup(struct tracer *t, struct task *task, uint64_t at, const struct setup *s, struct cpu_regs *r,
		     const uint64_t *mask, struct region *region, const char *path)
{
	static const unsigned char nothing[] = CPU_NOP;
	unsigned char code[SETUP_MAX], old[SETUP_MAX];
	const bool excursion = patch_of(t)->watchdog_fd >= 0 || image_of(task)->start.no_traps;
	size_t n = (size_t)((excursion ? s->back_end : s->end) - s->begin);
	uint64_t room = excursion && s == &whole_setup ? maps_room(task->tid, n) : 0;
	at = room ? room : at; /* in unused bytes, the code can stay if sctrace is killed */
	r->CPU_SETUP_FLAGS = (path ? SETUP_POOLED : 0) | (patch_of(t)->recorder ? SETUP_RECORDS : 0);
	if (n > sizeof(code) || remote_read(task->tid, at, old, n) < 0)
		return -EFAULT;
	memcpy(code, s->begin, n);
	if (path)
		memcpy(code + (setup_path - setup_begin), path, SETUP_PATH);
	for (int i = 0; excursion && i < 2; i++)
		memcpy(code + (s->trap[i] - s->begin), nothing, sizeof(nothing));
	if (remote_write(task->tid, at, code, n) < 0)
		return -EFAULT;
	int err = excursion ? run_excursion(t, task, at, s, r, region)
			    : run_to_traps(t, task, at, s, r, mask, region, path);
	if (err != -ESRCH)
		remote_write(task->tid, at, old, n);
	return err;
}

/* Maps the agent and its counters into a new image. Sets *region and `r`, the registers after setup (agent.S). */
static int map_agent(struct patch *p, struct task *task, uint64_t at, struct cpu_regs *r, const uint64_t *mask,
		     struct region **region)
{
	char path[SETUP_PATH] = "";
	const struct cpu_regs before = *r;
	*region = image_of(task)->start.no_traps ? NULL : region_from_pool(p, task, path);
	int err = *region ? run_setup(&p->t, task, at, &whole_setup, r, mask, *region, path) : -ENOENT;
	if (err != -ENOENT)
		return err < 0 || r->CPU_SETUP_MARK == region_tail(*region)->mark ? err : -EBADF;
	p->no_pool |= *region != NULL;
	region_put(p, *region);
	*r = before;
	*region = region_new(p, task);
	return run_setup(&p->t, task, at, &whole_setup, r, mask, *region, NULL);
}

/* Closes the descriptor of memory that is mapped on both sides. That of pooled memory stays open. */
static void close_memory(struct patch *p, const struct region *region)
{
	if (region->pooled)
		return;
	watchdog_watch(p, region, region->fd);
	close(region->fd);
}

void setup_unmap(struct patch *p, struct task *task, const struct cpu_regs *r, uint64_t stubs)
{
	const bool records = r->CPU_SETUP_FLAGS & SETUP_RECORDS;
	const uint64_t rings = records ? RING_ROOM_AT_FIRST : 0;
	const struct {
		bool there;
		struct area area;
	} made[] = {
		{r->CPU_SETUP_CODE == AGENT_CODE, {AGENT_CODE, AGENT_CODE_SIZE}},
		{r->CPU_SETUP_DATA == AGENT_DATA, {AGENT_DATA, AGENT_DATA_SIZE}},
		{r->CPU_SETUP_STATS == AGENT_STATS, {AGENT_STATS, AGENT_STATS_SIZE + rings}},
		{r->CPU_SETUP_STUBS && r->CPU_SETUP_STUBS == stubs, {stubs, STUB_AREA}},
		{records && !(r->CPU_SETUP_FLAGS & SETUP_NO_RECORDER), {RECORDER_CODE, RECORDER_ROOM + RECIPES_ROOM}},
		{records && !(r->CPU_SETUP_FLAGS & SETUP_NO_THREADS), {THREADS_AT, THREADS_ROOM}},
		{records && !(r->CPU_SETUP_FLAGS & SETUP_NO_SCRATCHES), {SCRATCHES_AT, SCRATCH_ROOM_AT_FIRST}}};
	struct area areas[sizeof(made) / sizeof(*made)];
	size_t n = 0;
	for (size_t i = 0; r->CPU_SETUP_CODE == AGENT_CODE && i < sizeof(made) / sizeof(*made); i++)
		if (made[i].there)
			areas[n++] = made[i].area;
	if (n)
		maps_unmap(p, task, areas, n);
}

uint64_t setup_stubs(uint64_t at)
{
	return (at & ~(uint64_t)(CPU_PAGE_MOST - 1)) - CPU_STUBS_BELOW;
}

void setup_counters(struct patch *p, const struct task *task, struct region *region)
{
	struct image *img = image_of(task);
	img->counters.region = region;
	img->counters.single_thread = task->proc->ntasks == 1 && !region->crowded;
	img->counters.words = region_take_words(region);
	img->watch |= p->arming == ARM_FILTER ? WATCH_THREADS : 0;
	waits_begin(p, task);
	image_map_known_calls(p, img, region);
	usage_begin(img);
	img->user = task->tid;
	img->state = IMAGE_READY;
}

void setup_forget(struct patch *p, struct image *img)
{
	region_give_words(img->counters.region, img->counters.words);
	region_put(p, img->counters.region);
	thread_table_free(img->threads);
	img->threads = NULL;
	vec_free(&img->scratches_taken);
	img->ring_bytes = 0;
	site_free_all(p, img);
	img->counters = (struct image_counters){.off = false};
	img->setup.hi = 0;
	img->start.observed = false;
	img->state = IMAGE_NEW;
}

int setup_image(struct patch *p, struct task *task, uint64_t at, const struct cpu_regs *saved, const uint64_t *mask)
{
	struct image *img = image_of(task);
	struct region *region = NULL;
	struct cpu_regs r = *saved;
	uint64_t gap = at > 1ull << 32 && !p->attaching ? setup_stubs(at) : maps_gap(task->tid, at, STUB_AREA);
	r.CPU_SETUP_STUBS = gap;
	int err = map_agent(p, task, at, &r, mask, &region);
	if (err == 0) {
		setup_counters(p, task, region);
		err = write_agent(task->tid, img, gap);
		if (err == 0 && p->recorder)
			err = write_recorder(task->tid, img, p->recorder);
	}
	if (err < 0) {
		if (region)
			region->discard |= !region->pooled;
		img->counters.region = region;
		setup_forget(p, img);
		if (p->watchdog_fd >= 0)
			setup_unmap(p, task, &r, gap);
		return err;
	}
	close_memory(p, region);
	img->sigsys.selected = p->watchdog_fd >= 0;
	region_tail(region)->selector = img->sigsys.selected;
	if (gap && r.CPU_SETUP_STUBS == gap)
		site_add_page(task, gap, STUB_AREA);
	img->counters.ring_room = p->recorder ? RING_ROOM_AT_FIRST : 0;
	img->counters.scratch_room = p->recorder ? SCRATCH_ROOM_AT_FIRST : 0;
	return 0;
}

void setup_areas(const struct image *img, struct areas *areas)
{
	const struct area all[] = {{AGENT_CODE, AGENT_CODE_SIZE},
				   {AGENT_DATA, AGENT_DATA_SIZE},
				   {AGENT_STATS, AGENT_STATS_SIZE + img->counters.ring_room},
				   {RECORDER_CODE, RECORDER_ROOM + RECIPES_ROOM},
				   {THREADS_AT, THREADS_ROOM},
				   {SCRATCHES_AT, img->counters.scratch_room}};
	for (size_t i = 0; i < (img->threads ? sizeof(all) / sizeof(*all) : 3); i++)
		vec_push(areas, all[i]);
	for (size_t i = 0; i < img->sites.pages.n; i++) {
		const struct stub_page *page = &img->sites.pages.v[i];
		uint64_t size = ((uint64_t)page->max * STUB_SIZE + CPU_PAGE_MOST - 1) & ~(uint64_t)(CPU_PAGE_MOST - 1);
		vec_push(areas, (struct area){page->addr, size});
	}
}

int setup_own_region(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	struct region *region = region_new(p, task);
	struct cpu_regs saved, r;
	if (cpu_get(task->tid, &saved) < 0)
		return -ESRCH;
	r = saved;
	/* Unused bytes in the agent's page, to which the program cannot write. */
	uint64_t at = AGENT_AT(agent_end);
	int err = run_setup(&p->t, task, at, &region_setup, &r, NULL, region, NULL);
	if (err == -ESRCH)
		return err;
	cpu_set(task->tid, &saved);
	if (err < 0) {
		region->discard = true;
		region_put(p, region);
		return err;
	}
	close_memory(p, region);
	region_put(p, img->counters.region);
	region_tail(region)->selector = img->sigsys.selected;
	img->counters.region = region;
	memset(img->counters.map, 0, sizeof(img->counters.map));
	image_map_known_calls(p, img, region);
	return remote_write(task->tid, AGENT_DATA_AT(map), img->counters.map, sizeof(img->counters.map));
}
