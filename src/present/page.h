/* SPDX-License-Identifier: MIT */
/*
 * A page shows one run or several to people. It consists of tables, pictures and sentences, and can be written as text,
 * Markdown, CSV, HTML or SVG. Each command that displays a run makes a page of it, so `sctrace report` displays a saved
 * run in the same way.
 */
#ifndef SCTRACE_PRESENT_PAGE_H
#define SCTRACE_PRESENT_PAGE_H

#include "base/buf.h"
#include "base/memory.h"
#include "out/table.h"
#include "run/run.h"

#include <stdbool.h>
#include <stddef.h>

/* The formats in which a page can be exported beside its output. Their names are those of page_render(). */
enum page_export { EXPORT_CSV, EXPORT_MARKDOWN, EXPORT_HTML, EXPORT_JSON, EXPORTS };

/* Options of all commands that produce a run: where the run is written, and how it is displayed. */
struct page_options {
	const char *format;                       /* NULL: text */
	const char *output, *save, *svg, *colour; /* paths of the output (NULL: standard output), the saved run and
						   * the picture (NULL: none); when to use colour (NULL: "auto") */
	const char *exports[EXPORTS];             /* paths of the exports; NULL: none */
	const char *time_unit;                    /* the unit of times in tables (TIME_UNITS); NULL: the one that suits
						   * each time */
};

/* A run and its label. */
struct page_run {
	const struct run *run;
	const char *label;
	const char *path;
};

/* A table. `key` is its name for programs ("summary"), and `heading` its title for people (NULL: none). */
struct page_part {
	const char *key;
	char *heading;
	struct table *table;
	const char *note; /* a sentence below the table, or NULL */
};

/* A list of sentences. */
struct page_section {
	const char *heading; /* printed in Markdown and HTML; printed in text only if there are several runs */
	const char *prefix;  /* printed before each sentence in text: "note: " */
	enum section_kind {
		SECTION_FINDINGS,
		SECTION_BEWARE,
		SECTION_NOTES,   /* how the figures were obtained; HTML has these below the first table */
		SECTION_REASONS, /* reasons for the figures; HTML has these at the end, and text only if page.reasons
				  * is set */
		SECTION_LINES,   /* lines that are printed unchanged directly below the table of -c */
	} kind;
	struct buf text;
};

struct page;

/*
 * A picture. `draw` appends one SVG of the given width (out/chart.h). It returns 0, or -EINVAL if there is nothing to
 * draw.
 */
struct page_figure {
	const char *name; /* part of the name of the picture's file: "x-NAME.svg" */
	int (*draw)(void *page, int width, struct buf *out);
};

struct page {
	struct page_run *runs; /* owned by the caller */
	size_t n;
	bool above_only_in_text; /* Markdown does not contain `above`, and begins with the table */
	struct buf title;        /* title of the HTML page */
	struct buf subtitle;
	struct buf above, alarm; /* `above`: the lines above the tables, such as the machine; `alarm`: a warning in
				  * red about a slow kernel */
	struct buf head;         /* how the figures were measured */
	bool reasons;            /* text and Markdown contain the sections of SECTION_REASONS */
	VEC(struct page_part) parts;
	VEC(struct page_section) sections;
	VEC(struct page_figure) figures;
	VEC(char *) strings; /* strings that page_keep() has stored, such as the titles of columns */
};

/* Fills in the page, which must be zeroed. The caller must call page_free(). */
void page_make(struct page *p, struct page_run *runs, size_t n);
/* Shows the times in all tables for people in `unit`, one of TIME_UNITS (base/size.h). */
void page_use_unit(struct page *p, const char *unit);
void page_free(struct page *p);

/*
 * Appends the page in `format`: "text", "markdown", "csv" or "html". "json" appends the tables for several runs as JSON,
 * even if there is only one run, and "samples" appends all samples as CSV.
 */
void page_render(struct page *p, const char *format, const struct table_look *look, struct buf *out);
/*
 * Appends the warnings, which are printed to standard error if the format has no place for them. Each line begins with
 * `prefix`.
 */
void page_say_warnings(const struct page *p, const char *prefix, struct buf *out);

/* Adds a table. This and the following functions are for code that fills a page. Takes ownership of `t`. */
void page_add_part(struct page *p, const char *key, const char *heading, struct table *t, const char *note);
/* Adds a section that contains `lines`, unless there are none. */
void page_add_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix,
		      const struct strings *lines);
/* Returns the section of this kind and heading, which is created if necessary. */
struct page_section *page_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix);
/* Adds a picture (struct page_figure). `name` must outlive the page. */
void page_add_figure(struct page *p, const char *name, int (*draw)(void *page, int width, struct buf *out));
/* Moves the string in `text` to the page, which frees it at the end. Returns the string. */
const char *page_keep(struct page *p, struct buf *text);

/* Functions that fill a page, one for each kind of run, and functions that they share. Only for present/. */

/* These fill the page of one run. */
void page_of_compare(struct page *p);
void page_of_test(struct page *p);  /* for one test of `sctrace bench` */
void page_of_bench(struct page *p); /* for `sctrace bench` without a test */
void page_of_count(struct page *p);
/* These fill the page of several runs of one kind. */
void page_of_several(struct page *p);
void page_of_several_counts(struct page *p);

/* Adds the table of the paths (--files). */
void page_add_files(struct page *p);
/* Adds the table of the processes (--tree), and says where a failure began. */
void page_add_tree(struct page *p);
/* Adds the tables and the findings of --io for one run. */
void page_add_io(struct page *p);
/*
 * Adds a table of the files of several runs, and the findings that only one of these runs has. Adds nothing unless all
 * runs have a profile.
 */
void page_add_several_io(struct page *p);
/* Appends the table of the files in the profile of a run as text or Markdown. */
void io_render(const struct run *run, enum table_format format, const struct table_look *look, struct buf *out);

/* The rows of the tables of --io, and the names of the files in them (io_rows.c). */

/* The rows of a table. The members of a row that are pointers are owned by the profile. */
struct io_rows {
	VEC(struct run_io_file) list;
	VEC(char *) names; /* those of the rows that stand for several pipes */
	size_t left;       /* number of rows that are not shown */
};

/*
 * Collects the rows: the files that took the most time. `most` is their number; 0: all files, and a row for each pipe.
 * The profile must outlive the rows. Free them with io_rows_free().
 */
struct io_rows io_rows_make(const struct run_io *io, size_t most);
void io_rows_free(struct io_rows *rows);
/*
 * Appends the end of the name, or all of it if it has at most `room` bytes. A last component that is too long loses its
 * middle. If other rows would look the same, shows the part before the end that they share and only little of the end:
 * "…/typing…pyc" and "…ipaddress…pyc". Does not show a part of a folder's name if the rest is enough.
 */
void io_short_name(const char *name, size_t room, const struct io_rows *rows, struct buf *out);

/* Describe the machine on which a run was made (differences.c). */

/*
 * Appends one line without a newline, such as "Linux 6.12.1, PREEMPT_DYNAMIC (voluntary), 2 x Intel ..., in a virtual
 * machine (KVM)".
 */
void machine_line(const struct env *e, struct buf *out);
/* Appends a warning if the kernel was built with debugging options that make it slower. */
void machine_alarm(const struct env *e, struct buf *out);
/*
 * Returns the machines of all runs: "vanilla, rt: Linux 6.1.0, a CPU; kvm: ...". For a single run, returns the line of
 * machine_line(). The page owns the string.
 */
const char *machine_subtitle(struct page *p);
/*
 * Appends an HTML table in a <details> element, with a column for the machine of each run. Rows whose values differ are
 * marked.
 */
void machine_html(const struct page_run *runs, size_t n, struct buf *out);
/* Appends how the page was made: the version, the date and the command of each run. */
void page_footer(const struct page *p, struct buf *out);
/* Appends the command of the run, with quotes where a shell needs them. */
void machine_command(const struct run *r, struct buf *out);

/* For a page of several runs: fills in its title, the lines above its tables, and its notes. */
void differences_fill(struct page *p);

/*
 * Adds the tables of bench sched for the subjects whose member `test` equals the argument `test`, or for all subjects
 * if `test` is NULL.
 */
void page_add_sched(struct page *p, const char *test);

/* These draw the pictures (out/chart.h). `page` is a struct page. */
int draw_boxes(void *page, int width, struct buf *out);
int draw_scan(void *page, int width, struct buf *out);
int draw_compare(void *page, int width, struct buf *out);
int draw_tradeoff(void *page, int width, struct buf *out);
int draw_latencies(void *page, int width, struct buf *out);
int draw_progress(void *page, int width, struct buf *out);
int draw_loads(void *page, int width, struct buf *out);

/*
 * The figures of subjects, and the cells of tables, so that all tables show times, sizes and counts in the same style.
 * Only for present/.
 */

/*
 * Sets a cell to a time. NAN leaves the cell empty. `scale` is the number of the column's units in a second: 1e9 if the
 * key of the column ends with _ns.
 */
void cell_time(struct table *t, size_t col, double seconds, double scale);
/*
 * Like cell_time(), but if the time is below `resolution` seconds, the smallest time that the method can measure, the
 * cell shows an upper limit, such as "<30.0 ns".
 */
void cell_time_above(struct table *t, size_t col, double seconds, double resolution, double scale);
/* Sets a cell to a number of bytes, shown with a unit. NAN leaves the cell empty. */
void cell_bytes(struct table *t, size_t col, double bytes);
/*
 * Sets a cell to a count, shown with commas. If `star` is set, appends a star, which means that only a part of the
 * input was counted.
 */
void cell_count(struct table *t, size_t col, double n, bool star);
/* Sets a cell to a factor, shown with three significant digits. NAN leaves the cell empty. */
void cell_factor(struct table *t, size_t col, double x);
/* Sets a cell to a share from 0 to 1, shown in percent. NAN leaves the cell empty. */
void cell_share(struct table *t, size_t col, double share);
/* Sets the cells of the metrics `names` (--metric), from column `col` on, to their medians. */
void cell_metrics(struct table *t, size_t col, const struct strings *names, const struct run_subject *s);
/* Sets a cell to a number that is shown by `fmt`, a format of printf(3) for one double. */
void cell_printf(struct table *t, size_t col, double x, const char *fmt);
/* Sets a cell to a number: `value` in CSV and JSON, and the text `shown` in the formats for people. Frees `shown`. */
void cell_real(struct table *t, size_t col, double value, struct buf *shown);

/* How a cell shows a member of a struct: a double, or a string for FORM_TEXT. Unknown members leave the cell empty. */
enum figure_form {
	FORM_OWN,  /* the code that fills the table sets the cell */
	FORM_TIME, /* these are shown by cell_time(), cell_bytes(), and so on */
	FORM_NS,   /* like FORM_TIME, but the member is in ns */
	FORM_BYTES,
	FORM_COUNT,
	FORM_INTEGER,
	FORM_REAL,
	FORM_TEXT,
};

/* A column of a table whose rows show structs of one type. */
struct figure_column {
	const char *key, *title;
	unsigned flags;
	enum figure_form form;
	size_t at;    /* offset of the member */
	double scale; /* of times: the number of the column's units in a second; 0: 1 */
};

/* Creates a table of these columns. */
struct table *figures_table(const struct figure_column *columns, size_t n);
/* Sets the cell in column `col` of the current row to the member of `object` that `c` describes. */
void figure_cell(struct table *t, size_t col, const struct figure_column *c, const void *object);
/* Begins a row, and sets its cells to the members of `object`, except those of FORM_OWN. */
void figures_row(struct table *t, const struct figure_column *columns, size_t n, const void *object);

/* The offset of a member of struct run_subject, for figure_of(). The member must be a double. */
#define FIGURE(member)  offsetof(struct run_subject, member)
#define FIGURE_PEAK_RSS FIGURE(judged.of[METRIC_PEAK_RSS].median)
/* Returns the member of `s` at this offset. Returns NAN for a peak RSS of zero, which means that it is unknown. */
double figure_of(const struct run_subject *s, size_t member);
/*
 * Like figure_of(), but returns NAN for a number of calls that were counted for only a part of the input, because it
 * cannot be compared with counts for all of the input.
 */
double figure_drawn(const struct run_subject *s, size_t member);

#endif
