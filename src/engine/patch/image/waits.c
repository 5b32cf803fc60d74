#include "engine/patch/image/waits.h"

#include "engine/patch/image/image.h"
#include "engine/patch/remote/remote.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RSEQ_CS offsetof(struct area, cs)

/* The beginning of struct rseq (linux/rseq.h). */
struct area {
	uint32_t cpu_id_start, cpu_id;
	uint64_t cs;
};

/* struct rseq_cs (linux/rseq.h) */
struct section {
	uint32_t version, flags;
	uint64_t start, length, abort;
} __attribute__((aligned(32)));

/* struct ptrace_rseq_configuration (linux/ptrace.h, since Linux 5.13) */
struct rseq_configuration {
	uint64_t pointer;
	uint32_t size, signature, flags, pad;
};
#define GET_RSEQ_CONFIGURATION 0x420f

/* Symbols of glibc since version 2.35 (sys/rseq.h). */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

enum probe { PROBE_PAUSE, PROBE_CLOSE };

/* Makes a call while rseq_cs points at a section. Returns true if the kernel has set rseq_cs to 0. */
static bool is_cleared(enum probe what)
{
	static const uint32_t signature[2] = {RSEQ_SIGNATURE, 0};
	static struct section section = {.length = 1};
	const struct timespec shortest = {.tv_nsec = 1};
	volatile struct area *own = (struct area *)((char *)__builtin_thread_pointer() + __rseq_offset);
	int fd = what == PROBE_CLOSE ? open("/", O_RDONLY | O_CLOEXEC) : -1;
	section.start = (uint64_t)(uintptr_t)&section;
	section.abort = (uint64_t)(uintptr_t)(signature + 1);
	own->cs = (uint64_t)(uintptr_t)&section;
	if (what == PROBE_PAUSE)
		nanosleep(&shortest, NULL);
	else
		close(fd);
	bool cleared = own->cs == 0;
	own->cs = 0;
	return cleared;
}

uint64_t waits_probe(void)
{
	if (!agent_may_read_fs_base() || !&__rseq_size || !__rseq_size || !is_cleared(PROBE_PAUSE))
		return 0;
	/* Once is not enough: this thread may lose its CPU meanwhile. */
	bool closes = is_cleared(PROBE_CLOSE) && is_cleared(PROBE_CLOSE) && is_cleared(PROBE_CLOSE);
	return WATCH_WAITS | (closes ? WATCH_CLOSES : 0);
}

/* Returns the distance from the fs base to rseq_cs of the thread's registered area, or 0. */
static uint64_t registered(const struct task *task)
{
	struct rseq_configuration c = {0};
	struct user_regs_struct r;
	if (ptrace(GET_RSEQ_CONFIGURATION, task->tid, sizeof(c), &c) < 0 || !c.pointer ||
	    c.signature != RSEQ_SIGNATURE || ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) < 0)
		return 0;
	return c.pointer - r.fs_base + RSEQ_CS;
}

void waits_begin(const struct patch *p, const struct task *task)
{
	struct image *img = image_of(task);
	img->watch |= p->waits;
	img->rseq = p->waits && p->attaching ? registered(task) : 0;
}

static uint64_t current(const struct task *task)
{
	uint64_t rseq = 0;
	return remote_read(task->tid, AGENT_DATA_AT(rseq), &rseq, sizeof(rseq)) == 0 ? rseq : 0;
}

void waits_note_call(const struct task *task, int64_t nr, const struct user_regs_struct *r)
{
	struct image *img = image_of(task);
	static const uint64_t unknown;
	if ((nr != SYS_rseq && !(nr == SYS_arch_prctl && r->rdi == ARCH_SET_FS)) || !(img->watch & WATCH_WAITS))
		return;
	/* The first fs base is set before an area is registered. If this is not the first, the call stops once more. */
	if (nr == SYS_arch_prctl && img->start.observed && !img->has_fs_base) {
		img->has_fs_base = true;
		return;
	}
	uint64_t rseq = current(task), here = r->rdi - r->fs_base + RSEQ_CS;
	bool usual = nr == SYS_rseq
			     ? (uint32_t)r->rdx == 0 && (uint32_t)r->r10 == RSEQ_SIGNATURE && (!rseq || rseq == here)
			     : !rseq;
	if (usual)
		return;
	img->rseq = rseq;
	img->watch &= ~(uint64_t)WATCH_WAITS;
	remote_write(task->tid, AGENT_DATA_AT(watch), &img->watch, sizeof(img->watch));
	remote_write(task->tid, AGENT_DATA_AT(rseq), &unknown, sizeof(unknown));
}

void waits_leave(const struct task *task)
{
	static const uint64_t none;
	const struct image *img = image_of(task);
	struct user_regs_struct r;
	uint64_t cs = 0, rseq = current(task);
	rseq = rseq ? rseq : img->rseq;
	if (rseq && ptrace_retry(PTRACE_GETREGS, task->tid, NULL, &r) == 0 &&
	    remote_read(task->tid, r.fs_base + rseq, &cs, sizeof(cs)) == 0 && cs - AGENT_CODE < AGENT_CODE_SIZE)
		remote_write(task->tid, r.fs_base + rseq, &none, sizeof(none));
}

void waits_end(const struct patch *p, const struct image *img)
{
	size_t i = 0;
	const struct task *task;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (task->proc && image_of(task) == img)
			waits_leave(task);
}
