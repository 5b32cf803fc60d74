/* Columns that text takes on a terminal. */
#ifndef SCTRACE_OUT_WIDTH_H
#define SCTRACE_OUT_WIDTH_H

#include <locale.h>
#include <stddef.h>

/* From here to width_end() width_of() knows UTF-8, whatever the caller's locale; give width_end() what this returns; 0: no such locale could be loaded. */
locale_t width_begin(void);
void width_end(locale_t before);

/* Columns that `s` takes: two for wide characters, none for combining ones; bytes that are no characters count one each. */
size_t width_of(const char *s);

#endif
