#include "bench/op.h"

#include "base/buf.h"

#include <string.h>

const struct op *op_at(size_t i)
{
	static const struct op *const parts[] = {ops_self, ops_file, ops_task};
	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
		for (const struct op *op = parts[p]; op->name; op++)
			if (i-- == 0)
				return op;
	return NULL;
}

const struct op *op_find(const char *name)
{
	for (size_t i = 0; op_at(i); i++)
		if (strcmp(op_at(i)->name, name) == 0)
			return op_at(i);
	return NULL;
}

const struct op *op_empty(void)
{
	return &ops_self[0];
}

int op_open(const struct op *op, struct op_state *s, const char *dir, struct buf *why)
{
	*s = (struct op_state){.dir = dir, .fd = -1, .fd2 = -1};
	return op->setup ? op->setup(s, why) : 0;
}

void op_close(const struct op *op, struct op_state *s)
{
	if (op->teardown)
		op->teardown(s);
}
