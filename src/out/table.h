/*
 * A table that prints itself as aligned text, CSV, Markdown, JSON or HTML. Each cell has a form for people and one for
 * programs.
 */
#ifndef SCTRACE_OUT_TABLE_H
#define SCTRACE_OUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct table;

enum table_format {
	TABLE_TEXT,
	TABLE_CSV, /* RFC 4180, with a header line */
	TABLE_MARKDOWN,
	TABLE_JSON, /* an array of objects by column key */
	TABLE_HTML, /* a <table> for a page of out/html.h */
};

enum column_flags {
	COL_RIGHT = 1 << 0,     /* numbers */
	COL_OPTIONAL = 1 << 1,  /* left out first on a narrow terminal */
	COL_TEXT_ONLY = 1 << 2, /* not in csv and json */
	COL_DATA_ONLY = 1 << 3, /* only in csv and json */
	COL_SPARE = 1 << 4,     /* left out next on a narrow terminal */
	COL_WRAP = 1 << 5,      /* text that is too wide continues on further lines instead of being cut */
	COL_JOINED = 1 << 6,    /* left out only together with the column before it */
	COL_ALIGNED = 1 << 7,   /* only in aligned text (bars) */
	COL_LAST = 1 << 8,      /* left out last (the verdict) */
};

struct column {
	const char *key;   /* name for programs, with its unit: "wall_median_s" */
	const char *title; /* name for people: "wall" */
	unsigned flags;
};

/* The look of text. */
struct table_look {
	int width; /* columns of the terminal; 0: no limit */
	bool colour;
	const char *indent; /* or NULL */
};

/* Creates a table of `n` columns (copied, but not their strings). Returns NULL if memory ran out. */
struct table *table_new(const struct column *columns, size_t n);
void table_free(struct table *t);
/* Begins a row. Cells that are not set are empty (csv: nothing, json: null). */
void table_row(struct table *t);
/* Begins a row of totals, below a rule. csv and json leave it out. */
void table_total(struct table *t);
/*
 * Sets a cell of the current row. `shown` is copied; NULL shows the value itself. Everything except printable UTF-8 is
 * escaped in all formats but json, which can hold control characters.
 */
void table_string(struct table *t, size_t col, const char *value);
void table_integer(struct table *t, size_t col, long long value, const char *shown);
void table_real(struct table *t, size_t col, double value, const char *shown); /* NAN: an empty cell */
/* Marks the last row or cell: dim, bold, green or red. Visible only in colour. */
enum table_mark { MARK_NONE, MARK_DIM, MARK_BOLD, MARK_GOOD, MARK_BAD };
void table_mark_row(struct table *t, enum table_mark mark);
void table_mark_cell(struct table *t, size_t col, enum table_mark mark);
/* Appends the table in `format`. Returns 0 or -ENOMEM. `look` is only for TABLE_TEXT; NULL: no limit, no colour. */
int table_render(const struct table *t, enum table_format format, const struct table_look *look, struct buf *out);
/* The number of rows, with totals. */
size_t table_rows(const struct table *t);
/* The contents of a cell: the shown form of its string, or its number. NULL and NAN mean none. */
const char *table_cell_text(const struct table *t, size_t row, size_t col);
double table_cell_number(const struct table *t, size_t row, size_t col);
/* Converts "text", "csv", "markdown", "json" or "html" to a format. Returns 0 or -EINVAL. */
int table_format_parse(const char *word, enum table_format *format);

#endif
