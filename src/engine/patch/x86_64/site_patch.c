/* SPDX-License-Identifier: MIT */
/*
 * How a call is patched: a short jump through padding, or a long jump over the call and the instructions after it, or over
 * one before it (site.h).
 */
#include "base/memory.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/image_plan.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "engine/patch/x86_64/padding.h"
#include "engine/patch/x86_64/relocate.h"
#include "engine/ptrace/tracer.h"
#include "tracee/functions.h"

#include <stdlib.h>
#include <string.h>

/* The largest distance from a site, in bytes, that the site's hops can reach. */
#define WINDOW (PADDING_HOPS * 128 + 128)

/* --- padding --- */

/*
 * Returns the end of the part of the padding [lo, hi) that this image uses, or `lo` if it uses none. Jumps fill a gap
 * from its beginning, but the list of uses is not sorted.
 */
static uint64_t used_until(const struct image *img, uint64_t lo, uint64_t hi)
{
	uint64_t until = lo;
	for (size_t i = 0; i < img->sites.gaps.n; i++) {
		const struct gap_use *u = &img->sites.gaps.v[i];
		if (u->lo >= lo && u->lo < hi && u->lo + u->used > until)
			until = u->lo + u->used;
	}
	return until;
}

/*
 * Copies those of the gaps in `all` that this image can use, without their used parts, to `gaps`. Padding that other
 * images of the same file use counts as used, so that all plans of a file can be applied together. Returns the number
 * of gaps.
 */
static int unused_gaps(const struct patch *p, const struct image *img, const struct mapping *m, const struct mem *mem,
		       const struct gap *all, int found, struct gap *gaps)
{
	unsigned char bytes[64];
	int n = 0;
	for (int i = 0; i < found; i++) {
		struct gap g = all[i];
		size_t size = g.hi - g.lo;
		uint64_t here = used_until(img, g.lo, g.hi);
		uint64_t elsewhere = plan_used_until(p, img, m, g.lo, g.hi);
		if (g.hi > m->hi || size > sizeof(bytes) || mem_get(mem, g.lo, bytes, size) < 0)
			continue;
		/* The rest of an overwritten no-op is not a no-op, but the whole gap was checked before. */
		bool fill = here > g.lo || padding_is_fill(bytes, size);
		g.lo = here > elsewhere ? here : elsewhere;
		if (fill && g.lo < g.hi)
			gaps[n++] = g;
	}
	return n;
}

/* Replaces the engine's jumps in a copy of the code at [lo, hi) by the bytes that they have overwritten. */
static void undo_changes(const struct image *img, uint64_t lo, uint64_t hi, unsigned char *code)
{
	size_t i = 0;
	const struct site *s;
	while ((s = map_next(&img->sites.by_ip, &i, NULL)))
		for (int k = 0; k < s->nchanges; k++)
			for (unsigned b = 0; b < s->change[k].len; b++)
				if (s->change[k].addr + b >= lo && s->change[k].addr + b < hi)
					code[s->change[k].addr + b - lo] = s->change[k].old[b];
}

/* Finds unused padding near a site: fill between functions that is not in use. Returns the number of gaps. */
static int free_gaps(const struct patch *p, struct task *task, const struct mapping *m, uint64_t ip, struct gap *gaps)
{
	const struct image *img = image_of(task);
	struct gap all[PADDING_GAPS];
	unsigned char window[2 * WINDOW];
	/* Use only padding in the site's page, so that mmap(2) or madvise(2) replaces both or neither. */
	uint64_t page = (ip - CPU_CALL_SIZE) & ~(uint64_t)(AGENT_PAGE - 1);
	uint64_t lo = ip - WINDOW < page ? page : ip - WINDOW;
	uint64_t hi = ip + WINDOW > page + AGENT_PAGE ? page + AGENT_PAGE : ip + WINDOW;
	uint64_t from, to;
	pid_t pid = task->tid;
	const struct mem direct = tracer_mem_of(&p->t, &pid);
	struct mem_pages pages;
	const struct mem mem = {mem_read_pages, &pages};
	mem_pages_init(&pages, &direct);
	int found = m->base ? padding_gaps(&mem, m->base, lo, hi, all, PADDING_GAPS) : 0;
	while (found > 0 && all[found - 1].hi > page + AGENT_PAGE)
		found--;
	int n = unused_gaps(p, img, m, &mem, all, found, gaps);
	/* Even if there is an unwind table, it does not describe functions of Go. */
	if (n > 0 || ip >= hi || (m->base && functions_find(&mem, m->base, ip - CPU_CALL_SIZE, &from, &to) == 0) ||
	    mem_get(&mem, lo, window, hi - lo) < 0)
		return n;
	undo_changes(img, lo, hi, window);
	found = padding_traps(window, hi - lo, lo, ip, all, PADDING_GAPS);
	return unused_gaps(p, img, m, &mem, all, found, gaps);
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

/*
 * Plans the jumps, beginning with the last hop and ending with the site. The site is written last, so that its jump
 * leads to the stub as soon as it is written.
 */
static bool plan_changes(struct site *s, pid_t tid, const struct padding_way *way)
{
	unsigned char code[5];
	uint64_t site = s->ip - CPU_CALL_SIZE;
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

/* Patches a site with a short jump through padding. Returns WHY_NONE, or the reason why that is not possible. */
static enum site_why patch_short(struct patch *p, struct task *task, struct site *s, const struct mapping *m)
{
	struct gap gaps[PADDING_GAPS];
	struct padding_way way;
	int n = free_gaps(p, task, m, s->ip, gaps);
	if (!padding_find_way(s->ip, gaps, n, &way))
		return WHY_NO_PADDING;
	if (!site_write_stub(task, s) || !plan_changes(s, task->tid, &way) || !apply_changes(s, task->tid))
		return WHY_NOT_WRITABLE;
	site_note_gaps(image_of(task), s);
	s->kind = SITE_SHORT;
	return WHY_NONE;
}

/*
 * Writes a jump of five bytes over the call and the instructions after it, or over an instruction before it
 * (SITE_EARLY). Until the last three bytes are written, the first two bytes are a jump to themselves, so that threads
 * that reach them wait there. A SITE_EARLY overwrites only one instruction. At other sites, no thread can be at the
 * overwritten instructions after the call, because the first call at the site stops.
 */
static bool write_long(struct task *task, struct site *s)
{
	static const unsigned char spin[2] = {0xeb, 0xfe};
	unsigned char jump[5];
	uint64_t at = s->ip - CPU_CALL_SIZE - (s->kind == SITE_EARLY ? s->moved : 0);
	s->nchanges = 0;
	if (!encode_jmp32(jump, at, site_target(s)) || !add_change(s, task->tid, at, jump, sizeof(jump)))
		return false;
	if (remote_write(task->tid, at, spin, 2) == 0 && remote_write(task->tid, at + 2, jump + 2, 3) == 0 &&
	    remote_write(task->tid, at, jump, 2) == 0)
		return true;
	remote_write(task->tid, at, s->change[0].old, sizeof(jump));
	return false;
}

/* Is a thread in a call at this site under ptrace, or about to make it? It will return to the instruction after the site. */
static bool is_in_call_at(const struct patch *p, const struct image *img, uint64_t ip)
{
	size_t i = 0;
	const struct task *x;
	while ((x = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (x->proc && x->proc->image == img &&
		    ((thread_of(x)->in_call && thread_of(x)->call.ip == ip) ||
		     (patch_task_of(x) && patch_task_of(x)->slow && patch_task_of(x)->slow_ip == ip)))
			return true;
	return false;
}

/* Does the engine use any of the bytes [lo, hi) for the jump of another site, or has it moved them into a stub? */
static bool is_used(const struct image *img, const struct site *s, uint64_t lo, uint64_t hi)
{
	size_t i = 0;
	const struct site *x;
	while ((x = map_next(&img->sites.by_ip, &i, NULL))) {
		if (x == s)
			continue;
		if (x->kind == SITE_LONG && x->ip < hi && x->ip + x->moved > lo)
			return true;
		for (int k = 0; k < x->nchanges; k++)
			if (x->change[k].addr < hi && x->change[k].addr + x->change[k].len > lo)
				return true;
	}
	return false;
}

/* Reads the program's memory as it was before the engine changed it. */
struct native {
	const struct image *img;
	const struct mem *direct;
};

static ssize_t read_native(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct native *native = ctx;
	ssize_t got = mem_read(native->direct, addr, buf, n);
	if (got > 0)
		undo_changes(native->img, addr, addr + (uint64_t)got, buf);
	return got;
}

/* Returns the targets in the object at m->base, or NULL if they cannot be found. */
static const struct targets *targets_of(struct image *img, const struct mem *mem, const struct mapping *m)
{
	for (size_t i = 0; i < img->sites.targets.n; i++) {
		const struct image_targets *known = &img->sites.targets.v[i];
		if (known->base == m->base && known->dev == m->dev && known->ino == m->ino)
			return known->targets;
	}
	struct targets *found = relocate_targets_find(mem, m->base);
	vec_push(&img->sites.targets, (struct image_targets){m->base, m->dev, m->ino, found});
	return found;
}

/* The largest function, in bytes, that is read to find out whether a long jump is possible. */
#define FUNCTION_MAX 16384

/* The code around a site: its function, or if the bounds of the function are not known, the code within RELOCATE_NEAR. */
struct around {
	uint64_t lo, hi;
	bool function;
	unsigned char code[FUNCTION_MAX];
};

static bool read_around(struct around *a, const struct mem *mem, const struct mapping *m, uint64_t site)
{
	a->function = m->base && functions_find(mem, m->base, site, &a->lo, &a->hi) == 0 &&
		      a->hi - a->lo <= FUNCTION_MAX && mem_get(mem, a->lo, a->code, a->hi - a->lo) == 0;
	if (a->function)
		return true;
	a->lo = site - m->lo > RELOCATE_NEAR ? site - RELOCATE_NEAR : m->lo;
	a->hi = m->hi - site > RELOCATE_NEAR ? site + RELOCATE_NEAR : m->hi;
	return m->base && mem_get(mem, a->lo, a->code, a->hi - a->lo) == 0;
}

/*
 * May the function have another long jump? If tasks are armed by a filter, it may have only one. Otherwise threads would
 * begin with fewer stops, and if a thread then installs a filter for all threads, some of their calls would be missed.
 */
static bool may_have_another(const struct patch *p, const struct image *img, const struct around *a)
{
	size_t i = 0;
	const struct site *x;
	while (p->arming == ARM_FILTER && a->function && (x = map_next(&img->sites.by_ip, &i, NULL)))
		if ((x->kind == SITE_LONG || x->kind == SITE_EARLY) && x->nchanges && x->ip >= a->lo && x->ip < a->hi)
			return false;
	return true;
}

/*
 * Returns WHY_NONE if no thread can reach an address above `lo` and below `hi` except through the instruction at `lo`, and
 * otherwise the reason. If `number` is true, the instruction loads the number of a call: an indirect jump leads to the
 * beginning of an instruction, so never into the middle of this one.
 */
static enum site_why reachable(struct image *img, const struct around *a, const struct mem *native,
			       const struct mapping *m, uint64_t site, uint64_t lo, uint64_t hi, bool number)
{
	const struct targets *t = a->function ? WHY_NONE : targets_of(img, native, m);
	size_t n = a->hi - a->lo;
	enum relocate_entry by = a->function ? relocate_entry(a->code, n, a->lo, site, lo, hi)
				 : t         ? relocate_near(a->code, n, a->lo, site, lo, hi, t)
					     : ENTRY_GARBLED;
	if (by == ENTRY_NONE || (number && (by == ENTRY_TABLE || by == ENTRY_UNKNOWN)))
		return WHY_NONE;
	if (by == ENTRY_GARBLED)
		return a->function ? WHY_GARBLED : WHY_NOT_SEARCHABLE;
	if (by == ENTRY_BRANCH)
		return WHY_BRANCH;
	if (by == ENTRY_UNKNOWN)
		return WHY_COMPUTED;
	t = targets_of(img, native, m);
	if (!t)
		return WHY_NOT_SEARCHABLE;
	return relocate_targets_include(t, lo + 1, hi) ? WHY_ADDRESS : WHY_NONE;
}

/* Notes that the `n` bytes from `at` on, in a copy of the code around the site, move into its stub. */
static void move(struct site *s, const struct around *a, uint64_t at, size_t n)
{
	s->moved = (uint8_t)n;
	memcpy(s->code, a->code + (at - a->lo), n);
}

/*
 * Writes a long jump of the given kind. Returns WHY_NONE, or the reason why that is not possible. For a SITE_EARLY, all
 * instructions but the first, and the call instruction itself, stay. A thread that reaches the call instruction in
 * another way stops, and is sent to the stub.
 */
static enum site_why jump_over(const struct patch *p, struct task *task, struct site *s, const struct mapping *m,
			       enum site_kind kind)
{
	pid_t pid = task->tid;
	const struct mem direct = tracer_mem_of(&p->t, &pid);
	struct native ctx = {image_of(task), &direct};
	struct mem_pages pages;
	const struct mem native = {read_native, &ctx, NULL};
	const struct mem mem = {mem_read_pages, &pages, NULL};
	uint64_t site = s->ip - CPU_CALL_SIZE, lo = site, hi = s->ip;
	enum site_why why = WHY_NO_BOUNDS;
	struct around *a = memory_get(sizeof(*a));
	size_t n = 0, taken = 0;
	mem_pages_init(&pages, &native);
	s->kind = kind;
	bool around = read_around(a, &mem, m, site);
	if (around && kind == SITE_LONG) {
		n = relocate_length(a->code + (s->ip - a->lo), a->hi - s->ip, s->ip, &taken);
		hi = s->ip + taken;
		why = n ? WHY_NONE : WHY_AFTER;
	} else if (kind == SITE_EARLY && around) {
		const struct targets *t = a->function ? WHY_NONE : targets_of(image_of(task), &native, m);
		n = a->function ? relocate_early(a->code, a->hi - a->lo, a->lo, site)
		    : t         ? relocate_early_near(a->code, a->hi - a->lo, a->lo, site, t)
				: 0;
		lo = site - n;
		why = n ? WHY_NONE : WHY_BEFORE;
	}
	bool number = kind == SITE_EARLY && n && a->code[lo - a->lo] == 0xb8;
	bool one_line = lo / CACHE_LINE == (lo + 4) / CACHE_LINE;
	if (!why && !may_have_another(p, image_of(task), a))
		why = WHY_SECOND;
	if (!why)
		why = reachable(image_of(task), a, &native, m, site, lo, kind == SITE_EARLY ? lo + 5 : hi, number);
	if (!why)
		move(s, a, kind == SITE_EARLY ? lo : s->ip, n);
	if (!why && is_used(image_of(task), s, lo, kind == SITE_EARLY ? site : hi))
		why = WHY_USED;
	else if (!why && lo / AGENT_PAGE != (lo + 4) / AGENT_PAGE)
		why = WHY_PAGE;
	else if (!why && !one_line && !image_others_wait(p, task))
		why = WHY_LINE;
	else if (!why && !(site_write_stub(task, s) && write_long(task, s)))
		why = WHY_NOT_WRITABLE;
	free(a);
	if (why) {
		s->moved = 0;
		s->kind = SITE_HOPELESS;
	}
	return why;
}

static enum site_why patch_long(struct patch *p, struct task *task, struct site *s, const struct mapping *m)
{
	s->retry = (!image_of(task)->start.observed && resume_point_may_be_in(p, s->ip, s->ip + RELOCATE_MAX)) ||
		   is_in_call_at(p, image_of(task), s->ip);
	return s->retry ? WHY_RETURNS : jump_over(p, task, s, m, SITE_LONG);
}

/*
 * Is this the call of a signal handler's return (sigaction(2), SA_RESTORER) that no unwind table describes? Then
 * unwinders recognise the frame of the signal by these bytes (the functions *_fallback_frame_state() in libgcc). The
 * function of Go has these bytes as well, and `int $3` after them, because unwinders of C may begin in its signal handlers.
 * In a program without code of C, there are no such unwinders, and that of Go knows its functions by their addresses.
 */
static bool is_restorer(const struct patch *p, struct task *task, const struct mapping *m, uint64_t ip)
{
	static const unsigned char restorer[] = CPU_RESTORER, go[] = {0xcd, 0x03};
	unsigned char code[sizeof(restorer) + sizeof(go)];
	pid_t pid = task->tid;
	const struct mem mem = tracer_mem_of(&p->t, &pid);
	uint64_t lo, hi;
	if (remote_read(task->tid, ip - sizeof(restorer), code, sizeof(code)) < 0 ||
	    memcmp(code, restorer, sizeof(restorer)) != 0)
		return false;
	bool described = m->base && functions_find(&mem, m->base, ip - CPU_CALL_SIZE, &lo, &hi) == 0;
	bool of_go = m->base && memcmp(code + sizeof(restorer), go, sizeof(go)) == 0 && padding_is_of_go(&mem, m->base);
	return !described && !of_go;
}

enum site_why site_patch(struct patch *p, struct task *task, struct site *s, const struct mapping *m)
{
	unsigned char code[2];
	enum site_why why = WHY_FORBIDDEN;
	if (!m || !m->patchable)
		return WHY_NO_FILE;
	if (remote_read(task->tid, s->ip - CPU_CALL_SIZE, code, 2) < 0 || !cpu_is_call(code))
		return WHY_NO_CALL;
	if (is_restorer(p, task, m, s->ip))
		return WHY_RESTORER;
	bool one_line = (s->ip - CPU_CALL_SIZE) % CACHE_LINE != CACHE_LINE - 1 || image_others_wait(p, task);
	/*
	 * A signal handler that was running when sctrace attached may return to the instruction after this call. A long
	 * jump would move that instruction into the stub, and after a SIGKILL of sctrace, nothing would send the thread
	 * there.
	 */
	bool returns = image_of(task)->start.interrupted;
	if (p->ways & WAY_SHORT && one_line)
		why = patch_short(p, task, s, m);
	if (why && p->ways & WAY_LONG && one_line && !returns)
		why = patch_long(p, task, s, m);
	if (why && p->ways & WAY_LONG && !s->retry && !jump_over(p, task, s, m, SITE_EARLY))
		why = WHY_NONE;
	return why;
}

bool site_patch_again(struct task *task, struct site *s)
{
	return s->kind == SITE_SHORT ? apply_changes(s, task->tid) : write_long(task, s);
}
