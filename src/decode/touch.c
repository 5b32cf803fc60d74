#include "base/buf.h"
#include "decode/emit.h"
#include "decode/kinds.h"
#include "syscall/call_table.h"

/*
 * Reads what a decoder reads, without showing it. Most calls by far have only numbers, descriptors and buffers of bytes
 * as arguments. For these the numbers are skipped, which saves most of the time.
 */
enum touch { OTHER, NUMBER, FD, IN, OUT };

static bool is_number(const struct kind *k)
{
	static show_fn *const shows[] = {show_int,   show_uint,    show_long,   show_ulong,    show_hex,    show_octal,
					 show_flags, show_flags32, show_choice, show_choice32, show_pointer};
	for (size_t i = 0; i < sizeof(shows) / sizeof(*shows); i++)
		if (k->show == shows[i])
			return true;
	return false;
}

static enum touch classify(const struct kind *k)
{
	if (k->choose)
		return OTHER;
	if (k->show == show_out_bytes && k->when == WHEN_LEFT)
		return OUT;
	if (k->when != WHEN_ENTERING)
		return OTHER;
	return k->show == show_fd ? FD : k->show == show_in_bytes ? IN : is_number(k) ? NUMBER : OTHER;
}

static enum touch touch_of(enum syscall_kind kind)
{
	static unsigned char known[K_COUNT]; /* 1 + the value; 0: not yet known */
	if (!known[kind])
		known[kind] = (unsigned char)(1 + classify(&decode_kinds[kind]));
	return (enum touch)(known[kind] - 1);
}

static bool is_simple(const struct decode *d)
{
	const struct syscall_desc *desc = d->call->desc;
	if (!desc || d->opts->raw || (desc->result != R_INT && desc->result != R_BYTES))
		return false;
	for (int i = 0; i < desc->nargs; i++)
		if (touch_of(desc->args[i].kind) == OTHER)
			return false;
	return true;
}

static void touch_arg(const struct decode *d, int i)
{
	enum syscall_kind kind = d->call->desc->args[i].kind;
	enum touch touch = touch_of(kind);
	if (touch != NUMBER && !(touch == OUT && d->call->error))
		show_kind(d, kind, d->call->args[i], i);
}

int decode_touch_enter(const struct decode *d)
{
	int i = 0;
	if (!is_simple(d))
		return decode_enter(d);
	for (; i < d->call->desc->nargs && touch_of(d->call->desc->args[i].kind) != OUT; i++)
		touch_arg(d, i);
	return i;
}

void decode_touch_exit(const struct decode *d, int from)
{
	if (!is_simple(d)) {
		decode_exit(d, from);
		decode_result(d);
		return;
	}
	for (int i = from; i < d->call->desc->nargs; i++)
		touch_arg(d, i);
}

/* An emitter that shows nothing. It is used to find out which memory and names a decoder reads. */
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
