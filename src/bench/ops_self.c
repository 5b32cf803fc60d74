/* Operations of `bench syscall` that need only the process itself: the empty loop, process identity, clocks. */
#include "bench/op.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

OP_BODY(empty)
{
	(void)s;
}
OP_LOOPS(empty)

OP_BODY(self_getpid)
{
	OP_WRONG_IF(getpid() <= 0);
}
OP_LOOPS(self_getpid)

OP_BODY(self_getppid)
{
	OP_WRONG_IF(getppid() < 0);
}
OP_LOOPS(self_getppid)

OP_BODY(self_getuid)
{
	OP_KEEP(getuid());
	(void)s;
}
OP_LOOPS(self_getuid)

OP_BODY(self_getpid_raw)
{
	OP_WRONG_IF(syscall(SYS_getpid) <= 0);
}
OP_LOOPS(self_getpid_raw)

OP_BODY(self_sysconf)
{
	OP_WRONG_IF(sysconf(_SC_CLK_TCK) <= 0);
}
OP_LOOPS(self_sysconf)

OP_BODY(clock_time)
{
	OP_WRONG_IF(time(NULL) <= 0);
}
OP_LOOPS(clock_time)

OP_BODY(clock_gettimeofday)
{
	struct timeval tv;
	OP_WRONG_IF(gettimeofday(&tv, NULL) != 0);
	OP_KEEP(&tv);
}
OP_LOOPS(clock_gettimeofday)

/*
 * CLOCK_LIBC() defines an operation that calls clock_gettime(3), which the C library implements with the vDSO.
 * CLOCK_CALL() defines an operation that makes the system call instead.
 */
#define CLOCK_LIBC(name, id)                                                                                           \
	OP_BODY(name)                                                                                                  \
	{                                                                                                              \
		struct timespec ts;                                                                                    \
		OP_WRONG_IF(clock_gettime(id, &ts) != 0);                                                              \
		OP_KEEP(&ts);                                                                                          \
	}                                                                                                              \
	OP_LOOPS(name)
#define CLOCK_CALL(name, id)                                                                                           \
	OP_BODY(name)                                                                                                  \
	{                                                                                                              \
		struct timespec ts;                                                                                    \
		OP_WRONG_IF(syscall(SYS_clock_gettime, id, &ts) != 0);                                                 \
		OP_KEEP(&ts);                                                                                          \
	}                                                                                                              \
	OP_LOOPS(name)

CLOCK_LIBC(clock_monotonic, CLOCK_MONOTONIC)
CLOCK_CALL(clock_monotonic_raw, CLOCK_MONOTONIC)
CLOCK_LIBC(clock_realtime, CLOCK_REALTIME)
CLOCK_CALL(clock_realtime_raw, CLOCK_REALTIME)
CLOCK_LIBC(clock_coarse, CLOCK_MONOTONIC_COARSE)
CLOCK_CALL(clock_coarse_raw, CLOCK_MONOTONIC_COARSE)
CLOCK_LIBC(clock_cputime, CLOCK_PROCESS_CPUTIME_ID)

#ifdef SYS_time
OP_BODY(clock_time_raw)
{
	OP_WRONG_IF(syscall(SYS_time, NULL) <= 0);
}
OP_LOOPS(clock_time_raw)
#endif

#if defined(__x86_64__)
#define TSC_ABOUT "RDTSC, the processor's time stamp counter"
OP_BODY(clock_tsc)
{
	(void)s;
	OP_KEEP(__builtin_ia32_rdtsc());
}
OP_LOOPS(clock_tsc)
#elif defined(__aarch64__)
#define TSC_ABOUT "CNTVCT_EL0, the processor's virtual timer"
OP_BODY(clock_tsc)
{
	(void)s;
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	OP_KEEP(t);
}
OP_LOOPS(clock_tsc)
#endif

#define ROW(name, group, body, about)                                                                                  \
	{                                                                                                              \
		name, group, about, body##_once, body##_twice, NULL, NULL, OP_CHEAP, false                             \
	}

const struct op ops_self[] = {
	ROW("loop", "control", empty, "an empty loop; its cost is subtracted from the others"),
	ROW("getpid", "id", self_getpid, "getpid() of the C library"),
	ROW("getpid-raw", "id", self_getpid_raw, "syscall(SYS_getpid)"),
	ROW("getppid", "id", self_getppid, "getppid()"),
	ROW("getuid", "id", self_getuid, "getuid()"),
	ROW("sysconf", "id", self_sysconf, "sysconf(_SC_CLK_TCK)"),
#ifdef TSC_ABOUT
	ROW("tsc", "clock", clock_tsc, TSC_ABOUT),
#endif
	ROW("time", "clock", clock_time, "time(NULL) in the vDSO"),
#ifdef SYS_time
	ROW("time-raw", "clock", clock_time_raw, "syscall(SYS_time)"),
#endif
	ROW("gettimeofday", "clock", clock_gettimeofday, "gettimeofday() in the vDSO"),
	ROW("monotonic", "clock", clock_monotonic, "clock_gettime(CLOCK_MONOTONIC) in the vDSO"),
	ROW("monotonic-raw", "clock", clock_monotonic_raw, "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)"),
	ROW("realtime", "clock", clock_realtime, "clock_gettime(CLOCK_REALTIME) in the vDSO"),
	ROW("realtime-raw", "clock", clock_realtime_raw, "syscall(SYS_clock_gettime, CLOCK_REALTIME)"),
	ROW("coarse", "clock", clock_coarse, "clock_gettime(CLOCK_MONOTONIC_COARSE) in the vDSO"),
	ROW("coarse-raw", "clock", clock_coarse_raw, "syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE)"),
	ROW("cputime", "clock", clock_cputime, "clock_gettime(CLOCK_PROCESS_CPUTIME_ID): a system call"),
};
const size_t ops_self_count = sizeof(ops_self) / sizeof(*ops_self);
