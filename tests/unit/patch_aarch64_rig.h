/* SPDX-License-Identifier: MIT */
/* A program that patches its own call sites, which patch_aarch64.S contains, and that has the agent at its address. */
#ifndef PATCH_AARCH64_RIG_H
#define PATCH_AARCH64_RIG_H

#include "engine/patch/aarch64/encode.h"
#include "engine/patch/aarch64/resume.h"
#include "engine/patch/code/agent.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"

#include <asm/hwcap.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef PROT_BTI
#define PROT_BTI 0x10
#endif
#define AT(p) ((uint64_t)(uintptr_t)(p))
#define ABOVE 512
#define BELOW 4096

/* Instructions of sctrace for a counted call, for one with arguments to check, and for a recorded one. */
#define COUNTED_MOST 60
#define FAILED_MOST  60
#define FIRST_MOST   67 /* the first of these calls that fails */
#define ANOTHER_MOST                                                                                                   \
	76 /* fails otherwise than that one; has the first row of the table of errors. Each row before it costs 7 */
#define ARMED_MOST    80  /* it is found out whether the call waits */
#define WAITED_MOST   115 /* or its area is not in the first row of its bucket, or in none */
#define CHECKED_MOST  120
#define RECORDED_MOST 250
#define JUDGED_MOST   300 /* it is found out whether the recorded call waits */
#define OTHER_MOST    80  /* a number that no call has: it fails, and its row is looked up */

struct state { /* patch_aarch64.S has the offsets */
	uint64_t x[31], sp, nzcv, fpsr;
	unsigned char q[32][16];
};
void rig_run(const struct state *in, struct state *out);
int64_t rig_call(uint64_t arg, int64_t nr);
extern uint32_t rig_site[], rig_call_site[];

static const struct variant {
	const char *name;
	const struct agent_labels *labels;
	unsigned long needs; /* HWCAP_*, or 0 */
} variants[] = {
	{"lse", &agent_labels[0], HWCAP_ATOMICS},
	{"excl", &agent_labels[1], 0},
};
#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static struct agent_data *const data = (struct agent_data *)AGENT_DATA;
static struct agent_slot *const slots = (struct agent_slot *)AGENT_STATS;
static struct agent_errno *const errnos = (struct agent_errno *)(AGENT_STATS + ERRNOS_AT);
static unsigned char *stubs; /* a struct stub_head, then the stubs of rig_site and of rig_call_site */
static _Alignas(16) unsigned char stack[BELOW + ABOVE], stack_before[BELOW + ABOVE];
static struct agent_words words;
static int zero, null;

/* With the extension BTI, all code here is guarded: an indirect branch to an instruction without a landing pad faults. */
static inline int all_rights(void)
{
	return PROT_READ | PROT_WRITE | PROT_EXEC | (getauxval(AT_HWCAP2) & HWCAP2_BTI ? PROT_BTI : 0);
}

static inline void *map_at(uint64_t at, size_t size, int flags)
{
	return mmap((void *)at, size, all_rights(), flags | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Kernels for small machines have addresses of 39 bits only. */
static inline bool has_address(uint64_t at)
{
	void *page = map_at(at, AGENT_PAGE, MAP_PRIVATE);
	if (page == (void *)at)
		munmap(page, AGENT_PAGE);
	return page == (void *)at;
}

static inline void make_writable(const uint32_t *code)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	assert_int_equal(mprotect((void *)((uintptr_t)code & -page), page, all_rights()), 0);
}

static inline void write_code(uint32_t *at, uint32_t code)
{
	*(volatile uint32_t *)at = code;
	__builtin___clear_cache((char *)at, (char *)(at + 1));
}

static struct patch engine; /* for record_open() */
static struct agent_scratch *scratch;
static struct agent_ring *const ring = (struct agent_ring *)(AGENT_STATS + AGENT_STATS_SIZE);

/* Maps the recorder, and makes it known to the agent as the one of this thread. */
static inline void set_up_records(void)
{
	struct engine_config config = {.string_max = 32, .follow = true, .times = TIMES_USUAL};
	const uint64_t tp = (uint64_t)__builtin_thread_pointer();
	struct agent_thread *bucket = (struct agent_thread *)THREADS_AT + (size_t)thread_bucket(tp) * THREAD_ROWS;
	scratch = (struct agent_scratch *)scratch_address(0, SCRATCH_SIZE);
	record_open(&engine, &config);
	assert_true(map_at(RECORDER_CODE, RECORDER_ROOM + RECIPES_ROOM, MAP_PRIVATE) == (void *)RECORDER_CODE);
	memcpy((void *)RECORDER_CODE, engine.recorder, RECORDER_ROOM + RECIPES_ROOM);
	__builtin___clear_cache((char *)RECORDER_CODE, (char *)RECORDER_CODE + RECORDER_ROOM);
	assert_true(map_at(THREADS_AT, THREADS_ROOM, MAP_PRIVATE) == (void *)THREADS_AT);
	assert_true(map_at(SCRATCHES_AT, SCRATCH_ROOM_AT_FIRST, MAP_PRIVATE) == (void *)SCRATCHES_AT);
	bucket[0] = (struct agent_thread){~tp, 1}; /* another thread */
	bucket[1] = (struct agent_thread){tp, (uint64_t)scratch};
}

/*
 * The area for rseq(2) of the thread, which no kernel knows here: a call that overwrites `cs` by zeros seems to have waited.
 * `before` is what a section of the program has left there.
 */
static struct {
	uint64_t ids, cs, pad[2];
} area __attribute__((aligned(32)));
enum waits { UNKNOWN, DID_NOT_WAIT, WAITED };
static struct arms {
	bool has_area, has_row;
	uint64_t before;
	enum waits waits;
	bool later, left; /* by a signal, so it may not be known */
} arms;

static inline void begin_waits(void)
{
	memset((void *)AREAS_AT, 0, AGENT_DATA_SIZE - AGENT_PAGE);
	const uint64_t rseq = cpu_note_area(AT(&area.cs));
	if (arms.has_row && arms.later) /* other threads have the rows before */
		for (uint64_t *at = (uint64_t *)AREAS_AT; at < (uint64_t *)(AGENT_DATA + AGENT_DATA_SIZE); at++)
			if (*at) {
				at[6] = *at;
				memset(at, 1, 6 * sizeof(*at));
				break;
			}
	if (!arms.has_row)
		memset((void *)AREAS_AT, 0, AGENT_DATA_SIZE - AGENT_PAGE);
	data->rseq = arms.has_area ? rseq : 0;
	area.cs = arms.before;
}

static inline void check_waits(const struct agent_slot *s)
{
	const bool known = arms.waits != UNKNOWN && !(arms.left && s->unarmed);
	assert_int_equal(s->unarmed, !known);
	assert_int_equal(s->waits, known && arms.waits == WAITED);
	assert_int_equal(s->waited, known && arms.waits == WAITED ? s->ticks : 0);
	if (arms.waits != WAITED && !(arms.left && area.cs == AGENT_SECTION))
		assert_int_equal(area.cs, arms.before);
}

/* Empties the ring, and permits records. */
static inline void begin_records(void)
{
	begin_waits();
	memset(ring, 0, sizeof(*ring));
	ring->limit = RING_DATA;
	ring->end = RING_END;
	ring->string_max = 32;
	*scratch = (struct agent_scratch){.ring = (uint64_t)ring};
	((struct agent_tail *)TAIL_SELECTOR)->records = 1;
}

static inline bool is_exclusive_load(uint32_t code)
{
	return (code & 0xbfff7c00) == 0x885f7c00;
}
static inline bool is_exclusive_store(uint32_t code)
{
	return (code & 0xbfe07c00) == 0x88007c00;
}

static inline uint64_t instructions_of_step(const uint32_t *code)
{
	uint64_t n = 1;
	while (is_exclusive_load(code[0]) && !is_exclusive_store(code[n - 1]))
		n++;
	return n;
}

static inline void write_codes(uint32_t *at, const uint32_t *from, size_t n)
{
	memcpy(at, from, 4 * n);
	__builtin___clear_cache((char *)at, (char *)(at + n));
}

static inline int set_up(void **state)
{
	(void)state;
	assert_true(map_at(AGENT_CODE, AGENT_CODE_SIZE + AGENT_DATA_SIZE, MAP_PRIVATE) == (void *)AGENT_CODE);
	assert_true(map_at(AGENT_STATS, AGENT_STATS_SIZE + RING_SIZE, MAP_SHARED) == (void *)AGENT_STATS);
	for (uint64_t at = ((uint64_t)rig_site | 0xfffff) + 1; !stubs; at += 1 << 20)
		if (map_at(at, STUB_AREA, MAP_PRIVATE) == (void *)at)
			stubs = (unsigned char *)at;
	make_writable(rig_site);
	make_writable(rig_call_site);
	memcpy((void *)AGENT_CODE, agent_begin, (size_t)(agent_end - agent_begin));
	__builtin___clear_cache((char *)AGENT_CODE, (char *)AGENT_CODE + (agent_end - agent_begin));
	data->base = AGENT_BASE;
	data->words = (uint64_t)&words;
	data->code[0][0] = AGENT_CODE;
	data->code[0][1] = AGENT_LIMIT;
	set_up_records();
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	return zero < 0 || null < 0;
}

/* Tells the agent how to treat the call. */
static inline void map_call(int64_t nr, unsigned flags)
{
	const unsigned row = agent_row((uint64_t)nr);
	if (row >= AGENT_NUMBERS)
		data->others[row - AGENT_NUMBERS] = (int32_t)nr;
	data->map[row] = row * SLOT_SIZE + SLOT_ALIGN + flags;
	memset(&slots[row], 0, sizeof(slots[row]));
	memset(errnos, 0, ERRNOS_SIZE);
}

static inline void patch_site(uint32_t *site, size_t stub)
{
	uint64_t at = (uint64_t)stubs + stub;
	uint32_t code[STUB_SIZE / 4], jump;
	assert_true(encode_stub((unsigned char *)code, at, (uint64_t)stubs, (uint64_t)(site + 1), NULL, 0, false));
	memcpy((void *)at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
	assert_true(encode_branch(&jump, (uint64_t)site, at));
	write_code(site, jump);
}

static inline void patch(const struct variant *v)
{
	struct stub_head *head = (struct stub_head *)stubs;
	*head = encode_head();
	head->entry = AGENT_AT(v->labels->entry);
	head->exit = AGENT_AT(v->labels->exit);
	patch_site(rig_site, STUB_SIZE);
	patch_site(rig_call_site, 2 * STUB_SIZE);
}

static inline void unpatch(void)
{
	write_code(rig_site, SITE_CALL);
	write_code(rig_call_site, SITE_CALL);
}

static inline bool may_use(const struct variant *v)
{
	return (getauxval(AT_HWCAP) & v->needs) == v->needs;
}

enum made { COUNTED, MADE, REFUSED, RECORDED };
struct kind {
	const char *name;
	int64_t nr;
	uint64_t args[6];
	unsigned flags;
	enum made made;
};

static unsigned char buffer[4096];
static const uint64_t usual[4], once[4] = {0, 0x80000000 /* SA_RESETHAND */};
static const char missing[] = "/missing/file";
#define FD(fd)  ((uint64_t)(unsigned)(fd))
#define PAGE(p) (AT(p) & ~(uint64_t)(AGENT_PAGE - 1))
#define KINDS   30
static inline size_t get_kinds(struct kind *kinds)
{
	const struct kind all[] = {
		{"getppid", SYS_getppid, {1, 2, 3, 4, 5, 6}, 0, COUNTED},
		{"read", SYS_read, {FD(zero), AT(buffer), 7}, SLOT_F_BYTES, COUNTED},
		{"read nothing", SYS_read, {FD(zero), AT(buffer), 0}, SLOT_F_BYTES, COUNTED},
		{"read, EBADF", SYS_read, {FD(-1), AT(buffer), 1}, SLOT_F_BYTES, COUNTED},
		{"read, EFAULT", SYS_read, {FD(zero), 8, 1}, SLOT_F_BYTES, COUNTED},
		{"write", SYS_write, {FD(null), AT(buffer), 4096}, SLOT_F_BYTES, COUNTED},
		{"openat, ENOENT", SYS_openat, {FD(AT_FDCWD), AT(missing), O_RDONLY}, 0, COUNTED},
		{"lseek, EINVAL", SYS_lseek, {FD(zero), 0, 99}, 0, COUNTED},
		{"sched_yield", SYS_sched_yield, {0}, 0, COUNTED},
		{"not counted", SYS_getpid, {0}, SLOT_F_PLAIN, MADE},
		{"not counted, EBADF", SYS_close, {FD(-1)}, SLOT_F_PLAIN, MADE},
		{"prctl", SYS_prctl, {9999}, SLOT_F_CHECK, COUNTED},
		{"prctl, PR_GET_SECCOMP", SYS_prctl, {21}, SLOT_F_CHECK, REFUSED},
		{"mmap", SYS_mmap, {0, 0}, SLOT_F_CHECK, COUNTED},
		{"munmap", SYS_munmap, {7, 1}, SLOT_F_CHECK, COUNTED},
		{"mremap, MREMAP_FIXED", SYS_mremap, {4096, 4096, 4096, 2, 7}, SLOT_F_CHECK, REFUSED},
		{"mprotect of the agent", SYS_mprotect, {AGENT_DATA, AGENT_PAGE, 3}, SLOT_F_CHECK, REFUSED},
		{"mprotect of the stack", SYS_mprotect, {PAGE(stack), 2ul * AGENT_PAGE, 3}, SLOT_F_CHECK, REFUSED},
		{"madvise, ENOMEM", SYS_madvise, {1ul << 60, AGENT_PAGE, 0}, SLOT_F_CHECK, REFUSED},
		{"rt_sigaction", SYS_rt_sigaction, {SIGUSR1, AT(usual), 0, 8}, SLOT_F_CHECK, COUNTED},
		{"rt_sigaction, SIGSEGV", SYS_rt_sigaction, {SIGSEGV, AT(usual), 0, 8}, SLOT_F_CHECK, REFUSED},
		{"rt_sigaction, once", SYS_rt_sigaction, {SIGUSR1, AT(once), 0, 8}, SLOT_F_CHECK, REFUSED},
		{"rt_sigprocmask", SYS_rt_sigprocmask, {0, 0, 0, 8}, SLOT_F_CHECK, COUNTED},
		{"forking, to be recorded", SYS_getuid, {0}, SLOT_F_RECORD | SLOT_F_FORKS | SLOT_F_CHECK, REFUSED},
		{"number 511", 511, {1, 2, 3}, 0, COUNTED},
		{"number 512", 512, {1, 2, 3}, 0, REFUSED},
		{"number -1", -1, {1, 2, 3}, 0, REFUSED},
		{"number 1000 with a row", 1000, {1, 2, 3}, 0, COUNTED},
		{"number 1004 without a row", 1004, {1, 2, 3}, 0, REFUSED},
		{"number -2 with a row", -2, {1, 2, 3}, 0, COUNTED},
	};
	_Static_assert(sizeof(all) / sizeof(all[0]) == KINDS, "KINDS");
	memcpy(kinds, all, sizeof(all));
	return KINDS;
}

#define RECORDS 10
static inline size_t get_records(struct kind *kinds)
{
	const struct kind all[] = {
		{"read", SYS_read, {FD(zero), AT(buffer), 1}, SLOT_F_RECORD, RECORDED},
		{"write", SYS_write, {FD(null), AT(buffer), 1}, SLOT_F_RECORD, RECORDED},
		{"getppid", SYS_getppid, {1, 2, 3, 4, 5, 6}, SLOT_F_RECORD, RECORDED},
		{"close, EBADF", SYS_close, {FD(-1)}, SLOT_F_RECORD, RECORDED},
		{"prctl", SYS_prctl, {9999}, SLOT_F_RECORD | SLOT_F_CHECK, RECORDED},
		{"set_tid_address", SYS_set_tid_address, {0}, SLOT_F_RECORD | SLOT_F_CHECK, RECORDED},
		{"openat, ENOENT", SYS_openat, {FD(AT_FDCWD), AT(missing), O_RDONLY}, SLOT_F_RECORD, RECORDED},
		{"read, EFAULT", SYS_read, {FD(zero), 8, 1}, SLOT_F_RECORD, RECORDED},
		{"no lane", SYS_getppid, {0}, SLOT_F_LANE, RECORDED},
		{"number 1000", 1000, {1, 2, 3, 4, 5, 6}, SLOT_F_RECORD, RECORDED},
	};
	_Static_assert(sizeof(all) / sizeof(all[0]) == RECORDS, "RECORDS");
	memcpy(kinds, all, sizeof(all));
	return RECORDS;
}

/* Stores a value that differs in all registers, and those of the call. */
static inline struct state before_call(const struct kind *k, unsigned flags)
{
	struct state s;
	unsigned char *bytes = (unsigned char *)&s;
	for (size_t i = 0; i < sizeof(s); i++)
		bytes[i] = (unsigned char)(i * 37 + flags + 11);
	for (unsigned i = 0; i < 6; i++)
		s.x[i] = k->args[i];
	s.x[8] = (uint64_t)k->nr;
	s.sp = AT(stack + BELOW);
	s.nzcv = (uint64_t)flags << 28;
	s.fpsr = flags;
	return s;
}

static inline void fill_stack(void)
{
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (unsigned char)(i * 13);
	memcpy(stack_before, stack, sizeof(stack));
}

/* The frame is all that may have changed, and the word above it that rig_run uses. */
static inline void check_stack(void)
{
	const size_t frame = BELOW - RED_ZONE - FRAME_SIZE, own = BELOW + 256;
	assert_memory_equal(stack, stack_before, frame);
	assert_memory_equal(stack + BELOW - RED_ZONE, stack_before + BELOW - RED_ZONE, own - (BELOW - RED_ZONE));
	assert_memory_equal(stack + own + 8, stack_before + own + 8, sizeof(stack) - own - 8);
}

static inline uint64_t sum_of_buckets(const struct agent_slot *s)
{
	uint64_t n = 0;
	for (size_t i = 0; i < SLOT_BUCKETS; i++)
		n += s->hist[i];
	return n;
}

/* The bucket as struct agent_slot defines it. */
static inline unsigned bucket_of(uint64_t ticks)
{
	unsigned shift = 0;
	while (ticks >> shift >= 32)
		shift++;
	unsigned bucket = 16 * shift + (unsigned)(ticks >> shift);
	return bucket < SLOT_BUCKETS ? bucket : SLOT_BUCKETS - 1;
}

/* Checks the slot after a single call with this result. */
static inline void check_slot(const struct kind *k, int64_t result)
{
	const struct agent_slot *s = &slots[agent_row((uint64_t)k->nr)];
	bool failed = result < 0 && result >= -4095;
	assert_int_equal(s->entered, 1);
	check_waits(s);
	assert_int_equal(s->errors + s->fails, failed);
	assert_int_equal(s->bytes, !failed && k->flags & SLOT_F_BYTES ? result : 0);
	assert_int_equal(s->max, s->ticks);
	assert_int_equal(~s->min_not, s->ticks);
	assert_int_equal(errnos[0].key, s->errors ? (uint64_t)(uint32_t)k->nr << ERRNO_BITS | (uint64_t)-result : 0);
	assert_int_equal(errnos[0].count, s->errors);
	if (s->fails)
		assert_int_equal((int64_t)s->failed, result);
	assert_int_equal(s->hist[bucket_of(s->ticks)], 1);
	assert_int_equal(sum_of_buckets(s), 1);
}

/* Checks what a record says about the wait of its call. */
static inline void check_marks(unsigned marks)
{
	const unsigned known = arms.waits == UNKNOWN ? 0 : MARK_JUDGED | (arms.waits == WAITED ? MARK_WAITED : 0);
	marks &= MARK_JUDGED | MARK_WAITED;
	assert_true(marks == known || (arms.left && !marks));
	if (arms.waits != WAITED && !(arms.left && area.cs == AGENT_SECTION))
		assert_int_equal(area.cs, arms.before);
}

/* Checks that the ring has one record, of this call. */
static inline void check_record(const struct kind *k, int64_t result)
{
	struct record_reader *r = calloc(1, sizeof(*r));
	r->ring = ring;
	r->limit = RING_DATA;
	r->end = RING_END;
	assert_int_equal(reader_fill(r), 0);
	const struct record_item item = reader_peek(r);
	assert_int_equal(item.kind, RECORD_ENTER);
	assert_true(item.committed);
	assert_int_equal(item.record->nr, agent_row((uint64_t)k->nr));
	assert_int_equal(item.record->result, result);
	assert_true(item.record->t0 <= item.record->t1);
	assert_int_equal(item.record->sp, BELOW + AT(stack) - BELOW_PROGRAM);
	for (size_t i = 0; i < (item.record->head - RECORD_HEAD_LEAST) / sizeof(uint64_t); i++)
		assert_int_equal(item.record->args[i], k->args[i]);
	check_marks(item.record->marks);
	reader_pop(r);
	reader_pop(r);
	assert_int_equal(reader_peek(r).kind, RECORD_NONE);
	assert_int_equal(scratch->busy, SCRATCH_IDLE);
	reader_free(r);
	free(r);
}

#endif
