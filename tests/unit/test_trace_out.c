/* SPDX-License-Identifier: MIT */
/* Tests the outputs of a trace: the common output and, with -ff, a file for each thread. */
#include "trace/out.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	char dir[32], path[64];
	struct trace_failure failure;
	struct trace_outputs o;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	strcpy(f->dir, "/tmp/sctrace-out-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/t", f->dir);
	f->o.failure = &f->failure;
	f->o.common.fd = -1;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	for (int tid = 1; tid < 3; tid++) {
		char path[80];
		snprintf(path, sizeof(path), "%s.%d", f->path, tid);
		unlink(path);
	}
	rmdir(f->dir);
	trace_outputs_free(&f->o);
	buf_free(&f->failure.why);
	free(f);
	return 0;
}

static void holds(const struct fixture *f, int tid, const char *expected)
{
	char path[80], text[64];
	snprintf(path, sizeof(path), "%s.%d", f->path, tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	assert_string_equal(text, expected);
}

static void threads_share_the_common_output(void **state)
{
	struct fixture *f = *state;
	assert_ptr_equal(trace_outputs_of(&f->o, 1), &f->o.common);
	assert_ptr_equal(trace_outputs_of(&f->o, 2), &f->o.common);
	trace_outputs_gone(&f->o, 1);
}

static void each_thread_has_a_file(void **state)
{
	struct fixture *f = *state;
	f->o.separate = f->path;
	struct trace_out *one = trace_outputs_of(&f->o, 1);
	buf_adds(&one->buf, "first\n");
	buf_adds(&trace_outputs_of(&f->o, 2)->buf, "second\n");
	assert_ptr_equal(trace_outputs_of(&f->o, 1), one);
	trace_outputs_gone(&f->o, 1);
	holds(f, 1, "first\n");
	holds(f, 2, "");
	trace_outputs_gone(&f->o, 2);
	holds(f, 2, "second\n");
	/* The id of a thread may be reused. The file of the earlier thread is kept. */
	buf_adds(&trace_outputs_of(&f->o, 1)->buf, "again\n");
	trace_outputs_gone(&f->o, 1);
	holds(f, 1, "first\nagain\n");
	assert_int_equal(f->failure.err, 0);
}

static void the_first_failure_is_kept(void **state)
{
	struct fixture *f = *state;
	snprintf(f->path, sizeof(f->path), "%s/none/t", f->dir);
	f->o.separate = f->path;
	for (int tid = 1; tid < 3; tid++) {
		buf_adds(&trace_outputs_of(&f->o, tid)->buf, "lost\n");
		trace_outputs_gone(&f->o, tid);
	}
	assert_int_equal(f->failure.err, -ENOENT);
	assert_non_null(strstr(buf_str(&f->failure.why), "/none/t.1'"));
	assert_null(strstr(buf_str(&f->failure.why), "/none/t.2'"));
}

/*
 * Writes text to file `path`, as a trace does: the first part is written at once, the second one does not fit. The file
 * must then contain `expected`. With `tid`, the file is one of -ff.
 */
static void overflows(const struct fixture *f, int tid, const char *first, const char *second, const char *expected)
{
	struct rlimit old;
	struct trace_out out;
	struct buf why = {0};
	char path[80];
	snprintf(path, sizeof(path), "%s.%d", f->path, tid);
	assert_int_equal(
		tid == 1 ? trace_out_open_task(&out, path, false, &why) : trace_out_open(&out, path, false, &why), 0);
	buf_adds(&out.buf, first);
	trace_out_flush(&out);
	assert_false(out.failed);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){strlen(first) + 4, old.rlim_max}), 0);
	buf_adds(&out.buf, second);
	trace_out_flush(&out);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true(out.failed);
	assert_int_equal(trace_out_close(&out, &why), -EFBIG);
	buf_free(&why);
	holds(f, tid, expected);
}

static void a_full_file_ends_with_a_line(void **state)
{
	const struct fixture *f = *state;
	signal(SIGXFSZ, SIG_IGN);
	for (int tid = 1; tid < 3; tid++) {
		overflows(f, tid, "one\n", "two and more\n", "one\n");
		overflows(f, tid, "one\ntwo(", "2) = 0\n", "one\n");
		overflows(f, tid, "one(", "1) = 0\n", "");
	}
}

static void files_are_named_by_a_pattern(void **state)
{
	static const struct {
		const char *pattern;
		pid_t pid, tid;
		const char *program, *name;
	} cases[] = {
		{"t", 3, 3, "sh", "t.3"},
		{"t", 3, 4, "sh", "t.4"},
		{"%e.%p", 3, 3, "sh", "sh.3"},
		{"%e.%p", 3, 4, "sh", "sh.3.4"},
		{"%i-%e.log", 3, 4, "sh", "4-sh.log"},
		{"%e", 3, 3, "sh", "sh.3"},
		{"%p%i", 3, 4, "sh", "34"},
		{"100%%.%p", 3, 3, "sh", "100%.3"},
		{"%%e%d%", 3, 3, "sh", "%e%d%.3"},
		{"%e.%p", 3, 3, "../a/b", "_._a_b.3"},
		{"%e.%p", 3, 3, "\033[0m\n", "_[0m_.3"},
		{"%e.%p", 3, 3, "", "unknown.3"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf name = {0};
		trace_out_name(cases[i].pattern, cases[i].pid, cases[i].tid, cases[i].program, &name);
		assert_string_equal(buf_str(&name), cases[i].name);
		buf_free(&name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_share_the_common_output, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_thread_has_a_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_first_failure_is_kept, set_up, tear_down),
		cmocka_unit_test(files_are_named_by_a_pattern),
		cmocka_unit_test_setup_teardown(a_full_file_ends_with_a_line, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
