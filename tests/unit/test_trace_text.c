/* SPDX-License-Identifier: MIT */
/* Tests lines in the format of strace. */
#include "trace/text.h"

#include "trace_events.h"

#include <sys/socket.h>

struct fixture {
	struct rig rig;
	struct trace_text_config c;
	struct trace_text sink;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->c = (struct trace_text_config){.out = &f->rig.out,
					  .column = 40,
					  .pids = PIDS_OF_SEVERAL,
					  .decoding = {.string_max = 32, .look = &f->rig.look}};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	rig_free(&f->rig);
	free(f);
	return 0;
}

static struct rig *start(struct fixture *f)
{
	trace_text_init(&f->sink, &f->c);
	rig_start(&f->rig, &f->sink.sink);
	return &f->rig;
}

static void lines_are_aligned_and_harmless(void **state)
{
	struct rig *r = start(*state);
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, 0);
	wrote(r, "close(3)                                = 0\n");
	enter(r, 100, SYS_write, 1, 0x1000, sizeof(text) - 1);
	leave(r, 100, SYS_write, 1, 0x1000, sizeof(text) - 1, 12);
	wrote(r, "write(1, \"a \\33[31m \\\"b\\\"\\n\", 12)       = 12\n");
}

static ssize_t read_before(void *ctx, uint64_t addr, void *buf, size_t n)
{
	ssize_t got = fake_read(ctx, addr, buf, n);
	for (ssize_t i = 0; i < got; i++)
		((char *)buf)[i] = 'B';
	return got;
}

static void a_call_may_come_as_one_event(void **state)
{
	struct fixture *f = *state;
	f->c.times.clock = CLOCK_EPOCH;
	f->c.times.clock_precision = PRECISION_US;
	struct rig *r = start(f);
	const struct mem before = {.read = read_before};
	give(r, (struct event){.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 101, .is_thread = true});
	enter(r, 101, SYS_read, 0, 0x1000, 4);
	buf_clear(&r->out.common.buf);
	whole(r, &before, SYS_write, 1, 0x1000, 2, 2);
	whole(r, &before, SYS_read, 3, 0x1000, 2, 2);
	whole(r, &before, SYS_read, 9, 0x1000, 2, -EBADF);
	whole(r, &before, 5000, 1, 2, 3, 4);
	/* The clock shows when the calls began: 4000 ns, not 5000 ns. */
	wrote(r, " <unfinished ...>\n"
		 "[pid   100] 0.000004 write(1, \"BB\", 2)  = 2\n"
		 "[pid   100] 0.000004 read(3, \"a \", 2)   = 2\n"
		 "[pid   100] 0.000004 read(9, 0x1000, 2) = -1 EBADF (Bad file descriptor)\n"
		 "[pid   100] 0.000004 syscall_0x1388(0x1, 0x2, 0x3, 0, 0, 0) = 0x4\n");
	leave(r, 101, SYS_read, 0, 0x1000, 4, 1);
	wrote(r, "[pid   101] 0.000005 <... read resumed>\"a\", 4) = 1\n");
}

static void the_selection_looks_at_whole_calls(void **state)
{
	struct fixture *f = *state;
	size_t at;
	struct buf why = {0};
	assert_int_equal(trace_select_parse(&f->rig.select, "errno", 5, "EBADF", &at, &why), 1);
	f->c.waits = true;
	struct rig *r = start(f);
	whole(r, &memory, SYS_fsync, 3, 0, 0, 0);
	whole(r, &memory, SYS_fsync, 9, 0, 0, -EBADF);
	wrote(r, "fsync(9)                                = -1 EBADF (Bad file descriptor)\n");
}

/* The time since the previous call does not depend on whether that call is shown, or on how many events it was. */
static void hidden_calls_are_previous_calls(void **state)
{
	struct fixture *f = *state;
	f->rig.select.status = STATUS_FAILED;
	f->c.waits = true;
	f->c.times.relative = PRECISION_US;
	struct rig *r = start(f);
	give(r, (struct event){.kind = EV_STOP, .tid = 100, .pid = 100, .time_ns = 1000, .sig.si_signo = SIGSTOP});
	whole(r, &memory, SYS_fsync, 3, 0, 0, 0);
	whole(r, &memory, SYS_fsync, 9, 0, 0, -EBADF);
	wrote(r, "     0.000000 --- stopped by SIGSTOP ---\n"
		 "     0.000000 fsync(9)                  = -1 EBADF (Bad file descriptor)\n");
}

/* As with strace(1), the first line has the time 0, because there is no previous call. */
static void the_first_call_has_no_previous_call(void **state)
{
	struct fixture *f = *state;
	f->c.times.relative = PRECISION_US;
	struct rig *r = start(f);
	whole(r, &memory, SYS_fsync, 9, 0, 0, -EBADF);
	wrote(r, "     0.000000 fsync(9)                  = -1 EBADF (Bad file descriptor)\n");
}

/* As with strace(1), the time of day comes first if both times are shown. */
static void both_times_have_the_form_of_strace(void **state)
{
	struct fixture *f = *state;
	f->c.times.relative = PRECISION_US;
	f->c.times.clock = CLOCK_EPOCH;
	f->c.times.clock_precision = PRECISION_US;
	struct rig *r = start(f);
	whole(r, &memory, SYS_fsync, 9, 0, 0, -EBADF);
	wrote(r, "0.000004 (+     0.000000) fsync(9)      = -1 EBADF (Bad file descriptor)\n");
}

static void durations_follow_results(void **state)
{
	struct fixture *f = *state;
	f->c.times.durations = PRECISION_US;
	struct rig *r = start(f);
	enter(r, 100, SYS_close, 9, 0, 0);
	leave(r, 100, SYS_close, 9, 0, 0, -EBADF);
	wrote(r, "close(9)                                = -1 EBADF (Bad file descriptor) <0.000010>\n");
	f->sink.c.times.durations = PRECISION_NS;
	enter(r, 100, SYS_close, 9, 0, 0);
	leave(r, 100, SYS_close, 9, 0, 0, 0);
	wrote(r, "close(9)                                = 0 <0.000010000>\n");
	f->sink.c.times.durations = PRECISION_S;
	enter(r, 100, SYS_close, 9, 0, 0);
	leave(r, 100, SYS_close, 9, 0, 0, 0);
	wrote(r, "close(9)                                = 0 <0>\n");
}

static struct event close_event(enum event_kind kind, enum call_wait wait)
{
	struct event ev = call_event(kind, 100, SYS_close, 9, 0, 0, 0);
	ev.call.wait = wait;
	ev.entry_mem = &memory;
	return ev;
}

static void calls_that_waited_are_marked_on_request(void **state)
{
	struct fixture *f = *state;
	f->c.times.durations = PRECISION_US;
	struct rig *r = start(f);
	give(r, close_event(EV_CALL, WAIT_YES));
	wrote(r, "close(9)                                = 0 <0.000010>\n");
	f->sink.c.times.waits = true;
	give(r, close_event(EV_CALL, WAIT_YES));
	wrote(r, "close(9)                                = 0 (WAITED) <0.000010>\n");
	give(r, close_event(EV_CALL, WAIT_NO));
	wrote(r, "close(9)                                = 0 <0.000010>\n");
	assert_int_equal(f->sink.unjudged, 0);
	give(r, close_event(EV_CALL, WAIT_UNKNOWN));
	wrote(r, "close(9)                                = 0 <0.000010>\n");
	assert_int_equal(f->sink.unjudged, 1);
}

static void calls_that_did_not_wait_are_left_out(void **state)
{
	struct fixture *f = *state;
	f->rig.select.waited = f->c.waits = true;
	struct rig *r = start(f);
	give(r, close_event(EV_CALL, WAIT_NO));
	give(r, close_event(EV_CALL, WAIT_UNKNOWN));
	wrote(r, "");
	give(r, close_event(EV_CALL, WAIT_YES));
	wrote(r, "close(9)                                = 0\n");
	assert_int_equal(r->p.unjudged, 1);
	assert_int_equal(r->p.selected, 1);
}

/* A time within the cost of tracing has the form of every other time, because parsers of strace's output read it. */
static void durations_within_the_cost_are_zero(void **state)
{
	struct fixture *f = *state;
	f->c.times.durations = PRECISION_US;
	struct rig *r = start(f);
	struct event ev = call_event(EV_EXIT, 100, SYS_close, 9, 0, 0, 0);
	ev.call.duration_ns = ev.call.cost_ns - 1;
	enter(r, 100, SYS_close, 9, 0, 0);
	give(r, ev);
	wrote(r, "close(9)                                = 0 <0.000000>\n");
	ev.call.duration_ns = ev.call.cost_ns + ev.call.spread_ns;
	enter(r, 100, SYS_close, 9, 0, 0);
	give(r, ev);
	wrote(r, "close(9)                                = 0 <0.000001>\n");
}

static void withdraw_close(struct rig *r)
{
	struct event ev = call_event(EV_EXIT, 100, SYS_close, 3, 0, 0, -513);
	ev.call.withdrawn = true;
	give(r, ev);
}

/* A call that was announced, but not made, has no line unless its beginning was written already. */
static void a_withdrawn_call_has_no_line(void **state)
{
	struct fixture *f = *state;
	f->c.times.relative = PRECISION_US;
	struct rig *r = start(f);
	enter(r, 100, SYS_close, 3, 0, 0);
	withdraw_close(r);
	wrote(r, "");
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, 0);
	wrote(r, "     0.000000 close(3)                  = 0\n");
	enter(r, 100, SYS_close, 3, 0, 0);
	buf_clear(&r->out.common.buf); /* as if the beginning had been written to a terminal */
	withdraw_close(r);
	wrote(r, ")                  = ? ERESTARTNOINTR (To be restarted)\n");
}

static void other_tasks_break_lines(void **state)
{
	struct rig *r = start(*state);
	give(r, (struct event){.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 101, .is_thread = true});
	enter(r, 100, SYS_read, 0, 0x1000, 4);
	enter(r, 101, SYS_close, 3, 0, 0);
	leave(r, 101, SYS_close, 3, 0, 0, 0);
	leave(r, 100, SYS_read, 0, 0x1000, 4, 1);
	wrote(r, "[pid   100] read(0,  <unfinished ...>\n"
		 "[pid   101] close(3)                    = 0\n"
		 "[pid   100] <... read resumed>\"a\", 4)   = 1\n");
}

static void in_a_file_the_pid_stands_in_a_column(void **state)
{
	struct fixture *f = *state;
	f->c.pids = PIDS_ALWAYS;
	f->c.decoding.pid_names = true;
	struct rig *r = start(f);
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, 0);
	wrote(r, "100  <program100> close(3)              = 0\n");
}

static void the_pid_comes_with_the_second_thread(void **state)
{
	struct fixture *f = *state;
	f->c.pids = PIDS_SINCE_SEVERAL;
	struct rig *r = start(f);
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, 0);
	give(r, (struct event){.kind = EV_NEW_TASK, .tid = 100, .pid = 100, .child = 101, .is_thread = true});
	give(r, (struct event){.kind = EV_DEATH, .tid = 101, .pid = 100});
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, 0);
	wrote(r, "close(3)                                = 0\n"
		 "101   +++ exited with 0 +++\n"
		 "100   close(3)                          = 0\n");
}

static void what_never_returns(void **state)
{
	struct rig *r = start(*state);
	enter(r, 100, SYS_exit_group, 3, 0, 0);
	give(r, call_event(EV_VANISH, 100, SYS_exit_group, 3, 0, 0, 0));
	give(r, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100, .status = 3 << 8, .is_process = true});
	wrote(r, "exit_group(3)                           = ?\n+++ exited with 3 +++\n");
	enter(r, 100, SYS_read, 0, 0x1000, 4);
	give(r, call_event(EV_VANISH, 100, SYS_read, 0, 0x1000, 4, 0));
	give(r, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100, .status = 9, .is_process = true});
	wrote(r, "read(0,  <unfinished ...>)              = ?\n+++ killed by SIGKILL +++\n");
}

static void every_line_of_a_call_has_its_number(void **state)
{
	struct fixture *f = *state;
	f->c.numbers = true;
	f->c.pids = PIDS_NEVER;
	struct rig *r = start(f);
	enter(r, 100, 5000, 1, 2, 3);
	enter(r, 101, 5001, 1, 2, 3);
	give(r, call_event(EV_VANISH, 100, 5000, 1, 2, 3, 0));
	wrote(r, "[5000] syscall_0x1388(0x1, 0x2, 0x3, 0, 0, 0 <unfinished ...>\n"
		 "[5001] syscall_0x1389(0x1, 0x2, 0x3, 0, 0, 0 <unfinished ...>\n"
		 "[5000] <... syscall_0x1388 resumed>)    = ?\n");
}

static void calls_after_detaching_are_marked(void **state)
{
	struct rig *r = start(*state);
	enter(r, 100, SYS_read, 0, 0x1000, 4);
	trace_pipeline_end(&r->p);
	wrote(r, "read(0,  <detached ...>\n");
}

static void calls_at_the_end_of_a_cut_recording_are_unfinished(void **state)
{
	struct rig *r = start(*state);
	enter(r, 100, SYS_read, 0, 0x1000, 4);
	r->p.session.cut = true;
	trace_pipeline_end(&r->p);
	wrote(r, "read(0,  <unfinished ...>\n");
}

/* If the end of a call determines whether its line is shown, the line is written at the end, and is never split. */
static void lines_wait_for_their_end(void **state)
{
	struct fixture *f = *state;
	f->rig.select.status = STATUS_FAILED;
	f->c.waits = true;
	f->c.pids = PIDS_NEVER;
	struct rig *r = start(f);
	enter(r, 100, SYS_close, 9, 0, 0);
	wrote(r, "");
	enter(r, 101, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 9, 0, 0, -EBADF);
	leave(r, 101, SYS_close, 3, 0, 0, 0);
	wrote(r, "close(9)                                = -1 EBADF (Bad file descriptor)\n");
}

static void addresses_come_with_the_event(void **state)
{
	struct fixture *f = *state;
	f->c.addresses = true;
	struct rig *r = start(f);
	struct event ev = {.kind = EV_SIGNAL, .tid = 100, .pid = 100, .ip = 0x1234};
	ev.sig.si_signo = SIGTERM;
	give(r, ev);
	wrote(r, "[0000000000001234] --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=0, si_uid=0} ---\n");
	give(r, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100});
	wrote(r, "[????????????????] +++ exited with 0 +++\n");
}

static void descriptors_have_names(void **state)
{
	struct fixture *f = *state;
	f->c.decoding.fd_names = FD_PATHS;
	struct rig *r = start(f);
	enter(r, 100, SYS_close, 3, 0, 0);
	leave(r, 100, SYS_close, 3, 0, 0, 0);
	enter(r, 100, SYS_close, 10, 0, 0);
	leave(r, 100, SYS_close, 10, 0, 0, 0);
	wrote(r, "close(3</file3>)                        = 0\n"
		 "close(10)                               = 0\n");
}

/* A call with a buffer of `size` bytes and the given result dumps one byte. */
static void dumps_one_byte(struct rig *r, int64_t nr, uint64_t size, int64_t result)
{
	enter(r, 100, nr, 3, 0x1000, size);
	buf_clear(&r->out.common.buf);
	leave(r, 100, nr, 3, 0x1000, size, result);
	assert_string_equal(strchr(buf_str(&r->out.common.buf), '\n'),
			    "\n | 00000  61                                                a                |\n");
}

/* With MSG_TRUNC, recvfrom(2) returns the length of the message, which may be more than fits into the buffer. */
static void dumps_end_with_the_buffer(void **state)
{
	struct fixture *f = *state;
	f->rig.look.read.all = true;
	dumps_one_byte(start(f), SYS_recvfrom, 1, 2);
}

/* write(2) may write fewer bytes than requested. mq_timedsend(2), which returns 0, sends all. */
static void dumps_show_what_was_written(void **state)
{
	struct fixture *f = *state;
	f->rig.look.write.all = true;
	struct rig *r = start(f);
	dumps_one_byte(r, SYS_write, 2, 1);
	dumps_one_byte(r, SYS_mq_timedsend, 1, 0);
}

/* Reads the memory of this program. */
static ssize_t read_here(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	memcpy(buf, (const void *)(uintptr_t)addr, n);
	return (ssize_t)n;
}

static void dumps_name_the_buffers_of_each_message(void **state)
{
	struct fixture *f = *state;
	const struct mem here = {.read = read_here};
	char one[] = "a", two[] = "bc";
	struct iovec parts[] = {{one, 1}, {two, 2}};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = parts, .msg_iovlen = 2}, .msg_len = 3};
	f->rig.look.write.all = true;
	struct rig *r = start(f);
	struct event ev = call_event(EV_CALL, 100, SYS_sendmmsg, 3, (uintptr_t)&m, 1, 1);
	ev.mem = ev.entry_mem = &here;
	give(r, ev);
	assert_string_equal(strchr(buf_str(&r->out.common.buf), '\n'),
			    "\n = 2 buffers in vector 0\n"
			    " * 1 bytes in buffer 0\n"
			    " | 00000  61                                                a                |\n"
			    " * 2 bytes in buffer 1\n"
			    " | 00000  62 63                                             bc               |\n");
}

static void messages_can_be_left_out(void **state)
{
	struct fixture *f = *state;
	f->rig.look.quiet = QUIET_EXIT;
	struct rig *r = start(f);
	give(r, (struct event){.kind = EV_EXEC, .tid = 100, .pid = 100, .child = 101});
	give(r, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100});
	wrote(r, "+++ superseded by execve in pid 101 +++\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_are_aligned_and_harmless, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_call_may_come_as_one_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_selection_looks_at_whole_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hidden_calls_are_previous_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_first_call_has_no_previous_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(both_times_have_the_form_of_strace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(durations_follow_results, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_that_waited_are_marked_on_request, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_that_did_not_wait_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(durations_within_the_cost_are_zero, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_withdrawn_call_has_no_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_tasks_break_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(in_a_file_the_pid_stands_in_a_column, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_pid_comes_with_the_second_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_never_returns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_line_of_a_call_has_its_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_after_detaching_are_marked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_at_the_end_of_a_cut_recording_are_unfinished, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_wait_for_their_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(addresses_come_with_the_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(descriptors_have_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dumps_end_with_the_buffer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dumps_show_what_was_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dumps_name_the_buffers_of_each_message, set_up, tear_down),
		cmocka_unit_test_setup_teardown(messages_can_be_left_out, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
