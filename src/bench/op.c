#include "bench/op.h"

#include "base/buf.h"

#include <string.h>

static const struct {
	const struct op *rows;
	const size_t *count;
} parts[] = {
	{ops_self, &ops_self_count},
	{ops_file, &ops_file_count},
	{ops_task, &ops_task_count},
};

const struct op *op_at(size_t i)
{
	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++) {
		if (i < *parts[p].count)
			return &parts[p].rows[i];
		i -= *parts[p].count;
	}
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
