/* Constants by name: the tables of flags.def and how a value is written with them. */
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
	const char *unknown; /* what a value without a name is told to be: "O_???" */
	uint64_t mask;       /* the bits that hold one value of several (O_ACCMODE); rows outside it are bits */
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

/* The row called exactly `v`, or NULL. */
const char *flags_find(const struct flag_table *t, uint64_t v);
/* Appends `v` as "A|B|0x40"; bits without a name remain in hex; 0 is its row's name or "0". False: no name fitted. */
bool flags_join(struct buf *out, const struct flag_table *t, uint64_t v);
/* Emits `v` as one of the table's values, or in hex with the table's `unknown` beside it. */
void flags_emit_choice(struct emit *e, const struct flag_table *t, uint64_t v);
/* Emits `v` as names joined by "|". */
void flags_emit(struct emit *e, const struct flag_table *t, uint64_t v);

#endif
