/* The lines below the table: which rows could not run, and how the figures were obtained. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "run/judge.h"

#include <string.h>

/* Returns true if row `i` is the first one that failed for its reason. */
static bool first_with_reason(const struct run *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (r->subjects.v[k].unable && strcmp(r->subjects.v[k].unable, r->subjects.v[i].unable) == 0)
			return false;
	return true;
}

/* Appends lines such as "mmap, one-shot failed: cannot write 'out': No space left on device". */
static void say_unable(const struct run *r, struct buf *out)
{
	for (size_t i = 0; i < r->subjects.n; i++) {
		const char *reason = r->subjects.v[i].unable;
		if (!reason || !first_with_reason(r, i))
			continue;
		for (size_t k = i; k < r->subjects.n; k++) {
			const struct run_subject *s = &r->subjects.v[k];
			if (!s->unable || strcmp(s->unable, reason) != 0)
				continue;
			buf_addf(out, "%s%s", k > i ? ", " : "", s->name);
		}
		buf_addf(out, " failed: %s\n", reason);
	}
}

/* Appends a line for each command that failed after some of its runs had been measured. */
static void say_failed(const struct run *r, struct buf *out)
{
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (s->failed)
			buf_addf(out, "%s failed: %s; its figures are those of the %zu run%s before\n", s->name,
				 s->failed, s->judged.of[METRIC_TIME].n, s->judged.of[METRIC_TIME].n == 1 ? "" : "s");
	}
}

/* Appends a line for each row whose calls were counted for only the first part of the input. */
static void say_parts(const struct run *r, struct buf *out)
{
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (run_counted_partly(s))
			buf_addf(out,
				 "* %s: its calls were counted over the first %.0f bytes of the input only; "
				 "--count-all counts over all of it\n",
				 s->name, s->counts.counted_bytes);
	}
}

/* Appends how the calls were counted, and why their time can exceed the time of the row. */
static void say_counting(const struct run *r, const char *engine, struct buf *out)
{
	bool longer = false, commands = false;
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		longer |= run_usable(s) && s->counts.in_calls_s > s->judged.of[METRIC_TIME].median;
		commands |= !s->strategy;
	}
	buf_addf(out, "calls: counted in a separate run by engine %s, with the cost of tracing subtracted", engine);
	if (longer)
		buf_addf(out,
			 "; 'in calls' exceeds 'wall' in some rows: it is from that run, and adds up the times of all "
			 "%s",
			 commands ? "processes and threads, such as a shell that waits for its command" : "threads");
	buf_addc(out, '\n');
}

static void say_how(const struct run *r, struct buf *out)
{
	const struct run_subject *best = run_fastest(r);
	const char *engine = run_engine(r);
	size_t least = best ? best->judged.of[METRIC_TIME].n : 0;
	size_t most = least;
	bool cold = r->method.cold == TRUTH_YES;
	for (size_t i = 0; i < r->subjects.n; i++) {
		size_t n = r->subjects.v[i].judged.of[METRIC_TIME].n;
		least = n && n < least ? n : least;
		most = n > most ? n : most;
	}
	buf_addf(out, "wall and peak RSS: medians of %zu", least);
	if (most > least)
		buf_addf(out, " to %zu", most);
	buf_addf(out, " untraced run%s, ", most == 1 ? "" : "s");
	if (r->subjects.n > 1)
		buf_addf(out, "interleaved in random order (seed %.0f), ", r->method.seed);
	buf_addf(out, "%s cache%s%s; user and system: means\n", cold ? "cold" : "warm",
		 cold && r->method.input_resident_share == 0 ? " (confirmed by mincore)" : "",
		 r->method.fsync == TRUTH_YES ? ", including fsync" : "");
	if (engine)
		say_counting(r, engine, out);
	if (r->method.columns)
		buf_adds(out, "use of files (--columns): measured in another traced run, including the files of the "
			      "dynamic loader\n");
	if (r->method.shell_taken_out_s > 0) {
		buf_adds(out, "commands ran in a shell; the time of an empty shell (");
		duration_human(out, r->method.shell_taken_out_s * 1e9);
		buf_addf(out, ") was subtracted; %speak RSS is that of the largest process\n",
			 engine ? "the calls of all processes, including the shell, are counted; " : "");
	} else if (best && !best->strategy) {
		buf_addf(out, "%speak RSS is that of the largest process\n",
			 engine ? "the calls of all processes are counted; " : "");
	}
	if (best && best->traced == TRUTH_NO && r->method.counted == TRUTH_NO)
		buf_adds(out, "nothing was traced (--no-trace), so peak RSS is known only if it is larger than that of "
			      "sctrace\n");
	if (r->method.output)
		buf_addf(out, "the output of the commands went to: %s\n", r->method.output);
	const struct env_file_system *fs = &r->env.file_system;
	if (fs->type)
		buf_addf(out, "files: %s%s%s on %s\n", fs->type, fs->below ? " over " : "", fs->below ? fs->below : "",
			 fs->source ? fs->source : "unknown");
}

void compare_notes(const struct run *r, struct buf *out)
{
	say_unable(r, out);
	say_failed(r, out);
	say_parts(r, out);
	if (run_fastest(r))
		say_how(r, out);
}
