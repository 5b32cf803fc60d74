/* SPDX-License-Identifier: MIT */
/* The columns of the table of `-c`, its sorted rows, and their total. Only for summary_*.c. */
#ifndef SCTRACE_OUT_SUMMARY_ROWS_H
#define SCTRACE_OUT_SUMMARY_ROWS_H

#include "out/summary_table.h"

/* A row of the table. */
struct summary_row {
	const char *name;
	const struct call_stats *call;
	double total_ns; /* the sum of all rows, from which the percentages are computed */
	bool is_total;
};

enum summary_column_id {
	SC_NAME,
	SC_PERCENT,
	SC_SECONDS,
	SC_CALLS,
	SC_ERRORS,
	SC_UNFINISHED,
	SC_RESTARTED,
	SC_AVG,
	SC_MIN,
	SC_P50,
	SC_P90,
	SC_P99,
	SC_MAX,
	SC_STDDEV,
	SC_BYTES,
	SC_BYTES_PER_CALL,
	SC_RESOLVED,
	SC_WAITS,
	SC_WAITED,
	SC_CPU,
	SC_COUNT
};

enum summary_column_kind { KIND_NAME, KIND_COUNT, KIND_TIME, KIND_REAL, KIND_WORD };

struct summary_column {
	const char *key;     /* name in CSV, JSON and -U */
	const char *title;   /* title in text */
	const char *aliases; /* other spellings, separated by spaces */
	enum summary_column_kind kind;
	bool summed;                                            /* the total has a value in this column */
	int width;                                              /* minimum width in text */
	int rule;                                               /* number of dashes above the total */
	double (*value)(const struct summary_row *);            /* the value; times are in ns; NAN: there is no value */
	void (*text)(const struct summary_row *, struct buf *); /* appends the cell; NULL: `kind` decides what it
								 * contains */
};

extern const struct summary_column summary_column_table[SC_COUNT];
/* The columns of text, CSV and Markdown if the user chooses none. "+p90" adds a column to them. */
extern const struct summary_columns summary_columns_usual;

/* Appends the cell of column `id` in `row`, as it is shown in text and Markdown. */
void summary_cell(enum summary_column_id id, const struct summary_row *row, struct buf *out);

/* A row and the memory that it owns. */
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

#endif
