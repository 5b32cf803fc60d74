/* Finds out what a terminal can show. */
#ifndef SCTRACE_OUT_TERM_H
#define SCTRACE_OUT_TERM_H

#include "out/table.h"

/*
 * Returns the look of tables on `fd`. For a terminal, it is the terminal's width, and colours unless NO_COLOR is set.
 * Otherwise the width is the environment variable COLUMNS, or unlimited if that is not set, and there are no colours.
 */
struct table_look term_look(int fd);

#endif
