/* `sctrace report`: saved runs, one or several side by side. */
#include "cmd/report/report.h"

#include "base/diag.h"
#include "base/outfile.h"
#include "cli/opt.h"
#include "cmd/cmd.h"
#include "cmd/put.h"
#include "out/term.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AT(field) .offset = offsetof(struct report_options, field)

static const struct opt table[] = {
	{.help = "What is shown"},
	{0, "merge", NULL, opt_flag, "pool runs of the same thing on one machine into one", AT(merge)},
	{.help = "Output"},
	{0, "format", "FORMAT", opt_word, "text, csv, markdown, json or html (text)", AT(format),
	 .complete = COMPLETE_WORDS, .words = "text csv markdown json html"},
	{'o', "output", "FILE", opt_string, "write to FILE", AT(output), .complete = COMPLETE_FILE},
	{0, "svg", "FILE", opt_svg, "draw the picture; further ones beside it", AT(svg), .complete = COMPLETE_FILE},
	{0, "names", "A,B,...", opt_string, "what the runs are called (their files' names)", AT(names)},
	{0, "color", "WHEN", opt_word, "auto, always or never (auto)", AT(colour), .complete = COMPLETE_WORDS,
	 .words = "auto always never"},
	{0},
};

static const char *const usage[] = {"[OPTIONS] RUN.json...", NULL};

const struct opt_command report_command = {
	.name = "sctrace report",
	.usage = usage,
	.about =
		"Shows a saved run, or compares several, of several machines too: tables, ratios with their intervals, "
		"and in words where the machines differ.",
	.table = table,
	.epilog = "The first run is what the others are compared with. Runs are saved by --save of sctrace -c, compare "
		  "and "
		  "bench. See sctrace-report(1), sctrace-run(5).",
};

/* 0 and what was asked for, or -1: end at once with *status. */
static int parse(struct report_options *o, int argc, char **argv, int *first, int *status)
{
	struct buf text = {0};
	enum opt_outcome outcome = opt_parse(&report_command, o, argc, argv, first, &text);
	*status = 0;
	if (outcome == OPT_HELP) {
		struct table_look look = term_look(STDOUT_FILENO);
		opt_help(&report_command, &text, look.width ? look.width : 80, look.colour);
		*status = put_text(NULL, &text);
	} else if (outcome == OPT_VERSION) {
		*status = put_version();
	} else if (outcome == OPT_ERROR) {
		diag_error("report: %s", buf_str(&text));
		*status = EXIT_USAGE;
	} else if (*first == argc) {
		diag_error("report: which saved run? Name one or more files, as made by --save");
		*status = EXIT_USAGE;
	}
	buf_free(&text);
	return outcome == OPT_OK && !*status ? 0 : -1;
}

static int out_of_memory(void)
{
	diag_error("report: out of memory");
	return EXIT_OWN;
}

/* The first picture goes to `path`, the others beside it: "x.svg", "x-boxes.svg". */
static int draw(struct report *r)
{
	const char *path = r->opt.svg;
	int status = 0;
	if (!r->figures.n) {
		diag_error("report: nothing in these runs can be drawn");
		return EXIT_OWN;
	}
	for (size_t i = 0; i < r->figures.n && !status; i++) {
		size_t stem = strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".svg") == 0 ? strlen(path) - 4
											       : strlen(path);
		struct buf name = {0};
		struct buf picture = {0};
		buf_add(&name, path, stem);
		if (i)
			buf_addf(&name, "-%s", r->figures.v[i].name);
		buf_adds(&name, path + stem);
		if (r->figures.v[i].draw(r, CHART_WIDE, &picture) < 0 || name.failed)
			status = out_of_memory();
		else
			status = put_text(buf_str(&name), &picture);
		buf_free(&name);
		buf_free(&picture);
	}
	return status;
}

static int show(struct report *r)
{
	struct buf text = {0};
	struct table_look look = r->opt.output ? (struct table_look){0} : term_look(STDOUT_FILENO);
	if (r->opt.colour && strcmp(r->opt.colour, "auto") != 0)
		look.colour = strcmp(r->opt.colour, "always") == 0;
	int rc = strcmp(r->kind, "count") == 0 ? report_calls(r) : report_samples(r);
	if (rc == 0)
		rc = report_add_figures(r);
	if (rc == 0)
		rc = report_render(r, &look, &text);
	int status = rc < 0 ? out_of_memory() : put_text(r->opt.output, &text);
	int drawn = rc == 0 && r->opt.svg ? draw(r) : 0;
	buf_free(&text);
	return status ? status : drawn;
}

int cmd_report(int argc, char **argv)
{
	struct report r = {0};
	struct buf why = {0};
	int first;
	int status;
	outfile_catch_signals();
	if (parse(&r.opt, argc, argv, &first, &status) < 0)
		return status;
	int rc = report_load(&r, argv + first, (size_t)(argc - first), &why);
	/* In CSV each observation names its run: nothing is gained by hiding that. */
	if (rc == 0 && r.opt.merge && (!r.opt.format || strcmp(r.opt.format, "csv") != 0))
		rc = report_merge(&r, &why);
	if (rc == 0)
		status = show(&r);
	else if (rc == -ENOMEM)
		status = out_of_memory();
	else {
		diag_error("report: %s", buf_str(&why));
		status = rc == -ERANGE ? EXIT_USAGE : EXIT_UNREADABLE;
	}
	report_free(&r);
	buf_free(&why);
	return status;
}
