/* A table that prints itself as aligned text, CSV, Markdown or JSON; a cell has a shown form and a machine's form. */
#ifndef SCTRACE_OUT_TABLE_H
#define SCTRACE_OUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct table;

enum table_format {
	TABLE_TEXT,
	TABLE_CSV, /* RFC 4180, with a head line */
	TABLE_MARKDOWN,
	TABLE_JSON, /* an array of objects by column key */
	TABLE_HTML, /* a <table> to stand in a page of out/html.h */
};

enum column_flags {
	COL_RIGHT = 1 << 0,     /* numbers */
	COL_OPTIONAL = 1 << 1,  /* left out first where the terminal is narrow */
	COL_TEXT_ONLY = 1 << 2, /* not in csv and json */
	COL_DATA_ONLY = 1 << 3, /* in csv and json alone */
	COL_SPARE = 1 << 4,     /* left out next, where it is narrower still */
	COL_WRAP = 1 << 5,      /* text too wide goes on in further lines, and is not cut */
	COL_JOINED = 1 << 6,    /* not left out without the column before it */
	COL_ALIGNED = 1 << 7,   /* in aligned text alone (bars) */
	COL_LAST = 1 << 8,      /* left out last (the verdict) */
};

struct column {
	const char *key;   /* the machine's name with its unit: "wall_median_s" */
	const char *title; /* the reader's: "wall" */
	unsigned flags;
};

/* How text looks. */
struct table_look {
	int width; /* columns of the terminal; 0: no limit */
	bool colour;
	const char *indent; /* or NULL */
};

/* A new table of `n` columns (copied, strings not); NULL when memory ran out. */
struct table *table_new(const struct column *columns, size_t n);
void table_free(struct table *t);
/* Begins a row; cells not set are empty (csv: nothing, json: null). */
void table_row(struct table *t);
/* Begins a row of totals: a rule stands above it; csv and json leave it out. */
void table_total(struct table *t);
/*
 * Sets a cell of the current row. `shown` is copied; NULL shows the value itself. What is no printable UTF-8 is escaped
 * in every format but json, which can hold control characters.
 */
void table_string(struct table *t, size_t col, const char *value);
void table_integer(struct table *t, size_t col, long long value, const char *shown);
void table_real(struct table *t, size_t col, double value, const char *shown); /* NAN: empty */
/* The last row or cell is marked: dim, bold, green, red; seen only in colour. */
enum table_mark { MARK_NONE, MARK_DIM, MARK_BOLD, MARK_GOOD, MARK_BAD };
void table_mark_row(struct table *t, enum table_mark mark);
void table_mark_cell(struct table *t, size_t col, enum table_mark mark);
/* Appends the table in `format`; 0 or -ENOMEM. `look` is for TABLE_TEXT alone; NULL: no limit, no colour. */
int table_render(const struct table *t, enum table_format format, const struct table_look *look, struct buf *out);
/* How many rows there are, totals too. */
size_t table_rows(const struct table *t);
/* What a cell holds: its string's shown form, or its number; NULL and NAN: none. */
const char *table_cell_text(const struct table *t, size_t row, size_t col);
double table_cell_number(const struct table *t, size_t row, size_t col);
/* "text", "csv", "markdown", "json", "html" as a format: 0, or -EINVAL. */
int table_format_parse(const char *word, enum table_format *format);

#endif
