/*
 * Draws the pictures of a profile of files (--io), for the files that took the most time: which parts of a file the
 * requests read and wrote, and how large the requests were.
 */
#include "out/axis.h"
#include "out/frame.h"
#include "out/svg.h"
#include "present/kinds.h"

#include <errno.h>

#define PANELS       6
#define PANEL_HEIGHT 150.0
#define HEAD_HEIGHT  24.0
#define FOOT_HEIGHT  44.0
#define LEFT         76.0
#define RIGHT        24.0 /* half of the last label of an axis is to the right of it */
#define TICK_WIDTH   75.0

static void add_range(const struct run_io_mark *v, size_t n, struct axis_range *x, struct axis_range *y)
{
	for (size_t i = 0; i < n; i++) {
		axis_range_add(x, v[i].time_s);
		axis_range_add(y, v[i].offset);
		axis_range_add(y, v[i].offset + v[i].bytes);
	}
}

static void draw_marks(const struct run_io_mark *v, size_t n, const struct axis *x, const struct axis *y, size_t series,
		       struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		if (axis_shows(x, v[i].time_s) && axis_shows(y, v[i].offset))
			svg_circle(out, axis_at(x, v[i].time_s), axis_at(y, v[i].offset), 1.8, svg_fill(series), NULL);
}

/*
 * Draws one file, starting at `top`. Returns its bottom, where the next file can be drawn. Returns `top` if there is
 * nothing to draw.
 */
static double draw_file(const struct run_io_file *f, double top, double width, struct buf *out)
{
	struct axis x, y;
	struct axis_range rx, ry;
	struct buf name = {0};
	double low = top + HEAD_HEIGHT + PANEL_HEIGHT;
	axis_range_init(&rx);
	axis_range_init(&ry);
	add_range(f->read_marks.v, f->read_marks.n, &rx, &ry);
	add_range(f->write_marks.v, f->write_marks.n, &rx, &ry);
	if (axis_init(&x, &(struct chart_axis){NULL, UNIT_SECONDS, SCALE_LINEAR}, &rx, false,
		      (size_t)((width - LEFT - RIGHT) / TICK_WIDTH)) < 0 ||
	    axis_init(&y, &(struct chart_axis){NULL, UNIT_BYTES, SCALE_LINEAR}, &ry, true, 4) < 0)
		return top;
	axis_place(&x, LEFT, width - RIGHT);
	axis_place(&y, low, top + HEAD_HEIGHT);
	svg_cut(&name, f->name ? f->name : "", 12, width - 2 * FRAME_MARGIN);
	svg_text(out, FRAME_MARGIN, top + 12, "h", "start", buf_str(&name));
	axis_draw_x(&x, top + HEAD_HEIGHT, low, NULL, out);
	axis_draw_y(&y, LEFT, width - RIGHT, NULL, out);
	draw_marks(f->read_marks.v, f->read_marks.n, &x, &y, 0, out);
	draw_marks(f->write_marks.v, f->write_marks.n, &x, &y, 1, out);
	buf_free(&name);
	return low + FOOT_HEIGHT;
}

int draw_io_offsets(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	const struct run_io *io = &p->runs[0].run->io;
	const struct chart_series legend[] = {{.name = "reads"}, {.name = "writes"}};
	struct chart_frame f = {"Offsets of requests in their file over time, with one mark for each request", NULL,
				"If a file has many requests, only a random sample of them is shown.", width};
	struct buf body = {0};
	double right = frame_width(&f) - FRAME_MARGIN;
	double at = frame_top(&f);
	size_t drawn = 0;
	at += frame_legend(legend, 2, FRAME_MARGIN, at, right, &body) + 8;
	for (size_t i = 0; i < io->files.n && drawn < PANELS; i++) {
		double next = draw_file(&io->files.v[i], at, frame_width(&f), &body);
		drawn += next > at;
		at = next;
	}
	if (!drawn) {
		buf_free(&body);
		return -EINVAL;
	}
	frame_finish(&f, &body, at, out);
	return 0;
}

int draw_io_sizes(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	const struct run_io *io = &p->runs[0].run->io;
	struct hist sizes[2] = {0};
	struct chart_frame f = {"Sizes of requests", NULL, NULL, width};
	struct chart_axis x = {"bytes per request", UNIT_BYTES, SCALE_LOG};
	for (size_t i = 0; i < io->files.n; i++) {
		hist_merge(&sizes[0], &io->files.v[i].read_sizes);
		hist_merge(&sizes[1], &io->files.v[i].write_sizes);
	}
	struct chart_hist hists[2] = {{"reads", &sizes[0], 1, 0, true}, {"writes", &sizes[1], 1, 0, true}};
	int rc = chart_hists(&f, &x, sizes[0].total ? hists : hists + 1,
			     (sizes[0].total > 0) + (size_t)(sizes[1].total > 0), out);
	hist_free(&sizes[0]);
	hist_free(&sizes[1]);
	return rc;
}
