/* SPDX-License-Identifier: MIT */
#include "base/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void words_come_in_their_order(void **state)
{
	(void)state;
	struct words w = {0};
	words_add(&w, "cp");
	words_take(&w, strdup(""));
	words_add(&w, "a b");
	char **list = words_done(&w);
	assert_non_null(list);
	assert_string_equal(list[0], "cp");
	assert_string_equal(list[1], "");
	assert_string_equal(list[2], "a b");
	assert_null(list[3]);
	assert_int_equal(w.list.n, 0);
	words_free(list);
	words_free(NULL);
}

static void an_empty_list_is_valid(void **state)
{
	(void)state;
	struct words w = {0};
	char **list = words_done(&w);
	assert_non_null(list);
	assert_null(list[0]);
	words_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_come_in_their_order),
		cmocka_unit_test(an_empty_list_is_valid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
