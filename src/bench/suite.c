#include "bench/suite.h"

#include "base/buf.h"
#include "bench/op.h"

#include <errno.h>

/* Fixed for good: saved runs of different kernels are compared by it. Some half a second all together. */
#define TIMES_CHEAP 20000
#define TIMES_DEAR  60

int suite_run(const char *dir, uint64_t times, struct buf *why)
{
	int err = 0;
	for (uint64_t t = 0; t < times; t++)
		for (size_t i = 0; op_at(i); i++) {
			const struct op *op = op_at(i);
			struct op_state s;
			struct buf missing = {0};
			if (op_open(op, &s, dir, &missing) == 0) {
				op->once(&s, op->cost == OP_DEAR ? TIMES_DEAR : TIMES_CHEAP);
				if (s.wrong && !err) {
					buf_addf(why, "the suite's operation %s does not do here what it should",
						 op->name);
					err = -EIO;
				}
				op_close(op, &s);
			}
			buf_free(&missing);
		}
	return err;
}
