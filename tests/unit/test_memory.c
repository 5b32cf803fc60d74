/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include "base/buf.h"
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MESSAGE "sctrace: out of memory: sctrace ends, and its output is incomplete\n"

static void say(void *ctx)
{
	if (write(STDERR_FILENO, ctx, strlen(ctx)) < 0)
		_exit(1);
}

/* Runs `fn` in a child. Returns its wait status, and what it wrote to standard error. */
static int run_out(void (*fn)(void), char *text, size_t size)
{
	int fds[2], status;
	size_t n = 0;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		fn();
		_exit(0);
	}
	close(fds[1]);
	for (ssize_t got = 1; got > 0; n += got > 0 ? (size_t)got : 0)
		got = read(fds[0], text + n, size - 1 - n);
	text[n] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void ends_with(void (*fn)(void), const char *want)
{
	char text[256];
	int status = run_out(fn, text, sizeof(text));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OWN);
	assert_string_equal(text, want);
}

static volatile size_t too_much = (size_t)1 << 61; /* volatile: gcc would warn about the size */
static void *volatile got;                         /* volatile: clang would leave out memory that nobody uses */

static void get_too_much(void)
{
	got = memory_get(too_much);
}

static void zero_too_much(void)
{
	got = memory_zeroed(too_much / 16, 16);
}

static void resize_too_much(void)
{
	got = memory_resize(NULL, too_much);
}

static void fill_a_buffer(void)
{
	struct buf b = {0};
	buf_fill(&b, 'x', too_much);
	got = b.s;
}

static void fill_a_vector(void)
{
	VEC(uint64_t) v = {.n = too_much / 16, .cap = too_much / 16};
	vec_push(&v, 1);
	got = v.v;
}

__attribute__((unused)) static void a_failed_allocation_ends_the_process(void **state)
{
	(void)state;
	ends_with(get_too_much, MESSAGE);
	ends_with(zero_too_much, MESSAGE);
	ends_with(resize_too_much, MESSAGE);
	ends_with(fill_a_buffer, MESSAGE);
	ends_with(fill_a_vector, MESSAGE);
}

static void clean_up(void)
{
	memory_on_exhaustion(say, "cleaned\n");
	get_too_much();
}

static void fork_and_fail(void)
{
	int status;
	memory_on_exhaustion(say, "cleaned\n");
	pid_t pid = fork();
	if (pid == 0)
		get_too_much();
	waitpid(pid, &status, 0);
	_exit(WEXITSTATUS(status));
}

static void cancel(void)
{
	memory_on_exhaustion(say, "cleaned\n");
	memory_on_exhaustion(NULL, NULL);
	get_too_much();
}

__attribute__((unused)) static void the_process_cleans_up_before_it_ends(void **state)
{
	(void)state;
	ends_with(clean_up, MESSAGE "cleaned\n");
	ends_with(fork_and_fail, MESSAGE); /* the files belong to the parent */
	ends_with(cancel, MESSAGE);
}

static void no_size_gives_null(void **state)
{
	(void)state;
	void *p[] = {memory_get(0), memory_zeroed(0, 8), memory_zeroed(8, 0), memory_copy(""),
		     memory_copy_part("abc", 2)};
	for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
		assert_non_null(p[i]);
	assert_string_equal(p[3], "");
	assert_string_equal(p[4], "ab");
	for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
		free(p[i]);
	assert_null(memory_fopen("/nonexistent"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these end the process themselves */
		cmocka_unit_test(a_failed_allocation_ends_the_process),
		cmocka_unit_test(the_process_cleans_up_before_it_ends),
#endif
		cmocka_unit_test(no_size_gives_null),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
