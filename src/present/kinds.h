/* The functions that fill a page for each kind of run, and what their files share. Private to present/. */
#ifndef SCTRACE_PRESENT_KINDS_H
#define SCTRACE_PRESENT_KINDS_H

#include "present/page.h"

/* Each fills the page of one run. Returns 0 or -ENOMEM. */
int page_of_compare(struct page *p);
int page_of_syscall(struct page *p);
int page_of_switch(struct page *p);
int page_of_sched(struct page *p);
int page_of_latency(struct page *p);
int page_of_load(struct page *p);
int page_of_bench(struct page *p); /* the short form of all tests */
int page_of_count(struct page *p);
/* For any number of runs of one kind. */
int page_of_several(struct page *p);
int page_of_several_counts(struct page *p);

/* Adds the tables and findings of --io of one run. */
int page_add_io(struct page *p);
/* Adds a table of the files of several runs, and which findings only one has. Nothing unless all have a profile. */
int page_add_several_io(struct page *p);
/* Appends its table of files as text or Markdown. */
int io_render(const struct run_io *io, enum table_format format, const struct table_look *look, struct buf *out);

/* Fills in the title, the lines above the tables, and the notes on several runs. */
void differences_fill(struct page *p);

/* Adds the tables of each test, with the subjects whose `test` is equal (NULL: all). */
int add_syscall_tables(struct page *p, const char *test);
int add_switch_tables(struct page *p, const char *test);
int add_sched_tables(struct page *p, const char *test);
int add_latency_tables(struct page *p, const char *test);
int add_load_tables(struct page *p, const char *test);

/* Appends a part in `format`; out/summary_table.h shows the calls of -c. */
int part_render(const struct page *p, const struct page_part *part, enum table_format format,
		const struct table_look *look, struct buf *out);
/* Appends what follows the table of -c: errors, a histogram, the lines of the run. */
void below_calls(const struct page *p, const struct table_look *look, struct buf *out);
/* Tidy CSV: one observation in each row. */
int samples_csv(const struct page *p, struct buf *out);

/* The pictures (out/chart.h); ctx is the page. */
int draw_boxes(void *page, int width, struct buf *out);
int draw_scan(void *page, int width, struct buf *out);
int draw_compare(void *page, int width, struct buf *out);
int draw_tradeoff(void *page, int width, struct buf *out);
int draw_latencies(void *page, int width, struct buf *out);
int draw_progress(void *page, int width, struct buf *out);
int draw_loads(void *page, int width, struct buf *out);
int draw_calls(void *page, int width, struct buf *out);
int draw_io_offsets(void *page, int width, struct buf *out);
int draw_io_sizes(void *page, int width, struct buf *out);

#endif
