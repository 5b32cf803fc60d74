/* SPDX-License-Identifier: MIT */
/*
 * Reads the rings of io_uring in the memory of a program, which can write anything there and make any calls. The first
 * bytes of the input are steps; the others are the memory.
 */
#include "fuzz.h"

#include "syscall/call_table.h"
#include "tracee/mem.h"
#include "tracee/names.h"
#include "tracee/uring.h"

#include <errno.h>
#include <sys/syscall.h>

#define BASE  0x1000u
#define STEPS 32
#define STEP  4

struct input {
	const uint8_t *bytes;
	size_t size;
};

static ssize_t input_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct input *in = ctx;
	if (addr < BASE || addr - BASE >= in->size)
		return -EFAULT;
	n = n < in->size - (addr - BASE) ? n : in->size - (addr - BASE);
	memcpy(buf, in->bytes + (addr - BASE), n);
	return (ssize_t)n;
}

static bool input_ring(void *ctx, pid_t tid, int fd, struct buf *out)
{
	const struct input *in = ctx;
	(void)tid;
	if (!(fd & 1))
		return false;
	buf_addf(out, "%x %x %x 0 0 4 16 8 12 20 64", BASE, BASE, BASE + 256u);
	return in->size > 0;
}

static void check(const struct uring_batch *b)
{
	for (size_t i = 0; i < b->reads.n; i++)
		FUZZ_REQUIRE(b->reads.v[i].at + b->reads.v[i].n <= b->bytes.len);
	for (size_t i = 0; i < b->completions.n; i++)
		FUZZ_REQUIRE(!b->completions.v[i].known ||
			     b->completions.v[i].request.user_data == b->completions.v[i].user_data);
}

static void step(struct uring *u, const uint8_t *s, const struct mem *mem, const struct names *names)
{
	static const long calls[] = {SYS_io_uring_enter, SYS_io_uring_enter, SYS_io_uring_setup, SYS_io_uring_register};
	static const enum event_kind kinds[] = {EV_ENTER, EV_EXIT, EV_VANISH, EV_NEW_TASK, EV_EXEC, EV_DEATH};
	const struct mem *memories[] = {mem, NULL};
	struct event ev = {
		.kind = kinds[s[0] % 6], .tid = 1 + (s[0] >> 3 & 3), .pid = 1 + (s[0] >> 5 & 1), .time_ns = s[3]};
	ev.child = 1 + (s[1] & 3);
	ev.is_process = s[1] & 4;
	ev.mem = memories[s[3] == 0];
	ev.call.arch = syscall_native_arch();
	ev.call.nr = calls[s[1] & 3];
	ev.call.desc = syscall_lookup(ev.call.arch, ev.call.nr);
	ev.call.args[0] = s[2] & 3;
	ev.call.args[1] = ev.call.nr == SYS_io_uring_setup   ? BASE + s[3]
			  : ev.call.nr == SYS_io_uring_enter ? s[3]
							     : s[3] % 24;
	ev.call.args[2] = BASE + 8u * s[3];
	ev.call.args[3] = s[2] >> 4;
	ev.call.result = (int8_t)s[2];
	ev.call.error = ev.call.result < 0;
	if (ev.kind == EV_ENTER || ev.kind == EV_EXIT || ev.kind == EV_VANISH)
		check(uring_call(u, &ev, names));
	else
		uring_other(u, &ev);
}

static void count(void *ctx, const struct uring_request *q)
{
	*(uint64_t *)ctx += q->opcode;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data + STEPS * STEP, size - STEPS * STEP};
	struct uring u = {0};
	struct buf said = {0};
	uint64_t left = 0;
	if (size < STEPS * STEP)
		return 0;
	const struct mem mem = {.read = input_read, .ctx = &in};
	const struct names names = {.ring = input_ring, .ctx = &in};
	for (unsigned i = 0; i < STEPS; i++)
		step(&u, data + STEP * i, &mem, &names);
	uring_say(&u, &said);
	uring_each_left(&u, count, &left);
	uring_free(&u);
	buf_free(&said);
	return 0;
}
