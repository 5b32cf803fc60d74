/*
 * Shows a value by the function in the row of its kind. Such a function calls show_kind() for the parts of the value,
 * so this is recursive.
 */
#include "decode/show.h"

void show_kind(const struct decode *d, enum syscall_kind kind, uint64_t v, int i)
{
	const struct kind *k = &decode_kinds[kind];
	k->show(d, &(struct value){.v = v, .about = k->about, .arg = i});
}

void show_kind_after(const struct decode *d, enum syscall_kind kind, uint64_t v, int i)
{
	const struct kind *k = &decode_kinds[kind];
	k->show_after(d, &(struct value){.v = v, .about = k->about, .arg = i});
}

void show_field(const struct decode *d, const char *name, enum syscall_kind kind, uint64_t v)
{
	emit_field(d->out, name);
	show_kind(d, kind, v, -1);
}
