/* Call sites: deciding what can be done with one, doing it, and undoing it. */
#include "engine/patch/patch.h"

#include "engine/patch/code/padding.h"
#include "engine/patch/code/relocate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define CACHE_LINE 64
/* How far hops can lead from a site. */
#define WINDOW (PADDING_HOPS * 128 + 128)
/* Generated code has call sites without end: what comes after is traced. */
#define SITES_MAX 65536

static const char *const kinds[] = {"new", "short jump", "long jump", "redirected", "left to ptrace"};

void site_say(const struct patch *p, const struct task *task, const struct site *s, const char *why)
{
	if (p->debug)
		fprintf(stderr, "sctrace: [%d] site %#llx: %s%s%s\n", (int)task->tid, (unsigned long long)s->ip - 2,
			kinds[s->kind], *why ? ": " : "", why);
}

void site_index(struct image *img, struct site *s)
{
	if (s->stub)
		(void)map_put(&img->stubs, s->stub, s);
	for (int i = 0; site_is_patched(s) && i + 1 < s->nchanges; i++)
		(void)map_put(&img->hops, s->change[i].addr, s);
}

struct site *site_of_stub(const struct image *img, uint64_t addr)
{
	return map_get(&img->stubs, addr & ~(uint64_t)(STUB_SIZE - 1));
}

/* --- stubs --- */

bool site_is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < 0x7f000000;
}

/* A page of stubs near `ip`, mapped by the program itself. */
static struct stub_page *new_page(struct patch *p, struct task *task, uint64_t ip)
{
	struct image *img = image_of(task);
	uint64_t at = maps_gap(task->tid, ip, AGENT_PAGE);
	/* MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, PROT_READ | PROT_EXEC */
	const uint64_t args[6] = {at, AGENT_PAGE, 5, 0x100022, (uint64_t)-1, 0};
	int64_t got = at ? remote_call(&p->t, task, SYS_mmap, args) : -ENOMEM;
	if (got == -EFAULT)
		image_fall_back(p, task, "its agent was changed");
	if (!at || got != (int64_t)at)
		return NULL;
	return vec_push(&img->pages, (struct stub_page){at, 0, AGENT_PAGE / STUB_SIZE})
		       ? &img->pages.v[img->pages.n - 1]
		       : NULL;
}

/* A place for the site's stub, which stays its own; false where there is no room near it. */
static bool place_stub(struct patch *p, struct task *task, struct site *s)
{
	struct image *img = image_of(task);
	struct stub_page *page = NULL;
	for (size_t i = 0; i < img->pages.n && !page && !s->stub; i++)
		if (img->pages.v[i].used < img->pages.v[i].max && site_is_near(img->pages.v[i].addr, s->ip))
			page = &img->pages.v[i];
	if (!page && !s->stub && !img->sealed)
		page = new_page(p, task, s->ip);
	if (page)
		s->stub = page->addr + (uint64_t)page->used++ * STUB_SIZE;
	return s->stub != 0;
}

static bool write_stub(struct task *task, const struct site *s, const unsigned char *moved)
{
	unsigned char code[STUB_SIZE];
	return encode_stub(code, s->stub, s->ip, moved, s->moved, (uint32_t)AGENT_AT(agent_entry),
			   (uint32_t)AGENT_AT(agent_exit)) &&
	       remote_write(task->tid, s->stub, code, sizeof(code)) == 0;
}

/* --- padding --- */

/*
 * Up to where the padding [lo, hi) is used in this image; lo where it is not. Uses are noted piece by piece, in any order, but
 * each was the first that was free.
 */
static uint64_t used_until(const struct image *img, uint64_t lo, uint64_t hi)
{
	uint64_t until = lo;
	for (size_t i = 0; i < img->gaps.n; i++) {
		const struct gap_use *u = &img->gaps.v[i];
		if (u->lo >= lo && u->lo < hi && u->lo + u->used > until)
			until = u->lo + u->used;
	}
	return until;
}

/*
 * The free padding near a site: between functions, made of fill bytes, less what is used already, here or, so that what is
 * known of a file goes together, in another image. Returns how many.
 */
static int free_gaps(const struct patch *p, struct task *task, const struct mapping *m, uint64_t ip, struct gap *gaps)
{
	const struct image *img = image_of(task);
	struct gap all[PADDING_GAPS];
	unsigned char bytes[64];
	/* In one page with the site: what is mapped or thrown away (madvise(2)) takes them all, or none. */
	uint64_t page = (ip - 2) & ~(uint64_t)(AGENT_PAGE - 1);
	uint64_t lo = ip - WINDOW < page ? page : ip - WINDOW;
	uint64_t hi = ip + WINDOW > page + AGENT_PAGE ? page + AGENT_PAGE : ip + WINDOW;
	pid_t pid = task->tid;
	const struct mem direct = {mem_read_process, &pid};
	struct mem_pages pages = {.under = &direct};
	const struct mem mem = {mem_read_pages, &pages};
	int found = m->base ? padding_gaps(&mem, m->base, lo, hi, all, PADDING_GAPS) : -ENOEXEC;
	unsigned char window[2 * WINDOW];
	if (found < 0 && mem_get(&mem, lo, window, hi - lo) == 0)
		found = padding_traps(window, hi - lo, lo, all, PADDING_GAPS);
	int n = 0;
	for (int i = 0; i < found; i++) {
		struct gap g = all[i];
		size_t size = g.hi - g.lo;
		uint64_t here = used_until(img, g.lo, g.hi);
		uint64_t elsewhere = plan_used_until(p, img, m, g.lo, g.hi);
		if (g.hi > m->hi || g.hi > page + AGENT_PAGE || size > sizeof(bytes) ||
		    mem_get(&mem, g.lo, bytes, size) < 0)
			continue;
		/* What is left of a no-op after a jump was put into it is no no-op; the whole was checked before. */
		bool fill = here > g.lo || padding_is_fill(bytes, size);
		g.lo = here > elsewhere ? here : elsewhere;
		if (fill && g.lo < g.hi)
			gaps[n++] = g;
	}
	return n;
}

void site_note_gaps(struct image *img, const struct site *s)
{
	for (int i = 0; i + 1 < s->nchanges; i++)
		(void)vec_push(&img->gaps, (struct gap_use){s->change[i].addr, s->change[i].len});
}

/* --- patching --- */

static bool add_change(struct site *s, pid_t tid, uint64_t addr, const unsigned char *code, uint8_t len)
{
	struct change *c = &s->change[s->nchanges];
	c->addr = addr;
	c->len = len;
	memcpy(c->new, code, len);
	if (remote_read(tid, addr, c->old, len) < 0)
		return false;
	s->nchanges++;
	return true;
}

/* Jumps from the last hop back to the site, so that the site, written last, leads somewhere at once. */
static bool plan_changes(struct site *s, pid_t tid, const struct padding_way *way)
{
	unsigned char code[5];
	uint64_t site = s->ip - 2;
	s->nchanges = 0;
	if (!encode_jmp32(code, way->at[way->n - 1], s->stub) || !add_change(s, tid, way->at[way->n - 1], code, 5))
		return false;
	for (int i = way->n - 2; i >= 0; i--)
		if (!encode_jmp8(code, way->at[i], way->at[i + 1]) || !add_change(s, tid, way->at[i], code, 2))
			return false;
	return encode_jmp8(code, site, way->at[0]) && add_change(s, tid, site, code, 2);
}

static bool apply_changes(const struct site *s, pid_t tid)
{
	for (int i = 0; i < s->nchanges; i++)
		if (remote_write(tid, s->change[i].addr, s->change[i].new, s->change[i].len) < 0)
			return false;
	return true;
}

/* Two bytes of jump through padding; NULL, or why that cannot be. */
static const char *patch_short(struct patch *p, struct task *task, struct site *s, const struct mapping *m)
{
	struct gap gaps[PADDING_GAPS];
	struct padding_way way;
	int n = free_gaps(p, task, m, s->ip, gaps);
	if (!padding_find_way(s->ip, gaps, n, &way))
		return "no dead padding within reach";
	if (!write_stub(task, s, NULL) || !plan_changes(s, task->tid, &way) || !apply_changes(s, task->tid))
		return "its code cannot be written";
	site_note_gaps(image_of(task), s);
	s->kind = SITE_SHORT;
	return NULL;
}

/* Function bodies that are read to judge a long jump; larger ones are not. */
#define FUNCTION_MAX 16384

/*
 * Five bytes of jump over the call and what follows. Threads that run into the site meanwhile find a jump onto itself
 * in its first two bytes until the other three are there; nobody can be behind it, because the first call there stops.
 */
static bool write_long(struct task *task, struct site *s)
{
	static const unsigned char spin[2] = {0xeb, 0xfe};
	unsigned char jump[5];
	uint64_t at = s->ip - 2;
	s->nchanges = 0;
	if (!encode_jmp32(jump, at, s->stub) || !add_change(s, task->tid, at, jump, sizeof(jump)))
		return false;
	if (remote_write(task->tid, at, spin, 2) == 0 && remote_write(task->tid, at + 2, jump + 2, 3) == 0 &&
	    remote_write(task->tid, at, jump, 2) == 0)
		return true;
	remote_write(task->tid, at, s->change[0].old, sizeof(jump));
	return false;
}

/* Is a thread in a call that it made there under ptrace? It will come back to behind it. */
static bool is_in_call_at(const struct patch *p, const struct image *img, uint64_t ip)
{
	size_t i = 0;
	const struct task *x;
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x->proc && x->proc->image == img && x->in_call && x->call.ip == ip)
			return true;
	return false;
}

static const char *patch_long(struct patch *p, struct task *task, struct site *s, const struct mapping *m)
{
	pid_t pid = task->tid;
	const struct mem direct = {mem_read_process, &pid};
	struct mem_pages pages = {.under = &direct};
	const struct mem mem = {mem_read_pages, &pages};
	uint64_t at = s->ip - 2;
	uint64_t lo, hi;
	const char *why = "its function's bounds are not known";
	unsigned char *code = malloc(FUNCTION_MAX);
	bool one_line = at / CACHE_LINE == (at + 4) / CACHE_LINE;
	s->retry = (!image_of(task)->from_start && resume_point_may_be_in(p, s->ip, s->ip + RELOCATE_MAX)) ||
		   is_in_call_at(p, image_of(task), s->ip);
	if (s->retry)
		why = "a thread may be behind it";
	else if (at / AGENT_PAGE != (at + 4) / AGENT_PAGE)
		why = "the jump would straddle pages";
	else if (!one_line && task->proc->ntasks > 1)
		why = "the jump would straddle a cache line that threads run through";
	else if (code && m->base && padding_function(&mem, m->base, at, &lo, &hi) == 0 && hi - lo <= FUNCTION_MAX &&
		 mem_get(&mem, lo, code, hi - lo) == 0) {
		s->moved = (uint8_t)relocate_length(code, hi - lo, lo, at, &why);
		memcpy(s->code, code + (s->ip - lo), s->moved);
		if (s->moved && write_stub(task, s, s->code) && write_long(task, s)) {
			s->kind = SITE_LONG;
			why = NULL;
		}
	}
	free(code);
	if (why)
		s->moved = 0;
	return why;
}

/* Puts the site on the fast path; NULL, or why it cannot be. */
static const char *patch_site(struct patch *p, struct task *task, struct site *s, const struct mapping *m)
{
	unsigned char code[2];
	const char *why = "not allowed by SCTRACE_PATCH";
	if (!m || !m->patchable)
		return "not private, read-only code of a file";
	if ((s->ip - 2) % CACHE_LINE == CACHE_LINE - 1)
		return "the instruction straddles a cache line";
	if (remote_read(task->tid, s->ip - 2, code, 2) < 0 || code[0] != 0x0f || code[1] != 0x05)
		return "not a syscall instruction";
	if (p->ways & WAY_SHORT)
		why = patch_short(p, task, s, m);
	if (why && p->ways & WAY_LONG)
		why = patch_long(p, task, s, m);
	return why;
}

static const struct mapping *mapping_at(struct task *task, uint64_t ip)
{
	struct image *img = image_of(task);
	const struct mapping *m = maps_find(img, ip);
	if (!m) {
		maps_read(task->tid, img);
		ranges_tell(task);
		m = maps_find(img, ip);
	}
	return m;
}

static void decide(struct patch *p, struct task *task, struct site *s)
{
	struct image *img = image_of(task);
	const struct mapping *m = mapping_at(task, s->ip);
	const char *why = "no room for a stub near it";
	s->kind = SITE_HOPELESS;
	if (place_stub(p, task, s)) {
		why = patch_site(p, task, s, m);
		if (why && p->ways & WAY_REDIRECT && write_stub(task, s, NULL))
			s->kind = SITE_REDIRECT;
	}
	if (!site_is_patched(s))
		s->nchanges = 0; /* what was planned and not written */
	s->serial = ++img->serial;
	p->patched += site_is_patched(s);
	p->redirected += s->kind == SITE_REDIRECT;
	/* Hopeless is what not even a stub could be written for: the program has just been killed. */
	if (s->kind != SITE_HOPELESS && m && m->patchable && !s->retry) {
		plan_remember(p, task, s, m);
		plan_note_loader(p, task, m);
	}
	site_index(img, s);
	site_say(p, task, s, why ? why : "");
}

static bool bytes_are(const struct task *task, const struct change *c, bool new)
{
	unsigned char now[5];
	return remote_read(task->tid, c->addr, now, c->len) == 0 && memcmp(now, new ? c->new : c->old, c->len) == 0;
}

/* A patched site stopped all the same: another thread was faster, or its code was mapped anew. */
static bool still_good(struct task *task, struct site *s)
{
	bool old = true;
	if (bytes_are(task, &s->change[s->nchanges - 1], true))
		return true;
	for (int i = 0; i < s->nchanges; i++)
		old = old && bytes_are(task, &s->change[i], false);
	s->serial = ++image_of(task)->serial;
	return old && (s->kind == SITE_LONG ? write_long(task, s) : apply_changes(s, task->tid));
}

static void unindex(struct image *img, struct site *s)
{
	for (int i = 0; i < s->nchanges; i++)
		map_remove(&img->hops, s->change[i].addr);
	s->nchanges = 0;
}

/*
 * Each write is made before or after the copy (mmap_lock; dup_mmap() in kernel/fork.c), and the site's own bytes come last: where
 * they are there all is.
 */
static bool is_copied(struct task *task, const struct site *s)
{
	if (s->kind == SITE_REDIRECT)
		return write_stub(task, s, NULL);
	return !site_is_patched(s) || bytes_are(task, &s->change[s->nchanges - 1], true);
}

static void forget_site(struct patch *p, struct task *task, struct site *s)
{
	struct image *img = image_of(task);
	if (site_is_patched(s))
		remote_write(task->tid, s->change[s->nchanges - 1].addr, s->change[s->nchanges - 1].old,
			     s->change[s->nchanges - 1].len);
	unindex(img, s);
	map_remove(&img->stubs, s->stub);
	p->nsites -= map_remove(&img->sites, s->ip) != NULL;
	free(s);
}

void site_check_copied(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	VEC(struct site *) late = {0};
	size_t i = 0;
	struct site *s;
	if (img->serial == img->copied_serial)
		return;
	while ((s = map_next(&img->sites, &i, NULL)))
		if (s->serial > img->copied_serial && !vec_push(&late, s))
			break;
	for (size_t k = 0; k < late.n; k++)
		if (!is_copied(task, late.v[k]))
			forget_site(p, task, late.v[k]);
	vec_free(&late);
	img->copied_serial = img->serial;
}

struct site *site_visit(struct patch *p, struct task *task, uint64_t ip)
{
	struct image *img = image_of(task);
	struct site *s = map_get(&img->sites, ip);
	if (s && (site_is_patched(s) ? still_good(task, s) : !s->retry)) {
		if (s->kind == SITE_REDIRECT)
			plan_apply_mapped(p, task, ip);
		return s;
	}
	if (!s) {
		const struct mapping *m = mapping_at(task, ip);
		if (m && plan_apply(p, task, m, ip))
			return map_get(&img->sites, ip);
		s = img->sites.n < SITES_MAX ? calloc(1, sizeof(*s)) : NULL;
		if (!s || map_put(&img->sites, ip, s) < 0) {
			free(s);
			return NULL;
		}
		p->nsites++;
		s->ip = ip;
	} else {
		unindex(img, s);
		s->moved = 0;
		img->mappings.n = 0; /* something was mapped there since */
	}
	decide(p, task, s);
	return s;
}

void site_restore(const struct task *task, const struct site *s, bool hops)
{
	for (int k = s->nchanges; site_is_patched(s) && k-- > (hops ? 0 : s->nchanges - 1);)
		if (bytes_are(task, &s->change[k], true))
			remote_write(task->tid, s->change[k].addr, s->change[k].old, s->change[k].len);
}

void site_restore_all(struct task *task)
{
	size_t i = 0;
	const struct site *s;
	while ((s = map_next(&image_of(task)->sites, &i, NULL)))
		site_restore(task, s, true);
}

const struct site *site_moved_from(const struct image *img, uint64_t ip)
{
	for (uint64_t k = 0; k < RELOCATE_MAX; k++) {
		const struct site *s = map_get(&img->sites, ip - k);
		if (s && s->kind == SITE_LONG && k < s->moved)
			return s;
	}
	return NULL;
}

bool site_follow_moved(struct task *task)
{
	struct user_regs_struct r;
	if (ptrace(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return false;
	const struct site *s = site_moved_from(image_of(task), r.rip);
	if (!s)
		return false;
	r.rip += s->stub + STUB_MOVED - s->ip;
	ptrace(PTRACE_SETREGS, task->tid, NULL, &r);
	return true;
}
