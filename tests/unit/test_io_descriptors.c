/* Tests how an I/O profile follows descriptors, and what it knows of calls that create, move or close them. */
#include "io_rig.h"

/* Ends a process that has opened these descriptors, after execve(2) if `exec` is set. */
static void end_process(struct fixture *f, bool exec)
{
	if (exec)
		give(&f->rig, (struct event){.kind = EV_EXEC, .tid = 100, .pid = 100, .child = 100});
	give(&f->rig, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100, .is_process = true});
}

/* execve(2) closes these descriptors, so the program need not. */
static void descriptors_that_exec_closes_are_not_left_open(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++) {
		call(f, SYS_eventfd2, 0, O_CLOEXEC, 0, 20 + 4 * i);
		call(f, SYS_memfd_create, 0, 1 /* MFD_CLOEXEC */, 0, 21 + 4 * i);
		call(f, SYS_pidfd_open, 1, 0, 0, 22 + 4 * i);
		call(f, SYS_openat, (uint64_t)AT_FDCWD, 0x1000, O_RDONLY, 23 + 4 * i);
	}
	call(f, SYS_close_range, 3, UINT32_MAX, 4 /* CLOSE_RANGE_CLOEXEC */, 0);
	end_process(f, true);
	assert_null(finding(f, "never-closed"));
}

static void descriptors_without_that_flag_are(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++)
		call(f, SYS_eventfd2, 0, 0, 0, 20 + i);
	end_process(f, true);
	assert_non_null(finding(f, "never-closed"));
}

static void a_range_can_be_closed_in_an_own_table(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++)
		call(f, SYS_eventfd2, 0, 0, 0, 20 + i);
	call(f, SYS_close_range, 3, UINT32_MAX, 2 /* CLOSE_RANGE_UNSHARE */, 0);
	end_process(f, false);
	assert_null(finding(f, "never-closed"));
}

/* A program that saves a file and then reads it often uses the same buffer for both. */
static void a_write_after_the_file_is_closed_is_not(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++) {
		call(f, SYS_write, 6, 0x2000, 4096, 4096);
		call(f, SYS_openat, (uint64_t)AT_FDCWD, 0x1000, O_RDONLY, 20);
		call(f, SYS_read, 20, 0x2000, 4096, 4096);
		call(f, SYS_close, 20, 0, 0, 0);
	}
	assert_null(finding(f, "copied-by-hand"));
}

/* tempfile.TemporaryFile() of Python, and tmpfile(3) of some C libraries, open a directory with O_TMPFILE. */
static void each_file_without_a_name_has_a_row(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++) {
		open_as(f, O_TMPFILE | O_RDWR, 20);
		call(f, SYS_write, 20, 0x2000, 4096, 4096);
		call(f, SYS_close, 20, 0, 0, 0);
	}
	for (int i = 0; i < 2; i++) {
		call(f, SYS_memfd_create, 0x1000, 0, 0, 20);
		call(f, SYS_write, 20, 0x2000, 4096, 4096);
		call4(f, SYS_pread64, 20, 0x2000, 10, 100, 10);
		call4(f, SYS_pread64, 20, 0x2000, 10, 100, 10);
	}
	assert_null(finding(f, "opened-again"));
	shares_are(row(f, "memfd 2"), 2, 0, 1, 0);
	assert_string_equal(row(f, "memfd 2")->kind, "file");
	size_t unnamed = 0;
	for (size_t i = 0; i < f->io.files.n; i++) {
		const struct run_io_file *r = &f->io.files.v[i];
		if (!strstr(r->name, "/(unnamed file "))
			continue;
		shares_are(r, 1, 0, 0, 0);
		unnamed++;
	}
	assert_int_equal(unnamed, 100);
}

/* The offset is in memory: here, the first bytes of the string at 0x1000. */
static void sendfile_with_an_offset_does_not_move_that_of_the_descriptor(void **state)
{
	struct fixture *f = *state;
	call4(f, SYS_sendfile, 6, 5, 0x1000, 100, 100);
	call(f, SYS_lseek, 5, 0, SEEK_CUR, 0);
	call4(f, SYS_sendfile, 6, 5, 0, 100, 100);
	call(f, SYS_lseek, 5, 0, SEEK_CUR, 100);
	const struct run_io_file *r = row(f, "/file5");
	shares_are(r, 0, 2, 0, 0);
	assert_float_equal(r->seeks_without_effect, 2, 0);
	shares_are(row(f, "/file6"), 2, 0, 0, 0);
}

/* All of these reads are within the write, but only the first one directly follows it. */
static void only_the_previous_request_makes_one_sequential(void **state)
{
	struct fixture *f = *state;
	call4(f, SYS_pwrite64, 5, 0x2000, 65536, 0, 65536);
	for (uint64_t i = 9; i > 0; i--)
		call4(f, SYS_pread64, 5, 0x2000, 100, i * 5000, 100);
	shares_are(row(f, "/file5"), 2, 8, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(descriptors_that_exec_closes_are_not_left_open),
		WITH(descriptors_without_that_flag_are),
		WITH(a_range_can_be_closed_in_an_own_table),
		WITH(each_file_without_a_name_has_a_row),
		WITH(sendfile_with_an_offset_does_not_move_that_of_the_descriptor),
		WITH(only_the_previous_request_makes_one_sequential),
		WITH(a_write_after_the_file_is_closed_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
