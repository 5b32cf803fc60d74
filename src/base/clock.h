/* SPDX-License-Identifier: MIT */
/* Reads the clocks and sleeps. */
#ifndef SCTRACE_BASE_CLOCK_H
#define SCTRACE_BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ull

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_ns(void);
/* CLOCK_REALTIME in nanoseconds since the Epoch. */
uint64_t clock_real_ns(void);
/* The CPU time of the process `pid`, with all its threads, in nanoseconds; 0: unknown. */
uint64_t clock_cpu_ns(pid_t pid);
struct timespec clock_to_timespec(uint64_t ns);
/* Returns a time as getrusage(2) gives it, in seconds. */
double clock_timeval_s(const struct timeval *tv);
/* Sleeps at least `ns` nanoseconds, even if signals arrive. */
void clock_sleep_ns(uint64_t ns);

#endif
