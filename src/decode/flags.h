/* Names of constants: the tables of flags.def, and functions that write values with them. */
#ifndef SCTRACE_DECODE_FLAGS_H
#define SCTRACE_DECODE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct emit;

struct flag {
	const char *name;
	uint64_t value;
};

/* One set of names. */
struct flag_table {
	const char *unknown; /* printed for a value without a name: "O_???" */
	uint64_t mask;       /* the bits that together hold one of several values (O_ACCMODE); all other rows are
			      * single bits */
	size_t n;
	const struct flag *rows;
};

#define FLAGS(name, unknown, mask) extern const struct flag_table flags_##name;
#define F(name, value)
#define END
#include "decode/flags.def"
#undef FLAGS
#undef F
#undef END

/* The name of the row for exactly `v`, or NULL. */
const char *flags_find(const struct flag_table *t, uint64_t v);
/*
 * Appends `v` as "A|B|0x40", with unnamed bits in hexadecimal; 0 becomes its row's name or "0". Returns false if no
 * name matched.
 */
bool flags_join(struct buf *out, const struct flag_table *t, uint64_t v);
/* Emits `v` as one of the table's values, or in hexadecimal followed by the table's `unknown`. */
void flags_emit_choice(struct emit *e, const struct flag_table *t, uint64_t v);
/* Emits `v` as names joined by "|". */
void flags_emit(struct emit *e, const struct flag_table *t, uint64_t v);

#endif
