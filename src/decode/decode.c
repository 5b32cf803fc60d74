#include "decode/decode.h"

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

/*
 * Finds out when each argument of the call is known. Returns the number of arguments, up to the last one that the call
 * uses.
 */
static int plan(const struct decode *d, const struct syscall_desc *desc, enum when when[static NARGS])
{
	int n = 0;
	for (int i = 0; i < desc->nargs; i++) {
		when[i] = when_known(d, desc, i);
		n = when[i] == WHEN_NEVER ? n : i + 1;
	}
	return n;
}

static bool filled_in(const struct decode *d, enum when when)
{
	if (when == WHEN_LEFT_EVEN)
		return d->leaving;
	return when == WHEN_ENTERING || when == WHEN_BOTH || (when == WHEN_LEFT && d->leaving && !d->call->error);
}

static void begin_arg(const struct decode *d, const struct syscall_desc *desc, int i, enum when when)
{
	uint64_t v = d->call->args[i];
	emit_arg(d->out, desc->args[i].name, v);
	if (d->opts->raw)
		emit_hex(d->out, v);
	else if (filled_in(d, when))
		show_kind(d, desc->args[i].kind, v, i);
	else
		emit_ptr(d->out, v);
}

/* Completes an argument that was shown at entry: shows what the kernel has written. */
static void end_arg(const struct decode *d, const struct syscall_desc *desc, int i, enum when when)
{
	const struct kind *k = &decode_kinds[desc->args[i].kind];
	if (when == WHEN_BOTH && d->leaving && !d->call->error && !d->opts->raw)
		k->show_after(d, &(struct value){.v = d->call->args[i], .about = k->about, .arg = i});
}

static void show_args(const struct decode *d, const struct syscall_desc *desc, const enum when *when, int from, int to,
		      int total)
{
	for (int i = from; i < to; i++) {
		if (when[i] == WHEN_NEVER)
			continue;
		begin_arg(d, desc, i, when[i]);
		end_arg(d, desc, i, when[i]);
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

/*
 * Must be called at the entry of a call. If `v`, an argument of this kind, leads to a length in memory, saves the
 * length in d->memo.
 */
static void keep_length(const struct decode *d, enum syscall_kind kind, uint64_t v)
{
	/*
	 * In a struct msghdr, the length of the address follows the pointer to it. In a struct ifconf, the length is
	 * the first member.
	 */
	bool conf = kind == K_IOCTL_ARG && (uint32_t)d->call->args[1] == SIOCGIFCONF;
	uint64_t at = kind == K_SOCKLEN || conf ? v : v + decode_word(d);
	if (kind == K_SOCKLEN || kind == K_OUT_MSGHDR || conf)
		d->memo->known = decode_get(d, at, &d->memo->length, sizeof(d->memo->length));
}

/* Returns true if argument `i` is shown at entry and completed after the call. */
static bool is_half(const struct decode *d, const enum when *when, int i, int total)
{
	return i < total && !d->opts->raw && when[i] == WHEN_BOTH;
}

int decode_enter(const struct decode *d)
{
	const struct syscall_desc *desc = d->call->desc;
	enum when when[NARGS];
	if (!desc)
		return show_unknown(d, 0);
	int total = plan(d, desc, when), n = 0;
	if (d->memo)
		*d->memo = (struct decode_memo){0};
	for (int i = 0; d->memo && i < total; i++)
		keep_length(d, desc->args[i].kind, d->call->args[i]);
	while (n < total && (d->opts->raw || known_at_entry(when[n])))
		n++;
	show_args(d, desc, when, 0, n, total);
	if (is_half(d, when, n, total))
		begin_arg(d, desc, n, when[n]);
	return n;
}

int decode_count(const struct decode *d)
{
	enum when when[NARGS];
	return d->call->desc ? plan(d, d->call->desc, when) : NARGS;
}

void decode_exit(const struct decode *d, int from)
{
	const struct syscall_desc *desc = d->call->desc;
	enum when when[NARGS];
	if (!desc) {
		show_unknown(d, from);
		return;
	}
	int total = plan(d, desc, when);
	if (is_half(d, when, from, total)) {
		end_arg(d, desc, from, when[from]);
		emit_arg_end(d->out, from + 1 == total);
		from++;
	}
	show_args(d, desc, when, from, total, total);
}

void decode_vanish(const struct decode *d, int from)
{
	enum when when[NARGS];
	int total = d->call->desc ? plan(d, d->call->desc, when) : 0;
	if (is_half(d, when, from, total))
		emit_arg_end(d->out, true);
}
