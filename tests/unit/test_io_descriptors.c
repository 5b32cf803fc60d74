/* SPDX-License-Identifier: MIT */
/* Tests how an I/O profile follows descriptors, and what it knows of calls that create, move or close them. */
#include "io_rig.h"

#include <linux/audit.h>

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

/* A call of process 200. */
static void other_call(struct fixture *f, long nr, uint64_t a0, uint64_t a1, uint64_t a2)
{
	struct event ev = call_event(EV_ENTER, 200, nr, a0, a1, a2, 0);
	ev.pid = 200;
	give(&f->rig, ev);
	ev = call_event(EV_EXIT, 200, nr, a0, a1, a2, 0);
	ev.pid = 200;
	give(&f->rig, ev);
}

/* Process 100 opens 100 descriptors, which process 200 shares. */
static void share_descriptors(struct fixture *f)
{
	for (int i = 0; i < 100; i++)
		call(f, SYS_eventfd2, 0, 0, 0, 20 + i);
	give(&f->rig, call_event(EV_ENTER, 100, SYS_clone, 0x400 /* CLONE_FILES */, 0, 0, 0));
	give(&f->rig, (struct event){.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 200});
	give(&f->rig, call_event(EV_EXIT, 100, SYS_clone, 0x400, 0, 0, 200));
}

static void a_shared_table_is_closed_for_all(void **state)
{
	struct fixture *f = *state;
	share_descriptors(f);
	other_call(f, SYS_close_range, 3, UINT32_MAX, 0);
	end_process(f, false);
	assert_null(finding(f, "never-closed"));
}

static void close_range_can_unshare_the_table(void **state)
{
	struct fixture *f = *state;
	share_descriptors(f);
	other_call(f, SYS_close_range, 3, 4, 2 /* CLOSE_RANGE_UNSHARE */);
	other_call(f, SYS_close_range, 3, UINT32_MAX, 0);
	end_process(f, false);
	assert_non_null(finding(f, "never-closed"));
}

static void unshare_gives_an_own_table(void **state)
{
	struct fixture *f = *state;
	share_descriptors(f);
	other_call(f, SYS_unshare, 0x400 /* CLONE_FILES */, 0, 0);
	other_call(f, SYS_close_range, 3, UINT32_MAX, 0);
	end_process(f, false);
	assert_non_null(finding(f, "never-closed"));
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

/* fopen(3) and Python seek to the end of a file that they append to. Only this call shows how large the file is. */
static void a_seek_to_the_end_shows_the_size(void **state)
{
	struct fixture *f = *state;
	call(f, SYS_fcntl, 5, F_SETFL, O_APPEND, 0);
	call(f, SYS_lseek, 5, 0, SEEK_END, 5000);
	for (int i = 1; i <= 5; i++) {
		call(f, SYS_write, 5, 0x2000, 10, 10);
		call(f, SYS_lseek, 5, 0, SEEK_CUR, 5000 + 10 * i);
	}
	assert_float_equal(row(f, "/file5")->seeks, 6, 0);
	assert_float_equal(row(f, "/file5")->seeks_without_effect, 5, 0);
}

/* Memory of a 32-bit program, from address 0x1000. */
static const struct {
	uint32_t buffers[4]; /* two struct iovec */
	uint32_t no_time[2]; /* a struct timeval, followed by other data */
	uint64_t offset;
} narrow = {{0x2000, 100, 0x2100, 28}, {0, 0}, 500};

static ssize_t narrow_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	if (addr < 0x1000 || addr + n > 0x1000 + sizeof(narrow))
		return -EFAULT;
	memcpy(buf, (const char *)&narrow + (addr - 0x1000), n);
	return (ssize_t)n;
}

static const struct mem narrow_memory = {.read = narrow_read};

static void narrow_call(struct fixture *f, const char *name, const uint64_t args[6], int64_t result)
{
	for (int leave = 0; leave < 2; leave++) {
		struct event ev = call_event(leave ? EV_EXIT : EV_ENTER, 100, SYS_read, 0, 0, 0, result);
		ev.mem = &narrow_memory;
		ev.call.arch = AUDIT_ARCH_I386;
		ev.call.nr = syscall_number(AUDIT_ARCH_I386, name);
		ev.call.desc = syscall_lookup(AUDIT_ARCH_I386, ev.call.nr);
		assert_non_null(ev.call.desc);
		memcpy(ev.call.args, args, sizeof(ev.call.args));
		give(&f->rig, ev);
	}
}

static void memory_of_32_bit_programs_is_understood(void **state)
{
	struct fixture *f = *state;
	narrow_call(f, "writev", (uint64_t[6]){5, 0x1000, 2}, 128);
	narrow_call(f, "_llseek", (uint64_t[6]){5, 0, 500, 0x1018, SEEK_SET}, 0);
	narrow_call(f, "_llseek", (uint64_t[6]){5, 0, 0, 0x1018, SEEK_CUR}, 0);
	narrow_call(f, "sendfile", (uint64_t[6]){6, 5, 0x1018, 10}, 10);
	for (int i = 0; i < 100; i++)
		narrow_call(f, "_newselect", (uint64_t[6]){6, 0, 0, 0, 0x1010}, 0);
	const struct run_io_file *r = row(f, "/file5");
	assert_float_equal(r->sizes.v[0].bytes, 10, 0);
	assert_float_equal(r->sizes.v[1].bytes, 128, 0);
	assert_float_equal(r->seeks, 2, 0);
	assert_float_equal(r->seeks_without_effect, 1, 0);
	shares_are(r, 1, 1, 0, 0);
	assert_non_null(finding(f, "no-result"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(descriptors_that_exec_closes_are_not_left_open),
		WITH(descriptors_without_that_flag_are),
		WITH(a_range_can_be_closed_in_an_own_table),
		WITH(a_shared_table_is_closed_for_all),
		WITH(close_range_can_unshare_the_table),
		WITH(unshare_gives_an_own_table),
		WITH(each_file_without_a_name_has_a_row),
		WITH(sendfile_with_an_offset_does_not_move_that_of_the_descriptor),
		WITH(only_the_previous_request_makes_one_sequential),
		WITH(memory_of_32_bit_programs_is_understood),
		WITH(a_seek_to_the_end_shows_the_size),
		WITH(a_write_after_the_file_is_closed_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
