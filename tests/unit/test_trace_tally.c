/* SPDX-License-Identifier: MIT */
/* Tests which parts of a call are left out when two traces are compared. */
#include "trace/changes.h"

#include <linux/futex.h>
#include <sys/timerfd.h>
#include <time.h>

#include "trace_events.h"

/* Two struct timespec, which are also a struct itimerspec. The times are different in each run. */
static const struct timespec times[2] = {{7, 8}, {49192, 112289904}};

static ssize_t read_times(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	if (addr < 0x2000 || addr >= 0x2000 + sizeof(times))
		return -EFAULT;
	size_t have = 0x2000 + sizeof(times) - addr;
	n = n < have ? n : have;
	memcpy(buf, (const char *)times + (addr - 0x2000), n);
	return (ssize_t)n;
}

static const struct {
	long nr;
	uint64_t args[5];
	const char *text;
} calls[] = {
	{SYS_futex,
	 {16, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 0x2010},
	 "futex(ADDRESS, FUTEX_WAIT_PRIVATE, 2, {tv_sec=49192, tv_nsec=112289904})"},
	{SYS_futex, {16, FUTEX_LOCK_PI, 0, 0x2010}, "futex(ADDRESS, FUTEX_LOCK_PI, 0, {tv_sec=TIME, tv_nsec=TIME})"},
	{SYS_futex, {16, FUTEX_WAIT, 100, 0}, "futex(ADDRESS, FUTEX_WAIT, PID, NULL)"},
	{SYS_futex, {16, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 100, 0}, "futex(ADDRESS, FUTEX_WAIT_PRIVATE, 100, NULL)"},
	{SYS_clock_nanosleep,
	 {CLOCK_MONOTONIC, 0, 0x2000, 0},
	 "clock_nanosleep(CLOCK_MONOTONIC, 0, {tv_sec=7, tv_nsec=8}, NULL)"},
	{SYS_clock_nanosleep,
	 {CLOCK_MONOTONIC, TIMER_ABSTIME, 0x2000, 0},
	 "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=TIME, tv_nsec=TIME}, NULL)"},
	{SYS_timerfd_settime,
	 {3, TFD_TIMER_ABSTIME, 0x2000, 0},
	 "timerfd_settime(</file3>, TFD_TIMER_ABSTIME, {it_interval={tv_sec=7, tv_nsec=8}, it_value={tv_sec=TIME, "
	 "tv_nsec=TIME}}, NULL)"},
	{SYS_mq_timedsend, {3, 0, 0, 1, 0x2000}, "mq_timedsend(</file3>, NULL, 0, 1, {tv_sec=TIME, tv_nsec=TIME})"},
	{SYS_kill, {100, 0}, "kill(PID, 0)"},
	{SYS_kill, {7, 0}, "kill(7, 0)"},
};

static void what_each_run_has_anew_is_left_out(void **state)
{
	(void)state;
	const struct mem mem = {.read = read_times};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct trace_tally t = {.string_max = 32};
		struct rig r = {0};
		trace_tally_begin(&t, 0);
		rig_start(&r, &t.sink);
		struct event ev = call_event(EV_ENTER, 100, calls[i].nr, 0, 0, 0, 0);
		memcpy(ev.call.args, calls[i].args, sizeof(calls[i].args));
		ev.mem = &mem;
		give(&r, ev);
		assert_int_equal(t.rows.n, 1);
		assert_string_equal(t.rows.v[0]->text, calls[i].text);
		rig_free(&r);
		trace_tally_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_each_run_has_anew_is_left_out),
	};
	return cmocka_run_group_tests_name("trace_tally", tests, NULL, NULL);
}
