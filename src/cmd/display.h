/* How every command that has a run shows it: saves, prints, draws. */
#ifndef SCTRACE_CMD_DISPLAY_H
#define SCTRACE_CMD_DISPLAY_H

#include "present/page.h"

/* How text looks where it goes: a file has no width and no colour. */
struct table_look display_look(const struct page_options *o);
/*
 * Before anything is measured: can what o->output, o->save and o->svg name be written? 0, or EXIT_OWN after a message. Nothing
 * is made.
 */
int display_check(const char *command, const struct page_options *o);
/*
 * Prints the page to o->output and draws its pictures: the first to o->svg, further ones beside it ("x-boxes.svg"). 0, or
 * EXIT_OWN after messages, which begin with `command`.
 */
int display_page(struct page *p, const char *command, const struct page_options *o);
/* Saves the run, and shows what the file holds: `sctrace report` of it prints the same. 0 or EXIT_OWN after messages. */
int display_run(const struct run *r, const char *command, const struct page_options *o);

#endif
