#include "base/buf.h"
#include "stack/stack.h"

#include <errno.h>

/* Built in if libunwind or libdw was not found. The message in `why` tells the user why there are no stacks. */
static int missing_open(struct stack **out, struct buf *why)
{
	(void)out;
	buf_adds(why, "cannot print stacks: sctrace was built without libunwind and libdw");
	return -ENOSYS;
}

const struct stack_ops stack_native_ops = {.name = "missing", .open = missing_open};
