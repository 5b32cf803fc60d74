/* What the terminal can show. */
#ifndef SCTRACE_OUT_TERM_H
#define SCTRACE_OUT_TERM_H

#include "out/table.h"

/*
 * How tables look on `fd`: its width and colour where it is a terminal (NO_COLOR is honoured), no limit and no colour
 * otherwise.
 */
struct table_look term_look(int fd);

#endif
