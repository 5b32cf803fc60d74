/* SPDX-License-Identifier: MIT */
/* Compares the table of calls with libseccomp and with the kernel's own list. */
#include "base/buf.h"
#include "event.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_no_duplicates(void **state)
{
	(void)state;
	for (size_t i = 0; syscall_row(i); i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(syscall_row(i)->name, syscall_row(j)->name) == 0 &&
			    syscall_row(i)->arch == syscall_row(j)->arch)
				fail_msg("%s is there twice", syscall_row(i)->name);
}

static void test_numbers_agree(void **state)
{
	(void)state;
	for (size_t i = 0; syscall_row(i); i++) {
		const struct syscall_desc *d = syscall_row(i);
		int nr = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, d->name);
		if (d->number && nr >= 0 && nr != d->number)
			fail_msg("%s: %d here, %d in libseccomp", d->name, d->number, nr);
		if (!d->number && (!d->arch || d->arch == AUDIT_ARCH_X86_64) && nr < 0 &&
		    seccomp_syscall_resolve_name(d->name) == __NR_SCMP_ERROR)
			fail_msg("%s: no such call in libseccomp", d->name);
		if (d->arch && d->arch != AUDIT_ARCH_X86_64)
			continue;
		nr = (int)syscall_number(AUDIT_ARCH_X86_64, d->name);
		if (nr >= 0 && syscall_lookup(AUDIT_ARCH_X86_64, nr) != d)
			fail_msg("%s: its number %d leads elsewhere", d->name, nr);
	}
}

/* All calls of x86-64 that libseccomp or the headers know are described. */
static void test_all_are_described(void **state)
{
	(void)state;
	for (int nr = 0; nr < 1024; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, nr);
		const struct syscall_desc *d = syscall_lookup(AUDIT_ARCH_X86_64, nr);
		if (name && (!d || strcmp(d->name, name) != 0))
			fail_msg("%s (%d) is not described", name, nr);
		free(name);
	}
}

static void test_names(void **state)
{
	(void)state;
	struct buf b = {0};
	syscall_name(&b, AUDIT_ARCH_X86_64, 0);
	syscall_name(&b, AUDIT_ARCH_X86_64, 0x1000);
	syscall_name(&b, AUDIT_ARCH_X86_64, 0x40000000);
	syscall_name(&b, AUDIT_ARCH_I386, 3);
	syscall_name(&b, AUDIT_ARCH_I386, 7);
	syscall_name(&b, AUDIT_ARCH_AARCH64, 63);
	syscall_name(&b, AUDIT_ARCH_X86_64, -1);
	syscall_name(&b, AUDIT_ARCH_S390X, 4);
	syscall_name(&b, AUDIT_ARCH_ARM, 6);
	syscall_name(&b, AUDIT_ARCH_ARM, 0xf0005); /* one of ARM's private calls */
	assert_string_equal(buf_str(&b),
			    "readsyscall_0x1000read#x32readwaitpidreadsyscall_0xffffffffffffffffwritecloseset_tls");
	buf_free(&b);
	assert_int_equal(syscall_number(AUDIT_ARCH_X86_64, "mseal"), 462);
	assert_int_equal(syscall_number(AUDIT_ARCH_X86_64, "nonesuch"), -1);
}

static void test_bytes(void **state)
{
	(void)state;
	static const char *const yes[] = {"read",   "write",   "pread64",  "readv",
					  "sendto", "recvmsg", "sendfile", "splice"};
	static const char *const no[] = {"close", "mmap", "lseek", "poll", "getpid"};
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(syscall_returns_bytes(AUDIT_ARCH_X86_64, syscall_number(AUDIT_ARCH_X86_64, yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(syscall_returns_bytes(AUDIT_ARCH_X86_64, syscall_number(AUDIT_ARCH_X86_64, no[i])));
}

/* What calls change about names, and of which descriptors. */
static void test_changed(void **state)
{
	enum { CWD = AT_FDCWD, ANY = 0 };
	static const struct {
		const char *name;
		uint64_t args[3];
		int64_t result;
		int err;
		enum syscall_changes what;
		int first, last;
	} calls[] = {
		{"read", {3}, 10, 0, CHANGES_NOTHING, ANY, ANY},
		{"openat", {(uint32_t)CWD}, 7, 0, CHANGES_FDS, 7, 7},
		{"openat", {(uint32_t)CWD}, -1, ENOENT, CHANGES_NOTHING, ANY, ANY},
		{"close", {5}, 0, 0, CHANGES_FDS, 5, 5},
		{"close", {5}, -1, EIO, CHANGES_FDS, 5, 5},
		{"dup3", {3, 9}, 9, 0, CHANGES_FDS, 9, 9},
		{"fcntl", {3, F_DUPFD_CLOEXEC, 10}, 12, 0, CHANGES_FDS, 12, 12},
		{"fcntl", {3, F_SETFD, 1}, 0, 0, CHANGES_NOTHING, ANY, ANY},
		{"close_range", {3, 20}, 0, 0, CHANGES_FDS, 3, 20},
		{"connect", {4}, -1, EINPROGRESS, CHANGES_ADDRESSES, 4, 4},
		{"connect", {4}, -1, ECONNREFUSED, CHANGES_NOTHING, ANY, ANY},
		{"chdir", {0}, 0, 0, CHANGES_FDS, CWD, CWD},
		{"renameat2", {0}, 0, 0, CHANGES_FILES, ANY, ANY},
		{"signalfd4", {3}, 3, 0, CHANGES_FILES, ANY, ANY},
		{"signalfd4", {(uint64_t)-1}, 3, 0, CHANGES_FDS, 3, 3},
		{"pipe2", {0}, 0, 0, CHANGES_OTHERS, ANY, ANY},
		{"prctl", {0}, 0, 0, CHANGES_OTHERS, ANY, ANY},
		{"io_uring_setup", {8}, 3, 0, CHANGES_ALL, ANY, ANY},
	};
	(void)state;
	const uint32_t arch = syscall_native_arch();
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct call c = {.arch = arch,
				 .nr = syscall_number(arch, calls[i].name),
				 .result = calls[i].result,
				 .error = calls[i].err != 0,
				 .err = calls[i].err};
		memcpy(c.args, calls[i].args, sizeof(calls[i].args));
		c.desc = syscall_lookup(arch, c.nr);
		const struct syscall_changed r = syscall_changed(&c);
		if (r.what != calls[i].what || r.first != (uint32_t)calls[i].first || r.last != (uint32_t)calls[i].last)
			fail_msg("%s, row %zu: %d, %u to %u", calls[i].name, i, (int)r.what, r.first, r.last);
		c.arch = arch == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64;
		if (calls[i].what != CHANGES_NOTHING)
			assert_int_equal(syscall_changed(&c).what, CHANGES_ALL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_duplicates),
		cmocka_unit_test(test_numbers_agree),
		cmocka_unit_test(test_all_are_described),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
