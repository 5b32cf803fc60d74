/* SPDX-License-Identifier: MIT */
/* Decodes calls on fake memory, and compares the complete text or JSON. */
#ifndef SCTRACE_TEST_DECODE_CHECK_H
#define SCTRACE_TEST_DECODE_CHECK_H

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "syscall/call_table.h"
#include "tracee/names.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BASE 0x10000u

/* Memory from BASE on. */
static _Alignas(8) unsigned char memory[1024];

static ssize_t memory_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	if (addr < BASE || addr - BASE >= sizeof(memory))
		return -EFAULT;
	if (n > sizeof(memory) - (addr - BASE))
		n = sizeof(memory) - (addr - BASE);
	memcpy(buf, memory + (addr - BASE), n);
	return (ssize_t)n;
}

static void put(size_t at, const void *what, size_t n)
{
	memset(memory, 0, sizeof(memory));
	memcpy(memory + at, what, n);
}

enum { TEXT, JSON, VERBOSE, RAW, BOTH, NAMED, EMPTY_STRINGS, SHALLOW };

static bool i386;
/* The call `name` of the native architecture, because the tests use the structures of the C library. */
static struct call call_of(const char *name)
{
	uint32_t own = syscall_native_arch(), arch = syscall_number(own, name) >= 0 ? own : AUDIT_ARCH_X86_64;
	if (!i386)
		return (struct call){.arch = arch, .nr = syscall_number(arch, name)};
	/* For these names, libseccomp may return the numbers of socketcall(2). */
	int direct = strcmp(name, "sendmsg") == 0      ? 370
		     : strcmp(name, "recvmmsg") == 0   ? 337
		     : strcmp(name, "setsockopt") == 0 ? 366
						       : 0;
	return (struct call){.arch = AUDIT_ARCH_I386, .nr = direct ? direct : syscall_number(AUDIT_ARCH_I386, name)};
}

/* If not NULL, simulates what the kernel writes to memory during the call. */
static void (*kernel_writes)(void);

/* Descriptors from 100 on are netlink sockets; the protocol is the number minus 100. */
static int netlink_socket(void *ctx, pid_t pid, int fd)
{
	(void)ctx, (void)pid;
	return fd >= 100 ? fd - 100 : -1;
}
enum { ROUTE = 100 + NETLINK_ROUTE };

static bool interface_name(void *ctx, pid_t pid, uint32_t index, struct buf *out)
{
	(void)ctx, (void)pid;
	if (index == 1)
		buf_adds(out, "lo");
	return index == 1;
}

/* Descriptor N is "/fN". */
static bool file_name(void *ctx, pid_t pid, int fd, struct buf *out)
{
	(void)ctx, (void)pid;
	buf_addf(out, "/f%d", fd);
	return true;
}

static const struct names names = {.netlink = netlink_socket, .interface = interface_name, .fd = file_name};

static void shown(struct buf *out, const char *name, int64_t result, const uint64_t *args, int how)
{
	struct mem mem = {memory_read, NULL};
	struct decode_opts opts = {.string_max = how == EMPTY_STRINGS ? 0 : 32,
				   .verbose = how == VERBOSE,
				   .shallow = how == SHALLOW,
				   .fd_names = how == NAMED ? FD_PATHS : FD_NUMBERS,
				   .names = &names};
	struct call call = call_of(name), real;
	call.desc = syscall_lookup(call.arch, call.nr);
	struct decode_memo memo = {0};
	struct emit e;
	memcpy(call.args, args, sizeof(call.args));
	if (decode_inside(&call, &mem, &real))
		call = real;
	if (how == JSON)
		emit_json_init(&e, out);
	else
		emit_text_init(&e, out, how == RAW ? EMIT_RAW_NAMES : how == BOTH ? EMIT_BOTH_NAMES : 0);
	struct decode d = {.out = &e, .call = &call, .mem = &mem, .opts = &opts, .pid = 1, .memo = &memo};
	int from = decode_enter(&d);
	if (kernel_writes)
		kernel_writes();
	call.result = result;
	call.error = result < 0 && result > -4096;
	call.err = call.error ? (int)-result : 0;
	d.leaving = true;
	decode_exit(&d, from);
	buf_adds(out, how == JSON ? "," : ") = ");
	decode_result(&d);
}

#define CHECK_AS(how, expect, name, result, ...)                                                                       \
	do {                                                                                                           \
		struct buf out_ = {0};                                                                                 \
		shown(&out_, name, result, (const uint64_t[6]){__VA_ARGS__}, how);                                     \
		assert_string_equal(buf_str(&out_), expect);                                                           \
		buf_free(&out_);                                                                                       \
	} while (0)
#define CHECK(expect, name, result, ...) CHECK_AS(TEXT, expect, name, result, __VA_ARGS__)

#endif
