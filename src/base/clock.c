/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <errno.h>

struct timespec clock_to_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)};
}

double clock_timeval_s(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts = {0};
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t clock_cpu_ns(pid_t pid)
{
	clockid_t id;
	return clock_getcpuclockid(pid, &id) == 0 ? read_clock(id) : 0;
}

void clock_sleep_ns(uint64_t ns)
{
	struct timespec until = clock_to_timespec(clock_ns() + ns);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}
