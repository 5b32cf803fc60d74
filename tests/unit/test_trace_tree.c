/* SPDX-License-Identifier: MIT */
/* Tests which process --tree says made the program fail, and the order of its rows. */
#include "trace/tree.h"

#include "run/field.h"
#include "trace_events.h"

#include <math.h>

struct fixture {
	struct rig rig;
	struct trace_tree sink;
	struct run run;
};

static int set_up(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof(*f));
	fields_init(&run_fields, &f->run);
	trace_tree_init(&f->sink);
	rig_start(&f->rig, &f->sink.sink);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	trace_tree_free(&f->sink);
	run_free(&f->run);
	free(f);
	return 0;
}

static void creates(struct fixture *f, pid_t pid, pid_t child)
{
	give(&f->rig, (struct event){.kind = EV_NEW_TASK, .tid = pid, .pid = pid, .child = child, .time_ns = 2000});
}

static void ends(struct fixture *f, pid_t pid, int status, uint64_t time_ns)
{
	give(&f->rig, (struct event){.kind = EV_DEATH,
				     .tid = pid,
				     .pid = pid,
				     .status = status,
				     .is_process = true,
				     .time_ns = time_ns,
				     .cpu_ns = 5000});
}

/* Returns the id of the process that made the program fail, or 0. */
static pid_t cause(struct fixture *f)
{
	pid_t found = 0;
	rig_free(&f->rig);
	trace_tree_finish(&f->sink, &f->run.tree);
	for (size_t i = 0; i < f->run.tree.processes.n; i++)
		if (f->run.tree.processes.v[i].is_cause == TRUTH_YES)
			found = (pid_t)f->run.tree.processes.v[i].pid;
	return found;
}

/* make waits for its other children after the first failure, and exits with a status of its own. */
static void first_failure_of_make(void **state)
{
	struct fixture *f = *state;
	creates(f, 1, 2);
	creates(f, 1, 3);
	creates(f, 1, 4);
	ends(f, 3, 1 << 8, 3000);
	ends(f, 2, 1 << 8, 3100);
	ends(f, 4, 0, 3200);
	ends(f, 1, 2 << 8, 3300);
	assert_int_equal(cause(f), 3);
}

/* In a shell, earlier failures can be answers. A child that a signal killed is 128 and the signal for a shell. */
static void last_failure_of_a_shell(void **state)
{
	struct fixture *f = *state;
	creates(f, 1, 2);
	ends(f, 2, 134 << 8, 3000);
	creates(f, 1, 3);
	ends(f, 3, SIGABRT, 3100);
	ends(f, 1, 134 << 8, 3200);
	assert_int_equal(cause(f), 3);
}

static void no_failure(void **state)
{
	struct fixture *f = *state;
	creates(f, 1, 2);
	ends(f, 2, 1 << 8, 3000);
	ends(f, 1, 0, 3100);
	assert_int_equal(cause(f), 0);
}

/* A failure after the end of the parent is not its cause. */
static void daemon_fails_later(void **state)
{
	struct fixture *f = *state;
	creates(f, 1, 2);
	ends(f, 1, 1 << 8, 3000);
	ends(f, 2, 1 << 8, 3100);
	assert_int_equal(cause(f), 1);
}

/* Each process is followed by its descendants. A process id can be used again. */
static void order_and_reuse(void **state)
{
	struct fixture *f = *state;
	static const pid_t pids[] = {1, 2, 4, 3, 2};
	static const unsigned depths[] = {0, 1, 2, 1, 1};
	creates(f, 1, 2);
	creates(f, 1, 3);
	creates(f, 2, 4);
	ends(f, 4, 0, 2900);
	ends(f, 2, 0, 3000);
	creates(f, 1, 2);
	ends(f, 2, SIGKILL, 3500);
	ends(f, 1, 1 << 8, 3600);
	cause(f);
	const struct run_tree *t = &f->run.tree;
	assert_int_equal(t->processes.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(t->processes.v[i].pid, pids[i]);
		assert_int_equal(t->processes.v[i].depth, depths[i]);
	}
	assert_string_equal(t->processes.v[4].killed_by, "SIGKILL");
	assert_true(isnan(t->processes.v[3].wall_s)); /* its end was not seen */
	assert_true(t->processes.v[0].cpu_s == 5e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_failure_of_make, set_up, tear_down),
		cmocka_unit_test_setup_teardown(last_failure_of_a_shell, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_failure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(daemon_fails_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(order_and_reuse, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
