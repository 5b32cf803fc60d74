/* SPDX-License-Identifier: MIT */
#include "engine/ptrace/tracer.h"

#include "syscall/call_table.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* Interprets a seccomp filter as the kernel does. Knows loads of a word, comparisons with a constant, and returns. */
static uint32_t run(const struct call_filter *f, uint32_t arch, uint32_t nr)
{
	struct seccomp_data data = {.nr = (int)nr, .arch = arch};
	uint32_t a = 0;
	for (size_t pc = 0; pc < f->len; pc++) {
		const struct sock_filter *i = &f->code[pc];
		if (i->code == (BPF_RET | BPF_K))
			return i->k;
		if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
			memcpy(&a, (const char *)&data + i->k, sizeof(a));
			continue;
		}
		int op = BPF_OP(i->code);
		bool yes = op == BPF_JEQ ? a == i->k : op == BPF_JGT ? a > i->k : a >= i->k;
		assert_true(op == BPF_JEQ || op == BPF_JGT || op == BPF_JGE);
		pc += yes ? i->jt : i->jf;
	}
	fail_msg("the program has no end for call %u", nr);
	return 0;
}

static void set(struct call_set *s, int nr)
{
	s->bits[nr / 64] |= UINT64_C(1) << (nr % 64);
}

static void check(const struct call_set *only)
{
	uint32_t native = syscall_native_arch();
	struct call_filter f = {0};
	call_filter_build(&f, only);
	assert_true(f.len <= BPF_MAXINSNS);
	for (int nr = 0; nr < CALL_SET_MAX + 64; nr++) {
		bool wanted = nr >= CALL_SET_MAX || only->bits[nr / 64] >> (nr % 64) & 1 || nr == SYS_userfaultfd ||
			      nr == SYS_mount || nr == SYS_fsopen;
		bool stops = wanted || !syscall_name_known(native, nr);
		assert_int_equal(run(&f, native, (uint32_t)nr), stops ? SECCOMP_RET_TRACE : SECCOMP_RET_ALLOW);
		assert_int_equal(run(&f, AUDIT_ARCH_I386, (uint32_t)nr), SECCOMP_RET_TRACE);
		assert_int_equal(run(&f, native, 0x40000000u + (uint32_t)nr), SECCOMP_RET_TRACE);
	}
	assert_int_equal(run(&f, native, UINT32_MAX), SECCOMP_RET_TRACE);
	call_filter_free(&f);
}

static void only_wanted_calls_stop(void **state)
{
	struct call_set only = {0};
	(void)state;
	check(&only);
	set(&only, SYS_getppid);
	check(&only);
	for (int nr = 0; nr < CALL_SET_MAX; nr += 2)
		set(&only, nr);
	check(&only);
	memset(&only, 0xff, sizeof(only));
	check(&only);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(only_wanted_calls_stop)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
