/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/escape.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Text that is escaped, and the expected results without and with `hex`. */
struct row {
	const char *bytes;
	size_t n;
	const char *plain, *hex;
};
#define ROW(bytes, plain, hex)                                                                                         \
	{                                                                                                              \
		bytes, sizeof(bytes) - 1, plain, hex                                                                   \
	}

static const struct row rows[] = {
	ROW("", "", ""),
	ROW("az AZ~", "az AZ~", "\\x61\\x7a\\x20\\x41\\x5a\\x7e"),
	ROW("\t\n\v\f\r\"\\", "\\t\\n\\v\\f\\r\\\"\\\\", "\\x09\\x0a\\x0b\\x0c\\x0d\\x22\\x5c"),
	ROW("\a\b\033", "\\7\\10\\33", "\\x07\\x08\\x1b"), /* strace has no letters for \a and \b */
	ROW("\0x", "\\0x", "\\x00\\x78"),
	ROW("\0"
	    "7",
	    "\\0007", "\\x00\\x37"), /* a digit follows, so the escape has three digits */
	ROW("\0"
	    "8",
	    "\\08", "\\x00\\x38"), /* 8 is not an octal digit */
	ROW("\x7f\x80\xff", "\\177\\200\\377", "\\x7f\\x80\\xff"),
	ROW("\037"
	    "0",
	    "\\0370", "\\x1f\\x30"),
	ROW("\0\0\0\0", "\\0\\0\\0\\0", "\\x00\\x00\\x00\\x00"),
};

static void c_strings_are_escaped_like_those_of_strace(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf b = {0};
		escape_c(&b, rows[i].bytes, rows[i].n, false);
		assert_string_equal(buf_str(&b), rows[i].plain);
		buf_clear(&b);
		escape_c(&b, rows[i].bytes, rows[i].n, true);
		assert_string_equal(buf_str(&b), rows[i].hex);
		buf_free(&b);
	}
}

/* escape_c() looks at eight bytes at once. Each byte must have the same escape at each place among them. */
static void each_byte_is_escaped_at_each_place(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++)
		for (size_t at = 0; at < 18; at++) {
			char text[] = "abcdefghijklmnopqr", byte = (char)c;
			struct buf whole = {0}, parts = {0};
			text[at] = byte;
			escape_c(&whole, text, 18, false);
			escape_c(&parts, text, at, false);
			escape_c(&parts, &byte, 1, false);
			escape_c(&parts, text + at + 1, 17 - at, false);
			assert_string_equal(buf_str(&whole), buf_str(&parts));
			buf_free(&whole);
			buf_free(&parts);
		}
}

static void numbers_are_appended_with_their_digits(void **state)
{
	(void)state;
	struct buf b = {0};
	buf_add_decimal(&b, 0, 0);
	buf_addc(&b, ' ');
	buf_add_decimal(&b, UINT64_MAX, 1);
	buf_addc(&b, ' ');
	buf_add_decimal(&b, 42, 6);
	buf_addc(&b, ' ');
	buf_add_signed(&b, INT64_MIN);
	buf_addc(&b, ' ');
	buf_add_bits(&b, UINT64_MAX, 3, 1);
	buf_addc(&b, ' ');
	buf_add_bits(&b, 0xbeef, 4, 8);
	assert_string_equal(buf_str(&b),
			    "0 18446744073709551615 000042 -9223372036854775808 1777777777777777777777 0000beef");
	buf_free(&b);
}

/* Each power of 10 has one more digit than the number before it. */
static void numbers_have_no_digit_too_many(void **state)
{
	(void)state;
	struct buf b = {0};
	char expected[32];
	uint64_t power = 1;
	for (unsigned i = 0; i < 20; i++, power *= 10)
		for (uint64_t v = power - 1; v <= power + 1; v++)
			for (int digits = 1; digits < 24; digits++) {
				buf_clear(&b);
				buf_add_decimal(&b, v, (unsigned)digits);
				snprintf(expected, sizeof(expected), "%0*" PRIu64, digits, v);
				assert_string_equal(buf_str(&b), expected);
			}
	buf_free(&b);
}

static void fields_of_csv_are_quoted_if_needed(void **state)
{
	(void)state;
	static const struct {
		const char *text, *field;
	} fields[] = {{"", ""},
		      {"plain text", "plain text"},
		      {"a,b", "\"a,b\""},
		      {"say \"x\"", "\"say \"\"x\"\"\""},
		      {"two\nlines", "\"two\nlines\""},
		      {"=1+1", "\\x3d1+1"},
		      {"=", "="},
		      {"-O2", "-O2"},
		      {"-cmd(1,2)", "\"\\x2dcmd(1,2)\""}};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct buf b = {0};
		escape_csv(&b, fields[i].text);
		assert_string_equal(buf_str(&b), fields[i].field);
		buf_free(&b);
	}
}

static void words_are_quoted_for_a_shell(void **state)
{
	(void)state;
	struct buf b = {0};
	static const char *const words[] = {"ls", "", "a b", "it's", "--x=/y:z", "$HOME"};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		escape_shell(&b, words[i], strlen(words[i]));
		buf_addc(&b, ' ');
	}
	assert_string_equal(buf_str(&b), "ls '' 'a b' 'it'\\''s' --x=/y:z '$HOME' ");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c_strings_are_escaped_like_those_of_strace),
		cmocka_unit_test(each_byte_is_escaped_at_each_place),
		cmocka_unit_test(numbers_are_appended_with_their_digits),
		cmocka_unit_test(numbers_have_no_digit_too_many),
		cmocka_unit_test(fields_of_csv_are_quoted_if_needed),
		cmocka_unit_test(words_are_quoted_for_a_shell),
	};
	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
