/* SPDX-License-Identifier: MIT */
#include "base/size.h"

#include "base/buf.h"
#include "out/width.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void prose_is_wrapped(void **state)
{
	(void)state;
	struct buf out = {0};
	width_wrap(&out, "", "one two three four five\nsix\n\na-very-very-very-long-word x\n", 21);
	assert_string_equal(buf_str(&out), "one two three four\nfive\nsix\n\na-very-very-very-long-word\nx\n");
	buf_clear(&out);
	width_wrap(&out, "", "one two three four 5 % six\n", 20);
	assert_string_equal(buf_str(&out), "one two three four\n5 % six\n");
	buf_clear(&out);
	width_wrap(&out, "• ", "ääää öööö üüüü ßßßß éé\n", 22);
	assert_string_equal(buf_str(&out), "• ääää öööö üüüü ßßßß\n  éé\n");
	buf_free(&out);
}

static void numbers_are_short(void **state)
{
	(void)state;
	struct buf out = {0};
	count_human(&out, 20971550);
	count_human(&out, 999);
	count_human(&out, 1000);
	assert_string_equal(buf_str(&out), "20,971,5509991,000");
	buf_clear(&out);
	factor_human(&out, 1.6);
	buf_addc(&out, ' ');
	factor_human(&out, 17);
	buf_addc(&out, ' ');
	factor_human(&out, 1466.4);
	assert_string_equal(buf_str(&out), "1.60 17.0 1466");
	buf_clear(&out);
	factor_interval(&out, 5.126, 12);
	buf_addc(&out, ' ');
	factor_interval(&out, 5.126, INFINITY);
	assert_string_equal(buf_str(&out), "5.13 to 12.0 above 5.13");
	buf_free(&out);
}

static void durations_have_a_unit(void **state)
{
	(void)state;
	struct buf out = {0};
	static const double times[] = {0, 35234, 12345678, 999.4e3, 999.6e6, 2.5e9, 1e-3, -4000};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		duration_in(&out, times[i], "ms");
		buf_adds(&out, ", ");
	}
	duration_in(&out, 35234, "microsecond");
	buf_adds(&out, ", ");
	duration_in(&out, 35234, NULL);
	assert_string_equal(buf_str(&out), "0 ms, 0.0352 ms, 12.3 ms, 0.999 ms, 1,000 ms, 2,500 ms, 0.00000000100 ms, "
					   "-0.00400 ms, 35.2 us, 35.2 us");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prose_is_wrapped),
		cmocka_unit_test(numbers_are_short),
		cmocka_unit_test(durations_have_a_unit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
