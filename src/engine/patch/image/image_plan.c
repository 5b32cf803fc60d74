/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/image_plan.h"

#include "base/memory.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "tracee/proc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

void plan_open_kept(struct patch *p)
{
	if (p->ways == (WAY_SHORT | WAY_LONG | WAY_REDIRECT))
		p->kept = kept_plans_open(p->rights);
}

void plan_free_all(struct patch *p)
{
	if (p->learned)
		kept_plans_save(p->kept, p->modules.v, p->modules.n);
	module_free_all(p);
	usage_free_all(p);
	kept_plans_close(p->kept);
}

/*
 * Returns the module of a mapped file, with the plans that are kept for it and for the task's program, or NULL. If a
 * traced program may have to provide pages of the file, no plan is used, because its page may not be present. The vDSO is
 * not a file, and has few sites.
 */
static struct module *known_module(struct patch *p, const struct task *task, const struct mapping *m)
{
	struct module *mod = m->ino ? module_of(p, task, m) : NULL;
	if (mod && mod->served && p->t.serves_pages)
		return NULL;
	if (mod && image_of(task)->start.kept)
		kept_plans_add(p, mod, image_of(task)->start.program);
	return mod;
}

/* --- trust domains --- */

/* An image whose owner is unknown counts as root's: only plans of root's programs are used in it. */
static void note_owner(const struct patch *p, struct task *task, const struct proc_status *s)
{
	if (p->root && s->uid != ID_MIXED && s->gid != ID_MIXED)
		image_of(task)->start.owner = (struct owner){s->uid, s->gid};
}

/*
 * Sets *owner to the user who controls this memory. Returns false if this user is unknown because the memory is shared
 * or the process changed its ids, or if the process runs as root but does not have all of sctrace's capabilities.
 */
static bool find_owner(const struct patch *p, const struct task *task, struct owner *owner)
{
	struct proc_status s;
	*owner = (struct owner){0, 0};
	if (!p->root)
		return true;
	if (proc_status(task->tid, &s) < 0 || s.uid == ID_MIXED || s.gid == ID_MIXED)
		return false;
	*owner = (struct owner){s.uid, s.gid};
	return s.uid != 0 || (p->rights & ~s.permitted) == 0;
}

static bool is_by(const struct plan *plan, const struct image *img)
{
	return plan->owner.uid == img->start.owner.uid && plan->owner.gid == img->start.owner.gid;
}

/* --- remembering --- */

void plan_remember(struct patch *p, struct task *task, const struct site *s, const struct mapping *m, int64_t nr)
{
	struct plan plan;
	struct module *mod = known_module(p, task, m);
	memset(&plan, 0, sizeof(plan)); /* also the bytes between its members, because plans are written to a file */
	plan.offset = s->ip - m->lo + m->file_offset;
	plan.call = nr >= 0 && nr < AGENT_NUMBERS ? (int16_t)nr : -1;
	plan.kind = s->kind;
	plan.moved = s->moved;
	plan.why = s->why;
	plan.nchanges = s->nchanges;
	/*
	 * If a program has put itself into a sandbox, nothing that is learned from it may be used for other programs.
	 *
	 * If plans are not kept and root traces a single process, finding the owner for each site takes longer than a
	 * later execve(2) gains from the plans.
	 */
	if ((!p->kept && p->root && p->t.config.spawn.argv && !p->t.config.follow) || !mod ||
	    image_of(task)->sigsys.sealed || !find_owner(p, task, &plan.owner))
		return;
	memcpy(plan.code, s->code, s->moved);
	for (int i = 0; i < s->nchanges; i++) {
		plan.change[i].delta = (int32_t)(s->change[i].addr - s->ip);
		plan.change[i].len = s->change[i].len;
		memcpy(plan.change[i].old, s->change[i].old, s->change[i].len);
	}
	memcpy(plan.program, image_of(task)->start.program, sizeof(plan.program));
	if (module_add(p, mod, &plan))
		p->learned |= kept_plans_suit(mod, &plan);
}

uint64_t plan_used_until(const struct patch *p, const struct image *img, const struct mapping *m, uint64_t lo,
			 uint64_t hi)
{
	const struct module *mod = m->patchable ? module_find(p, m) : NULL;
	uint64_t origin = m->lo - m->file_offset;
	uint64_t until = lo;
	for (size_t i = 0; mod && i < mod->plans.n; i++) {
		const struct plan *plan = &mod->plans.v[i];
		for (int k = 0; is_by(plan, img) && k + 1 < plan->nchanges; k++) {
			uint64_t at = origin + plan->offset + (uint64_t)(int64_t)plan->change[k].delta;
			if (at >= lo && at < hi && at + plan->change[k].len > until)
				until = at + plan->change[k].len;
		}
	}
	return until;
}

/* Fills in *s with the site at `ip` that a plan describes, with its stub and all changes ready to be written. */
static bool site_from_plan(struct site *s, const struct plan *plan, uint64_t ip, uint64_t stub)
{
	*s = (struct site){.ip = ip, .stub = stub, .kind = plan->kind, .why = plan->why, .moved = plan->moved};
	memcpy(s->code, plan->code, plan->moved);
	uint64_t to = site_target(s);
	for (int i = 0; i < plan->nchanges; i++) {
		struct change *c = &s->change[s->nchanges++];
		c->addr = ip + (uint64_t)(int64_t)plan->change[i].delta;
		c->len = plan->change[i].len;
		memcpy(c->old, plan->change[i].old, c->len);
		if (!encode_jump(c->new, c->len, c->addr, to))
			return false;
		to = c->addr;
	}
	return true;
}

#define BATCH_PIECES (PLAN_BATCH * 7 + 1)

struct batch {
	struct site *site[PLAN_BATCH];
	unsigned char stubs[PLAN_BATCH][STUB_SIZE];
	int n;
	struct plan_extra *extra; /* written together with these sites, or NULL */
};

#define EXTRA PLAN_BATCH /* the value of piece.site for the extra code */

/* Bytes of site number `site`: `old` before the change, and `new`, which may be equal, after it. */
struct piece {
	uint64_t addr;
	size_t len;
	const unsigned char *old, *new;
	int site;
};

/*
 * A run of bytes in neighbouring pages, from the first piece to the last, and the offset of their copy in the buffer.
 * The bytes between pieces are written back unchanged, because another call for each piece would take longer.
 */
struct run {
	uint64_t lo;
	size_t len, at;
};

struct work {
	struct piece piece[BATCH_PIECES]; /* sorted by address */
	struct run run[BATCH_PIECES];
	size_t npieces, nruns, size;
	bool overwritten[PLAN_BATCH +
			 1]; /* a byte of this site differs from the file, because the program has overwritten it */
};

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct piece *)a)->addr;
	uint64_t y = ((const struct piece *)b)->addr;
	return x < y ? -1 : x > y;
}

/*
 * Adds the pieces of a site. The bytes that moved into the stub are added as unchanged pieces: they must be the same in
 * this image, because the program will run the stub's copy of them.
 */
static void add_pieces(struct work *w, const struct site *s, int site)
{
	/* The number of moved bytes that the jump overwrites, and the address of the first moved byte. */
	const size_t jumped = s->kind == SITE_EARLY ? 5 : 3;
	const uint64_t at = s->kind == SITE_EARLY ? s->ip - CPU_CALL_SIZE - s->moved : s->ip;
	for (int k = 0; k < s->nchanges; k++)
		w->piece[w->npieces++] =
			(struct piece){s->change[k].addr, s->change[k].len, s->change[k].old, s->change[k].new, site};
	if (s->moved > jumped)
		w->piece[w->npieces++] =
			(struct piece){at + jumped, s->moved - jumped, s->code + jumped, s->code + jumped, site};
}

static void plan_work(const struct batch *b, struct work *w)
{
	static const unsigned char unused[PLAN_EXTRA_MAX];
	*w = (struct work){.npieces = 0};
	for (int i = 0; i < b->n; i++)
		add_pieces(w, b->site[i], i);
	if (b->extra)
		w->piece[w->npieces++] = (struct piece){b->extra->addr, b->extra->n, unused, b->extra->code, EXTRA};
	qsort(w->piece, w->npieces, sizeof(*w->piece), by_address);
	for (size_t i = 0; i < w->npieces; i++) {
		const struct piece *c = &w->piece[i];
		struct run *r = w->nruns ? &w->run[w->nruns - 1] : NULL;
		if (!r || c->addr / AGENT_PAGE > (r->lo + r->len - 1) / AGENT_PAGE + 1) {
			w->size += r ? r->len : 0;
			r = &w->run[w->nruns++];
			*r = (struct run){c->addr, 0, w->size};
		}
		if (c->addr + c->len - r->lo > r->len)
			r->len = c->addr + c->len - r->lo;
	}
	w->size += w->nruns ? w->run[w->nruns - 1].len : 0;
}

static bool read_runs(const struct work *w, pid_t pid, unsigned char *bytes)
{
	struct iovec here[BATCH_PIECES], there[BATCH_PIECES];
	for (size_t i = 0; i < w->nruns; i++) {
		here[i] = (struct iovec){bytes + w->run[i].at, w->run[i].len};
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		there[i] = (struct iovec){(void *)w->run[i].lo, w->run[i].len};
	}
	return process_vm_readv(pid, here, w->nruns, there, w->nruns, 0) == (ssize_t)w->size;
}

/* Returns the copy of a piece. *r must be the run of the previous piece, and is set to the run of this piece. */
static unsigned char *copy_of(const struct piece *c, const struct run **r, unsigned char *bytes)
{
	while (c->addr >= (*r)->lo + (*r)->len)
		(*r)++;
	return bytes + (*r)->at + (c->addr - (*r)->lo);
}

/* Makes all changes in the copy of the bytes, except changes of sites that the program has overwritten. */
static void change_copy(struct work *w, unsigned char *bytes)
{
	const struct run *r = w->run;
	for (size_t i = 0; i < w->npieces; i++) {
		const struct piece *c = &w->piece[i];
		w->overwritten[c->site] |= memcmp(copy_of(c, &r, bytes), c->old, c->len) != 0;
	}
	r = w->run;
	for (size_t i = 0; i < w->npieces; i++) {
		const struct piece *c = &w->piece[i];
		unsigned char *at = copy_of(c, &r, bytes);
		if (!w->overwritten[c->site])
			memcpy(at, c->new, c->len);
	}
}

/* Writes all runs or none: if one run cannot be written, no jump in another run may lead to it. */
static bool write_runs(const struct work *w, pid_t pid, int fd, const unsigned char *bytes)
{
	const struct run *r = w->run;
	while (r < w->run + w->nruns && remote_write_by(fd, pid, r->lo, bytes + r->at, r->len) == 0)
		r++;
	if (r == w->run + w->nruns)
		return true;
	for (size_t i = 0; i < w->npieces && w->piece[i].addr < r->lo + r->len; i++)
		if (!w->overwritten[w->piece[i].site])
			remote_write_by(fd, pid, w->piece[i].addr, w->piece[i].old, w->piece[i].len);
	return false;
}

static bool write_stubs(const struct batch *b, pid_t pid, int fd, uint64_t stubs)
{
	size_t n = (size_t)b->n * STUB_SIZE;
	if (!b->extra)
		return remote_write_by(fd, pid, stubs, b->stubs, n) == 0;
	memcpy(b->extra->stubs, b->stubs, n);
	b->extra->nstubs = n;
	return true;
}

static bool batch_write(const struct batch *b, struct work *w, pid_t pid, int fd, uint64_t stubs)
{
	plan_work(b, w);
	auto_free unsigned char *bytes = memory_get(w->size + 1);
	bool ok = read_runs(w, pid, bytes);
	if (ok)
		change_copy(w, bytes);
	return ok && !w->overwritten[EXTRA] && write_stubs(b, pid, fd, stubs) && write_runs(w, pid, fd, bytes);
}

static void batch_apply(struct patch *p, struct task *task, struct batch *b, struct stub_page *page, int fd)
{
	struct image *img = image_of(task);
	struct work w;
	uint64_t stubs = page->addr + (uint64_t)page->used * STUB_SIZE;
	bool done = (b->n || b->extra) && batch_write(b, &w, task->tid, fd, stubs);
	for (int i = 0; i < b->n; i++) {
		struct site *s = b->site[i];
		s->serial = img->sites.serial + 1;
		if (!done || w.overwritten[i]) {
			free(s);
			continue;
		}
		site_add(p, img, s);
		img->sites.serial++;
		site_note_gaps(img, s);
		site_say(p, task, s, true);
	}
	page->used += done ? (uint32_t)b->n : 0;
	b->n = 0;
	if (b->extra) {
		b->extra->written = done;
		p->attended |= w.overwritten[EXTRA];
	}
}

/*
 * Is this the plan for the site at `ip` in this image? A long jump also overwrites the instructions after the call. In an
 * attached process, a thread or a signal handler may still return to one of them.
 */
static bool suits(const struct patch *p, const struct image *img, const struct plan *plan, uint64_t ip)
{
	if (plan->kind != SITE_LONG && !plan->instead)
		return true;
	bool returns =
		!img->start.observed && (img->start.interrupted || resume_point_may_be_in(p, ip, ip + RELOCATE_MAX));
	return returns == plan->instead;
}

/*
 * Returns the plan that is carried out. The loader makes arch_prctl(2) after it has mapped the libraries, and the thread then
 * has another thread pointer. This call must stop: the known sites of the libraries are patched then, and the thread keeps its ring.
 * A later call would stop for each of the two.
 */
static struct plan plan_here(const struct patch *p, const struct module *mod, const struct plan *plan)
{
	struct plan here = *plan;
	if (mod == p->loader && plan->call == CPU_SET_THREAD_POINTER) {
		here.kind = SITE_REDIRECT;
		here.nchanges = here.moved = 0;
	}
	return here;
}

/*
 * Patches the known sites of a file that the program probably uses (usage.c), so that not even the first call at these
 * sites stops. `origin` is the address at which the file's offset 0 would be mapped. Patches them only while no other
 * thread can run, and the image has room for stubs. If `extra` is not NULL, patches only the sites that can be written
 * together with it.
 */
static void patch_module(struct patch *p, struct task *task, const struct module *mod, uint64_t origin,
			 struct plan_extra *extra)
{
	struct image *img = image_of(task);
	struct stub_page *page = img->sites.pages.n ? &img->sites.pages.v[0] : NULL;
	auto_free struct batch *b = memory_zeroed(1, sizeof(*b));
	int fd = -1;
	if (page && site_is_near(page->addr, origin) && image_others_wait(p, task))
		fd = remote_open(task->tid);
	b->extra = extra;
	for (size_t i = 0; fd >= 0 && i < mod->plans.n && !(extra && b->n == PLAN_BATCH); i++) {
		const struct plan here = plan_here(p, mod, &mod->plans.v[i]), *plan = &here;
		uint64_t ip = origin + plan->offset;
		uint32_t slot = page->used + (uint32_t)b->n;
		bool likely = mod == p->loader || usage_includes(img->start.usage, plan->call);
		bool wanted = likely && is_by(plan, img) && suits(p, img, plan, ip) &&
			      !map_get(&img->sites.by_ip, ip) && slot < page->max;
		struct site *s = wanted ? memory_zeroed(1, sizeof(*s)) : NULL;
		uint64_t stub = page->addr + (uint64_t)slot * STUB_SIZE;
		if (!s)
			continue;
		if (!site_from_plan(s, plan, ip, stub) ||
		    !encode_stub(b->stubs[b->n], stub, page->addr, ip, plan->code, s->moved, s->kind == SITE_EARLY)) {
			free(s);
			continue;
		}
		b->site[b->n++] = s;
		if (b->n == PLAN_BATCH && !extra)
			batch_apply(p, task, b, page, fd);
	}
	if (fd >= 0)
		batch_apply(p, task, b, page, fd);
}

uint64_t plan_loader_room(const struct patch *p, uint64_t entry, size_t n)
{
	uint64_t origin = entry - p->loader_entry;
	return p->loader && p->loader_entry && origin % AGENT_PAGE == 0 ? origin + p->loader_end - n : 0;
}

void plan_apply_loader(struct patch *p, struct task *task, uint64_t entry, struct plan_extra *extra)
{
	if (p->loader && p->loader_entry)
		patch_module(p, task, p->loader, entry - p->loader_entry, extra);
}

static void patch_all(struct patch *p, struct task *task, const struct module *except)
{
	const struct image *img = image_of(task);
	for (size_t i = 0; i < img->mappings.n; i++) {
		const struct mapping m = img->mappings.v[i];
		const struct module *mod = m.patchable ? known_module(p, task, &m) : NULL;
		if (mod && mod->plans.n && mod != except)
			patch_module(p, task, mod, m.lo - m.file_offset, NULL);
	}
}

void plan_apply_mapped(struct patch *p, struct task *task, uint64_t ip)
{
	struct image *img = image_of(task);
	if (img->sites.surveyed || !img->start.observed)
		return;
	img->sites.surveyed = true;
	usage_begin(img);
	maps_read(task);
	ranges_write(task);
	const struct mapping *caller = maps_find(img, ip);
	if (caller && p->loader && module_find(p, caller) == p->loader)
		patch_all(p, task, p->loader);
}

void plan_apply_attached(struct patch *p, struct task *task)
{
	maps_read(task);
	ranges_write(task);
	patch_all(p, task, NULL);
}

bool plan_apply(struct patch *p, struct task *task, const struct mapping *m, uint64_t ip)
{
	struct module *mod = m->patchable ? known_module(p, task, m) : NULL;
	if (!mod || !mod->plans.n)
		return false;
	for (size_t i = 0; i < mod->plans.n; i++)
		if (mod->plans.v[i].offset == ip - m->lo + m->file_offset)
			usage_add(image_of(task)->start.usage, mod->plans.v[i].call);
	patch_module(p, task, mod, m->lo - m->file_offset, NULL);
	return map_get(&image_of(task)->sites.by_ip, ip) != NULL;
}

/* Notes that the file with the first instruction of an image, at `entry`, is the loader. */
static void set_loader(struct patch *p, struct module *mod, const struct mapping *m, uint64_t entry)
{
	p->loader = mod;
	p->loader_entry = entry - m->lo + m->file_offset;
	p->loader_end = m->hi - m->lo + m->file_offset;
}

static void find_loader(struct patch *p, struct task *task, uint64_t entry)
{
	struct image *img = image_of(task);
	maps_read(task);
	const struct mapping *m = maps_find(img, entry);
	struct module *mod = m && m->patchable ? known_module(p, task, m) : NULL;
	if (mod && mod->plans.n)
		set_loader(p, mod, m, entry);
	img->mappings.n = 0; /* the loader will map libraries */
}

void plan_begin_attached(struct patch *p, struct task *task, const struct proc_status *s)
{
	struct image_start *start = &image_of(task)->start;
	note_owner(p, task, s);
	/* A new image has just been created, so `start` is not NULL. */
	memcpy(start->program, s->name, sizeof(start->program)); /* NOLINT(clang-analyzer-core.NonNullParamChecker) */
	start->kept = p->kept && kept_plans_exist(p->kept, start->program);
	if (start->kept)
		kept_plans_expect_calls(p, start->program);
}

void plan_begin(struct patch *p, struct task *task, const struct proc_status *s, uint64_t entry)
{
	struct image_start *start = &image_of(task)->start;
	plan_begin_attached(p, task, s);
	start->usage = usage_find(p, start->program);
	if (start->kept && p->loader)
		kept_plans_add(p, p->loader, start->program);
	else if (start->kept)
		find_loader(p, task, entry);
}

void plan_note_loader(struct patch *p, struct task *task, const struct mapping *m)
{
	const uint64_t entry = image_of(task)->start.entry;
	if (!p->loader && entry && entry >= m->lo && entry < m->hi)
		set_loader(p, known_module(p, task, m), m, entry);
}
