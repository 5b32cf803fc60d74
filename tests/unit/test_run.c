#include "base/buf.h"
#include "run/run.h"
#include "stats/summary.h"

#include <errno.h>
#include <linux/audit.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/sctrace-test-run.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path_of("a.json"));
	unlink(path_of("link.json"));
	return rmdir(folder);
}

static void write_file(const char *name, const char *text, size_t len)
{
	FILE *f = fopen(path_of(name), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static json_t *sample(void)
{
	char *argv[] = {"sctrace", "-c", "tr\xff", NULL};
	json_t *run = run_new("count", 3, argv, NULL);
	struct summary s = {0};
	struct summary_group *g = summary_group(&s, "pid 12", 12);
	for (int i = 1; i <= 100; i++)
		summary_record(
			&s, g, AUDIT_ARCH_X86_64, 0,
			&(struct call_outcome){
				.end = CALL_RETURNED, .ns = 1000 * i, .cost_ns = 100, .spread_ns = 5, .bytes = 4096});
	summary_record(&s, g, AUDIT_ARCH_X86_64, 0,
		       &(struct call_outcome){.end = CALL_RETURNED, .ns = 500, .error = true, .err = ENOENT});
	summary_record(&s, g, AUDIT_ARCH_X86_64, 231, &(struct call_outcome){.end = CALL_UNFINISHED});
	assert_int_equal(run_add_summary(run, &s), 0);
	summary_free(&s);
	return run;
}

static void a_summary_survives_the_file(void **state)
{
	(void)state;
	struct buf why = {0};
	json_t *run = sample();
	assert_int_equal(run_save(run, path_of("a.json"), &why), 0);
	json_decref(run);
	run = run_load(path_of("a.json"), &why);
	assert_non_null(run);
	assert_string_equal(run_kind(run), "count");
	struct summary s = {0};
	assert_int_equal(run_get_summary(run, &s, &why), 0);
	const struct summary_group *g = s.groups.v[0];
	assert_string_equal(g->name, "pid 12");
	const struct call_stats *c = g->calls.v[0];
	assert_int_equal(c->entered, 101);
	assert_int_equal(c->bytes, 409600);
	assert_int_equal(c->errors, 1);
	assert_true(c->min_ns == 500 && c->max_ns == 99900);
	assert_true(c->ns == 100 * 5050 * 10 - 100 * 100 + 500);
	assert_true(call_stats_consistent(c));
	assert_int_equal(g->errnos.v[0].err, ENOENT);
	assert_int_equal(call_stats_unfinished(g->calls.v[1]), 1);
	const json_t *row = json_array_get(run_results(run), 0);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "read");
	assert_true(fabs(json_real_value(json_object_get(row, "p50_ns")) / 49900 - 1) < 0.04);
	summary_free(&s);
	json_decref(run);
	buf_free(&why);
}

static void a_changed_row_is_refused(void **state)
{
	(void)state;
	struct buf why = {0};
	static const char *const keys[] = {"entered", "returned", "errors", "histogram_ns", "arch", "total_ns"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		json_t *run = sample();
		struct summary s = {0};
		json_object_set_new(json_array_get(run_results(run), 0), keys[i], json_string("7"));
		assert_int_equal(run_get_summary(run, &s, &why), -EINVAL);
		summary_free(&s);
		json_decref(run);
	}
	json_t *run = sample();
	struct summary s = {0};
	json_object_set_new(json_array_get(run_results(run), 0), "entered", json_integer(3));
	buf_clear(&why);
	assert_int_equal(run_get_summary(run, &s, &why), -EINVAL);
	assert_non_null(strstr(buf_str(&why), "row 1"));
	summary_free(&s);
	json_decref(run);
	buf_free(&why);
}

/* Cut at every length: never a crash, always one sentence that names the file. */
static void truncated_files_are_refused(void **state)
{
	(void)state;
	struct buf text = {0};
	struct buf why = {0};
	json_t *run = sample();
	assert_int_equal(run_dump(run, &text), 0);
	json_decref(run);
	for (size_t len = 0; len < text.len - 2; len += 37) {
		write_file("a.json", text.s, len);
		buf_clear(&why);
		assert_null(run_load(path_of("a.json"), &why));
		assert_non_null(strstr(why.s, "a.json"));
		assert_non_null(strstr(why.s, "cut short"));
	}
	buf_free(&why);
	buf_free(&text);
}

static void foreign_and_newer_files_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} files[] = {
		{"hello", "not JSON"},
		{"{\"a\": 1}", "no run that sctrace saved"},
		{"[1, 2]", "no run that sctrace saved"},
		{"{\"schema\": \"sctrace-run\"}", "damaged"},
		{"{\"schema\": \"sctrace-run\", \"schema_version\": 2, \"sctrace_version\": \"9.1\"}", "sctrace 9.1"},
		{"{\"schema\": \"sctrace-run\", \"schema_version\": 1, \"results\": []}", "what kind"},
		{"{\"schema\": \"sctrace-run\", \"schema_version\": 1, \"kind\": \"count\", \"results\": 1}",
		 "no results"},
	};
	struct buf why = {0};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		write_file("a.json", files[i].text, strlen(files[i].text));
		buf_clear(&why);
		assert_null(run_load(path_of("a.json"), &why));
		assert_non_null(strstr(why.s, files[i].says));
	}
	buf_clear(&why);
	assert_null(run_load(path_of("missing.json"), &why));
	assert_non_null(strstr(why.s, "No such file"));
	buf_clear(&why);
	assert_null(run_load(folder, &why));
	assert_non_null(strstr(why.s, "folder"));
	buf_free(&why);
}

static void saving_is_careful(void **state)
{
	(void)state;
	struct buf why = {0};
	struct stat st;
	json_t *run = sample();
	assert_int_equal(run_save(run, path_of("a.json"), &why), 0);
	assert_int_equal(stat(path_of("a.json"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* A link in one's own folder is followed and stays; in a folder like /tmp it is refused. */
	assert_int_equal(symlink("a.json", path_of("link.json")), 0);
	assert_int_equal(run_save(run, path_of("link.json"), &why), 0);
	assert_int_equal(lstat(path_of("link.json"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(run_save(run, path_of("link.json"), &why), -ELOOP);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(run_save(run, "/dev/null", &why), 0);
	assert_int_equal(run_save(run, "/dev/full", &why), -ENOSPC);
	assert_int_equal(run_save(run, path_of("no/such/folder"), &why), -ENOENT);
	assert_non_null(strstr(why.s, "cannot save"));
	json_decref(run);
	buf_free(&why);
}

static void numbers_survive(void **state)
{
	(void)state;
	const double v[] = {0.1, NAN, 3e9};
	double *back;
	size_t n;
	json_t *a = run_reals(v, 3);
	assert_int_equal(run_get_reals(a, &back, &n), 0);
	assert_int_equal(n, 2);
	assert_true(back[0] == 0.1 && back[1] == 3e9);
	free(back);
	json_array_append_new(a, json_string("x"));
	assert_int_equal(run_get_reals(a, &back, &n), -EINVAL);
	assert_int_equal(run_get_reals(NULL, &back, &n), -EINVAL);
	json_decref(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_survives_the_file), cmocka_unit_test(a_changed_row_is_refused),
		cmocka_unit_test(truncated_files_are_refused), cmocka_unit_test(foreign_and_newer_files_are_refused),
		cmocka_unit_test(saving_is_careful),           cmocka_unit_test(numbers_survive),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
