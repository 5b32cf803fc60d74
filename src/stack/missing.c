#include "stack/stack.h"

#include "base/buf.h"

#include <errno.h>

/* Used if sctrace was built without libunwind or libdw: prints a clear message instead of walking stacks. */
static int missing_open(struct stack **out, struct buf *why)
{
	(void)out;
	buf_adds(why, "cannot print stacks: sctrace was built without libunwind and libdw");
	return -ENOSYS;
}

const struct stack_ops stack_native_ops = {.name = "missing", .open = missing_open};
