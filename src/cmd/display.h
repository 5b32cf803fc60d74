/* SPDX-License-Identifier: MIT */
/* Saves, prints and draws a run. All commands that produce a run use this. */
#ifndef SCTRACE_CMD_DISPLAY_H
#define SCTRACE_CMD_DISPLAY_H

#include "base/size.h"
#include "cli/opt.h"
#include "present/page.h"

#include <stdbool.h>
#include <stddef.h>

/* The options for the output of a run. `settings` is a struct with a member `show`, which is a struct page_options. */
#define DISPLAY_OPTIONS(settings)                                                                                      \
	{DISPLAY_FORMAT(settings)}, {DISPLAY_OUTPUT(settings)}, {DISPLAY_SAVE(settings)},                              \
		{0, "svg", "FILE", opt_svg, "draw the result", offsetof(settings, show.svg), COMPLETE_FILE},           \
		DISPLAY_EXPORTS(settings), {DISPLAY_UNIT(settings)},                                                   \
	{                                                                                                              \
		DISPLAY_COLOUR(settings)                                                                               \
	}
#define DISPLAY_EXPORT(settings, name, help, index)                                                                    \
	{                                                                                                              \
		0, name, "FILE", opt_string, help, offsetof(settings, show.exports[index]), COMPLETE_FILE              \
	}
#define DISPLAY_EXPORTS(settings)                                                                                      \
	DISPLAY_EXPORT(settings, "export-csv", "also write the result as CSV to FILE", EXPORT_CSV),                    \
		DISPLAY_EXPORT(settings, "export-markdown", "also write it as Markdown to FILE", EXPORT_MARKDOWN),     \
		DISPLAY_EXPORT(settings, "export-html", "also write it as a web page to FILE", EXPORT_HTML),           \
		DISPLAY_EXPORT(settings, "export-json", "also write it as JSON to FILE", EXPORT_JSON)
#define DISPLAY_UNIT(settings)                                                                                         \
	'u', "time-unit", "UNIT", opt_word,                                                                            \
		"the unit of all times in tables: s, ms, us or ns (default: the one that suits each time)",            \
		offsetof(settings, show.time_unit), COMPLETE_WORDS, TIME_UNITS
/* The values of these rows, for commands that have only some of them. */
#define DISPLAY_FORMAT(settings)                                                                                       \
	0, "format", "FORMAT", opt_word, "text (default), csv, markdown, html, or json: the saved run",                \
		offsetof(settings, show.format), COMPLETE_WORDS, "text csv markdown html json"
#define DISPLAY_OUTPUT(settings)                                                                                       \
	'o', "output", "FILE", opt_string, "write the result to FILE instead of standard output",                      \
		offsetof(settings, show.output), COMPLETE_FILE
#define DISPLAY_SAVE(settings)                                                                                         \
	0, "save", "FILE", opt_string, "save the run with every sample, for sctrace report",                           \
		offsetof(settings, show.save), COMPLETE_FILE
#define DISPLAY_COLOUR(settings)                                                                                       \
	0, "color", "WHEN", opt_word, "auto, always or never (default: auto)", offsetof(settings, show.colour),        \
		COMPLETE_WORDS, "auto always never"

/*
 * Returns true if the report is written to standard output in a format that other text would make invalid. An option
 * that lets other programs write there is then refused with the message DISPLAY_MIXED.
 */
bool display_is_data(const struct page_options *o);
#define DISPLAY_MIXED                                                                                                  \
	"--show-output would mix the output of the command with the report, whose format does not permit this; "       \
	"write the report to a file with -o"
/* Returns the width (in a file: no limit) and the colours (in a file: none) for the text of the output. */
struct table_look display_look(const struct page_options *o);
/*
 * Must be called before anything is measured or read. Checks that all output files of `o` can be written, but does not
 * create them. Checks that they are different files, and not one of the `inputs` (a list that ends with NULL, or NULL),
 * and that no further picture of o->svg has the name of one of these files. Returns 0, or an exit status after a
 * message.
 */
int display_check(const char *command, const struct page_options *o, char *const *inputs);
/*
 * Prints the page to o->output, writes its exports, and draws its pictures. The first picture is written to o->svg, and
 * the others to files beside it ("x-boxes.svg"). Returns 0, or EXIT_OWN after messages, which begin with `command`.
 */
int display_page(struct page *p, const char *command, const struct page_options *o);
/* Saves the run, and displays its saved form as `sctrace report` does. Returns 0, or EXIT_OWN after messages. */
int display_run(const struct run *r, const char *command, const struct page_options *o);
/* Appends what `sctrace report` would print for the saved run in `format`; "json" is the saved run itself. */
void display_run_into(const struct run *r, const char *format, const struct table_look *look, struct buf *out);

/* The files that a command reads and its arguments name. "-" stands for standard input. */

/* Returns a message if standard input cannot be read as these arguments say, or NULL. `paths` ends with NULL. */
const char *display_input_refused(char *const *paths);
/* Returns a path by which the file can be found: "/dev/stdin" for "-". */
const char *display_input_path(const char *path);

/* Writes the result of a command. */

/* Writes `text` to the file `path`, or to standard output if `path` is NULL. Returns 0, or EXIT_OWN after a message. */
int display_text(const char *path, const struct buf *text);

/* Prints each line of `text` as an error that begins with `prefix`. */
void display_errors(const char *prefix, const struct buf *text);

/* Prints the first line of `text` as an error, and the others, such as one that shows the wrong word, below it. */
void display_usage_error(const char *prefix, const char *text);

/*
 * Does what the result of opt_parse() asks for: writes the help text of `c` or "sctrace 1.2.3" to standard output, or
 * prints `why` as display_usage_error() does, with a reference to the help text if `why` has one line. Returns the exit
 * status, which is 0 for OPT_OK. The help text is wrapped to the width of the terminal, or to that in the environment
 * variable COLUMNS, or to 80 columns.
 */
int display_outcome(const struct opt_command *c, enum opt_outcome outcome, const char *prefix, const struct buf *why);

#endif
