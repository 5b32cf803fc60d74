#include "present/labels.h"

#include "base/memory.h"
#include "run/judge.h"

#include <math.h>
#include <stdlib.h>

static char *label_of(const struct page *p, const struct run_subject *s, size_t k, bool single)
{
	struct buf text = {0};
	if (p->n == 1 || !single)
		buf_adds(&text, s->name);
	if (p->n > 1)
		buf_addf(&text, "%s%s", single ? "" : " · ", p->runs[k].label);
	return buf_take(&text);
}

void rows_init(struct rows *r, const struct page *p)
{
	const struct run *first = p->runs[0].run;
	for (size_t i = 0; i < first->subjects.n; i++)
		for (size_t k = 0; k < p->n; k++) {
			const struct run_subject *s = &first->subjects.v[i];
			struct row row = {.run = p->runs[k].run, .nth = k};
			row.s = run_find(row.run, s->name);
			if (p->n == 1 && s->unable)
				continue;
			row.label = label_of(p, s, k, first->subjects.n == 1);
			vec_push(&r->list, row);
		}
	r->labels = memory_zeroed(r->list.n, sizeof(*r->labels));
	for (size_t i = 0; i < r->list.n; i++)
		r->labels[i] = r->list.v[i].label;
}

void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->list.n; i++)
		free(r->list.v[i].label);
	vec_free(&r->list);
	free(r->labels);
}

double *rows_values(const struct rows *r, double (*value)(const struct run_subject *s))
{
	double *v = memory_zeroed(r->list.n, sizeof(*v));
	for (size_t i = 0; i < r->list.n; i++)
		v[i] = r->list.v[i].s && !r->list.v[i].s->unable ? value(r->list.v[i].s) : NAN;
	return v;
}
