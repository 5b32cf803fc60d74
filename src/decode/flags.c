#include "decode/flags.h"

#include "base/buf.h"
#include "decode/emit.h"

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
#undef FLAGS
#undef F
#undef END

#define FLAGS(name, unknown_, mask_)                                                                                   \
	const struct flag_table flags_##name = {.unknown = (unknown_),                                                 \
						.mask = (mask_),                                                       \
						.n = sizeof(rows_##name) / sizeof(struct flag),                        \
						.rows = rows_##name};
#define F(name, value)
#define END
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
	struct buf text = {0};
	const struct flag *whole = find_whole(t, v);
	if (whole) { /* most values have one name */
		emit_sym(e, whole->name, v);
		return;
	}
	bool named = flags_join(&text, t, v);
	emit_sym(e, buf_str(&text), v);
	if (!named)
		emit_comment(e, t->unknown);
	buf_free(&text);
}
