/* SPDX-License-Identifier: MIT */
/* Shows futexes, and arguments of prctl(2) and seccomp(2). */
#include "decode/layout.h"
#include "decode/show.h"

#include <linux/futex.h>
#include <stdio.h>

/* PR_SET_PTRACER */
void show_ptracer(const struct decode *d, const struct value *x)
{
	if (x->v == UINT64_MAX)
		emit_sym(d->out, "PR_SET_PTRACER_ANY", x->v);
	else
		show_pid(d, x);
}

/* Shows a buffer of fixed size that contains a string, such as the name of a task (16 bytes). */
void show_fixed_string(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, 15);
}

/* futex(2): flags that say which arguments an operation uses, and whether the fourth argument is a time or a number. */
enum { VAL = 1, TIMEOUT = 2, VAL2 = 4, UADDR2 = 8, VAL3 = 16, BITSET = 32, WAKE_OP = 64, BARE = 128 };
static const uint8_t futex_args[] = {
	[FUTEX_WAIT] = VAL | TIMEOUT,
	[FUTEX_WAKE] = VAL,
	[FUTEX_FD] = VAL,
	[FUTEX_REQUEUE] = VAL | VAL2 | UADDR2,
	[FUTEX_CMP_REQUEUE] = VAL | VAL2 | UADDR2 | VAL3,
	[FUTEX_WAKE_OP] = VAL | VAL2 | UADDR2 | VAL3 | WAKE_OP,
	[FUTEX_LOCK_PI] = VAL | TIMEOUT,
	[FUTEX_UNLOCK_PI] = BARE,
	[FUTEX_TRYLOCK_PI] = BARE,
	[FUTEX_WAIT_BITSET] = VAL | TIMEOUT | VAL3 | BITSET,
	[FUTEX_WAKE_BITSET] = VAL | VAL3 | BITSET,
	[FUTEX_WAIT_REQUEUE_PI] = VAL | TIMEOUT | UADDR2,
	[FUTEX_CMP_REQUEUE_PI] = VAL | VAL2 | UADDR2 | VAL3,
	[13 /* FUTEX_LOCK_PI2 */] = VAL | TIMEOUT,
};

static unsigned futex_has(const struct decode *d)
{
	uint32_t op = (uint32_t)d->call->args[1] & 0x7f;
	return op < sizeof(futex_args) ? futex_args[op] : VAL | VAL2 | UADDR2 | VAL3;
}

enum when when_futex_arg(const struct decode *d, int i)
{
	static const uint8_t needs[] = {0, 0, VAL, TIMEOUT | VAL2, UADDR2, VAL3};
	return futex_has(d) & needs[i] ? WHEN_ENTERING : WHEN_NEVER;
}

/* Shows the last argument of FUTEX_WAKE_OP: an operation, a comparison and their arguments (futex(2)). */
static void wake_op(const struct decode *d, uint32_t v)
{
	static const char *const ops[] = {"FUTEX_OP_SET", "FUTEX_OP_ADD", "FUTEX_OP_OR", "FUTEX_OP_ANDN",
					  "FUTEX_OP_XOR"};
	static const char *const compares[] = {"FUTEX_OP_CMP_EQ", "FUTEX_OP_CMP_NE", "FUTEX_OP_CMP_LT",
					       "FUTEX_OP_CMP_LE", "FUTEX_OP_CMP_GT", "FUTEX_OP_CMP_GE"};
	char text[160];
	unsigned op = v >> 28 & 7, compare = v >> 24 & 15;
	snprintf(text, sizeof(text), "%s%s<<28|%#x<<12|%s<<24|%#x", v >> 31 ? "FUTEX_OP_OPARG_SHIFT<<28|" : "",
		 op < 5 ? ops[op] : "FUTEX_OP_???", v >> 12 & 0xfff,
		 compare < 6 ? compares[compare] : "FUTEX_OP_CMP_???", v & 0xfff);
	emit_sym(d->out, text, v);
}

static void futex_val3(const struct decode *d, unsigned has, uint32_t v)
{
	if (has & BITSET && v == UINT32_MAX)
		emit_sym(d->out, "FUTEX_BITSET_MATCH_ANY", v);
	else if (has & BITSET)
		emit_hex(d->out, v);
	else if (has & WAKE_OP)
		wake_op(d, v);
	else
		emit_unum(d->out, v);
}

void show_futex_arg(const struct decode *d, const struct value *x)
{
	unsigned has = futex_has(d);
	if (x->arg == 2 || (x->arg == 3 && has & VAL2))
		emit_unum(d->out, (uint32_t)x->v);
	else if (x->arg == 3 && has & TIMEOUT)
		show_kind(d, K_TIMESPEC, x->v, -1);
	else if (x->arg == 5)
		futex_val3(d, has, (uint32_t)x->v);
	else
		emit_ptr(d->out, x->v);
}

/* Shows an operation as programs write it: FUTEX_WAIT_PRIVATE|FUTEX_CLOCK_REALTIME. */
void show_futex_op(const struct decode *d, const struct value *x)
{
	const char *name = flags_find(&flags_futex, x->v & 0x7f);
	char text[80];
	if (!name || x->v & 0xfffffe00) {
		show_flags32(d, x);
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s", name, x->v & FUTEX_PRIVATE_FLAG ? "_PRIVATE" : "",
		 x->v & FUTEX_CLOCK_REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
	emit_sym(d->out, text, (uint32_t)x->v);
}

STRUCTURE_SAME(futex_waitv, M64(val, HEX), M64(uaddr, PTR), M32(flags, FUTEX2_FLAGS), SKIP32(reserved));

/* futex_requeue(2) has no count, because its array always has two elements. */
void show_waitv(const struct decode *d, const struct value *x)
{
	layout_emit_array(d, &layout_futex_waitv, x->v, 2);
}

STRUCTURE(filter_program, M16(len, UINT), SKIPS(uint16_t, pad, 3), M64(filter, PTR));

STRUCTURE_SAME(notif_sizes, M16(seccomp_notif, UINT), M16(seccomp_notif_resp, UINT), M16(seccomp_data, UINT));

STRUCTURE_SAME(user_desc, M32(entry_number, INT), M32(base_addr, HEX), M32(limit, HEX), M32(bits, HEX));
