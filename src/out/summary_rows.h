/* The rows of a `-c` table, sorted, and their total. Private to summary_*.c. */
#ifndef SCTRACE_OUT_SUMMARY_ROWS_H
#define SCTRACE_OUT_SUMMARY_ROWS_H

#include "out/summary_columns.h"
#include "out/summary_table.h"

struct summary_line {
	struct summary_row row; /* row.name points at `name` */
	char *name;
	const char *group;     /* name of the group, if there are groups */
	bool is_group;         /* the sum of the rows below it, up to the next group */
	struct call_stats sum; /* row.call of a group's row points here */
};

struct summary_rows {
	VEC(struct summary_line) lines;
	struct call_stats total; /* without a histogram */
	bool grouped;
};

/* Returns 0 or -ENOMEM. Call summary_rows_free() in either case. */
int summary_rows_init(struct summary_rows *rows, const struct summary *s, const struct summary_view *v);
void summary_rows_free(struct summary_rows *rows);
/* Renders strace's layout (count.c of strace 6.1: widths grow with the figures, and zero errors are blank). */
void summary_render_strace(const struct summary_rows *rows, const struct summary_view *v, struct buf *out);

#endif
