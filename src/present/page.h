/*
 * A page shows one run or several to people. It consists of tables, pictures and sentences, and can be written as text,
 * Markdown, CSV, HTML or SVG. Each command that displays a run makes a page of it, so `sctrace report` displays a saved
 * run in the same way.
 */
#ifndef SCTRACE_PRESENT_PAGE_H
#define SCTRACE_PRESENT_PAGE_H

#include "base/buf.h"
#include "base/vec.h"
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

#endif
