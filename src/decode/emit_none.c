/* An emitter that shows nothing. It is used to find out which memory and names a decoder reads. */
#include "base/buf.h"
#include "decode/emit.h"

static void nothing(struct emit *e)
{
	(void)e;
}

static void argument_end(struct emit *e, bool last)
{
	(void)e, (void)last;
}

static void text(struct emit *e, const char *s)
{
	(void)e, (void)s;
}

static void bracket(struct emit *e, char c)
{
	(void)e, (void)c;
}

static void field(struct emit *e, const char *name, bool bare)
{
	(void)e, (void)name, (void)bare;
}

static void number(struct emit *e, uint64_t v, enum emit_form form)
{
	(void)e, (void)v, (void)form;
}

static void string(struct emit *e, const char *s, size_t n, unsigned flags)
{
	(void)s, (void)flags;
	buf_fill(e->out, ' ', n);
}

static void named(struct emit *e, const char *s, uint64_t raw)
{
	(void)e, (void)s, (void)raw;
}

static void indexed(struct emit *e, uint64_t v, const char *name)
{
	(void)e, (void)v, (void)name;
}

static void signals(struct emit *e, uint64_t set)
{
	(void)e, (void)set;
}

static void descriptor(struct emit *e, int64_t fd, const char *name, const struct emit_is *is)
{
	(void)e, (void)fd, (void)name, (void)is;
}

static void result(struct emit *e, int64_t v, const char *error, const char *meaning)
{
	(void)e, (void)v, (void)error, (void)meaning;
}

static void result_is(struct emit *e, const struct emit_is *is)
{
	(void)e, (void)is;
}

static void returned(struct emit *e, enum emit_returned part)
{
	(void)e, (void)part;
}

static const struct emit_ops none_ops = {
	.arg = named,
	.arg_end = argument_end,
	.field = field,
	.open = bracket,
	.close = bracket,
	.number = number,
	.string = string,
	.symbols = named,
	.signals = signals,
	.descriptor = descriptor,
	.index = indexed,
	.more = nothing,
	.after = nothing,
	.comment = text,
	.wrap = text,
	.result = result,
	.result_as = number,
	.result_is = result_is,
	.returned = returned,
};

void emit_none_init(struct emit *e, struct buf *out)
{
	*e = (struct emit){.ops = &none_ops, .out = out, .first = true};
}
