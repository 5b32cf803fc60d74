/* SPDX-License-Identifier: MIT */
#include "engine/patch/image/image.h"

#include "base/memory.h"
#include "engine/patch/code/ring.h"
#include "engine/patch/remote/remote.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct thread_table *thread_table_new(void)
{
	return memory_zeroed(1, sizeof(struct thread_table));
}

static struct agent_thread *bucket_new(void)
{
	return memory_zeroed(THREAD_ROWS, sizeof(struct agent_thread));
}

struct thread_table *thread_table_copy(const struct thread_table *from)
{
	struct thread_table *t = from ? thread_table_new() : NULL;
	for (unsigned i = 0; t && i < THREAD_BUCKETS; i++)
		if (from->buckets[i]) {
			t->buckets[i] = bucket_new();
			memcpy(t->buckets[i], from->buckets[i], THREAD_ROWS * sizeof(struct agent_thread));
		}
	return t;
}

void thread_table_free(struct thread_table *t)
{
	for (unsigned i = 0; t && i < THREAD_BUCKETS; i++)
		free(t->buckets[i]);
	free(t);
}

struct agent_thread *thread_table_row(struct thread_table *t, uint64_t thread_pointer)
{
	struct agent_thread **bucket = &t->buckets[thread_bucket(thread_pointer)], *free_row = NULL;
	if (!*bucket)
		*bucket = bucket_new();
	for (struct agent_thread *row = *bucket; row < *bucket + THREAD_ROWS; row++) {
		if (row->thread_pointer == thread_pointer && row->scratch)
			return row;
		if (!row->scratch && !free_row)
			free_row = row;
	}
	return free_row;
}

uint64_t thread_table_address(const struct thread_table *t, unsigned bucket, const struct agent_thread *row)
{
	return THREADS_AT + ((uint64_t)bucket * THREAD_ROWS + (uint64_t)(row - t->buckets[bucket])) * sizeof(*row);
}

bool vfork_frame_is_kept(uint64_t ip)
{
	return agent_is_between(ip, AGENT_VFORK_PATH->after, agent_released) ||
	       agent_is_between(ip, agent_record_vfork_after, agent_record_released);
}

bool vfork_frame_is_child(const struct cpu_regs *r)
{
	return r->CPU_RESULT == 0 && (agent_is_between(r->CPU_IP, AGENT_VFORK_PATH->after, agent_loaded) ||
				      agent_is_between(r->CPU_IP, agent_record_vfork_after, agent_record_end));
}

bool vfork_frame_has_room(uint64_t ip)
{
	return ip >= AGENT_AT(agent_record_lowered) || agent_is_between(ip, agent_lowered, agent_loaded);
}

uint64_t vfork_frame_reserved(const struct cpu_regs *r)
{
	bool as_kind = agent_is_between(r->CPU_IP, agent_record_flagged, agent_record_entering) ||
		       agent_is_between(r->CPU_IP, agent_record_refuse, agent_record_given);
	if (agent_is_between(r->CPU_IP, agent_taken, agent_got))
		return (r->CPU_TICKS & 0xff) == 0 ? r->CPU_SPARE : 0;
	if (agent_is_between(r->CPU_IP, agent_got, agent_marked))
		return r->CPU_SPARE;
	if (agent_is_between(r->CPU_IP, agent_marked, AGENT_VFORK_PATH->after))
		return r->CPU_KEPT;
	return as_kind && r->CPU_KIND & KEPT_FIRST ? r->CPU_KIND : 0;
}

static bool exists(uint64_t number)
{
	return number - KEPT_FIRST < KEPT_FRAMES;
}

/* Reads the words of a kept frame: the frame itself, and the program's CPU_KEPT. */
static int read_words(const struct task *task, uint64_t number, uint64_t words[KEPT_WORDS])
{
	uint64_t all[KEPT_WORDS][KEPT_FRAMES];
	int err = exists(number) ? remote_read(task->tid, AGENT_DATA_AT(kept), all, sizeof(all)) : -EINVAL;
	for (int i = 0; err == 0 && i < KEPT_WORDS; i++)
		words[i] = all[i][number - KEPT_FIRST];
	return err;
}

int vfork_frame_read(const struct task *task, uint64_t number, struct agent_frame *kept)
{
	uint64_t words[KEPT_WORDS];
	int err = read_words(task, number, words);
	if (err == 0)
		memcpy(kept, words, sizeof(*kept));
	return err;
}

int vfork_frame_restore(const struct task *task, struct cpu_regs *r)
{
	uint64_t words[KEPT_WORDS];
	int err = 0;
	if (vfork_frame_is_kept(r->CPU_IP) || agent_is_between(r->CPU_IP, agent_marked, AGENT_VFORK_PATH->after)) {
		err = read_words(task, r->CPU_KEPT, words);
		r->CPU_KEPT = err < 0 ? r->CPU_KEPT : words[KEPT_SAVED];
	} else if (agent_is_between(r->CPU_IP, agent_released, agent_loaded) ||
		   agent_is_between(r->CPU_IP, agent_record_released, agent_record_loaded))
		r->CPU_KEPT = r->CPU_SPARE;
	return err;
}

int vfork_frame_note_thread(const struct task *task, const struct cpu_regs *r)
{
	const uint64_t at = AGENT_DATA_AT(kept) + 8 * (KEPT_FRAMES * KEPT_THREAD + r->CPU_KEPT - KEPT_FIRST);
	if (!vfork_frame_is_kept(r->CPU_IP) || !exists(r->CPU_KEPT))
		return -EINVAL;
	return remote_write(task->tid, at, &r->CPU_THREAD_POINTER, sizeof(r->CPU_THREAD_POINTER));
}

void vfork_frame_release(const struct task *task, uint64_t number)
{
	static const uint8_t none;
	if (exists(number))
		remote_write(task->tid, AGENT_DATA_AT(taken) + number - KEPT_FIRST, &none, sizeof(none));
}

#define RSEQ_CS offsetof(struct rseq_area, cs)

/* The beginning of struct rseq (linux/rseq.h). */
struct rseq_area {
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
/* How often it is tried whether a pause clears rseq_cs. */
#define PROBES 10

/* Makes a call while rseq_cs points at a section. Returns true if the kernel has set rseq_cs to 0. */
static bool is_cleared(enum probe what)
{
	static const uint32_t signature[2] = {RSEQ_SIGNATURE, 0};
	static struct section section = {.length = 1};
	const struct timespec shortest = {.tv_nsec = 1};
	volatile struct rseq_area *own = (struct rseq_area *)((char *)__builtin_thread_pointer() + __rseq_offset);
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
	if (!CPU_JUDGES_WAITS || !cpu_reads_thread_pointer() || !&__rseq_size || !__rseq_size)
		return 0;
	/* Once is not enough: the timer may expire before the thread has given up its CPU (do_nanosleep() in the kernel). */
	bool pauses = false;
	for (int i = 0; i < PROBES && !pauses; i++)
		pauses = is_cleared(PROBE_PAUSE);
	if (!pauses)
		return 0;
	/* Once is not enough: this thread may lose its CPU meanwhile. */
	bool closes = is_cleared(PROBE_CLOSE) && is_cleared(PROBE_CLOSE) && is_cleared(PROBE_CLOSE);
	return WATCH_WAITS | (closes ? WATCH_CLOSES : 0);
}

/* Returns the distance from the thread pointer to rseq_cs of the thread's registered area, or 0. */
static uint64_t registered(const struct task *task)
{
	struct rseq_configuration c = {0};
	struct cpu_regs r;
	if (ptrace(GET_RSEQ_CONFIGURATION, task->tid, sizeof(c), &c) < 0 || !c.pointer ||
	    c.signature != RSEQ_SIGNATURE || cpu_get(task->tid, &r) < 0)
		return 0;
	return c.pointer - r.CPU_THREAD_POINTER + RSEQ_CS;
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

void waits_note_call(const struct task *task, int64_t nr, const struct cpu_regs *r)
{
	struct image *img = image_of(task);
	static const uint64_t unknown;
	if ((nr != SYS_rseq && !cpu_sets_thread_pointer(nr, r)) || !(img->watch & WATCH_WAITS))
		return;
	/* The first thread pointer is set before an area is registered. If this is not the first, the call stops once more. */
	if (nr != SYS_rseq && img->start.observed && !img->has_thread_pointer) {
		img->has_thread_pointer = true;
		return;
	}
	uint64_t rseq = current(task), here = r->CPU_ARG0 - r->CPU_THREAD_POINTER + RSEQ_CS;
	bool usual = nr == SYS_rseq ? (uint32_t)r->CPU_ARG2 == 0 && (uint32_t)r->CPU_ARG3 == RSEQ_SIGNATURE &&
					      (!rseq || rseq == here)
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
	struct cpu_regs r;
	uint64_t cs = 0, rseq = current(task);
	rseq = rseq ? rseq : img->rseq;
	if (rseq && cpu_get(task->tid, &r) == 0 &&
	    remote_read(task->tid, r.CPU_THREAD_POINTER + rseq, &cs, sizeof(cs)) == 0 &&
	    cs - AGENT_CODE < AGENT_CODE_SIZE)
		remote_write(task->tid, r.CPU_THREAD_POINTER + rseq, &none, sizeof(none));
}

void waits_end(const struct patch *p, const struct image *img)
{
	size_t i = 0;
	const struct task *task;
	while ((task = map_next(&p->t.tasks.by_tid, &i, NULL)))
		if (task->proc && image_of(task) == img)
			waits_leave(task);
}
