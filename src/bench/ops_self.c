/* Operations of `bench syscall` that need only the process itself: the empty loop, process identity, clocks. */
#include "bench/op.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

OP(empty)
{
	(void)s;
}

OP(self_getpid)
{
	OP_WRONG_IF(getpid() <= 0);
}

OP(self_getppid)
{
	OP_WRONG_IF(getppid() < 0);
}

OP(self_getuid)
{
	OP_KEEP(getuid());
	(void)s;
}

OP(self_getpid_raw)
{
	OP_WRONG_IF(syscall(SYS_getpid) <= 0);
}

OP(self_sysconf)
{
	OP_WRONG_IF(sysconf(_SC_CLK_TCK) <= 0);
}

OP(clock_time)
{
	OP_WRONG_IF(time(NULL) <= 0);
}

OP(clock_gettimeofday)
{
	struct timeval tv;
	OP_WRONG_IF(gettimeofday(&tv, NULL) != 0);
	OP_KEEP(&tv);
}

/* Defines an operation that executes `call`, which reads a clock and stores the time in `ts`. */
#define CLOCK(name, call)                                                                                              \
	OP(name)                                                                                                       \
	{                                                                                                              \
		struct timespec ts;                                                                                    \
		OP_WRONG_IF((call) != 0);                                                                              \
		OP_KEEP(&ts);                                                                                          \
	}

CLOCK(clock_monotonic, clock_gettime(CLOCK_MONOTONIC, &ts))
CLOCK(clock_monotonic_raw, syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts))
CLOCK(clock_realtime, clock_gettime(CLOCK_REALTIME, &ts))
CLOCK(clock_realtime_raw, syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts))
CLOCK(clock_coarse, clock_gettime(CLOCK_MONOTONIC_COARSE, &ts))
CLOCK(clock_coarse_raw, syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &ts))
CLOCK(clock_cputime, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts))

#ifdef SYS_time
OP(clock_time_raw)
{
	OP_WRONG_IF(syscall(SYS_time, NULL) <= 0);
}
#endif

#if defined(__x86_64__)
#define TSC_ABOUT "RDTSC, the processor's time stamp counter"
OP(clock_tsc)
{
	(void)s;
	OP_KEEP(__builtin_ia32_rdtsc());
}
#elif defined(__aarch64__)
#define TSC_ABOUT "CNTVCT_EL0, the processor's virtual timer"
OP(clock_tsc)
{
	(void)s;
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	OP_KEEP(t);
}
#endif

const struct op ops_self[] = {
	{"loop", "control", "an empty loop; its cost is subtracted from the others", OP_LOOPS(empty)},
	{"getpid", "id", "getpid() of the C library", OP_LOOPS(self_getpid)},
	{"getpid-raw", "id", "syscall(SYS_getpid)", OP_LOOPS(self_getpid_raw)},
	{"getppid", "id", "getppid()", OP_LOOPS(self_getppid)},
	{"getuid", "id", "getuid()", OP_LOOPS(self_getuid)},
	{"sysconf", "id", "sysconf(_SC_CLK_TCK)", OP_LOOPS(self_sysconf)},
#ifdef TSC_ABOUT
	{"tsc", "clock", TSC_ABOUT, OP_LOOPS(clock_tsc)},
#endif
	{"time", "clock", "time(NULL) in the vDSO", OP_LOOPS(clock_time)},
#ifdef SYS_time
	{"time-raw", "clock", "syscall(SYS_time)", OP_LOOPS(clock_time_raw)},
#endif
	{"gettimeofday", "clock", "gettimeofday() in the vDSO", OP_LOOPS(clock_gettimeofday)},
	{"monotonic", "clock", "clock_gettime(CLOCK_MONOTONIC) in the vDSO", OP_LOOPS(clock_monotonic)},
	{"monotonic-raw", "clock", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)", OP_LOOPS(clock_monotonic_raw)},
	{"realtime", "clock", "clock_gettime(CLOCK_REALTIME) in the vDSO", OP_LOOPS(clock_realtime)},
	{"realtime-raw", "clock", "syscall(SYS_clock_gettime, CLOCK_REALTIME)", OP_LOOPS(clock_realtime_raw)},
	{"coarse", "clock", "clock_gettime(CLOCK_MONOTONIC_COARSE) in the vDSO", OP_LOOPS(clock_coarse)},
	{"coarse-raw", "clock", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE)", OP_LOOPS(clock_coarse_raw)},
	{"cputime", "clock", "clock_gettime(CLOCK_PROCESS_CPUTIME_ID): a system call", OP_LOOPS(clock_cputime)},
	{0},
};
