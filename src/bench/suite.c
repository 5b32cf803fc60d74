#include "bench/suite.h"

#include "base/buf.h"
#include "bench/op.h"

#include <errno.h>

/* Fixed for good: saved runs of different kernels are compared by it. Some half a second all together. */
#define TIMES_CHEAP 20000
#define TIMES_DEAR  60

int suite_run(const char *dir, uint64_t times)
{
	uint64_t wrong = 0;
	for (uint64_t t = 0; t < times; t++)
		for (size_t i = 0; op_at(i); i++) {
			const struct op *op = op_at(i);
			struct op_state s;
			struct buf why = {0};
			if (op_open(op, &s, dir, &why) == 0) {
				op->once(&s, op->cost == OP_DEAR ? TIMES_DEAR : TIMES_CHEAP);
				wrong += s.wrong;
				op_close(op, &s);
			}
			buf_free(&why);
		}
	return wrong ? -EIO : 0;
}
