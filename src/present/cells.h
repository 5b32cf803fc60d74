/* Values in tables, with units in one style everywhere. Private to present/. */
#ifndef SCTRACE_PRESENT_CELLS_H
#define SCTRACE_PRESENT_CELLS_H

#include "out/table.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

/* NAN leaves a cell empty. `scale` is the number of the column's units in a second (1e9: the key ends in _ns). */
void cell_time(struct table *t, size_t col, double seconds, double scale);
/* The same for a time that the method may not distinguish from nothing: below `resolution` seconds it is "<30.0 ns". */
void cell_time_above(struct table *t, size_t col, double seconds, double resolution, double scale);
void cell_bytes(struct table *t, size_t col, double bytes);
/* A count with commas; `star` marks a count of a part. */
void cell_count(struct table *t, size_t col, double n, bool star);
void cell_factor(struct table *t, size_t col, double x);
/* A number in a printf(3) format for one double. */
void cell_printf(struct table *t, size_t col, double x, const char *fmt);
/* `value` is for programs, `shown` for people. */
void cell_real(struct table *t, size_t col, double value, struct buf *shown);

#endif
