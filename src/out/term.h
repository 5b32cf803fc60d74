/* What the terminal can show. */
#ifndef SCTRACE_OUT_TERM_H
#define SCTRACE_OUT_TERM_H

#include "out/table.h"

/*
 * How tables look on `fd`: its width and colour where it is a terminal (NO_COLOR is honoured). Otherwise there is no colour, and
 * the width is that of the environment variable COLUMNS, or there is no limit.
 */
struct table_look term_look(int fd);

#endif
