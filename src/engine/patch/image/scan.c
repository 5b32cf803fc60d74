/* SPDX-License-Identifier: MIT */
/*
 * Patches all call sites of an image at once, where nothing makes calls stop (ARM_KNOCK). Only processors on which all
 * instructions have the same size have such images, so a site is a word with the value of the system call instruction.
 *
 * Such a word may also be data. It is certainly an instruction if the unwind table of its file shows a function that contains it:
 * compilers do not place constants inside functions. In a file without a table, it is assumed to be one if an instruction shortly
 * before it sets the register of the call's number. Where a file has a table, and such an instruction precedes a word outside its
 * functions, ptrace traces the image. That is so in programs of Go with code of C, and in programs that contain code as data. Other words
 * are left as they are, and the footer says how many.
 *
 * The instruction by which signal handlers return is not patched either (is_restorer() in site_patch.c): while a handler runs, its
 * thread stops at each call (patch_task.handlers).
 *
 * New code comes only with calls that the agent leaves to sctrace (scan_is_due()). If code is not that of a file, the program
 * may change it without a call, so ptrace traces the image.
 */
#include "engine/patch/image/site.h"

#include "base/memory.h"
#include "engine/patch/image/image.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/tracer.h"
#include "tracee/functions.h"
#include "tracee/proc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>

#define BLOCK  ((size_t)65536) /* code is read in blocks, each with the bytes before it that sets_number() looks at */
#define BEFORE 128

/* The program's memory, with a copy of an unwind table, because a search reads it at many places. */
struct memory {
	const struct mem *under;
	uint64_t lo, hi;
	unsigned char *copy;
};

static ssize_t read_memory(void *memory, uint64_t addr, void *buf, size_t n)
{
	const struct memory *m = memory;
	if (addr < m->lo || addr >= m->hi || n > m->hi - addr)
		return mem_read(m->under, addr, buf, n);
	memcpy(buf, m->copy + (addr - m->lo), n);
	return (ssize_t)n;
}

#define TABLE_MOST (64 << 20) /* larger tables are not copied */

/* Returns whether the object at `base` has an unwind table, and copies it. */
static bool copy_table(struct memory *m, uint64_t base)
{
	struct unwind_table u;
	free(m->copy);
	*m = (struct memory){.under = m->under};
	if (!base || functions_open(&u, m->under, base) < 0)
		return false;
	const uint64_t size = (uint64_t)u.n * 8;
	m->copy = size <= TABLE_MOST ? memory_get(size) : NULL;
	if (m->copy && mem_get(m->under, u.first, m->copy, size) == 0) {
		m->lo = u.first;
		m->hi = u.first + size;
	}
	return true;
}

/* The code that is being looked at. */
struct scan {
	struct patch *p;
	struct task *task;
	struct mapping m;
	bool has_table;
	uint64_t *unproven; /* number of words that may be data */
	struct mem mem;
};

/* Does one of the `n` words before a call set the register of its number? */
static bool sets_number(const unsigned char *code, size_t n)
{
	for (size_t i = 0; i + CPU_CALL_SIZE <= n; i += CPU_CALL_SIZE)
		if (cpu_sets_number(code + i))
			return true;
	return false;
}

enum found { FOUND_CALL, FOUND_DATA, FOUND_EITHER };

/* What is the word at `at`? The `n` bytes before it are at `before`. */
static enum found judge(const struct scan *s, uint64_t at, const unsigned char *before, size_t n)
{
	uint64_t lo, hi;
	if (s->has_table && functions_find(&s->mem, s->m.base, at, &lo, &hi) == 0)
		return FOUND_CALL;
	if (!sets_number(before, n))
		return FOUND_DATA;
	return s->has_table ? FOUND_EITHER : FOUND_CALL;
}

/* Patches the site. Returns false if its calls would not be seen. */
static bool patch_site(const struct scan *s, uint64_t at, const unsigned char *before, size_t n)
{
	const struct image *img = image_of(s->task);
	const bool known = map_get(&img->sites.by_ip, at + CPU_CALL_SIZE);
	const enum found found = known ? FOUND_CALL : judge(s, at, before, n);
	*s->unproven += found == FOUND_DATA;
	if (found != FOUND_CALL)
		return found == FOUND_DATA;
	const struct site *site = visit_site(s->p, s->task, at + CPU_CALL_SIZE, -1);
	return site && (site_is_patched(site) || site->why == WHY_RESTORER);
}

/* Patches the sites in [lo, hi), whose bytes are read from at most BEFORE bytes before it on. */
static bool patch_block(const struct scan *s, uint64_t lo, uint64_t hi, unsigned char *bytes)
{
	const uint64_t from = lo - s->m.lo < BEFORE ? s->m.lo : lo - BEFORE;
	if (remote_read(s->task->tid, from, bytes, hi - from) < 0)
		return true; /* nothing is mapped there: the file is shorter */
	for (size_t i = lo - from; i + CPU_CALL_SIZE <= hi - from; i += CPU_CALL_SIZE) {
		const size_t n = i < BEFORE ? i : BEFORE;
		if (cpu_is_call(bytes + i) && !patch_site(s, from + i, bytes + i - n, n))
			return false;
	}
	return true;
}

static bool patch_mapping(struct scan *s)
{
	unsigned char *bytes = memory_get(BLOCK + BEFORE);
	bool ok = true;
	for (uint64_t at = s->m.lo; ok && at < s->m.hi; at += BLOCK)
		ok = patch_block(s, at, s->m.hi - at < BLOCK ? s->m.hi : at + BLOCK, bytes);
	free(bytes);
	return ok;
}

/* Is it memory that the engine has mapped? */
static bool is_of_engine(const struct image *img, const struct mapping *m)
{
	bool stubs = false;
	for (size_t i = 0; i < img->sites.pages.n; i++)
		stubs |= img->sites.pages.v[i].addr >= m->lo && img->sites.pages.v[i].addr < m->hi;
	return stubs || (m->lo >= AGENT_CODE && m->lo < AGENT_LIMIT);
}

/* Can the program execute memory that is not mapped for that (personality(2))? */
static bool executes_data(pid_t pid)
{
	struct buf text = {0};
	bool does = proc_read(pid, "personality", &text) < 0 ||
		    strtoul(buf_str(&text), NULL, 16) & (unsigned long)READ_IMPLIES_EXEC;
	buf_free(&text);
	return does;
}

static const char *patch_all(struct patch *p, struct task *task)
{
	struct image *img = image_of(task);
	VEC(struct mapping) all = {0};
	const char *why = executes_data(task->tid) ? "it can execute its data (READ_IMPLIES_EXEC)" : NULL;
	pid_t pid = task->tid;
	const struct mem direct = tracer_mem_of(&p->t, &pid);
	struct mem_pages *pages = memory_get(sizeof(*pages));
	const struct mem cached = {mem_read_pages, pages};
	struct memory memory = {.under = &cached};
	uint64_t unproven = 0;
	mem_pages_init(pages, &direct);
	maps_read(task);
	ranges_write(task);
	for (size_t i = 0; i < img->mappings.n; i++)
		if (!is_of_engine(img, &img->mappings.v[i]))
			vec_push(&all, img->mappings.v[i]); /* more stubs may be mapped meanwhile */
	for (size_t i = 0; !why && i < all.n; i++) {
		struct scan s = {p, task, all.v[i], .unproven = &unproven, .mem = {read_memory, &memory}};
		s.has_table = copy_table(&memory, s.m.base);
		if (!s.m.patchable)
			why = "it has executable memory that is not the code of a file, such as that of a JIT compiler";
		else if (!patch_mapping(&s))
			why = "a system call in its code cannot be patched, or may be data";
	}
	p->unproven = unproven > p->unproven ? unproven : p->unproven; /* most are found by each scan of an image */
	free(memory.copy);
	free(pages);
	vec_free(&all);
	return why;
}

void scan_image(struct patch *p, struct task *task)
{
	const char *why = patch_all(p, task);
	if (why && task->stopped)
		image_fall_back(p, task, why);
}

bool scan_is_due(const struct call *c)
{
	return c->nr == SYS_mmap || c->nr == SYS_mprotect || c->nr == SYS_pkey_mprotect || c->nr == SYS_mremap ||
	       c->nr == SYS_munmap || c->nr == SYS_madvise || c->nr == SYS_shmat || c->nr == SYS_personality;
}
