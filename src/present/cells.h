/* Values of tables: each with its unit, in one style everywhere. Private to present/. */
#ifndef SCTRACE_PRESENT_CELLS_H
#define SCTRACE_PRESENT_CELLS_H

#include "out/table.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

/* NAN leaves a cell empty. `scale`: how many of the column's unit are in a second (1e9: the key ends in _ns). */
void cell_time(struct table *t, size_t col, double seconds, double scale);
/* The same of what a method could not tell from nothing: below `resolution` seconds it is "<30.0 ns". */
void cell_time_above(struct table *t, size_t col, double seconds, double resolution, double scale);
void cell_bytes(struct table *t, size_t col, double bytes);
/* With thousands apart; `star` stands behind a part's. */
void cell_count(struct table *t, size_t col, double n, bool star);
void cell_factor(struct table *t, size_t col, double x);
/* By a format of printf(3) for one double. */
void cell_printf(struct table *t, size_t col, double x, const char *fmt);
/* `value` is what programs get, `shown` people. */
void cell_real(struct table *t, size_t col, double value, struct buf *shown);

#endif
