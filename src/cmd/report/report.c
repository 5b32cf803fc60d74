/* `sctrace report`: shows one saved run, or compares several. */
#include "cmd/report/report.h"

#include "base/diag.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "cli/opt.h"
#include "cmd/cmd.h"
#include "cmd/display.h"
#include "cmd/put.h"
#include "compare/compare.h"
#include "run/gate.h"
#include "run/judge.h"
#include "run/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
	struct report_options opt;
	struct run *runs;
	struct page_run *beside; /* the runs to show; the labels in them must be freed */
	size_t n;
};

#define FAIL_IF_WORDS                                                                                                  \
	"calls errors bytes wall user system cpu peak_rss voluntary_switches involuntary_switches minor_faults "       \
	"major_faults throughput"
#define AT(field) .offset = offsetof(struct report_options, field)

static int opt_fail_if(void *ctx, const struct opt *row, const char *arg, struct buf *why)
{
	size_t at;
	(void)row;
	return conditions_parse(&((struct report_options *)ctx)->fail_if, arg, CONDITION_FAIL_IF, &at, why);
}

static const struct opt table[] = {
	{.help = "What is shown:"},
	{0, "merge", NULL, opt_flag, "merge runs of the same thing on one machine into one run", AT(merge)},
	{0, "fail-if", "CONDITIONS", opt_fail_if,
	 "exit with status 3 if a later run, or a later row of a single run, is worse than the first one by more than "
	 "these limits: wall>5%,calls>0,peak_rss>10%",
	 .complete = COMPLETE_LIST, .words = FAIL_IF_WORDS},
	{0, "undecided", NULL, opt_flag, "exit with status 4 if a condition of --fail-if cannot be decided",
	 AT(undecided)},
	{.help = "Output:"},
	{0, "format", "FORMAT", opt_word, "text, csv, markdown, html, json or samples (default: text)", AT(show.format),
	 .complete = COMPLETE_WORDS, .words = "text csv markdown html json samples"},
	{'o', "output", "FILE", opt_string, "write to FILE", AT(show.output), .complete = COMPLETE_FILE},
	{0, "svg", "FILE", opt_svg, "draw the result; further pictures are written beside FILE", AT(show.svg),
	 .complete = COMPLETE_FILE},
	{0, "names", "A,B,...", opt_string, "names of the runs (default: the names of their files)", AT(names)},
	{0, "color", "WHEN", opt_word, "auto, always or never (default: auto)", AT(show.colour),
	 .complete = COMPLETE_WORDS, .words = "auto always never"},
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
		  "runs. See sctrace-report(1), sctrace-run(5).",
};

/*
 * Returns a message about options that contradict each other or do not suit the number of files. Returns NULL if there
 * are no such options.
 */
static const char *contradiction(const struct report_options *o, int files)
{
	if (!files)
		return "no saved run was given; name one or more files that --save wrote";
	if (o->fail_if.list.n && files > 1 && o->merge)
		return "--fail-if compares a run with another one, so --merge cannot be used with it";
	if (o->undecided && !o->fail_if.list.n)
		return "--undecided can be used only with --fail-if";
	return NULL;
}

/* Parses the arguments. Returns 0, or -1 if the command must end with exit status *status. */
static int parse(struct report_options *o, int argc, char **argv, int *first, int *status)
{
	struct buf why = {0};
	enum opt_outcome outcome = opt_parse(&report_command, o, argc, argv, first, &why);
	const char *wrong = outcome == OPT_OK ? contradiction(o, argc - *first) : NULL;
	*status = wrong ? EXIT_USAGE : put_outcome(&report_command, outcome, "report: ", &why);
	if (wrong)
		diag_error("report: %s", wrong);
	buf_free(&why);
	return outcome == OPT_OK && !wrong ? 0 : -1;
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
static void set_label(struct report *r, size_t i, char *label)
{
	struct buf shown = {0};
	escape_line(&shown, label, strlen(label));
	free((char *)r->beside[i].label);
	free(label);
	r->beside[i].label = buf_take(&shown);
}

static bool label_is_taken(const struct report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(r->beside[i].label, r->beside[k].label) == 0)
			return true;
	return false;
}

/* Makes labels from the names of the files. If another file has the same name, uses the whole path instead. */
static void labels_from_files(struct report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		set_label(r, i, label_of(r->beside[i].path));
		if (label_is_taken(r, i))
			set_label(r, i, memory_copy(r->beside[i].path));
	}
}

/*
 * Makes labels from --names. Returns 0, or -ERANGE with the reason in `why` if --names does not give each run a
 * different name.
 */
static int labels_from_names(struct report *r, struct buf *why)
{
	const char *names = r->opt.names;
	size_t i = 0;
	for (; i < r->n && *names; i++) {
		size_t len = strcspn(names, ",");
		if (!len)
			break;
		set_label(r, i, memory_copy_part(names, len));
		if (label_is_taken(r, i)) {
			buf_addf(why, "--names gives the name '%s' to two runs", r->beside[i].label);
			return -ERANGE;
		}
		names += len + (names[len] == ',');
	}
	if (i == r->n && *names == '\0')
		return 0;
	buf_addf(why, "--names must give %zu names, one for each run, separated by commas", r->n);
	return -ERANGE;
}

static int load(struct report *r, char *const *paths, size_t n, struct buf *why)
{
	int rc = 0;
	r->runs = memory_zeroed(n, sizeof(*r->runs));
	r->beside = memory_zeroed(n, sizeof(*r->beside));
	for (size_t i = 0; i < n && rc == 0; i++) {
		r->beside[i] = (struct page_run){.run = &r->runs[i], .path = paths[i]};
		r->n = i + 1;
		rc = run_load(&r->runs[i], paths[i], why);
		/*
		 * Files of older versions do not contain the notes about how the figures were obtained, so these notes
		 * are computed now.
		 */
		if (rc == 0 && r->runs[i].bits == RUN_COMPARE && !r->runs[i].notes.known)
			compare_tell(&r->runs[i]);
		if (rc == 0 && i > 0)
			rc = run_comparable(&r->runs[0], paths[0], &r->runs[i], paths[i], why);
	}
	if (rc == 0 && r->opt.fail_if.list.n && n == 1 &&
	    (r->runs[0].bits != RUN_COMPARE || r->runs[0].subjects.n < 2)) {
		buf_addf(why,
			 "--fail-if compares runs, or the rows of one comparison: name at least two files, or one file "
			 "with several rows that sctrace compare --save wrote");
		return -ERANGE;
	}
	if (rc < 0)
		return rc;
	if (r->opt.names)
		return labels_from_names(r, why);
	labels_from_files(r);
	return 0;
}

/* Writes the note "Merged from a.json, b.json; ..." and the label "a+b". */
static void name_merged(struct report *r)
{
	struct buf label = {0};
	struct buf note = {0};
	buf_adds(&note, "Merged from");
	for (size_t i = 0; i < r->n; i++) {
		buf_addf(&note, "%s%s", i ? ", " : " ", r->beside[i].path);
		buf_addf(&label, "%s%s", i ? "+" : "", r->beside[i].label);
	}
	buf_adds(&note, "; the differences between the runs are part of the spread of the merged run.");
	run_note(&r->runs[0], "%s", buf_str(&note));
	buf_free(&note);
	set_label(r, 0, buf_take(&label));
}

/* Merges all runs into the first one. Returns 0, or -EINVAL with the reason in `why` if they cannot be merged. */
static int merge(struct report *r, struct buf *why)
{
	int rc = 0;
	for (size_t i = 0; i < r->n && rc == 0; i++)
		for (size_t k = 0; k < i && rc == 0; k++)
			rc = run_poolable(&r->runs[k], r->beside[k].path, &r->runs[i], r->beside[i].path, why);
	if (rc < 0)
		return rc;
	for (size_t i = 1; i < r->n; i++)
		run_merge(&r->runs[0], &r->runs[i]);
	/* Notes about a single run must be computed again for the merged run. */
	if (r->runs[0].bits == RUN_COMPARE)
		compare_tell(&r->runs[0]);
	else
		run_judge(&r->runs[0]);
	name_merged(r);
	for (size_t i = 1; i < r->n; i++) {
		run_free(&r->runs[i]);
		free((char *)r->beside[i].label);
	}
	r->n = 1;
	return 0;
}

static int show(struct report *r)
{
	struct page p = {0};
	const char *format = r->opt.show.format ? r->opt.show.format : "text";
	if (strcmp(format, "json") == 0)
		page_make_tables(&p, r->beside, r->n);
	else
		page_make(&p, r->beside, r->n);
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
	struct buf failed = {0};
	struct buf undecided = {0};
	const struct gate_run base = {&r->runs[0], r->beside[0].label};
	if (r->n == 1)
		gate_judge_rows(&r->opt.fail_if, base.run, &failed, &undecided);
	for (size_t i = 1; i < r->n; i++) {
		const struct gate_run run = {&r->runs[i], r->beside[i].label};
		gate_judge(&r->opt.fail_if, &base, &run, &failed, &undecided);
	}
	put_errors("report: --fail-if failed: ", &failed);
	put_errors("report: --fail-if cannot be decided: ", &undecided);
	int status = failed.len ? EXIT_GATE : r->opt.undecided && undecided.len ? EXIT_UNDECIDED : 0;
	buf_free(&failed);
	buf_free(&undecided);
	return status;
}

static int show_and_judge(struct report *r)
{
	int status = show(r);
	return status == 0 && r->opt.fail_if.list.n ? gate(r) : status;
}

static void report_free(struct report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		run_free(&r->runs[i]);
		free((char *)r->beside[i].label);
	}
	free(r->runs);
	free(r->beside);
	conditions_free(&r->opt.fail_if);
}

int cmd_report(int argc, char **argv)
{
	struct report r = {0};
	struct buf why = {0};
	int first;
	int status;
	outfile_catch_signals();
	if (parse(&r.opt, argc, argv, &first, &status) < 0) {
		conditions_free(&r.opt.fail_if);
		return status;
	}
	int rc = load(&r, argv + first, (size_t)(argc - first), &why);
	/*
	 * A list of samples is the same with and without --merge, because each row already contains the name of its
	 * run.
	 */
	const char *format = r.opt.show.format ? r.opt.show.format : "text";
	if (rc == 0 && r.opt.merge && strcmp(format, "csv") != 0 && strcmp(format, "samples") != 0)
		rc = merge(&r, &why);
	if (rc == 0)
		status = show_and_judge(&r);
	else {
		diag_error("report: %s", buf_str(&why));
		status = rc == -ERANGE ? EXIT_USAGE : EXIT_UNREADABLE;
	}
	report_free(&r);
	buf_free(&why);
	return status;
}
