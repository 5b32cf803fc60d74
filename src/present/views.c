/* Displays the processes of a trace (--tree), and the paths that they used (--files). */
#include "present/page.h"

#include <math.h>
#include <string.h>

#define INDENT       2   /* columns for each generation */
#define DEPTH_MOST   40  /* deeper processes are not indented further */
#define COMMAND_MOST 240 /* a longer command is cut in the formats for people */

enum {
	T_PID,
	T_PARENT,
	T_DEPTH,
	T_ENDED,
	T_WALL,
	T_CPU,
	T_RSS,
	T_PROCESS,
	T_COMMAND,
	T_STATUS,
	T_SIGNAL,
	T_REASON,
	T_SAID,
	T_CAUSE,
	T_START,
	TREE_COLUMNS
};

static const struct column tree_columns[] = {
	[T_PID] = {"pid", "pid", COL_RIGHT},
	[T_PARENT] = {"parent", "parent", COL_RIGHT | COL_DATA_ONLY},
	[T_DEPTH] = {"depth", "depth", COL_RIGHT | COL_DATA_ONLY},
	[T_ENDED] = {"ended", "ended", COL_TEXT_ONLY},
	[T_WALL] = {"wall_s", "wall", COL_RIGHT},
	[T_CPU] = {"cpu_s", "CPU", COL_RIGHT},
	[T_RSS] = {"peak_rss_bytes", "peak RSS", COL_RIGHT | COL_OPTIONAL},
	[T_PROCESS] = {"process", "process", COL_TEXT_ONLY},
	[T_COMMAND] = {"command", "command", COL_DATA_ONLY},
	[T_STATUS] = {"exit_status", "exit status", COL_DATA_ONLY},
	[T_SIGNAL] = {"killed_by", "killed by", COL_DATA_ONLY},
	[T_REASON] = {"reason", "reason", COL_DATA_ONLY},
	[T_SAID] = {"message", "message", COL_DATA_ONLY},
	[T_CAUSE] = {"is_cause", "is cause", COL_DATA_ONLY},
	[T_START] = {"start_s", "start", COL_DATA_ONLY},
};

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

static void set_row(struct table *t, const struct run_tree_process *r)
{
	auto_buf end = {0}, process = {0};
	bool failed = r->killed_by || r->exit_status > 0;
	add_end(r, &end);
	buf_fill(&process, ' ', INDENT * (size_t)(r->depth < DEPTH_MOST ? r->depth : DEPTH_MOST));
	add_cut(&process, r->command ? r->command : "?");
	table_integer(t, T_PID, (long long)r->pid, NULL);
	if (!isnan(r->parent))
		table_integer(t, T_PARENT, (long long)r->parent, NULL);
	table_integer(t, T_DEPTH, (long long)r->depth, NULL);
	table_string(t, T_ENDED, buf_str(&end));
	cell_time(t, T_WALL, r->wall_s, 1);
	cell_time(t, T_CPU, r->cpu_s, 1);
	cell_bytes(t, T_RSS, r->peak_rss_bytes);
	table_string(t, T_PROCESS, buf_str(&process));
	table_string(t, T_COMMAND, r->command ? r->command : "");
	if (!isnan(r->exit_status))
		table_integer(t, T_STATUS, (long long)r->exit_status, NULL);
	const struct {
		size_t column;
		const char *text;
	} texts[] = {{T_SIGNAL, r->killed_by}, {T_REASON, r->reason}, {T_SAID, r->message}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].text)
			table_string(t, texts[i].column, texts[i].text);
	table_string(t, T_CAUSE, r->is_cause == TRUTH_YES ? "true" : "false");
	table_real(t, T_START, r->start_s, NULL);
	if (failed)
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
	struct table *t = table_new(tree_columns, TREE_COLUMNS);
	for (size_t i = 0; i < tree->processes.n; i++) {
		table_row(t);
		set_row(t, &tree->processes.v[i]);
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
