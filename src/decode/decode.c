#include "decode/decode.h"

#include "base/buf.h"
#include "decode/emit.h"
#include "decode/kinds.h"
#include "syscall/table.h"

#define NARGS 6

static enum when when_known(const struct decode *d, const struct syscall_desc *desc, int i)
{
	const struct kind *k = &decode_kinds[desc->args[i].kind];
	return k->choose ? k->choose(d, i) : k->when;
}

/* How many arguments this call has, up to the last one that is there. */
static int count_args(const struct decode *d, const struct syscall_desc *desc)
{
	int n = desc->nargs;
	while (n > 0 && when_known(d, desc, n - 1) == WHEN_NEVER)
		n--;
	return n;
}

static bool filled_in(const struct decode *d, enum when when)
{
	if (when == WHEN_LEFT_EVEN)
		return d->leaving;
	return when == WHEN_ENTERING || (when == WHEN_LEFT && d->leaving && !d->call->error);
}

static void show_args(const struct decode *d, const struct syscall_desc *desc, int from, int to, int total)
{
	for (int i = from; i < to; i++) {
		uint64_t v = d->call->args[i];
		enum when when = when_known(d, desc, i);
		if (when == WHEN_NEVER)
			continue;
		emit_arg(d->out, desc->args[i].name, v);
		if (d->opts->raw)
			emit_hex(d->out, v);
		else if (filled_in(d, when))
			show_kind(d, desc->args[i].kind, v, i);
		else
			emit_ptr(d->out, v);
		emit_arg_end(d->out, i + 1 == total);
	}
}

static int show_unknown(const struct decode *d, int from)
{
	static const char *const names[NARGS] = {"arg1", "arg2", "arg3", "arg4", "arg5", "arg6"};
	for (int i = from; i < NARGS; i++) {
		emit_arg(d->out, names[i], d->call->args[i]);
		emit_hex(d->out, d->call->args[i]);
		emit_arg_end(d->out, i + 1 == NARGS);
	}
	return NARGS;
}

static bool known_at_entry(enum when when)
{
	return when == WHEN_ENTERING || when == WHEN_NEVER;
}

/* Keeps in d->memo, at a call's entry, the length that argument `v` of this kind leads to, if it leads to one. */
static void keep_length(const struct decode *d, enum syscall_kind kind, uint64_t v)
{
	/* In a struct msghdr the length comes after the address, which is one word. */
	uint64_t at = kind == K_SOCKLEN ? v : v + decode_word(d);
	if (kind == K_SOCKLEN || kind == K_OUT_MSGHDR)
		d->memo->known = decode_get(d, at, &d->memo->length, sizeof(d->memo->length));
}

int decode_enter(const struct decode *d)
{
	const struct syscall_desc *desc = d->call->desc;
	if (!desc)
		return show_unknown(d, 0);
	int total = count_args(d, desc), n = 0;
	if (d->memo)
		*d->memo = (struct decode_memo){0};
	for (int i = 0; d->memo && i < total; i++)
		keep_length(d, desc->args[i].kind, d->call->args[i]);
	while (n < total && (d->opts->raw || known_at_entry(when_known(d, desc, n))))
		n++;
	show_args(d, desc, 0, n, total);
	return n;
}

void decode_exit(const struct decode *d, int from)
{
	const struct syscall_desc *desc = d->call->desc;
	if (!desc) {
		show_unknown(d, from);
		return;
	}
	int total = count_args(d, desc);
	show_args(d, desc, from, total, total);
}
