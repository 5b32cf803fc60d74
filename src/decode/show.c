/*
 * Showing a value of a kind, by the function in the kind's row. Those functions show the parts of a value in the same way, so this is
 * where decoding is recursive.
 */
#include "decode/kinds.h"

void show_kind(const struct decode *d, enum syscall_kind kind, uint64_t v, int i)
{
	const struct kind *k = &decode_kinds[kind];
	k->show(d, k, v, i);
}
