/* Represents the patch engine on processors that it does not support. */
#include "engine/engine.h"

#include "base/buf.h"

#include <errno.h>

static int patch_probe(unsigned want, struct buf *why)
{
	(void)want;
	buf_adds(why, "x86-64 only");
	return -ENOTSUP;
}

const struct engine_ops engine_patch = {
	.name = "patch",
	.purpose = "counts, times and records calls inside the program; fast; x86-64 only; the default for -c and for "
		   "traces",
	.caps = CAP_COUNTS | CAP_BY_PROCESS | CAP_FOLLOW,
	.probe = patch_probe,
};
