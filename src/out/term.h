/* Finds out what a terminal can show. */
#ifndef SCTRACE_OUT_TERM_H
#define SCTRACE_OUT_TERM_H

#include "out/table.h"

/*
 * Returns the look of tables on `fd`. On a terminal, tables have the terminal's width (80 if it is unknown). They have
 * colours unless NO_COLOR is set and not empty, or TERM is "dumb" or not set. If `fd` is not a terminal, tables have the
 * width in the environment variable COLUMNS (no limit if it is not set), and no colours.
 */
struct table_look term_look(int fd);

#endif
