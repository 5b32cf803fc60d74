/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/size.h"
#include "out/axis.h"
#include "out/svg.h"
#include "present/page.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Displays a profile of files (--io): a row for each file, and two pictures. One shows where the requests read and wrote
 * in the files that took the most time; the other one shows how large the requests were. page_io.c adds the findings.
 */
#define ROWS_USUAL 25 /* number of rows in text and Markdown, without --top */
/* Widths of a file name. */
#define NAME_MIN   8
#define NAME_USUAL 18
#define NAME_MAX   60
#define OTHER_MAX  62 /* width of the other columns, if none of them is left out */

enum io_column {
	C_FILE,
	C_KIND,
	C_OPENS,
	C_CALLS,
	C_READS,
	C_WRITES,
	C_READ_BYTES,
	C_WRITTEN_BYTES,
	C_TIME,
	C_READ_WAITS,
	C_READ_WAITED,
	C_SIZES,
	C_SEQUENTIAL,
	C_RANDOM,
	C_REREAD,
	C_REWRITTEN,
	C_SEEKS,
	C_IDLE_SEEKS,
	C_SYNCS,
	C_MMAPS,
	C_UNCLOSED,
	COLUMNS,
	C_SIZE = COLUMNS /* only in text: the most frequent size */
};

/* The columns in CSV, JSON and HTML. */
#define OF(member) offsetof(struct run_io_file, member)
static const struct figure_column columns[COLUMNS] = {
	[C_FILE] = {"file", "file", 0, FORM_TEXT, OF(name)},
	[C_KIND] = {"kind", "kind", 0, FORM_TEXT, OF(kind)},
	[C_OPENS] = {"opens", "opens", COL_RIGHT, FORM_COUNT, OF(opens)},
	[C_CALLS] = {"calls", "calls", COL_RIGHT, FORM_COUNT, OF(calls)},
	[C_READS] = {"reads", "reads", COL_RIGHT, FORM_COUNT, OF(reads)},
	[C_WRITES] = {"writes", "writes", COL_RIGHT, FORM_COUNT, OF(writes)},
	[C_READ_BYTES] = {"read_bytes", "read", COL_RIGHT, FORM_BYTES, OF(read_bytes)},
	[C_WRITTEN_BYTES] = {"written_bytes", "written", COL_RIGHT, FORM_BYTES, OF(written_bytes)},
	[C_TIME] = {"time_s", "time", COL_RIGHT, FORM_TIME, OF(time_s)},
	[C_READ_WAITS] = {"read_waits", "reads that waited", COL_RIGHT, FORM_COUNT, OF(read_waits)},
	[C_READ_WAITED] = {"read_waited_s", "their time", COL_RIGHT, FORM_TIME, OF(read_waited_s)},
	[C_SIZES] = {"frequent_sizes", "sizes", 0},
	[C_SEQUENTIAL] = {"sequential_share", "sequential", COL_RIGHT},
	[C_RANDOM] = {"random_share", "random", COL_RIGHT},
	[C_REREAD] = {"repeated_read_share", "reread", COL_RIGHT},
	[C_REWRITTEN] = {"repeated_write_share", "rewritten", COL_RIGHT},
	[C_SEEKS] = {"seeks", "seeks", COL_RIGHT, FORM_COUNT, OF(seeks)},
	[C_IDLE_SEEKS] = {"seeks_without_effect", "without effect", COL_RIGHT, FORM_COUNT, OF(seeks_without_effect)},
	[C_SYNCS] = {"syncs", "syncs", COL_RIGHT, FORM_COUNT, OF(syncs)},
	[C_MMAPS] = {"mmaps", "mmaps", COL_RIGHT, FORM_COUNT, OF(mmaps)},
	[C_UNCLOSED] = {"unclosed", "unclosed", COL_RIGHT, FORM_COUNT, OF(unclosed)},
};

/*
 * The columns in text and Markdown. There are two tables, because all columns together are wider than 80. The second one
 * has only the files that were not simply read or written from their beginning to their end.
 */
struct text_column {
	const char *title;
	unsigned flags;
	enum io_column figure;
};
static const struct text_column use_columns[] = {
	{"file", 0, C_FILE},
	{"opens", COL_RIGHT | COL_OPTIONAL, C_OPENS},
	{"calls", COL_RIGHT | COL_SPARE, C_CALLS},
	{"read", COL_RIGHT, C_READ_BYTES},
	{"written", COL_RIGHT | COL_LAST, C_WRITTEN_BYTES},
	{"time", COL_RIGHT, C_TIME},
	{"waits", COL_RIGHT | COL_SPARE, C_READ_WAITS},
	{"waited", COL_RIGHT | COL_SPARE, C_READ_WAITED},
	{"size", COL_RIGHT | COL_OPTIONAL, C_SIZE},
};
static const struct text_column access_columns[] = {
	{"file", 0, C_FILE},
	{"seq", COL_RIGHT, C_SEQUENTIAL},
	{"random", COL_RIGHT, C_RANDOM},
	{"reread", COL_RIGHT, C_REREAD},
	{"rewritten", COL_RIGHT | COL_LAST, C_REWRITTEN},
	{"seeks", COL_RIGHT | COL_SPARE, C_SEEKS},
	{"idle", COL_RIGHT | COL_OPTIONAL, C_IDLE_SEEKS},
	{"syncs", COL_RIGHT | COL_SPARE, C_SYNCS},
	{"mmaps", COL_RIGHT | COL_OPTIONAL, C_MMAPS},
};

static double requests(const struct run_io_file *f)
{
	return f->sequential + f->random + f->reread + f->rewritten;
}

/*
 * Converts the shares of four kinds of access to whole per cents whose sum is 100 by the method of largest remainders:
 * each share is rounded down first, and then the shares that lost most by the rounding get 1 more.
 */
static void shares(const struct run_io_file *f, int out[4])
{
	const double part[4] = {f->sequential, f->random, f->reread, f->rewritten};
	double rest[4];
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		double exact = 100 * part[i] / requests(f);
		out[i] = (int)exact;
		rest[i] = exact - out[i];
		sum += out[i];
	}
	for (; sum < 100; sum++) {
		int most = 0;
		for (int i = 1; i < 4; i++)
			most = rest[i] > rest[most] ? i : most;
		out[most]++;
		rest[most] = -1;
	}
}

/*
 * Returns the width for names. On a terminal of less than 80 columns, names have two fifths of it, and the table leaves
 * out other columns.
 */
static size_t room_for_name(const struct table_look *look)
{
	int width = look && look->width > 0 ? look->width : NAME_MAX + OTHER_MAX;
	int room = width >= NAME_USUAL + OTHER_MAX ? width - OTHER_MAX : width * 2 / 5;
	return (size_t)(room < NAME_MIN ? NAME_MIN : room > NAME_MAX ? NAME_MAX : room);
}

static void sizes(const struct run_io_file *f, struct buf *out)
{
	for (size_t i = 0; i < f->sizes.n && i < 2; i++) {
		buf_adds(out, i ? ", " : "");
		size_format(out, (uint64_t)f->sizes.v[i].bytes);
		buf_adds(out, " x ");
		count_human(out, (uint64_t)f->sizes.v[i].requests);
	}
}

/* Sets the cell in column `col` to a figure of the file. */
static void set_figure(struct table *t, size_t col, enum io_column which, const struct run_io_file *f)
{
	const double part[] = {f->sequential, f->random, f->reread, f->rewritten}; /* C_SEQUENTIAL to C_REWRITTEN */
	auto_buf text = {0};
	if (which >= C_SEQUENTIAL && which <= C_REWRITTEN) {
		int share[4];
		if (!(requests(f) > 0))
			return;
		shares(f, share);
		buf_addf(&text, "%d %%", share[which - C_SEQUENTIAL]);
		cell_real(t, col, part[which - C_SEQUENTIAL] / requests(f), &text);
	} else if (which == C_SIZES || which == C_SIZE) {
		if (which == C_SIZES)
			sizes(f, &text);
		else if (f->sizes.n)
			size_human(&text, (uint64_t)f->sizes.v[0].bytes);
		table_string(t, col, buf_str(&text));
	} else {
		figure_cell(t, col, &columns[which], f);
	}
}

/* Returns true if the second table says something about the file. */
static bool is_uncommon(const struct run_io_file *f)
{
	return f->random > 0 || f->reread > 0 || f->rewritten > 0 || f->seeks > 0 || f->syncs > 0;
}

static bool any_waits(const struct io_rows *rows)
{
	for (size_t i = 0; i < rows->list.n; i++)
		if (rows->list.v[i].read_waits > 0)
			return true;
	return false;
}

/*
 * Appends the table with columns `all`, use_columns or access_columns. The columns about waits are left out if no read is
 * known to have waited.
 */
static void render(const struct io_rows *rows, const struct text_column *all, size_t n_all, enum table_format format,
		   const struct table_look *look, struct buf *out)
{
	struct column shown[COLUMNS];
	struct text_column c[COLUMNS];
	size_t n = 0;
	bool waits = any_waits(rows);
	for (size_t k = 0; k < n_all; k++)
		if (waits || (all[k].figure != C_READ_WAITS && all[k].figure != C_READ_WAITED))
			c[n++] = all[k];
	for (size_t k = 0; k < n; k++)
		shown[k] = (struct column){c[k].title, c[k].title, c[k].flags};
	struct table *t = table_new(shown, n);
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct run_io_file *f = &rows->list.v[i];
		auto_buf name = {0};
		if (all == access_columns && !is_uncommon(f))
			continue;
		table_row(t);
		io_short_name(f->name, format == TABLE_TEXT ? room_for_name(look) : SIZE_MAX, rows, &name);
		table_string(t, 0, buf_str(&name));
		for (size_t k = 1; k < n; k++)
			set_figure(t, k, c[k].figure, f);
	}
	table_render(t, format, look, out);
	table_free(t);
}

void io_render(const struct run *run, enum table_format format, const struct table_look *look, struct buf *out)
{
	size_t most = isnan(run->view.files) ? ROWS_USUAL : (size_t)run->view.files;
	struct io_rows rows = io_rows_make(&run->io, most);
	bool uncommon = false;
	for (size_t i = 0; i < rows.list.n; i++)
		uncommon |= is_uncommon(&rows.list.v[i]);
	render(&rows, use_columns, sizeof(use_columns) / sizeof(*use_columns), format, look, out);
	if (rows.left) {
		buf_adds(out, format == TABLE_MARKDOWN ? "\n" : "");
		count_human(out, rows.left);
		buf_adds(out, " more: --top=all\n");
	}
	if (uncommon) {
		buf_addc(out, '\n');
		render(&rows, access_columns, sizeof(access_columns) / sizeof(*access_columns), format, look, out);
	}
	io_rows_free(&rows);
}

static void add_files(struct page *p, const struct run_io *io)
{
	struct table *t = figures_table(columns, COLUMNS);
	for (size_t i = 0; i < io->files.n; i++) {
		table_row(t);
		for (int k = C_FILE; k < COLUMNS; k++)
			set_figure(t, (size_t)k, k, &io->files.v[i]);
	}
	page_add_part(p, "files", "Files, pipes and sockets", t, NULL);
}

/* For the picture of the offsets: the largest number of files in it (PANELS), and sizes in pixels. */
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
			svg_circle(out, axis_at(x, v[i].time_s), axis_at(y, v[i].offset), 1.8,
				   svg_class(SVG_FILL, series), NULL);
}

/*
 * Draws one file, starting at `top`. Returns its bottom, where the next file can be drawn. Returns `top` if there is
 * nothing to draw.
 */
static double draw_file(const struct run_io_file *f, double top, double width, struct buf *out)
{
	struct axis x, y;
	struct axis_range rx = AXIS_RANGE_EMPTY;
	struct axis_range ry = AXIS_RANGE_EMPTY;
	auto_buf name = {0};
	double low = top + HEAD_HEIGHT + PANEL_HEIGHT;
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
	return low + FOOT_HEIGHT;
}

static int draw_offsets(void *page, int width, struct buf *out)
{
	const struct page *p = page;
	const struct run_io *io = &p->runs[0].run->io;
	const struct chart_series legend[] = {{.name = "reads"}, {.name = "writes"}};
	struct chart_frame f = {"Offsets of requests in their file over time, with one mark for each request", NULL,
				"If a file has many requests, only a random sample of them is shown.", width};
	auto_buf body = {0};
	double right = frame_width(&f) - FRAME_MARGIN;
	double at = frame_top(&f);
	size_t drawn = 0;
	at += frame_legend(legend, 2, at, right, &body) + 8;
	for (size_t i = 0; i < io->files.n && drawn < PANELS; i++) {
		double next = draw_file(&io->files.v[i], at, frame_width(&f), &body);
		drawn += next > at;
		at = next;
	}
	if (!drawn) {
		return -EINVAL;
	}
	frame_finish(&f, &body, at, out);
	return 0;
}

static int draw_sizes(void *page, int width, struct buf *out)
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

/* Returns the file of that name in a run, or NULL. */
static const struct run_io_file *find_file(const struct run_io *io, const char *name)
{
	for (size_t i = 0; i < io->files.n; i++)
		if (strcmp(io->files.v[i].name ? io->files.v[i].name : "", name) == 0)
			return &io->files.v[i];
	return NULL;
}

/* Makes the table of several runs. Each figure has a column for each run. */
static struct table *several_table(struct page *p)
{
	static const struct column figures[] = {
		{"calls", "calls", COL_RIGHT | COL_SPARE},
		{"bytes", "bytes", COL_RIGHT | COL_OPTIONAL},
		{"time_s", "time", COL_RIGHT},
	};
	auto_free struct column *c = memory_zeroed(1 + 3 * p->n, sizeof(*c));
	c[0] = (struct column){"file", "file", COL_TAIL};
	for (size_t i = 0; i < 3 * p->n; i++) {
		struct buf key = {0};
		struct buf title = {0};
		const struct column *figure = &figures[i / p->n];
		buf_addf(&key, "%s_%zu", figure->key, i % p->n + 1);
		buf_addf(&title, "%s %s", figure->title, p->runs[i % p->n].label);
		c[1 + i].key = page_keep(p, &key);
		c[1 + i].title = page_keep(p, &title);
		c[1 + i].flags = figure->flags | (i % p->n ? COL_JOINED : 0);
	}
	struct table *t = table_new(c, 1 + 3 * p->n);
	return t;
}

static void several_row(struct table *t, const struct page *p, const char *name)
{
	for (size_t k = 0; k < p->n; k++) {
		const struct run_io_file *f = find_file(&p->runs[k].run->io, name);
		if (!f)
			continue;
		cell_count(t, 1 + k, f->calls, false);
		cell_bytes(t, 1 + p->n + k, f->read_bytes + f->written_bytes);
		cell_time(t, 1 + 2 * p->n + k, f->time_s, 1);
	}
}

/* The names of the rows of a table of several runs. */
struct row_names {
	const char *v[ROWS_USUAL];
	size_t n;
};

/* Collects the names of the files of all runs, each once. */
static struct row_names several_names(const struct page *p)
{
	struct row_names names = {.n = 0};
	for (size_t k = 0; k < p->n; k++)
		for (size_t i = 0; i < p->runs[k].run->io.files.n && names.n < ROWS_USUAL; i++) {
			const char *name = p->runs[k].run->io.files.v[i].name;
			bool shown = !name;
			for (size_t e = 0; e < k && !shown; e++)
				shown = find_file(&p->runs[e].run->io, name);
			if (!shown)
				names.v[names.n++] = name;
		}
	return names;
}

/* Displays the findings of a profile of files (--io). */
/* sctrace has fewer kinds of findings. A saved run that was edited may have more; the further kinds are not limited. */
#define KINDS_MAX 32
#define SHOWN_MAX 10 /* maximum number of findings of one kind in text, Markdown and HTML */

/* How many findings of each kind have been seen. */
struct seen {
	const char *kind[KINDS_MAX];
	size_t times[KINDS_MAX], n;
};

static bool are_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Counts the finding. Returns false if SHOWN_MAX findings of its kind have been seen before. */
static bool is_shown(struct seen *s, const struct run_io_finding *f)
{
	size_t k = 0;
	while (k < s->n && !are_equal(s->kind[k], f->kind))
		k++;
	if (k == KINDS_MAX)
		return true;
	s->n += k == s->n;
	s->kind[k] = f->kind;
	return s->times[k]++ < SHOWN_MAX;
}

/* Adds only the findings (page_io.c). */
static void page_add_io_findings(struct page *p)
{
	const struct run_io *io = &p->runs[0].run->io;
	struct buf *out = &page_section(p, SECTION_FINDINGS, "Findings", "")->text;
	struct seen seen = {0};
	size_t left = 0;
	for (size_t i = 0; i < io->findings.n; i++) {
		const struct run_io_finding *f = &io->findings.v[i];
		if (is_shown(&seen, f))
			buf_addf(out, "%s\n", f->text ? f->text : "");
		else
			left++;
	}
	if (left)
		buf_addf(out,
			 "%zu more finding%s not shown. Of each kind, only the %d with the largest saving are shown. "
			 "--format=json contains all of them.\n",
			 left, left == 1 ? " is" : "s are", SHOWN_MAX);
	if (!io->findings.n)
		buf_adds(out, "Nothing was found that could be improved.\n");
	else if (io->findings.n > 1)
		buf_adds(
			out,
			"Several findings may concern the same calls, so the total saving may be less than the sum.\n");
}

static bool has_finding(const struct run_io *io, const struct run_io_finding *f)
{
	for (size_t i = 0; i < io->findings.n; i++) {
		const struct run_io_finding *g = &io->findings.v[i];
		if (f->kind && are_equal(g->kind, f->kind) && are_equal(g->file, f->file))
			return true;
	}
	return false;
}

/* Appends the findings that the first of two runs has and the second one does not have, at most SHOWN_MAX of a kind. */
static void say_only(const struct page_run *has, const struct page_run *lacks, struct buf *out)
{
	struct seen seen = {0};
	size_t n = 0, left = 0;
	for (size_t i = 0; i < has->run->io.findings.n; i++) {
		const struct run_io_finding *f = &has->run->io.findings.v[i];
		if (has_finding(&lacks->run->io, f))
			continue;
		if (!is_shown(&seen, f)) {
			left++;
			continue;
		}
		if (!n++)
			buf_addf(out, "Only %s has these findings: ", has->label);
		else
			buf_adds(out, ", ");
		buf_adds(out, f->kind ? f->kind : "");
		if (f->file)
			buf_addf(out, " (%s)", f->file);
	}
	if (left)
		buf_addf(out, " and %zu more", left);
	buf_adds(out, n ? ".\n" : "");
}

static void page_add_several_io_findings(struct page *p)
{
	struct page_section *s = page_section(p, SECTION_FINDINGS, "Findings", "");
	for (size_t k = 1; k < p->n; k++) {
		say_only(&p->runs[0], &p->runs[k], &s->text);
		say_only(&p->runs[k], &p->runs[0], &s->text);
	}
}

void page_add_io(struct page *p)
{
	const struct run_io *io = &p->runs[0].run->io;
	add_files(p, io);
	page_add_io_findings(p);
	page_add_figure(p, "offsets", draw_offsets);
	page_add_figure(p, "sizes", draw_sizes);
}

void page_add_several_io(struct page *p)
{
	for (size_t k = 0; k < p->n; k++)
		if (!p->runs[k].run->io.known)
			return;
	struct table *t = several_table(p);
	struct row_names names = several_names(p);
	for (size_t i = 0; i < names.n; i++) {
		table_row(t);
		table_string(t, 0, names.v[i]);
		several_row(t, p, names.v[i]);
	}
	page_add_several_io_findings(p);
	page_add_part(p, "files", "Files, pipes and sockets", t, NULL);
}
