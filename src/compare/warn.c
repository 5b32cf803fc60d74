/*
 * Warnings about circumstances that may distort a comparison. A table contains the condition, text and advice of each
 * warning.
 */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "run/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct warning_row {
	const char *name; /* the name of the warning in saved runs */
	bool (*found)(const struct run *r);
	const char *what, *advice;
};

static double median(const struct run_subject *s)
{
	return run_median(s, METRIC_TIME);
}

/* Returns true if `f` is true for any row that was measured. */
static bool any(const struct run *r, bool (*f)(const struct run *r, const struct run_subject *s))
{
	for (size_t i = 0; i < r->subjects.n; i++)
		if (run_usable(&r->subjects.v[i]) && f(r, &r->subjects.v[i]))
			return true;
	return false;
}

static bool noisy(const struct run *r)
{
	return r->method.other_cpu_share > 0.10;
}

/*
 * The load average describes the minute before the runs. It is used only if the runs were too short to measure how much
 * CPU time other programs used.
 */
static bool loaded(const struct run *r)
{
	return !isfinite(r->method.other_cpu_share) && r->env.load.one > 0.5 * r->env.cpu.online;
}

static bool steal(const struct run *r)
{
	return r->method.steal_share > 0.01;
}

static bool is_short(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return median(s) < 0.005;
}

static bool short_runs(const struct run *r)
{
	return any(r, is_short);
}

static bool is_spread(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return s->judged.of[METRIC_TIME].n >= 3 &&
	       s->judged.of[METRIC_TIME].q3 - s->judged.of[METRIC_TIME].q1 > 0.2 * median(s);
}

static bool spread(const struct run *r)
{
	return any(r, is_spread);
}

static bool in_memory(const struct run *r)
{
	return r->env.file_system.in_memory == TRUTH_YES;
}

static bool compresses(const struct run *r)
{
	return r->env.file_system.compresses == TRUTH_YES;
}

static bool shares(const struct run *r)
{
	return r->env.file_system.shares_extents == TRUTH_YES;
}

static bool governor(const struct run *r)
{
	const struct env_cpu *cpu = &r->env.cpu;
	return (cpu->governor && strcmp(cpu->governor, "performance") != 0) || cpu->turbo == TRUTH_YES;
}

static bool debug_kernel(const struct run *r)
{
	return r->env.kernel.debug_options.n > 0;
}

static bool not_cold(const struct run *r)
{
	return r->method.cold == TRUTH_YES && r->method.input_resident_share != 0;
}

static bool has_no_rss(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return !(run_median(s, METRIC_PEAK_RSS) > 0);
}

static bool no_rss(const struct run *r)
{
	return any(r, has_no_rss);
}

static bool is_larger(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return s->buffer_bytes > s->input_bytes;
}

static bool small_input(const struct run *r)
{
	return any(r, is_larger);
}

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

static bool first_run(const struct run *r)
{
	return any(r, compare_first_differs);
}

static bool has_outliers(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return run_outliers(s) > 0;
}

static bool outliers(const struct run *r)
{
	return any(r, has_outliers);
}

static size_t failures(const struct run_subject *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->samples[METRIC_STATUS].n; i++)
		n += s->samples[METRIC_STATUS].v[i] != 0;
	return n;
}

static bool has_failed(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return failures(s) > 0;
}

static bool failed(const struct run *r)
{
	return any(r, has_failed);
}

static bool is_no_copy(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return s->copied == TRUTH_NO;
}

static bool no_copy(const struct run *r)
{
	return any(r, is_no_copy);
}

static bool is_lost_in_shell(const struct run *r, const struct run_subject *s)
{
	return !s->strategy && median(s) < 0.2 * r->method.shell_taken_out_s;
}

static bool lost_in_shell(const struct run *r)
{
	return any(r, is_lost_in_shell);
}

static bool is_uncounted(const struct run *r, const struct run_subject *s)
{
	(void)r;
	return !s->counts.known;
}

static bool uncounted(const struct run *r)
{
	return r->method.counted != TRUTH_NO && any(r, is_uncounted);
}

static const struct warning_row rows[WARNINGS] = {
	[WARN_NOISY] = {"noisy_machine", noisy, "other programs used the processors during the measurement",
			"end them, or rely on large differences only"},
	[WARN_LOAD] = {"load", loaded, "the machine was busy at the start",
		       "end other programs, or repeat this at a quieter time"},
	[WARN_STEAL] = {"steal", steal, "the hypervisor gave processor time to other guests",
			"repeat this at a quieter time"},
	[WARN_SHORT] = {"short_runs", short_runs,
			"runs shorter than 5 ms mostly consist of the start of the program, and the kernel "
			"tells user time from system time only at clock ticks",
			"use a larger --size, or commands that have more to do"},
	[WARN_SPREAD] = {"spread", spread, "the quartiles of some rows differ by more than 20 % of the median",
			 "use more --runs, or --cpus to keep the programs on one processor"},
	[WARN_MEMORY_FS] = {"memory_file_system", in_memory, "the files are in memory, so no device is measured",
			    "choose a directory on a disk with --dir"},
	[WARN_COMPRESSES] = {"compressing_file_system", compresses,
			     "the file system compresses, so fewer bytes may be written than were copied",
			     "use --input random, or another --dir"},
	[WARN_SHARED] = {"shared_extents", shares,
			 "the file system can share blocks between files, so copy_file_range and commands like cp may "
			 "have copied no data",
			 "take this into account, or use another --dir"},
	[WARN_GOVERNOR] = {"governor", governor,
			   "the frequency of the processor depends on load and temperature (governor, turbo)",
			   "set the governor to performance (cpupower frequency-set -g performance)"},
	[WARN_DEBUG_KERNEL] = {"debug_kernel", debug_kernel,
			       "the kernel was built with debugging options that make calls slower",
			       "do not compare these figures with those of another kernel"},
	[WARN_NOT_COLD] = {"not_cold", not_cold,
			   "the input could not be removed from the page cache (mincore still finds it there)",
			   "run this as root, or choose a directory on a disk with --dir"},
	[WARN_NO_RSS] = {"no_peak_rss", no_rss, "tracing is not permitted, so peak memory is unknown",
			 "allow ptrace in this container (--cap-add=SYS_PTRACE)"},
	[WARN_SMALL_INPUT] = {"small_input", small_input,
			      "some buffers are larger than the input, so their rows measure the same",
			      "use a larger --size"},
	[WARN_FIRST_RUN] =
		{"first_run", first_run, "the first run differed from the others",
		 "--warmup excludes it from the figures; --cold removes the input from the page cache before each run"},
	[WARN_OUTLIERS] = {"outliers", outliers, "some runs are outliers, outside Tukey's fences (1.5 IQR)",
			   "they remain in all figures; --save saves each sample"},
	[WARN_FAILED] = {"failed_runs", failed, "runs failed, which --ignore-failure permits",
			 "the figures include the times of these failed runs"},
	[WARN_NO_COPY] = {"no_copy", no_copy, "the {out} of a command differs from {in}",
			  "this is correct for a command that converts, and an error for one that copies"},
	[WARN_SHELL] =
		{"lost_in_shell", lost_in_shell,
		 "almost nothing remains of the times of these runs after the time of an empty shell is subtracted",
		 "run the commands without a shell (-N)"},
	[WARN_UNCOUNTED] = {"uncounted", uncounted, "the calls could not be counted",
			    "sctrace --list-engines says why"},
};

/* For each warning that concerns only some rows: a function that returns true for these rows. */
static bool (*const about[WARNINGS])(const struct run *, const struct run_subject *) = {
	[WARN_SHORT] = is_short,        [WARN_SPREAD] = is_spread,   [WARN_FIRST_RUN] = compare_first_differs,
	[WARN_OUTLIERS] = has_outliers, [WARN_NO_COPY] = is_no_copy, [WARN_FAILED] = has_failed,
};

/* Appends the figure of a row that follows the row's name in the warning. */
static void say_detail(const struct run_subject *s, int which, struct buf *out)
{
	if (which == WARN_OUTLIERS)
		buf_addf(out, ": %zu of %zu", run_outliers(s), s->judged.of[METRIC_TIME].n);
	if (which == WARN_FAILED)
		buf_addf(out, ": %zu of %zu", failures(s), s->judged.of[METRIC_TIME].n);
	if (which == WARN_FIRST_RUN) {
		buf_adds(out, ": ");
		duration_human(out, 1e9 * s->first_run_s);
		buf_adds(out, ", later runs ");
		median(s) > 0 ? duration_human(out, 1e9 * median(s)) : buf_adds(out, "nothing");
	}
}

/* Appends the names of the rows that the warning is about; if there are many, only the first of them. */
static void say_rows(const struct run *r, int which, struct run_warning *w, struct buf *out)
{
	enum { SHOWN = 4 };
	size_t found = 0;
	size_t ran = 0;
	struct buf names = {0};
	for (size_t i = 0; about[which] && i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		ran += run_usable(s);
		if (!run_usable(s) || !about[which](r, s))
			continue;
		strings_add(&w->rows, s->name);
		if (found++ >= SHOWN)
			continue;
		buf_addf(&names, "%s%s", found > 1 ? ", " : " (", s->name);
		say_detail(s, which, &names);
	}
	if (found > SHOWN)
		buf_addf(&names, " and %zu more", found - SHOWN);
	if (which == WARN_LOAD)
		buf_addf(out, " (load average %.2f)", r->env.load.one);
	if (found && (found < ran || which == WARN_OUTLIERS || which == WARN_FIRST_RUN || which == WARN_FAILED))
		buf_addf(out, "%s)", buf_str(&names));
	buf_free(&names);
}

static void add_warning(struct run *r, int which)
{
	struct run_warning w = {.rows = {.known = about[which] != NULL}};
	struct buf text = {0};
	/* If there was a warm-up, the first run is not part of the figures. */
	bool warmed_up = which == WARN_FIRST_RUN && r->method.warmup > 0;
	const char *advice = warmed_up ? "it was the warm-up and is not part of the figures; --cold removes the input "
					 "from the page cache before each run"
				       : rows[which].advice;
	field_set(&w.name, rows[which].name);
	field_set(&w.what, rows[which].what);
	field_set(&w.advice, advice);
	buf_adds(&text, rows[which].what);
	say_rows(r, which, &w, &text);
	buf_addf(&text, "; %s", advice);
	field_set(&w.text, buf_str(&text));
	buf_free(&text);
	vec_push(&r->warnings, w);
}

void compare_warn(struct run *r)
{
	for (int i = 0; i < WARNINGS; i++)
		if (rows[i].found(r))
			add_warning(r, i);
}
