/* SPDX-License-Identifier: MIT */
/* Computes the number of columns that text takes on a terminal. */
#ifndef SCTRACE_OUT_WIDTH_H
#define SCTRACE_OUT_WIDTH_H

#include "out/table.h"

#include <stddef.h>

/*
 * Returns the number of columns of the UTF-8 text `s`, in any locale of the caller. A wide character takes two columns, a
 * combining character none, and a byte that is not part of a character takes one.
 */
size_t width_of(const char *s);

/* Returns the number of bytes at the beginning of `s` that take at most `columns` columns. */
size_t width_head(const char *s, size_t columns);
/* Returns the longest end of `s` that takes at most `columns` columns. */
const char *width_tail(const char *s, size_t columns);

/* Breaks sentences into lines. */

struct buf;

/*
 * Appends each line of `text` after `prefix`, broken at blanks so that lines have at most `width` columns (0: not
 * broken). The parts of a line after a break are indented by the length of `prefix`.
 */
void width_wrap(struct buf *out, const char *prefix, const char *text, size_t width);

/* Finds out what a terminal can show. */

/*
 * Returns the look of tables on `fd`. On a terminal, tables have the terminal's width (80 if it is unknown). They have
 * colours unless NO_COLOR is set and not empty, or TERM is "dumb" or not set. If `fd` is not a terminal, tables have no
 * colours and the width in the environment variable COLUMNS. If this variable is not set, they have the width of the
 * controlling terminal in a pipe, and no limit in a file.
 */
struct table_look width_look(int fd);
/*
 * Returns the width at which whole lines are cut off: as in width_look(), but with no limit in a pipe, because its reader
 * may need the rest of the lines, as grep(1) does; 0: no limit.
 */
int width_cut(int fd);

#endif
