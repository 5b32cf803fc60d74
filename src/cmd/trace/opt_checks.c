/* SPDX-License-Identifier: MIT */
/* Checks that the options of the tracer agree. */
#include "base/buf.h"
#include "base/outfile.h"
#include "cmd/trace/opts.h"

#include <errno.h>
#include <string.h>

int option_rules(const struct option_rule *rules, size_t n, const char *subject, struct buf *why)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].wrong) {
			buf_addf(why, "%s%s", subject, rules[i].says);
			return -EINVAL;
		}
	return 0;
}

static bool counts(const struct trace_opts *o)
{
	return o->count || o->count_too || trace_opts_page(o);
}

/* Returns true if the calls are printed one by one as CSV, and the format is not that of a table. */
static bool prints_csv(const struct trace_opts *o)
{
	return o->view.format == SUMMARY_CSV && !counts(o) && !o->folded && !o->diff && !o->truss;
}

/* Returns true if an option is for a table of calls or for stacks. Some options are for the tables of --io as well. */
static bool wants_table(const struct trace_opts *o)
{
	enum summary_format f = o->view.format;
	bool either = o->html || (f != SUMMARY_TEXT && f != SUMMARY_JSON && !prints_csv(o)) || o->save ||
		      o->overhead_set || o->expect.list.n;
	return o->count || o->count_too || o->folded || (either && !trace_opts_page(o)) || o->view.sort ||
	       o->view.columns.n || o->by || o->errors || o->hist || o->top_set || o->interval_ns;
}

/* Returns true if a condition of --expect tests only calls that -e leaves out. Such a condition always has the value 0. */
static bool tests_unselected(const struct trace_opts *o)
{
	for (size_t i = 0; o->select.by_call && i < o->expect.list.n; i++)
		if (condition_excluded(&o->expect.list.v[i], &o->select.calls))
			return true;
	return false;
}

/* Checks the options of the views that are printed as a page: trace_opts_page(). */
static int check_page(const struct trace_opts *o, struct buf *why)
{
	enum summary_format f = o->view.format;
	const bool alone = !o->count && !o->count_too;
	const struct option_rule rules[] = {
		{f == SUMMARY_TRUSS || f == SUMMARY_STRACE || o->format == TRACE_PERFETTO ||
			 (f == SUMMARY_WIDE && alone),
		 " has the formats text, csv, markdown, json and html"},
		{o->io && (o->select.by_call || o->select.paths.n || o->select.fds.n ||
			   trace_select_needs_exit(&o->select)),
		 " follows all calls that use files; leave out -e, -P, -z, -Z, --slower and --waited"},
		{o->cgroup || o->all, " follows processes; use -p instead of --cgroup and --all"},
		{alone && (o->interval_ns || o->view.sort || o->view.columns.n),
		 " alone does not print the table of calls, which --interval, -S and -U are for; add -c"},
		{o->folded, " and --stacks cannot be combined"},
		{o->record && !o->io,
		 " prints a result at the end, which --record does not; give it to `sctrace show FILE`"},
	};
	const struct option_rule alone_rules[] = {
		{o->paths && (!o->files || o->io || o->tree || !alone),
		 "--format=paths is a format of --files alone, without -c, -C, --io and --tree"},
		{o->profile && (o->io || o->tree || o->files || !alone || f != SUMMARY_TEXT || o->html || o->save),
		 "--profile prints only the filter; leave out -c, -C, --io, --tree, --files, --format and --save"},
	};
	if (option_rules(alone_rules, sizeof(alone_rules) / sizeof(*alone_rules), "", why) < 0)
		return -EINVAL;
	/* The messages follow the name of the view. */
	return trace_opts_page(o) ? option_rules(rules, sizeof(rules) / sizeof(*rules), trace_opts_page(o), why) : 0;
}

/* Checks the options of --all and --cgroup without -c. */
static int check_watch(const struct trace_opts *o, struct buf *why)
{
	const struct option_rule rules[] = {
		{!o->select.by_call, "--cgroup and --all print only the calls that -e trace= names, such as -e "
				     "trace=execve,openat; to count all calls, add -c"},
		{o->record || o->count_too || o->folded || o->stacks,
		 "--cgroup and --all can print or count calls; leave out --record, -C, -k and --stacks"},
		{o->format == TRACE_PERFETTO || o->look.namespaces || o->look.outer_ids,
		 "--cgroup and --all cannot print namespaces, nor --format=perfetto"},
	};
	return trace_opts_watch(o) ? option_rules(rules, sizeof(rules) / sizeof(*rules), "", why) : 0;
}

/* Checks the options of separate files (-ff). */
static int check_separate(const struct trace_opts *o, struct buf *why)
{
	const struct option_rule rules[] = {
		{trace_opts_page(o) || o->folded || o->format == TRACE_PERFETTO || o->html,
		 "-ff writes to separate files, but --io, --tree, --files, --stacks, --format=html and "
		 "--format=perfetto write one result; use -f"},
		{o->count && ((o->by && strcmp(o->by, "process") != 0) || o->interval_ns),
		 "-c -ff writes a table for each process at the end; leave out --interval and --by"},
		{o->count && (o->cgroup || o->all),
		 "-c -ff writes a file for each process; for --cgroup and --all, use -c --by=process"},
		{!o->output, "-ff needs -o FILE; it writes each thread to FILE.TID, with -c each process"},
		{o->output && (o->output[0] == '|' || o->output[0] == '!'),
		 "-ff writes to files and cannot write to a command"},
	};
	return trace_opts_separate(o) ? option_rules(rules, sizeof(rules) / sizeof(*rules), "", why) : 0;
}

/* --by, --errors, --hist, --expect and (without --io) --top are for the table of calls, so they imply -c. */
static void imply_count(struct trace_opts *o)
{
	bool table = o->by || o->errors || o->hist || (o->top_set && !o->io);
	if (!o->count && !o->count_too && !o->folded && !o->record && (table || (o->expect.list.n && !counts(o))))
		o->count = true;
}

/* Sets what follows from other options. */
static void complete(struct trace_opts *o)
{
	if (o->tree && !o->follow)
		o->follow = 1;
	/* Lines of unrelated processes need their names. The end of a process is not a call. */
	if (trace_opts_watch(o)) {
		o->look.pid_names = 1;
		o->look.quiet |= QUIET_EXIT;
	}
	if (o->count && trace_opts_separate(o))
		o->by = "process";
	o->string_recorded = o->string_max < 0 ? STRINGS_RECORDED : o->string_max;
	o->string_max = o->string_max < 0 ? STRINGS_SHOWN : o->string_max;
	o->view.by = o->by;
}

int trace_opts_check(struct trace_opts *o, bool program, struct buf *why)
{
	imply_count(o);
	enum summary_format f = o->view.format;
	if (check_page(o, why) < 0 || check_separate(o, why) < 0 || check_watch(o, why) < 0)
		return -EINVAL;
	const struct option_rule rules[] = {
		{!program && !o->pids.n && !o->cgroup && !o->all,
		 "no program was given; write sctrace PROGRAM, or sctrace -p PID for a running process"},
		{o->count && o->count_too,
		 "-c and -C cannot be used together: -c only counts calls, -C also prints them"},
		{o->count && o->format == TRACE_PERFETTO,
		 "--format=perfetto is a format for traces and cannot be used with -c"},
		{o->record && wants_table(o), "--record prints no table of calls; give -c, -C, --stacks and the "
					      "options of summaries to `sctrace show FILE`"},
		{!counts(o) && o->html, "--format=html is for summaries; add -c, or add --io for the use of files"},
		{!counts(o) && f != SUMMARY_TEXT && f != SUMMARY_JSON && !prints_csv(o) && !o->truss,
		 "this --format is for summaries; add -c"},
		{o->html && o->count_too, "-C prints each call, and --format=html writes one page at the end; use -c"},
		{o->html && o->interval_ns,
		 "--interval prints tables while the program runs, and --format=html writes one page at the end; use "
		 "only one of them"},
		{!counts(o) && !o->truss && (o->view.sort || o->view.columns.n), "-S and -U are for summaries; add -c"},
		{!counts(o) && (o->by || o->errors || o->hist || o->top_set || o->expect.list.n),
		 "--by, --errors, --expect, --hist and --top are for the table of calls, which --stacks does not "
		 "print"},
		{!counts(o) && (o->save || o->interval_ns || o->overhead_set),
		 "--interval, --save and -O are for summaries; add -c"},
		{conditions_use_main(&o->expect) && !program,
		 "main: in --expect needs a program that is started; leave it out for running processes"},
		{tests_unselected(o),
		 "a condition of --expect tests only calls that -e leaves out; select these calls with -e as well"},
		{o->by && (f == SUMMARY_TRUSS || f == SUMMARY_STRACE),
		 "--by cannot be used with --format=truss or --format=strace, whose tables have no such column"},
		{(o->errors || o->hist) &&
			 (o->html || (f != SUMMARY_TEXT && f != SUMMARY_WIDE && f != SUMMARY_MARKDOWN)),
		 "--errors and --hist need --format=text, wide or markdown; --save keeps both"},
		{o->append && !o->output, "-A needs -o FILE"},
		{(o->user || o->argv0 || o->env.n) && !program, "-u, -E and --argv0 need a program to run"},
		{(o->comms.n || o->uids.n) && !o->cgroup && !o->all,
		 "--comm and --uid select processes of --all and --cgroup"},
		{(o->cgroup && o->all) || ((o->cgroup || o->all) && o->pids.n),
		 "only one of -p, --cgroup and --all can be used"},
		{o->daemonize && !program, "-D needs a program to run"},
		{o->record && (trace_select_needs_exit(&o->select) || o->select.paths.n || o->select.fds.n),
		 "--record cannot select calls by their results, paths, descriptors, durations or waits; "
		 "`sctrace show FILE` can"},
		{(o->select.waited || o->times.waits) && (o->stacks || o->folded),
		 "-k and --stacks stop threads at their calls, so it is not known which calls would have waited; leave "
		 "out these options, or --waited and -T=waits"},
		{o->record && o->look.namespaces,
		 "a recording does not contain the namespaces that -e namespace=new prints; leave out --record"},
		{outfile_is_same(o->output, o->record), "-o and --record name the same file; write to different files"},
		{outfile_is_same(o->output, o->save), "-o and --save name the same file; write to different files"},
		{o->last_set && !o->record, "--last needs --record FILE"},
		{o->folded && strcmp(o->folded, "folded") != 0 && strcmp(o->folded, "folded,time") != 0 &&
			 strcmp(o->folded, "folded,calls") != 0,
		 "--stacks must be folded or folded,time"},
	};
	if (option_rules(rules, sizeof(rules) / sizeof(*rules), "", why) < 0)
		return -EINVAL;
	if (prints_csv(o))
		o->format = TRACE_CSV;
	complete(o);
	return 0;
}
