/* SPDX-License-Identifier: MIT */
/* Tests the parts of an I/O profile that need no events: costs, ranges of offsets, names of files, measurements. */
#include "base/buf.h"
#include "io/file.h"
#include "io/probe.h"
#include "io/profile.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static void a_cost_divides_where_sizes_differ(void **state)
{
	struct io_cost c = {0};
	(void)state;
	for (int i = 0; i < 10; i++)
		io_cost_add(&c, 1, 4096, 1500, 0);
	assert_false(io_cost_fit(&c).known);
	assert_null(io_cost_light(&c));
	for (int i = 0; i < 10; i++)
		io_cost_add(&c, 0, 1, 500, 0);
	struct io_fit fit = io_cost_fit(&c);
	assert_true(fit.known);
	/* The histogram keeps a time to within 1.6 %. */
	assert_float_equal(fit.call_ns, 500, 8);
	assert_float_equal(fit.page_ns, 1000, 32);
	assert_float_equal(io_tally_each(&io_cost_light(&c)->calls), 500, 8);
	io_cost_free(&c);
}

static void a_call_that_waited_does_not_count(void **state)
{
	struct io_tally t = {0};
	(void)state;
	assert_float_equal(io_tally_each(&t), 0, 0);
	for (int i = 0; i < 100; i++)
		io_tally_add(&t, i % 10 ? 60 : 1000000, 0);
	assert_float_equal(io_tally_each(&t), 60, 0);
	assert_float_equal(t.ns, 90 * 60 + 10 * 1e6, 0);
	io_tally_free(&t);
}

static void ranges_join_and_divide(void **state)
{
	struct ranges r = {0};
	(void)state;
	ranges_add(&r, 0, 10);
	ranges_add(&r, 20, 30);
	assert_int_equal(r.n, 2);
	assert_int_equal(ranges_common(&r, 5, 25), 10);
	ranges_add(&r, 10, 20);
	assert_int_equal(r.n, 1);
	assert_int_equal(ranges_common(&r, 0, 30), 30);
	assert_int_equal(ranges_common(&r, 25, 99), 5);
	ranges_remove(&r, 12, 14);
	assert_int_equal(r.n, 2);
	assert_true(ranges_common(&r, 0, 12) == 12 && ranges_common(&r, 14, 30) == 16);
	assert_int_equal(ranges_common(&r, 11, 13), 1);
	assert_int_equal(ranges_common(&r, 0, 30), 28);
	assert_int_equal(ranges_common(&r, 12, 14), 0);
	ranges_remove(&r, 0, 100);
	assert_int_equal(r.n, 0);
	for (uint64_t i = 0; i < RANGES_MAX + 10; i++)
		ranges_add(&r, 2 * i, 2 * i + 1);
	assert_int_equal(r.n, RANGES_MAX);
	ranges_remove(&r, 0, 1);
	assert_int_equal(ranges_common(&r, 0, 1), 0);
	vec_free(&r);
}

static void join(const char *folder, const char *path, const char *expected)
{
	struct buf out = {0};
	io_path_join(&out, folder, path);
	assert_string_equal(buf_str(&out), expected);
	buf_free(&out);
}

static void a_file_has_one_name(void **state)
{
	(void)state;
	join("/d/e", "f", "/d/e/f");
	join("/d/e", "./g//./f/", "/d/e/g/f");
	join("/d/e", "../f", "/d/f");
	join("/d/e", "../../../f", "/f");
	join("/d/e", "../..", "/");
	join("d", "../../f", "../f");
	join("d", "..", ".");
	join(".", "f", "f");
	join("", "./d//f/.", "d/f");
	join("", "./", ".");
	join("", "../../f", "../../f");
	join("/d", "/", "/");
	join("/d", "//e/./f/", "/e/f");
	join("/d", "/../e", "/e");
	join("/d", "", "");
}

/* link/.. may be any directory. */
static void a_directory_that_may_be_a_link_is_kept(void **state)
{
	(void)state;
	join("/d", "link/../f", "/d/link/../f");
	join("/d", "../link/../f", "/link/../f");
	join("/d", "/e/link/../f", "/e/link/../f");
	join("", "link/../f", "link/../f");
}

/* Returns the number of entries of a directory, including "." and "..". */
static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Half of the writes have 128 bytes, and half have 384. The largest write is longer than the recommended buffer. */
static const struct io_cost small = {.classes = {[0] = {.bytes = 12800, .calls.n = 100},
						 [1] = {.bytes = 38400, .calls.n = 100},
						 [9] = {.bytes = 1e9, .calls.n = 1}}};

static void writes_are_measured_beside_a_file(void **state)
{
	char folder[] = "/var/tmp/sctrace-test-XXXXXX", file[64];
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/out", folder);
	double part = io_probe_joined(file, &small, 0, 65536);
	int left = entries(folder);
	double much_slower = io_probe_joined(file, &small, 1e12, 65536);
	rmdir(folder);
	assert_int_equal(left, 2);
	/* On every file system, 256 calls take longer than one. NAN: this one has no O_TMPFILE. */
	assert_true(isnan(part) || (part > 0 && part <= 1));
	assert_true(isnan(much_slower));
	assert_true(isnan(io_probe_joined(file, &small, 0, 65536))); /* the folder is gone */
	assert_true(isnan(io_probe_joined("out", &small, 0, 65536)));
	assert_true(isnan(io_probe_joined("/var/tmp/out", &(struct io_cost){0}, 0, 65536)));
}

static void a_failed_measurement_is_unknown(void **state)
{
	struct rlimit before, low = {.rlim_cur = 4096};
	(void)state;
	getrlimit(RLIMIT_FSIZE, &before);
	low.rlim_max = before.rlim_max;
	void (*former)(int) = signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &low);
	double part = io_probe_joined("/var/tmp/out", &small, 0, 65536);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, former);
	assert_true(isnan(part));
}

static void the_return_from_a_call_takes_no_negative_time(void **state)
{
	(void)state;
	double ns = io_probe_return_ns();
	assert_true(ns >= 0 && isfinite(ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cost_divides_where_sizes_differ),
		cmocka_unit_test(a_call_that_waited_does_not_count),
		cmocka_unit_test(ranges_join_and_divide),
		cmocka_unit_test(a_file_has_one_name),
		cmocka_unit_test(a_directory_that_may_be_a_link_is_kept),
		cmocka_unit_test(writes_are_measured_beside_a_file),
		cmocka_unit_test(a_failed_measurement_is_unknown),
		cmocka_unit_test(the_return_from_a_call_takes_no_negative_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
