/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/site.h"

#include "base/escape.h"
#include "base/memory.h"
#include "engine/patch/remote/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

static const char *const kinds[] = {"new", "short jump", "long jump", "early jump", "redirected", "left to ptrace"};

static const char *const reasons[] = {
	[WHY_NONE] = "",
	[WHY_NO_FILE] = "the code is not the vDSO or a private, read-only mapping of a file",
	[WHY_NO_CALL] = "it is not a syscall instruction",
	[WHY_RESTORER] = "unwinders recognise the end of a signal handler by this code",
	[WHY_FORBIDDEN] = "SCTRACE_PATCH does not permit it",
	[WHY_NO_STUB] = "there is no space for a stub within reach",
	[WHY_NO_PADDING] = "there is no unused space between functions within reach",
	[WHY_NOT_WRITABLE] = "its code cannot be written",
	[WHY_NO_BOUNDS] = "the bounds of its function are not known",
	[WHY_GARBLED] = "its function cannot be disassembled",
	[WHY_NOT_SEARCHABLE] = "its file cannot be searched for jumps",
	[WHY_AFTER] = "the instructions before and after the call cannot be moved",
	[WHY_BEFORE] = "the instructions before the call cannot be moved",
	[WHY_BRANCH] = "a branch may lead into the instructions that would have to be moved",
	[WHY_COMPUTED] = "a computed jump nearby may lead into the instructions that would have to be moved",
	[WHY_ADDRESS] = "an address in its file may lead into the instructions that would have to be moved",
	[WHY_SECOND] = "its function has a long jump already",
	[WHY_USED] = "an instruction that would have to be moved is used for another site",
	[WHY_PAGE] = "the jump would cross a page boundary",
	[WHY_LINE] = "the jump would cross a cache line that other threads may be executing",
	[WHY_RETURNS] = "a thread may still return to the instruction after the call",
};
_Static_assert(sizeof(reasons) / sizeof(*reasons) == WHYS, "a text for each reason");

void site_say(const struct patch *p, const struct task *task, const struct site *s, bool known)
{
	if (p->debug)
		fprintf(stderr, "sctrace: [%d] site %#llx: %s%s%s%s\n", (int)task->tid,
			(unsigned long long)s->ip - CPU_CALL_SIZE, kinds[s->kind], !site_is_patched(s) ? ": " : "",
			!site_is_patched(s) ? reasons[s->why] : "", known ? ", as known" : "");
}

#define OFTEN_SHOWN 3

void site_say_often(const struct patch *p, struct buf *text)
{
	uint64_t shown = 0; /* a bit for each of them, at most SITES_OFTEN_MAX */
	for (int k = 0; k < OFTEN_SHOWN; k++) {
		size_t most = p->often.n;
		for (size_t i = 0; i < p->often.n; i++)
			if (!(shown >> i & 1) && (most == p->often.n || p->often.v[i].stops > p->often.v[most].stops))
				most = i;
		if (most == p->often.n)
			return;
		const struct often *o = &p->often.v[most];
		shown |= UINT64_C(1) << most;
		buf_addf(text, "\n%llu calls at ", (unsigned long long)o->stops);
		escape_line(text, o->file, strlen(o->file));
		buf_addf(text, "+%#llx stopped the program: %s", (unsigned long long)o->offset, reasons[o->why]);
	}
}

void site_index(struct image *img, struct site *s)
{
	if (s->stub)
		map_put(&img->sites.by_stub, s->stub, s);
	for (int i = 0; site_is_patched(s) && i + 1 < s->nchanges; i++)
		map_put(&img->sites.by_hop, s->change[i].addr, s);
}

void site_add(struct patch *p, struct image *img, struct site *s)
{
	map_put(&img->sites.by_ip, s->ip, s);
	p->nsites++;
	site_index(img, s);
}

void site_unindex(struct image *img, struct site *s)
{
	for (int i = 0; i < s->nchanges; i++)
		map_remove(&img->sites.by_hop, s->change[i].addr);
	s->nchanges = 0;
}

void site_note_gaps(struct image *img, const struct site *s)
{
	for (int i = 0; i + 1 < s->nchanges; i++)
		vec_push(&img->sites.gaps, (struct gap_use){s->change[i].addr, s->change[i].len});
}

struct site *site_of_stub(const struct image *img, uint64_t addr)
{
	return map_get(&img->sites.by_stub, addr & ~(uint64_t)(STUB_SIZE - 1));
}

bool site_is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < CPU_JUMP_REACH;
}

struct stub_page *site_add_page(struct task *task, uint64_t addr, uint32_t size)
{
	struct image *img = image_of(task);
	const struct stub_head head = encode_head();
	if (remote_write(task->tid, addr, &head, sizeof(head)) < 0)
		return NULL;
	vec_push(&img->sites.pages, (struct stub_page){addr, 1, size / STUB_SIZE});
	return &img->sites.pages.v[img->sites.pages.n - 1];
}

bool site_write_stub(struct task *task, const struct site *s)
{
	unsigned char code[STUB_SIZE];
	const struct image *img = image_of(task);
	uint64_t head = 0;
	for (size_t i = 0; i < img->sites.pages.n; i++)
		if (s->stub - img->sites.pages.v[i].addr < (uint64_t)img->sites.pages.v[i].max * STUB_SIZE)
			head = img->sites.pages.v[i].addr;
	return encode_stub(code, s->stub, head, s->ip, s->code, s->moved, s->kind == SITE_EARLY) &&
	       remote_write(task->tid, s->stub, code, sizeof(code)) == 0;
}

bool site_bytes_are(const struct task *task, const struct change *c, bool new)
{
	unsigned char now[5];
	return remote_read(task->tid, c->addr, now, c->len) == 0 && memcmp(now, new ? c->new : c->old, c->len) == 0;
}

void site_copy_all(struct patch *p, struct image *img, const struct image *from)
{
	size_t i = 0;
	struct site *s;
	while ((s = map_next(&from->sites.by_ip, &i, NULL))) {
		struct site *c = memory_get(sizeof(*c));
		*c = *s;
		site_add(p, img, c);
	}
	for (size_t k = 0; k < from->sites.pages.n; k++)
		vec_push(&img->sites.pages, from->sites.pages.v[k]);
	for (size_t k = 0; k < from->mappings.n; k++)
		vec_push(&img->mappings, from->mappings.v[k]);
	for (size_t k = 0; k < from->sites.gaps.n; k++)
		vec_push(&img->sites.gaps, from->sites.gaps.v[k]);
}

void site_free_all(struct patch *p, struct image *img)
{
	p->nsites -= img->sites.by_ip.n;
	map_free_all(&img->sites.by_ip);
	map_free(&img->sites.by_stub);
	map_free(&img->sites.by_hop);
	vec_free(&img->sites.gaps);
	vec_free(&img->sites.pages);
	for (size_t k = 0; k < img->sites.targets.n; k++)
		relocate_targets_free(img->sites.targets.v[k].targets);
	vec_free(&img->sites.targets);
}

/*
 * Does the child's copy of the memory contain everything that was written for the site? The kernel makes each write
 * completely before or completely after it copies the memory (mmap_lock; dup_mmap() in kernel/fork.c). The site's own
 * bytes are written last, so if the copy contains them, it contains everything.
 */
static bool is_copied(struct task *task, const struct site *s)
{
	if (s->kind == SITE_REDIRECT)
		return site_write_stub(task, s);
	return !site_is_patched(s) || site_bytes_are(task, &s->change[s->nchanges - 1], true);
}

static void forget_site(struct patch *p, struct task *task, struct site *s)
{
	struct image *img = image_of(task);
	if (site_is_patched(s))
		remote_write(task->tid, s->change[s->nchanges - 1].addr, s->change[s->nchanges - 1].old,
			     s->change[s->nchanges - 1].len);
	site_unindex(img, s);
	map_remove(&img->sites.by_stub, s->stub);
	p->nsites -= map_remove(&img->sites.by_ip, s->ip) != NULL;
	free(s);
}

void site_check_copied(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	VEC(struct site *) late = {0};
	size_t i = 0;
	struct site *s;
	if (img->sites.serial == img->sites.copied_serial)
		return;
	while ((s = map_next(&img->sites.by_ip, &i, NULL)))
		if (s->serial > img->sites.copied_serial)
			vec_push(&late, s);
	for (size_t k = 0; k < late.n; k++)
		if (!is_copied(task, late.v[k]))
			forget_site(p, task, late.v[k]);
	vec_free(&late);
	img->sites.copied_serial = img->sites.serial;
}

void site_restore(const struct task *task, const struct site *s, bool hops)
{
	for (int k = s->nchanges; site_is_patched(s) && k-- > (hops ? 0 : s->nchanges - 1);)
		if (site_bytes_are(task, &s->change[k], true))
			remote_write(task->tid, s->change[k].addr, s->change[k].old, s->change[k].len);
}

void site_restore_all(struct task *task)
{
	size_t i = 0;
	const struct site *s;
	while ((s = map_next(&image_of(task)->sites.by_ip, &i, NULL)))
		site_restore(task, s, true);
}

void site_restore_running(struct task *task)
{
	size_t i = 0;
	const struct site *s;
	bool alone = task->proc->ntasks == 1;
	while ((s = map_next(&image_of(task)->sites.by_ip, &i, NULL))) {
		const struct change *last = site_is_patched(s) ? &s->change[s->nchanges - 1] : NULL;
		if (last && (alone || last->addr / CACHE_LINE == (last->addr + last->len - 1) / CACHE_LINE))
			site_restore(task, s, alone);
	}
}

const struct site *site_moved_from(const struct image *img, uint64_t ip)
{
	for (uint64_t k = 0; k < RELOCATE_MAX; k++) {
		const struct site *s = map_get(&img->sites.by_ip, ip - k);
		if (s && s->kind == SITE_LONG && k < s->moved)
			return s;
	}
	return NULL;
}

bool site_follow_registers(const struct image *img, struct cpu_regs *r)
{
	const struct site *s = site_moved_from(img, r->CPU_IP);
	r->CPU_IP += s ? s->stub + STUB_MOVED - s->ip : 0;
	return s;
}

bool site_follow_moved(struct task *task)
{
	struct cpu_regs r;
	const struct site *s = cpu_get(task->tid, &r) < 0 ? NULL : site_moved_from(image_of(task), r.CPU_IP);
	/* If the jump is no longer there, other code may be at the address, or the program's own is there again. */
	if (!s || !site_bytes_are(task, &s->change[s->nchanges - 1], true))
		return false;
	site_follow_registers(image_of(task), &r);
	cpu_set(task->tid, &r);
	return true;
}

uint64_t site_native_of(const struct image *img, uint64_t ip)
{
	const struct site *s = site_of_stub(img, ip);
	const int off = s && s->kind == SITE_LONG ? (int)(ip - s->stub) : 0;
	if (off >= STUB_MOVED)
		return off < STUB_MOVED + (int)s->moved ? s->ip + (uint64_t)(off - STUB_MOVED) : 0;
	if (off >= STUB_AFTER_CALL)
		return s->ip;
	return off == STUB_AFTER_CALL - CPU_CALL_SIZE ? s->ip - CPU_CALL_SIZE : 0;
}

void site_restore_frame(const struct task *task, uint64_t sp)
{
	uint64_t ip, native;
	if (remote_read(task->tid, sp + UC_IP, &ip, sizeof(ip)) == 0 && (native = site_native_of(image_of(task), ip)))
		remote_write(task->tid, sp + UC_IP, &native, sizeof(native));
}

void site_set_before_call(struct cpu_regs *r, const struct site *s)
{
	r->CPU_IP = s->ip - CPU_CALL_SIZE;
	r->CPU_RESTARTED = CPU_NO_CALL;
}

void resume_point_note(struct patch *p, const struct task *task)
{
	struct cpu_regs r = {0}; /* an ip of 0 means that the thread may be anywhere */
	if (task->stopped)
		cpu_get(task->tid, &r);
	vec_push(&p->resume_points, (struct resume_point){task->tid, r.CPU_IP});
}

void resume_point_forget(struct patch *p, const struct task *task)
{
	for (size_t i = 0; i < p->resume_points.n; i++)
		if (p->resume_points.v[i].tid == task->tid)
			p->resume_points.v[i--] = p->resume_points.v[--p->resume_points.n];
}

bool resume_point_may_be_in(const struct patch *p, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < p->resume_points.n; i++)
		if (!p->resume_points.v[i].ip || (p->resume_points.v[i].ip >= lo && p->resume_points.v[i].ip < hi))
			return true;
	return false;
}
