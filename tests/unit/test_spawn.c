/* SPDX-License-Identifier: MIT */
/* The environment of a started program (-E). */
#include "tracee/spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void the_last_change_of_a_name_counts(void **state)
{
	static const char *const changes[] = {"B=2", "A", "NEW=1", "NEW=2", "C=3", "C", "D", "D=4"};
	static const char *const expected[] = {"AB=x", "E=y", "B=2", "NEW=2", "D=4"};
	(void)state;
	clearenv();
	const char *const had[] = {"A", "AB", "B", "C", "E"};
	for (size_t i = 0; i < sizeof(had) / sizeof(*had); i++)
		assert_int_equal(setenv(had[i], i == 4 ? "y" : "x", 1), 0);
	char **env = spawn_environment(changes, sizeof(changes) / sizeof(*changes));
	assert_non_null(env);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_non_null(env[i]);
		assert_string_equal(env[i], expected[i]);
	}
	assert_null(env[sizeof(expected) / sizeof(*expected)]);
	free(env);
}

static void without_changes_it_is_that_of_sctrace(void **state)
{
	(void)state;
	clearenv();
	assert_int_equal(setenv("A", "1", 1), 0);
	char **env = spawn_environment(NULL, 0);
	assert_non_null(env);
	assert_string_equal(env[0], "A=1");
	assert_null(env[1]);
	free(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_change_of_a_name_counts),
		cmocka_unit_test(without_changes_it_is_that_of_sctrace),
	};
	/* An environment variable normally selects this format, but the tests clear the environment. */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
