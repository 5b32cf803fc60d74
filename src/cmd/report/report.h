/* The inside of `sctrace report`: what its files share. */
#ifndef SCTRACE_CMD_REPORT_REPORT_H
#define SCTRACE_CMD_REPORT_REPORT_H

#include "base/buf.h"
#include "base/vec.h"
#include "out/chart.h"
#include "out/table.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct report_options {
	const char *format, *output, *svg, *names, *colour;
	bool merge;
};

/* One thing that was measured in a run: a row of its results. */
struct report_subject {
	const char *name;  /* the row's */
	const json_t *row; /* borrowed from the run */
	double *samples;   /* seconds, in the order they were taken; NULL where the row has none */
	size_t n;
	struct sample_summary s; /* of the samples */
	const char *unable;      /* why it was not measured, or NULL */
};

/* One saved run. */
struct report_run {
	const char *path;
	char *label; /* how tables call it */
	json_t *doc;
	VEC(struct report_subject) subjects; /* all kinds but "count" */
	struct summary calls;                /* kind "count" */
};

/* A table of the report, under the name programs find it by ("summary") and the heading people do. */
struct report_part {
	const char *key;
	char *heading;
	struct table *table;
	const char *note; /* or NULL */
};

/* A picture: `draw` is called with the report; `name` goes into the name of its file. */
struct report_figure {
	const char *name;
	int (*draw)(void *report, int width, struct buf *out);
};

struct report {
	struct report_options opt;
	VEC(struct report_run) runs;
	const char *kind;
	bool merged;        /* several runs were pooled into the one that is left */
	VEC(json_t *) kept; /* documents of those that are gone */
	VEC(struct report_part) parts;
	VEC(struct report_figure) figures;
	VEC(char *) strings;    /* column names made up for this report */
	struct buf lessons;     /* what there is to see, a sentence a line */
	struct buf differences; /* where environments differ, a line each */
	struct buf notes;       /* what the reader must know, a sentence a line */
};

/* report_load.c: reads the files into `r`; 0, or -EINVAL and `why`: a file is none, or cannot be compared with the first. */
int report_load(struct report *r, char *const *paths, size_t n, struct buf *why);
void report_free(struct report *r);
void report_run_free(struct report_run *run);
/* report_merge.c: pools all runs into the first; 0, -EINVAL and `why`: they must not be, or -ENOMEM. */
int report_merge(struct report *r, struct buf *why);
/* The subject called `name`, or NULL. */
const struct report_subject *report_find(const struct report_run *run, const char *name);
/* The member at a path of keys joined by dots ("counts.calls"), NULL where there is none. */
const json_t *report_member(const json_t *o, const char *path);
/* The same as a number; NAN. */
double report_number(const json_t *o, const char *path);

/* report_samples.c: kinds whose rows are measured subjects. report_calls.c: kind "count". Fill parts and lessons. */
int report_samples(struct report *r);
int report_calls(struct report *r);
/* Takes over `t`. 0, or -ENOMEM (NULL given, too). */
int report_add_part(struct report *r, const char *key, const char *heading, struct table *t, const char *note);

/* report_chart.c: the figures that fit the kind; 0 or -ENOMEM. One that finds nothing to draw gives -EINVAL. */
int report_add_figures(struct report *r);
/* report_progress.c: the staircases of a saved `bench sched`, of the first run. */
int report_draw_progress(void *report, int width, struct buf *out);
/* report_csv.c: appends one observation a row. 0 or -ENOMEM. */
int report_csv(const struct report *r, struct buf *out);
/* report_out.c: appends the report in the format asked for (options.format); 0 or -ENOMEM. */
int report_render(struct report *r, const struct table_look *look, struct buf *out);

#endif
