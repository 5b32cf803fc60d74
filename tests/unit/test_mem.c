/* SPDX-License-Identifier: MIT */
#include "tracee/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* Fake memory of three pages at 0x10000, the last of which is only readable in its first half. Counts the reads. */
#define BASE 0x10000
#define SIZE (2 * MEM_PAGE + MEM_PAGE / 2)

struct fake {
	unsigned char bytes[SIZE];
	int reads;
};

static ssize_t read_fake(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct fake *f = ctx;
	f->reads++;
	if (addr < BASE || addr >= BASE + SIZE)
		return -EFAULT;
	size_t left = (size_t)(BASE + SIZE - addr);
	n = n < left ? n : left;
	memcpy(buf, f->bytes + (addr - BASE), n);
	return (ssize_t)n;
}

static void test_pages(void **state)
{
	(void)state;
	static struct fake f;
	static struct mem_pages pages;
	const struct mem under = {read_fake, &f};
	const struct mem m = {mem_read_pages, &pages};
	unsigned char got[64];
	pages.under = &under;
	for (size_t i = 0; i < SIZE; i++)
		f.bytes[i] = (unsigned char)(i * 7 + i / 256);
	for (size_t at = 0; at < MEM_PAGE - 64; at += 16) {
		assert_int_equal(mem_get(&m, BASE + at, got, 64), 0);
		assert_memory_equal(got, f.bytes + at, 64);
	}
	assert_int_equal(f.reads, 1);
	/* Reads across the end of a page, in a partly readable page, and where there is no memory. */
	assert_int_equal(mem_get(&m, BASE + MEM_PAGE - 10, got, 64), 0);
	assert_memory_equal(got, f.bytes + MEM_PAGE - 10, 64);
	assert_int_equal(mem_get(&m, BASE + SIZE - 64, got, 64), 0);
	assert_memory_equal(got, f.bytes + SIZE - 64, 64);
	assert_int_equal(mem_get(&m, BASE + SIZE - 32, got, 64), -EFAULT);
	assert_int_equal(mem_get(&m, 16, got, 1), -EFAULT);
}

/* Reads fail for pages that are not present, and do not make them present. */
static void test_present(void **state)
{
	pid_t pid = getpid();
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char buf[64];
	(void)state;
	char *m = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(m != MAP_FAILED);
	madvise(m, 3 * page, MADV_NOHUGEPAGE);
	memset(m, 'x', page);
	assert_int_equal(mem_read_present(&pid, (uintptr_t)m, buf, sizeof(buf)), sizeof(buf));
	assert_int_equal(mem_read_present(&pid, (uintptr_t)m + page - 10, buf, sizeof(buf)), 10);
	assert_int_equal(mem_read_present(&pid, (uintptr_t)m + page, buf, sizeof(buf)), -EFAULT);
	m[page] = 1;
	assert_int_equal(mem_read_present(&pid, (uintptr_t)m + page - 10, buf, sizeof(buf)), sizeof(buf));
	munmap(m, 3 * page);
	assert_false(mem_serves_pages(pid));
	int fd = (int)syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */);
	if (fd >= 0) {
		assert_true(mem_serves_pages(pid));
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_pages), cmocka_unit_test(test_present)};
	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
