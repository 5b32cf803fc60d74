/* SPDX-License-Identifier: MIT */
#include "engine/bpf/shared.h"
#include "stats/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The bpf program in the kernel uses the same buckets as stats/hist.h, for all times that it distinguishes. */
static void chunks_are_the_histogram_s_buckets(void **state)
{
	(void)state;
	for (uint64_t ns = 0; ns < 1ull << 46; ns += 1 + ns / 61) {
		unsigned int bucket;
		unsigned int chunk = chunk_of(ns, &bucket);
		assert_true(chunk < CHUNKS_PER_ROW);
		assert_int_equal(chunk * CHUNK_SIZE + bucket, hist_bucket(ns));
	}
}

static void times_beyond_all_chunks_fall_into_the_last_bucket(void **state)
{
	(void)state;
	const uint64_t times[] = {1ull << 46, 1ull << 50, 1ull << 63, UINT64_MAX};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		unsigned int bucket;
		assert_int_equal(chunk_of(times[i], &bucket), CHUNKS_PER_ROW - 1);
		assert_int_equal(bucket, CHUNK_SIZE - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_are_the_histogram_s_buckets),
		cmocka_unit_test(times_beyond_all_chunks_fall_into_the_last_bucket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
