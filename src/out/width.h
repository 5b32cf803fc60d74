/* The number of columns that text takes on a terminal. */
#ifndef SCTRACE_OUT_WIDTH_H
#define SCTRACE_OUT_WIDTH_H

#include <locale.h>
#include <stddef.h>

/*
 * Between this and width_end(), width_of() understands UTF-8, whatever the caller's locale. Pass the result to
 * width_end(). 0: no such locale could be loaded.
 */
locale_t width_begin(void);
void width_end(locale_t before);

/*
 * The number of columns of `s`: two for wide characters, none for combining ones, and one for each byte that is not
 * part of a character.
 */
size_t width_of(const char *s);

#endif
