/* The largest resident set a process has had. */
#ifndef SCTRACE_MEASURE_RSS_H
#define SCTRACE_MEASURE_RSS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * VmHWM of /proc/PID/status in bytes: the peak since the last execve(2), so what the parent's memory was does not count
 * (ru_maxrss of getrusage(2) inherits it). Call it while the process is stopped at its exit event, before its memory is
 * gone. The kernel keeps the count per CPU, so it may be off by some hundred KiB (proc_pid_status(5)). -errno where it
 * cannot be read; -ESRCH where the process has no memory any more.
 */
int64_t rss_peak(pid_t pid);

#endif
