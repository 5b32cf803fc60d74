/*
 * A run, or several, for people: a page of tables, pictures and sentences, which is then written as text, Markdown,
 * CSV, HTML or SVG. All commands that show a run use it, so that `sctrace report` shows the same as they did.
 */
#ifndef SCTRACE_PRESENT_PAGE_H
#define SCTRACE_PRESENT_PAGE_H

#include "base/buf.h"
#include "base/vec.h"
#include "out/table.h"
#include "run/run.h"

#include <stdbool.h>
#include <stddef.h>

/* The destination and look of a run: options of all commands that have one. */
struct page_options {
	const char *format;                       /* NULL: text */
	const char *output, *save, *svg, *colour; /* paths; NULL: standard output, nothing, nothing, "auto" */
};

/* A run and its label. */
struct page_run {
	const struct run *run;
	const char *label;
	const char *path;
};

/* A table with the name for programs ("summary"), and its heading for people (NULL: none). */
struct page_part {
	const char *key;
	char *heading;
	struct table *table;
	const char *note; /* a sentence below it, or NULL */
};

/* Sentences, one a line. */
struct page_section {
	const char *heading; /* in Markdown and HTML, and in text if there are several runs */
	const char *prefix;  /* before each sentence in text: "note: " */
	enum section_kind {
		SECTION_FINDINGS,
		SECTION_BEWARE,
		SECTION_NOTES,   /* how the figures were obtained: below the first table in HTML */
		SECTION_REASONS, /* at the end in HTML; in text if page.reasons is set */
		SECTION_LINES,   /* lines of text, unchanged, directly below the table: those of -c */
	} kind;
	struct buf text;
};

struct page;

/*
 * A picture. `draw` appends one SVG of the given width (out/chart.h) and returns 0, -EINVAL if there is nothing to
 * draw, or -ENOMEM.
 */
struct page_figure {
	const char *name; /* part of its file's name: "x-NAME.svg" */
	int (*draw)(void *page, int width, struct buf *out);
};

struct page {
	struct page_run *runs; /* owned by the caller */
	size_t n;
	bool title_only_in_text; /* `above` is; Markdown begins with the table */
	struct buf title;        /* of the HTML page, and the line above compare's table */
	struct buf subtitle;
	struct buf above, alarm; /* the machine; in red, what makes its figures worthless */
	struct buf head;         /* how it was measured */
	bool reasons;            /* the reasons are shown in text */
	VEC(struct page_part) parts;
	VEC(struct page_section) sections;
	VEC(struct page_figure) figures;
	VEC(char *) strings; /* generated titles of columns */
};

/* Fills the zeroed page. Returns 0 or -ENOMEM. Call page_free() in either case. */
int page_make(struct page *p, struct page_run *runs, size_t n);
/* The same with the tables for several runs, also for a single one: the contents of --format=json. */
int page_make_tables(struct page *p, struct page_run *runs, size_t n);
void page_free(struct page *p);

/*
 * Appends the page as "text", "markdown", "csv" or "html"; "json" means the tables, "samples" all samples. Returns 0 or
 * -ENOMEM.
 */
int page_render(struct page *p, const char *format, const struct table_look *look, struct buf *out);
/* Warnings for standard error, for formats that have no place for them. */
void page_say_warnings(const struct page *p, const char *prefix, struct buf *out);

/* For code that fills a page. Takes ownership of `t`. Returns 0, or -ENOMEM (also if `t` is NULL). */
int page_add_part(struct page *p, const char *key, const char *heading, struct table *t, const char *note);
/* Adds a section of strings, unless there are none. `suffix` ends each sentence. */
void page_add_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix,
		      const struct strings *lines);
/* The section of that kind and heading, created if needed. NULL if memory ran out. */
struct page_section *page_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix);
void page_add_figure(struct page *p, const char *name, int (*draw)(void *page, int width, struct buf *out));
/* Keeps a string as long as the page. Returns "" if memory ran out. */
const char *page_keep(struct page *p, struct buf *text);

#endif
