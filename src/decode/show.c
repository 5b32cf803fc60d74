/*
 * Shows a value through the function in its kind's row. Those functions show the parts of a value in the same way, so
 * decoding is recursive here.
 */
#include "decode/kinds.h"

void show_kind(const struct decode *d, enum syscall_kind kind, uint64_t v, int i)
{
	const struct kind *k = &decode_kinds[kind];
	k->show(d, k, v, i);
}
