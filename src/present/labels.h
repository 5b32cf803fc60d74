/* Rows and labels of pictures, for one run or several. Private to present/. */
#ifndef SCTRACE_PRESENT_LABELS_H
#define SCTRACE_PRESENT_LABELS_H

#include "present/page.h"

/* A subject in a run, as a row of a picture. */
struct row {
	const struct run_subject *s; /* NULL: this run does not have it */
	const struct run *run;
	size_t nth; /* index of the run */
	char *label;
};

struct rows {
	VEC(struct row) list;
	const char **labels; /* of all rows, as the chart functions need them */
};

/*
 * All subjects that were measured in the first run; the rows of one subject in all runs are adjacent. Returns 0 or
 * -ENOMEM.
 */
int rows_init(struct rows *r, const struct page *p);
void rows_free(struct rows *r);
/* A new array with a value of each row, which the caller frees. NULL if memory ran out. */
double *rows_values(const struct rows *r, double (*value)(const struct run_subject *s));

#endif
