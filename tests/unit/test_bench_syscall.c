/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "bench/syscall.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define STEPS 100

static void two_loops_give_operation_and_loop(void **state)
{
	(void)state;
	double op;
	double loop;
	/* 1000 iterations of 3 ns around an operation of 50 ns. */
	op_solve(53000, 103000, 1000, &op, &loop);
	assert_true(fabs(op - 50) < 1e-9);
	assert_true(fabs(loop - 3) < 1e-9);
	/* An operation that costs nothing. */
	op_solve(3000, 3000, 1000, &op, &loop);
	assert_true(op == 0 && loop == 3);
}

static void clock_and_loop_are_taken_out(void **state)
{
	(void)state;
	const struct op_control c = {.clock_ns = 40, .loop_ns = 0.5};
	/* 100 calls of 90 ns in a loop of 0.5 ns per iteration. Reading the clock takes 40 ns. */
	assert_true(fabs(op_subtract(40 + 100 * 90.5, 100, &c) - 90) < 1e-9);
	/* An empty operation costs nothing, however much the clock and the loop cost. */
	assert_true(fabs(op_subtract(40 + 100 * 0.5, 100, &c)) < 1e-9);
}

/* A sample is long enough that a step of the clock is less than a thousandth of it. */
static void samples_are_long_enough_for_the_clock(void **state)
{
	(void)state;
	assert_true(op_least_sample_ns(&(struct op_control){.clock_ns = 25, .clock_step_ns = 1}) == 25000);
	assert_true(op_least_sample_ns(&(struct op_control){.clock_ns = 25, .clock_step_ns = 1e6}) == 1000000000);
	assert_true(op_least_sample_ns(&(struct op_control){.clock_ns = 1, .clock_step_ns = 1}) == 10000);
}

static void rows_are_whole_and_names_differ(void **state)
{
	(void)state;
	assert_string_equal(op_empty()->name, "loop");
	for (size_t i = 0; op_at(i); i++) {
		const struct op *op = op_at(i);
		if (!op->name || !op->group || !op->about || !op->once || !op->twice)
			fail_msg("row %zu is not whole", i);
		if (op_find(op->name) != op)
			fail_msg("two operations are called %s", op->name);
		for (size_t j = 0; op_at(j); j++)
			if (strcmp(op->name, op_at(j)->group) == 0)
				fail_msg("%s names an operation and a group", op->name);
	}
}

/* Each operation works in both loops. */
static void operations_work(void **state)
{
	(void)state;
	for (size_t i = 0; op_at(i); i++) {
		const struct op *op = op_at(i);
		struct op_state s;
		struct buf why = {0};
		uint64_t n = op->cost == OP_DEAR ? 2 : 2000;
		if (op_open(op, &s, "/tmp", &why) < 0)
			fail_msg("%s: %s", op->name, buf_str(&why));
		op->once(&s, n);
		op->twice(&s, n);
		if (s.wrong)
			fail_msg("%s went wrong %llu times", op->name, (unsigned long long)s.wrong);
		op_close(op, &s);
	}
}

static void a_failed_setup_has_a_reason(void **state)
{
	(void)state;
	struct op_state s;
	struct buf why = {0};
	assert_int_equal(op_open(op_find("read-file"), &s, "/nonexistent", &why), -ENOENT);
	assert_string_equal(buf_str(&why), "/nonexistent: No such file or directory");
	buf_free(&why);
}

static volatile sig_atomic_t handled;

static void count_signal(int sig)
{
	(void)sig;
	handled++;
}

/* The signal is handled even if the parent process has blocked it. The action and the mask are restored afterwards. */
static void signals_are_handled(void **state)
{
	(void)state;
	const struct op *op = op_find("signal");
	struct op_state s;
	struct buf why = {0};
	sigset_t set;
	sigset_t now;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	assert_int_equal(op_open(op, &s, "/tmp", &why), 0);
	signal(SIGUSR1, count_signal);
	op->once(&s, 10);
	assert_int_equal(handled, 10);
	op_close(op, &s);
	sigprocmask(SIG_BLOCK, NULL, &now);
	assert_true(sigismember(&now, SIGUSR1));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/*
 * The number of instructions that `loop` executes for `n` runs in a child, counted by single-stepping; 0 if that is not
 * permitted.
 */
static long instructions(const struct op *op, op_loop_fn *loop, uint64_t n)
{
	struct op_state s;
	struct buf why = {0};
	if (op_open(op, &s, "/tmp", &why) < 0)
		fail_msg("%s: %s", op->name, buf_str(&why));
	loop(&s, 1); /* lazy binding does not belong to the loop */
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			_exit(99);
		raise(SIGSTOP);
		loop(&s, n);
		syscall(SYS_exit_group, 0); /* exits at once, because each step is counted */
	}
	int status;
	long steps = 0;
	waitpid(pid, &status, 0);
	if (WIFSTOPPED(status))
		while (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) == 0 && waitpid(pid, &status, 0) == pid &&
		       WIFSTOPPED(status))
			steps++;
	op_close(op, &s);
	return steps;
}

/* The smallest number of instructions in `runs` runs. */
static long least_instructions(const struct op *op, op_loop_fn *loop, uint64_t n, int runs)
{
	long least = LONG_MAX;
	for (; runs > 0; runs--) {
		long steps = instructions(op, loop, n);
		least = steps < least ? steps : least;
	}
	return least;
}

static bool reads_clock(const struct op *op)
{
	return strcmp(op->group, "clock") == 0 && strcmp(op->name, "tsc") != 0;
}

/*
 * The cost of one more iteration in instructions. The kernel updates its clock now and then, and a read during an
 * update starts again. Therefore each run steps only a few reads of a clock, and there are several runs, so that at
 * least one run has no repeated read.
 */
static double per_iteration(const struct op *op, op_loop_fn *loop)
{
	int n = reads_clock(op) ? STEPS / 25 : STEPS;
	int runs = reads_clock(op) ? 20 : 1;
	long few = least_instructions(op, loop, (uint64_t)n, runs);
	long many = least_instructions(op, loop, (uint64_t)(2 * n), runs);
	return (double)(many - few) / n;
}

/*
 * True if a read of the clock completes while it is single-stepped. Under an emulator, a step can take so long that the
 * read is repeated for ever.
 */
static bool clock_can_be_stepped(void)
{
	uint64_t start = clock_ns();
	long steps = instructions(op_empty(), op_empty()->once, STEPS);
	return clock_ns() - start < (uint64_t)steps * 50000;
}

/*
 * The compiler has not removed an iteration of the empty loop or an operation: a loop of two runs its operation twice.
 * This counts the processor's instructions and does not measure time.
 */
static void compiler_leaves_the_loops_alone(void **state)
{
	(void)state;
	static const char *const names[] = {"getpid", "sysconf", "tsc", "time", "monotonic", "fgets-0", "write-null"};
	if (!instructions(op_empty(), op_empty()->once, 1)) {
		if (getenv("SCTRACE_MUST_WORK"))
			fail_msg("single steps are not permitted here");
		skip();
	}
	double loop = per_iteration(op_empty(), op_empty()->once);
	assert_true(loop >= 2);
	bool clocks = clock_can_be_stepped();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct op *op = op_find(names[i]);
		if (!op)
			continue;
		if (!clocks && reads_clock(op)) {
			print_message("# %s is left out: steps take too long here\n", names[i]);
			continue;
		}
		double once = per_iteration(op, op->once) - loop;
		double twice = per_iteration(op, op->twice) - loop;
		if (once < 1 || twice < 1.7 * once)
			fail_msg("%s: %.2f instructions once, %.2f twice", op->name, once, twice);
	}
}

static void measuring_keeps_every_sample(void **state)
{
	(void)state;
	struct op_control c;
	op_control_measure(&c);
	assert_true(c.clock_ns > 0 && c.clock_step_ns > 0 && c.loop_ns > 0);
	struct op_result r[2] = {{.op = op_find("getpid-raw")}, {.op = op_find("fork")}};
	const struct op_plan plan = {
		.samples = 23, .sample_ns = 20000, .limit_ns = 60000000000, .seed = 1, .dir = "/tmp"};
	assert_int_equal(op_measure(&plan, &c, r, 2), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(r[i].ns.n, 23);
		assert_int_equal(r[i].wrong, 0);
		assert_true(r[i].batch >= 1);
		assert_true(isfinite(r[i].two_op_ns));
		op_result_free(&r[i]);
	}
}

/* fgets_1 makes a call when its buffer is empty, which a few executions would not show. */
static void slowed_operations_are_executed_often_enough(void **state)
{
	(void)state;
	struct op_result r = {.op = op_find("fgets-1"), .two_op_ns = 500};
	assert_int_equal(op_count_times(&r, 60), 128);
	vec_push(&r.ns, 700);
	vec_push(&r.ns, 9);
	assert_true(op_count_times(&r, 60) > 4096);
	op_result_free(&r);
	r = (struct op_result){.op = op_find("fork"), .two_op_ns = NAN};
	assert_int_equal(op_count_times(&r, 60), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_loops_give_operation_and_loop),
		cmocka_unit_test(clock_and_loop_are_taken_out),
		cmocka_unit_test(samples_are_long_enough_for_the_clock),
		cmocka_unit_test(rows_are_whole_and_names_differ),
		cmocka_unit_test(operations_work),
		cmocka_unit_test(a_failed_setup_has_a_reason),
		cmocka_unit_test(signals_are_handled),
		cmocka_unit_test(compiler_leaves_the_loops_alone),
		cmocka_unit_test(measuring_keeps_every_sample),
		cmocka_unit_test(slowed_operations_are_executed_often_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
