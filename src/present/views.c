/* SPDX-License-Identifier: MIT */
/* Displays the processes of a trace (--tree), and the paths that they used (--files). */
#include "present/page.h"

#include <math.h>
#include <string.h>

#define INDENT       2   /* columns for each generation */
#define DEPTH_MOST   40  /* deeper processes are not indented further */
#define COMMAND_MOST 240 /* a longer command is cut in the formats for people */

#define OF(member) offsetof(struct run_tree_process, member)

static const struct figure_column tree_columns[] = {
	{"pid", "pid", COL_RIGHT, FORM_INTEGER, OF(pid)},
	{"parent", "parent", COL_RIGHT | COL_DATA_ONLY, FORM_INTEGER, OF(parent)},
	{"depth", "depth", COL_RIGHT | COL_DATA_ONLY, FORM_INTEGER, OF(depth)},
	{"ended", "ended", COL_TEXT_ONLY},
	{"wall_s", "wall", COL_RIGHT, FORM_TIME, OF(wall_s)},
	{"cpu_s", "CPU", COL_RIGHT, FORM_TIME, OF(cpu_s)},
	{"peak_rss_bytes", "peak RSS", COL_RIGHT | COL_OPTIONAL, FORM_BYTES, OF(peak_rss_bytes)},
	{"process", "process", COL_TEXT_ONLY},
	{"command", "command", COL_DATA_ONLY},
	{"exit_status", "exit status", COL_DATA_ONLY, FORM_INTEGER, OF(exit_status)},
	{"killed_by", "killed by", COL_DATA_ONLY, FORM_TEXT, OF(killed_by)},
	{"reason", "reason", COL_DATA_ONLY, FORM_TEXT, OF(reason)},
	{"message", "message", COL_DATA_ONLY, FORM_TEXT, OF(message)},
	{"is_cause", "is cause", COL_DATA_ONLY},
	{"start_s", "start", COL_DATA_ONLY, FORM_REAL, OF(start_s)},
};
#define TREE_COLUMNS (sizeof(tree_columns) / sizeof(*tree_columns))
enum { T_ENDED = 3, T_PROCESS = 7, T_COMMAND = 8, T_CAUSE = 13 }; /* columns that add_row() sets */

static void add_cut(struct buf *out, const char *s)
{
	size_t n = strlen(s);
	size_t cut = n > COMMAND_MOST ? COMMAND_MOST : n;
	while (cut && ((unsigned char)s[cut] & 0xc0) == 0x80)
		cut--; /* not within a UTF-8 character */
	buf_add(out, s, cut);
	buf_adds(out, cut < n ? "..." : "");
}

static void add_end(const struct run_tree_process *r, struct buf *out)
{
	if (r->killed_by)
		buf_adds(out, r->killed_by);
	else if (isnan(r->exit_status))
		buf_adds(out, "still runs");
	else
		buf_addf(out, "exit %.0f", r->exit_status);
	if (r->is_cause == TRUTH_YES)
		buf_adds(out, " (cause)");
}

static void add_row(struct table *t, const struct run_tree_process *r)
{
	auto_buf end = {0}, process = {0};
	add_end(r, &end);
	buf_fill(&process, ' ', INDENT * (size_t)(r->depth < DEPTH_MOST ? r->depth : DEPTH_MOST));
	add_cut(&process, r->command ? r->command : "?");
	figures_row(t, tree_columns, TREE_COLUMNS, r);
	table_string(t, T_ENDED, buf_str(&end));
	table_string(t, T_PROCESS, buf_str(&process));
	table_string(t, T_COMMAND, r->command ? r->command : "");
	table_string(t, T_CAUSE, r->is_cause == TRUTH_YES ? "true" : "false");
	if (r->killed_by || r->exit_status > 0)
		table_mark_row(t, MARK_BAD);
}

/* Appends sentences about the process whose failure made the program fail. */
static void say_first(const struct run_tree_process *r, struct buf *out)
{
	buf_addf(out, "The failure began with process %.0f: ", r->pid);
	if (r->killed_by)
		buf_addf(out, "it was killed by %s%s%s%s", r->killed_by, r->reason ? " (" : "",
			 r->reason ? r->reason : "", r->reason ? ")" : "");
	else
		buf_addf(out, "it exited with %.0f", r->exit_status);
	buf_adds(out, ".\nIts command: ");
	add_cut(out, r->command ? r->command : "?");
	buf_addc(out, '\n');
	if (r->message) {
		buf_adds(out, "Its message: ");
		add_cut(out, r->message);
		buf_addc(out, '\n');
	}
}

void page_add_tree(struct page *p)
{
	const struct run_tree *tree = &p->runs[0].run->tree;
	struct buf *findings = &page_section(p, SECTION_FINDINGS, "Failure", "")->text;
	struct table *t = figures_table(tree_columns, TREE_COLUMNS);
	for (size_t i = 0; i < tree->processes.n; i++) {
		add_row(t, &tree->processes.v[i]);
		if (tree->processes.v[i].is_cause == TRUTH_YES)
			say_first(&tree->processes.v[i], findings);
	}
	page_add_part(p, "processes", "Processes", t, NULL);
}

void page_add_files(struct page *p)
{
	static const struct column columns[] = {
		{"uses", "uses", 0},
		{"path", "path", COL_TAIL},
		{"target", "target", COL_DATA_ONLY},
	};
	const struct run_paths *files = &p->runs[0].run->files;
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < files->paths.n; i++) {
		const struct run_path *f = &files->paths.v[i];
		auto_buf uses = {0};
		for (size_t k = 0; k < f->uses.n; k++)
			buf_addf(&uses, "%s%s", k ? " " : "", f->uses.v[k]);
		table_row(t);
		table_string(t, 0, buf_str(&uses));
		table_string(t, 1, f->path ? f->path : "");
		if (f->target)
			table_string(t, 2, f->target);
	}
	page_add_part(p, "paths", "Paths", t, NULL);
}
