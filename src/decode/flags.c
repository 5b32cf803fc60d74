/* SPDX-License-Identifier: MIT */
#include "decode/kinds.h"

#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "syscall/restart.h"

#include <errno.h>
#include <string.h>

/*
 * The values are those of Linux, written as numbers. Names that are newer than the installed headers are therefore
 * available, and nothing depends on the installed libc. tests/lint/flags-headers compares each value with the headers
 * of the kernel.
 */
#define FLAGS(name, unknown, mask) static const struct flag rows_##name[] = {
#define F(name, value)             {#name, value},
#define END                                                                                                            \
	}                                                                                                              \
	;
#include "decode/flags.def"

#define FLAGS(name, unknown_, mask_)                                                                                   \
	const struct flag_table flags_##name = {.unknown = (unknown_),                                                 \
						.mask = (mask_),                                                       \
						.n = sizeof(rows_##name) / sizeof(struct flag),                        \
						.rows = rows_##name};
#include "decode/flags.def"

static const struct flag *find_row(const struct flag_table *t, uint64_t v)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].value == v)
			return &t->rows[i];
	return NULL;
}

const char *flags_find(const struct flag_table *t, uint64_t v)
{
	const struct flag *f = find_row(t, v);
	return f ? f->name : NULL;
}

static void join(struct buf *out, bool *any, const char *name)
{
	if (*any)
		buf_addc(out, '|');
	buf_adds(out, name);
	*any = true;
}

/* Returns the row whose name alone stands for `v`, or NULL. */
static const struct flag *find_whole(const struct flag_table *t, uint64_t v)
{
	return v & ~t->mask && t->mask ? NULL : find_row(t, v);
}

bool flags_join(struct buf *out, const struct flag_table *t, uint64_t v)
{
	bool any = false;
	const struct flag *whole = find_whole(t, v);
	if (whole) {
		buf_adds(out, whole->name);
		return true;
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct flag *f = &t->rows[i];
		if (t->mask && (f->value & ~t->mask) == 0 && (v & t->mask) == f->value) {
			join(out, &any, f->name);
			v &= ~t->mask;
			break;
		}
	}
	for (size_t i = 0; i < t->n && v; i++) {
		const struct flag *f = &t->rows[i];
		if (!f->value || (t->mask && (f->value & ~t->mask) == 0) || (v & f->value) != f->value)
			continue;
		join(out, &any, f->name);
		v &= ~f->value;
	}
	if (v || !any) {
		buf_adds(out, any ? "|" : "");
		buf_adds(out, v ? "0x" : "");
		buf_add_bits(out, v, 4, 1);
	}
	return any || !v;
}

void flags_emit_choice(struct emit *e, const struct flag_table *t, uint64_t v)
{
	const char *name = flags_find(t, v);
	if (name) {
		emit_sym(e, name, v);
		return;
	}
	emit_hex(e, v);
	emit_comment(e, t->unknown);
}

void flags_emit(struct emit *e, const struct flag_table *t, uint64_t v)
{
	auto_buf text = {0};
	const struct flag *whole = find_whole(t, v);
	if (whole) { /* most values have one name */
		emit_sym(e, whole->name, v);
		return;
	}
	bool named = flags_join(&text, t, v);
	emit_sym(e, buf_str(&text), v);
	if (!named)
		emit_comment(e, t->unknown);
}

/* The names of errnos and signals. */
static const char *const errnos[] = {
#define E(name) [name] = #name,
#include "decode/errno.def"
#undef E
};

/* The errors from ERESTARTSYS on, which programs seldom see (include/linux/errno.h). The C library has no text. */
static const struct {
	const char *name, *text;
} internal[] = {
	[0] = {"ERESTARTSYS", "To be restarted if SA_RESTART is set"},
	[ERESTARTNOINTR - ERESTARTSYS] = {"ERESTARTNOINTR", "To be restarted"},
	[ERESTARTNOHAND - ERESTARTSYS] = {"ERESTARTNOHAND", "To be restarted if no handler"},
	[ENOIOCTLCMD - ERESTARTSYS] = {"ENOIOCTLCMD", "No ioctl command"},
	[ERESTART_RESTARTBLOCK - ERESTARTSYS] = {"ERESTART_RESTARTBLOCK", "Interrupted by signal"},
	[517 - ERESTARTSYS] = {"EPROBE_DEFER", "Driver requests probe retry"},
	[518 - ERESTARTSYS] = {"EOPENSTALE", "Open found a stale dentry"},
	[519 - ERESTARTSYS] = {"ENOPARAM", "Parameter not supported"},
	[521 - ERESTARTSYS] = {"EBADHANDLE", "Illegal NFS file handle"},
	[522 - ERESTARTSYS] = {"ENOTSYNC", "Update synchronization mismatch"},
	[523 - ERESTARTSYS] = {"EBADCOOKIE", "Cookie is stale"},
	[524 - ERESTARTSYS] = {"ENOTSUPP", "Operation is not supported"},
	[525 - ERESTARTSYS] = {"ETOOSMALL", "Buffer or request is too small"},
	[526 - ERESTARTSYS] = {"ESERVERFAULT", "An untranslatable error occurred"},
	[527 - ERESTARTSYS] = {"EBADTYPE", "Type not supported by server"},
	[528 - ERESTARTSYS] = {"EJUKEBOX", "Request initiated, but will not complete before timeout"},
	[529 - ERESTARTSYS] = {"EIOCBQUEUED", "iocb queued, will get completion event"},
	[530 - ERESTARTSYS] = {"ERECALLCONFLICT", "Conflict with recalled state"},
	[531 - ERESTARTSYS] = {"ENOGRACE", "NFS file lock reclaim refused"},
};
#define NINTERNAL (int)(sizeof(internal) / sizeof(*internal))

static bool is_internal(int err)
{
	return err >= ERESTARTSYS && err < ERESTARTSYS + NINTERNAL && internal[err - ERESTARTSYS].name;
}

const char *decode_errno_name(int err)
{
	if (is_internal(err))
		return internal[err - ERESTARTSYS].name;
	return err > 0 && (size_t)err < sizeof(errnos) / sizeof(*errnos) ? errnos[err] : NULL;
}

const char *decode_errno_text(int err)
{
	static const char *found[sizeof(errnos) / sizeof(*errnos)]; /* strerror(3) looks for a translation each time */
	if (is_internal(err))
		return internal[err - ERESTARTSYS].text;
	if (!decode_errno_name(err))
		return strerror(err);
	if (!found[err])
		found[err] = strerror(err);
	return found[err];
}

int decode_errno_number(const char *name)
{
	for (size_t i = 1; i < sizeof(errnos) / sizeof(*errnos); i++)
		if (errnos[i] && strcasecmp(errnos[i], name) == 0)
			return (int)i;
	for (int err = ERESTARTSYS; err < ERESTARTSYS + NINTERNAL; err++)
		if (is_internal(err) && strcasecmp(internal[err - ERESTARTSYS].name, name) == 0)
			return err;
	return -1;
}

#define S(name) [SIG##name] = "SIG" #name
#define RT(n)   [32 + (n)] = "SIGRT_" #n
static const char *const signals[] = {
	S(HUP),  S(INT),    S(QUIT), S(ILL),   S(TRAP), S(ABRT), S(BUS),  S(FPE),
	S(KILL), S(USR1),   S(SEGV), S(USR2),  S(PIPE), S(ALRM), S(TERM), S(STKFLT),
	S(CHLD), S(CONT),   S(STOP), S(TSTP),  S(TTIN), S(TTOU), S(URG),  S(XCPU),
	S(XFSZ), S(VTALRM), S(PROF), S(WINCH), S(IO),   S(PWR),  S(SYS),  [32] = "SIGRTMIN",
	RT(1),   RT(2),     RT(3),   RT(4),    RT(5),   RT(6),   RT(7),   RT(8),
	RT(9),   RT(10),    RT(11),  RT(12),   RT(13),  RT(14),  RT(15),  RT(16),
	RT(17),  RT(18),    RT(19),  RT(20),   RT(21),  RT(22),  RT(23),  RT(24),
	RT(25),  RT(26),    RT(27),  RT(28),   RT(29),  RT(30),  RT(31),  RT(32)};

const char *decode_signal_name(int sig)
{
	return sig > 0 && (size_t)sig < sizeof(signals) / sizeof(*signals) ? signals[sig] : NULL;
}

int decode_signal_number(const char *name)
{
	const char *bare = strncasecmp(name, "SIG", 3) == 0 ? name + 3 : name;
	for (int i = 1; (size_t)i < sizeof(signals) / sizeof(*signals); i++)
		if (strcasecmp(signals[i] + 3, bare) == 0)
			return i;
	return -1;
}

void decode_signal_set(struct buf *out, uint64_t set, bool names, bool numbers)
{
	bool inverted = __builtin_popcountll(set) > 64 * 2 / 3;
	uint64_t left = inverted ? ~set : set;
	buf_adds(out, inverted ? "~[" : "[");
	for (int sig = 1; left; sig++, left >>= 1) {
		if (!(left & 1))
			continue;
		if (numbers)
			buf_addf(out, "%d", sig);
		if (names)
			buf_addf(out, numbers ? " /* %s */" : "%s", decode_signal_name(sig) + 3);
		buf_adds(out, left > 1 ? " " : "");
	}
	buf_addc(out, ']');
}
