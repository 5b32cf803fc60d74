/* SPDX-License-Identifier: MIT */
/* Runs the decoders on fake memory, and compares their text and JSON. */
#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BASE 0x10000u

/* Memory that begins at BASE and ends after `n` bytes. */
struct fake {
	const void *bytes;
	size_t n;
};

static ssize_t fake_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct fake *f = ctx;
	if (addr < BASE || addr - BASE >= f->n)
		return -EFAULT;
	if (n > f->n - (addr - BASE))
		n = f->n - (addr - BASE);
	memcpy(buf, (const char *)f->bytes + (addr - BASE), n);
	return (ssize_t)n;
}

struct shown {
	const char *name;
	uint64_t args[6];
	int64_t result;
	struct fake mem;
	unsigned flags;
	bool json, verbose;
};

/* Compares the text of a whole call: arguments and result. */
static void check(const struct shown *s, const char *expect)
{
	struct fake f = s->mem;
	struct mem mem = {fake_read, &f};
	struct decode_opts opts = {.string_max = 32, .verbose = s->verbose};
	struct call call = {.arch = AUDIT_ARCH_X86_64, .nr = syscall_number(AUDIT_ARCH_X86_64, s->name)};
	call.desc = syscall_lookup(call.arch, call.nr);
	memcpy(call.args, s->args, sizeof(call.args));
	struct buf out = {0};
	struct emit e;
	if (s->json)
		emit_json_init(&e, &out);
	else
		emit_text_init(&e, &out, s->flags);
	struct decode d = {.out = &e, .call = &call, .mem = &mem, .opts = &opts, .pid = 1};
	int from = decode_enter(&d);
	call.result = s->result;
	call.error = s->result < 0 && s->result > -4096;
	call.err = call.error ? (int)-s->result : 0;
	d.leaving = true;
	decode_exit(&d, from);
	buf_adds(&out, s->json ? "," : ") = ");
	decode_result(&d);
	assert_string_equal(buf_str(&out), expect);
	buf_free(&out);
}

#define STR(s)                                                                                                         \
	{                                                                                                              \
		(s), sizeof(s)                                                                                         \
	}

static void test_files(void **state)
{
	(void)state;
	check(&(struct shown){.name = "openat",
			      .args = {(uint64_t)AT_FDCWD, BASE, O_RDONLY | O_CLOEXEC},
			      .result = 3,
			      .mem = STR("/etc/ld.so.cache")},
	      "AT_FDCWD, \"/etc/ld.so.cache\", O_RDONLY|O_CLOEXEC) = 3");
	check(&(struct shown){.name = "open",
			      .args = {BASE, O_WRONLY | O_CREAT | O_TRUNC, 0644},
			      .result = -ENOENT,
			      .mem = STR("x")},
	      "\"x\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = -1 ENOENT (No such file or directory)");
	check(
		&(struct shown){
			.name = "read", .args = {3, BASE, 832}, .result = 12, .mem = STR("\177ELF\2\1\1\0\0\0\0\0")},
		"3, \"\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\", 832) = 12");
	check(&(struct shown){.name = "read", .args = {3, BASE, 832}, .result = -EBADF, .mem = STR("")},
	      "3, 0x10000, 832) = -1 EBADF (Bad file descriptor)");
	check(&(struct shown){.name = "write", .args = {1, 0x99, 5}, .result = -EFAULT, .mem = STR("")},
	      "1, 0x99, 5) = -1 EFAULT (Bad address)");
	check(&(struct shown){.name = "write",
			      .args = {1, BASE, 40},
			      .result = 40,
			      .mem = STR("0123456789012345678901234567890123456789")},
	      "1, \"01234567890123456789012345678901\"..., 40) = 40");
	check(&(struct shown){.name = "close", .args = {7}, .result = 0, .mem = STR("")}, "7) = 0");
}

static void test_json(void **state)
{
	(void)state;
	check(&(struct shown){.name = "openat",
			      .args = {(uint64_t)AT_FDCWD, BASE, O_RDONLY},
			      .result = 3,
			      .mem = STR("/a\n\x1b\xc3\xa9"),
			      .json = true},
	      "\"dirfd\":{\"raw\":18446744073709551516,\"value\":\"AT_FDCWD\"},"
	      "\"pathname\":{\"raw\":65536,\"value\":\"/a\\u000a\\u001b\xc3\xa9\"},"
	      "\"flags\":{\"raw\":0,\"value\":\"O_RDONLY\"},\"result\":3");
	check(
		&(struct shown){
			.name = "write", .args = {1, BASE, 2}, .result = -EPIPE, .mem = STR("\xff\xfe"), .json = true},
		"\"fd\":{\"raw\":1,\"value\":1},\"buf\":{\"raw\":65536,\"value\":{\"hex\":\"fffe\"}},"
		"\"count\":{\"raw\":2,\"value\":2},\"result\":-1,\"errno\":\"EPIPE\",\"error\":\"Broken pipe\"");
	check(&(struct shown){.name = "close", .args = {5}, .result = -512, .mem = STR(""), .json = true},
	      "\"fd\":{\"raw\":5,\"value\":5},\"result\":-512,\"errno\":\"ERESTARTSYS\","
	      "\"error\":\"To be restarted if SA_RESTART is set\"");
	check(&(struct shown){.name = "close", .args = {5}, .result = -524, .mem = STR("")},
	      "5) = -1 ENOTSUPP (Operation is not supported)");
	assert_int_equal(decode_errno_number("ENOTSUPP"), 524);
	assert_int_equal(decode_errno_number("EPIPE"), EPIPE);
	assert_null(decode_errno_name(520));
}

static void test_execve(void **state)
{
	(void)state;
	struct {
		uint64_t argv[3], envp[3];
		char path[8], arg[8];
	} m = {{BASE + 48, BASE + 56, 0}, {BASE + 56, BASE + 56, 0}, "/bin/ls", "-l"};
	check(
		&(struct shown){
			.name = "execve", .args = {BASE + 48, BASE, BASE + 24}, .result = 0, .mem = {&m, sizeof(m)}},
		"\"/bin/ls\", [\"/bin/ls\", \"-l\"], 0x10018 /* 2 vars */) = 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_execve),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
