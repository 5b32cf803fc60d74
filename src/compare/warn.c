/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/size.h"
#include "compare/compare.h"
#include "run/judge.h"
#include "syscall/call_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Warnings about circumstances that may distort a comparison. */
/* The largest change of the time of an empty shell, relative to the time of a row. */
#define SHELL_CHANGE_MAX 0.1

typedef bool row_test(const struct run *r, const struct run_subject *s);

/* Defines a row_test. */
#define ROW_TEST(name, expression)                                                                                     \
	static bool name(const struct run *r, const struct run_subject *s)                                             \
	{                                                                                                              \
		(void)r;                                                                                               \
		return expression;                                                                                     \
	}

static double median(const struct run_subject *s)
{
	return run_median(s, METRIC_TIME);
}

/* Returns true if `f` is true for any row that was measured. */
static bool any(const struct run *r, row_test *f)
{
	for (size_t i = 0; i < r->subjects.n; i++)
		if (run_usable(&r->subjects.v[i]) && f(r, &r->subjects.v[i]))
			return true;
	return false;
}

ROW_TEST(is_short, median(s) < 0.005)

static bool is_spread(const struct run *r, const struct run_subject *s)
{
	(void)r;
	const struct sample_summary *time = &s->judged.of[METRIC_TIME];
	return time->n >= 3 && time->q3 - time->q1 > 0.2 * median(s);
}

ROW_TEST(has_no_rss, s->traced != TRUTH_NO && !(run_median(s, METRIC_PEAK_RSS) > 0))
ROW_TEST(has_large_buffer, s->buffer_bytes > s->input_bytes)

bool compare_first_differs(const struct run *r, const struct run_subject *s)
{
	enum { RUNS_MIN = 3 };
	const struct reals *time = &s->samples[METRIC_TIME];
	size_t counted = r->method.warmup > 0 ? 0 : 1; /* without a warm-up, the first run is one of the samples */
	struct sample_summary rest;
	double first = s->first_run_s;
	if (time->n < counted + RUNS_MIN)
		return false;
	sample_summarise(time->v + counted, time->n - counted, &rest);
	return (first > rest.fence_high && first > 1.5 * rest.median) ||
	       (first < rest.fence_low && first * 1.5 < rest.median);
}

static void say_first(const struct run_subject *s, struct buf *out)
{
	buf_adds(out, ": ");
	duration_human(out, 1e9 * s->first_run_s);
	buf_adds(out, ", later runs ");
	median(s) > 0 ? duration_human(out, 1e9 * median(s)) : buf_adds(out, "nothing");
}

ROW_TEST(has_outliers, run_outliers(s) > 0)

static void say_outliers(const struct run_subject *s, struct buf *out)
{
	buf_addf(out, ": %zu of %zu", run_outliers(s), s->judged.of[METRIC_TIME].n);
}

static size_t failures(const struct run_subject *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->samples[METRIC_STATUS].n; i++)
		n += s->samples[METRIC_STATUS].v[i] != 0;
	return n;
}

ROW_TEST(has_failed, failures(s) > 0)

static void say_failures(const struct run_subject *s, struct buf *out)
{
	buf_addf(out, ": %zu of %zu", failures(s), s->judged.of[METRIC_TIME].n);
}

ROW_TEST(is_no_copy, s->copied == TRUTH_NO)
ROW_TEST(changes_input, s->input_changed == TRUTH_YES)
ROW_TEST(is_untraced, r->method.counted != TRUTH_NO && s->traced == TRUTH_NO)

/*
 * Returns true if the command wrote less to /dev/null, while its calls were counted, than to a pipe in the warm-up run.
 * Some programs test whether their output is /dev/null, and then do less.
 */
static bool saves_its_output(const struct run *r, const struct run_subject *s)
{
	static const char *const names[] = {"write",    "writev",          "pwrite64", "pwritev", "pwritev2",
					    "sendfile", "splice",          "vmsplice", "tee",     "sendto",
					    "sendmsg",  "copy_file_range", "sendmmsg"};
	double written = 0;
	const struct summary *calls = &s->counts.by_call;
	if (r->method.output || !s->counts.known || !(s->output_bytes > 0))
		return false;
	for (size_t g = 0; g < calls->groups.n; g++)
		for (size_t i = 0; i < calls->groups.v[g]->calls.n; i++) {
			const struct call_stats *k = calls->groups.v[g]->calls.v[i];
			auto_buf name = {0};
			syscall_name(&name, k->arch, k->nr);
			for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
				written += strcmp(buf_str(&name), names[n]) == 0 ? (double)k->bytes : 0;
			written += strcmp(buf_str(&name), "io_uring_enter") == 0 ? INFINITY : 0;
		}
	return written < s->output_bytes;
}

/* If a command does less with /dev/null, its first run differs because its output went to a pipe. */
ROW_TEST(first_differs, compare_first_differs(r, s) && !saves_its_output(r, s))

static bool lacks_metric(const struct run *r, const struct run_subject *s)
{
	bool lacks = false;
	(void)r;
	for (size_t i = 0; i < s->metrics.n; i++)
		lacks |= s->metrics.v[i].judged.n < s->metrics.v[i].samples.n;
	return lacks;
}

ROW_TEST(leaves_processes, s->counts.known && s->counts.left == TRUTH_YES)

/* For warn_rows(): the text names the rows even if the warning is about all of them. */
static void say_nothing(const struct run_subject *s, struct buf *out)
{
	(void)s;
	(void)out;
}

ROW_TEST(is_lost_in_shell, !s->strategy && median(s) < 0.2 * r->method.shell_taken_out_s)

/* The load of the machine has changed, so the time of the shell that was subtracted may be wrong for this row. */
static bool depends_on_shell(const struct run *r, const struct run_subject *s)
{
	double change = fabs(r->method.shell_after_s - r->method.shell_taken_out_s);
	return !s->strategy && !is_lost_in_shell(r, s) && change > SHELL_CHANGE_MAX * median(s);
}

ROW_TEST(is_uncounted, r->method.counted != TRUTH_NO && s->traced != TRUTH_NO && !s->counts.known)

/*
 * Adds a warning, whose name in saved runs is `name`. Its text consists of `what`, `where` and, after a semicolon,
 * `advice`. `rows` contains the names of the rows that it is about, or is unknown if it is about all rows. Takes
 * ownership of the strings of `rows`.
 */
static void add(struct run *r, const char *name, const char *what, const char *where, const char *advice,
		struct strings rows)
{
	struct run_warning w = {.rows = rows};
	auto_buf text = {0};
	buf_addf(&text, "%s%s; %s", what, where, advice);
	field_set(&w.name, name);
	field_set(&w.what, what);
	field_set(&w.advice, advice);
	field_set(&w.text, buf_str(&text));
	vec_push(&r->warnings, w);
}

/* Adds a warning about all rows, if `found`. */
static void warn(struct run *r, bool found, const char *name, const char *what, const char *advice)
{
	if (found)
		add(r, name, what, "", advice, (struct strings){0});
}

/*
 * Adds a warning about the rows for which `about` is true, if there are any. The text names the first four of these
 * rows, and say() appends figures to each name. If `say` is NULL and the warning is about all rows, the text names
 * none.
 */
static void warn_rows(struct run *r, row_test *about, void (*say)(const struct run_subject *s, struct buf *out),
		      const char *name, const char *what, const char *advice)
{
	enum { SHOWN = 4 };
	struct strings rows = {.known = true};
	size_t ran = 0;
	auto_buf names = {0};
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		ran += run_usable(s);
		if (!run_usable(s) || !about(r, s))
			continue;
		strings_add(&rows, s->name);
		if (rows.n > SHOWN)
			continue;
		buf_addf(&names, "%s%s", rows.n > 1 ? ", " : " (", s->name);
		if (say)
			say(s, &names);
	}
	if (rows.n > SHOWN)
		buf_addf(&names, " and %zu more", rows.n - SHOWN);
	buf_addc(&names, ')');
	if (rows.n)
		add(r, name, what, say || rows.n < ran ? buf_str(&names) : "", advice, rows);
}

/*
 * The load average describes the minute before the runs. It is used only if the runs were too short to measure how much
 * CPU time other programs used.
 */
static void warn_load(struct run *r)
{
	char average[64];
	snprintf(average, sizeof(average), " (load average %.2f)", r->env.load.one);
	if (!isfinite(r->method.other_cpu_share) && r->env.load.one > 0.5 * r->env.cpu.online)
		add(r, "load", "the machine was busy at the start", average,
		    "end other programs, or repeat this at a quieter time", (struct strings){0});
}

/* Adds the warnings about the machine and its file system. */
static void warn_machine(struct run *r)
{
	const struct env_file_system *fs = &r->env.file_system;
	const struct env_cpu *cpu = &r->env.cpu;
	warn(r, fs->in_memory == TRUTH_YES, "memory_file_system", "the files are in memory, so no device is measured",
	     "choose a directory on a disk with --dir");
	warn(r, fs->compresses == TRUTH_YES, "compressing_file_system",
	     "the file system compresses, so fewer bytes may be written than were copied",
	     "use --input random, or another --dir");
	warn(r, fs->shares_extents == TRUTH_YES, "shared_extents",
	     "the file system can share blocks between files, so copy_file_range and commands like cp may have copied "
	     "no data",
	     "take this into account, or use another --dir");
	warn(r, fs->type && strcmp(fs->type, "overlay") == 0 && fs->in_memory == TRUTH_UNKNOWN, "unknown_file_system",
	     "the files are on an overlay of a file system that cannot be seen from here, which may be in memory, "
	     "compress, or share blocks",
	     "choose a directory on a mounted volume with --dir");
	warn(r, (cpu->governor && strcmp(cpu->governor, "performance") != 0) || cpu->turbo == TRUTH_YES, "governor",
	     "the frequency of the processor depends on load and temperature (governor, turbo)",
	     "set the governor to performance (cpupower frequency-set -g performance)");
	warn(r, r->env.kernel.debug_options.n > 0, "debug_kernel",
	     "the kernel was built with debugging options that make calls slower",
	     "do not compare these figures with those of another kernel");
}

/* Adds the warnings about the limits of the control group, and about the input. */
static void warn_limits(struct run *r)
{
	const struct run_method *m = &r->method;
	auto_buf text = {0};
	buf_addf(
		&text,
		"the control group limits the processor time (%s), and the programs had to wait for it in %.0f periods",
		r->env.cpu.limit ? r->env.cpu.limit : "unknown", m->throttled);
	warn(r, m->throttled > 0, "cpu_limit", buf_str(&text),
	     "raise the limit (cpu.max), because times and their ratios mostly show when the programs had to wait");
	buf_clear(&text);
	buf_addf(&text, "the kernel killed processes of the control group for lack of memory (limit: %s): %.0f",
		 r->env.memory.limit ? r->env.memory.limit : "unknown", m->oom_kills);
	warn(r, m->oom_kills > 0, "memory_limit", buf_str(&text), "raise the limit (memory.max)");
	buf_clear(&text);
	buf_addf(&text, "the input is on another file system (%s) than the copies (%s)",
		 m->input_file_system ? m->input_file_system : "",
		 r->env.file_system.type ? r->env.file_system.type : "unknown");
	warn(r, m->input_file_system, "other_file_system", buf_str(&text),
	     "the kernel cannot copy between them as within one; choose a directory beside the input with --dir");
	warn(r, m->input_sparse == TRUTH_YES, "sparse_input",
	     "the input has holes, which some programs do not read and do not copy",
	     "use an input without holes to compare the cost of copying");
}

/* If there was a warm-up, the first run is not part of the figures. --cold is recommended only if it was not given. */
static const char *first_run_advice(const struct run_method *m)
{
	static const char *const advice[][2] = {
		{"--warmup excludes it from the figures; --cold removes the input from the page cache before each run",
		 "--warmup excludes it from the figures"},
		{"it was the warm-up and is not part of the figures; --cold removes the input from the page cache "
		 "before each run",
		 "it was the warm-up and is not part of the figures"},
	};
	return advice[m->warmup > 0][m->cold == TRUTH_YES];
}

void compare_warn(struct run *r)
{
	const struct run_method *m = &r->method;
	warn(r, m->other_cpu_share > RUN_OTHERS_MAX, "noisy_machine",
	     "other programs used the processors during the measurement",
	     "end them, or rely on large differences only");
	warn_load(r);
	warn(r, m->steal_share > RUN_STEAL_MAX, "steal", "the hypervisor gave processor time to other guests",
	     "repeat this at a quieter time");
	warn_rows(r, is_short, NULL, "short_runs",
		  "runs shorter than 5 ms mostly consist of the start of the program, and the kernel tells user time "
		  "from system time only at clock ticks",
		  "use a larger --size, or commands that have more to do");
	warn_rows(r, is_spread, NULL, "spread", "the quartiles of some rows differ by more than 20 % of the median",
		  "use more --runs, or --cpus to keep the programs on one processor");
	warn_machine(r);
	warn_limits(r);
	warn(r, m->cold == TRUTH_YES && m->input_resident_share != 0, "not_cold",
	     "the input could not be removed from the page cache (mincore still finds it there)",
	     "run this as root, or choose a directory on a disk with --dir");
	warn(r, any(r, has_no_rss), "no_peak_rss", "tracing is not permitted, so peak memory is unknown",
	     "allow ptrace in this container (--cap-add=SYS_PTRACE)");
	warn(r, any(r, has_large_buffer), "small_input",
	     "some buffers are larger than the input, so their rows measure the same", "use a larger --size");
	warn_rows(r, first_differs, say_first, "first_run", "the first run differed from the others",
		  first_run_advice(m));
	warn_rows(r, has_outliers, say_outliers, "outliers", "some runs are outliers, outside Tukey's fences (1.5 IQR)",
		  "they remain in all figures; --save saves each sample");
	warn_rows(r, has_failed, say_failures, "failed_runs", "runs failed, which --ignore-failure permits",
		  "the figures include the times of these failed runs");
	warn_rows(r, is_no_copy, NULL, "no_copy", "the {out} of a command differs from {in}",
		  "this is correct for a command that converts, and an error for one that copies");
	warn_rows(r, changes_input, say_nothing, "changed_input", "a command changed or removed its input {in}",
		  "each of its runs was given a new copy, and the file of --input itself was not changed");
	warn_rows(r, saves_its_output, say_nothing, "null_output",
		  "a command wrote less to /dev/null than to a pipe, so it may do less work than usual, as grep does",
		  "use --command-output=pipe");
	warn_rows(r, is_untraced, say_nothing, "untraced",
		  "a command does not work, or loses the privileges of its set-user-ID program, if it is traced",
		  "it was not traced, so its calls are unknown, and its peak memory is known only if it is larger than "
		  "that of sctrace");
	warn_rows(r, lacks_metric, say_nothing, "no_metric",
		  "the output of some runs does not contain a metric of --metric",
		  "the regular expression must match in the output or in the errors of each run");
	warn_rows(r, leaves_processes, say_nothing, "left_running",
		  "a command left processes running, such as a daemon, whose calls were counted until 0.5 s after the "
		  "end of the command",
		  "if they belong to its work, let the command wait for them");
	warn_rows(
		r, depends_on_shell, say_nothing, "shell_changed",
		"the time of an empty shell was different after the runs, by more than 10 % of the times of some rows",
		"repeat this at a quieter time, or run the commands without a shell (-N)");
	warn(r, any(r, is_lost_in_shell), "lost_in_shell",
	     "almost nothing remains of the times of these runs after the time of an empty shell is subtracted",
	     "run the commands without a shell (-N)");
	warn(r, any(r, is_uncounted), "uncounted", "the calls could not be counted", "sctrace --list-engines says why");
}

/* The lines below the table: which rows could not run, and how the figures were obtained. */
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

/* Appends how the calls were counted, why their time can exceed the time of the row, and whether waits are not known. */
static void say_counting(const struct run *r, const char *engine, struct buf *out)
{
	bool longer = false, commands = false, known = false, unknown = false, waited = false;
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		known |= s->counts.known && !isnan(s->counts.waits);
		unknown |= s->counts.known && isnan(s->counts.waits);
		waited |= s->counts.known && s->counts.waits > 0;
		longer |= run_usable(s) && s->counts.in_calls_s > s->judged.of[METRIC_TIME].median;
		commands |= !s->strategy;
	}
	buf_addf(out, "calls: counted in a separate run by engine %s, with the cost of tracing subtracted", engine);
	if (longer)
		buf_addf(out,
			 "; 'in calls' exceeds 'wall' in some rows: it is from that run, and adds up the times of all "
			 "%s",
			 commands ? "processes and threads, such as a shell that waits for its command" : "threads");
	if (unknown && (waited || !known))
		buf_adds(out, waited ? "; where 'waits' is empty, the number is not known" : "; waits are not known");
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
