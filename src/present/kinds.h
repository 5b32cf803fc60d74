/* How each kind of run fills a page, and what its files share. Private to present/. */
#ifndef SCTRACE_PRESENT_KINDS_H
#define SCTRACE_PRESENT_KINDS_H

#include "present/page.h"

/* Each fills the page of one run: 0 or -ENOMEM. */
int page_of_compare(struct page *p);
int page_of_syscall(struct page *p);
int page_of_switch(struct page *p);
int page_of_sched(struct page *p);
int page_of_latency(struct page *p);
int page_of_load(struct page *p);
int page_of_bench(struct page *p); /* the short form of all tests */
int page_of_count(struct page *p);
/* Of any number of runs of one kind. */
int page_of_several(struct page *p);
int page_of_several_counts(struct page *p);

/* Fills the title, the lines above the tables, and what the reader must know of several runs. */
void differences_fill(struct page *p);

/* Adds the tables of each test, of the subjects whose `test` is that (NULL: all). */
int add_syscall_tables(struct page *p, const char *test);
int add_switch_tables(struct page *p, const char *test);
int add_sched_tables(struct page *p, const char *test);
int add_latency_tables(struct page *p, const char *test);
int add_load_tables(struct page *p, const char *test);

/* Appends a part in `format`; the calls of -c are shown by out/summary_table.h. */
int part_render(const struct page *p, const struct page_part *part, enum table_format format,
		const struct table_look *look, struct buf *out);
/* Appends what stands below the table of -c: errors, a histogram, the lines of the run. */
void below_calls(const struct page *p, const struct table_look *look, struct buf *out);
/* Tidy CSV: one observation a row. */
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

#endif
