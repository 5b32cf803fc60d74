/* The lines of a `-c` table, sorted, with their total. Private to summary_*.c. */
#ifndef SCTRACE_OUT_SUMMARY_ROWS_H
#define SCTRACE_OUT_SUMMARY_ROWS_H

#include "out/summary_columns.h"
#include "out/summary_table.h"

struct summary_line {
	struct summary_row row; /* row.name points at `name` */
	char *name;
	const char *group;     /* the group's name, where grouped */
	bool is_group;         /* the sum of the lines below it, up to the next such */
	struct call_stats sum; /* what row.call points at in a group's line */
};

struct summary_rows {
	VEC(struct summary_line) lines;
	struct call_stats total; /* without a histogram */
	bool grouped;
};

/* 0 or -ENOMEM; summary_rows_free() either way. */
int summary_rows_init(struct summary_rows *rows, const struct summary *s, const struct summary_view *v);
void summary_rows_free(struct summary_rows *rows);
/* strace's layout (count.c of strace 6.1: widths grow with the figures, no errors are blank). */
void summary_render_strace(const struct summary_rows *rows, const struct summary_view *v, struct buf *out);

#endif
