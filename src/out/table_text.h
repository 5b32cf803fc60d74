/* SPDX-License-Identifier: MIT */
/* The contents of a struct table. Only for table.c and table_text.c. */
#ifndef SCTRACE_OUT_TABLE_TEXT_H
#define SCTRACE_OUT_TABLE_TEXT_H

#include "base/memory.h"
#include "out/table.h"

#include <stdbool.h>
#include <stddef.h>

enum cell_kind { CELL_EMPTY, CELL_STRING, CELL_INTEGER, CELL_REAL };

struct cell {
	enum cell_kind kind;
	enum table_mark mark;
	char *text; /* the value of a CELL_STRING; of a duration, what stands after it */
	long long integer;
	double real;
	char *shown;        /* the form for people, already escaped; NULL if the cell is empty */
	const char *before; /* if the form for people is a duration: what stands before it; NULL if it is not */
	double ns;          /* the duration */
};

struct row {
	struct cell *cells; /* an array with one cell for each column */
	enum table_mark mark;
	bool total;
};

struct table {
	struct column *columns;
	size_t n;
	VEC(struct row) rows;
	VEC(char *) keys; /* the keys of columns that the table has changed */
};

/* Returns the form of a cell for people; never NULL. */
static inline const char *table_cell_shown(const struct cell *c)
{
	return c->shown ? c->shown : "";
}

/* Appends the table as text for a terminal or a file, as `look` says. */
void table_render_text(const struct table *t, const struct table_look *look, struct buf *out);

#endif
