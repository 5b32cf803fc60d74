/* The table that says how each kind of argument and member is shown. Its rows come from syscall/kinds.def. */
#include "decode/kinds.h"

#include "decode/layout.h"
#include "decode/show.h"
#include "decode/sock_diag.h"

/* These expand to the members of a struct kind. kinds.def explains them. */
#define BITS(t)     show_flags32, &flags_##t
#define BITS64(t)   show_flags, &flags_##t
#define CHOICE(t)   show_choice32, &flags_##t
#define CHOICE64(t) show_choice, &flags_##t
#define IN(l)       show_struct, &layout_##l
#define OUT(l)      show_struct, &layout_##l, WHEN_LEFT
#define AT(k, size)                                                                                                    \
	show_pointee, &(const struct pointee)                                                                          \
	{                                                                                                              \
		K_##k, size                                                                                            \
	}
#define OUT_AT(k, size) show_pointee, &(const struct pointee){K_##k, size}, WHEN_LEFT
#define NUMBERS(k, size, n)                                                                                            \
	show_numbers, &(const struct numbers)                                                                          \
	{                                                                                                              \
		K_##k, size, n                                                                                         \
	}
#define OUT_NUMBERS(k, size, n) show_numbers, &(const struct numbers){K_##k, size, n}, WHEN_LEFT
#define EXCHANGE(in, out)                                                                                              \
	show_exchange, &(const struct exchange){&layout_##in, &layout_##out}, WHEN_BOTH, NULL, show_exchange_after
#define SHOW(f)    show_##f
#define FILLED(f)  show_##f, NULL, WHEN_LEFT
#define WHEN(f, w) show_##f, NULL, WHEN_ENTERING, when_##w

const struct kind decode_kinds[K_COUNT] = {
#define KIND(name, ...) [K_##name] = {__VA_ARGS__},
#include "syscall/kinds.def"
};
