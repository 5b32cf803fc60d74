/* SPDX-License-Identifier: MIT */
#include "compare/compare.h"

#include "base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void every_row_is_complete(void **state)
{
	(void)state;
	size_t n;
	const struct strategy *all = strategy_all(&n);
	for (size_t i = 0; i < n; i++) {
		print_message("# %s\n", all[i].name);
		assert_non_null(all[i].what);
		assert_non_null(all[i].why);
		assert_int_equal(strncmp(all[i].program, "copy-", 5), 0);
		assert_ptr_equal(strategy_find(all[i].name), &all[i]);
		assert_ptr_equal(strategy_find(all[i].program), &all[i]);
		assert_int_equal(all[i].buffers != NULL, (all[i].flags & STRATEGY_BUFFER) != 0);
		uint64_t sizes[STRATEGY_BUFFERS_MAX];
		struct buf why = {0};
		if (all[i].buffers)
			assert_true(strategy_buffers(all[i].buffers, sizes, &why) > 0);
		assert_null(strchr(all[i].name, ','));
	}
	assert_null(strategy_find("rot13"));
}

static void lists_of_buffers(void **state)
{
	(void)state;
	uint64_t sizes[STRATEGY_BUFFERS_MAX];
	struct buf why = {0};
	assert_int_equal(strategy_buffers("1,4K,1M", sizes, &why), 3);
	assert_int_equal(sizes[0], 1);
	assert_int_equal(sizes[1], 4096);
	assert_int_equal(sizes[2], 1 << 20);
	assert_int_equal(strategy_buffers("all", sizes, &why), 23);
	assert_int_equal(sizes[22], 4 << 20);
	assert_string_equal(buf_str(&why), "");
	assert_true(strategy_buffers("4K,0", sizes, &why) < 0);
	assert_non_null(strstr(buf_str(&why), "'0' is not a buffer size"));
	assert_true(strategy_buffers("", sizes, &why) < 0);
	assert_true(strategy_buffers("12q", sizes, &why) < 0);
	assert_true(strategy_buffers("99999999999999999999", sizes, &why) < 0);
	buf_free(&why);
}

static void expected_calls_grow_as_buffers_shrink(void **state)
{
	(void)state;
	const struct strategy *rw = strategy_find("read/write");
	assert_int_equal(strategy_expected_calls(rw, 1 << 20, 1), 2 * ((1 << 20) + 1));
	assert_int_equal(strategy_expected_calls(rw, 1 << 20, 4096), 2 * (256 + 1));
	assert_int_equal(strategy_expected_calls(strategy_find("unbuffered"), 1000, 0), 2000);
}

static void small_buffers_that_are_gathered_are_not_a_call_each(void **state)
{
	(void)state;
	const struct strategy *library = strategy_find("fread/fwrite");
	assert_int_equal(strategy_expected_calls(library, 1 << 20, 1), 2 * (256 + 1));
	assert_int_equal(strategy_expected_calls(library, 1 << 20, 8192), 2 * (128 + 1));
	assert_int_equal(strategy_expected_calls(strategy_find("io_uring"), 1 << 20, 1), (1 << 17) + 1);
}

static void a_missing_copier_is_reported(void **state)
{
	(void)state;
	struct buf path = {0};
	struct buf why = {0};
	assert_int_equal(strategy_locate("copy-nothing", &path, &why), -ENOENT);
	assert_int_equal(path.len, 0);
	assert_non_null(strstr(buf_str(&why), "'copy-nothing'"));
	buf_clear(&why);
	assert_int_equal(strategy_locate("copy-read-write", &path, &why), 0);
	buf_free(&path);
	buf_free(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_complete),
		cmocka_unit_test(lists_of_buffers),
		cmocka_unit_test(expected_calls_grow_as_buffers_shrink),
		cmocka_unit_test(small_buffers_that_are_gathered_are_not_a_call_each),
		cmocka_unit_test(a_missing_copier_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
