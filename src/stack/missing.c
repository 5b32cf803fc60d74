#include "stack/stack.h"

#include "base/buf.h"

#include <errno.h>

/* What is there when sctrace was built without libunwind or libdw: a clear word instead of a walk. */
static int missing_open(struct stack **out, struct buf *why)
{
	(void)out;
	buf_adds(why, "stacks cannot be shown: sctrace was built without libunwind and libdw");
	return -ENOSYS;
}

const struct stack_ops stack_native_ops = {.name = "missing", .open = missing_open};
