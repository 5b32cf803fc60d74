/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "run/field.h"
#include "run/judge.h"
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

/* Fills in a run of kind "count". */
static void sample(struct run *run)
{
	char *argv[] = {"sctrace", "-c", "tr\xff", NULL};
	run_init(run, "count", 3, argv);
	struct summary *s = &run->calls;
	struct summary_group *g = summary_group(s, "pid 12", 12);
	for (int i = 1; i <= 100; i++)
		summary_record(
			s, g, AUDIT_ARCH_X86_64, 0,
			&(struct call_outcome){
				.end = CALL_RETURNED, .ns = 1000 * i, .cost_ns = 100, .spread_ns = 5, .bytes = 4096});
	summary_record(s, g, AUDIT_ARCH_X86_64, 0,
		       &(struct call_outcome){.end = CALL_RETURNED, .ns = 500, .error = true, .err = ENOENT});
	summary_record(s, g, AUDIT_ARCH_X86_64, 231, &(struct call_outcome){.end = CALL_UNFINISHED});
}

static void a_summary_survives_the_file(void **state)
{
	(void)state;
	struct buf why = {0};
	struct run run;
	sample(&run);
	assert_int_equal(run_save(&run, path_of("a.json"), &why), 0);
	run_free(&run);
	assert_int_equal(run_load(&run, path_of("a.json"), &why), 0);
	assert_string_equal(run.kind, "count");
	assert_string_equal(run.command.v[2], "tr\\xff");
	const struct summary_group *g = run.calls.groups.v[0];
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
	run_free(&run);
	buf_free(&why);
}

/* Rows of calls contain names and quantiles, so that other programs need not compute them. */
static void rows_of_calls_tell_what_follows(void **state)
{
	(void)state;
	struct run run;
	sample(&run);
	json_t *rows = summary_json(&run.calls);
	const json_t *row = json_array_get(rows, 0);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "read");
	assert_true(fabs(json_real_value(json_object_get(row, "p50_ns")) / 49900 - 1) < 0.04);
	json_decref(rows);
	run_free(&run);
}

static void a_changed_row_is_refused(void **state)
{
	(void)state;
	struct buf why = {0};
	static const char *const keys[] = {"entered", "returned", "errors", "histogram_ns", "arch", "total_ns"};
	for (size_t i = 0; i <= sizeof(keys) / sizeof(*keys); i++) {
		struct run run;
		struct summary s = {0};
		sample(&run);
		json_t *rows = summary_json(&run.calls);
		if (i < sizeof(keys) / sizeof(*keys))
			json_object_set_new(json_array_get(rows, 0), keys[i], json_string("7"));
		else
			json_object_set_new(json_array_get(rows, 0), "entered", json_integer(3));
		buf_clear(&why);
		assert_int_equal(summary_read(rows, &s, &why), -EINVAL);
		assert_non_null(strstr(buf_str(&why), "row 1"));
		summary_free(&s);
		json_decref(rows);
		run_free(&run);
	}
	buf_free(&why);
}

/*
 * A comparison: metrics, counts, texts and sentences are in the file, and figures that can be computed from the samples
 * are computed again.
 */
static void a_comparison_survives_the_file(void **state)
{
	(void)state;
	struct buf why = {0};
	struct run run;
	run_init(&run, "compare", 0, NULL);
	run.method.known = true;
	run.method.cold = TRUTH_YES;
	run.method.seed = 7;
	for (int k = 1; k <= 2; k++) {
		struct run_subject *s = run_add_subject(&run, k == 1 ? "dd 4K" : "dd 8K", "s");
		s->buffer_bytes = 4096 * k;
		texts_add(&s->parameters, "n", "1");
		s->counts.known = true;
		field_set(&s->counts.engine, "patch");
		s->counts.calls = 12;
		for (int i = 0; i < 5; i++) {
			reals_add(&s->samples[METRIC_TIME], k * (0.1 + i / 1000.0));
			reals_add(&s->samples[METRIC_PEAK_RSS], 4096 * i);
		}
	}
	strings_add(&run.lessons, "one\nline");
	assert_int_equal(run_save(&run, path_of("a.json"), &why), 0);
	run_free(&run);
	assert_int_equal(run_load(&run, path_of("a.json"), &why), 0);
	assert_int_equal(run.subjects.n, 2);
	const struct run_subject *s = &run.subjects.v[1];
	assert_string_equal(s->base, "dd");
	assert_string_equal(texts_find(&s->parameters, "n"), "1");
	assert_true(s->counts.known && s->counts.calls == 12 && isnan(s->counts.reads));
	assert_true(s->samples[METRIC_TIME].v[1] == 0.202 && run_median(s, METRIC_PEAK_RSS) == 8192);
	assert_true(fabs(s->judged.relative - 2) < 1e-9 && s->judged.relative_ci.low > 1.9);
	assert_ptr_equal(run_fastest(&run), &run.subjects.v[0]);
	assert_true(run.method.cold == TRUTH_YES && run.method.fsync == TRUTH_UNKNOWN && run.method.seed == 7);
	assert_string_equal(run.lessons.v[0], "one\\nline");
	run_free(&run);
	buf_free(&why);
}

/* Truncates the file at every length. Reading it never crashes, and always gives one sentence that names the file. */
static void truncated_files_are_refused(void **state)
{
	(void)state;
	struct buf text = {0};
	struct buf why = {0};
	struct run run;
	sample(&run);
	run_dump(&run, &text);
	run_free(&run);
	for (size_t len = 0; len < text.len - 2; len += 37) {
		write_file("a.json", text.s, len);
		buf_clear(&why);
		assert_int_equal(run_load(&run, path_of("a.json"), &why), -EINVAL);
		run_free(&run);
		assert_non_null(strstr(why.s, "a.json"));
		assert_non_null(strstr(why.s, "is incomplete"));
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
		{"hello", "not valid JSON"},
		{"{\"a\": 1}", "was not written by sctrace with --save"},
		{"[1, 2]", "was not written by sctrace with --save"},
		{"{\"schema\": \"sctrace-run\"}", "damaged"},
		{"{\"schema\": \"sctrace-run\", \"schema_version\": 2, \"sctrace_version\": \"9.1\"}", "sctrace 9.1"},
		{"{\"schema\": \"sctrace-run\", \"schema_version\": 1, \"results\": []}", "the kind of the run"},
		{"{\"schema\": \"sctrace-run\", \"schema_version\": 1, \"kind\": \"count\", \"results\": 1}",
		 "no results"},
	};
	struct buf why = {0};
	struct run run;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		write_file("a.json", files[i].text, strlen(files[i].text));
		buf_clear(&why);
		assert_int_equal(run_load(&run, path_of("a.json"), &why), -EINVAL);
		run_free(&run);
		assert_non_null(strstr(why.s, files[i].says));
	}
	buf_clear(&why);
	assert_int_equal(run_load(&run, path_of("missing.json"), &why), -EINVAL);
	run_free(&run);
	assert_non_null(strstr(why.s, "No such file"));
	buf_clear(&why);
	assert_int_equal(run_load(&run, folder, &why), -EINVAL);
	run_free(&run);
	assert_non_null(strstr(why.s, "directory"));
	buf_free(&why);
}

static void saving_is_careful(void **state)
{
	(void)state;
	struct buf why = {0};
	struct stat st;
	struct run run;
	sample(&run);
	assert_int_equal(run_save(&run, path_of("a.json"), &why), 0);
	assert_int_equal(stat(path_of("a.json"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/*
	 * A link in a private folder is followed and is not replaced. A link in a shared folder such as /tmp is
	 * refused.
	 */
	assert_int_equal(symlink("a.json", path_of("link.json")), 0);
	assert_int_equal(run_save(&run, path_of("link.json"), &why), 0);
	assert_int_equal(lstat(path_of("link.json"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(run_save(&run, path_of("link.json"), &why), -ELOOP);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(run_save(&run, "/dev/null", &why), 0);
	assert_int_equal(run_save(&run, "/dev/full", &why), -ENOSPC);
	assert_int_equal(run_save(&run, path_of("no/such/folder"), &why), -ENOENT);
	assert_non_null(strstr(why.s, "cannot save"));
	run_free(&run);
	buf_free(&why);
}

/* Each kind of run has its own fields; those of other kinds are not written. */
static void a_kind_has_its_own_fields(void **state)
{
	(void)state;
	struct run run;
	struct buf text = {0};
	struct buf why = {0};
	run_init(&run, "bench-switch", 0, NULL);
	struct run_subject *s = run_add_subject(&run, "pipe", "ns");
	reals_add(&s->samples[METRIC_TIME], 1.5e-6);
	s->rounds = 3;
	assert_int_equal(run_judge(&run), 0);
	run_dump(&run, &text);
	assert_non_null(strstr(buf_str(&text), "\"samples_ns\":[1500.0]"));
	assert_non_null(strstr(buf_str(&text), "\"median_ns\":1500.0"));
	assert_non_null(strstr(buf_str(&text), "\"rounds\":3"));
	assert_null(strstr(buf_str(&text), "kernel_calls"));
	assert_null(strstr(buf_str(&text), "warnings"));
	run_free(&run);
	assert_int_equal(run_parse(&run, buf_str(&text), "it", &why), 0);
	assert_true(run.subjects.v[0].samples[METRIC_TIME].v[0] == 1.5e-6);
	run_free(&run);
	buf_free(&text);
	buf_free(&why);
}

static void numbers_survive(void **state)
{
	(void)state;
	json_t *a = json_pack("[f, n, i, f]", 0.1, 3, 3e9);
	struct reals back = {0};
	assert_int_equal(fields_read_reals(a, &back), 0);
	assert_int_equal(back.n, 4);
	assert_true(back.v[0] == 0.1 && isnan(back.v[1]) && back.v[2] == 3 && back.v[3] == 3e9);
	json_array_append_new(a, json_string("x"));
	assert_int_equal(fields_read_reals(a, &back), -EINVAL);
	assert_int_equal(fields_read_reals(NULL, &back), -EINVAL);
	vec_free(&back);
	json_decref(a);
}

static void notes_are_added_once(void **state)
{
	(void)state;
	struct run r;
	run_init(&r, "bench-load", 0, NULL);
	run_note(&r, "load %d", 1);
	run_note(&r, "load %d", 2);
	run_note(&r, "load 1");
	assert_int_equal(r.notes.n, 2);
	assert_string_equal(r.notes.v[1], "load 2");
	run_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_survives_the_file),
		cmocka_unit_test(notes_are_added_once),
		cmocka_unit_test(a_changed_row_is_refused),
		cmocka_unit_test(rows_of_calls_tell_what_follows),
		cmocka_unit_test(a_comparison_survives_the_file),
		cmocka_unit_test(a_kind_has_its_own_fields),
		cmocka_unit_test(truncated_files_are_refused),
		cmocka_unit_test(foreign_and_newer_files_are_refused),
		cmocka_unit_test(saving_is_careful),
		cmocka_unit_test(numbers_survive),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
