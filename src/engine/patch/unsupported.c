/* Represents the patch engine if sctrace was built without it. */
#include "engine/engine.h"

#include "base/buf.h"

#include <errno.h>

static int patch_probe(unsigned want, struct buf *why)
{
	(void)want;
	buf_adds(why, "it was left out of this sctrace, or does not support this processor");
	return -ENOTSUP;
}

const struct engine_ops engine_patch = {
	.name = "patch",
	.purpose = "counts, times and records calls inside the program; fast; only for x86-64 and aarch64",
	.caps = CAP_COUNTS | CAP_BY_PROCESS | CAP_FOLLOW,
	.probe = patch_probe,
};
