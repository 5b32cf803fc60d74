/* SPDX-License-Identifier: MIT */
/*
 * Names of constants: the tables of flags.def, and functions that emit values by these names. The names of errnos and
 * signals (decode/decode.h) are in flags.c, too.
 */
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

/* A set of constants and their names. */
struct flag_table {
	const char *unknown; /* printed for a value that has no name: "O_???" */
	uint64_t mask;       /* bits that together hold one of several values, such as O_ACCMODE; each of the other
			      * rows is a single bit */
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

/* Returns the name of the row whose value is exactly `v`, or NULL. */
const char *flags_find(const struct flag_table *t, uint64_t v);
/*
 * Appends the names of the bits in `v`, such as "A|B|0x40". Bits without a name are in hexadecimal. A value of 0
 * becomes the name of its row, or "0". Returns false if no name matched.
 */
bool flags_join(struct buf *out, const struct flag_table *t, uint64_t v);
/*
 * Emits the name of the constant whose value is `v`. If there is none, emits `v` in hexadecimal and the table's
 * `unknown`.
 */
void flags_emit_choice(struct emit *e, const struct flag_table *t, uint64_t v);
/* Emits the names of the bits in `v`, joined by "|". */
void flags_emit(struct emit *e, const struct flag_table *t, uint64_t v);

#endif
