/* Computes the number of columns that text takes on a terminal. */
#ifndef SCTRACE_OUT_WIDTH_H
#define SCTRACE_OUT_WIDTH_H

#include <stddef.h>

/*
 * Returns the number of columns of the UTF-8 text `s`, in any locale of the caller. A wide character takes two columns, a
 * combining character none, and a byte that is not part of a character takes one.
 */
size_t width_of(const char *s);
/* The same for the first `n` bytes of `s`. */
size_t width_of_part(const char *s, size_t n);

/* Returns the number of bytes at the beginning of `s` that take at most `columns` columns. */
size_t width_head(const char *s, size_t columns);
/* Returns the longest end of `s` that takes at most `columns` columns. */
const char *width_tail(const char *s, size_t columns);

#endif
