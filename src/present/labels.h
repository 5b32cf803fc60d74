/* The rows that a picture shows, and the label of each row, for one run or several. Only for present/. */
#ifndef SCTRACE_PRESENT_LABELS_H
#define SCTRACE_PRESENT_LABELS_H

#include "present/page.h"

/* A row of a picture: a subject in one run. */
struct row {
	const struct run_subject *s; /* NULL: the run does not contain the subject */
	const struct run *run;
	size_t nth; /* index of the run */
	char *label;
};

struct rows {
	VEC(struct row) list;
	const char **labels; /* the labels of all rows, as an array for the chart functions */
};

/*
 * Makes a row for each subject of the first run in each of the runs; the rows of one subject follow each other. A
 * subject that could not run has no row if there is only one run.
 */
void rows_init(struct rows *r, const struct page *p);
void rows_free(struct rows *r);
/* Returns a new array with the result of `value` for each row (NAN: the row has none); the caller frees it. */
double *rows_values(const struct rows *r, double (*value)(const struct run_subject *s));

#endif
