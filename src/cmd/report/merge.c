/* Several runs of the same thing on the same machine, pooled into one (--merge). */
#include "cmd/report/report.h"

#include "measure/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Can the runs be pooled, and not only compared? 0, or -EINVAL and the reason. */
static int poolable(const struct report *r, struct buf *why)
{
	const struct report_run *a = &r->runs.v[0];
	const json_t *env = json_object_get(a->doc, "environment");
	if (strcmp(r->kind, "bench-latency") == 0) {
		buf_adds(why, "runs of bench latency cannot be merged: they keep no single wake-up");
		return -EINVAL;
	}
	for (size_t i = 1; i < r->runs.n; i++)
		for (size_t k = 0; k < i; k++)
			if (json_equal(r->runs.v[i].doc, r->runs.v[k].doc)) {
				buf_addf(why, "'%s' and '%s' are the same run: merged, it would count twice",
					 r->runs.v[k].path, r->runs.v[i].path);
				return -EINVAL;
			}
	for (size_t i = 1; i < r->runs.n; i++) {
		struct buf lines = {0};
		int n = env_differences(env, json_object_get(r->runs.v[i].doc, "environment"), &lines);
		if (n > 0)
			buf_addf(why, "'%s' and '%s' cannot be merged: their machines differ in %.*s", a->path,
				 r->runs.v[i].path, (int)strcspn(buf_str(&lines), "\n"), buf_str(&lines));
		buf_free(&lines);
		if (n > 0)
			return -EINVAL;
	}
	return 0;
}

/* Adds the samples of `from` behind those of `to`. 0 or -ENOMEM. */
static int pool_subject(struct report_subject *to, const struct report_subject *from)
{
	if (!from->n)
		return 0;
	double *v = realloc(to->samples, (to->n + from->n) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	memcpy(v + to->n, from->samples, from->n * sizeof(*v));
	to->samples = v;
	to->n += from->n;
	to->unable = NULL;
	return sample_summarise(to->samples, to->n, &to->s);
}

static int pool_run(struct report_run *to, struct report_run *from)
{
	summary_merge(&to->calls, &from->calls);
	if (to->calls.failed)
		return -ENOMEM;
	for (size_t i = 0; i < from->subjects.n; i++) {
		struct report_subject *s = &from->subjects.v[i];
		struct report_subject *same = (struct report_subject *)report_find(to, s->name);
		int rc = same ? pool_subject(same, s) : 0;
		if (!same && vec_push(&to->subjects, *s))
			s->samples = NULL; /* moved */
		else if (!same)
			rc = -ENOMEM;
		if (rc < 0)
			return rc;
	}
	return 0;
}

int report_merge(struct report *r, struct buf *why)
{
	struct report_run *to = &r->runs.v[0];
	int rc = poolable(r, why);
	for (size_t i = 1; i < r->runs.n && rc == 0; i++)
		rc = pool_run(to, &r->runs.v[i]);
	if (rc < 0)
		return rc;
	buf_adds(&r->notes, "Merged from");
	for (size_t i = 0; i < r->runs.n; i++)
		buf_addf(&r->notes, "%s%s", i ? ", " : " ", r->runs.v[i].path);
	buf_adds(&r->notes, "; what differs between the runs is spread within the merged one.\n");
	struct buf label = {0};
	for (size_t i = 0; i < r->runs.n; i++)
		buf_addf(&label, "%s%s", i ? "+" : "", r->runs.v[i].label);
	free(to->label);
	to->label = buf_take(&label);
	if (!to->label)
		return -ENOMEM;
	r->merged = true;
	while (r->runs.n > 1) {
		struct report_run *from = &r->runs.v[r->runs.n - 1];
		/* Rows that were moved point into the document: it stays until the end. */
		if (!vec_push(&r->kept, from->doc))
			return -ENOMEM;
		from->doc = NULL;
		report_run_free(from);
		r->runs.n--;
	}
	return 0;
}
