/* Functions that fill a page, one for each kind of run, and functions that they share. Only for present/. */
#ifndef SCTRACE_PRESENT_KINDS_H
#define SCTRACE_PRESENT_KINDS_H

#include "present/page.h"

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
/* Adds only the findings (findings.c). */
void page_add_io_findings(struct page *p);
void page_add_several_io_findings(struct page *p);
/* Appends the table of the files in the profile of a run as text or Markdown. */
void io_render(const struct run *run, enum table_format format, const struct table_look *look, struct buf *out);

/* For a page of several runs: fills in its title, the lines above its tables, and its notes. */
void differences_fill(struct page *p);

/*
 * Adds the tables of bench sched for the subjects whose member `test` equals the argument `test`, or for all subjects
 * if `test` is NULL.
 */
void add_sched_tables(struct page *p, const char *test);

/* Appends all samples as CSV, with one sample in each row. */
void samples_csv(struct page *p, struct buf *out);

/* These draw the pictures (out/chart.h). `page` is a struct page. */
int draw_boxes(void *page, int width, struct buf *out);
int draw_scan(void *page, int width, struct buf *out);
int draw_compare(void *page, int width, struct buf *out);
int draw_tradeoff(void *page, int width, struct buf *out);
int draw_latencies(void *page, int width, struct buf *out);
int draw_progress(void *page, int width, struct buf *out);
int draw_loads(void *page, int width, struct buf *out);

#endif
