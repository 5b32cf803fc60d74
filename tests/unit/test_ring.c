/* SPDX-License-Identifier: MIT */
/* Tests rings: records of all sizes, calls in progress, and overwritten rings. */
#include "record_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Records of all sizes, read at different times, are unchanged, however often the ring wraps around. */
static void wraps(uint32_t limit, uint32_t end)
{
	char text[64] = "";
	uint64_t written = 0, read = 0, full = 0;
	set_up_ring(limit, end);
	memset((unsigned char *)rig.ring + RING_HEAD + end, 0x5a, RING_END - end);
	srand(limit);
	while (written < 20000) {
		uint64_t args[6] = {written, (uint64_t)(uintptr_t)text, (uint64_t)(rand() % 40)};
		if (enter(SYS_write, args)) {
			uint64_t asks = leave((int64_t)args[2]);
			if (asks) { /* the ring has no room for the capture, so sctrace completes the record */
				assert_int_equal(reader_fill(&rig.reader), 0);
				reader_complete(&rig.reader, (int64_t)args[2], ++rig.clock, RECORD_LIVE);
				rig.ring->next = rig.reader.off;
				rig.ring->open = 0;
			}
			written++;
		} else {
			full++;
			assert_int_equal(reader_fill(&rig.reader), 0);
		}
		if (rand() % 50 && written < 20000)
			continue;
		assert_int_equal(reader_fill(&rig.reader), 0);
		for (struct record_item it; (it = take()).kind != RECORD_NONE;) {
			assert_int_equal(it.record->args[0], read);
			read += it.kind == RECORD_EXIT;
		}
	}
	assert_int_equal(read, written);
	assert_true(full > 0 || limit > 4096);
	for (uint32_t i = end; i < RING_END; i++)
		assert_int_equal(((unsigned char *)rig.ring)[RING_HEAD + i], 0x5a); /* the memory of the next ring */
}

static void rings_wrap(void **state)
{
	(void)state;
	wraps(1024, RING_END);
	wraps(4096, RING_END);
	for (unsigned pages = 1; pages <= RING_PAGES_MOST; pages *= 4)
		wraps(ring_limit(pages), ring_end(pages));
	assert_int_equal(ring_limit(RING_PAGES_MOST), RING_DATA);
}

static void a_call_in_progress_is_reported_once(void **state)
{
	(void)state;
	const uint64_t args[6] = {7};
	set_up(RING_DATA);
	assert_true(enter(SYS_close, args));
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_int_equal(take().kind, RECORD_ENTER);
	assert_int_equal(take().kind, RECORD_NONE);
	assert_int_equal(leave(0), 0);
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_int_equal(take().kind, RECORD_EXIT);
	assert_int_equal(take().kind, RECORD_NONE);
	/* A thread that ends during a call leaves it unfinished. */
	assert_true(enter(SYS_close, args));
	assert_int_equal(reader_fill(&rig.reader), 0);
	rig.reader.ended = true;
	rig.reader.ended_at = ++rig.clock;
	assert_int_equal(take().kind, RECORD_ENTER);
	assert_int_equal(take().kind, RECORD_VANISH);
	assert_int_equal(take().kind, RECORD_NONE);
}

static void a_withdrawn_call_is_marked(void **state)
{
	(void)state;
	const uint64_t args[6] = {7};
	set_up(RING_DATA);
	assert_true(enter(SYS_close, args));
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_false(reader_peek(&rig.reader).withdrawn);
	assert_int_equal(take().kind, RECORD_ENTER);
	assert_true(reader_withdraw(&rig.reader, ++rig.clock));
	assert_true(reader_peek(&rig.reader).withdrawn);
	assert_int_equal(take().kind, RECORD_EXIT);
	assert_int_equal(take().kind, RECORD_NONE);
	/* If its beginning was not reported, it is not reported at all. */
	set_up(RING_DATA);
	assert_true(enter(SYS_close, args));
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_false(reader_withdraw(&rig.reader, ++rig.clock));
	assert_int_equal(take().kind, RECORD_NONE);
}

/* The call returns ERESTARTSYS, and then continues at the same place. */
static void an_interrupted_call_goes_on(void **state)
{
	(void)state;
	const uint64_t args[6] = {3};
	set_up(RING_DATA);
	assert_true(enter(SYS_close, args));
	assert_int_equal(reader_fill(&rig.reader), 0);
	uint64_t when = ++rig.clock;
	reader_interrupt(&rig.reader, -512, when);
	assert_int_equal(take().kind, RECORD_ENTER);
	struct record_item it = take();
	assert_int_equal(it.kind, RECORD_EXIT);
	assert_int_equal(it.record->result, -512);
	/* Until the kernel is known to have restarted the call, it is not reported again. */
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_int_equal(take().kind, RECORD_NONE);
	rig.reader.halted = false;
	assert_int_equal(reader_fill(&rig.reader), 0);
	it = take();
	assert_int_equal(it.kind, RECORD_ENTER);
	assert_true(it.continued);
	assert_int_equal(it.began, when);
	assert_int_equal(leave(0), 0);
	assert_int_equal(reader_fill(&rig.reader), 0);
	it = take();
	assert_int_equal(it.kind, RECORD_EXIT);
	assert_int_equal(it.began, when);
	assert_int_equal(take().kind, RECORD_NONE);
	/* The next call is a new one. */
	assert_true(enter(SYS_close, args));
	assert_int_equal(leave(0), 0);
	assert_int_equal(reader_fill(&rig.reader), 0);
	assert_false(take().continued);
}

/* The restarted call has returned before it was reported, and with another limit than at first. */
static void an_interrupted_call_is_not_lost(void **state)
{
	(void)state;
	struct timespec left = {1, 500};
	const uint64_t args[6] = {0, 0, 0, 0, (uint64_t)(uintptr_t)&left};
	const pid_t pid = getpid();
	const struct mem live = {mem_read_process, (void *)&pid};
	set_up(RING_DATA);
	assert_true(enter(SYS_pselect6, args));
	assert_int_equal(reader_fill(&rig.reader), 0);
	left.tv_sec = 0;
	reader_renew(&rig.reader, &live);
	reader_interrupt(&rig.reader, -514, ++rig.clock);
	assert_int_equal(take().kind, RECORD_ENTER);
	assert_int_equal(take().kind, RECORD_EXIT);
	assert_int_equal(leave(0), 0);
	assert_int_equal(reader_fill(&rig.reader), 0);
	struct record_item it = take();
	assert_int_equal(it.kind, RECORD_ENTER);
	assert_true(it.continued);
	it = take();
	assert_int_equal(it.kind, RECORD_EXIT);
	struct timespec seen = {9, 9};
	read_captures(it.record, true, args[4], &seen, sizeof(seen));
	assert_int_equal(seen.tv_sec, 0);
	assert_int_equal(seen.tv_nsec, 500);
	assert_int_equal(take().kind, RECORD_NONE);
}

/* The end of a call is reported before the thread commits its record. The record is then not reported again. */
static void a_call_that_was_ended_is_reported_once(void **state)
{
	(void)state;
	const uint64_t args[6] = {3};
	set_up(1024);
	for (int i = 0; i < 100; i++) {
		assert_true(enter(SYS_close, args));
		assert_int_equal(reader_fill(&rig.reader), 0);
		reader_end(&rig.reader, i, ++rig.clock);
		assert_int_equal(take().kind, RECORD_ENTER);
		struct record_item it = take();
		assert_int_equal(it.kind, RECORD_EXIT);
		assert_int_equal(it.record->result, i);
		assert_int_equal(reader_fill(&rig.reader), 0);
		assert_int_equal(take().kind, RECORD_NONE);
		assert_int_equal(leave(i), 0);
		/* More records follow before the ring is read again. */
		for (int k = 0; k < i % 3; k++) {
			assert_true(enter(SYS_close, args));
			assert_int_equal(leave(1000 + k), 0);
		}
		assert_int_equal(reader_fill(&rig.reader), 0);
		for (int k = 0; k < i % 3; k++) {
			assert_int_equal(take().kind, RECORD_ENTER);
			it = take();
			assert_int_equal(it.kind, RECORD_EXIT);
			assert_int_equal(it.record->result, 1000 + k);
		}
		assert_int_equal(take().kind, RECORD_NONE);
	}
}

/* A signal that comes just before rt_sigreturn(2) makes the thread commit two records of this call. */
static void a_return_that_is_repeated_is_reported_once(void **state)
{
	(void)state;
	uint64_t stack[128] = {0};
	const uint64_t args[6] = {0};
	const uint64_t outer = (uint64_t)(uintptr_t)(stack + 32), inner = (uint64_t)(uintptr_t)stack;
	/* Two handlers are interrupted just before they return; the second interrupts the first. */
	const struct {
		int nr;
		uint64_t sp;
		bool repeats, reported;
	} steps[] = {
		{SYS_rt_sigreturn, outer, true, true},   {SYS_getppid, inner, false, true},
		{SYS_rt_sigreturn, inner, true, true},   {SYS_rt_sigreturn, inner, false, false},
		{SYS_rt_sigreturn, outer, false, false}, {SYS_rt_sigreturn, outer, false, true},
	};
	set_up(RING_DATA);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		rig.scratch.sp = steps[i].sp;
		assert_true(enter(steps[i].nr, args));
		assert_int_equal(leave((int64_t)i), 0);
		assert_int_equal(reader_fill(&rig.reader), 0);
		if (steps[i].repeats)
			reader_repeats(&rig.reader, steps[i].sp);
		assert_int_equal(take().kind, steps[i].reported ? RECORD_ENTER : RECORD_NONE);
		struct record_item it = take();
		assert_int_equal(it.kind, steps[i].reported ? RECORD_EXIT : RECORD_NONE);
		assert_true(!steps[i].reported || it.record->result == (int64_t)i);
	}
}

static void a_ring_that_was_overwritten_is_noticed(void **state)
{
	(void)state;
	const uint64_t args[6] = {3};
	unsigned refused = 0;
	for (unsigned seed = 0; seed < 3000; seed++) {
		set_up(4096);
		for (int i = 0; i < 10; i++)
			if (enter(SYS_close, args))
				assert_int_equal(leave(0), 0);
		srand(seed);
		unsigned char *bytes = (unsigned char *)rig.ring;
		for (int i = 0; i < 20; i++)
			bytes[rand() % 2 ? RING_HEAD + rand() % 2000 : rand() % 64] = (unsigned char)rand();
		int err = reader_fill(&rig.reader);
		assert_true(err == 0 || err == -EPROTO);
		refused += err == -EPROTO;
		for (int i = 0; i < 100 && take().kind != RECORD_NONE; i++)
			;
	}
	assert_true(refused > 300);
}

/* Threads at usual distances all find a row: the distances are sizes of stacks, of malloc's memory, and of small objects. */
static void threads_are_spread(void **state)
{
	static const uint64_t distances[] = {64,        0x380,     0x1000,    0x5000,    0x11000,  0x21000,
					     0x40000,   0x100000,  0x101000,  0x800000,  0x801000, 0x1000000,
					     0x4000000, 0x4800000, 0x8000000, 0x10000000};
	(void)state;
	for (size_t k = 0; k < sizeof(distances) / sizeof(*distances); k++) {
		unsigned rows[THREAD_BUCKETS] = {0};
		for (uint64_t i = 0; i < 4096; i++)
			assert_true(++rows[thread_bucket(0x7ffff7d86740 - i * distances[k])] <= THREAD_ROWS);
	}
}

#ifdef __x86_64__
static volatile unsigned steps; /* instructions of the recorder that were executed since the trap flag was set */

static void on_trap(int sig, siginfo_t *info, void *context)
{
	extern const unsigned char __start_recorder_text[], __stop_recorder_text[];
	const uintptr_t ip = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	(void)sig;
	(void)info;
	steps += ip >= (uintptr_t)__start_recorder_text && ip < (uintptr_t)__stop_recorder_text;
}

/* Sets or removes the trap flag: then the kernel sends SIGTRAP after each instruction. */
static void set_stepping(bool on)
{
	uint64_t flags = __builtin_ia32_readeflags_u64();
	__builtin_ia32_writeeflags_u64(on ? flags | 0x100 : flags & ~0x100ull);
}

/* Counts the instructions of the recorder for a call. */
static unsigned count_steps(int64_t nr, const uint64_t args[6], int64_t result)
{
	set_up(RING_DATA);
	steps = 0;
	set_stepping(true);
	const bool entered = enter(nr, args);
	const uint64_t asks = entered ? leave(result) : 1;
	set_stepping(false);
	assert_int_equal(asks, 0);
	return steps;
}

/* Usual calls take few instructions of the recorder (test_patch_aarch64.c counts those of aarch64). */
static void usual_calls_are_short(void **state)
{
	char bytes[4096] = "/etc/passwd";
	const uint64_t at = (uint64_t)(uintptr_t)bytes, cwd = (uint64_t)AT_FDCWD;
	const struct {
		const char *name;
		int64_t nr, result;
		uint64_t args[6];
		unsigned most;
	} calls[] = {
		{"getppid", SYS_getppid, 1, {0}, 140},
		{"read", SYS_read, 1, {0, at, 1}, 200},
		{"read, EAGAIN", SYS_read, -EAGAIN, {0, at, 1}, 170},
		{"write", SYS_write, 1, {1, at, 1}, 210},
		{"write, 32 bytes", SYS_write, 4096, {1, at, 4096}, 240},
		{"fstat", SYS_fstat, 0, {1, at}, 320},
		{"openat", SYS_openat, 3, {cwd, at}, 290},
		{"openat, ENOENT", SYS_openat, -ENOENT, {cwd, at}, 290},
		{"clock_nanosleep", SYS_clock_nanosleep, 0, {0, 0, at}, 270},
		{"fcntl", SYS_fcntl, 0, {1, F_GETFL}, 660},
		{"ioctl", SYS_ioctl, 0, {1, TCGETS, at}, 820},
	};
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct sigaction before;
	(void)state;
	sigaction(SIGTRAP, &action, &before);
	count_steps(SYS_getppid, calls[0].args, 1);
	if (steps)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
			const unsigned n = count_steps(calls[i].nr, calls[i].args, calls[i].result);
			print_message("# %s: %u instructions\n", calls[i].name, n);
			assert_in_range(n, 1, calls[i].most);
		}
	sigaction(SIGTRAP, &before, NULL);
	if (!steps)
		skip(); /* Valgrind ignores the trap flag */
}
#else
static void usual_calls_are_short(void **state)
{
	(void)state;
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_calls_are_short),
		cmocka_unit_test(threads_are_spread),
		cmocka_unit_test(rings_wrap),
		cmocka_unit_test(a_call_in_progress_is_reported_once),
		cmocka_unit_test(a_withdrawn_call_is_marked),
		cmocka_unit_test(an_interrupted_call_goes_on),
		cmocka_unit_test(an_interrupted_call_is_not_lost),
		cmocka_unit_test(a_call_that_was_ended_is_reported_once),
		cmocka_unit_test(a_return_that_is_repeated_is_reported_once),
		cmocka_unit_test(a_ring_that_was_overwritten_is_noticed),
	};
	return cmocka_run_group_tests(tests, set_up_all, NULL);
}
