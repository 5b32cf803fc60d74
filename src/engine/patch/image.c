/* An address space with the agent in it: setting it up, sharing and copying it, reading what it counted. */
#include "engine/patch/patch.h"

#include "base/clock.h"
#include "syscall/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#define STUB_AREA (16 * AGENT_PAGE)

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

struct image *image_copy(const struct image *from)
{
	struct image *img = image_new();
	if (!img)
		return NULL;
	img->state = from->state;
	img->from_start = from->from_start;
	img->alone = from->alone;
	img->sealed = from->sealed;
	img->minds_sigsys = from->minds_sigsys;
	memcpy(img->sigsys_action, from->sigsys_action, sizeof(img->sigsys_action));
	img->region = from->region;
	if (img->region)
		img->region->refs++;
	memcpy(img->map, from->map, sizeof(img->map));
	size_t i = 0;
	struct site *s;
	while ((s = map_next(&from->sites, &i, NULL))) {
		struct site *c = site_copy(s);
		if (!c || map_put(&img->sites, c->ip, c) < 0) {
			free(c); /* it will be decided again when it is hit */
			continue;
		}
		site_index(img, c);
	}
	for (size_t k = 0; k < from->pages.n; k++)
		(void)vec_push(&img->pages, from->pages.v[k]);
	for (size_t k = 0; k < from->mappings.n; k++)
		(void)vec_push(&img->mappings, from->mappings.v[k]);
	for (size_t k = 0; k < from->gaps.n; k++)
		(void)vec_push(&img->gaps, from->gaps.v[k]);
	return img;
}

/* --- counters --- */

static struct region *region_new(struct patch *p, const struct task *task)
{
	struct region *r = calloc(1, sizeof(*r));
	if (!r || !vec_push(&p->regions, r)) {
		free(r);
		return NULL;
	}
	r->refs = 1;
	r->group_id = -1;
	r->discard = !task->proc->counted;
	if (p->t.config.want & CAP_BY_PROCESS)
		tracer_group_name(&p->t, task, r->group_name, sizeof(r->group_name), &r->group_id);
	return r;
}

static struct agent_slot *slot_at(const struct region *r, unsigned i)
{
	return (struct agent_slot *)(void *)(r->slots + (size_t)i * SLOT_SIZE);
}

/* The least ticks of a bucket (agent.h), and those of the next. */
static uint64_t bucket_low(unsigned b)
{
	unsigned shift = b < 32 ? 0 : b / 16 - 1;
	return b < 32 ? b : (uint64_t)(b - 16 * shift) << shift;
}

/* What came since it was last looked at. The program may be writing without a lock: nothing is written to it here. */
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

/* Adds what the histogram got to `c`; how many calls that were. */
static uint64_t take_hist(struct patch *p, const struct agent_slot *s, struct agent_slot *seen, struct call_stats *c)
{
	uint64_t n = 0;
	for (unsigned b = 0; b < SLOT_BUCKETS; b++) {
		uint32_t now = __atomic_load_n(&s->hist[b], __ATOMIC_RELAXED);
		uint32_t k = now - seen->hist[b];
		if (!k)
			continue;
		seen->hist[b] = now;
		double ns = own_ns(p, (double)(bucket_low(b) + bucket_low(b + 1)) / 2);
		if (hist_add(&c->hist, (uint64_t)ns, k) < 0)
			p->t.counts.failed = true;
		c->ns_squared += ns * ns * (double)k;
		n += k;
	}
	return n;
}

/* What was taken of a slot before; `none` where nothing was and, the region being at its end, nothing will be. */
static struct agent_slot *seen_slot(struct patch *p, struct region *r, unsigned i, struct agent_slot *none)
{
	if (r->refs > 0 && !r->seen[i]) {
		r->seen[i] = calloc(1, SLOT_SIZE);
		p->t.counts.failed |= !r->seen[i];
	}
	return r->seen[i] ? r->seen[i] : none;
}

static void take_slot(struct patch *p, struct region *r, unsigned i, struct summary_group *g)
{
	struct agent_slot none = {0};
	const struct agent_slot *s = slot_at(r, i);
	struct agent_slot *seen = seen_slot(p, r, i, &none);
	if (s->entered == seen->entered && s->ticks == seen->ticks)
		return;
	struct call_stats *c = summary_call(&p->t.counts, g, syscall_native_arch(), r->call_of[i]);
	if (!c)
		return;
	bool first = c->returned == 0;
	uint64_t n = take_hist(p, s, seen, c);
	c->returned += n;
	c->entered += since(&s->entered, &seen->entered);
	c->errors += since(&s->errors, &seen->errors);
	c->bytes += since(&s->bytes, &seen->bytes);
	c->ns += (double)since(&s->ticks, &seen->ticks) * p->tick_ns - p->fast.ns * (double)n;
	c->cost_ns += p->fast.ns * (double)n;
	if (p->fast.spread_ns > c->spread_ns)
		c->spread_ns = p->fast.spread_ns;
	double min_ns = own_ns(p, (double)~__atomic_load_n(&s->min_not, __ATOMIC_RELAXED));
	double max_ns = own_ns(p, (double)__atomic_load_n(&s->max, __ATOMIC_RELAXED));
	if (n && (first || min_ns < c->min_ns))
		c->min_ns = min_ns;
	if (n && max_ns > c->max_ns)
		c->max_ns = max_ns;
}

/* The longer the run, the better both clocks' ratio is known. */
static void update_tick(struct patch *p)
{
	uint64_t ticks = __rdtsc() - p->tsc0;
	if (ticks)
		p->tick_ns = (double)(clock_ns() - p->ns0) / (double)ticks;
}

static void region_collect(struct patch *p, struct region *r)
{
	if (r->discard || !r->slots)
		return;
	struct summary_group *g = summary_group(&p->t.counts, r->group_name, r->group_id);
	for (unsigned i = 0; g && i < r->used; i++)
		take_slot(p, r, i, g);
}

/*
 * Empties the histogram of call `nr`, a bucket of which is half full. Whoever else writes to it does so with a lock: a
 * thread that is alone with it is the one that has stopped here.
 */
static void region_empty(struct patch *p, struct region *r, int64_t nr)
{
	region_collect(p, r);
	for (unsigned i = 0; i < r->used; i++) {
		struct agent_slot *s = slot_at(r, i);
		struct agent_slot *seen = r->seen[i];
		for (unsigned b = 0; seen && r->call_of[i] == nr && b < SLOT_BUCKETS; b++) {
			uint32_t was = seen->hist[b];
			seen->hist[b] = 0;
			__atomic_sub_fetch(&s->hist[b], was, __ATOMIC_RELAXED);
		}
	}
}

void image_collect(struct patch *p)
{
	update_tick(p);
	for (size_t i = 0; i < p->regions.n; i++)
		region_collect(p, p->regions.v[i]);
}

static void region_free(struct region *r)
{
	if (r->slots)
		munmap(r->slots, AGENT_STATS_SIZE);
	for (unsigned i = 0; i < AGENT_CALLS; i++)
		free(r->seen[i]);
	free(r);
}

static void region_put(struct patch *p, struct region *r)
{
	if (!r || --r->refs > 0)
		return;
	update_tick(p);
	region_collect(p, r);
	for (size_t i = 0; i < p->regions.n; i++)
		if (p->regions.v[i] == r) {
			p->regions.v[i] = p->regions.v[--p->regions.n];
			break;
		}
	region_free(r);
}

void image_put(struct patch *p, struct image *img)
{
	if (!img || --img->refs > 0)
		return;
	size_t i = 0;
	struct site *s;
	while ((s = map_next(&img->sites, &i, NULL)))
		free(s);
	map_free(&img->sites);
	map_free(&img->stubs);
	map_free(&img->hops);
	vec_free(&img->gaps);
	vec_free(&img->pages);
	vec_free(&img->mappings);
	region_put(p, img->region);
	free(img);
}

void image_regions_free(struct patch *p)
{
	for (size_t i = 0; i < p->regions.n; i++)
		region_free(p->regions.v[i]);
	vec_free(&p->regions);
}

uint64_t image_calls(struct patch *p)
{
	uint64_t n = 0;
	for (size_t i = 0; i < p->regions.n; i++)
		for (unsigned k = 0; !p->regions.v[i]->discard && k < p->regions.v[i]->used; k++)
			n += slot_at(p->regions.v[i], k)->entered;
	return n;
}

struct agent_slot *image_slot(const struct image *img, uint64_t slot_addr)
{
	uint64_t off = (slot_addr & ~(uint64_t)(SLOT_ALIGN - 1)) - AGENT_STATS;
	if (!img->region || !img->region->slots || off % SLOT_SIZE || off / SLOT_SIZE >= img->region->used)
		return NULL;
	return slot_at(img->region, (unsigned)(off / SLOT_SIZE));
}

/* --- which calls the agent makes --- */

/* What only the tracer can do right: births that share memory, new images, frames that are left, dispatch itself. */
static bool is_special(int64_t nr)
{
	static const int16_t special[] = {
		SYS_rt_sigreturn, SYS_vfork, SYS_execve, SYS_execveat, SYS_restart_syscall, SYS_clone3, SYS_seccomp,
	};
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (special[i] == nr)
			return true;
	return nr < 0 || nr >= AGENT_CALLS;
}

/* While a thread blocks SIGSYS, every change of masks must be seen. */
static bool is_watched(const struct image *img, int64_t nr)
{
	return nr == SYS_rt_sigprocmask && img->blockers > 0;
}

static uint8_t slot_flags(int64_t nr)
{
	static const struct {
		int16_t nr;
		uint8_t flags;
	} rows[] = {
		{SYS_fork, SLOT_F_FORKS | SLOT_F_CHECK},
		{SYS_clone, SLOT_F_FORKS | SLOT_F_CHECK},
		{SYS_mmap, SLOT_F_CHECK},
		{SYS_mprotect, SLOT_F_CHECK},
		{SYS_munmap, SLOT_F_CHECK},
		{SYS_mremap, SLOT_F_CHECK},
		{SYS_madvise, SLOT_F_CHECK},
		{SYS_rt_sigaction, SLOT_F_CHECK},
		{SYS_prctl, SLOT_F_CHECK},
		{SYS_rt_sigprocmask, SLOT_F_CHECK},
	};
	uint8_t flags = syscall_returns_bytes(syscall_native_arch(), nr) ? SLOT_F_BYTES : 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].nr == nr)
			flags |= rows[i].flags;
	return flags;
}

/* The slot of `nr` in the region, made at first use: its map entry. 0 where all are given out. */
static uint32_t region_entry(struct region *r, int64_t nr)
{
	unsigned i = 0;
	while (i < r->used && r->call_of[i] != nr)
		i++;
	if (i == AGENT_CALLS)
		return 0;
	if (i == r->used)
		r->call_of[r->used++] = (int16_t)nr;
	return i * SLOT_SIZE + SLOT_ALIGN + slot_flags(nr);
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
		update_tick(p);
		region_empty(p, img->region, nr);
	} else
		entry = region_entry(img->region, nr);
	if (!entry || remote_write(task->tid, map_address(nr), &entry, sizeof(entry)) < 0)
		return false;
	img->map[nr] = entry;
	note_call(p, nr);
	return true;
}

void image_note_blocked(struct task *task, bool blocked)
{
	struct image *img = image_of(task);
	static const uint32_t none;
	if (patch_task_of(task)->sigsys_blocked == blocked)
		return;
	patch_task_of(task)->sigsys_blocked = blocked;
	img->blockers += blocked ? 1 : -1;
	if (img->blockers > 0 && img->state == IMAGE_READY)
		remote_write(task->tid, map_address(SYS_rt_sigprocmask), &none, sizeof(none));
}

void image_switch(struct image *img, bool off)
{
	static const uint32_t none[AGENT_CALLS];
	if (img->state != IMAGE_READY || img->off == off)
		return;
	img->off = off;
	remote_write(img->user, map_address(0), off ? none : img->map, sizeof(img->map));
}

void image_set_alone(struct task *task, bool alone)
{
	struct image *img = image_of(task);
	uint8_t byte = alone;
	if (img->state != IMAGE_READY || img->alone == alone)
		return;
	img->alone = alone;
	remote_write(task->tid, AGENT_DATA + offsetof(struct agent_data, alone), &byte, sizeof(byte));
}

/* --- setting up --- */

/* Is `fd` memory of memfd_create(2)? It lies on a mount of the kernel's own, where there are no other files to open. */
static bool is_memfd(int fd)
{
	struct stat theirs, ours;
	int own = memfd_create("sctrace", MFD_CLOEXEC);
	bool same = own >= 0 && fstat(own, &ours) == 0 && fstat(fd, &theirs) == 0 && theirs.st_dev == ours.st_dev;
	if (own >= 0)
		close(own);
	return same;
}

/*
 * Opens descriptor `their_fd` of the program for writing; -errno. Another task that shares its descriptors may have put
 * another file there, so it is looked at before it is opened in earnest.
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
	int err = fd < 0 ? EBADF : 0;
	close(there);
	return err ? -err : fd;
}

/* Sizes, seals and maps the shared memory that the program made: cut short later, our reading it would end us. */
static int adopt_memory(struct region *r, pid_t tid, int their_fd)
{
	int fd = open_memory(tid, their_fd);
	if (fd < 0)
		return fd;
	int err = ftruncate(fd, (off_t)AGENT_STATS_SIZE) < 0 ||
				  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0
			  ? -errno
			  : 0;
	void *at = err ? MAP_FAILED : mmap(NULL, AGENT_STATS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!err && at == MAP_FAILED)
		err = -errno;
	if (!err) {
		r->slots = at;
		r->slots[AGENT_SLOTS_SIZE] = 1;
		r->fd = fd;
		return 0;
	}
	close(fd);
	return err;
}

static int write_agent(pid_t tid, const struct image *img)
{
	struct agent_data data = {.base = AGENT_STATS - SLOT_ALIGN, .alone = img->alone};
	memcpy(data.map, img->map, sizeof(data.map));
	int r = remote_write(tid, AGENT_CODE, agent_begin, (size_t)(agent_end - agent_begin));
	return r < 0 ? r : remote_write(tid, AGENT_DATA, &data, sizeof(data));
}

/* Runs `code` at `at` up to its first int3, lets `middle` work, runs it to its second. */
static int run_setup(struct tracer *t, struct task *task, uint64_t at, const unsigned char *code, size_t n,
		     struct user_regs_struct *r, int (*middle)(struct region *, pid_t, const struct user_regs_struct *),
		     struct region *region)
{
	unsigned char old[512];
	if (n > sizeof(old) || remote_read(task->tid, at, old, n) < 0 || remote_write(task->tid, at, code, n) < 0)
		return -EFAULT;
	r->rip = at;
	int err = remote_run(t, task, r);
	if (err == -ESRCH)
		return err;
	if (err == 0 && (int64_t)r->r12 >= 0) {
		err = middle(region, task->tid, r);
		struct user_regs_struct rest = *r;
		if (remote_run(t, task, &rest) == -ESRCH)
			return -ESRCH;
	} else if (err == 0)
		err = (int)r->r12;
	remote_write(task->tid, at, old, n);
	return err;
}

static int finish_setup(struct region *region, pid_t tid, const struct user_regs_struct *r)
{
	if (r->r13 != AGENT_CODE || r->r14 != AGENT_DATA || r->r15 != AGENT_STATS)
		return (int64_t)r->r13 < 0   ? (int)(int64_t)r->r13
		       : (int64_t)r->r15 < 0 ? (int)(int64_t)r->r15
					     : -ENOMEM;
	return adopt_memory(region, tid, (int)r->r12);
}

static int finish_region(struct region *region, pid_t tid, const struct user_regs_struct *r)
{
	return r->r15 != AGENT_STATS ? -ENOMEM : adopt_memory(region, tid, (int)r->r12);
}

int image_setup(struct patch *p, struct task *task, uint64_t at)
{
	struct image *img = image_of(task);
	struct region *region = region_new(p, task);
	struct user_regs_struct r;
	if (!region || ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return -ESRCH;
	/* Far enough below the loader that the libraries to come fit in between, near enough to reach them. */
	uint64_t gap = at > 1ull << 32 ? (at & ~0xfffull) - (512ull << 20) : maps_gap(task->tid, at, STUB_AREA);
	r.rbx = gap;
	r.rbp = STUB_AREA;
	int err = run_setup(&p->t, task, at, setup_begin, (size_t)(setup_end - setup_begin), &r, finish_setup, region);
	img->alone = task->proc->ntasks == 1;
	if (err == 0) {
		map_known_calls(p, img, region);
		err = write_agent(task->tid, img);
	}
	if (err < 0) {
		region->discard = true;
		region_put(p, region);
		img->state = IMAGE_PLAIN;
		return err;
	}
	patch_watch(p, region->fd);
	close(region->fd);
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
	int err = run_setup(&p->t, task, at, region_begin, (size_t)(region_end - region_begin), &r, finish_region,
			    region);
	if (err == -ESRCH)
		return err;
	ptrace(PTRACE_SETREGS, task->tid, NULL, &saved);
	if (err < 0) {
		region->discard = true;
		region_put(p, region);
		return err;
	}
	patch_watch(p, region->fd);
	close(region->fd);
	region_put(p, img->region);
	img->region = region;
	memset(img->map, 0, sizeof(img->map));
	map_known_calls(p, img, region);
	return remote_write(task->tid, map_address(0), img->map, sizeof(img->map));
}
