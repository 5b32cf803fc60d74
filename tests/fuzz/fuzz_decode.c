/* SPDX-License-Identifier: MIT */
/*
 * Decodes any call with any arguments, over memory with any contents and any length. Text output must have no control
 * bytes, and JSON output must be valid. Input: a header (below), then the tracee's memory.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <jansson.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <stdio.h>

#define BASE 0x10000u

struct header {
	uint8_t arch, leaving, flags, string_max;
	uint16_t nr;
	uint8_t how[6]; /* the kind of each argument: a number, or a pointer into the memory */
	uint16_t low[6];
	int64_t result;
};

struct memory {
	const uint8_t *data;
	size_t size;
};

static ssize_t memory_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct memory *m = ctx;
	if (addr < BASE || addr - BASE >= m->size)
		return -EFAULT;
	size_t there = m->size - (addr - BASE);
	n = n < there ? n : there;
	memcpy(buf, m->data + (addr - BASE), n);
	return (ssize_t)n;
}

static uint64_t argument(const struct header *h, int i)
{
	switch (h->how[i] % 5) {
	case 0:
		return h->low[i];
	case 1:
		return BASE + h->low[i];
	case 2:
		return (uint64_t) - (int64_t)h->low[i];
	case 3:
		return (uint64_t)h->low[i] << 48;
	default:
		return (uint64_t)h->low[i] << (h->how[i] / 5);
	}
}

static struct call call_of(const struct header *h)
{
	static const uint32_t archs[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, 0};
	struct call call = {.arch = archs[h->arch % 4], .nr = h->nr % 600, .result = h->result};
	call.desc = syscall_lookup(call.arch, call.nr);
	for (int i = 0; i < 6; i++)
		call.args[i] = argument(h, i);
	if (h->flags & 1) {
		call.error = true;
		call.err = (int)(h->low[0] % 520);
		call.result = -call.err;
	}
	return call;
}

/* One of eight answers: not a netlink socket, or one with a known or an unknown protocol. */
static int netlink_protocol(void *ctx, pid_t pid, int fd)
{
	static const int protocols[] = {-1,           NETLINK_ROUTE,   NETLINK_SOCK_DIAG, NETLINK_AUDIT,
					NETLINK_XFRM, NETLINK_GENERIC, NETLINK_NETFILTER, 99};
	(void)pid, (void)fd;
	return protocols[*(const int *)ctx];
}

/* Names of interfaces with any bytes. */
static bool interface_name(void *ctx, pid_t pid, uint32_t index, struct buf *out)
{
	char name[] = {(char)index, (char)(index >> 8), '"', '\0'};
	(void)ctx, (void)pid;
	buf_adds(out, name);
	return name[0];
}

/*
 * Decodes in the order of a trace: the arguments that are known at entry, then the other arguments, the separator, and
 * the result.
 */
static void decode(struct emit *out, const struct header *h, const struct call *call, const struct mem *mem,
		   const char *between)
{
	struct call real;
	if (decode_inside(call, mem, &real))
		call = &real;
	int protocol = h->flags >> 5 & 7;
	const struct names names = {.netlink = netlink_protocol, .interface = interface_name, .ctx = &protocol};
	struct decode_opts opts = {
		.string_max = h->string_max, .verbose = h->flags & 2, .raw = h->flags & 4, .names = &names};
	struct decode_memo memo = {0};
	struct decode d = {.out = out, .call = call, .mem = mem, .opts = &opts, .pid = 1, .memo = &memo};
	int given = decode_enter(&d);
	FUZZ_REQUIRE(given >= 0 && given <= 6);
	/* One call in eight does not return. */
	d.leaving = h->leaving % 8 != 6;
	if (d.leaving)
		decode_exit(&d, given);
	else
		decode_vanish(&d, given);
	if (out->out->len && out->out->s[out->out->len - 1] == ',')
		buf_truncate(out->out, out->out->len - 1);
	buf_adds(out->out, between);
	decode_result(&d);
}

static void as_text(const struct header *h, const struct call *call, const struct mem *mem)
{
	struct buf text = {0};
	struct emit e;
	emit_text_init(&e, &text, h->flags >> 3 & 3);
	decode(&e, h, call, mem, ") = ");
	for (size_t i = 0; i < text.len; i++)
		FUZZ_REQUIRE((unsigned char)text.s[i] >= ' ' && text.s[i] != 0x7f);
	FUZZ_REQUIRE(text.len < 1 << 20);
	buf_free(&text);
}

static void as_json(const struct header *h, const struct call *call, const struct mem *mem)
{
	struct buf json = {0};
	struct emit e;
	emit_json_init(&e, &json);
	buf_adds(&json, "{\"args\":{");
	decode(&e, h, call, mem, "},");
	buf_addc(&json, '}');
	/* Numbers beyond 64 signed bits are valid JSON; jansson reads them as real numbers. */
	size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
	json_error_t error;
	json_t *parsed = json_loads(buf_str(&json), flags, &error);
	if (!parsed)
		fprintf(stderr, "%s in %s\n", error.text, buf_str(&json));
	FUZZ_REQUIRE(parsed);
	json_decref(parsed);
	buf_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct header h;
	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	struct memory memory = {data + sizeof(h), size - sizeof(h)};
	struct mem mem = {memory_read, &memory};
	struct call call = call_of(&h);
	as_text(&h, &call, h.leaving == 7 ? NULL : &mem);
	as_json(&h, &call, h.leaving == 7 ? NULL : &mem);
	return 0;
}
