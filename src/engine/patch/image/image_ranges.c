/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/image.h"

#include "arch/arch.h"
#include "engine/patch/code/ring.h"
#include "engine/patch/image/setup.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/*
 * If the program is about to remap, unmap or make writable code that has patched sites, these sites are restored first.
 * So the program sees its original code at these sites. The agent has a table of the ranges that may contain patched
 * code, and passes calls that change these ranges to the tracer.
 */
#define NR_mseal 462 /* since Linux 6.10 */
/* shmat(2) does not say how large the segment is. It is assumed to be at most this large. */
#define SEGMENT_MAX (1ull << 40)

/* Merges the two neighbouring rows with the smallest gap between them. */
static void merge_nearest(uint64_t (*rows)[2], size_t n)
{
	size_t best = 0;
	for (size_t i = 1; i + 1 < n; i++)
		if (rows[i + 1][0] - rows[i][1] < rows[best + 1][0] - rows[best][1])
			best = i;
	rows[best][1] = rows[best + 1][1];
	memmove(rows + best + 1, rows + best + 2, (n - best - 2) * sizeof(*rows));
}

size_t ranges_of(const struct mapping *m, size_t n, uint64_t (*rows)[2])
{
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		if (!m[i].patchable)
			continue;
		rows[used][0] = m[i].lo;
		rows[used][1] = m[i].hi;
		if (++used > AGENT_RANGES)
			merge_nearest(rows, used--);
	}
	memset(rows[used], 0, sizeof(*rows));
	return used;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct mapping *)a)->lo;
	uint64_t y = ((const struct mapping *)b)->lo;
	return x < y ? -1 : x > y;
}

void ranges_write(const struct task *task)
{
	const struct image *img = image_of(task);
	uint64_t rows[AGENT_RANGES + 2][2] = {0};
	VEC(struct mapping) all = {0};
	if (img->state != IMAGE_READY)
		return;
	for (size_t i = 0; i < img->mappings.n; i++)
		vec_push(&all, img->mappings.v[i]);
	/* Calls that concern the engine's memory must go to the tracer as well (ranges_meet(), ranges_hide()). */
	vec_push(&all, (struct mapping){.lo = AGENT_CODE, .hi = AGENT_LIMIT, .patchable = true});
	for (size_t i = 0; i < img->sites.pages.n; i++) {
		const struct stub_page *page = &img->sites.pages.v[i];
		vec_push(&all, (struct mapping){.lo = page->addr,
						.hi = page->addr + (uint64_t)page->max * STUB_SIZE,
						.patchable = true});
	}
	qsort(all.v, all.n, sizeof(*all.v), by_address);
	size_t n = ranges_of(all.v, all.n, rows);
	remote_write(task->tid, AGENT_DATA_AT(code), rows, (n + 1) * sizeof(*rows));
	vec_free(&all);
}

static void release(struct image *img, struct task *task, uint64_t lo, uint64_t hi)
{
	size_t i = 0;
	const struct site *s;
	bool known = false;
	for (size_t k = 0; k < img->mappings.n; k++)
		known |= img->mappings.v[k].lo < hi && img->mappings.v[k].hi > lo;
	while ((s = map_next(&img->sites.by_ip, &i, NULL)))
		if (s->ip - CPU_CALL_SIZE >= lo && s->ip - CPU_CALL_SIZE < hi)
			site_restore(task, s, task->proc->ntasks == 1);
	if (known)
		img->mappings.n = 0;
}

void ranges_watch(struct task *task, int64_t nr, const struct cpu_regs *r)
{
	const uint64_t page = maps_page() - 1;
	struct image *img = image_of(task);
	bool covers = nr == SYS_munmap || nr == SYS_mprotect || nr == SYS_pkey_mprotect || nr == SYS_madvise ||
		      nr == SYS_mremap || (nr == SYS_mmap && r->CPU_ARG3 & MAP_FIXED);
	if (covers)
		release(img, task, r->CPU_ARG0 & ~page, (r->CPU_ARG0 + r->CPU_ARG1 + page) & ~page);
	if (nr == SYS_mremap && r->CPU_ARG3 & MREMAP_FIXED)
		release(img, task, r->CPU_ARG4 & ~page, (r->CPU_ARG4 + r->CPU_ARG2 + page) & ~page);
}

enum overlap { OVERLAP_NONE, OVERLAP_PART, OVERLAP_INSIDE };

/* Is [lo, hi) part of memory that the engine has mapped (OVERLAP_INSIDE), or are only parts of it? */
static enum overlap overlap_of(const struct image *img, uint64_t lo, uint64_t hi)
{
	struct areas areas = {0};
	enum overlap found = OVERLAP_NONE;
	setup_areas(img, &areas);
	for (size_t i = 0; i < areas.n && found != OVERLAP_INSIDE; i++) {
		uint64_t from = areas.v[i].addr, to = from + areas.v[i].size;
		if (lo < to && hi > from)
			found = lo >= from && hi <= to ? OVERLAP_INSIDE : OVERLAP_PART;
	}
	vec_free(&areas);
	return found;
}

/* Sets *result to the result of call `nr` for unmapped memory. Returns false for calls without such a result. */
static bool result_unmapped(int64_t nr, int64_t *result)
{
	static const struct {
		int16_t nr, result;
	} rows[] = {{SYS_mprotect, -ENOMEM}, {SYS_pkey_mprotect, -ENOMEM}, {SYS_madvise, -ENOMEM},
		    {SYS_mincore, -ENOMEM},  {SYS_msync, -ENOMEM},         {SYS_mlock, -ENOMEM},
		    {SYS_munlock, -ENOMEM},  {SYS_mlock2, -ENOMEM},        {SYS_mbind, -EFAULT},
		    {NR_mseal, -ENOMEM},     {SYS_mremap, -EFAULT},        {SYS_munmap, 0}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].nr == nr) {
			*result = rows[i].result;
			return true;
		}
	return false;
}

/* Does the call create a mapping at an address that it chooses? Sets [*lo, *hi) to the range. */
static bool is_placing(int64_t nr, const uint64_t args[6], uint64_t *lo, uint64_t *hi)
{
	const bool moves = nr == SYS_mremap && args[3] & MREMAP_FIXED;
	*lo = moves ? args[4] : nr == SYS_shmat ? args[1] : args[0];
	*hi = *lo + (moves ? args[2] : nr == SYS_shmat ? SEGMENT_MAX : args[1]);
	return *lo && (moves || nr == SYS_shmat || nr == SYS_mmap);
}

bool ranges_meet(const struct task *task, const struct call *c, const uint64_t args[6])
{
	const struct image *img = image_of(task);
	uint64_t lo, hi;
	int64_t result;
	if (c->arch != syscall_native_arch() || !image_has_agent(img))
		return false;
	if (is_placing(c->nr, args, &lo, &hi) && overlap_of(img, lo, hi) != OVERLAP_NONE)
		return true;
	return result_unmapped(c->nr, &result) && overlap_of(img, args[0], args[0] + args[1]) == OVERLAP_PART;
}

void ranges_hide(struct task *task)
{
	const struct image *img = image_of(task);
	const struct call *c = &thread_of(task)->call;
	struct tamper *tamper = &thread_of(task)->tamper;
	const uint64_t page = maps_page(), lo = c->args[0], hi = (lo + c->args[1] + page - 1) & ~(page - 1);
	int64_t result;
	if (c->arch != syscall_native_arch() || !image_has_agent(img) || tamper->set_result)
		return;
	if (ranges_meet(task, c, c->args))
		result = -ENOMEM;
	/* If the range is empty or not aligned, the kernel checks other arguments first, so it must make the call. */
	else if (lo % page || lo >= hi || !result_unmapped(c->nr, &result) || overlap_of(img, lo, hi) != OVERLAP_INSIDE)
		return;
	tamper->result = result;
	tamper->set_result = arch_skip_call(task->tid) == 0;
}
