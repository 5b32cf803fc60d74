#include "measure/rss.h"

#include "tracee/proc.h"

#include <errno.h>

int64_t rss_peak(pid_t pid)
{
	struct proc_status s;
	int r = proc_status(pid, &s);
	return r < 0 ? r : s.has_memory ? (int64_t)s.peak_rss : -ESRCH;
}
