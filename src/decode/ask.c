#include "base/buf.h"
#include "decode/emit.h"
#include "decode/kinds.h"
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/call_table.h"

/*
 * Asks for the names that are needed to show a call. Most calls by far have no names but those of the descriptors and
 * processes among their arguments and results. For these, memory need not be decoded.
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
