/* The tables of `-c`: the calls made, how often and how long, in the layouts of truss, strace and sctrace. */
#ifndef SCTRACE_OUT_SUMMARY_TABLE_H
#define SCTRACE_OUT_SUMMARY_TABLE_H

#include "stats/summary.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* The words of --format; see summary_format_parse(). */
enum summary_format {
	SUMMARY_TEXT,     /* the four columns of truss, then ours, aligned */
	SUMMARY_WIDE,     /* all columns */
	SUMMARY_TRUSS,    /* FreeBSD truss -c, byte for byte */
	SUMMARY_STRACE,   /* strace -c, byte for byte */
	SUMMARY_CSV,      /* one row for each call, times in seconds, no total */
	SUMMARY_MARKDOWN, /* like SUMMARY_TEXT */
	SUMMARY_JSON,     /* an array of objects, times in seconds */
};

#define SUMMARY_COLUMNS_MAX 24

/* Columns in order, as indices into the table of columns. n = 0: the columns of the format. */
struct summary_columns {
	unsigned char index[SUMMARY_COLUMNS_MAX];
	size_t n;
};

/* How a summary is shown. A struct of zeros means text with the usual columns, sorted by seconds. */
struct summary_view {
	enum summary_format format;
	struct summary_columns columns;
	int sort;       /* column index + 1; 0: seconds; -1: order of appearance */
	const char *by; /* "process", "thread", "fd" or "path": each group has a row, followed by its calls; NULL: no
		      * groups */
	bool colour;
	int width; /* of the terminal; 0: no limit. If SUMMARY_TEXT is too wide, columns that the user did not name
		    * are moved together, then left out */
};

/* Returns 0, or -EINVAL with similar names in `why`. summary_format_words lists the words. */
int summary_format_parse(const char *text, enum summary_format *format, struct buf *why);
extern const char summary_format_words[];
/*
 * Parses a list of columns: "calls,errors,name" means these columns, and adds the name if it is missing; "+p90,bytes"
 * means the usual columns and these. Accepts strace's names (time-percent, avg-time, ...). Returns 0, or -EINVAL with
 * the reason in `why`.
 */
int summary_columns_parse(const char *text, struct summary_columns *columns, struct buf *why);
/* Parses a column's name or "none". Returns 0 and sets *sort as in the view, or -EINVAL with the reason in `why`. */
int summary_sort_parse(const char *text, int *sort, struct buf *why);

/* Appends the list in the form that these functions parse; nothing for the usual columns. */
void summary_columns_say(const struct summary_columns *columns, struct buf *out);
void summary_sort_say(int sort, struct buf *out);

/* Appends the table. Returns 0 or -ENOMEM. */
int summary_render(const struct summary *s, const struct summary_view *v, struct buf *out);
/* Appends the errors of each call with their counts, most frequent first (--errors). */
void summary_render_errors(const struct summary *s, struct buf *out);
/*
 * Appends a histogram of the durations of call `name`, `width` columns wide, with few enough lines for a terminal
 * (--hist). Returns false if no such call was made or none returned.
 */
bool summary_render_hist(const struct summary *s, const char *name, int width, struct buf *out);

#endif
