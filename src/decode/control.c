/* SPDX-License-Identifier: MIT */
/* Shows calls whose arguments depend on a command: prctl, arch_prctl, futex, seccomp. */
#include "decode/layout.h"
#include "decode/show.h"

#include <linux/futex.h>
#include <stdio.h>

/* prctl(2): the kinds of the arguments of each option. K_END means that the argument must be 0 or is ignored. */
static const struct prctl_row {
	uint32_t option;
	uint8_t n;
	uint16_t kinds[4];
	enum when when; /* when the second argument is known */
} prctls[] = {
	{1, 1, {K_SIGNAL}, 0},                                      /* PR_SET_PDEATHSIG */
	{2, 1, {K_SIGNAL_AT}, WHEN_LEFT},                           /* PR_GET_PDEATHSIG */
	{3, 0, {0}, 0},                                             /* PR_GET_DUMPABLE */
	{4, 1, {K_DUMPABLE}, 0},                                    /* PR_SET_DUMPABLE */
	{7, 0, {0}, 0},                                             /* PR_GET_KEEPCAPS */
	{8, 1, {K_ULONG}, 0},                                       /* PR_SET_KEEPCAPS */
	{13, 0, {0}, 0},                                            /* PR_GET_TIMING */
	{14, 1, {K_INT}, 0},                                        /* PR_SET_TIMING */
	{15, 1, {K_COMM}, 0},                                       /* PR_SET_NAME */
	{16, 1, {K_COMM}, WHEN_LEFT},                               /* PR_GET_NAME */
	{21, 0, {0}, 0},                                            /* PR_GET_SECCOMP */
	{22, 2, {K_SECCOMP_MODE, K_FILTER_PROGRAM}, 0},             /* PR_SET_SECCOMP */
	{23, 1, {K_CAP}, 0},                                        /* PR_CAPBSET_READ */
	{24, 1, {K_CAP}, 0},                                        /* PR_CAPBSET_DROP */
	{25, 1, {K_TSC_AT}, WHEN_LEFT},                             /* PR_GET_TSC */
	{26, 1, {K_TSC}, 0},                                        /* PR_SET_TSC */
	{27, 0, {0}, 0},                                            /* PR_GET_SECUREBITS */
	{28, 1, {K_SECUREBITS}, 0},                                 /* PR_SET_SECUREBITS */
	{29, 1, {K_ULONG}, 0},                                      /* PR_SET_TIMERSLACK */
	{30, 0, {0}, 0},                                            /* PR_GET_TIMERSLACK */
	{31, 0, {0}, 0},                                            /* PR_TASK_PERF_EVENTS_DISABLE */
	{32, 0, {0}, 0},                                            /* PR_TASK_PERF_EVENTS_ENABLE */
	{33, 2, {K_PR_MCE, K_ULONG}, 0},                            /* PR_MCE_KILL */
	{34, 0, {0}, 0},                                            /* PR_MCE_KILL_GET */
	{35, 3, {K_PR_MM, K_PTR, K_ULONG}, 0},                      /* PR_SET_MM */
	{36, 1, {K_ULONG}, 0},                                      /* PR_SET_CHILD_SUBREAPER */
	{37, 1, {K_INT_AT}, WHEN_LEFT},                             /* PR_GET_CHILD_SUBREAPER */
	{38, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_SET_NO_NEW_PRIVS */
	{39, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_GET_NO_NEW_PRIVS */
	{40, 1, {K_PTR_AT}, WHEN_LEFT},                             /* PR_GET_TID_ADDRESS */
	{41, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_SET_THP_DISABLE */
	{42, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_GET_THP_DISABLE */
	{47, 4, {K_CAP_AMBIENT, K_CAP, K_ULONG, K_ULONG}, 0},       /* PR_CAP_AMBIENT */
	{52, 4, {K_PR_SPEC_STORE, K_ULONG, K_ULONG, K_ULONG}, 0},   /* PR_GET_SPECULATION_CTRL */
	{53, 4, {K_PR_SPEC_STORE, K_PR_SPEC, K_ULONG, K_ULONG}, 0}, /* PR_SET_SPECULATION_CTRL */
	{57, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_SET_IO_FLUSHER */
	{58, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_GET_IO_FLUSHER */
	{59, 4, {K_ULONG, K_HEX, K_HEX, K_PTR}, 0},                 /* PR_SET_SYSCALL_USER_DISPATCH */
	{62, 4, {K_PR_SCHED_CORE, K_PID, K_INT, K_PTR}, 0},         /* PR_SCHED_CORE */
	{65, 4, {K_PR_MDWE, K_ULONG, K_ULONG, K_ULONG}, 0},         /* PR_SET_MDWE */
	{66, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_GET_MDWE */
	{67, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_SET_MEMORY_MERGE */
	{68, 4, {K_ULONG, K_ULONG, K_ULONG, K_ULONG}, 0},           /* PR_GET_MEMORY_MERGE */
	{5, 1, {K_UINT_AT}, WHEN_LEFT},                             /* PR_GET_UNALIGN */
	{6, 1, {K_UINT}, 0},                                        /* PR_SET_UNALIGN */
	{9, 1, {K_UINT_AT}, WHEN_LEFT},                             /* PR_GET_FPEMU */
	{10, 1, {K_UINT}, 0},                                       /* PR_SET_FPEMU */
	{11, 1, {K_UINT_AT}, WHEN_LEFT},                            /* PR_GET_FPEXC */
	{12, 1, {K_HEX}, 0},                                        /* PR_SET_FPEXC */
	{19, 1, {K_UINT_AT}, WHEN_LEFT},                            /* PR_GET_ENDIAN */
	{20, 1, {K_UINT}, 0},                                       /* PR_SET_ENDIAN */
	{50, 1, {K_HEX}, 0},                                        /* PR_SVE_SET_VL */
	{51, 0, {0}, 0},                                            /* PR_SVE_GET_VL */
	{63, 1, {K_HEX}, 0},                                        /* PR_SME_SET_VL */
	{64, 0, {0}, 0},                                            /* PR_SME_GET_VL */
	{0x41555856, 4, {K_PTR, K_ULONG, K_ULONG, K_ULONG}, 0},     /* PR_GET_AUXV */
	{0x59616d61, 1, {K_PID}, 0},                                /* PR_SET_PTRACER */
	{0x53564d41, 4, {K_PR_VMA, K_PTR, K_ULONG, K_STR}, 0},      /* PR_SET_VMA */
};

static const struct prctl_row *prctl_row(const struct decode *d)
{
	for (size_t i = 0; i < sizeof(prctls) / sizeof(*prctls); i++)
		if (prctls[i].option == (uint32_t)d->call->args[0])
			return &prctls[i];
	return NULL;
}

void prctl_memory(command_memory_fn *add, void *ctx)
{
	for (const struct prctl_row *r = prctls; r < prctls + sizeof(prctls) / sizeof(*prctls); r++)
		for (unsigned arg = 1; arg <= r->n; arg++) {
			const struct command_arg a = {r->option, r->kinds[arg - 1], arg == 1 ? r->when : WHEN_ENTERING};
			command_memory(&a, 1, TABLE_PRCTL, arg, add, ctx);
		}
}

enum when when_prctl_arg(const struct decode *d, int i)
{
	const struct prctl_row *r = prctl_row(d);
	if (!r)
		return WHEN_ENTERING;
	if (i > r->n)
		return WHEN_NEVER;
	return i == 1 ? r->when : WHEN_ENTERING;
}

void show_prctl_arg(const struct decode *d, const struct value *x)
{
	const struct prctl_row *r = prctl_row(d);
	if (!r)
		emit_hex(d->out, x->v);
	else if (r->option == 0x59616d61 && x->v == UINT64_MAX)
		emit_sym(d->out, "PR_SET_PTRACER_ANY", x->v);
	else
		show_kind(d, r->kinds[x->arg - 1], x->v, x->arg);
}

/* Shows a buffer of fixed size that contains a string, such as the name of a task (16 bytes). */
void show_fixed_string(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, 15);
}

enum { ARCH_GET_FS_ = 0x1003, ARCH_GET_GS_ = 0x1004 };

enum when when_arch_prctl_arg(const struct decode *d, int i)
{
	uint32_t op = (uint32_t)d->call->args[i - 1];
	return op == ARCH_GET_FS_ || op == ARCH_GET_GS_ || (op >= 0x1021 && op <= 0x1024 && op != 0x1023)
		       ? WHEN_LEFT
		       : WHEN_ENTERING;
}

void show_arch_prctl_arg(const struct decode *d, const struct value *x)
{
	if (when_arch_prctl_arg(d, x->arg) == WHEN_LEFT)
		show_kind(d, K_PTR_AT, x->v, x->arg);
	else
		emit_hex(d->out, x->v);
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

/*
 * seccomp(2): the first argument is the operation. It decides whether the third one is a filter program, an action, or
 * the memory for returned sizes.
 */
enum { SET_STRICT, SET_FILTER, GET_ACTION, GET_SIZES };

enum when when_seccomp_arg(const struct decode *d, int i)
{
	return (uint32_t)d->call->args[i - 2] == GET_SIZES ? WHEN_LEFT : WHEN_ENTERING;
}

STRUCTURE(filter_program, M16(len, UINT), SKIPS(uint16_t, pad, 3), M64(filter, PTR));

STRUCTURE_SAME(notif_sizes, M16(seccomp_notif, UINT), M16(seccomp_notif_resp, UINT), M16(seccomp_data, UINT));

void show_seccomp_arg(const struct decode *d, const struct value *x)
{
	uint32_t op = (uint32_t)d->call->args[x->arg - 2], action;
	if (op == SET_FILTER) {
		show_struct(d, &(struct value){.v = x->v, .about = &layout_filter_program});
	} else if (op == GET_SIZES) {
		show_kind(d, K_NOTIF_SIZES, x->v, -1);
	} else if (op == GET_ACTION && decode_get(d, x->v, &action, sizeof(action))) {
		emit_open(d->out, '[');
		emit_element(d->out);
		flags_emit_choice(d->out, &flags_seccomp_ret, action);
		emit_close(d->out, ']');
	} else {
		emit_ptr(d->out, x->v);
	}
}

STRUCTURE_SAME(user_desc, M32(entry_number, INT), M32(base_addr, HEX), M32(limit, HEX), M32(bits, HEX));
