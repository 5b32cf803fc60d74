/*
 * Before the program remaps, unmaps or makes writable code with patched sites, they are restored, so that the program moves,
 * reads and writes its own code. The agent knows where patched code may be, and hands such calls to the tracer.
 */
#include "engine/patch/image/ranges.h"

#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

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

void ranges_tell(const struct task *task)
{
	const struct image *img = image_of(task);
	uint64_t rows[AGENT_RANGES + 1][2];
	size_t n = ranges_of(img->mappings.v, img->mappings.n, rows);
	if (img->state == IMAGE_READY)
		remote_write(task->tid, AGENT_DATA + offsetof(struct agent_data, code), rows, (n + 1) * sizeof(*rows));
}

static void release(struct image *img, struct task *task, uint64_t lo, uint64_t hi)
{
	size_t i = 0;
	const struct site *s;
	bool known = false;
	for (size_t k = 0; k < img->mappings.n; k++)
		known |= img->mappings.v[k].lo < hi && img->mappings.v[k].hi > lo;
	while ((s = map_next(&img->sites.by_ip, &i, NULL)))
		if (s->ip - 2 >= lo && s->ip - 2 < hi)
			site_restore(task, s, task->proc->ntasks == 1);
	if (known)
		img->mappings.n = 0;
}

void ranges_watch(struct task *task, int64_t nr, const struct user_regs_struct *r)
{
	const uint64_t page = AGENT_PAGE - 1;
	struct image *img = image_of(task);
	bool covers = nr == SYS_munmap || nr == SYS_mprotect || nr == SYS_pkey_mprotect || nr == SYS_madvise ||
		      nr == SYS_mremap || (nr == SYS_mmap && r->r10 & MAP_FIXED);
	if (covers)
		release(img, task, r->rdi & ~page, (r->rdi + r->rsi + page) & ~page);
	if (nr == SYS_mremap && r->r10 & MREMAP_FIXED)
		release(img, task, r->r8 & ~page, (r->r8 + r->rdx + page) & ~page);
}
