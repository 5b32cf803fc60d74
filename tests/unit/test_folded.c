/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "stack/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Completes a stack. */
static void end(struct stack_folded *f, const char *leaf, uint64_t weight)
{
	struct buf stack = {0};
	stack_folded_take(f, &stack);
	stack_folded_add(f, buf_str(&stack), leaf, weight);
	buf_free(&stack);
}

/* Adds one stack, innermost frame first, like stack_walk(). */
static void give(struct stack_folded *f, const char *const *functions, const char *leaf, uint64_t weight)
{
	stack_folded_begin(f, "prog");
	for (unsigned i = 0; functions[i]; i++)
		assert_true(stack_folded_frame(f, &(struct stack_frame){.index = i, .function = functions[i]}));
	end(f, leaf, weight);
}

static void equal_stacks_add_up_and_lines_are_sorted(void **state)
{
	(void)state;
	struct stack_folded f = {0};
	struct buf b = {0};
	give(&f, (const char *[]){"g", "f", "main", NULL}, "write", 2);
	give(&f, (const char *[]){"f", "main", NULL}, "read", 1);
	give(&f, (const char *[]){"g", "f", "main", NULL}, "write", 3);
	stack_folded_text(&b, &f);
	assert_string_equal(buf_str(&b), "prog;main;f;g;write 5\nprog;main;f;read 1\n");
	buf_free(&b);
	stack_folded_free(&f);
}

static void frames_without_a_name_are_addresses(void **state)
{
	(void)state;
	struct stack_folded f = {0};
	struct buf b = {0};
	stack_folded_begin(&f, "a;b\n");
	stack_folded_frame(&f, &(struct stack_frame){.ip = 0x7f00, .module = NULL});
	stack_folded_frame(&f, &(struct stack_frame){.ip = 0x7f01, .module = "/lib/libx.so", .module_addr = 0x1a});
	end(&f, "write", 1);
	stack_folded_text(&b, &f);
	assert_string_equal(buf_str(&b), "a:b\\n;libx.so+0x1a;0x7f00;write 1\n");
	buf_free(&b);
	stack_folded_free(&f);
}

static void a_frame_as_text(void **state)
{
	(void)state;
	struct buf b = {0};
	stack_frame_text(&b, &(struct stack_frame){.module = "/bin/x",
						   .module_addr = 0x11,
						   .function = "f",
						   .offset = 1,
						   .file = "x.c",
						   .line = 3});
	assert_string_equal(buf_str(&b), "/bin/x(f+0x1) [0x11] x.c:3");
	buf_clear(&b);
	stack_frame_text(&b, &(struct stack_frame){.ip = 0x99, .module_addr = 0x99});
	assert_string_equal(buf_str(&b), "?() [0x99]");
	buf_free(&b);
}

static void too_many_stacks_share_a_line(void **state)
{
	(void)state;
	struct stack_folded f = {0};
	struct buf b = {0};
	char leaf[16];
	for (int i = 0; i < 100200; i++) {
		snprintf(leaf, sizeof(leaf), "f%d", i);
		stack_folded_begin(&f, "a");
		end(&f, leaf, 1);
	}
	assert_int_equal(f.lines.n, 100000);
	stack_folded_text(&b, &f);
	assert_memory_equal(buf_str(&b), "(all others) 201\n", 17);
	buf_free(&b);
	stack_folded_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_add_up_and_lines_are_sorted),
		cmocka_unit_test(frames_without_a_name_are_addresses),
		cmocka_unit_test(a_frame_as_text),
		cmocka_unit_test(too_many_stacks_share_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
