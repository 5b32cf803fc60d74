/* Saves, prints and draws a run. All commands that produce a run use this. */
#ifndef SCTRACE_CMD_DISPLAY_H
#define SCTRACE_CMD_DISPLAY_H

#include "present/page.h"

/* Returns the look of text at its destination. If that is a file, there is no limit of the width and no colour. */
struct table_look display_look(const struct page_options *o);
/*
 * Must be called before anything is measured. Checks that the files o->output, o->save and o->svg can be written, but
 * does not create them. Returns 0, or EXIT_OWN after a message.
 */
int display_check(const char *command, const struct page_options *o);
/*
 * Prints the page to o->output and draws its pictures. The first picture is written to o->svg, and the others to files
 * beside it ("x-boxes.svg"). Returns 0, or EXIT_OWN after messages, which begin with `command`.
 */
int display_page(struct page *p, const char *command, const struct page_options *o);
/*
 * Saves the run and displays it. The text is made from the saved form, so that `sctrace report` prints the same.
 * Returns 0, or EXIT_OWN after messages.
 */
int display_run(const struct run *r, const char *command, const struct page_options *o);
/*
 * Appends what `sctrace report` would print for the saved run in `format`; "json" is the saved run itself. Returns 0 or
 * -ENOMEM.
 */
int display_run_into(const struct run *r, const char *format, const struct table_look *look, struct buf *out);

#endif
