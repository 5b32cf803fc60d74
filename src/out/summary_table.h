/* SPDX-License-Identifier: MIT */
/*
 * The tables of `-c`: which calls were made, how often, and how long they took, in the layouts of truss, strace and
 * sctrace.
 */
#ifndef SCTRACE_OUT_SUMMARY_TABLE_H
#define SCTRACE_OUT_SUMMARY_TABLE_H

#include "stats/summary.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct table;

/* The values of --format; see summary_format_parse(). */
enum summary_format {
	SUMMARY_TEXT,     /* the four columns of truss, followed by those that only sctrace has; aligned */
	SUMMARY_WIDE,     /* all columns */
	SUMMARY_TRUSS,    /* FreeBSD truss -c, byte for byte */
	SUMMARY_STRACE,   /* strace -c, byte for byte */
	SUMMARY_CSV,      /* CSV: one row for each call, times in seconds, no total */
	SUMMARY_MARKDOWN, /* like SUMMARY_TEXT */
	SUMMARY_JSON,     /* JSON: an array of objects, times in seconds */
};

#define SUMMARY_COLUMNS_MAX 24

/*
 * The columns of a table in order, as indices into the table of columns. If `n` is 0, the format decides which columns
 * there are.
 */
struct summary_columns {
	unsigned char index[SUMMARY_COLUMNS_MAX];
	size_t n;
	uint32_t named; /* bits of the columns that the user named: these are never left out */
	bool added;     /* the user added the named columns to the usual ones */
};

/* How a summary is shown. Zeros mean text with the usual columns, sorted by seconds. */
struct summary_view {
	enum summary_format format;
	struct summary_columns columns;
	int sort;       /* column index + 1; 0: seconds; -1: order of appearance */
	const char *by; /* "process", "thread", "fd" or "path": each group has a row, followed by its calls; NULL: no
			 * groups */
	unsigned top; /* SUMMARY_TEXT and SUMMARY_WIDE have only this number of calls, or of groups without their calls;
			  * 0: all */
	bool colour;
	int width; /* width of the terminal; 0: no limit. If SUMMARY_TEXT is too wide, columns that the user did not
		    * name become narrower, and then are left out */
};

/*
 * Parses the name of a format. summary_format_words contains these names. Returns 0, or -EINVAL with similar names in
 * `why`.
 */
int summary_format_parse(const char *text, enum summary_format *format, struct buf *why);
extern const char summary_format_words[];
/*
 * Parses a list of columns. "calls,errors,name" means exactly these columns, but the name of the call is added if it is
 * missing. "+p90,bytes" means the usual columns and these two. Also accepts the names of strace (time-percent,
 * avg-time, ...). Returns 0, or -EINVAL with the reason in `why`.
 */
int summary_columns_parse(const char *text, struct summary_columns *columns, struct buf *why);
/*
 * Parses the name of the column to sort by, or "none". Sets *sort to a value for struct summary_view. Returns 0, or
 * -EINVAL with the reason in `why`.
 */
int summary_sort_parse(const char *text, int *sort, struct buf *why);

/*
 * These append the columns, or the column to sort by, in a form that can be parsed again. They append nothing for the
 * default.
 */
void summary_columns_say(const struct summary_columns *columns, struct buf *out);
void summary_sort_say(int sort, struct buf *out);

/* Appends the table. */
void summary_render(const struct summary *s, const struct summary_view *v, struct buf *out);
/* Returns the table with its totals, for an HTML page. The caller frees it with table_free(). */
struct table *summary_table(const struct summary *s, const struct summary_view *v);
/* What is below the table. */
struct summary_below {
	bool errors;      /* --errors */
	const char *hist; /* the calls of --hist, separated by commas; or NULL */
	enum summary_format format;
	int width; /* of the output; 0: no limit */
};
/*
 * Appends the errors and the histogram that `b` asks for, and then `lines`, each of which ends with a newline. In
 * Markdown, they are blocks and a list, because the lines of a paragraph would run together.
 */
void summary_render_below(const struct summary *s, const struct summary_below *b, const char *lines, struct buf *out);
/* Appends the errors of each call with their counts, the most frequent first (--errors). */
void summary_render_errors(const struct summary *s, struct buf *out);
/* Stores the next name of a list that is separated by commas, and moves *list behind it. Returns false at the end. */
bool summary_next_hist(const char **list, char *name, size_t size);
/*
 * Appends a histogram of the durations of call `name` (--hist). It is `width` columns wide, and short enough for a
 * terminal. Returns false if `name` was not called, or if no such call has returned.
 */
bool summary_render_hist(const struct summary *s, const char *name, int width, struct buf *out);

#endif
