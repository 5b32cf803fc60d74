/* SPDX-License-Identifier: MIT */
#include "base/library.h"

#include "base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define renamed                strlen
#define LIBC(X)                X(labs) X(renamed)
#define LIBC_WITH_A_MISTAKE(X) X(labs) X(no_such_function)

long no_such_function(long n);

static void functions_can_be_called(void **state)
{
	(void)state;
	static LIBRARY_STRUCT(LIBC) libc;
	struct buf why = {0};
	assert_int_equal(LIBRARY_LOAD("libc.so.6", LIBC, &libc, &why), 0);
	assert_int_equal(libc.labs(-7), 7);
	assert_int_equal(libc.renamed("four"), 4);
	assert_int_equal(LIBRARY_LOAD("libc.so.6", LIBC, &libc, &why), 0);
	assert_int_equal(why.len, 0);
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	static LIBRARY_STRUCT(LIBC_WITH_A_MISTAKE) libc;
	struct buf why = {0};
	assert_int_equal(LIBRARY_LOAD("libno-such.so.1", LIBC_WITH_A_MISTAKE, &libc, &why), -ENOSYS);
	assert_non_null(strstr(buf_str(&why), "libno-such.so.1"));
	why.len = 0;
	for (int i = 0; i < 2; i++) /* the first attempt does not leave a table that looks complete */
		assert_int_equal(LIBRARY_LOAD("libc.so.6", LIBC_WITH_A_MISTAKE, &libc, &why), -ENOSYS);
	assert_non_null(strstr(buf_str(&why), "no_such_function()"));
	buf_free(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_can_be_called),
		cmocka_unit_test(what_is_missing_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
