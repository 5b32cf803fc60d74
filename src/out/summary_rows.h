/* The sorted rows of the table of `-c`, and their total. Only for summary_*.c. */
#ifndef SCTRACE_OUT_SUMMARY_ROWS_H
#define SCTRACE_OUT_SUMMARY_ROWS_H

#include "out/summary_columns.h"
#include "out/summary_table.h"

struct summary_line {
	struct summary_row row; /* row.name points at `name` */
	char *name;
	const char *group;     /* name of the row's group; NULL if there are no groups */
	bool is_group;         /* the row is the sum of the rows that follow it, up to the next group */
	struct call_stats sum; /* if `is_group`: the figures of the row, to which row.call points */
};

struct summary_rows {
	VEC(struct summary_line) lines;
	struct call_stats total; /* does not include a histogram */
	bool grouped;
};

/* Initialises the rows of `s` as `v` says. The caller must call summary_rows_free(). */
void summary_rows_init(struct summary_rows *rows, const struct summary *s, const struct summary_view *v);
void summary_rows_free(struct summary_rows *rows);
/*
 * Appends the table in the form of strace 6.1 (its file count.c). Widths grow with the figures, and an error count of
 * zero is blank.
 */
void summary_render_strace(const struct summary_rows *rows, const struct summary_view *v, struct buf *out);

#endif
