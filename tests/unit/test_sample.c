/* SPDX-License-Identifier: MIT */
#include "measure/sample.h"
#include "tracee/proc.h"

#include "base/buf.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int take(char *const *argv, bool follow, struct sample *s, struct buf *why)
{
	return sample_take(
		&(struct sample_spec){.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .follow = follow},
		s, why);
}

static void a_status_is_kept(void **state)
{
	(void)state;
	struct sample s;
	struct buf why = {0};
	assert_int_equal(take((char *[]){"sh", "-c", "exit 7", NULL}, false, &s, &why), 0);
	assert_true(WIFEXITED(s.status) && WEXITSTATUS(s.status) == 7);
	assert_true(s.wall_ns > 0);
	assert_int_equal(take((char *[]){"sh", "-c", "kill -TERM $$", NULL}, false, &s, &why), 0);
	assert_true(WIFSIGNALED(s.status) && WTERMSIG(s.status) == SIGTERM);
	buf_free(&why);
}

static void a_missing_program_is_reported(void **state)
{
	(void)state;
	struct sample s;
	struct buf why = {0};
	assert_int_equal(take((char *[]){"/no/such/program", NULL}, false, &s, &why), -ENOENT);
	assert_string_equal(buf_str(&why), "cannot run '/no/such/program': No such file or directory");
	buf_free(&why);
}

/* The peak is that of the program. A large parent does not affect the peak, unlike ru_maxrss. */
static void a_large_parent_does_not_count(void **state)
{
	(void)state;
	size_t size = 64 << 20;
	char *large = malloc(size);
	assert_non_null(large);
	memset(large, 1, size);
	struct sample s;
	struct buf why = {0};
	assert_int_equal(take((char *[]){"true", NULL}, false, &s, &why), 0);
	if (s.peak_rss_bytes == 0)
		skip(); /* ptrace(2) is not permitted on this machine */
	assert_true(s.peak_rss_bytes < size / 2);
	assert_true((uint64_t)proc_peak_rss(getpid()) >= size);
	free(large);
	buf_free(&why);
}

static void a_tree_is_followed(void **state)
{
	(void)state;
	struct sample s;
	struct buf why = {0};
	assert_int_equal(take((char *[]){"sh", "-c", "true | cat; sh -c 'exit 3'", NULL}, true, &s, &why), 0);
	assert_int_equal(WEXITSTATUS(s.status), 3);
	if (s.peak_rss_bytes)
		assert_true(s.processes >= 3);
	buf_free(&why);
}

static void a_stop_signal_ends_the_run(void **state)
{
	(void)state;
	volatile sig_atomic_t stop = 1;
	struct sample s;
	struct buf why = {0};
	int err = sample_take(&(struct sample_spec){.argv = (char *[]){"sleep", "1000", NULL},
						    .stdin_fd = -1,
						    .stdout_fd = -1,
						    .stderr_fd = -1,
						    .stop = &stop},
			      &s, &why);
	assert_int_equal(err, -EINTR);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	buf_free(&why);
}

/* A child of vfork(2) that lives for a while, and its parent, which cannot be stopped during that time. */
static int leave_vfork(int fd)
{
	if (fork() != 0)
		return 0;
	if (vfork() == 0) {
		usleep(500000);
		_exit(write(fd, "c", 1) != 1);
	}
	return write(fd, "p", 1) != 1;
}

/* A vfork parent that the program left behind cannot be stopped before its child has ended. It is not waited for. */
static void a_vfork_left_behind_runs_on(void **state)
{
	(void)state;
	struct sample s;
	struct buf why = {0};
	int ends[2];
	char got = 0;
	assert_int_equal(pipe(ends), 0);
	char fd[16];
	snprintf(fd, sizeof(fd), "%d", ends[1]);
	assert_int_equal(take((char *[]){"/proc/self/exe", "vfork", fd, NULL}, true, &s, &why), 0);
	assert_int_equal(read(ends[0], &got, 1), 1);
	assert_int_equal(got, 'c');
	/* The parent is let go by a later run. */
	struct pollfd parent = {.fd = ends[0], .events = POLLIN};
	while (poll(&parent, 1, 0) == 0)
		assert_int_equal(take((char *[]){"true", NULL}, true, &s, &why), 0);
	assert_int_equal(read(ends[0], &got, 1), 1);
	assert_int_equal(got, 'p');
	close(ends[0]);
	close(ends[1]);
	buf_free(&why);
}

static void children_left_in_vfork_do_not_hang(void **state)
{
	(void)state;
	struct sample s;
	struct buf why = {0};
	for (int i = 0; i < 40; i++)
		assert_int_equal(take((char *[]){"sh", "-c", "(sleep 0.01; /bin/true) & true", NULL}, true, &s, &why),
				 0);
	buf_free(&why);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "vfork") == 0)
		return leave_vfork(atoi(argv[2]));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_is_kept),
		cmocka_unit_test(a_missing_program_is_reported),
		cmocka_unit_test(a_large_parent_does_not_count),
		cmocka_unit_test(a_tree_is_followed),
		cmocka_unit_test(a_stop_signal_ends_the_run),
		cmocka_unit_test(a_vfork_left_behind_runs_on),
		cmocka_unit_test(children_left_in_vfork_do_not_hang),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
