/* Saves, prints and draws a run, for all commands that have one. */
#ifndef SCTRACE_CMD_DISPLAY_H
#define SCTRACE_CMD_DISPLAY_H

#include "present/page.h"

/* The look of text at its destination: a file has no width and no colour. */
struct table_look display_look(const struct page_options *o);
/*
 * Before anything is measured: checks that the files of o->output, o->save and o->svg can be written, without creating
 * them. Returns 0, or EXIT_OWN after a message.
 */
int display_check(const char *command, const struct page_options *o);
/*
 * Prints the page to o->output and draws its pictures: the first to o->svg, further ones beside it ("x-boxes.svg").
 * Returns 0, or EXIT_OWN after messages that begin with `command`.
 */
int display_page(struct page *p, const char *command, const struct page_options *o);
/*
 * Saves the run, and shows the contents of that file, so that `sctrace report` of it prints the same. Returns 0, or
 * EXIT_OWN after messages.
 */
int display_run(const struct run *r, const char *command, const struct page_options *o);
/* Appends what `sctrace report` would print of the run's file in `format` ("json": the file itself). 0 or -ENOMEM. */
int display_run_into(const struct run *r, const char *format, const struct table_look *look, struct buf *out);

#endif
