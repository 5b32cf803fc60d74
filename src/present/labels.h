/* Rows and labels of pictures, of one run or several. Private to present/. */
#ifndef SCTRACE_PRESENT_LABELS_H
#define SCTRACE_PRESENT_LABELS_H

#include "present/page.h"

/* A subject in a run, as a row of a picture. */
struct row {
	const struct run_subject *s; /* NULL: this run has it not */
	const struct run *run;
	size_t nth; /* of the runs */
	char *label;
};

struct rows {
	VEC(struct row) list;
	const char **labels; /* of all, as chart functions want them */
};

/* All subjects of the first run that were measured there, those of one subject in all runs beside each other; 0 or -ENOMEM. */
int rows_init(struct rows *r, const struct page *p);
void rows_free(struct rows *r);
/* A new array of a value of each row; NULL: memory ran out. The caller frees. */
double *rows_values(const struct rows *r, double (*value)(const struct run_subject *s));

#endif
