/* The columns of `-c`: their names, and how they show a call's value. Private to summary_*.c. */
#ifndef SCTRACE_OUT_SUMMARY_COLUMNS_H
#define SCTRACE_OUT_SUMMARY_COLUMNS_H

#include "stats/summary.h"

#include <stdbool.h>

struct buf;

/* A row of the table. */
struct summary_row {
	const char *name;
	const struct call_stats *call;
	double total_ns; /* of all rows, for computing shares */
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
	const char *key;     /* for csv, json and -U */
	const char *title;   /* for text */
	const char *aliases; /* other spellings, separated by spaces */
	enum summary_column_kind kind;
	bool summed;                                            /* has a total */
	int width;                                              /* least width in text */
	int rule;                                               /* dashes above the total */
	double (*value)(const struct summary_row *);            /* times in ns; NAN: none */
	void (*text)(const struct summary_row *, struct buf *); /* NULL: depends on the kind */
};

extern const struct summary_column summary_column_table[SC_COUNT];

/* Appends the cell of the column for `row`, as in text and markdown. */
void summary_cell(enum summary_column_id id, const struct summary_row *row, struct buf *out);
/* "resolved", "doubtful" or "unresolved": how far the mean can be trusted. */
const char *summary_resolved_word(const struct call_stats *c);

#endif
