/* SPDX-License-Identifier: MIT */
/* Compares the text of live events with the text of their recording. */
#include "trace/text.h"
#include "trace/trace_recorder.h"

#include "recording_rig.h"

/* Compares the text of events with that of their recording. The names of descriptors change in between. */
static struct names changing;
static int renamed;

static bool changing_fd(void *ctx, pid_t tid, int fd, struct buf *out)
{
	(void)ctx, (void)tid;
	buf_addf(out, "/file%d.%d", fd, renamed);
	return true;
}

static void give_all(struct trace_pipeline *p)
{
	struct event new_task = {
		.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 101, .is_thread = true, .time_ns = 4500};
	struct event sig = {.kind = EV_SIGNAL, .tid = 101, .pid = 100, .ip = 0x77, .time_ns = 5500};
	struct event death = {.kind = EV_DEATH, .tid = 101, .pid = 100, .status = SIGSEGV, .time_ns = 6000};
	struct event exec = {.kind = EV_EXEC, .tid = 100, .pid = 100, .child = 101, .time_ns = 5900};
	struct event events[] = {
		call_event(EV_ENTER, 100, SYS_write, 1, 0x1000, sizeof(text) - 1, 0),
		call_event(EV_EXIT, 100, SYS_write, 1, 0x1000, sizeof(text) - 1, sizeof(text) - 1),
		new_task,
		call_event(EV_ENTER, 100, SYS_read, 3, 0x1000, 100, 0),
		call_event(EV_ENTER, 101, SYS_openat, 0x1000, 0, 0, 0),
		call_event(EV_EXIT, 101, SYS_openat, 0x1000, 0, 0, -ENOENT),
		call_event(EV_EXIT, 100, SYS_read, 3, 0x1000, 100, 5),
		call_event(EV_ENTER, 100, SYS_write, 1, 0x8000, 10, 0),
		call_event(EV_EXIT, 100, SYS_write, 1, 0x8000, 10, -EFAULT),
		call_event(EV_ENTER, 101, SYS_dup, 3, 0, 0, 0),
		call_event(EV_EXIT, 101, SYS_dup, 3, 0, 0, 5),
		call_event(EV_ENTER, 100, 5000, 3, 1, 2, 0),
		call_event(EV_VANISH, 100, 5000, 3, 1, 2, 0),
		exec,
		sig,
		death,
	};
	sig.sig.si_signo = SIGSEGV;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (events[i].kind == EV_SIGNAL)
			events[i].sig.si_signo = SIGSEGV;
		renamed = i > 9;
		trace_pipeline_event(p, &events[i]);
	}
}

static struct trace_text_config text_config(struct rig *r)
{
	return (struct trace_text_config){
		.out = &r->out,
		.decoding = {.string_max = 32, .fd_names = FD_PATHS, .pid_names = true, .look = &r->look},
		.column = 40,
		.pids = PIDS_OF_SEVERAL,
		.times = {CLOCK_EPOCH, PRECISION_US, PRECISION_US, PRECISION_US},
		.addresses = true};
}

static void test_same_text(void **state)
{
	(void)state;
	struct rig live = {0}, shown = {0};
	struct trace_text t, again;
	struct trace_recorder rec;
	struct recording_head h;
	struct event ev;
	changing = names;
	changing.fd = changing.fd_in_full = changing_fd;
	struct recording_writer *w = create(&h, NULL);
	struct trace_text_config c = text_config(&live);
	trace_text_init(&t, &c);
	rig_start(&live, &t.sink);
	live.p.session.names = &changing;
	struct trace_recorder_config rc = {.writer = w, .all_calls = true, .string_max = 64, .look = &live.look};
	trace_recorder_init(&rec, &rc, &live.p.session);
	trace_pipeline_add(&live.p, &rec.sink);
	give_all(&live.p);
	trace_pipeline_end(&live.p); /* uses the writer, which end() frees */
	end(w, &h);

	struct recording *r = open_it();
	c = text_config(&shown);
	trace_text_init(&again, &c);
	rig_start(&shown, &again.sink);
	shown.p.session.names = recording_names(r);
	struct engine *e = recording_engine(r);
	while (e->ops->next(e, &ev) == 1)
		trace_pipeline_event(&shown.p, &ev);
	assert_non_null(strstr(buf_str(&live.out.common.buf), "write(1</file1.0>, \"a "));
	assert_non_null(strstr(buf_str(&live.out.common.buf), "= 5</file5.1>"));
	assert_string_equal(buf_str(&shown.out.common.buf), buf_str(&live.out.common.buf));
	rig_free(&live);
	rig_free(&shown);
	trace_recorder_free(&rec);
	recording_close_read(r);
}

static ssize_t read_before(void *ctx, uint64_t addr, void *buf, size_t n)
{
	ssize_t got = fake_read(ctx, addr, buf, n);
	if (got > 0)
		memset(buf, 'B', (size_t)got);
	return got;
}

static void give_whole(struct trace_pipeline *p, long nr, uint64_t a0, uint64_t a1, uint64_t a2, int64_t returned)
{
	const struct mem before = {.read = read_before};
	struct event ev = call_event(EV_CALL, 100, nr, a0, a1, a2, returned);
	ev.entry_mem = &before;
	trace_pipeline_event(p, &ev);
}

static void give_whole_calls(struct trace_pipeline *p)
{
	give_whole(p, SYS_write, 1, 0x1000, 3, 3);
	give_whole(p, SYS_read, 3, 0x1000, 3, 3);
	give_whole(p, SYS_read, 3, 0x1000, 3, -EBADF);
	give_whole(p, SYS_dup, 1, 0, 0, 3);
	give_whole(p, SYS_dup3, 1, 3, 0, 3); /* the pipeline splits a call that changes the name of an argument */
	give_whole(p, SYS_close, 3, 0, 0, 0);
	give_whole(p, SYS_write, 1, 0x8000, 3, -EFAULT);
	give_whole(p, 5000, 1, 2, 3, 4);
}

/* Runs the events of the recording through a pipeline with one text sink. Returns the text, which the caller frees. */
static char *shown(struct recording *r, unsigned *whole)
{
	struct rig rig = {0};
	struct trace_text t;
	struct trace_text_config c = text_config(&rig);
	struct event ev;
	trace_text_init(&t, &c);
	rig_start(&rig, &t.sink);
	if (r)
		rig.p.session.names = recording_names(r);
	else
		give_whole_calls(&rig.p);
	struct engine *e = r ? recording_engine(r) : NULL;
	while (e && e->ops->next(e, &ev) == 1) {
		*whole += ev.kind == EV_CALL;
		trace_pipeline_event(&rig.p, &ev);
	}
	char *text_of_all = strdup(buf_str(&rig.out.common.buf));
	rig_free(&rig);
	return text_of_all;
}

static void test_calls_as_one_event(void **state)
{
	(void)state;
	struct rig live = {0};
	struct trace_recorder rec;
	struct recording_head h;
	unsigned whole = 0;
	struct recording_writer *w = create(&h, NULL);
	struct trace_recorder_config rc = {.writer = w, .all_calls = true, .string_max = 64, .look = &live.look};
	live.p.session.names = &names;
	trace_recorder_init(&rec, &rc, &live.p.session);
	const struct names *recorded = live.p.session.names;
	rig_start(&live, &rec.sink);
	live.p.session.names = recorded;
	give_whole_calls(&live.p);
	trace_pipeline_end(&live.p); /* uses the writer, which end() frees */
	end(w, &h);
	struct recording *r = open_it();
	char *now = shown(NULL, NULL), *later = shown(r, &whole);
	assert_non_null(strstr(now, "write(1</file1>, \"BBB\", 3)"));
	assert_non_null(strstr(now, "read(3</file3>, \"a \\33\", 3)"));
	assert_string_equal(later, now);
	assert_int_equal(whole, 7);
	free(now);
	free(later);
	rig_free(&live);
	trace_recorder_free(&rec);
	recording_close_read(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_text, make_path, remove_path),
		cmocka_unit_test_setup_teardown(test_calls_as_one_event, make_path, remove_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
