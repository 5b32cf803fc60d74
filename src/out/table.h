/* SPDX-License-Identifier: MIT */
/*
 * A table that can be printed as aligned text, CSV, Markdown, JSON or HTML. Each cell has a form for people and one for
 * programs.
 */
#ifndef SCTRACE_OUT_TABLE_H
#define SCTRACE_OUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct json_t;
struct table;

enum table_format {
	TABLE_TEXT,
	TABLE_CSV, /* as RFC 4180 says, but with \n at the end of a line; with a header line */
	TABLE_MARKDOWN,
	TABLE_JSON, /* an array of objects, whose members have the keys of the columns */
	TABLE_HTML, /* a <table> for a page of out/html.h */
};

enum column_flags {
	COL_RIGHT = 1 << 0,     /* aligned to the right, for numbers */
	COL_OPTIONAL = 1 << 1,  /* the first to be left out on a narrow terminal */
	COL_TEXT_ONLY = 1 << 2, /* not in CSV and JSON */
	COL_DATA_ONLY = 1 << 3, /* only in CSV and JSON */
	COL_NOWHERE = COL_TEXT_ONLY | COL_DATA_ONLY,
	COL_SPARE = 1 << 4,   /* left out on a narrow terminal after the optional columns */
	COL_WRAP = 1 << 5,    /* text that is too wide continues on the next lines; without this flag, it is cut */
	COL_JOINED = 1 << 6,  /* left out if the column before it is left out, and only then */
	COL_ALIGNED = 1 << 7, /* only in aligned text, such as a column of bars */
	COL_LAST = 1 << 8,    /* the last to be left out on a narrow terminal, such as the verdict */
	COL_TAIL = 1 << 9,    /* names of files: text that is too wide loses its beginning, and is cut to 18 columns
				 * before other columns are left out */
	COL_NAMED =
		1 << 10, /* the user named the column: left out after all others, and a line below the table says so */
	COL_CONTINUED = 1 << 11, /* if such columns do not fit, they are printed in further tables below, each of which
				  * begins with the first column */
};

struct column {
	const char *key;   /* name for programs, with its unit: "wall_median_s" */
	const char *title; /* name for people: "wall" */
	unsigned flags;
};

/* How a table looks as text. */
struct table_look {
	int width; /* columns of the terminal; 0: no limit */
	bool colour;
	const char *indent; /* or NULL */
};

/*
 * Creates a table of `n` columns. Copies `columns`, but not the strings in it. If CSV and JSON would have two columns
 * with the same key, the second one gets the key "KEY_2".
 */
struct table *table_new(const struct column *columns, size_t n);
void table_free(struct table *t);
/* Begins a row. A cell that is not set is empty (CSV) or null (JSON). */
void table_row(struct table *t);
/* Begins a row of totals, which has a line above it. CSV and JSON leave the row out. */
void table_total(struct table *t);
/*
 * These set a cell of the current row. `shown` is the form for people and is copied; NULL: the value itself is shown.
 * Characters that cannot be printed are escaped. JSON is an exception, because its strings can contain control
 * characters.
 */
void table_string(struct table *t, size_t col, const char *value);
void table_integer(struct table *t, size_t col, long long value, const char *shown);
void table_real(struct table *t, size_t col, double value, const char *shown); /* a value of NAN leaves the cell
										* empty */
/*
 * Like table_real(), but the form for people is a duration of `ns` between two texts: `before` ("", "<" or "~"), which
 * must outlive the table, and `after`, which is copied.
 */
void table_duration(struct table *t, size_t col, double value, const char *before, double ns, const char *after);
/* Shows all these durations in `unit`, which is one of TIME_UNITS. Until then, each has the unit that suits it. */
void table_use_unit(struct table *t, const char *unit);
/*
 * These mark the current row, or its cell in column `col`, as dim, bold, good (green) or bad (red). Marks are visible
 * only if the output has colours.
 */
enum table_mark { MARK_NONE, MARK_DIM, MARK_BOLD, MARK_GOOD, MARK_BAD };
void table_mark_row(struct table *t, enum table_mark mark);
void table_mark_cell(struct table *t, size_t col, enum table_mark mark);
/* Leaves out column `col` in the formats for people if none of its cells has a value. */
void table_hide_if_empty(struct table *t, size_t col);
/* Appends the table in `format`. `look` is used only for TABLE_TEXT; NULL: no limit of the width and no colour. */
void table_render(const struct table *t, enum table_format format, const struct table_look *look, struct buf *out);
/* Returns what TABLE_JSON writes, as a new JSON array. */
struct json_t *table_json(const struct table *t);
/* Returns the number of rows, including rows of totals. */
size_t table_rows(const struct table *t);

#endif
