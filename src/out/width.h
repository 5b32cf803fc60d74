/* Computes the number of columns that text takes on a terminal. */
#ifndef SCTRACE_OUT_WIDTH_H
#define SCTRACE_OUT_WIDTH_H

#include <locale.h>
#include <stddef.h>

/*
 * Must be called before width_of(), so that width_of() understands UTF-8 in any locale of the caller. The result must
 * be passed to width_end(). It is 0 if no suitable locale could be loaded.
 */
locale_t width_begin(void);
void width_end(locale_t before);

/*
 * Returns the number of columns of `s`. A wide character takes two columns, a combining character none, and a byte that
 * is not part of a character takes one.
 */
size_t width_of(const char *s);

#endif
