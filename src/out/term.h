/* What the terminal can show. */
#ifndef SCTRACE_OUT_TERM_H
#define SCTRACE_OUT_TERM_H

#include "out/table.h"

/*
 * The look of tables on `fd`: width and colour of a terminal (NO_COLOR is respected). Otherwise there is no colour, and
 * the width is the environment variable COLUMNS or unlimited.
 */
struct table_look term_look(int fd);

#endif
