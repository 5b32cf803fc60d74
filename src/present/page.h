/*
 * What a run, or several, look like: a page of tables, pictures and sentences, which is then written as text, Markdown,
 * CSV, HTML or SVG. Every command that shows a run does it by this, so that `sctrace report` shows what they showed.
 */
#ifndef SCTRACE_PRESENT_PAGE_H
#define SCTRACE_PRESENT_PAGE_H

#include "base/buf.h"
#include "base/vec.h"
#include "out/table.h"
#include "run/run.h"

#include <stdbool.h>
#include <stddef.h>

/* Where a run goes and how: options of every command that has one. */
struct page_options {
	const char *format;                       /* NULL: text */
	const char *output, *save, *svg, *colour; /* paths; NULL: standard output, nothing, nothing, "auto" */
};

/* A run, and what it is called beside others. */
struct page_run {
	const struct run *run;
	const char *label;
	const char *path;
};

/* A table under the name that programs find it by ("summary") and the heading that people do (NULL: none). */
struct page_part {
	const char *key;
	char *heading;
	struct table *table;
	const char *note; /* a sentence below it, or NULL */
};

/* Sentences, one a line. */
struct page_section {
	const char *heading; /* in Markdown and HTML, and in text beside other runs */
	const char *prefix;  /* of each sentence in text: "note: " */
	enum section_kind {
		SECTION_FINDINGS,
		SECTION_BEWARE,
		SECTION_NOTES,   /* how the figures came about: below the first table in HTML */
		SECTION_REASONS, /* at the end in HTML; in text where page.reasons says so */
		SECTION_LINES,   /* lines of text as they are, right below the table: those of -c */
	} kind;
	struct buf text;
};

struct page;

/* A picture; `draw` appends one SVG of a width (out/chart.h): 0, -EINVAL: there is nothing to draw, -ENOMEM. */
struct page_figure {
	const char *name; /* goes into the name of its file: "x-NAME.svg" */
	int (*draw)(void *page, int width, struct buf *out);
};

struct page {
	struct page_run *runs; /* the caller's */
	size_t n;
	bool title_only_in_text; /* `above` is; Markdown begins with the table */
	struct buf title;        /* HTML's; and the line above compare's table */
	struct buf subtitle;
	struct buf above, alarm; /* the machine, and in red what makes its figures worthless */
	struct buf head;         /* how it was measured */
	bool reasons;            /* are shown in text */
	VEC(struct page_part) parts;
	VEC(struct page_section) sections;
	VEC(struct page_figure) figures;
	VEC(char *) strings; /* titles of columns that were made up for it */
};

/* Fills the zero-initialised page; 0 or -ENOMEM; page_free() either way. */
int page_make(struct page *p, struct page_run *runs, size_t n);
/* The same with the tables of several runs, also for one: what --format=json has. */
int page_make_tables(struct page *p, struct page_run *runs, size_t n);
void page_free(struct page *p);

/* "text", "markdown", "csv", "html"; "json": the tables; "samples": every sample. Appends; 0 or -ENOMEM. */
int page_render(struct page *p, const char *format, const struct table_look *look, struct buf *out);
/* Warnings for standard error beside a format that has no place for them. */
void page_say_warnings(const struct page *p, const char *prefix, struct buf *out);

/* For those who fill a page. Takes over `t`. 0, or -ENOMEM (NULL given, too). */
int page_add_part(struct page *p, const char *key, const char *heading, struct table *t, const char *note);
/* A section of strings; none where there are none. `suffix` ends each sentence. */
void page_add_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix,
		      const struct strings *lines);
/* The section of that kind and heading, made at first use; NULL: memory ran out. */
struct page_section *page_section(struct page *p, enum section_kind kind, const char *heading, const char *prefix);
void page_add_figure(struct page *p, const char *name, int (*draw)(void *page, int width, struct buf *out));
/* Keeps a string for as long as the page; "" where memory ran out. */
const char *page_keep(struct page *p, struct buf *text);

#endif
