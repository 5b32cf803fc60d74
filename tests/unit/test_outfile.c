/* SPDX-License-Identifier: MIT */
#include "base/outfile.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
	char dir[64], file[96], link[96];
};

static int make_place(void **state)
{
	static struct place p;
	strcpy(p.dir, "/tmp/sctrace-outfile-XXXXXX");
	if (!mkdtemp(p.dir))
		return -1;
	snprintf(p.file, sizeof(p.file), "%s/file", p.dir);
	snprintf(p.link, sizeof(p.link), "%s/link", p.dir);
	*state = &p;
	return symlink(p.file, p.link);
}

static int remove_place(void **state)
{
	struct place *p = *state;
	unlink(p->file);
	unlink(p->link);
	return rmdir(p->dir);
}

static void a_planted_link_is_not_followed(void **state)
{
	struct place *p = *state;
	struct buf text = {0};
	struct buf why = {0};
	buf_adds(&text, "text");
	assert_int_equal(chmod(p->dir, 01777), 0);
	assert_true(outfile_folder_is_shared(p->link));
	assert_int_equal(outfile_open(p->link, O_TRUNC, 0600), -ELOOP);
	assert_int_equal(outfile_put(p->link, &text, &why), -ELOOP);
	assert_non_null(
		strstr(buf_str(&why), "symbolic links are not followed in a directory that everyone can write to"));
	assert_int_equal(access(p->file, F_OK), -1);
	assert_int_equal(chmod(p->dir, 0700), 0);
	assert_false(outfile_folder_is_shared(p->link));
	buf_clear(&why);
	assert_int_equal(outfile_put(p->link, &text, &why), 0);
	assert_int_equal(why.len, 0);
	assert_int_equal(access(p->file, F_OK), 0);
	buf_free(&text);
	buf_free(&why);
}

/* A file that belongs to another user, who could read it, is refused, unless that user owns the folder. */
static void a_file_of_another_user_is_refused(void **state)
{
	struct place *p = *state;
	struct stat st;
	int fd = open(p->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	assert_int_equal(outfile_write(fd, "abc", 3, NULL), 0);
	close(fd);
	assert_int_equal(chmod(p->dir, 01777), 0);
	fd = outfile_open(p->file, O_TRUNC, 0600);
	assert_true(fd >= 0);
	close(fd);
	if (chown(p->file, geteuid() + 1, (gid_t)-1) < 0)
		skip();
	assert_int_equal(stat(p->file, &st), 0);
	assert_int_equal(st.st_size, 0);
	fd = outfile_open(p->file, O_TRUNC, 0600);
	assert_true(fd == -EREMOTE || fd == -EACCES); /* fs.protected_regular (proc_sys_fs(5)) */
	assert_int_equal(chmod(p->dir, 0755), 0);
	fd = outfile_open(p->file, O_TRUNC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void regular_files_are_not_special(void **state)
{
	struct place *p = *state;
	assert_int_equal(outfile_open_special(p->file), -ENOENT);
	int fd = outfile_open_special("/dev/null");
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(close(open(p->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
	assert_int_equal(outfile_open_special(p->file), -EBUSY);
	assert_int_equal(chmod(p->dir, 01777), 0);
	assert_int_equal(outfile_open_special(p->link), -ELOOP);
}

static void modes_and_appending(void **state)
{
	struct place *p = *state;
	struct stat st;
	for (int i = 0; i < 2; i++) {
		int fd = outfile_open(p->file, O_APPEND, 0600);
		assert_true(fd >= 0);
		assert_int_equal(outfile_write(fd, "abc", 3, NULL), 0);
		close(fd);
	}
	assert_int_equal(stat(p->file, &st), 0);
	assert_int_equal(st.st_size, 6);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void failures_are_reported(void **state)
{
	struct buf text = {0};
	struct buf why = {0};
	(void)state;
	buf_adds(&text, "text");
	assert_int_equal(outfile_put("/dev/full", &text, &why), -ENOSPC);
	assert_string_equal(buf_str(&why), "cannot write '/dev/full': No space left on device");
	buf_clear(&why);
	assert_int_equal(outfile_put("/no/such/folder/x", &text, &why), -ENOENT);
	assert_non_null(strstr(buf_str(&why), "No such file"));
	buf_free(&text);
	buf_free(&why);
}

/* Two names of one file are recognised before and after the file is created. */
static void names_of_one_file_are_recognised(void **state)
{
	struct place *p = *state;
	char other[128];
	snprintf(other, sizeof(other), "%s/./file", p->dir);
	for (int created = 0; created < 2; created++) {
		assert_true(outfile_is_same(p->file, p->file));
		assert_true(outfile_is_same(p->file, other));
		assert_false(outfile_is_same(p->file, p->dir));
		assert_false(outfile_is_same(p->file, "/tmp/file-of-no-one"));
		assert_false(outfile_is_same("/no/such/folder/file", p->file));
		assert_int_equal(close(open(p->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
	}
	assert_true(outfile_is_same(p->link, p->file));
	assert_false(outfile_is_same("/dev/null", "/dev/null"));
	assert_false(outfile_is_same(NULL, p->file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_planted_link_is_not_followed, make_place, remove_place),
		cmocka_unit_test_setup_teardown(a_file_of_another_user_is_refused, make_place, remove_place),
		cmocka_unit_test_setup_teardown(regular_files_are_not_special, make_place, remove_place),
		cmocka_unit_test_setup_teardown(modes_and_appending, make_place, remove_place),
		cmocka_unit_test_setup_teardown(names_of_one_file_are_recognised, make_place, remove_place),
		cmocka_unit_test(failures_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
