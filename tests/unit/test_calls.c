/* SPDX-License-Identifier: MIT */
/* Tests which cost of tracing is subtracted from the time of a call under ptrace. */
#include "engine/ptrace/tracer.h"

#include "syscall/call_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct tracer_ops no_ops;

/* Lets a task make getppid(2), whose end is noticed as `end` says. Returns the subtracted cost in ns. */
static uint64_t cost_of(struct tracer *t, struct task *task, struct wait_status end, uint64_t *spread_ns)
{
	struct call *c = &thread_of(task)->call;
	*c = (struct call){.arch = syscall_native_arch(), .nr = SYS_getppid, .ip = 0x1000, .sp = 0x9000};
	t->handled = (struct wait_status){.noticed = NOTICED_POLLING};
	tracer_call_enter(t, task);
	t->handled = end;
	tracer_call_exit(t, task);
	*spread_ns = c->spread_ns;
	return c->cost_ns;
}

/* 10 traces 11, which traces 12; 20 is not traced. */
static pid_t tracer_in_test(pid_t pid)
{
	return pid == 12 ? 11 : pid == 11 ? 10 : 0;
}

/* A tracer that changes into a cycle while it is read. */
static pid_t tracer_in_cycle(pid_t pid)
{
	return pid == 11 ? 10 : 11;
}

static void test_mutual_tracing(void **state)
{
	(void)state;
	assert_true(attach_is_mutual(11, 12, tracer_in_test));
	assert_true(attach_is_mutual(10, 12, tracer_in_test));
	assert_true(attach_is_mutual(10, 11, tracer_in_test));
	assert_false(attach_is_mutual(12, 11, tracer_in_test));
	assert_false(attach_is_mutual(20, 12, tracer_in_test));
	assert_false(attach_is_mutual(10, 20, tracer_in_test));
	assert_false(attach_is_mutual(20, 12, tracer_in_cycle));
}

/* A child that this process traces finds its tracer. It does not attach to it. */
static void test_own_tracer_is_found(void **state)
{
	int status;
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(2);
		_exit(attach_is_mutual(getppid(), getpid(), attach_tracer_of) ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_cost_by_notice(void **state)
{
	static const struct {
		struct wait_status end;
		uint64_t cost_ns, spread_ns;
	} rows[] = {
		{{.noticed = NOTICED_ASLEEP}, 7000, 100},
		{{.noticed = NOTICED_POLLING}, 18000, 500},
		{{.noticed = NOTICED_ASLEEP, .in_vain_ns = 50000}, 57000, 100},
	};
	struct tracer t = {.cost = {[NOTICED_ASLEEP] = {7000, 100, 0}, [NOTICED_POLLING] = {18000, 500, 0}}};
	uint64_t spread_ns;
	(void)state;
	tracer_init(&t, &no_ops);
	struct task *task = tasks_add(&t.tasks, getpid());
	assert_non_null(task);
	tasks_join(&t.tasks, task, getpid());
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(cost_of(&t, task, rows[i].end, &spread_ns), rows[i].cost_ns);
		assert_int_equal(spread_ns, rows[i].spread_ns);
	}
	t.cost[NOTICED_ASLEEP].ns = 0; /* it could not be measured */
	assert_int_equal(cost_of(&t, task, rows[2].end, &spread_ns), 0);
	tracer_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutual_tracing),
		cmocka_unit_test(test_own_tracer_is_found),
		cmocka_unit_test(test_cost_by_notice),
	};
	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
