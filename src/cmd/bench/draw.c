/* Box plots of a test's samples. */
#include "cmd/bench/bench.h"

#include "out/chart.h"
#include "stats/box.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A box of `b`, in seconds; 0 or -errno. */
static int make_box(struct box *box, const struct bench_box *b, double unit)
{
	double *x = calloc(b->n + 1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	for (size_t i = 0; i < b->n; i++)
		x[i] = b->samples[i] * unit;
	int err = box_init(box, x, b->n);
	free(x);
	return err;
}

/* Logarithmic where boxes lie far apart, though single samples may be zero or less (and cannot be shown then). */
static enum chart_scale scale_for(const struct box *boxes, size_t n)
{
	double least = INFINITY;
	double most = 0;
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, boxes[i].summary.median);
		most = fmax(most, boxes[i].summary.median);
	}
	return least > 0 && most > 10 * least ? SCALE_LOG : SCALE_AUTO;
}

void bench_draw_boxes(struct bench_session *s, const char *title, const char *note, const struct bench_box *boxes,
		      size_t n, double unit)
{
	struct box *all = calloc(n + 1, sizeof(*all));
	struct chart_box *drawn = calloc(n + 1, sizeof(*drawn));
	size_t done = 0;
	for (size_t i = 0; all && drawn && i < n; i++) {
		if (make_box(&all[done], &boxes[i], unit) < 0)
			continue;
		drawn[done] = (struct chart_box){boxes[i].label, &all[done], boxes[i].group};
		done++;
	}
	struct buf out = {0};
	const struct chart_frame frame = {.title = title, .note = note};
	const struct chart_axis y = {.unit = UNIT_SECONDS, .scale = scale_for(all, done)};
	if (done && chart_boxes(&frame, &y, drawn, done, &out) == 0)
		s->svg = buf_take(&out);
	buf_free(&out);
	for (size_t i = 0; i < done; i++)
		box_free(&all[i]);
	free(all);
	free(drawn);
}
