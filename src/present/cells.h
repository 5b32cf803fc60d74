/*
 * The figures of subjects, and the cells of tables, so that all tables show times, sizes and counts in the same style.
 * Only for present/.
 */
#ifndef SCTRACE_PRESENT_CELLS_H
#define SCTRACE_PRESENT_CELLS_H

#include "out/table.h"

#include "run/run.h"

/*
 * Sets a cell to a time. NAN leaves the cell empty. `scale` is the number of the column's units in a second: 1e9 if the
 * key of the column ends with _ns.
 */
void cell_time(struct table *t, size_t col, double seconds, double scale);
/*
 * Like cell_time(), but if the time is below `resolution` seconds, the smallest time that the method can measure, the
 * cell shows an upper limit, such as "<30.0 ns".
 */
void cell_time_above(struct table *t, size_t col, double seconds, double resolution, double scale);
/* Sets a cell to a number of bytes, shown with a unit. NAN leaves the cell empty. */
void cell_bytes(struct table *t, size_t col, double bytes);
/*
 * Sets a cell to a count, shown with commas. If `star` is set, appends a star, which means that only a part of the
 * input was counted.
 */
void cell_count(struct table *t, size_t col, double n, bool star);
/* Sets a cell to a factor, shown with three significant digits. NAN leaves the cell empty. */
void cell_factor(struct table *t, size_t col, double x);
/* Sets a cell to a share from 0 to 1, shown in percent. NAN leaves the cell empty. */
void cell_share(struct table *t, size_t col, double share);
/* Sets a cell to a number without a unit: four significant digits, or a whole number with commas. */
void cell_plain(struct table *t, size_t col, double x);
/* Sets a cell to a number that is shown by `fmt`, a format of printf(3) for one double. */
void cell_printf(struct table *t, size_t col, double x, const char *fmt);
/* Sets a cell to a number: `value` in CSV and JSON, and the text `shown` in the formats for people. Frees `shown`. */
void cell_real(struct table *t, size_t col, double value, struct buf *shown);

/* The offset of a member of struct run_subject, for figure_of(). The member must be a double. */
#define FIGURE(member)  offsetof(struct run_subject, member)
#define FIGURE_PEAK_RSS FIGURE(judged.of[METRIC_PEAK_RSS].median)
/* Returns the member of `s` at this offset. Returns NAN for a peak RSS of zero, which means that it is unknown. */
double figure_of(const struct run_subject *s, size_t member);
/*
 * Like figure_of(), but returns NAN for a number of calls that were counted for only a part of the input, because it
 * cannot be compared with counts for all of the input.
 */
double figure_drawn(const struct run_subject *s, size_t member);

#endif
