/* SPDX-License-Identifier: MIT */
/* Tests counting from events: restarts, handlers, ends of threads, groups. */
#include "trace/count.h"

#include "trace_events.h"

struct fixture {
	struct rig rig;
	struct summary summary;
	struct trace_count sink;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	rig_free(&f->rig);
	trace_count_free(&f->sink);
	summary_free(&f->summary);
	free(f);
	return 0;
}

static void start(struct fixture *f, enum trace_by by)
{
	trace_count_init(&f->sink, by, &f->summary, false);
	rig_start(&f->rig, &f->sink.sink);
}

static void call(struct fixture *f, enum event_kind kind, long nr, int64_t result, bool restart)
{
	struct event ev = call_event(kind, 100, nr, 0, 0, 0, result);
	ev.call.restart = restart;
	ev.call.duration_ns = 1000;
	ev.call.cost_ns = 100;
	ev.mem = NULL; /* no signal frame can be read */
	give(&f->rig, ev);
}

static const struct call_stats *row(struct fixture *f, long nr)
{
	return summary_call(&f->summary, f->summary.groups.v[0], syscall_native_arch(), nr);
}

static void a_restarted_call_is_one_call(void **state)
{
	struct fixture *f = *state;
	start(f, BY_NOTHING);
	call(f, EV_ENTER, SYS_read, 0, false);
	call(f, EV_EXIT, SYS_read, -512, false);
	call(f, EV_ENTER, SYS_read, 0, true);
	call(f, EV_EXIT, SYS_read, 7, false);
	const struct call_stats *c = row(f, SYS_read);
	assert_int_equal(call_stats_calls(c), 1);
	assert_int_equal(c->restarted, 1);
	assert_int_equal(c->errors, 0);
	assert_int_equal(c->bytes, 7);
	assert_true(c->ns == 1900);
	assert_true(call_stats_consistent(c));
}

static void after_a_handler_it_was_an_error(void **state)
{
	struct fixture *f = *state;
	start(f, BY_NOTHING);
	call(f, EV_ENTER, SYS_read, 0, false);
	call(f, EV_EXIT, SYS_read, -512, false);
	call(f, EV_ENTER, SYS_write, 0, false);
	call(f, EV_EXIT, SYS_write, 1, false);
	const struct call_stats *c = row(f, SYS_read);
	assert_int_equal(call_stats_calls(c), 1);
	assert_int_equal(c->errors, 1);
	assert_int_equal(f->summary.groups.v[0]->errnos.v[0].err, EINTR);
	assert_true(call_stats_consistent(c));
}

static void calls_of_a_killed_thread_are_unfinished(void **state)
{
	struct fixture *f = *state;
	start(f, BY_NOTHING);
	call(f, EV_ENTER, SYS_read, 0, false);
	call(f, EV_EXIT, SYS_read, -512, false);
	give(&f->rig, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100});
	call(f, EV_ENTER, SYS_flock, 0, false);
	call(f, EV_VANISH, SYS_flock, 0, false);
	give(&f->rig, (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100});
	assert_int_equal(call_stats_unfinished(row(f, SYS_read)), 1);
	assert_int_equal(call_stats_unfinished(row(f, SYS_flock)), 1);
	assert_int_equal(row(f, SYS_flock)->errors, 0);
}

static void a_recorded_sigreturn_has_no_time(void **state)
{
	struct fixture *f = *state;
	start(f, BY_NOTHING);
	enter(&f->rig, 100, SYS_rt_sigreturn, 0, 0, 0);
	struct event ev = call_event(EV_EXIT, 100, SYS_rt_sigreturn, 0, 0, 0, 0);
	ev.call.duration_ns = 0;
	give(&f->rig, ev);
	const struct call_stats *c = row(f, SYS_rt_sigreturn);
	assert_int_equal(call_stats_calls(c), 1);
	assert_int_equal(c->returned, 0);
	assert_true(call_stats_consistent(c));
}

static void groups_by_descriptor(void **state)
{
	struct fixture *f = *state;
	start(f, BY_FD);
	for (uint64_t fd = 8; fd < 11; fd++)
		for (int i = 0; i < 2; i++) {
			enter(&f->rig, 100, SYS_close, fd, 0, 0);
			leave(&f->rig, 100, SYS_close, fd, 0, 0, 0);
		}
	assert_int_equal(f->summary.groups.n, 3);
	assert_string_equal(f->summary.groups.v[0]->name, "8</file8>");
	assert_string_equal(f->summary.groups.v[2]->name, "10");
	assert_int_equal(f->summary.groups.v[2]->calls.v[0]->entered, 2);
}

static void a_path_that_is_opened_is_the_file_of_its_descriptor(void **state)
{
	struct fixture *f = *state;
	start(f, BY_PATH);
	for (int64_t result = -ENOENT; result <= 8; result += 8 + ENOENT) {
		enter(&f->rig, 100, SYS_openat, (uint64_t)-100, 0x1000, 0);
		leave(&f->rig, 100, SYS_openat, (uint64_t)-100, 0x1000, 0, result);
	}
	enter(&f->rig, 100, SYS_close, 8, 0, 0);
	leave(&f->rig, 100, SYS_close, 8, 0, 0, 0);
	assert_int_equal(f->summary.groups.n, 2);
	assert_string_equal(f->summary.groups.v[0]->name, text); /* the path as it was passed */
	assert_int_equal(f->summary.groups.v[0]->calls.v[0]->errors, 1);
	assert_int_equal(f->summary.groups.v[0]->calls.v[0]->entered, 1);
	assert_string_equal(f->summary.groups.v[1]->name, "/file8");
	assert_int_equal(f->summary.groups.v[1]->calls.n, 2);
}

static void groups_by_process_follow_its_name(void **state)
{
	struct fixture *f = *state;
	start(f, BY_THREAD);
	enter(&f->rig, 101, SYS_close, 3, 0, 0);
	leave(&f->rig, 101, SYS_close, 3, 0, 0, 0);
	/* The thread becomes the leader of its process by execve(2). */
	give(&f->rig, (struct event){.kind = EV_EXEC, .tid = 100, .pid = 100, .child = 101});
	enter(&f->rig, 100, SYS_close, 3, 0, 0);
	leave(&f->rig, 100, SYS_close, 3, 0, 0, 0);
	assert_int_equal(f->summary.groups.n, 2);
	assert_string_equal(f->summary.groups.v[0]->name, "program101");
	assert_string_equal(f->summary.groups.v[1]->name, "program100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_restarted_call_is_one_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(after_a_handler_it_was_an_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_of_a_killed_thread_are_unfinished, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_recorded_sigreturn_has_no_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(groups_by_descriptor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_path_that_is_opened_is_the_file_of_its_descriptor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(groups_by_process_follow_its_name, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
