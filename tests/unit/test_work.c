/* SPDX-License-Identifier: MIT */
#include "measure/work.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void append(const char *path, const char *text)
{
	FILE *f = fopen(path, "a");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void the_folder_is_removed_with_its_contents(void **state)
{
	(void)state;
	struct work w = {0};
	struct buf why = {0};
	assert_int_equal(work_open(&w, NULL, &why), 0);
	char dir[4096];
	snprintf(dir, sizeof(dir), "%s/deep", w.dir);
	mkdir(dir, 0700);
	strcat(dir, "/deeper");
	append(dir, "x");
	assert_int_equal(work_make_input(&w, "random", 70000, false, &why), 0);
	snprintf(dir, sizeof(dir), "%s", w.dir);
	assert_int_equal(work_close(&w, &why), 0);
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(work_close(&w, &why), 0);
	buf_free(&why);
}

static void the_input_has_the_requested_contents(void **state)
{
	(void)state;
	struct work w = {0};
	struct buf why = {0};
	assert_int_equal(work_open(&w, NULL, &why), 0);
	assert_int_equal(work_make_input(&w, "random", 70001, false, &why), 0);
	FILE *f = fopen(w.in, "r");
	int nuls = 0;
	long n = 0;
	for (int c; (c = fgetc(f)) != EOF; n++)
		nuls += c == 0;
	fclose(f);
	assert_int_equal(n, 70001);
	assert_int_equal(nuls, 0);
	assert_int_equal(work_make_part(&w, 100, &why), 0);
	assert_int_equal(work_check_copy(&w, w.part, 100, &why), 0);
	assert_int_equal(work_check_copy(&w, w.part, 101, &why), -EBADMSG);
	assert_string_equal(buf_str(&why), "the copy differs from the input; the first difference is at byte 100");
	buf_clear(&why);
	append(w.part, "more");
	assert_int_equal(work_check_copy(&w, w.part, 100, &why), -EBADMSG);
	buf_clear(&why);
	assert_int_equal(work_check_copy(&w, w.out, 100, &why), -ENOENT);
	assert_int_equal(work_close(&w, &why), 0);
	buf_free(&why);
}

static void a_file_of_the_user_is_unchanged(void **state)
{
	(void)state;
	char file[] = "/tmp/sctrace-test-XXXXXX";
	close(mkstemp(file));
	append(file, "0123456789");
	struct work w = {0};
	struct buf why = {0};
	assert_int_equal(work_open(&w, "/tmp", &why), 0);
	assert_int_equal(work_make_input(&w, file, 4, false, &why), 0);
	assert_int_equal(w.size, 4);
	assert_int_equal(work_close(&w, &why), 0);
	struct stat st;
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 10);
	assert_int_equal(work_open(&w, "/tmp", &why), 0);
	assert_true(work_make_input(&w, file, 11, false, &why) < 0);
	assert_non_null(strstr(buf_str(&why), "has only 10 bytes"));
	assert_int_equal(work_close(&w, &why), 0);
	unlink(file);
	buf_free(&why);
}

static void write_file(const char *path, const char *text)
{
	unlink(path);
	append(path, text);
}

static void a_program_cannot_change_the_file_of_the_user(void **state)
{
	(void)state;
	char file[] = "/tmp/sctrace-test-XXXXXX";
	close(mkstemp(file));
	append(file, "0123456789");
	struct work w = {0};
	struct buf why = {0};
	struct stat st;
	char text[16] = "";
	assert_int_equal(work_open(&w, "/tmp", &why), 0);
	assert_int_equal(work_make_input(&w, file, 0, true, &why), 0);
	assert_int_equal(work_restore_input(&w, &why), 0);
	append(w.in, "more");
	assert_int_equal(work_restore_input(&w, &why), 1);
	assert_int_equal(stat(w.in, &st), 0);
	assert_int_equal(st.st_size, 10);
	unlink(w.in);
	assert_int_equal(mkdir(w.in, 0700), 0);
	assert_int_equal(work_restore_input(&w, &why), 1);
	/* A program that restores the time of the last change does not go unnoticed, and neither does a hard link. */
	struct stat before;
	stat(w.in, &before);
	assert_int_equal(link(w.in, w.out), 0);
	int fd = open(w.in, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, 3), 1);
	futimens(fd, (struct timespec[]){before.st_atim, before.st_mtim});
	close(fd);
	assert_int_equal(work_restore_input(&w, &why), 0);
	fd = open(w.in, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 10);
	close(fd);
	assert_string_equal(text, "0123456789");
	/* A change by the command of --prepare is intended. */
	write_file(w.in, "prepared");
	work_note_input(&w);
	assert_int_equal(work_restore_input(&w, &why), 0);
	assert_int_equal(work_close(&w, &why), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 10);
	unlink(file);
	buf_free(&why);
}

static void holes_remain_holes(void **state)
{
	(void)state;
	char file[] = "/var/tmp/sctrace-test-XXXXXX";
	int fd = mkstemp(file);
	assert_int_equal(ftruncate(fd, 16 << 20), 0);
	assert_int_equal(pwrite(fd, "x", 1, 8 << 20), 1);
	close(fd);
	struct work w = {0};
	struct buf why = {0};
	struct stat st;
	assert_int_equal(work_open(&w, "/var/tmp", &why), 0);
	assert_int_equal(work_make_input(&w, file, 0, true, &why), 0);
	assert_int_equal(stat(w.in, &st), 0);
	assert_int_equal(st.st_size, 16 << 20);
	assert_true(st.st_blocks * 512 < 1 << 20);
	char x = 0;
	fd = open(w.in, O_RDONLY);
	assert_int_equal(pread(fd, &x, 1, 8 << 20), 1);
	assert_int_equal(x, 'x');
	close(fd);
	assert_int_equal(work_close(&w, &why), 0);
	unlink(file);
	buf_free(&why);
}

static void bad_inputs_are_reported(void **state)
{
	(void)state;
	struct work w = {0};
	struct buf why = {0};
	assert_true(work_open(&w, "/no/such/folder", &why) < 0);
	assert_non_null(strstr(buf_str(&why), "'/no/such/folder'"));
	assert_int_equal(work_close(&w, &why), 0);
	assert_int_equal(work_open(&w, NULL, &why), 0);
	buf_clear(&why);
	assert_true(work_make_input(&w, "/no/such/file", 0, false, &why) < 0);
	assert_non_null(strstr(buf_str(&why), "No such file"));
	buf_clear(&why);
	assert_true(work_make_input(&w, "/dev/null", 0, false, &why) < 0);
	assert_non_null(strstr(buf_str(&why), "not a regular file"));
	buf_clear(&why);
	assert_int_equal(work_make_input(&w, "random", 1ull << 60, false, &why), -ENOSPC);
	assert_non_null(strstr(buf_str(&why), "--size"));
	assert_int_equal(work_close(&w, &why), 0);
	buf_free(&why);
}

static void messages_lose_the_name_of_the_program(void **state)
{
	(void)state;
	struct work w = {0};
	struct buf text = {0};
	assert_int_equal(work_open(&w, NULL, &text), 0);
	append(w.errors, "first line\ncopy-x: cannot write 'out': No space left on device\n");
	work_complaint(&w, "copy-x", &text);
	assert_string_equal(buf_str(&text), "cannot write 'out': No space left on device");
	assert_int_equal(work_close(&w, &text), 0);
	buf_free(&text);
}

static void the_cached_share_is_known(void **state)
{
	(void)state;
	struct work w = {0};
	struct buf why = {0};
	assert_int_equal(work_open(&w, NULL, &why), 0);
	assert_int_equal(work_make_input(&w, "zero", 100000, false, &why), 0);
	double share = cache_resident(w.in);
	assert_true(share < 0 || share > 0.99);
	assert_int_equal(cache_drop(w.in, false), 0);
	assert_int_equal(cache_drop(w.out, false), -ENOENT);
	assert_true(cache_resident(w.out) < 0);
	assert_int_equal(work_close(&w, &why), 0);
	buf_free(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_folder_is_removed_with_its_contents),
		cmocka_unit_test(the_input_has_the_requested_contents),
		cmocka_unit_test(a_file_of_the_user_is_unchanged),
		cmocka_unit_test(a_program_cannot_change_the_file_of_the_user),
		cmocka_unit_test(holes_remain_holes),
		cmocka_unit_test(bad_inputs_are_reported),
		cmocka_unit_test(messages_lose_the_name_of_the_program),
		cmocka_unit_test(the_cached_share_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
