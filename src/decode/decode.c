#include "decode/decode.h"

#include "base/buf.h"
#include "decode/emit.h"
#include "decode/kinds.h"
#include "syscall/table.h"

#include <linux/sockios.h>

#define NARGS 6

static enum when when_known(const struct decode *d, const struct syscall_desc *desc, int i)
{
	const struct kind *k = &decode_kinds[desc->args[i].kind];
	return k->choose ? k->choose(d, i) : k->when;
}

/* The number of arguments of this call, up to the last one that it uses. */
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
	return when == WHEN_ENTERING || when == WHEN_BOTH || (when == WHEN_LEFT && d->leaving && !d->call->error);
}

static void begin_arg(const struct decode *d, const struct syscall_desc *desc, int i)
{
	uint64_t v = d->call->args[i];
	emit_arg(d->out, desc->args[i].name, v);
	if (d->opts->raw)
		emit_hex(d->out, v);
	else if (filled_in(d, when_known(d, desc, i)))
		show_kind(d, desc->args[i].kind, v, i);
	else
		emit_ptr(d->out, v);
}

/* Shows what the kernel filled in for an argument that was shown at entry. */
static void end_arg(const struct decode *d, const struct syscall_desc *desc, int i)
{
	const struct kind *k = &decode_kinds[desc->args[i].kind];
	if (when_known(d, desc, i) == WHEN_BOTH && d->leaving && !d->call->error && !d->opts->raw)
		k->show_after(d, k, d->call->args[i], i);
}

static void show_args(const struct decode *d, const struct syscall_desc *desc, int from, int to, int total)
{
	for (int i = from; i < to; i++) {
		if (when_known(d, desc, i) == WHEN_NEVER)
			continue;
		begin_arg(d, desc, i);
		end_arg(d, desc, i);
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

/* At the entry of a call: if argument `v` of this kind leads to a length, keeps that length in d->memo. */
static void keep_length(const struct decode *d, enum syscall_kind kind, uint64_t v)
{
	/* In a struct msghdr the length follows the address, which is one word. */
	bool conf = kind == K_IOCTL_ARG && (uint32_t)d->call->args[1] == SIOCGIFCONF;
	uint64_t at = kind == K_SOCKLEN || conf ? v : v + decode_word(d);
	if (kind == K_SOCKLEN || kind == K_OUT_MSGHDR || conf)
		d->memo->known = decode_get(d, at, &d->memo->length, sizeof(d->memo->length));
}

/* True if argument `i` is shown at entry but completed after the call. */
static bool is_half(const struct decode *d, const struct syscall_desc *desc, int i, int total)
{
	return i < total && !d->opts->raw && when_known(d, desc, i) == WHEN_BOTH;
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
	if (is_half(d, desc, n, total))
		begin_arg(d, desc, n);
	return n;
}

int decode_count(const struct decode *d)
{
	const struct syscall_desc *desc = d->call->desc;
	return desc ? count_args(d, desc) : NARGS;
}

void decode_exit(const struct decode *d, int from)
{
	const struct syscall_desc *desc = d->call->desc;
	if (!desc) {
		show_unknown(d, from);
		return;
	}
	int total = count_args(d, desc);
	if (is_half(d, desc, from, total)) {
		end_arg(d, desc, from);
		emit_arg_end(d->out, from + 1 == total);
		from++;
	}
	show_args(d, desc, from, total, total);
}

void decode_vanish(const struct decode *d, int from)
{
	const struct syscall_desc *desc = d->call->desc;
	if (desc && is_half(d, desc, from, count_args(d, desc)))
		emit_arg_end(d->out, true);
}
