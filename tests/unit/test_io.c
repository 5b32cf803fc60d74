/* SPDX-License-Identifier: MIT */
/* Makes an I/O profile from artificial events: offsets, classes of requests, shared open file descriptions, costs. */
#include "io_rig.h"

static void each_request_is_of_one_class(void **state)
{
	struct fixture *f = *state;
	call(f, SYS_read, 5, 0x2000, 10, 10);         /* sequential */
	call(f, SYS_read, 5, 0x2000, 10, 10);         /* sequential */
	call4(f, SYS_pread64, 5, 0x2000, 10, 50, 10); /* random */
	call4(f, SYS_pread64, 5, 0x2000, 10, 55, 5);  /* repeated */
	call(f, SYS_read, 5, 0x2000, 10, 0);          /* the end of the file, which does not count as a request */
	call(f, SYS_read, 5, 0x2000, 10, -EIO);
	const struct run_io_file *r = row(f, "/file5");
	shares_are(r, 2, 1, 1, 0);
	assert_float_equal(r->calls, 6, 0);
	assert_float_equal(r->reads, 5, 0);
	assert_float_equal(r->read_bytes, 35, 0);
	assert_float_equal(r->time_s, 6 * 10e-6, 1e-12);
	assert_float_equal(r->sizes.v[0].bytes, 10, 0);
	assert_float_equal(r->sizes.v[0].requests, 4, 0);
}

/* cat(1) and cp(1) ask copy_file_range(2) for as many bytes as the type of the argument permits. */
/* The new bytes of a request decide only if there are more of them than repeated ones. */
static void a_request_may_repeat_in_part(void **state)
{
	struct fixture *f = *state;
	call4(f, SYS_pread64, 5, 0x2000, 100, 0, 100);   /* sequential */
	call4(f, SYS_pread64, 5, 0x2000, 100, 50, 100);  /* half of it is repeated */
	call4(f, SYS_pread64, 5, 0x2000, 100, 149, 100); /* sequential, because it begins within the previous request */
	call4(f, SYS_pread64, 5, 0x2000, 100, 500, 100); /* random */
	call4(f, SYS_pread64, 5, 0x2000, 100, 240, 100); /* random */
	call4(f, SYS_pwrite64, 6, 0x2000, 100, 0, 100);  /* sequential */
	call4(f, SYS_pwrite64, 6, 0x2000, 100, 40, 100); /* repeated */
	call4(f, SYS_pwrite64, 6, 0x2000, 100, 0, 100);  /* repeated */
	call4(f, SYS_pwrite64, 6, 0x2000, 200, 1000, 99); /* random */
	shares_are(row(f, "/file5"), 2, 2, 1, 0);
	shares_are(row(f, "/file6"), 1, 1, 0, 2);
}

/* bash reads a block for each line, and then seeks back to the end of the line. */
static void reading_ahead_and_seeking_back_is_one_finding(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 0; i < 100; i++) {
		call(f, SYS_lseek, 5, 0, SEEK_CUR, (int64_t)(i * 64));
		call(f, SYS_read, 5, 0x2000, 4096, 4096);
		call(f, SYS_lseek, 5, (uint64_t)-4032, SEEK_CUR, (int64_t)((i + 1) * 64));
	}
	const struct run_io_finding *found = finding(f, "seek-back");
	assert_non_null(found);
	assert_int_equal(f->io.findings.n, 1);
	assert_non_null(strstr(found->text, "99 reads followed an lseek back to data that the program had read but not "
					    "used, so 390 KiB were read again; these reads and seeks took 1.98 ms. "
					    "Keeping the data in memory saves "));
	/* The 6,336 new bytes need 2 of the 99 reads. */
	assert_true(found->saving_high_s <= (97 + 99) * 10e-6 && found->saving_low_s >= (97 + 99) * 8e-6);
}

/* A larger buffer would be read again for each line, so it would make this program slower. */
static void many_seeks_back_do_not_ask_for_a_larger_buffer(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 0; i < 3000; i++) {
		call(f, SYS_read, 5, 0x2000, 4096, 4096);
		call(f, SYS_lseek, 5, (uint64_t)-4032, SEEK_CUR, (int64_t)((i + 1) * 64));
	}
	assert_non_null(finding(f, "seek-back"));
	assert_null(finding(f, "small-reads"));
}

/* pread(2) in between: what is read next is no longer the rest of the previous read. */
static void another_read_after_seeking_back_is_not(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 0; i < 100; i++) {
		call(f, SYS_read, 5, 0x2000, 4096, 4096);
		call(f, SYS_lseek, 5, (uint64_t)-4032, SEEK_CUR, (int64_t)((i + 1) * 64));
		call4(f, SYS_pread64, 5, 0x2000, 10, 0, 10);
	}
	assert_null(finding(f, "seek-back"));
}

static void returning_to_the_start_of_a_block_is_not(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 0; i < 100; i++) {
		call(f, SYS_lseek, 5, 0, SEEK_SET, 0);
		call(f, SYS_read, 5, 0x2000, 64, 64);
	}
	assert_null(finding(f, "seek-back"));
	assert_non_null(finding(f, "seek-before-read"));
	assert_non_null(finding(f, "read-again"));
}

static void no_request_is_larger_than_a_call_may_move(void **state)
{
	struct fixture *f = *state;
	call4(f, SYS_sendfile, 6, 5, 0, UINT64_C(0x7fffffffc0000000), 100);
	call(f, SYS_read, 7, 0x2000, UINT64_C(0x7fffffffc0000000), 100);
	assert_float_equal(row(f, "/file5")->sizes.v[0].bytes, 0x7ffff000, 0);
	assert_float_equal(row(f, "/file7")->sizes.v[0].bytes, 0x7ffff000, 0);
}

static void sendfile_counts_for_both_files(void **state)
{
	struct fixture *f = *state;
	call4(f, SYS_sendfile, 6, 5, 0, 100, 100);
	assert_float_equal(row(f, "/file5")->calls, 1, 0);
	assert_float_equal(row(f, "/file6")->calls, 1, 0);
	assert_float_equal(row(f, "/file5")->time_s, 10e-6, 1e-12);
	assert_float_equal(row(f, "/file6")->time_s, 10e-6, 1e-12);
	assert_float_equal(row(f, "/file5")->read_bytes, 100, 0);
	assert_float_equal(row(f, "/file6")->written_bytes, 100, 0);
}

static void pread_does_not_move_the_offset(void **state)
{
	struct fixture *f = *state;
	call4(f, SYS_pread64, 5, 0x2000, 10, 100, 10);
	call(f, SYS_lseek, 5, 0, SEEK_CUR, 0);
	call(f, SYS_lseek, 5, 7, SEEK_SET, 7);
	const struct run_io_file *r = row(f, "/file5");
	assert_float_equal(r->seeks, 2, 0);
	assert_float_equal(r->seeks_without_effect, 1, 0);
}

static void dup_and_fork_share_the_offset(void **state)
{
	struct fixture *f = *state;
	call(f, SYS_read, 5, 0x2000, 10, 10);
	call(f, SYS_dup, 5, 0, 0, 8);
	call(f, SYS_read, 8, 0x2000, 10, 10);
	give(&f->rig, (struct event){.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 200});
	struct event ev = call_event(EV_ENTER, 200, SYS_read, 8, 0x2000, 10, 0);
	ev.pid = 200;
	give(&f->rig, ev);
	ev = call_event(EV_EXIT, 200, SYS_read, 8, 0x2000, 10, 10);
	ev.pid = 200;
	give(&f->rig, ev);
	call(f, SYS_close, 8, 0, 0, 0);
	call(f, SYS_read, 5, 0x2000, 10, 10);
	shares_are(row(f, "/file5"), 4, 0, 0, 0);
}

static void appending_is_sequential(void **state)
{
	struct fixture *f = *state;
	call(f, SYS_fcntl, 5, F_SETFL, O_APPEND, 0);
	call(f, SYS_write, 5, 0x2000, 10, 10);
	call(f, SYS_lseek, 5, 0, SEEK_SET, 0);
	call(f, SYS_write, 5, 0x2000, 10, 10);
	shares_are(row(f, "/file5"), 2, 0, 0, 0);
}

static void reading_written_bytes_is_not_repeated(void **state)
{
	struct fixture *f = *state;
	call4(f, SYS_pread64, 5, 0x2000, 10, 0, 10);
	call4(f, SYS_pwrite64, 5, 0x2000, 10, 0, 10);
	call4(f, SYS_pread64, 5, 0x2000, 10, 0, 10);
	call4(f, SYS_pwrite64, 5, 0x2000, 10, 0, 10);
	call(f, SYS_ftruncate, 5, 0, 0, 0);
	call4(f, SYS_pwrite64, 5, 0x2000, 10, 0, 10);
	const struct run_io_file *r = row(f, "/file5");
	assert_float_equal(r->reread, 0, 0);
	assert_float_equal(r->rewritten, 1, 0);
}

static void small_requests_are_found(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 1000; i++)
		call(f, SYS_read, 5, 0x2000, 1, 1);
	const struct run_io_finding *found = finding(f, "small-reads");
	assert_non_null(found);
	assert_string_equal(found->file, "/file5");
	assert_float_equal(found->cost_s, 1000 * 10e-6, 1e-9);
	assert_true(found->saving_low_s > 0.0078 && found->saving_low_s <= found->saving_high_s);
	assert_true(found->saving_high_s <= 999 * 10e-6 + 1e-9);
	assert_non_null(strstr(found->text, "/file5: 1,000 sequential reads of 1 byte took 10.0 ms. A 64 KiB buffer "
					    "needs 1 read and saves "));
	assert_null(strstr(found->text, "interrupted"));
	assert_int_equal(f->io.findings.n, 1);
}

/* Every tenth of 1,000 reads of 512 bytes waits 1 ms. */
static void reads_that_wait_are_counted(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 1000; i++) {
		f->wait = i % 10 ? WAIT_NO : WAIT_YES;
		f->waited_ns = i % 10 ? 0 : 990000;
		call(f, SYS_read, 5, 0x2000, 512, 512);
	}
	const struct run_io_file *r = row(f, "/file5");
	assert_float_equal(r->read_waits, 100, 0);
	assert_float_equal(r->read_waited_s, 0.1, 1e-9);
	const struct run_io_finding *found = finding(f, "waiting-reads");
	assert_non_null(found);
	assert_non_null(strstr(found->text,
			       "/file5: 100 of 1,000 reads waited for the device and took 100 ms; the others took "
			       "9.00 ms. "));
	assert_float_equal(found->saving_high_s, 0.1, 1e-9);
	/* A larger buffer saves calls, but no time in which the program waits for the device. */
	found = finding(f, "small-reads");
	assert_non_null(found);
	assert_non_null(strstr(found->text, " took 109 ms. "));
	assert_non_null(
		strstr(found->text, ". 100 calls waited or were interrupted, which took 98.9 ms; the saving does "));
	assert_true(found->saving_high_s < 0.0125);
}

static void unknown_waits_are_not_zero(void **state)
{
	struct fixture *f = *state;
	f->wait = WAIT_NO;
	call(f, SYS_read, 5, 0x2000, 512, 512);
	call(f, SYS_read, 6, 0x2000, 512, 512);
	f->wait = WAIT_UNKNOWN;
	call(f, SYS_read, 6, 0x2000, 512, 512);
	f->waited_ns = (uint64_t)-10000; /* nothing remains after the cost of tracing has been subtracted */
	call(f, SYS_read, 7, 0x2000, 512, 512);
	assert_float_equal(row(f, "/file5")->read_waits, 0, 0);
	assert_null(finding(f, "waiting-reads"));
	assert_true(isnan(row(f, "/file6")->read_waits) && isnan(row(f, "/file6")->read_waited_s));
}

/* On a busy machine, a few calls take longer than all others together. */
static void delays_are_not_saved_without_a_word(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 1000; i++) {
		f->waited_ns = i % 250 ? 0 : 5000000;
		call(f, SYS_read, 5, 0x2000, 1, 1);
	}
	const struct run_io_finding *found = finding(f, "small-reads");
	assert_non_null(found);
	assert_float_equal(found->cost_s, 0.030, 1e-9);
	assert_true(found->saving_high_s < 0.0102);
	assert_float_equal(found->delays_s, 0.020, 0.0002);
	assert_non_null(strstr(found->text, ". 4 calls waited or were interrupted, which took "));
	assert_non_null(strstr(found->text, " ms; the saving does not include this."));
}

/* bash reads a pipe byte by byte. The writer of the pipe uses larger requests. */
static void the_sizes_of_writes_do_not_concern_reads(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++)
		call(f, SYS_write, 5, 0x2000, 10, 10);
	call(f, SYS_lseek, 5, 0, SEEK_SET, 0);
	for (int i = 0; i < 1000; i++)
		call(f, SYS_read, 5, 0x2000, 1, 1);
	const struct run_io_finding *found = finding(f, "small-reads");
	assert_non_null(found);
	assert_non_null(strstr(found->text, "1,000 sequential reads of 1 byte took"));
}

/* If tracing a call takes longer than the call, nobody knows how long the call took. */
static void costly_tracing_gives_no_figure(void **state)
{
	struct fixture *f = *state;
	f->cost_ns = 12000;
	for (int i = 0; i < 1000; i++)
		call(f, SYS_read, 5, 0x2000, 1, 1);
	const struct run_io_finding *found = finding(f, "small-reads");
	assert_non_null(found);
	assert_true(isnan(found->saving_low_s) && isnan(found->saving_high_s));
}

/* Writes `bytes` at the current offset, which takes `ns` nanoseconds. */
static void write_in(struct fixture *f, uint64_t ns, uint64_t bytes)
{
	f->waited_ns = ns - 10000;
	call(f, SYS_write, 5, 0x2000, bytes, (int64_t)bytes);
}

/* A larger buffer adds several pages at once, which is at least 30 % of the cost of adding a page. */
static void pages_are_added_together(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 1600; i++)
		write_in(f, 10000, 4096);
	f->waited_ns = 500 - 10000;
	call(f, SYS_lseek, 6, 0, SEEK_SET, 0); /* the quickest call of the run */
	const struct run_io_finding *found = finding(f, "small-writes");
	assert_non_null(found);
	assert_true(found->saving_low_s > 1500 * 0.3 * 9e-6 && found->saving_high_s < 1500 * 10e-6);
}

/* fwrite(3) divides 64 KiB in this way: the second write begins within 64 KiB and cannot use one large folio. */
static void pages_of_unaligned_writes_are_added_together(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 800; i++) {
		write_in(f, 10000, 4096);
		write_in(f, 80000, 61440);
	}
	const struct run_io_finding *found = finding(f, "small-writes");
	assert_non_null(found);
	assert_true(found->saving_low_s < 800 * 6e-6 && found->saving_high_s > 800 * 20e-6);
}

static void no_more_is_saved_than_it_costs(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++) {
		f->waited_ns = i == 50 ? 5000000 : 0;
		call(f, SYS_lseek, 5, 0, SEEK_SET, 0);
		call(f, SYS_read, 5, 0x2000, 65536, 65536);
	}
	const struct run_io_finding *found = finding(f, "seek-before-read");
	assert_non_null(found);
	assert_float_equal(found->cost_s, 100 * 10e-6 + 5e-3, 1e-6);
	assert_true(found->saving_low_s <= found->saving_high_s && found->saving_high_s <= found->cost_s);
}

/* Python asks for the offset of each file that it opens. pread(2) would not save this. */
static void seeks_that_only_ask_are_not_replaced_by_pread(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 100; i++) {
		call(f, SYS_lseek, 5, 0, SEEK_CUR, i * 4096);
		call(f, SYS_read, 5, 0x2000, 4096, 4096);
		call(f, SYS_lseek, 5, 0, SEEK_CUR, (i + 1) * 4096);
	}
	call(f, SYS_lseek, 5, 0, SEEK_SET, 0);
	const struct run_io_finding *found = finding(f, "idle-seeks");
	assert_non_null(found);
	assert_int_equal(f->io.findings.n, 1);
	assert_non_null(strstr(found->text,
			       "/file5: 200 lseeks did not change the offset and took 2.00 ms. Leaving them "
			       "out saves "));
}

/* Reads the file from its start as a process of its own. */
static void read_as(struct fixture *f, pid_t pid, int times)
{
	for (int i = 0; i < times; i++) {
		struct event ev = call_event(EV_ENTER, pid, SYS_pread64, 5, 0x2000, 10, 0);
		ev.pid = pid;
		give(&f->rig, ev);
		ev = call_event(EV_EXIT, pid, SYS_pread64, 5, 0x2000, 10, 10);
		ev.pid = pid;
		give(&f->rig, ev);
	}
}

static void processes_do_not_repeat_each_other(void **state)
{
	struct fixture *f = *state;
	for (pid_t pid = 200; pid < 500; pid++)
		read_as(f, pid, 1);
	read_as(f, 500, 20);
	assert_null(finding(f, "read-again"));
	assert_null(finding(f, "small-reads"));
	assert_float_equal(row(f, "/file5")->reread, 319, 0);
}

static void one_process_repeats_itself(void **state)
{
	struct fixture *f = *state;
	read_as(f, 200, 2);
	read_as(f, 300, 201);
	read_as(f, 400, 1);
	const struct run_io_finding *found = finding(f, "read-again");
	assert_non_null(found);
	assert_non_null(strstr(found->text, "200 reads returned bytes that the same process had read before"));
}

static void copy(struct fixture *f, int from, int to)
{
	for (int i = 0; i < 100; i++) {
		call(f, SYS_read, (uint64_t)from, 0x2000, 4096, 4096);
		call(f, SYS_write, (uint64_t)to, 0x2000, 4096, 4096);
	}
}

static void copies_are_found(void **state)
{
	copy(*state, 5, 6);
	assert_non_null(finding(*state, "copied-by-hand"));
}

static void copies_with_o_direct_are_not(void **state)
{
	call(*state, SYS_fcntl, 6, F_SETFL, O_DIRECT, 0);
	copy(*state, 5, 6);
	copy(*state, 6, 7);
	assert_null(finding(*state, "copied-by-hand"));
}

static void synchronous_writes_are_found(void **state)
{
	struct fixture *f = *state;
	open_as(f, O_WRONLY | O_DSYNC, 20);
	f->waited_ns = 90000;
	for (int i = 0; i < 20; i++)
		call(f, SYS_write, 20, 0x2000, 1000, 1000);
	const struct run_io_finding *found = finding(f, "sync-each-write");
	assert_non_null(found);
	assert_float_equal(found->cost_s, 20 * 100e-6, 1e-9);
	/* Each write takes 100 us, of which the transfer of the 1000 bytes takes 0.2 to 10 us. */
	assert_float_equal(found->saving_low_s, 19 * 90e-6, 19 * 2e-6);
	assert_float_equal(found->saving_high_s, 19 * 99.8e-6, 1e-9);
	assert_non_null(strstr(found->text, "20 writes waited for the disk, because of O_SYNC or O_DSYNC, and took "
					    "2.00 ms. Writing without this flag and one fsync at the end saves "));
}

static void syncs_that_take_most_of_the_time_are_found(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 20; i++) {
		f->waited_ns = 0;
		for (int k = 0; k < 10; k++) {
			call(f, SYS_write, 5, 0x2000, 4096, 4096);
			call(f, SYS_write, 6, 0x2000, 4096, 4096);
		}
		call(f, SYS_fsync, 6, 0, 0, 0);
		f->waited_ns = 190000;
		call(f, SYS_fsync, 5, 0, 0, 0);
	}
	const struct run_io_finding *found = finding(f, "sync-each-write");
	assert_non_null(found);
	assert_non_null(strstr(found->text,
			       "/file5: 20 syncs took 4.00 ms, most of the time of the calls on this file. "
			       "One fsync at the end saves about 3.80 ms."));
	assert_int_equal(f->io.findings.n, 1);
}

static void a_flag_makes_one_write_synchronous(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 20; i++) {
		struct event ev = call_event(EV_ENTER, 100, SYS_pwritev2, 5, 0x2000, 1, 0);
		ev.call.args[5] = 2; /* RWF_DSYNC */
		give(&f->rig, ev);
		ev = call_event(EV_EXIT, 100, SYS_pwritev2, 5, 0x2000, 1, 1000);
		ev.call.args[5] = 2;
		give(&f->rig, ev);
	}
	const struct run_io_finding *found = finding(f, "sync-each-write");
	assert_non_null(found);
	assert_non_null(strstr(found->text, "20 writes waited for the disk, because of RWF_SYNC or RWF_DSYNC, and"));
}

/* A write with O_DIRECT would wait for the device without O_DSYNC, too. */
static void o_direct_may_be_the_whole_cost_of_a_synchronous_write(void **state)
{
	struct fixture *f = *state;
	open_as(f, O_WRONLY | O_DIRECT | O_SYNC, 20);
	for (int i = 0; i < 20; i++)
		call(f, SYS_write, 20, 0x2000, 4096, 4096);
	const struct run_io_finding *found = finding(f, "sync-each-write");
	assert_non_null(found);
	assert_float_equal(found->saving_low_s, 0, 0);
	assert_true(found->saving_high_s > 0);
}

/* The kernel would wait for the disk as well if it copied the data. */
static void copies_to_the_disk_are_not(void **state)
{
	open_as(*state, O_WRONLY | O_SYNC, 20);
	copy(*state, 5, 20);
	assert_null(finding(*state, "copied-by-hand"));
}

static void few_requests_are_not(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 63; i++)
		call(f, SYS_read, 5, 0x2000, 1, 1);
	for (int i = 0; i < 500; i++)
		call(f, SYS_read, 6, 0x2000, 65536, 65536);
	assert_null(finding(f, "small-reads"));
	assert_int_equal(f->io.findings.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(each_request_is_of_one_class),
		WITH(a_request_may_repeat_in_part),
		WITH(reading_ahead_and_seeking_back_is_one_finding),
		WITH(many_seeks_back_do_not_ask_for_a_larger_buffer),
		WITH(another_read_after_seeking_back_is_not),
		WITH(returning_to_the_start_of_a_block_is_not),
		WITH(no_request_is_larger_than_a_call_may_move),
		WITH(sendfile_counts_for_both_files),
		WITH(pread_does_not_move_the_offset),
		WITH(dup_and_fork_share_the_offset),
		WITH(appending_is_sequential),
		WITH(reading_written_bytes_is_not_repeated),
		WITH(small_requests_are_found),
		WITH(reads_that_wait_are_counted),
		WITH(unknown_waits_are_not_zero),
		WITH(delays_are_not_saved_without_a_word),
		WITH(the_sizes_of_writes_do_not_concern_reads),
		WITH(costly_tracing_gives_no_figure),
		WITH(pages_are_added_together),
		WITH(pages_of_unaligned_writes_are_added_together),
		WITH(no_more_is_saved_than_it_costs),
		WITH(seeks_that_only_ask_are_not_replaced_by_pread),
		WITH(copies_are_found),
		WITH(copies_with_o_direct_are_not),
		WITH(copies_to_the_disk_are_not),
		WITH(synchronous_writes_are_found),
		WITH(syncs_that_take_most_of_the_time_are_found),
		WITH(a_flag_makes_one_write_synchronous),
		WITH(o_direct_may_be_the_whole_cost_of_a_synchronous_write),
		WITH(few_requests_are_not),
		WITH(processes_do_not_repeat_each_other),
		WITH(one_process_repeats_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
