/* Finds out what a terminal can show. */
#ifndef SCTRACE_OUT_TERM_H
#define SCTRACE_OUT_TERM_H

#include "out/table.h"

/*
 * Returns the look of tables on `fd`. On a terminal, tables have the terminal's width (80 if it is unknown). They have
 * colours unless NO_COLOR is set and not empty, or TERM is "dumb" or not set. If `fd` is not a terminal, tables have no
 * colours and the width in the environment variable COLUMNS. If this variable is not set, they have the width of the
 * controlling terminal in a pipe, and no limit in a file.
 */
struct table_look term_look(int fd);
/*
 * Returns the width at which whole lines are cut off: as in term_look(), but with no limit in a pipe, because its reader
 * may need the rest of the lines, as grep(1) does; 0: no limit.
 */
int term_cut_width(int fd);

#endif
