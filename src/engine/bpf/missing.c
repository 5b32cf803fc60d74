/* The bpf engine's entry in the list of engines if it was not built. Its probe gives the reason. */
#include "engine/engine.h"

#include "base/buf.h"
#include "config.h"

#include <errno.h>

static int missing_probe(unsigned want, struct buf *why)
{
	(void)want;
	buf_adds(why, SCTRACE_BPF_MISSING);
	return -ENOSYS;
}

const struct engine_ops engine_bpf = {
	.name = "bpf",
	.purpose = "counts calls in the kernel without stopping programs; also for control groups and the whole "
		   "system; needs privileges",
	.caps = CAP_COUNTS | CAP_BY_PROCESS | CAP_BY_THREAD | CAP_ATTACH | CAP_FOLLOW | CAP_CGROUP | CAP_SYSTEM |
		CAP_ERRNOS,
	.probe = missing_probe,
};
