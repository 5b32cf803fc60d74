/* SPDX-License-Identifier: MIT */
/*
 * Decodes each kind of argument with random memory contents, with memory that ends early, and without memory. The
 * output must be bounded and have no control bytes.
 */
#include "base/buf.h"
#include "decode/decode.h"
#include "decode/decode_capture.h"
#include "decode/emit.h"
#include "decode/kinds.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define BASE  0x10000u
#define BYTES 8192

struct memory {
	unsigned char bytes[BYTES];
	size_t n; /* number of readable bytes */
};

static struct buf asked; /* which names a decoder has asked for */

static ssize_t memory_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct memory *m = ctx;
	if (addr < BASE || addr - BASE >= m->n)
		return -EFAULT;
	if (n > m->n - (addr - BASE))
		n = m->n - (addr - BASE);
	memcpy(buf, m->bytes + (addr - BASE), n);
	return (ssize_t)n;
}

static bool name_fd(void *ctx, pid_t tid, int fd, struct buf *out)
{
	(void)ctx;
	buf_addf(&asked, "fd %d %d\n", tid, fd);
	buf_adds(out, "name");
	return fd >= 0;
}

static bool name_device(void *ctx, pid_t tid, int fd, struct buf *out)
{
	(void)ctx, (void)out;
	buf_addf(&asked, "device %d %d\n", tid, fd);
	return false;
}

static int name_netlink(void *ctx, pid_t tid, int fd)
{
	(void)ctx;
	buf_addf(&asked, "netlink %d %d\n", tid, fd);
	return -1;
}

static bool name_interface(void *ctx, pid_t tid, uint32_t index, struct buf *out)
{
	(void)ctx, (void)out;
	buf_addf(&asked, "interface %d %u\n", tid, index);
	return false;
}

static bool name_comm(void *ctx, pid_t tid, struct buf *out)
{
	(void)ctx;
	buf_addf(&asked, "comm %d\n", tid);
	buf_adds(out, "comm");
	return true;
}

static const struct names names = {.fd = name_fd,
				   .fd_in_full = name_fd,
				   .device = name_device,
				   .netlink = name_netlink,
				   .interface = name_interface,
				   .comm = name_comm};

/* xorshift64, which gives the same numbers in every run. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Fills memory with random bytes, mixed with pointers into it, small numbers and all ones, so that structures point to
 * other structures.
 */
static void fill(struct memory *m, uint64_t *seed, bool text)
{
	for (size_t i = 0; i < BYTES; i += 8) {
		uint64_t r = next(seed), v = r;
		if (r % 5 == 0)
			v = BASE + (r >> 8) % BYTES;
		else if (r % 5 == 1)
			v = (r >> 8) % 64;
		else if (r % 31 == 2)
			v = UINT64_MAX;
		else if (text)
			v = 0x41411b0a0d9b7f00u ^ (r & 0xff00ff);
		memcpy(m->bytes + i, &v, 8);
	}
}

static uint64_t argument(uint64_t *seed)
{
	uint64_t r = next(seed);
	uint64_t forms[] = {BASE + r % BYTES, r % 64,         r, (uint64_t) - (int64_t)(r % 64), BASE,
			    (uint32_t)r,      1ull << r % 64, 0};
	return forms[(r >> 40) % 8];
}

static void no_control_bytes(const struct buf *b, const char *what)
{
	if (b->len > 4u << 20)
		fail_msg("%s: %zu bytes of output", what, b->len);
	for (size_t i = 0; i < b->len; i++)
		if ((unsigned char)b->s[i] < ' ' || (unsigned char)b->s[i] >= 0x7f)
			fail_msg("%s: byte %#x in %s", what, (unsigned char)b->s[i], b->s);
}

static void parses(const struct buf *b, const char *what)
{
	json_error_t error;
	json_t *j = json_loadb(b->s, b->len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
	if (!j)
		fail_msg("%s: %s in %s", what, error.text, b->s);
	json_decref(j);
}

static void one_call(struct decode *d, const char *name)
{
	struct buf text = {0}, json = {0};
	struct emit e;
	emit_text_init(&e, &text, 0);
	d->out = &e;
	d->leaving = false;
	int from = decode_enter(d);
	assert_in_range(from, 0, 6);
	d->leaving = true;
	decode_exit(d, from);
	decode_result(d);
	no_control_bytes(&text, name);
	emit_json_init(&e, &json);
	buf_adds(&json, "{\"args\":{");
	d->leaving = false;
	from = decode_enter(d);
	d->leaving = true;
	decode_exit(d, from);
	buf_adds(&json, "},");
	decode_result(d);
	buf_addc(&json, '}');
	parses(&json, name);
	buf_free(&text);
	buf_free(&json);
}

/* decode_ask_*() must ask for the same names as the functions that show the call. */
static void asks_the_same(struct decode *d, const char *name)
{
	struct buf scratch = {0}, shown = {0};
	struct emit e;
	int from[2];
	for (int asking = 0; asking < 2; asking++) {
		emit_text_init(&e, &scratch, 0);
		d->out = &e;
		buf_clear(&asked);
		d->leaving = false;
		from[asking] = asking ? decode_ask_enter(d) : decode_enter(d);
		d->leaving = true;
		if (asking) {
			decode_ask_exit(d, from[1]);
		} else {
			decode_exit(d, from[0]);
			decode_result(d);
			buf_add(&shown, buf_str(&asked), asked.len);
		}
	}
	if (strcmp(buf_str(&shown), buf_str(&asked)) != 0)
		fail_msg("%s: shown %d:\n%sasked %d:\n%s", name, from[0], buf_str(&shown), from[1], buf_str(&asked));
	buf_free(&scratch);
	buf_free(&shown);
}

static void show(struct decode *d, struct mem before, struct mem after, bool json, struct buf *out)
{
	struct emit e;
	struct decode_memo memo;
	d->out = &e;
	d->memo = &memo;
	d->leaving = false;
	d->mem = &before;
	if (json)
		emit_json_init(&e, out);
	else
		emit_text_init(&e, out, 0);
	int from = decode_enter(d);
	d->leaving = true;
	d->mem = &after;
	decode_exit(d, from);
	decode_result(d);
	d->memo = NULL;
}

/* Could the kernel have returned this? The results of these calls agree with a size or with the contents of memory. */
static bool is_possible(const struct call *call)
{
	static const char *const exact[] = {"getcwd", "getdents64", "getgroups", "getgroups32", "statmount"};
	for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++)
		if (call->desc && strcmp(call->desc->name, exact[i]) == 0)
			return false;
	return call->error || call->result >= 0;
}

/* The text and the JSON from the captures of a call must be those from its memory. */
static void captures_suffice(struct decode d, const char *name)
{
	static struct decode_captures c;
	const struct mem *live = d.mem;
	struct call call = *d.call;
	if (!live || !is_possible(&call))
		return;
	for (int i = 0; i < 6; i++) /* some sizes have 64 bits in the kernel, and others only the lower 32 */
		call.args[i] = (uint32_t)call.args[i] ? call.args[i] : 0;
	d.call = &call;
	if (!c.room.bytes)
		decode_captures_init(&c, 0, 64 << 20);
	c.string_max = d.opts->string_max;
	decode_captures_clear(&c);
	decode_capture_enter(&c, &call, live);
	const struct captured_list entry = decode_captures_list(&c);
	decode_capture_exit(&c, &call, live);
	const struct captured_list all = decode_captures_list(&c);
	struct captured_memory before = {&entry, true, 0}, after = {&all, false, 0};
	for (int json = 0; json < 2; json++) {
		struct buf text = {0}, captured = {0};
		show(&d, *live, *live, json, &text);
		show(&d, (struct mem){.read = captured_read, .ctx = &before},
		     (struct mem){.read = captured_read, .ctx = &after}, json, &captured);
		if (strcmp(buf_str(&text), buf_str(&captured)) != 0)
			fail_msg("%s %#x: from memory:\n%s\nfrom captures:\n%s", name, call.arch, buf_str(&text),
				 buf_str(&captured));
		buf_free(&text);
		buf_free(&captured);
	}
}

static struct call call_of(const struct syscall_desc *desc, uint32_t arch, uint64_t *seed)
{
	struct call call = {.arch = arch, .nr = syscall_number(arch, desc->name), .sp = argument(seed)};
	call.desc = syscall_lookup(call.arch, call.nr);
	static const int64_t results[] = {0, 1, 3, 32, 5000, INT64_MAX, -1, INT64_MIN};
	for (int i = 0; i < 6; i++)
		call.args[i] = argument(seed);
	call.result = results[next(seed) % 8];
	if (next(seed) % 4 == 0) {
		call.error = true;
		call.err = (int)(next(seed) % 530);
		call.result = -call.err;
	}
	return call;
}

static void every_call(struct memory *m, bool no_memory, uint64_t seed, uint32_t arch)
{
	struct mem mem = {memory_read, m};
	for (size_t i = 0; syscall_row(i); i++) {
		const struct syscall_desc *desc = syscall_row(i);
		for (unsigned round = 0; round < 12; round++) {
			struct decode_opts opts = {.string_max = (unsigned)(next(&seed) % 64),
						   .verbose = round & 1,
						   .raw = round % 6 == 5,
						   .fd_names = round % 3 == 2 ? FD_IN_FULL : round % 3,
						   .pid_names = round & 1,
						   .names = &names};
			struct call call = call_of(desc, arch, &seed);
			struct decode d = {.call = &call, .mem = no_memory ? NULL : &mem, .opts = &opts, .pid = 1};
			if (call.nr < 0)
				continue;
			one_call(&d, desc->name);
			asks_the_same(&d, desc->name);
			captures_suffice(d, desc->name);
		}
	}
}

static void test_random_memory(void **state)
{
	static struct memory m;
	uint64_t seed = 0x5c7ace;
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		fill(&m, &seed, i & 1);
		m.n = BYTES;
		every_call(&m, false, next(&seed), i < 3 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_I386);
	}
}

static void test_short_memory(void **state)
{
	static struct memory m;
	static const size_t sizes[] = {1, 7, 60, 4096 + 13};
	uint64_t seed = 0xdec0de;
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill(&m, &seed, false);
		m.n = sizes[i];
		every_call(&m, false, next(&seed), AUDIT_ARCH_X86_64);
	}
}

static void test_no_memory(void **state)
{
	static struct memory m;
	(void)state;
	every_call(&m, false, 1, AUDIT_ARCH_X86_64);
	every_call(&m, true, 2, AUDIT_ARCH_X86_64);
	every_call(&m, true, 3, AUDIT_ARCH_AARCH64);
}

/* Calls whose arguments depend on a command, with each named command. */
static void test_commands(void **state)
{
	static struct memory m;
	static const struct {
		const char *call;
		int at;
		const struct flag_table *commands;
	} calls[] = {{"ioctl", 1, &flags_ioctl},
		     {"fcntl", 1, &flags_fcntl},
		     {"prctl", 0, &flags_prctl},
		     {"ptrace", 0, &flags_ptrace},
		     {"keyctl", 0, &flags_keyctl},
		     {"bpf", 0, &flags_bpf},
		     {"futex", 1, &flags_futex},
		     {"getsockopt", 2, &flags_so},
		     {"setsockopt", 2, &flags_so},
		     {"fsconfig", 1, &flags_fsconfig},
		     {"io_uring_register", 1, &flags_io_uring_register}};
	struct mem mem = {memory_read, &m};
	uint64_t seed = 0xc0de;
	(void)state;
	fill(&m, &seed, false);
	for (m.n = BYTES; m.n; m.n /= 64)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			for (size_t j = 0; j < calls[i].commands->n; j++) {
				struct decode_opts opts = {.string_max = 32, .verbose = j & 1};
				struct call call = {.arch = AUDIT_ARCH_X86_64, .result = (int64_t)(j % 3)};
				struct decode d = {.call = &call, .mem = &mem, .opts = &opts, .pid = 1};
				call.nr = syscall_number(call.arch, calls[i].call);
				call.desc = syscall_lookup(call.arch, call.nr);
				for (int a = 0; a < 6; a++)
					call.args[a] = argument(&seed);
				if (calls[i].commands == &flags_so)
					call.args[1] = 1; /* SOL_SOCKET */
				call.args[calls[i].at] = calls[i].commands->rows[j].value;
				one_call(&d, calls[i].commands->rows[j].name);
				captures_suffice(d, calls[i].commands->rows[j].name);
				call.arch = AUDIT_ARCH_I386;
				captures_suffice(d, calls[i].commands->rows[j].name);
			}
}

/* With -s 4096, messages of messages of vectors that all point at the same page are still bounded. */
static void test_multiplication(void **state)
{
	static struct memory m;
	struct mem mem = {memory_read, &m};
	struct decode_opts opts = {.string_max = 4096, .verbose = true};
	struct call call = {.arch = AUDIT_ARCH_X86_64, .args = {3, BASE, 4096, 0}, .result = 4096};
	struct buf out = {0};
	struct emit e;
	struct decode d = {.out = &e, .call = &call, .mem = &mem, .opts = &opts, .pid = 1};
	uint64_t words[8] = {0, 0, BASE, 4096, 0, 0, 0, 4096};
	(void)state;
	m.n = BYTES;
	for (size_t i = 0; i < BYTES; i += sizeof(words))
		memcpy(m.bytes + i, words, sizeof(words));
	call.nr = syscall_number(call.arch, "sendmmsg");
	call.desc = syscall_lookup(call.arch, call.nr);
	emit_text_init(&e, &out, 0);
	int from = decode_enter(&d);
	d.leaving = true;
	decode_exit(&d, from);
	assert_true(out.len > BYTES && out.len < 64u << 20);
	buf_free(&out);
}

/* Strings of ESC, newline, DEL and high bytes never reach the output unescaped, in any style. */
static void test_escapes(void **state)
{
	(void)state;
	static const unsigned flags[] = {0, EMIT_HEX_STRINGS, EMIT_HEX_NONPRINT};
	char hostile[256];
	for (size_t i = 0; i < sizeof(hostile); i++)
		hostile[i] = (char)i;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		struct buf b = {0};
		struct emit e;
		emit_text_init(&e, &b, flags[i]);
		emit_str(&e, hostile, sizeof(hostile), STRING_CUT);
		emit_fd(&e, 3, NULL, &(struct emit_is){.name = "/tmp/\x1b[31m\n>x\x9b"});
		no_control_bytes(&b, "escapes");
		if (!(flags[i] & EMIT_HEX_STRINGS) && !strstr(buf_str(&b), "3</tmp/\\33[31m\\n\\76x\\233>"))
			fail_msg("%s", buf_str(&b));
		buf_free(&b);
	}
}

static void test_every_kind_has_a_row(void **state)
{
	(void)state;
	for (int k = 0; k < K_COUNT; k++)
		if (!decode_kinds[k].show)
			fail_msg("kind %d has no row in decode_kinds", k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_has_a_row),
		cmocka_unit_test(test_random_memory),
		cmocka_unit_test(test_short_memory),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_multiplication),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
