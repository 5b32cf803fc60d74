/* The columns of the table of `-c`: their names, and how they show the values of a call. Only for summary_*.c. */
#ifndef SCTRACE_OUT_SUMMARY_COLUMNS_H
#define SCTRACE_OUT_SUMMARY_COLUMNS_H

#include "stats/summary.h"

#include <stdbool.h>

struct buf;

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

/* Appends the cell of column `id` in `row`, as it is shown in text and Markdown. */
void summary_cell(enum summary_column_id id, const struct summary_row *row, struct buf *out);
/* Returns how far the mean of the call's times can be trusted: "resolved", "doubtful" or "unresolved". */
const char *summary_resolved_word(const struct call_stats *c);

#endif
