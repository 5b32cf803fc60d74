/* Counting from events: restarts, handlers, deaths, groups. */
#include "trace/trace.h"

#include "syscall/table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

static int set_up(void **state)
{
	struct trace *t = calloc(1, sizeof(*t));
	t->by_events = true;
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct trace *t = *state;
	map_free(&t->groups);
	summary_free(&t->summary);
	free(t);
	return 0;
}

static struct event event(enum event_kind kind, long nr, int64_t result)
{
	struct event ev = {.kind = kind, .tid = 1, .pid = 1};
	ev.call.arch = syscall_native_arch();
	ev.call.nr = nr;
	ev.call.desc = syscall_lookup(ev.call.arch, nr);
	ev.call.result = result;
	ev.call.error = result < 0;
	ev.call.err = result < 0 ? (int)-result : 0;
	ev.call.duration_ns = 1000;
	ev.call.cost_ns = 100;
	return ev;
}

static void enter(struct trace *t, struct trace_task *k, long nr, bool restart)
{
	struct event ev = event(EV_ENTER, nr, 0);
	ev.call.restart = restart;
	trace_count_enter(t, k, &ev);
}

static void leave(struct trace *t, struct trace_task *k, enum event_kind kind, long nr, int64_t result)
{
	struct event ev = event(kind, nr, result);
	trace_count_leave(t, k, &ev);
}

static const struct call_stats *row(struct trace *t, long nr)
{
	return summary_call(&t->summary, t->summary.groups.v[0], syscall_native_arch(), nr);
}

static void a_restarted_call_is_one_call(void **state)
{
	struct trace *t = *state;
	struct trace_task k = {.tid = 1, .pid = 1};
	enter(t, &k, SYS_read, false);
	leave(t, &k, EV_EXIT, SYS_read, -512);
	enter(t, &k, SYS_read, true);
	leave(t, &k, EV_EXIT, SYS_read, 7);
	const struct call_stats *c = row(t, SYS_read);
	assert_int_equal(call_stats_calls(c), 1);
	assert_int_equal(c->restarted, 1);
	assert_int_equal(c->errors, 0);
	assert_int_equal(c->bytes, 7);
	assert_true(c->ns == 1900);
	assert_true(call_stats_consistent(c));
}

static void after_a_handler_it_was_an_error(void **state)
{
	struct trace *t = *state;
	struct trace_task k = {.tid = 1, .pid = 1};
	enter(t, &k, SYS_read, false);
	leave(t, &k, EV_EXIT, SYS_read, -512);
	enter(t, &k, SYS_write, false);
	leave(t, &k, EV_EXIT, SYS_write, 1);
	const struct call_stats *c = row(t, SYS_read);
	assert_int_equal(call_stats_calls(c), 1);
	assert_int_equal(c->errors, 1);
	assert_int_equal(t->summary.groups.v[0]->errnos.v[0].err, EINTR);
	assert_true(call_stats_consistent(c));
}

static void what_death_interrupts_is_unfinished(void **state)
{
	struct trace *t = *state;
	struct trace_task k = {.tid = 1, .pid = 1};
	enter(t, &k, SYS_read, false);
	leave(t, &k, EV_EXIT, SYS_read, -512);
	trace_count_gone(t, &k);
	enter(t, &k, SYS_flock, false);
	leave(t, &k, EV_VANISH, SYS_flock, 0);
	trace_count_gone(t, &k);
	assert_int_equal(call_stats_unfinished(row(t, SYS_read)), 1);
	assert_int_equal(call_stats_unfinished(row(t, SYS_flock)), 1);
	assert_int_equal(row(t, SYS_flock)->errors, 0);
}

static void groups_by_descriptor(void **state)
{
	struct trace *t = *state;
	struct trace_task k = {.tid = 999999999, .pid = 999999999};
	t->o.by = "fd";
	for (uint64_t fd = 3; fd < 6; fd++)
		for (int i = 0; i < 2; i++) {
			struct event ev = event(EV_ENTER, SYS_close, 0);
			ev.tid = ev.pid = k.tid;
			ev.call.args[0] = fd;
			trace_count_enter(t, &k, &ev);
			leave(t, &k, EV_EXIT, SYS_close, 0);
		}
	assert_int_equal(t->summary.groups.n, 3);
	assert_string_equal(t->summary.groups.v[1]->name, "4<>");
	assert_int_equal(t->summary.groups.v[2]->calls.v[0]->entered, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_restarted_call_is_one_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(after_a_handler_it_was_an_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_death_interrupts_is_unfinished, set_up, tear_down),
		cmocka_unit_test_setup_teardown(groups_by_descriptor, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
