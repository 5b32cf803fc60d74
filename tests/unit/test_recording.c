/* SPDX-License-Identifier: MIT */
/* Writes recordings and reads them back: complete files, truncated files and damaged files. */
#include "base/clock.h"

#include "recording_rig.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

static void write_event(struct recording_writer *w, struct recording_thread *th, struct event ev, const char *bytes)
{
	struct buf c = {0};
	if (bytes)
		captured_add(&c, ev.call.args[1], bytes, strlen(bytes), ev.kind == EV_ENTER);
	recording_event_begin(w, th, &ev);
	recording_event(w, th, &ev, &(struct captured_list){(const unsigned char *)c.s, 0, c.len});
	buf_free(&c);
}

/* Writes `n` reads of one byte, and the end of the thread. */
static void write_reads(struct recording_writer *w, int n)
{
	struct recording_thread th = {0};
	char byte[2] = "?";
	for (int i = 0; i < n; i++) {
		struct event ev = call_event(EV_ENTER, 100, SYS_read, 3, 0x1000, 1, 0);
		ev.time_ns = ev.call.enter_ns = 4000 + (uint64_t)i * 1000;
		write_event(w, &th, ev, NULL);
		ev = call_event(EV_EXIT, 100, SYS_read, 3, 0x1000, 1, 1);
		ev.call.enter_ns = 4000 + (uint64_t)i * 1000;
		ev.time_ns = ev.call.enter_ns + 500;
		byte[0] = (char)('a' + i % 26);
		write_event(w, &th, ev, byte);
	}
	write_event(w, &th,
		    (struct event){.kind = EV_DEATH,
				   .tid = 100,
				   .pid = 100,
				   .time_ns = 9000,
				   .status = 3 << 8,
				   .is_process = true},
		    NULL);
	recording_thread_free(w, &th);
}

/* Reads all events, and returns the number of calls. */
static int count_reads(struct recording *r)
{
	struct engine *e = recording_engine(r);
	struct event ev;
	int n = 0;
	while (e->ops->next(e, &ev) == 1) {
		char byte;
		if (ev.kind != EV_EXIT)
			continue;
		assert_int_equal(ev.call.nr, SYS_read);
		assert_string_equal(ev.call.desc->name, "read");
		assert_int_equal(ev.call.args[1], 0x1000);
		assert_int_equal(ev.call.result, 1);
		assert_int_equal(ev.call.duration_ns, 30000);
		assert_int_equal(ev.call.cost_ns, 20000);
		assert_int_equal(ev.call.enter_ns, 4000 + n * 1000);
		assert_int_equal(mem_get(ev.mem, 0x1000, &byte, 1), 0);
		assert_int_equal(byte, 'a' + n % 26);
		assert_int_equal(mem_get(ev.mem, 0x1001, &byte, 1), -EFAULT);
		n++;
	}
	return n;
}

static void test_whole(void **state)
{
	(void)state;
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct buf why = {0};
	struct stat st;
	write_reads(w, 200000);
	end(w, &h);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	struct recording *r = open_it();
	const struct recording_head *got = recording_head_of(r);
	assert_int_equal(got->start_ns, 1000);
	assert_int_equal(got->real_offset_ns, -77);
	assert_int_equal(got->string_max, 64);
	assert_true(got->follow && !got->stacks && !got->last);
	assert_string_equal(got->about.engine, "made-up");
	assert_int_equal(got->about.program.n, 2);
	assert_int_equal(count_reads(r), 200000);
	assert_true(recording_is_complete(r, &why));
	assert_int_equal(recording_percent(r), 100);
	struct engine *e = recording_engine(r);
	struct engine_result found;
	e->ops->result(e, &found);
	e->ops->footer(e, &why);
	assert_string_equal(e->ops->name, "made-up");
	assert_int_equal(found.status, 3 << 8);
	assert_int_equal(found.wall_ns, 5);
	assert_int_equal(found.peak_rss_bytes, 4096);
	assert_string_equal(buf_str(&why), "engine: made up \\x1b[31m\nby a test");
	buf_free(&why);
	recording_close_read(r);
}

static void test_waits(void **state)
{
	static const enum call_wait waits[] = {WAIT_UNKNOWN, WAIT_YES, WAIT_NO, WAIT_YES, WAIT_UNKNOWN};
	(void)state;
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct recording_thread th = {0};
	const struct captured_list none = {0};
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		struct event ev = call_event(EV_CALL, 100, SYS_close, 3, 0, 0, 0);
		ev.call.wait = waits[i];
		recording_event_begin(w, &th, &ev);
		recording_event(w, &th, &ev, &none);
	}
	recording_thread_free(w, &th);
	end(w, &h);
	struct recording *r = open_it();
	struct engine *e = recording_engine(r);
	struct event ev;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		assert_int_equal(e->ops->next(e, &ev), 1);
		assert_int_equal(ev.call.wait, waits[i]);
	}
	recording_close_read(r);
}

/* The data that a call takes was captured before the call, and can be read after it. That of other calls cannot. */
static struct event read_of(enum event_kind kind, pid_t tid, uint64_t fd, uint64_t time_ns)
{
	struct event ev = call_event(kind, tid, SYS_read, fd, 0x1000, 1, 1);
	ev.time_ns = ev.call.enter_ns = time_ns;
	return ev;
}

/* The start of a call that was not made is removed, unless something else was written after it. */
static void test_withdrawn(void **state)
{
	(void)state;
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct recording_thread one = {0}, two = {0};
	assert_false(recording_withdraw(w, &one));
	write_event(w, &one, read_of(EV_ENTER, 100, 3, 4000), NULL);
	write_event(w, &one, read_of(EV_EXIT, 100, 3, 5000), "a");
	write_event(w, &one, read_of(EV_ENTER, 100, 99, 6000), "b");
	assert_true(recording_withdraw(w, &one));
	assert_false(recording_withdraw(w, &one));
	write_event(w, &one, read_of(EV_ENTER, 100, 5, 7000), NULL);
	write_event(w, &two, read_of(EV_ENTER, 101, 6, 8000), NULL);
	assert_false(recording_withdraw(w, &one));
	recording_thread_free(w, &one);
	recording_thread_free(w, &two);
	end(w, &h);
	struct recording *r = open_it();
	struct engine *e = recording_engine(r);
	struct event ev;
	static const struct {
		enum event_kind kind;
		uint64_t fd, time_ns;
	} expect[] = {{EV_ENTER, 3, 4000}, {EV_EXIT, 3, 5000}, {EV_ENTER, 5, 7000}, {EV_ENTER, 6, 8000}};
	for (size_t i = 0; i < sizeof(expect) / sizeof(*expect); i++) {
		assert_int_equal(e->ops->next(e, &ev), 1);
		assert_int_equal(ev.kind, expect[i].kind);
		assert_int_equal(ev.call.args[0], expect[i].fd);
		assert_int_equal(ev.time_ns, expect[i].time_ns);
	}
	assert_int_equal(e->ops->next(e, &ev), 0);
	recording_close_read(r);
}

/* What was captured before a call is known after it, even if another block contains its end, and unless it was captured again. */
static void test_taken_data(void **state)
{
	(void)state;
	static const char *const after[] = {NULL, "b", NULL};
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct recording_thread th = {0};
	for (int i = 0; i < 3; i++) {
		struct event ends = call_event(EV_EXIT, 100, SYS_write, 3, 0x1000, 1, 1);
		write_event(w, &th, call_event(EV_ENTER, 100, SYS_write, 3, 0x1000, 1, 0), "ac");
		uint64_t block = th.blocks[0].number;
		if (i == 2)
			ends.time_ns += 2 * NSEC_PER_SEC;
		write_event(w, &th, ends, after[i]);
		assert_int_equal(th.blocks[0].number, block + (i == 2));
	}
	recording_thread_free(w, &th);
	end(w, &h);
	struct recording *r = open_it();
	struct engine *e = recording_engine(r);
	struct event ev;
	int n = 0;
	while (e->ops->next(e, &ev) == 1) {
		char bytes[2];
		assert_int_equal(mem_get(ev.mem, 0x1000, bytes, 2), 0);
		assert_memory_equal(bytes, ev.kind == EV_EXIT && n == 3 ? "bc" : "ac", 2);
		assert_int_equal(mem_get(ev.mem, 0x1002, bytes, 1), -EFAULT);
		n++;
	}
	assert_int_equal(n, 6);
	recording_close_read(r);
}

/* The type and number of a device are not printed if they contain other characters. */
static void test_devices(void **state)
{
	(void)state;
	static char *const texts[] = {"char 1:3", "char\033[31m", "char\"1:3", ""};
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct recording_thread th = {0};
	struct event ev = call_event(EV_ENTER, 100, SYS_read, 3, 0x1000, 1, 0);
	const struct captured_list none = {0};
	recording_event_begin(w, &th, &ev);
	for (uint32_t fd = 0; fd < 4; fd++)
		recording_name(w, NAME_DEVICE, 100, fd, &(struct buf){.s = texts[fd], .len = strlen(texts[fd])}, 0);
	recording_event(w, &th, &ev, &none);
	recording_thread_free(w, &th);
	end(w, &h);
	struct recording *r = open_it();
	struct engine *e = recording_engine(r);
	const struct names *n = recording_names(r);
	struct buf answer = {0};
	assert_int_equal(e->ops->next(e, &ev), 1);
	for (int fd = 0; fd < 4; fd++)
		assert_int_equal(n->device(n->ctx, 100, fd, &answer), fd == 0);
	assert_string_equal(buf_str(&answer), "char 1:3");
	buf_free(&answer);
	recording_close_read(r);
}

/* Truncates the file at every length. The rest can be read, and only the whole file is complete. */
static void test_cut_off(void **state)
{
	(void)state;
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct stat st;
	int last = 0;
	write_reads(w, 200);
	end(w, &h);
	assert_int_equal(stat(path, &st), 0);
	for (off_t n = st.st_size - 1; n >= 0; n--) {
		struct recording *r;
		struct buf why = {0};
		assert_int_equal(truncate(path, n), 0);
		if (recording_open(&r, path, &why) == 0) {
			int reads = count_reads(r);
			last = reads > last ? reads : last;
			assert_false(recording_is_complete(r, &why));
			recording_close_read(r);
		}
		assert_true(why.len > 0);
		buf_free(&why);
	}
	assert_int_equal(last, 200);
}

static void test_damaged(void **state)
{
	(void)state;
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct stat st;
	write_reads(w, 200);
	end(w, &h);
	assert_int_equal(stat(path, &st), 0);
	int fd = open(path, O_RDWR);
	char was, now;
	for (off_t at = RECORDING_HEADER; at < st.st_size; at++) {
		struct recording *r;
		struct buf why = {0};
		assert_int_equal(pread(fd, &was, 1, at), 1);
		now = (char)(was ^ 0x40);
		assert_int_equal(pwrite(fd, &now, 1, at), 1);
		if (recording_open(&r, path, &why) == 0) {
			struct engine *e = recording_engine(r);
			struct event ev;
			while (e->ops->next(e, &ev) == 1)
				continue;
			/*
			 * A changed byte of zstd's format may still decode to the same data. Then the file is not
			 * damaged.
			 */
			bool same = recording_is_complete(r, &why);
			recording_close_read(r);
			r = same ? open_it() : NULL;
			assert_true(!same || count_reads(r) == 200);
			assert_true(same || why.len > 0);
			if (same)
				recording_close_read(r);
		}
		buf_free(&why);
		assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	close(fd);
}

static void test_followed(void **state)
{
	(void)state;
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	struct buf why = {0};
	write_reads(w, 200);
	end(w, &h);
	FILE *f = fopen(path, "a");
	assert_int_equal(fputc('x', f), 'x');
	fclose(f);
	struct recording *r = open_it();
	assert_int_equal(count_reads(r), 200);
	assert_false(recording_is_complete(r, &why));
	assert_non_null(strstr(buf_str(&why), "but the file continues"));
	recording_close_read(r);
	buf_free(&why);
}

/* The second block of the file is larger than a reader must accept. */
static void test_too_large(void **state)
{
	(void)state;
	static const char magic[] = "\x28\xb5\x2f\xfd"; /* of a frame (RFC 8878, 3.1.1) */
	struct recording_head h;
	struct recording_writer *w = create(&h, NULL);
	write_reads(w, 1);
	end(w, &h);
	char bytes[8192];
	FILE *f = fopen(path, "r+");
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	const char *first = memmem(bytes, n, magic, 4);
	const char *second = memmem(first + 4, n - (size_t)(first + 4 - bytes), magic, 4);
	size_t large = RECORDING_BLOCK_MOST + 1, room = ZSTD_compressBound(large);
	char *zeros = calloc(1, large), *packed = malloc(room);
	size_t packed_n = ZSTD_compress(packed, room, zeros, large, 1);
	fseek(f, second - bytes, SEEK_SET);
	assert_int_equal(fwrite(packed, 1, packed_n, f), packed_n);
	fclose(f);
	free(zeros);
	free(packed);
	struct recording *r = open_it();
	struct engine *e = recording_engine(r);
	struct event ev;
	struct buf why = {0};
	assert_int_equal(e->ops->next(e, &ev), 0);
	assert_false(recording_is_complete(r, &why));
	assert_non_null(strstr(buf_str(&why), "the recording is damaged"));
	recording_close_read(r);
	buf_free(&why);
}

static void refused(const char *bytes, size_t n, const char *says)
{
	struct recording *r;
	struct buf why = {0};
	FILE *f = fopen(path, "w");
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
	assert_int_equal(recording_open(&r, path, &why), -EBADMSG);
	assert_non_null(strstr(buf_str(&why), says));
	buf_free(&why);
}

static void test_foreign(void **state)
{
	(void)state;
	refused("", 0, "it is empty; with --last");
	struct recording *r;
	struct buf why = {0};
	assert_int_equal(recording_open(&r, "/", &why), -EISDIR);
	assert_non_null(strstr(buf_str(&why), "Is a directory"));
	buf_free(&why);
	refused("{\"kind\": \"count\", \"calls\": []}", 30, "it is not a recording");
	refused("SCTRACE\n\5\0\0\0\0\0\0\0", 16,
		"it has version 5 of the format, but this sctrace reads versions 1 to 4");
	refused("SCTRACE\n\0\0\0\0\0\0\0\0", 16, "it has version 0 of the format");
	refused("SCTRACE\n\1\0\0\0\0\0\0\0", 16, "it ends before its first event");
	refused("SCTRACE\n\1\0\0\0\0\0\0\0hello", 21, "its start is damaged");
}

/* Only the last of 100,000 calls are kept: at least as many as requested, and not many more. */
static void test_last(void **state)
{
	(void)state;
	struct recording_head h;
	struct recording_last last = {.calls = 1000};
	struct recording_writer *w = create(&h, &last);
	struct stat st;
	write_reads(w, 100000);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	recording_save(w, &(struct recording_end){&result, ""});
	write_reads(w, 100);
	end(w, &h);
	struct recording *r = open_it();
	struct engine *e = recording_engine(r);
	struct event ev;
	struct buf why = {0};
	int n = 0;
	uint64_t last_ns = 0;
	while (e->ops->next(e, &ev) == 1)
		if (ev.kind == EV_EXIT) {
			n++;
			last_ns = ev.call.enter_ns;
		}
	assert_in_range(n, 1000, 20000);
	assert_int_equal(last_ns, 4000 + 99999ull * 1000);
	assert_true(recording_is_complete(r, &why));
	recording_close_read(r);
}

static void write_calls(struct recording_writer *w, struct recording_thread *th, pid_t tid, int n)
{
	for (int i = 0; i < n; i++) {
		write_event(w, th, call_event(EV_ENTER, tid, SYS_read, 3, 0x1000, 1, 0), NULL);
		write_event(w, th, call_event(EV_EXIT, tid, SYS_read, 3, 0x1000, 1, 1), "x");
	}
}

/* Checks how many calls of the threads 200 and 300, and of all other threads, are kept. */
static void assert_kept(struct recording_writer *w, int of_200, int of_300)
{
	struct event ev;
	int n[3] = {0, 0, 0};
	recording_save(w, &(struct recording_end){&result, ""});
	struct recording *r = open_it();
	struct engine *e = recording_engine(r);
	while (e->ops->next(e, &ev) == 1)
		n[ev.tid == 200 ? 0 : ev.tid == 300 ? 1 : 2] += ev.kind == EV_EXIT;
	assert_int_equal(n[0], of_200);
	assert_int_equal(n[1], of_300);
	assert_in_range(n[2], 1000, 60000);
	recording_close_read(r);
}

/*
 * The last calls of a thread are kept while the thread exists. Those of a thread that crashed are also kept afterwards.
 */
static void test_last_of_threads(void **state)
{
	(void)state;
	struct recording_head h;
	struct recording_last last = {.calls = 1000};
	struct recording_writer *w = create(&h, &last);
	struct recording_thread idle = {0}, crashed = {0};
	write_calls(w, &idle, 200, 3);
	write_reads(w, 100000);
	assert_kept(w, 3, 0);
	write_calls(w, &crashed, 300, 3);
	recording_crash(w, &crashed);
	recording_thread_free(w, &crashed);
	write_reads(w, 100000);
	assert_kept(w, 3, 3);
	recording_thread_free(w, &idle);
	assert_kept(w, 0, 3);
	/* Another thread crashes. */
	crashed = (struct recording_thread){0};
	write_calls(w, &crashed, 301, 3);
	recording_crash(w, &crashed);
	recording_thread_free(w, &crashed);
	write_reads(w, 100000);
	assert_kept(w, 0, 0);
	/* The last 32 calls of the thread are kept, but only if they are in 16 blocks. Each block has three of them. */
	crashed = (struct recording_thread){0};
	for (int i = 0; i < 15; i++) {
		write_reads(w, 20000);
		write_calls(w, &crashed, 300, 3);
	}
	recording_crash(w, &crashed);
	recording_thread_free(w, &crashed);
	write_reads(w, 100000);
	assert_kept(w, 0, 36);
	/* Each block has one call of the thread. */
	crashed = (struct recording_thread){0};
	for (int i = 0; i < 40; i++) {
		write_reads(w, 20000);
		write_calls(w, &crashed, 300, 1);
	}
	recording_crash(w, &crashed);
	recording_thread_free(w, &crashed);
	write_reads(w, 100000);
	assert_kept(w, 0, 16);
	end(w, &h);
}

static void test_last_parse(void **state)
{
	(void)state;
	struct recording_last l;
	struct buf why = {0};
	assert_int_equal(recording_last_parse("1000", &l, &why), 0);
	assert_int_equal(l.calls, 1000);
	assert_int_equal(recording_last_parse("64M", &l, &why), 0);
	assert_int_equal(l.bytes, 64 << 20);
	assert_int_equal(l.calls, 0);
	assert_int_equal(recording_last_parse("30s", &l, &why), 0);
	assert_int_equal(l.ns, 30000000000);
	for (const char *const *p = (const char *const[]){"", "0", "-5", "5 calls", "0s", NULL}; *p; p++)
		assert_int_equal(recording_last_parse(*p, &l, &why), -EINVAL);
	buf_free(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_waits, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_withdrawn, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_taken_data, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_devices, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_cut_off, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_damaged, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_followed, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_too_large, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_foreign, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_last, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_last_of_threads, make_path, remove_path),
		cmocka_unit_test(test_last_parse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
