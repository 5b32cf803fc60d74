#include "decode/decode.h"

#include "base/buf.h"
#include "decode/emit.h"
#include "decode/kinds.h"
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/call_table.h"

#include <linux/sockios.h>

#define NARGS 6

/* Says when each argument of a call is known. */
struct plan {
	int total; /* the number of arguments, up to the last one that the call uses */
	enum when when[NARGS];
};

static void plan(const struct decode *d, const struct syscall_desc *desc, struct plan *p)
{
	p->total = 0;
	for (int i = 0; i < desc->nargs; i++) {
		const struct kind *k = &decode_kinds[desc->args[i].kind];
		p->when[i] = k->choose ? k->choose(d, i) : k->when;
		p->total = p->when[i] == WHEN_NEVER ? p->total : i + 1;
	}
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

static void show_args(const struct decode *d, const struct syscall_desc *desc, const struct plan *p, int from, int to)
{
	for (int i = from; i < to; i++) {
		if (p->when[i] == WHEN_NEVER)
			continue;
		begin_arg(d, desc, i, p->when[i]);
		end_arg(d, desc, i, p->when[i]);
		emit_arg_end(d->out, i + 1 == p->total);
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
 * Must be called at the entry of a call. If argument `i` leads to a length in memory, saves the length in d->memo. In a
 * struct msghdr and a struct iovec, the length follows a pointer. In a struct ifconf and a struct file_handle, it is
 * the first member.
 */
static void keep_length(const struct decode *d, enum syscall_kind kind, int i)
{
	enum { GETREGSET = 0x4204 };
	uint64_t at = d->call->args[i];
	if ((kind == K_IOCTL_ARG && (uint32_t)d->call->args[1] != SIOCGIFCONF) ||
	    (kind == K_PTRACE_DATA && (uint32_t)d->call->args[0] != GETREGSET))
		return;
	if (kind == K_OUT_MSGHDR || kind == K_PTRACE_DATA)
		at += decode_word(d);
	d->memo->known = decode_get(d, at, &d->memo->length, sizeof(d->memo->length));
}

/* Like keep_length(). Saves the lengths in the messages of recvmmsg(2). */
static void keep_lengths(const struct decode *d, enum syscall_kind kind, int i)
{
	(void)kind;
	d->memo->messages = decode_mmsg_lengths(d, d->call->args[i], (uint32_t)d->call->args[i + 1], d->memo->lengths,
						DECODE_LENGTHS);
}

/* Like keep_length(). Saves a structure that is shown after the call. */
static void keep_structure(const struct decode *d, enum syscall_kind kind, int i)
{
	const struct layout *l = layout_for(d, decode_kinds[kind].about);
	if (l && l->size <= sizeof(d->memo->structure) && decode_get(d, d->call->args[i], d->memo->structure, l->size))
		d->memo->bytes = l->size;
}

/*
 * Functions that save an argument's memory at the entry, for the kinds that need it. The kernel changes this memory during
 * the call, but the trace also shows what it was before.
 */
static void (*const keepers[K_COUNT])(const struct decode *d, enum syscall_kind kind, int i) = {
	[K_SOCKLEN] = keep_length,
	[K_OUT_FILE_HANDLE] = keep_length,
	[K_OUT_MSGHDR] = keep_length,
	[K_IOCTL_ARG] = keep_length,
	[K_PTRACE_DATA] = keep_length,
	[K_OUT_MMSG] = keep_lengths,
	[K_CHANGED_TIMESPEC] = keep_structure,
	[K_CHANGED_TIMESPEC64] = keep_structure,
};

/* Returns true if argument `i` is shown at entry and completed after the call. */
static bool is_half(const struct decode *d, const struct plan *p, int i)
{
	return i < p->total && !d->opts->raw && p->when[i] == WHEN_BOTH;
}

static int enter(const struct decode *d, const struct syscall_desc *desc, const struct plan *p)
{
	int n = 0;
	if (d->memo)
		*d->memo = (struct decode_memo){0};
	for (int i = 0; d->memo && i < p->total; i++)
		if (keepers[desc->args[i].kind])
			keepers[desc->args[i].kind](d, desc->args[i].kind, i);
	while (n < p->total && (d->opts->raw || known_at_entry(p->when[n])))
		n++;
	show_args(d, desc, p, 0, n);
	if (is_half(d, p, n))
		begin_arg(d, desc, n, p->when[n]);
	return n;
}

static void leave(const struct decode *d, const struct syscall_desc *desc, const struct plan *p, int from)
{
	if (is_half(d, p, from)) {
		end_arg(d, desc, from, p->when[from]);
		emit_arg_end(d->out, from + 1 == p->total);
		from++;
	}
	show_args(d, desc, p, from, p->total);
}

int decode_enter(const struct decode *d)
{
	struct plan p;
	if (!d->call->desc)
		return show_unknown(d, 0);
	plan(d, d->call->desc, &p);
	return enter(d, d->call->desc, &p);
}

int decode_count(const struct decode *d)
{
	struct plan p = {.total = NARGS};
	if (d->call->desc)
		plan(d, d->call->desc, &p);
	return p.total;
}

void decode_exit(const struct decode *d, int from)
{
	struct plan p;
	if (!d->call->desc) {
		show_unknown(d, from);
		return;
	}
	plan(d, d->call->desc, &p);
	leave(d, d->call->desc, &p, from);
}

void decode_vanish(const struct decode *d, int from)
{
	struct plan p = {0};
	if (d->call->desc)
		plan(d, d->call->desc, &p);
	if (is_half(d, &p, from))
		emit_arg_end(d->out, true);
}

/*
 * decode_ask_enter() and decode_ask_exit() ask for the names that are needed to show a call. Most calls by far have no
 * names but those of the descriptors and processes among their arguments and results. For these, memory need not be
 * decoded.
 */
enum ask {
	ASKS_NOTHING,
	ASKS_ITSELF, /* for the name of a number */
	ASKS_INSIDE, /* perhaps for names that are found in memory, or under a condition */
};

static enum ask classify(enum syscall_kind kind);

static bool layout_asks(const struct layout *l)
{
	for (size_t i = 0; l && i < l->n; i++)
		if (classify((enum syscall_kind)l->members[i].kind) != ASKS_NOTHING)
			return true;
	return false;
}

/* Does a kind that is shown by these functions ask for names of what it contains? */
static bool contents_ask(const struct kind *k)
{
	static show_fn *const structs[] = {show_struct,      show_struct_sized, show_struct_own_size,
					   show_kept_struct, show_structs,      show_stamp};
	for (size_t i = 0; i < sizeof(structs) / sizeof(*structs); i++)
		if (k->show == structs[i])
			return layout_asks(k->about);
	const struct exchange *e = k->about;
	if (k->show == show_exchange)
		return layout_asks(e->in) || layout_asks(e->out);
	if (k->show == show_pointee)
		return classify(((const struct pointee *)k->about)->kind) != ASKS_NOTHING;
	return k->show == show_numbers && classify(((const struct numbers *)k->about)->kind) != ASKS_NOTHING;
}

static enum ask classify(enum syscall_kind kind)
{
	const struct kind *k = &decode_kinds[kind];
	bool itself = k->show == show_fd || k->show == show_dirfd || k->show == show_pid || k->show == show_ifindex;
	if (k->asks || contents_ask(k) || (itself && k->choose))
		return ASKS_INSIDE;
	return itself ? ASKS_ITSELF : ASKS_NOTHING;
}

static enum ask ask_of(enum syscall_kind kind)
{
	static unsigned char known[K_COUNT]; /* 1 + the value; 0: not yet known */
	if (!known[kind])
		known[kind] = (unsigned char)(1 + classify(kind));
	return (enum ask)(known[kind] - 1);
}

/* Is it enough to ask for the names of the arguments and of the result? */
static bool is_simple(const struct decode *d)
{
	const struct syscall_desc *desc = d->call->desc;
	for (int i = 0; desc && i < desc->nargs; i++)
		if (ask_of(desc->args[i].kind) == ASKS_INSIDE)
			return false;
	return desc && !d->opts->raw;
}

static void ask_arg(const struct decode *d, int i)
{
	enum syscall_kind kind = d->call->desc->args[i].kind;
	if (ask_of(kind) == ASKS_ITSELF)
		show_kind(d, kind, d->call->args[i], i);
}

int decode_ask_enter(const struct decode *d)
{
	int i = 0;
	if (!is_simple(d))
		return decode_enter(d);
	for (; i < d->call->desc->nargs && decode_kinds[d->call->desc->args[i].kind].when == WHEN_ENTERING; i++)
		ask_arg(d, i);
	return i;
}

void decode_ask_exit(const struct decode *d, int from)
{
	static const bool results[R_COUNT] = {
		[R_FD] = true, [R_PID] = true, [R_IOCTL] = true, [R_FCNTL] = true, [R_BPF] = true, [R_SECCOMP] = true};
	if (!is_simple(d)) {
		decode_exit(d, from);
		decode_result(d);
		return;
	}
	for (int i = from; i < d->call->desc->nargs; i++)
		ask_arg(d, i);
	if (!d->call->error && results[d->call->desc->result])
		decode_result(d);
}
