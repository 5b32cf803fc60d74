/* The tables of `-c`: which calls were made, how often and how long, in truss's, strace's and our own layouts. */
#ifndef SCTRACE_OUT_SUMMARY_TABLE_H
#define SCTRACE_OUT_SUMMARY_TABLE_H

#include "stats/summary.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Words of --format; see summary_format_parse(). */
enum summary_format {
	SUMMARY_TEXT,     /* truss's four columns, then ours, aligned */
	SUMMARY_WIDE,     /* all columns */
	SUMMARY_TRUSS,    /* FreeBSD truss -c, byte for byte */
	SUMMARY_STRACE,   /* strace -c, byte for byte */
	SUMMARY_CSV,      /* a row a call, times in seconds, no total */
	SUMMARY_MARKDOWN, /* as SUMMARY_TEXT */
	SUMMARY_JSON,     /* an array of objects, times in seconds */
};

#define SUMMARY_COLUMNS_MAX 24

/* Columns in order, as indices into the table of columns. n = 0: the format's own. */
struct summary_columns {
	unsigned char index[SUMMARY_COLUMNS_MAX];
	size_t n;
};

/* How a summary is shown. Zero-initialised: text, the usual columns, by seconds. */
struct summary_view {
	enum summary_format format;
	struct summary_columns columns;
	int sort; /* column index + 1; 0: seconds; -1: in order of appearance */
	const char
		*by; /* "process", "thread", "fd", "path": groups have a row each, calls below them; NULL: no groups */
	bool colour;
	int width; /* of the terminal; 0: no limit. Columns of SUMMARY_TEXT that nobody named move together, then are left out */
};

/* 0, or -EINVAL and `why` with near names. The words are listed in summary_format_words. */
int summary_format_parse(const char *text, enum summary_format *format, struct buf *why);
extern const char summary_format_words[];
/*
 * "calls,errors,name": these columns, the name added where it is missing; "+p90,bytes": the usual ones and these. strace's
 * spellings (time-percent, avg-time, ...) are known. 0, or -EINVAL and `why`.
 */
int summary_columns_parse(const char *text, struct summary_columns *columns, struct buf *why);
/* A column's name, or "none". 0 and *sort as in the view, or -EINVAL and `why`. */
int summary_sort_parse(const char *text, int *sort, struct buf *why);

/* The same as text that these functions read; nothing where it is the usual. */
void summary_columns_say(const struct summary_columns *columns, struct buf *out);
void summary_sort_say(int sort, struct buf *out);

/* Appends the table; 0 or -ENOMEM. */
int summary_render(const struct summary *s, const struct summary_view *v, struct buf *out);
/* Appends which calls failed how often and with what, most frequent first (--errors). */
void summary_render_errors(const struct summary *s, struct buf *out);
/*
 * Appends a histogram of call `name`'s durations, `width` columns wide and few enough lines for a terminal (--hist). False where no such call was made or
 * none returned.
 */
bool summary_render_hist(const struct summary *s, const char *name, int width, struct buf *out);

#endif
