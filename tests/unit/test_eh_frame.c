/* SPDX-License-Identifier: MIT */
#include "stack/unwind.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * The header of .eh_frame_hdr in glibc and in the kernel's vDSO: a 4-byte pointer, a 4-byte count, and a table of
 * 4-byte pairs.
 */
static void headers_of_linkers(void **state)
{
	(void)state;
	const uint8_t head[16] = {1, 0x1b, 0x03, 0x3b, 0xc0, 1, 0, 0, 0x37, 2, 0, 0};
	struct eh_frame t;
	assert_int_equal(eh_frame_parse(head, sizeof(head), 0x1000, &t), 0);
	assert_int_equal(t.header, 0x1000);
	assert_int_equal(t.table, 0x100c);
	assert_int_equal(t.count, 0x237);
}

static void an_eight_byte_pointer(void **state)
{
	(void)state;
	const uint8_t head[16] = {1, 0x0c, 0x03, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0};
	struct eh_frame t;
	assert_int_equal(eh_frame_parse(head, sizeof(head), 0x2000, &t), 0);
	assert_int_equal(t.table, 0x2010);
	assert_int_equal(t.count, 5);
}

static void unknown_formats_are_refused(void **state)
{
	(void)state;
	const uint8_t heads[][16] = {
		{2, 0x1b, 0x03, 0x3b}, /* another version */
		{1, 0xff, 0x03, 0x3b}, /* no pointer to .eh_frame */
		{1, 0x1b, 0xff, 0xff}, /* no table */
		{1, 0x1b, 0x04, 0x3b}, /* an 8-byte count */
		{1, 0x1b, 0x03, 0x1b}, /* entries relative to themselves */
		{0},
	};
	struct eh_frame t;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		assert_int_equal(eh_frame_parse(heads[i], sizeof(heads[i]), 0, &t), -ENOTSUP);
	const uint8_t good[12] = {1, 0x1b, 0x03, 0x3b};
	for (size_t n = 0; n < sizeof(good); n++)
		assert_int_equal(eh_frame_parse(good, n, 0, &t), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_linkers),
		cmocka_unit_test(an_eight_byte_pointer),
		cmocka_unit_test(unknown_formats_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
