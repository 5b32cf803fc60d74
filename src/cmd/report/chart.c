/* The pictures of a report, drawn from the saved figures. */
#include "cmd/report/report.h"

#include "stats/box.h"
#include "stats/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 12 /* rows of the picture of calls */

/* Labels made for one picture. */
struct labels {
	VEC(char *) v;
};

static const char *label(struct labels *l, const struct report *r, const char *name, const struct report_run *run,
			 bool single)
{
	struct buf text = {0};
	if (!single)
		buf_adds(&text, name);
	if (r->runs.n > 1)
		buf_addf(&text, "%s%s", single ? "" : " · ", run->label);
	if (!text.len)
		buf_adds(&text, name);
	char *s = buf_take(&text);
	if (s && vec_push(&l->v, s))
		return s;
	free(s);
	return "";
}

static void labels_free(struct labels *l)
{
	for (size_t i = 0; i < l->v.n; i++)
		free(l->v.v[i]);
	vec_free(&l->v);
}

static const char *machine_part(const struct report_run *run, const char *path)
{
	const char *s = json_string_value(report_member(json_object_get(run->doc, "environment"), path));
	return s ? s : "unknown";
}

static bool same_machine(const struct report_run *a, const struct report_run *b)
{
	return strcmp(machine_part(a, "kernel.release"), machine_part(b, "kernel.release")) == 0 &&
	       strcmp(machine_part(a, "cpu.model"), machine_part(b, "cpu.model")) == 0;
}

/* Which machines: "vanilla, rt: Linux 6.1.0, a CPU; kvm: ...". */
static void subtitle(const struct report *r, struct buf *out)
{
	for (size_t i = 0; i < r->runs.n; i++) {
		const struct report_run *run = &r->runs.v[i];
		bool told = false;
		for (size_t k = 0; k < i && !told; k++)
			told = same_machine(&r->runs.v[k], run);
		if (told)
			continue;
		buf_addf(out, "%s%s", out->len ? "; " : "", run->label);
		for (size_t k = i + 1; k < r->runs.n; k++)
			if (same_machine(&r->runs.v[k], run))
				buf_addf(out, ", %s", r->runs.v[k].label);
		buf_addf(out, ": Linux %s, %s", machine_part(run, "kernel.release"), machine_part(run, "cpu.model"));
	}
}

struct boxes {
	struct chart_box *chart;
	struct box *box;
	size_t n;
};

/* A box for each measured subject of each run, those of one subject beside each other. */
static int collect_boxes(const struct report *r, struct boxes *b, struct labels *l)
{
	size_t subjects = r->runs.v[0].subjects.n;
	b->chart = calloc(subjects * r->runs.n + 1, sizeof(*b->chart));
	b->box = calloc(subjects * r->runs.n + 1, sizeof(*b->box));
	if (!b->chart || !b->box)
		return -ENOMEM;
	for (size_t i = 0; i < subjects; i++)
		for (size_t k = 0; k < r->runs.n; k++) {
			const struct report_subject *s = report_find(&r->runs.v[k], r->runs.v[0].subjects.v[i].name);
			if (!s || !s->n)
				continue;
			int rc = box_init(&b->box[b->n], s->samples, s->n);
			if (rc < 0)
				return rc;
			b->chart[b->n] = (struct chart_box){label(l, r, s->name, &r->runs.v[k], subjects == 1),
							    &b->box[b->n], r->runs.n > 1 ? k : 0};
			b->n++;
		}
	return b->n ? 0 : -EINVAL;
}

static void boxes_free(struct boxes *b)
{
	for (size_t i = 0; i < b->n; i++)
		box_free(&b->box[i]);
	free(b->box);
	free(b->chart);
}

/* What the samples of a kind are. */
static const char *samples_title(const char *kind)
{
	static const struct {
		const char *kind, *title;
	} titles[] = {
		{"compare", "Wall time of each run"},
		{"bench-syscall", "What an operation costs"},
		{"bench-switch", "What a switch costs"},
		{"bench-sched", "From the common start to each process's end"},
		{"bench-load", "Elapsed time under load"},
	};
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (strcmp(titles[i].kind, kind) == 0)
			return titles[i].title;
	return kind;
}

static int draw_boxes(void *report, int width, struct buf *out)
{
	const struct report *r = report;
	struct boxes b = {0};
	struct labels l = {0};
	struct buf title = {0};
	struct buf sub = {0};
	int rc = collect_boxes(r, &b, &l);
	if (rc == 0) {
		buf_adds(&title, samples_title(r->kind));
		if (r->runs.v[0].subjects.n == 1)
			buf_addf(&title, ": %s", r->runs.v[0].subjects.v[0].name);
		subtitle(r, &sub);
		struct chart_frame f = {
			.title = buf_str(&title),
			.subtitle = buf_str(&sub),
			.note = "Boxes: quartiles and median; whiskers: the outermost values within 1.5 interquartile "
				"ranges.",
			.width = width,
		};
		rc = chart_boxes(&f, &(struct chart_axis){"time", UNIT_SECONDS, SCALE_AUTO}, b.chart, b.n, out);
	}
	boxes_free(&b);
	labels_free(&l);
	buf_free(&title);
	buf_free(&sub);
	return rc;
}

/* Values of all rows of a bar chart, for three measures at most, with quartiles for the first. */
struct bars {
	const char **labels;
	double *value[3], *low, *high;
	size_t n;
};

static int bars_init(struct bars *b, size_t max)
{
	b->labels = calloc(max, sizeof(*b->labels));
	b->low = calloc(max, sizeof(double));
	b->high = calloc(max, sizeof(double));
	bool failed = !b->labels || !b->low || !b->high;
	for (size_t i = 0; i < 3; i++) {
		b->value[i] = calloc(max, sizeof(double));
		failed |= !b->value[i];
	}
	return failed ? -ENOMEM : 0;
}

static void bars_free(struct bars *b)
{
	free(b->labels);
	free(b->low);
	free(b->high);
	for (size_t i = 0; i < 3; i++)
		free(b->value[i]);
}

static void collect_bars(const struct report *r, struct bars *b, struct labels *l)
{
	for (size_t i = 0; i < r->runs.v[0].subjects.n; i++)
		for (size_t k = 0; k < r->runs.n; k++) {
			const char *name = r->runs.v[0].subjects.v[i].name;
			const struct report_subject *s = report_find(&r->runs.v[k], name);
			bool measured = s && s->n;
			b->labels[b->n] = label(l, r, name, &r->runs.v[k], false);
			b->value[0][b->n] = measured ? s->s.median : NAN;
			b->low[b->n] = measured ? s->s.q1 : NAN;
			b->high[b->n] = measured ? s->s.q3 : NAN;
			b->value[1][b->n] = measured ? report_number(s->row, "counts.calls") : NAN;
			b->value[2][b->n] = measured ? report_number(s->row, "peak_rss_bytes") : NAN;
			b->n++;
		}
}

static int draw_compare(void *report, int width, struct buf *out)
{
	const struct report *r = report;
	struct bars b = {0};
	struct labels l = {0};
	struct buf sub = {0};
	int rc = bars_init(&b, r->runs.n * r->runs.v[0].subjects.n + 1);
	subtitle(r, &sub);
	if (rc == 0) {
		collect_bars(r, &b, &l);
		struct chart_bar_panel panels[] = {
			{"Wall time", {NULL, UNIT_SECONDS, SCALE_AUTO}, b.value[0], b.low, b.high},
			{"System calls", {NULL, UNIT_COUNT, SCALE_AUTO}, b.value[1], NULL, NULL},
			{"Peak resident set", {NULL, UNIT_BYTES, SCALE_AUTO}, b.value[2], NULL, NULL},
		};
		struct chart_frame f = {"Side by side", buf_str(&sub), "Medians; whiskers are quartiles.", width};
		rc = chart_bars_grouped(&f, b.labels, b.n, r->runs.n, panels, 3, out);
	}
	bars_free(&b);
	labels_free(&l);
	buf_free(&sub);
	return rc;
}

/* Buffer sizes of one strategy in one run, ascending as they were saved. */
struct scan {
	double *x, *y[4], *low, *high;
	size_t n;
};

static int scan_init(struct scan *s, const struct report_run *run, const char *strategy)
{
	static const char *const paths[] = {NULL, "system_mean_s", "counts.calls", "peak_rss_bytes"};
	size_t max = run->subjects.n + 1;
	s->x = calloc(max, sizeof(double));
	s->low = calloc(max, sizeof(double));
	s->high = calloc(max, sizeof(double));
	bool failed = !s->x || !s->low || !s->high;
	for (size_t i = 0; i < 4; i++) {
		s->y[i] = calloc(max, sizeof(double));
		failed |= !s->y[i];
	}
	for (size_t k = 0; k < run->subjects.n && !failed; k++) {
		const struct report_subject *v = &run->subjects.v[k];
		const char *name = json_string_value(json_object_get(v->row, "strategy"));
		if (!v->n || !name || strcmp(name, strategy) != 0)
			continue;
		s->x[s->n] = report_number(v->row, "buffer_bytes");
		s->low[s->n] = v->s.q1;
		s->high[s->n] = v->s.q3;
		s->y[0][s->n] = v->s.median;
		for (size_t i = 1; i < 4; i++)
			s->y[i][s->n] = report_number(v->row, paths[i]);
		s->n += isfinite(s->x[s->n]);
	}
	return failed ? -ENOMEM : 0;
}

static void scan_free(struct scan *s)
{
	free(s->x);
	free(s->low);
	free(s->high);
	for (size_t i = 0; i < 4; i++)
		free(s->y[i]);
}

/* The strategy of the first run with the most buffer sizes, three at least; NULL. */
static const char *scanned_strategy(const struct report *r)
{
	const char *best = NULL;
	size_t most = 2;
	for (size_t i = 0; i < r->runs.v[0].subjects.n; i++) {
		const char *name = json_string_value(json_object_get(r->runs.v[0].subjects.v[i].row, "strategy"));
		struct scan s = {0};
		if (name && scan_init(&s, &r->runs.v[0], name) == 0 && s.n > most) {
			most = s.n;
			best = name;
		}
		scan_free(&s);
	}
	return best;
}

static int draw_scan_lines(const struct report *r, const char *strategy, const struct scan *scans, int width,
			   struct buf *out)
{
	static const struct {
		const char *title;
		enum chart_unit unit;
	} measures[] = {{"Wall time", UNIT_SECONDS},
			{"System time", UNIT_SECONDS},
			{"System calls", UNIT_COUNT},
			{"Peak resident set", UNIT_BYTES}};
	struct chart_series *series = calloc(4 * r->runs.n, sizeof(*series));
	struct chart_panel panels[4];
	struct buf title = {0};
	if (!series)
		return -ENOMEM;
	for (size_t m = 0; m < 4; m++) {
		for (size_t k = 0; k < r->runs.n; k++)
			series[m * r->runs.n + k] = (struct chart_series){
				.name = r->runs.v[k].label,
				.x = scans[k].x,
				.y = scans[k].y[m],
				.low = m == 0 ? scans[k].low : NULL,
				.high = m == 0 ? scans[k].high : NULL,
				.n = scans[k].n,
			};
		panels[m] = (struct chart_panel){measures[m].title,
						 {"buffer", UNIT_BYTES, SCALE_LOG},
						 {NULL, measures[m].unit, m == 3 ? SCALE_AUTO : SCALE_LOG},
						 series + m * r->runs.n,
						 r->runs.n,
						 NAN,
						 NULL};
	}
	buf_addf(&title, "%s: what the buffer size costs", strategy);
	struct chart_frame f = {buf_str(&title), NULL,
				"Wall time is the median, its band the quartiles; system time is the mean.", width};
	int rc = chart_lines(&f, panels, 4, out);
	buf_free(&title);
	free(series);
	return rc;
}

static int draw_scan(void *report, int width, struct buf *out)
{
	const struct report *r = report;
	const char *strategy = scanned_strategy(r);
	struct scan *scans = strategy ? calloc(r->runs.n, sizeof(*scans)) : NULL;
	if (!scans)
		return strategy ? -ENOMEM : -EINVAL;
	int rc = 0;
	for (size_t k = 0; k < r->runs.n && rc == 0; k++)
		rc = scan_init(&scans[k], &r->runs.v[k], strategy);
	if (rc == 0)
		rc = draw_scan_lines(r, strategy, scans, width, out);
	for (size_t k = 0; k < r->runs.n; k++)
		scan_free(&scans[k]);
	free(scans);
	return rc;
}

/* A histogram as saved, [[least ns, count], ...]; one that is not is left empty. */
static void read_hist(const json_t *a, struct hist *h)
{
	size_t i;
	json_t *pair;
	json_array_foreach(a, i, pair)
	{
		json_int_t low = json_integer_value(json_array_get(pair, 0));
		json_int_t count = json_integer_value(json_array_get(pair, 1));
		if (low >= 0 && count > 0 && hist_add(h, (uint64_t)low, (uint64_t)count) < 0)
			return;
	}
}

static int draw_hists(void *report, int width, struct buf *out)
{
	const struct report *r = report;
	size_t max = r->runs.n * r->runs.v[0].subjects.n;
	struct hist *hists = calloc(max + 1, sizeof(*hists));
	struct chart_hist *charts = calloc(max + 1, sizeof(*charts));
	struct labels l = {0};
	struct buf sub = {0};
	size_t n = 0;
	subtitle(r, &sub);
	for (size_t i = 0; hists && charts && i < r->runs.v[0].subjects.n; i++)
		for (size_t k = 0; k < r->runs.n; k++) {
			const struct report_subject *s = report_find(&r->runs.v[k], r->runs.v[0].subjects.v[i].name);
			const json_t *a = s ? json_object_get(s->row, "histogram_ns") : NULL;
			if (!json_is_array(a))
				continue;
			read_hist(a, &hists[n]);
			charts[n] = (struct chart_hist){label(&l, r, s->name, &r->runs.v[k], false), &hists[n], 1e-9,
							json_number_value(json_object_get(s->row, "max_ns"))};
			n++;
		}
	struct chart_frame f = {"How late wake-ups were", buf_str(&sub), "Counts are on a log scale.", width};
	int rc = !hists || !charts
			 ? -ENOMEM
			 : chart_hists(&f, &(struct chart_axis){"latency", UNIT_SECONDS, SCALE_LOG}, charts, n, out);
	for (size_t i = 0; i < n; i++)
		hist_free(&hists[i]);
	free(hists);
	free(charts);
	labels_free(&l);
	buf_free(&sub);
	return rc;
}

/* The calls that took the longest in the first run. */
static int draw_calls(void *report, int width, struct buf *out)
{
	const struct report *r = report;
	const struct table *t = r->parts.n ? r->parts.v[0].table : NULL;
	struct bars b = {0};
	struct labels l = {0};
	int rc = bars_init(&b, CALLS_MAX * r->runs.n);
	for (size_t i = 0; t && rc == 0 && i < CALLS_MAX; i++)
		for (size_t k = 0; k < r->runs.n; k++) {
			const char *name = table_cell_text(t, i, 0);
			if (!name)
				continue;
			b.labels[b.n] = label(&l, r, name, &r->runs.v[k], false);
			b.value[0][b.n] = table_cell_number(t, i, 1 + r->runs.n + k);
			b.value[1][b.n] = table_cell_number(t, i, 1 + k);
			b.n++;
		}
	if (rc == 0) {
		struct chart_bar_panel panels[] = {
			{"Time in calls", {NULL, UNIT_SECONDS, SCALE_AUTO}, b.value[0], NULL, NULL},
			{"Calls", {NULL, UNIT_COUNT, SCALE_AUTO}, b.value[1], NULL, NULL}};
		struct chart_frame f = {"System calls", NULL, NULL, width};
		rc = chart_bars_grouped(&f, b.labels, b.n, r->runs.n, panels, 2, out);
	}
	bars_free(&b);
	labels_free(&l);
	return rc;
}

int report_add_figures(struct report *r)
{
	static const struct {
		const char *kind; /* NULL: all but "count" */
		struct report_figure figure;
	} all[] = {
		{"count", {"calls", draw_calls}},
		{"compare", {"scan", draw_scan}},
		{"compare", {"bars", draw_compare}},
		{"bench-latency", {"hist", draw_hists}},
		{"bench-sched", {"progress", report_draw_progress}},
		{NULL, {"boxes", draw_boxes}},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		bool fits = all[i].kind ? strcmp(all[i].kind, r->kind) == 0 : strcmp(r->kind, "count") != 0;
		/* All but boxes and calls draw what single runs told beside their samples. */
		fits = fits && (!r->merged || !all[i].kind || strcmp(all[i].kind, "count") == 0);
		struct buf probe = {0};
		int rc = fits ? all[i].figure.draw(r, CHART_WIDE, &probe) : -EINVAL;
		buf_free(&probe);
		if (rc == -ENOMEM || (rc == 0 && !vec_push(&r->figures, all[i].figure)))
			return -ENOMEM;
	}
	return 0;
}
