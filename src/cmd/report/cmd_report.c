/* SPDX-License-Identifier: MIT */
#include "cmd/report/cmd_report.h"

#include "base/diag.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "cli/opt.h"
#include "cmd/cmd.h"
#include "cmd/display.h"
#include "compare/compare.h"
#include "present/page.h"
#include "run/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* `sctrace report`: shows one saved run, or compares several. */

/* Saved runs that are shown beside each other: their files, their labels, and merging them into one run. */
struct beside {
	struct run *runs;
	struct page_run *list; /* the same runs with their labels */
	size_t n;
};

struct report {
	struct report_options opt;
	struct beside beside; /* the runs to show */
};

#define FAIL_IF_WORDS                                                                                                  \
	"calls errors bytes wall user system cpu peak_rss voluntary_switches involuntary_switches minor_faults "       \
	"major_faults throughput metric"
#define AT(field) .offset = offsetof(struct report_options, field)

static int opt_fail_if(const struct opt_use *u)
{
	size_t at;
	return conditions_parse(&((struct report_options *)u->settings)->fail_if, u->value, CONDITION_FAIL_IF, &at,
				u->why);
}

static const struct opt table[] = {
	{.help = "What is shown:"},
	{0, "merge", NULL, opt_flag, "merge runs of the same thing on one machine into one run", AT(merge)},
	{0, "fail-if", "CONDITIONS", opt_fail_if,
	 "exit with status 3 if a later run, or a later row of a single run, is worse than the first one by more than "
	 "these limits: wall>5%,calls>0,peak_rss>10%",
	 .complete = COMPLETE_LIST, .words = FAIL_IF_WORDS},
	{0, "undecided", NULL, opt_flag, "exit with status 4 if a condition of --fail-if cannot be decided for a row",
	 AT(undecided)},
	{.help = "Output:"},
	{0, "format", "FORMAT", opt_word, "text, csv, markdown, html, json or samples (default: text)", AT(show.format),
	 .complete = COMPLETE_WORDS, .words = "text csv markdown html json samples"},
	{'o', "output", "FILE", opt_string, "write to FILE", AT(show.output), .complete = COMPLETE_FILE},
	{0, "svg", "FILE", opt_svg, "draw the result; further pictures are written beside FILE", AT(show.svg),
	 .complete = COMPLETE_FILE},
	DISPLAY_EXPORTS(struct report_options),
	{DISPLAY_UNIT(struct report_options)},
	{0, "names", "A,B,...", opt_string, "names of the runs (default: the names of their files)", AT(names)},
	{DISPLAY_COLOUR(struct report_options)},
	{0},
};

static const char *const usage[] = {"[OPTIONS] RUN.json...", NULL};

const struct opt_command report_command = {
	.name = "sctrace report",
	.usage = usage,
	.about = "Shows a saved run, or compares several runs, also from several machines: tables, ratios with their "
		 "intervals, and the differences between the machines.",
	.table = table,
	.epilog = "Runs are compared with the first one. The option --save of sctrace -c, compare and bench saves "
		  "runs. RUN.json is a file, or - for standard input. See sctrace-report(1), sctrace-run(5).",
};

/*
 * Loads the files `paths`, of which "-" is standard input, and checks that their runs can be compared with the first
 * one. Returns 0, or -EINVAL with the reason in `why`. Call beside_free() in every case.
 */
static int beside_load(struct beside *b, char *const *paths, size_t n, struct buf *why)
{
	int rc = 0;
	b->runs = memory_zeroed(n, sizeof(*b->runs));
	b->list = memory_zeroed(n, sizeof(*b->list));
	for (size_t i = 0; i < n && rc == 0; i++) {
		b->list[i] = (struct page_run){.run = &b->runs[i], .path = run_file_name(paths[i])};
		b->n = i + 1;
		rc = run_load(&b->runs[i], paths[i], why);
		if (rc == 0 && i > 0)
			rc = run_comparable(&b->runs[0], b->list[0].path, &b->runs[i], b->list[i].path, why);
	}
	return rc;
}

/* Returns the name of a file without its folder and without ".json". */
static char *label_of(const char *path)
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	size_t len = strlen(base);
	if (len > 5 && strcmp(base + len - 5, ".json") == 0)
		len -= 5;
	return len ? memory_copy_part(base, len) : memory_copy(path);
}

/* Sets the label of run `i` to a printable copy of `label`, and frees `label`. */
static void set_label(struct beside *b, size_t i, char *label)
{
	struct buf shown = {0};
	escape_line(&shown, label, strlen(label));
	free((char *)b->list[i].label);
	free(label);
	b->list[i].label = buf_take(&shown);
}

static bool label_is_taken(const struct beside *b, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(b->list[i].label, b->list[k].label) == 0)
			return true;
	return false;
}

/* Makes labels from the names of the files. If another file has the same name, uses the whole path instead. */
static void name_from_files(struct beside *b)
{
	for (size_t i = 0; i < b->n; i++) {
		set_label(b, i, label_of(b->list[i].path));
		if (label_is_taken(b, i))
			set_label(b, i, memory_copy(b->list[i].path));
	}
}

/*
 * Sets the labels from `names`, which are separated by commas, or from the names of the files if `names` is NULL.
 * Returns 0, or -ERANGE with the reason in `why` if `names` does not give each run a different name.
 */
static int beside_name(struct beside *b, const char *names, struct buf *why)
{
	size_t i = 0;
	if (!names) {
		name_from_files(b);
		return 0;
	}
	for (; i < b->n && *names; i++) {
		size_t len = strcspn(names, ",");
		if (!len)
			break;
		set_label(b, i, memory_copy_part(names, len));
		if (label_is_taken(b, i)) {
			buf_addf(why, "--names gives the name '%s' to two runs", b->list[i].label);
			return -ERANGE;
		}
		names += len + (names[len] == ',');
	}
	if (i == b->n && *names == '\0')
		return 0;
	buf_addf(why, "--names must give one name for each run, separated by commas; %zu run%s given", b->n,
		 b->n == 1 ? " is" : "s are");
	return -ERANGE;
}

/* Writes the note "Merged from a.json, ...", with the lines that runs of counts had, and the label "a+b". */
static void name_merged(struct beside *b, struct buf *note)
{
	struct buf label = {0};
	buf_adds(note, "Merged from");
	for (size_t i = 0; i < b->n; i++) {
		buf_addf(note, "%s%s", i ? ", " : " ", b->list[i].path);
		buf_addf(&label, "%s%s", i ? "+" : "", b->list[i].label);
	}
	if (b->runs[0].bits == RUN_COUNT)
		buf_adds(note, "; the numbers of calls and the times are sums.");
	else
		buf_adds(note, "; the differences between the runs are part of the spread of the merged run.");
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < b->runs[i].footer.n; k++)
			buf_addf(note, "\n%s: %s", b->list[i].label, b->runs[i].footer.v[k]);
	set_label(b, 0, buf_take(&label));
}

static void forget(struct beside *b, size_t from)
{
	for (size_t i = from; i < b->n; i++) {
		run_free(&b->runs[i]);
		free((char *)b->list[i].label);
	}
	b->n = from;
}

/*
 * Merges all runs into the first one, and appends a sentence about this to `note`. Returns 0, or -EINVAL with the
 * reason in `why` if they cannot be merged. Call run_judge() afterwards.
 */
static int beside_merge(struct beside *b, struct buf *note, struct buf *why)
{
	int rc = 0;
	for (size_t i = 0; i < b->n && rc == 0; i++)
		for (size_t k = 0; k < i && rc == 0; k++)
			rc = run_poolable(&b->runs[k], b->list[k].path, &b->runs[i], b->list[i].path, why);
	if (rc < 0)
		return rc;
	name_merged(b, note);
	for (size_t i = 1; i < b->n; i++)
		run_merge(&b->runs[0], &b->runs[i]);
	forget(b, 1);
	return 0;
}

static void beside_free(struct beside *b)
{
	forget(b, 0);
	free(b->runs);
	free(b->list);
}

/* A list of samples has the names of the runs, so it is the same with and without --merge. */
static bool lists_samples(const struct report_options *o)
{
	return o->show.format && (strcmp(o->show.format, "csv") == 0 || strcmp(o->show.format, "samples") == 0);
}

static bool exports(const struct report_options *o)
{
	bool any = false;
	for (size_t i = 0; i < EXPORTS; i++)
		any |= o->show.exports[i] != NULL;
	return any;
}

/* Returns a message about options that contradict each other or the files, or NULL. `paths` ends with NULL. */
static const char *contradiction(const struct report_options *o, char *const *paths, int files)
{
	if (!files)
		return "no saved run was given; name one or more files that --save wrote";
	if (o->fail_if.list.n && files > 1 && o->merge)
		return "--fail-if compares a run with another one, so --merge cannot be used with it";
	if (o->merge && files > 1 && exports(o) && (lists_samples(o) || o->show.exports[EXPORT_CSV]))
		return "CSV lists the samples of each run, and the other formats show the merged run; write them in "
		       "two calls of sctrace report";
	if (o->undecided && !o->fail_if.list.n)
		return "--undecided can be used only with --fail-if";
	return display_input_refused(paths);
}

/* Parses the arguments. Returns 0, or -1 if the command must end with exit status *status. */
static int parse(struct report_options *o, int argc, char **argv, int *first, int *status)
{
	auto_buf why = {0};
	enum opt_outcome outcome = opt_parse(&report_command, o, argc, argv, first, &why);
	const char *wrong = outcome == OPT_OK ? contradiction(o, argv + *first, argc - *first) : NULL;
	*status = wrong ? EXIT_USAGE : display_outcome(&report_command, outcome, "report: ", &why);
	if (wrong)
		diag_error("report: %s", wrong);
	if (outcome != OPT_OK || wrong)
		return -1;
	*status = display_check("report", &o->show, argv + *first);
	return *status ? -1 : 0;
}

/* Replaces the sentences of a run by newly generated ones. */
static void tell(struct run *r)
{
	if (r->bits == RUN_COMPARE)
		compare_tell(r);
	else
		run_judge(r);
}

/* Returns 0, or -errno with the reason in `why`; -ERANGE means that the options do not suit the runs. */
static int load(struct report *r, char *const *paths, size_t n, struct buf *why)
{
	int rc = beside_load(&r->beside, paths, n, why);
	if (rc < 0)
		return rc;
	/* Files of older versions lack the notes about how figures were obtained, so they are made now. */
	for (size_t i = 0; i < n; i++)
		if (r->beside.runs[i].bits == RUN_COMPARE && !r->beside.runs[i].notes.known)
			tell(&r->beside.runs[i]);
	const struct run *first = &r->beside.runs[0];
	if (r->opt.fail_if.list.n && n == 1 && (first->bits != RUN_COMPARE || first->subjects.n < 2)) {
		buf_addf(why,
			 "--fail-if compares runs, or the rows of one comparison: name at least two files, or one file "
			 "with several rows that sctrace compare --save wrote");
		return -ERANGE;
	}
	if (r->opt.show.time_unit && first->bits == RUN_COUNT) {
		buf_adds(why,
			 "--time-unit is for runs of compare and bench; the tables of -c and --io have several units");
		return -ERANGE;
	}
	return beside_name(&r->beside, r->opt.names, why);
}

/* Merges all runs into the first one. Returns 0, or -EINVAL with the reason in `why` if they cannot be merged. */
static int merge(struct report *r, struct buf *why)
{
	auto_buf note = {0};
	int rc = beside_merge(&r->beside, &note, why);
	if (rc == 0) {
		struct run *merged = &r->beside.runs[0];
		tell(merged);
		if (merged->bits == RUN_COUNT)
			strings_add_lines(&merged->footer, buf_str(&note));
		else
			run_note(merged, "%s", buf_str(&note));
	}
	return rc;
}

static int show(struct report *r)
{
	struct page p = {0};
	page_make(&p, r->beside.list, r->beside.n);
	int status = display_page(&p, "report", &r->opt.show);
	page_free(&p);
	return status;
}

/*
 * Tests the conditions of --fail-if. Compares each of the later runs with the first one, or the rows of a single run.
 * Returns 0, EXIT_GATE, EXIT_UNDECIDED, or EXIT_OWN after messages.
 */
static int gate(const struct report *r)
{
	auto_buf failed = {0};
	auto_buf undecided = {0};
	const struct page_run *list = r->beside.list;
	const struct gate_run base = {list[0].run, list[0].label};
	bool tested = true;
	if (r->beside.n == 1)
		tested = gate_judge_rows(&r->opt.fail_if, base.run, &failed, &undecided);
	for (size_t i = 1; i < r->beside.n; i++) {
		const struct gate_run run = {list[i].run, list[i].label};
		tested &= gate_judge(&r->opt.fail_if, &base, &run, &failed, &undecided);
	}
	display_errors("report: --fail-if failed: ", &failed);
	display_errors("report: --fail-if cannot be decided: ", &undecided);
	/* A condition that no row can be tested for is a mistake, and must not pass. */
	bool open = !tested || (r->opt.undecided && undecided.len);
	return failed.len ? EXIT_GATE : open ? EXIT_UNDECIDED : 0;
}

int cmd_report(int argc, char **argv)
{
	struct report r = {0};
	auto_buf why = {0};
	int first;
	int status;
	outfile_catch_signals();
	if (parse(&r.opt, argc, argv, &first, &status) < 0) {
		conditions_free(&r.opt.fail_if);
		return status;
	}
	int rc = load(&r, argv + first, (size_t)(argc - first), &why);
	if (rc == 0 && r.opt.merge && !lists_samples(&r.opt))
		rc = merge(&r, &why);
	if (rc == 0) {
		status = show(&r);
		status = status || !r.opt.fail_if.list.n ? status : gate(&r);
	} else {
		diag_error("report: %s", buf_str(&why));
		status = rc == -ERANGE ? EXIT_USAGE : EXIT_UNREADABLE;
	}
	beside_free(&r.beside);
	conditions_free(&r.opt.fail_if);
	return status;
}
