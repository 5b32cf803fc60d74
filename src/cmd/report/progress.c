/* The picture of a saved `bench sched`: who progressed when, and who had the CPU. */
#include "cmd/report/report.h"

#include "bench/sched.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROCS_MAX 8 /* colours; more processes are a tangle */

/* One number of processes: the lines and slices of its first repetition. */
struct staircase {
	struct chart_series series[PROCS_MAX];
	double *x[PROCS_MAX], *y[PROCS_MAX];
	char names[PROCS_MAX][48];
	size_t n;
	VEC(struct chart_slice) slices;
};

static void staircase_free(struct staircase *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->x[i]);
		free(s->y[i]);
	}
	vec_free(&s->slices);
}

static int add_slices(struct staircase *s, const json_t *slices, size_t who)
{
	size_t i;
	json_t *slice;
	json_array_foreach(slices, i, slice)
	{
		struct chart_slice c = {json_number_value(json_array_get(slice, 0)),
					json_number_value(json_array_get(slice, 1)), who,
					(int)json_integer_value(json_array_get(slice, 2))};
		if (!vec_push(&s->slices, c))
			return -ENOMEM;
	}
	return 0;
}

static int add_process(struct staircase *s, const json_t *process)
{
	size_t n;
	size_t i = s->n;
	int rc = run_get_reals(json_object_get(process, "progress_s"), &s->x[i], &n);
	if (rc < 0)
		return rc;
	s->n++;
	s->y[i] = calloc(n + 1, sizeof(double));
	if (!s->y[i])
		return -ENOMEM;
	for (size_t k = 0; k < n; k++)
		s->y[i][k] = (double)(k + 1) / fmax((double)n, SCHED_LOGS); /* interrupted, it has fewer */
	int nice = (int)json_integer_value(json_object_get(process, "nice"));
	snprintf(s->names[i], sizeof(s->names[i]), nice ? "process %zu (nice %d)" : "process %zu", i + 1, nice);
	s->series[i] = (struct chart_series){.name = s->names[i], .x = s->x[i], .y = s->y[i], .n = n};
	return add_slices(s, json_object_get(process, "slices_s"), i);
}

static int staircase_init(struct staircase *s, const struct report_subject *subject)
{
	const json_t *run = json_array_get(json_object_get(subject->row, "runs"), 0);
	const json_t *processes = json_object_get(run, "processes");
	int rc = json_is_array(processes) ? 0 : -EINVAL;
	for (size_t i = 0; rc == 0 && i < json_array_size(processes) && i < PROCS_MAX; i++)
		rc = add_process(s, json_array_get(processes, i));
	return rc;
}

int report_draw_progress(void *report, int width, struct buf *out)
{
	const struct report *r = report;
	const struct report_run *run = &r->runs.v[0];
	struct staircase *stairs = calloc(run->subjects.n + 1, sizeof(*stairs));
	struct chart_progress *panels = calloc(run->subjects.n + 1, sizeof(*panels));
	int rc = stairs && panels ? 0 : -ENOMEM;
	for (size_t i = 0; i < run->subjects.n && rc == 0; i++) {
		rc = staircase_init(&stairs[i], &run->subjects.v[i]);
		panels[i] = (struct chart_progress){run->subjects.v[i].name, stairs[i].series, stairs[i].n,
						    stairs[i].slices.v, stairs[i].slices.n};
	}
	struct chart_frame f = {"Who gets the CPU", run->label, "The first repetition of each.", width};
	if (rc == 0)
		rc = chart_progress(&f, panels, run->subjects.n, out);
	for (size_t i = 0; stairs && i < run->subjects.n; i++)
		staircase_free(&stairs[i]);
	free(stairs);
	free(panels);
	return rc;
}
