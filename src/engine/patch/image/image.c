/* An address space with the agent in it: setting it up, sharing and copying it, reading what it counted. */
#include "engine/patch/patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

struct image *image_new(void)
{
	struct image *img = calloc(1, sizeof(*img));
	if (img)
		img->refs = 1;
	return img;
}

static struct site *site_copy(const struct site *from)
{
	struct site *s = malloc(sizeof(*s));
	if (s)
		*s = *from;
	return s;
}

/* A program can have as many call sites as it likes, and as many copies of them as it has children: so much here is 600 MB. */
#define SITES_IN_ALL 2000000

static void copy_sites(struct patch *p, struct image *img, const struct image *from)
{
	size_t i = 0;
	struct site *s;
	while ((s = map_next(&from->sites, &i, NULL))) {
		struct site *c = site_copy(s);
		if (!c || map_put(&img->sites, c->ip, c) < 0) {
			free(c); /* it will be decided again when it is hit */
			continue;
		}
		p->nsites++;
		site_index(img, c);
	}
	for (size_t k = 0; k < from->pages.n; k++)
		(void)vec_push(&img->pages, from->pages.v[k]);
	for (size_t k = 0; k < from->mappings.n; k++)
		(void)vec_push(&img->mappings, from->mappings.v[k]);
	for (size_t k = 0; k < from->gaps.n; k++)
		(void)vec_push(&img->gaps, from->gaps.v[k]);
}

struct image *image_copy(struct patch *p, const struct image *from, uint32_t copied_serial)
{
	struct image *img = image_new();
	if (!img)
		return NULL;
	img->state = from->state;
	img->from_start = from->from_start;
	img->owner = from->owner;
	img->single_thread = from->single_thread;
	img->sealed = from->sealed;
	img->serial = from->serial;
	img->copied_serial = copied_serial;
	img->minds_sigsys = from->minds_sigsys;
	memcpy(img->sigsys_action, from->sigsys_action, sizeof(img->sigsys_action));
	img->guarded = from->guarded;
	memcpy(img->guarded_action, from->guarded_action, sizeof(img->guarded_action));
	img->blocking_handlers = from->blocking_handlers;
	img->selected = from->selected;
	img->region = from->region;
	if (img->region)
		img->region->refs++;
	memcpy(img->map, from->map, sizeof(img->map));
	if (p->nsites + from->sites.n <= SITES_IN_ALL)
		copy_sites(p, img, from);
	else
		img->state = IMAGE_FALLBACK;
	return img;
}

void image_put(struct patch *p, struct image *img)
{
	if (!img || --img->refs > 0)
		return;
	size_t i = 0;
	struct site *s;
	p->nsites -= img->sites.n;
	while ((s = map_next(&img->sites, &i, NULL)))
		free(s);
	map_free(&img->sites);
	map_free(&img->stubs);
	map_free(&img->hops);
	vec_free(&img->gaps);
	vec_free(&img->pages);
	vec_free(&img->mappings);
	if (img->exec_word)
		region_give_exec(img->region, img->exec_word);
	region_put(p, img->region);
	free(img);
}

struct agent_slot *image_slot(const struct image *img, uint64_t slot_addr)
{
	uint64_t off = (slot_addr & ~(uint64_t)(SLOT_ALIGN - 1)) - AGENT_STATS;
	if (!img->region || !img->region->slots || off % SLOT_SIZE || off / SLOT_SIZE >= img->region->used)
		return NULL;
	return region_slot(img->region, (unsigned)(off / SLOT_SIZE));
}

/* --- which calls the agent makes --- */

/* What only the tracer can do right: new images by another call, what is left of an interrupted one, dispatch itself. */
static bool is_special(int64_t nr)
{
	static const int16_t special[] = {
		SYS_execveat,
		SYS_restart_syscall,
		SYS_seccomp,
	};
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (special[i] == nr)
			return true;
	return nr < 0 || nr >= AGENT_CALLS;
}

/* While a thread blocks SIGSYS, every change of masks must be seen, and where a handler would, every change of handlers. */
static bool is_watched(const struct image *img, int64_t nr)
{
	return (nr == SYS_rt_sigprocmask && img->blockers > 0) || (nr == SYS_rt_sigreturn && img->awaiting > 0) ||
	       (nr == SYS_rt_sigaction && img->blocking_handlers);
}

/* What earlier images asked for is there from the start: the first use need not stop. */
static void map_known_calls(struct patch *p, struct image *img, struct region *r)
{
	for (size_t i = 0; i < p->calls.n; i++)
		if (!is_watched(img, p->calls.v[i]))
			img->map[p->calls.v[i]] = region_entry(r, p->calls.v[i]);
}

static void note_call(struct patch *p, int64_t nr)
{
	for (size_t i = 0; i < p->calls.n; i++)
		if (p->calls.v[i] == nr)
			return;
	(void)vec_push(&p->calls, (int16_t)nr);
}

static uint64_t map_address(int64_t nr)
{
	return AGENT_DATA + offsetof(struct agent_data, map) + 4 * (uint64_t)nr;
}

bool image_map_call(struct patch *p, struct task *task, int64_t nr, bool refused)
{
	struct image *img = image_of(task);
	if (img->state != IMAGE_READY || img->off || is_special(nr) || is_watched(img, nr))
		return false;
	uint32_t entry = img->map[nr];
	uint32_t there = 0;
	if (entry) {
		/* The agent cleared it: a bucket is half full. Or another thread got here first. */
		if (remote_read(task->tid, map_address(nr), &there, sizeof(there)) == 0 && there == entry)
			return !refused;
		region_empty(p, img->region, nr);
	} else
		entry = region_entry(img->region, nr);
	if (!entry || remote_write(task->tid, map_address(nr), &entry, sizeof(entry)) < 0)
		return false;
	img->map[nr] = entry;
	note_call(p, nr);
	return true;
}

/* The call goes to the tracer from here on, until it is mapped again. */
static void unmap_call(const struct task *task, int64_t nr)
{
	struct image *img = image_of(task);
	static const uint32_t none;
	if (img->state != IMAGE_READY || !img->map[nr])
		return;
	img->map[nr] = 0;
	remote_write(task->tid, map_address(nr), &none, sizeof(none));
}

void image_note_blocked(struct task *task, bool blocked)
{
	struct image *img = image_of(task);
	if (patch_task_of(task)->sigsys_blocked == blocked)
		return;
	patch_task_of(task)->sigsys_blocked = blocked;
	img->blockers += blocked ? 1 : -1;
	if (img->blockers > 0)
		unmap_call(task, SYS_rt_sigprocmask);
}

void image_note_handler(struct task *task, int sig, bool blocks)
{
	struct image *img = image_of(task);
	img->blocking_handlers = blocks ? img->blocking_handlers | SIGBIT(sig) : img->blocking_handlers & ~SIGBIT(sig);
	if (img->blocking_handlers)
		unmap_call(task, SYS_rt_sigaction);
}

void image_note_frames(struct task *task)
{
	struct image *img = image_of(task);
	struct patch_task *pt = patch_task_of(task);
	bool awaiting = pt && (pt->moved_frames > 0 || task->interrupted.n > 0 || pt->returns_blocked ||
			       (pt->sigsys_blocked && pt->signalled));
	if (!img || !pt || pt->awaiting == awaiting)
		return;
	pt->awaiting = awaiting;
	img->awaiting += awaiting ? 1 : -1;
	if (awaiting)
		unmap_call(task, SYS_rt_sigreturn);
}

void image_forget_task(const struct task *task)
{
	struct image *img = image_of(task);
	const struct patch_task *pt = patch_task_of(task);
	if (!img || !pt)
		return;
	img->blockers -= pt->sigsys_blocked;
	img->awaiting -= pt->awaiting;
}

/* A task that runs in the image, or 0. The one that is noted may have ended, and its number be a stranger's by now. */
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
	if (img->state != IMAGE_READY || img->off == off)
		return;
	img->off = off;
	pid_t user = find_user(p, img);
	if (user)
		remote_write(user, map_address(0), off ? none : img->map, sizeof(img->map));
}

void image_set_single_thread(struct task *task, bool single_thread)
{
	struct image *img = image_of(task);
	uint64_t word = single_thread;
	if (img->state != IMAGE_READY || img->single_thread == single_thread)
		return;
	img->single_thread = single_thread;
	remote_write(task->tid, AGENT_DATA + offsetof(struct agent_data, single_thread), &word, sizeof(word));
}

void image_begin_child(struct task *task)
{
	struct image *img = image_of(task);
	img->user = task->tid;
	img->single_thread = false;
	img->exec_word = region_take_exec(img->region);
	const uint64_t words[3] = {region_address(img->region, img->exec_word), 0, 0};
	_Static_assert(offsetof(struct agent_data, vfork_frame.taken) == offsetof(struct agent_data, exec_t0) + 16,
		       "written at once");
	remote_write(task->tid, AGENT_DATA + offsetof(struct agent_data, exec_t0), words, sizeof(words));
}

/* --- setting up --- */

/* Both pages with one write. */
static int write_agent(pid_t tid, const struct image *img, const struct region *region)
{
	unsigned char both[AGENT_PAGE + sizeof(struct agent_data)] = {0};
	struct agent_data data = {.base = AGENT_STATS - SLOT_ALIGN,
				  .exec_t0 = region_address(region, img->exec_word),
				  .single_thread = img->single_thread};
	_Static_assert(AGENT_DATA == AGENT_CODE + AGENT_PAGE, "side by side");
	memcpy(data.map, img->map, sizeof(data.map));
	memcpy(both, agent_begin, (size_t)(agent_end - agent_begin));
	memcpy(both + AGENT_PAGE, &data, sizeof(data));
	return remote_write(tid, AGENT_CODE, both, sizeof(both));
}

#define SETUP_MAX 1024 /* bytes of code that are run once */

/* Code of agent.S that is run once, and what works in the middle of it. */
struct setup {
	const unsigned char *begin, *end;                                 /* up to the second int3, and its data */
	const unsigned char *trap[2], *closed, *masked, *back, *back_end; /* for a process that was attached to */
	int (*middle)(struct region *, pid_t, const struct user_regs_struct *);
};

static int check_setup(const struct user_regs_struct *r)
{
	if (r->r13 == AGENT_CODE && r->r14 == AGENT_DATA && r->r15 == AGENT_STATS)
		return 0;
	return (int64_t)r->r13 < 0 ? (int)(int64_t)r->r13 : (int64_t)r->r15 < 0 ? (int)(int64_t)r->r15 : -ENOMEM;
}

static int finish_setup(struct region *region, pid_t tid, const struct user_regs_struct *r)
{
	int err = check_setup(r);
	return err < 0 ? err : region_adopt(region, tid, (int)r->r12);
}

static int finish_region(struct region *region, pid_t tid, const struct user_regs_struct *r)
{
	return r->r15 != AGENT_STATS ? -ENOMEM : region_adopt(region, tid, (int)r->r12);
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

/* In a process that was attached to, with no-ops in the place of int3. */
static int run_excursion(struct tracer *t, struct task *task, uint64_t at, const struct setup *s,
			 struct user_regs_struct *r, struct region *region)
{
	static const unsigned char nop = 0x90;
	unsigned char code[SETUP_MAX], old[SETUP_MAX];
	size_t n = (size_t)(s->back_end - s->begin);
	uint64_t room = s == &whole_setup ? maps_room(task->tid, n) : 0;
	at = room ? room : at; /* it may stay there for ever */
	struct excursion d = {.start = at,
			      .halt = at + (uint64_t)(s->closed - s->begin),
			      .masked = at + (uint64_t)(s->masked - s->begin),
			      .back = at + (uint64_t)(s->back - s->begin)};
	if (n > sizeof(code) || remote_read(task->tid, at, old, n) < 0)
		return -EFAULT;
	memcpy(code, s->begin, n);
	code[s->trap[0] - s->begin] = code[s->trap[1] - s->begin] = nop;
	if (remote_write(task->tid, at, code, n) < 0)
		return -EFAULT;
	int halted = remote_excursion(t, task, &d, r);
	int err = halted > 0 ? s->middle(region, task->tid, r) : halted < 0 ? halted : (int)r->r12;
	struct user_regs_struct rest;
	if (halted > 0 && remote_excursion_on(t, task, &d, &rest) == -ESRCH)
		return -ESRCH;
	if (err == -ESRCH || (halted >= 0 && remote_excursion_end(t, task, &d) == -ESRCH))
		return -ESRCH;
	remote_write(task->tid, at, old, n);
	return err;
}

/* Runs the code at `at` up to its first int3, lets `middle` work, runs it to its second. */
static int run_setup(struct tracer *t, struct task *task, uint64_t at, const struct setup *s,
		     struct user_regs_struct *r, struct region *region)
{
	unsigned char old[SETUP_MAX];
	size_t n = (size_t)(s->end - s->begin);
	if (patch_of(t)->watchdog_fd >= 0)
		return run_excursion(t, task, at, s, r, region);
	if (n > sizeof(old) || remote_read(task->tid, at, old, n) < 0 || remote_write(task->tid, at, s->begin, n) < 0)
		return -EFAULT;
	r->rip = at;
	int err = remote_run(t, task, r);
	if (err == -ESRCH)
		return err;
	if (err == 0 && (int64_t)r->r12 >= 0) {
		err = s->middle(region, task->tid, r);
		struct user_regs_struct rest = *r;
		if (remote_run(t, task, &rest) == -ESRCH)
			return -ESRCH;
	} else if (err == 0)
		err = (int)r->r12;
	remote_write(task->tid, at, old, n);
	return err;
}

/* With memory of the pool, whose name is `path`. -ENOENT, and nothing is done, where the program cannot open it. */
static int setup_pooled(struct tracer *t, struct task *task, uint64_t at, struct user_regs_struct *r,
			const struct region *region, const char *path)
{
	unsigned char code[SETUP_MAX], old[SETUP_MAX];
	size_t n = (size_t)(setup_end - setup_begin);
	if (n > sizeof(code) || remote_read(task->tid, at, old, n) < 0)
		return -EFAULT;
	memcpy(code, setup_begin, n);
	memcpy(code + (setup_path - setup_begin), path, SETUP_PATH);
	if (remote_write(task->tid, at, code, n) < 0)
		return -EFAULT;
	r->rip = at;
	r->rbp = 1;
	int err = remote_run(t, task, r);
	if (err == -ESRCH)
		return err;
	remote_write(task->tid, at, old, n);
	if (err == 0 && (int64_t)r->r12 < 0)
		return -ENOENT;
	if (err == 0)
		err = check_setup(r);
	return err < 0 || region_is_there(region, task->tid) ? err : -EBADF;
}

/* Counters for a new image, and the agent's pages; *region, and `r` as setup left it. */
static int map_agent(struct patch *p, struct task *task, uint64_t at, struct user_regs_struct *r,
		     struct region **region)
{
	char path[SETUP_PATH] = "";
	const struct user_regs_struct before = *r;
	*region = region_from_pool(p, task, path);
	int err = *region ? setup_pooled(&p->t, task, at, r, *region, path) : -ENOENT;
	if (err != -ENOENT)
		return err;
	p->no_pool |= *region != NULL;
	region_put(p, *region);
	*r = before;
	r->rbp = 0;
	*region = region_new(p, task);
	return *region ? run_setup(&p->t, task, at, &whole_setup, r, *region) : -ENOMEM;
}

/* The program's memory is mapped on both sides: the descriptor has served. */
static void close_memory(struct patch *p, const struct region *region)
{
	if (region->pooled)
		return;
	patch_watch(p, region->fd);
	close(region->fd);
}

int image_setup(struct patch *p, struct task *task, uint64_t at)
{
	struct image *img = image_of(task);
	struct region *region = NULL;
	struct user_regs_struct r;
	if (ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return -ESRCH;
	/* Far enough below the loader that the libraries to come fit in between, near enough to reach them. */
	uint64_t gap = at > 1ull << 32 ? (at & ~0xfffull) - (512ull << 20) : maps_gap(task->tid, at, STUB_AREA);
	r.rbx = gap;
	int err = map_agent(p, task, at, &r, &region);
	if (err == 0) {
		img->single_thread = task->proc->ntasks == 1 && !region->crowded;
		img->exec_word = region_take_exec(region);
		map_known_calls(p, img, region);
		err = write_agent(task->tid, img, region);
		if (err < 0 && img->exec_word)
			region_give_exec(region, img->exec_word);
	}
	if (err < 0) {
		img->exec_word = NULL;
		if (region)
			region->discard |= !region->pooled;
		region_put(p, region);
		img->state = IMAGE_FALLBACK;
		if (p->watchdog_fd >= 0)
			patch_unmap_setup(p, task, &r, gap);
		return err;
	}
	close_memory(p, region);
	img->selected = p->watchdog_fd >= 0;
	if (gap && r.rbx == gap)
		(void)vec_push(&img->pages, (struct stub_page){gap, 0, STUB_AREA / STUB_SIZE});
	img->region = region;
	img->user = task->tid;
	img->state = IMAGE_READY;
	return 0;
}

int image_own_region(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	struct region *region = region_new(p, task);
	struct user_regs_struct saved, r;
	if (!region || ptrace(PTRACE_GETREGS, task->tid, NULL, &saved) < 0)
		return -ESRCH;
	r = saved;
	uint64_t at = AGENT_AT(agent_end) + 64; /* free room in the agent's page, which the program cannot write */
	int err = run_setup(&p->t, task, at, &region_setup, &r, region);
	if (err == -ESRCH)
		return err;
	ptrace(PTRACE_SETREGS, task->tid, NULL, &saved);
	if (err < 0) {
		region->discard = true;
		region_put(p, region);
		return err;
	}
	close_memory(p, region);
	region_put(p, img->region);
	img->region = region;
	memset(img->map, 0, sizeof(img->map));
	map_known_calls(p, img, region);
	return remote_write(task->tid, map_address(0), img->map, sizeof(img->map));
}
