#include "bench/suite.h"

#include "base/buf.h"
#include "bench/op.h"

#include <errno.h>
#include <string.h>

/*
 * How many times the suite executes each operation, which takes about half a second in total. These numbers must never
 * change, because users compare saved runs of different kernels.
 */
#define TIMES_CHEAP 20000
#define TIMES_DEAR  60

void suite_find_missing(const char *dir, struct buf *without, struct buf *why)
{
	for (size_t i = 0; op_at(i); i++) {
		const struct op *op = op_at(i);
		struct op_state s;
		struct buf missing = {0};
		if (op_open(op, &s, dir, &missing) == 0)
			op_close(op, &s);
		else {
			buf_addf(without, "%s%s", without->len ? "," : "", op->name);
			buf_addf(why, "%s%s (%s)", why->len ? ", " : "", op->name, buf_str(&missing));
		}
		buf_free(&missing);
	}
}

bool suite_is_without(const char *without, const struct op *op)
{
	size_t len = strlen(op->name);
	for (const char *p = without; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");
		if (n == len && strncmp(p, op->name, n) == 0)
			return true;
		p += n;
	}
	return false;
}

/* Runs the operation `op` TIMES_CHEAP or TIMES_DEAR times. Returns 0, or -errno with the reason in `why`. */
static int run_op(const struct op *op, const char *dir, struct buf *why)
{
	struct op_state s;
	struct buf missing = {0};
	int err = op_open(op, &s, dir, &missing);
	if (err)
		buf_addf(why, "the operation %s of the suite cannot run any more: %s", op->name, buf_str(&missing));
	buf_free(&missing);
	if (err)
		return err;
	op->once(&s, op->cost == OP_DEAR ? TIMES_DEAR : TIMES_CHEAP);
	if (s.wrong) {
		buf_addf(why, "the operation %s of the suite does not work correctly on this machine", op->name);
		err = -EIO;
	}
	op_close(op, &s);
	return err;
}

int suite_run(const char *dir, uint64_t times, const char *without, struct buf *why)
{
	for (uint64_t t = 0; t < times; t++)
		for (size_t i = 0; op_at(i); i++) {
			int err = suite_is_without(without, op_at(i)) ? 0 : run_op(op_at(i), dir, why);
			if (err)
				return err;
		}
	return 0;
}
