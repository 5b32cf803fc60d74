/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "out/axis.h"
#include "out/chart.h"
#include "out/svg.h"
#include "stats/hist.h"
#include "stats/quantile.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOSTILE "a<script>&\"\033[2J"

static const struct chart_frame frame = {.title = HOSTILE, .subtitle = HOSTILE, .note = HOSTILE};
static const struct chart_axis seconds = {HOSTILE, UNIT_SECONDS, SCALE_AUTO};

/* Each element is closed, attributes are quoted, and no number is nan or inf. */
static void assert_sound(struct buf *b)
{
	int depth = 0;
	for (const char *s = b->s; *s; s++) {
		if (*s != '<')
			continue;
		const char *end = strchr(s, '>');
		assert_non_null(end);
		depth += s[1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
		assert_true(depth >= 0);
		size_t quotes = 0;
		for (const char *q = s; q < end; q++)
			quotes += *q == '"';
		assert_int_equal(quotes % 2, 0);
	}
	assert_int_equal(depth, 0);
	assert_null(strstr(b->s, "<script"));
	assert_null(strchr(b->s, '\033'));
	assert_null(strstr(b->s, "\"nan"));
	assert_null(strstr(b->s, "nan\""));
	assert_null(strstr(b->s, "inf\""));
	assert_non_null(strstr(b->s, "<svg"));
	buf_free(b);
}

static void lines_leave_out_what_has_no_value(void **state)
{
	(void)state;
	const double x[] = {1, 2, 4, 8};
	const double y[] = {10, NAN, 0, 1e-9};
	const double none[] = {NAN, NAN, NAN, NAN};
	struct chart_series s[] = {{.name = HOSTILE, .x = x, .y = y, .low = y, .high = y, .n = 4},
				   {.name = HOSTILE, .x = x, .y = y, .n = 4}};
	struct chart_series empty = {.x = x, .y = none, .n = 4};
	struct chart_panel p[] = {
		{HOSTILE, {"b", UNIT_BYTES, SCALE_LOG}, {"s", UNIT_SECONDS, SCALE_LOG}, s, 2, 4, HOSTILE},
		{HOSTILE, {"b", UNIT_BYTES, SCALE_LINEAR}, {"s", UNIT_COUNT, SCALE_LINEAR}, s, 1, NAN, NULL},
		{HOSTILE, {"b", UNIT_BYTES, SCALE_LINEAR}, {"s", UNIT_COUNT, SCALE_LINEAR}, &empty, 1, NAN, NULL}};
	struct buf b = {0};
	assert_int_equal(chart_lines(&frame, p, 3, &b), 0);
	assert_sound(&b);
	assert_int_equal(chart_lines(&frame, p + 2, 1, &b), -EINVAL);
	assert_int_equal(chart_lines(&frame, p, 0, &b), -EINVAL);
	buf_free(&b);
}

static void bars_and_points(void **state)
{
	(void)state;
	const double v[] = {1e-6, 0, NAN, 5};
	const char *const labels[] = {HOSTILE, "b", "c", "d"};
	struct chart_bar_panel p[] = {{HOSTILE, seconds, v, v, v}, {"n", {NULL, UNIT_COUNT, SCALE_LOG}, v, NULL, NULL}};
	struct buf b = {0};
	for (int width = CHART_NARROW; width <= CHART_WIDE; width += CHART_WIDE - CHART_NARROW) {
		struct chart_frame f = frame;
		f.width = width;
		assert_int_equal(chart_bars(&f, labels, 4, 1, p, 2, &b), 0);
		assert_sound(&b);
	}
	/* Bars begin at zero. A logarithmic axis has no zero, so values are drawn as dots. */
	const double near[] = {1, 2};
	struct chart_bar_panel linear = {"n", {NULL, UNIT_COUNT, SCALE_LINEAR}, near, NULL, NULL};
	struct chart_bar_panel log = {"n", {NULL, UNIT_COUNT, SCALE_LOG}, near, NULL, NULL};
	buf_clear(&b);
	assert_int_equal(chart_bars(&frame, labels, 2, 1, &linear, 1, &b), 0);
	assert_null(strstr(buf_str(&b), "<circle"));
	buf_clear(&b);
	assert_int_equal(chart_bars(&frame, labels, 2, 1, &log, 1, &b), 0);
	assert_int_equal(strstr(strstr(buf_str(&b), "<circle") + 1, "<circle") != NULL, 1);
	struct chart_point points[] = {{HOSTILE, 1, 2}, {"b", 2, 1}, {"c", NAN, 1}, {"d", 3, 3}, {"e", 1, 2}};
	assert_int_equal(chart_scatter(&frame, 0, &seconds, &seconds, points, 5, &b), 0);
	assert_sound(&b);
	assert_int_equal(chart_scatter(&frame, 0, &seconds, &seconds, points + 2, 1, &b), -EINVAL);
	/* Noise is not a trade-off: the line has no step for it. */
	struct chart_point noisy[] = {
		{"fast", 1, 2, 0.99, 1.01}, {"equal", 1.05, 1.9, 1.04, 1.06}, {"small", 3, 1, 2.9, 3.1}};
	for (int i = 0; i < 2; i++) {
		buf_clear(&b);
		assert_int_equal(chart_scatter(&frame, i ? 0.1 : 0, &seconds, &seconds, noisy, 3, &b), 0);
		const char *path = strstr(buf_str(&b), "class=\"d\"");
		const char *first = path ? strchr(path, 'H') : NULL;
		const char *second = first ? strchr(first + 1, 'H') : NULL;
		assert_non_null(first);
		assert_int_equal(second && second < strchr(path, '>'), !i);
	}
	assert_int_equal(chart_bars(&frame, labels, 0, 1, p, 1, &b), -EINVAL);
	buf_free(&b);
}

static void titles_of_bars_stand_apart(void **state)
{
	(void)state;
	static const char title[] = "system time (mean)";
	const double v[] = {1, 2};
	const char *const labels[] = {
		"b", "a command of so many words that its name alone could fill half of the picture and more"};
	struct chart_bar_panel p[4];
	for (size_t i = 0; i < 4; i++)
		p[i] = (struct chart_bar_panel){title, seconds, v, NULL, NULL};
	struct buf b = {0};
	assert_int_equal(chart_bars(&frame, labels, 2, 1, p, 4, &b), 0);
	double before = 0;
	size_t found = 0;
	for (const char *s = b.s, *at; (at = strstr(s, title)); s = at + 1, found++) {
		const char *x = at;
		while (strncmp(x, " x=\"", 4) != 0)
			x--;
		double left = strtod(x + 4, NULL);
		assert_true(!found || left - before >= svg_text_width(title, 12));
		before = left;
	}
	assert_int_equal(found, 4);
	buf_free(&b);
}

/* If values are too large to be drawn, the text says how many. */
static void boxes_count_the_values_that_they_omit(void **state)
{
	(void)state;
	double v[100];
	for (int i = 0; i < 100; i++)
		v[i] = 100 + i % 10;
	v[7] = 1e6;
	v[8] = 2e6;
	struct box box;
	struct box flat;
	assert_int_equal(box_init(&box, v, 100), 0);
	assert_int_equal(box_init(&flat, (double[]){5, 5, 5}, 3), 0);
	struct chart_box boxes[] = {{HOSTILE, &box, 0, HOSTILE}, {"flat", &flat, 1, "level"}};
	struct buf b = {0};
	assert_int_equal(chart_boxes(&frame, &(struct chart_axis){"t", UNIT_NONE, SCALE_LINEAR}, boxes, 2, &b), 0);
	assert_non_null(strstr(b.s, "2 outliers, 2 off scale"));
	assert_non_null(strstr(b.s, ">0 outliers<"));
	assert_non_null(strstr(b.s, ">level<")); /* in the legend */
	assert_sound(&b);
	struct chart_frame narrow = frame;
	narrow.width = CHART_NARROW; /* the boxes are horizontal */
	struct chart_box rows[] = {boxes[0], boxes[1], boxes[0], boxes[1], boxes[0], boxes[1]};
	assert_int_equal(chart_boxes(&narrow, &(struct chart_axis){"t", UNIT_NONE, SCALE_LINEAR}, rows, 6, &b), 0);
	assert_non_null(strstr(b.s, ">2 beyond"));
	assert_sound(&b);
	assert_int_equal(chart_boxes(&frame, &seconds, boxes, 0, &b), -EINVAL);
	box_free(&box);
	box_free(&flat);
}

static void histograms_and_progress(void **state)
{
	(void)state;
	struct hist h = {0};
	struct hist empty = {0};
	hist_add(&h, 0, 3);
	hist_add(&h, 1000, 1000000);
	hist_add(&h, 5000000, 1);
	struct chart_hist hs[] = {{HOSTILE, &h, 1e-9}, {"none", &empty, 1e-9}};
	struct buf b = {0};
	assert_int_equal(chart_hists(&frame, &(struct chart_axis){"t", UNIT_SECONDS, SCALE_LOG}, hs, 2, &b), 0);
	assert_non_null(strstr(b.s, "n 1M"));
	/* No quantile exceeds the known maximum. */
	hs[0].max = 900;
	assert_int_equal(chart_hists(&frame, &(struct chart_axis){"t", UNIT_SECONDS, SCALE_LOG}, hs, 2, &b), 0);
	assert_non_null(strstr(b.s, "p99 900 ns, max 900 ns"));
	assert_sound(&b);
	assert_int_equal(chart_hists(&frame, &seconds, hs + 1, 1, &b), -EINVAL);
	/* A single size has a single bar. */
	struct hist size = {0};
	hist_add(&size, 4096, 1000);
	struct chart_hist sizes = {.name = "reads", .hist = &size, .unit = 1, .lowest = true};
	assert_int_equal(chart_hists(&frame, &(struct chart_axis){NULL, UNIT_BYTES, SCALE_LOG}, &sizes, 1, &b), 0);
	const char *bar = strstr(b.s, " d=\"M");
	const char *second_bar = bar ? strchr(strchr(bar, 'M') + 1, 'M') : NULL;
	assert_non_null(bar);
	assert_true(!second_bar || second_bar > strchr(bar, '>'));
	assert_sound(&b);
	hist_free(&size);
	const double x[] = {0, 1, 2};
	const double y[] = {0, 0.5, 1};
	struct chart_series s[] = {{.name = HOSTILE, .x = x, .y = y, .n = 3}, {.name = "b", .x = x, .y = y, .n = 3}};
	struct chart_slice slices[] = {{0, 1, 0, 0}, {1, 2, 1, 3}};
	struct chart_progress p = {HOSTILE, s, 2, slices, 2};
	assert_int_equal(chart_progress(&frame, &p, 1, &b), 0);
	assert_non_null(strstr(b.s, "CPU 3"));
	/* Two processes with equal progress still have two distinguishable lines. */
	const char *first = strstr(b.s, "class=\"ln s0\" d=\"");
	const char *second = strstr(b.s, "class=\"ln s1\" d=\"");
	assert_non_null(first);
	assert_non_null(second);
	assert_true(strncmp(strstr(first, "d="), strstr(second, "d="), 12) != 0);
	assert_sound(&b);
	hist_free(&h);
}

static const char *formatted(struct buf *b, enum chart_unit unit, double v)
{
	buf_clear(b);
	axis_format(b, unit, v);
	return buf_str(b);
}

static void values_read_well(void **state)
{
	(void)state;
	struct buf b = {0};
	assert_string_equal(formatted(&b, UNIT_SECONDS, 0.00125), "1.25 ms");
	assert_string_equal(formatted(&b, UNIT_SECONDS, 66e-9), "66.0 ns");
	assert_string_equal(formatted(&b, UNIT_SECONDS, 3e-10), "0.30 ns");
	assert_string_equal(formatted(&b, UNIT_BYTES, 4096), "4 KiB");
	assert_string_equal(formatted(&b, UNIT_COUNT, 20971550), "21M");
	assert_string_equal(formatted(&b, UNIT_COUNT, 0), "0");
	assert_string_equal(formatted(&b, UNIT_PERCENT, 0.5), "50.0 %");
	buf_free(&b);
}

/* An axis of any range has at least two labels, and no more than are readable. */
static void axes_have_labels(void **state)
{
	(void)state;
	for (int unit = UNIT_NONE; unit <= UNIT_PERCENT; unit++)
		for (double low = 1e-9; low < 1e9; low *= 7)
			for (double ratio = 1; ratio < 1e8; ratio *= 3) {
				struct axis a;
				struct axis_range r = {low, low * ratio, low};
				struct chart_axis spec = {NULL, (enum chart_unit)unit, SCALE_LOG};
				assert_int_equal(axis_init(&a, &spec, &r, false, 5), 0);
				size_t labels = 0;
				for (size_t i = 0; i < a.nticks; i++)
					labels += a.ticks[i].label[0] != '\0';
				if (labels < 2 && unit != UNIT_COUNT && unit != UNIT_BYTES)
					fail_msg("%zu labels, unit %d, %g to %g", labels, unit, low, low * ratio);
				assert_true(labels <= 12);
			}
}

/* If labels would touch each other, every second one is left out, not only those that touch. */
static void labels_are_regular(void **state)
{
	(void)state;
	struct axis a;
	struct axis_range r = {4e-3, 22e-3, 4e-3};
	struct buf b = {0};
	assert_int_equal(axis_init(&a, &(struct chart_axis){NULL, UNIT_SECONDS, SCALE_LINEAR}, &r, false, 10), 0);
	axis_place(&a, 0, 380);
	axis_draw_x(&a, 0, 10, NULL, &b);
	static const char *const shown[] = {">4 ms<", ">8 ms<", ">12 ms<", ">16 ms<", ">20 ms<"};
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		assert_non_null(strstr(b.s, shown[i]));
	assert_null(strstr(b.s, ">6 ms<"));
	assert_null(strstr(b.s, ">22 ms<"));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_leave_out_what_has_no_value),
		cmocka_unit_test(bars_and_points),
		cmocka_unit_test(titles_of_bars_stand_apart),
		cmocka_unit_test(boxes_count_the_values_that_they_omit),
		cmocka_unit_test(histograms_and_progress),
		cmocka_unit_test(values_read_well),
		cmocka_unit_test(axes_have_labels),
		cmocka_unit_test(labels_are_regular),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
