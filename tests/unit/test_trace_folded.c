/* SPDX-License-Identifier: MIT */
/*
 * Tests the stacks of calls: aggregated for flame graphs, as lines below calls, and as strings in JSON. A fake unwinder
 * returns the stacks.
 */
#include "trace/trace_stack.h"

#include "trace/json.h"
#include "trace/text.h"
#include "trace_events.h"

/* Each walk has one more frame than the previous one, up to three. */
static unsigned walks;

static int fake_walk(struct stack *s, const struct event *ev, stack_frame_fn fn, void *ctx)
{
	static const char *const functions[] = {"inner", "outer", "main"};
	(void)s, (void)ev;
	unsigned n = walks < 2 ? walks + 1 : 3;
	walks++;
	for (unsigned i = 0; i < n; i++)
		fn(ctx, &(struct stack_frame){.index = i, .ip = 0x10, .function = functions[i], .module = "/bin/x"});
	return (int)n;
}

static const struct stack_ops fake_ops = {.name = "fake", .walk = fake_walk};
static struct stack fake = {&fake_ops};

struct fixture {
	struct rig rig;
	struct trace_folded sink;
	struct trace_text text;
	struct trace_json json;
};

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	walks = 0;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	rig_free(&f->rig);
	trace_folded_free(&f->sink);
	free(f);
	return 0;
}

static void two_calls(struct rig *r)
{
	for (int i = 0; i < 2; i++) {
		enter(r, 100, SYS_close, 3, 0, 0);
		leave(r, 100, SYS_close, 3, 0, 0, 0);
	}
}

static void check(struct fixture *f, const char *expected)
{
	trace_folded_text(&f->sink, &f->rig.out.common.buf);
	wrote(&f->rig, expected);
}

static void equal_stacks_are_added(void **state)
{
	struct fixture *f = *state;
	trace_folded_init(&f->sink, &fake, false);
	rig_start(&f->rig, &f->sink.sink);
	two_calls(&f->rig);
	two_calls(&f->rig);
	check(f, "program100;inner;close 1\n"
		 "program100;main;outer;inner;close 2\n"
		 "program100;outer;inner;close 1\n");
}

static void time_is_the_calls_own(void **state)
{
	struct fixture *f = *state;
	trace_folded_init(&f->sink, &fake, true);
	rig_start(&f->rig, &f->sink.sink);
	two_calls(&f->rig);
	check(f, "program100;inner;close 10000\nprogram100;outer;inner;close 10000\n");
}

/*
 * exit(2) and execve(2) discard the stack, so it is saved at their entry. The first execve(2) is different: sctrace's
 * code calls it, so the stack is walked after the call.
 */
static void stacks_that_execve_and_exit_discard_are_kept(void **state)
{
	struct fixture *f = *state;
	trace_folded_init(&f->sink, &fake, false);
	rig_start(&f->rig, &f->sink.sink);
	struct event start = call_event(EV_ENTER, 100, SYS_execve, 0, 0, 0, 0);
	start.launch = true;
	give(&f->rig, start);
	assert_int_equal(walks, 0);
	leave(&f->rig, 100, SYS_execve, 0, 0, 0, 0);
	enter(&f->rig, 100, SYS_exit_group, 0, 0, 0);
	assert_int_equal(walks, 2);
	give(&f->rig, call_event(EV_VANISH, 100, SYS_exit_group, 0, 0, 0, 0));
	assert_int_equal(walks, 2);
	/* A call that never returns for another reason has no stack. */
	enter(&f->rig, 100, SYS_read, 0, 0x1000, 4);
	give(&f->rig, call_event(EV_VANISH, 100, SYS_read, 0, 0x1000, 4, 0));
	check(f, "program100;inner;execve 1\nprogram100;outer;inner;exit_group 1\nprogram100;read 1\n");
}

static void lines_stand_below_the_call(void **state)
{
	struct fixture *f = *state;
	struct trace_text_config c = {
		.out = &f->rig.out, .stack = &fake, .column = 10, .decoding = {.string_max = 32, .look = &f->rig.look}};
	trace_text_init(&f->text, &c);
	rig_start(&f->rig, &f->text.sink);
	two_calls(&f->rig);
	wrote(&f->rig, "close(3)  = 0\n > /bin/x(inner+0x0) [0x0]\n"
		       "close(3)  = 0\n > /bin/x(inner+0x0) [0x0]\n > /bin/x(outer+0x0) [0x0]\n");
}

static void json_has_an_array(void **state)
{
	struct fixture *f = *state;
	struct trace_json_config c = {
		.out = &f->rig.out, .stack = &fake, .decoding = {.string_max = 32, .look = &f->rig.look}};
	trace_json_init(&f->json, &c);
	rig_start(&f->rig, &f->json.sink);
	two_calls(&f->rig);
	const char *out = buf_str(&f->rig.out.common.buf);
	assert_non_null(strstr(out, "\"stack\":[\"/bin/x(inner+0x0) [0x0]\"]}\n"));
	assert_non_null(strstr(out, "\"stack\":[\"/bin/x(inner+0x0) [0x0]\",\"/bin/x(outer+0x0) [0x0]\"]}\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_stacks_are_added, set_up, tear_down),
		cmocka_unit_test_setup_teardown(time_is_the_calls_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_that_execve_and_exit_discard_are_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_stand_below_the_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(json_has_an_array, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
