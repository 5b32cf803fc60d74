/* SPDX-License-Identifier: MIT */
/* The findings and explanations: sentences computed from the rows. They use only figures that the table contains. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "run/judge.h"
#include "syscall/call_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the row of `strategy` with this buffer size, or any row of the strategy if `buffer` is 0. */
static const struct run_subject *row(const struct run *r, const char *strategy, uint64_t buffer)
{
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (run_usable(s) && s->strategy && strcmp(s->strategy, strategy) == 0 &&
		    (!buffer || s->buffer_bytes == buffer))
			return s;
	}
	return NULL;
}

/* Returns the row with the smallest buffer (or the largest, if `greatest`) among the rows with the base name `name`. */
static const struct run_subject *end_row(const struct run *r, const char *name, bool greatest)
{
	const struct run_subject *found = NULL;
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (!run_usable(s) || strcmp(s->base, name) != 0)
			continue;
		if (!found || (s->buffer_bytes > found->buffer_bytes) == greatest)
			found = s;
	}
	return found;
}

static double median(const struct run_subject *s)
{
	return run_median(s, METRIC_TIME);
}

static double peak_rss(const struct run_subject *s)
{
	return run_median(s, METRIC_PEAK_RSS);
}

/* A figure in words, which is returned by value so that it can be an argument of buf_addf(). */
struct figure {
	char s[80];
};

/* Returns the text in `b`, cut to 79 bytes, and frees the buffer. */
static struct figure take(struct buf *b)
{
	struct figure f;
	snprintf(f.s, sizeof(f.s), "%s", buf_str(b));
	buf_free(b);
	return f;
}

static struct figure a_time(double seconds)
{
	struct buf b = {0};
	duration_human(&b, seconds * 1e9);
	return take(&b);
}

static struct figure a_size(double bytes)
{
	struct buf b = {0};
	size_human(&b, (uint64_t)bytes);
	return take(&b);
}

static struct figure a_count(double n)
{
	struct buf b = {0};
	count_human(&b, (uint64_t)n);
	return take(&b);
}

static struct figure a_factor(double x)
{
	struct buf b = {0};
	factor_human(&b, x);
	return take(&b);
}

/* Returns "2.5 %", "1.4 times" or "340 times". "1.0 times" would not show a small difference. */
static struct figure a_ratio(double x)
{
	struct figure f;
	if (x < 1.1)
		snprintf(f.s, sizeof(f.s), "%.2g %%", 100 * (x - 1));
	else
		snprintf(f.s, sizeof(f.s), x < 9.95 ? "%.1f times" : "%.0f times", x);
	return f;
}

/*
 * Returns the percentage of the CPU time of all runs that was spent in the kernel. Many kernels count CPU time in
 * ticks, so the percentage of a single short run would mean nothing. Returns -1 if the total is less than ten ticks of
 * 4 ms.
 */
static double kernel_share(const struct run_subject *s)
{
	double system = s->judged.of[METRIC_SYSTEM].mean * (double)s->judged.of[METRIC_SYSTEM].n;
	double cpu = s->judged.of[METRIC_USER].mean * (double)s->judged.of[METRIC_USER].n + system;
	return cpu >= 0.040 ? 100 * system / cpu : -1;
}

/*
 * Returns the number of calls per MiB of input, without the calls before main(), whose number does not depend on the
 * input.
 */
static double calls_per_mib(const struct run_subject *s)
{
	double own = s->counts.calls - s->counts.calls_before_main;
	return s->counts.counted_bytes ? own * 1048576 / s->counts.counted_bytes : NAN;
}

/* False also for a merged run if the number of calls differed between its runs (run_merge()). */
static bool knows_calls(const struct run_subject *s)
{
	return s->counts.known && !isnan(s->counts.calls) && !isnan(s->counts.calls_before_main);
}

/* Appends "makes 2,097,190 calls". */
static void say_calls(const struct run_subject *s, struct buf *out)
{
	buf_addf(out, "makes %s call%s", a_count(s->counts.calls).s, s->counts.calls == 1 ? "" : "s");
	if (run_counted_partly(s))
		buf_addf(out, " for %.0f %% of the input", 100 * s->counts.counted_bytes / s->input_bytes);
}

/* Appends "makes 2,097,190 calls and takes 1.01 s". */
static void say_cost(const struct run_subject *s, struct buf *out)
{
	if (knows_calls(s)) {
		say_calls(s, out);
		buf_adds(out, " and ");
	}
	buf_addf(out, "takes %s", a_time(median(s)).s);
}

/* Appends a sentence about the cost of a small buffer. */
static void lesson_small_buffer(const struct run *r, struct buf *out)
{
	const struct run_subject *small = end_row(r, "read/write", false);
	const struct run_subject *best = run_knee(r, "read/write");
	if (!small || !best || small == best || !run_slower(r, small, best))
		return;
	buf_addf(out, "read/write with a buffer of %s ", a_size(small->buffer_bytes).s);
	say_cost(small, out);
	if (kernel_share(small) >= 0)
		buf_addf(out, " (%.0f %% of its CPU time is in the kernel)", kernel_share(small));
	buf_addf(out, "; with %s it ", a_size(best->buffer_bytes).s);
	say_cost(best, out);
	buf_addf(out, ", %s less: the cost is per call, not per byte.\n", a_ratio(median(small) / median(best)).s);
}

/* Appends a sentence about the buffer size beyond which larger buffers are not faster. */
static void lesson_knee(const struct run *r, struct buf *out)
{
	const char *scanned = run_scanned(r);
	const char *name = row(r, "read/write", 0) || !scanned ? "read/write" : scanned;
	const struct run_subject *best = run_knee(r, name);
	const struct run_subject *largest = end_row(r, name, true);
	if (!best || !largest || end_row(r, name, false) == largest)
		return;
	if (strcmp(name, "read/write") != 0)
		buf_addf(out, "%s: ", name);
	if (best == largest) {
		buf_addf(out, "Larger buffers are faster, up to the largest one that was tried, %s.\n",
			 a_size(largest->buffer_bytes).s);
		return;
	}
	buf_addf(out, "No buffer larger than %s is seen to be faster by %.0f %% or more", a_size(best->buffer_bytes).s,
		 100 * RUN_WORTHWHILE);
	bool sure = run_none_pays(r, best);
	if (run_larger_looks_better(r, best))
		buf_adds(out, " (some medians are lower, but there are too few runs or too much noise to be sure)");
	else if (!sure)
		buf_adds(out, " (but the 95 % intervals do not exclude such a difference)");
	/* Mention the memory of the largest buffer if it is visible in the peak RSS. */
	if (peak_rss(best) > 0 && peak_rss(largest) > peak_rss(best) * (1 + RUN_WORTHWHILE))
		buf_addf(out, "; %s%s needs more memory: %s instead of %s", a_size(largest->buffer_bytes).s,
			 sure ? " only" : "", a_size(peak_rss(largest)).s, a_size(peak_rss(best)).s);
	buf_adds(out, ".\n");
}

/*
 * Returns the row of read/write whose number of calls is nearest to that of `s`, or NULL if they all differ by more
 * than a quarter.
 */
static const struct run_subject *nearest_by_calls(const struct run *r, const struct run_subject *s)
{
	const struct run_subject *found = NULL;
	double least = log(1.25);
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *x = &r->subjects.v[i];
		if (!run_usable(x) || !x->strategy || strcmp(x->strategy, "read/write") != 0 || !knows_calls(x))
			continue;
		double distance = fabs(log(calls_per_mib(x) / calls_per_mib(s)));
		if (distance < least) {
			least = distance;
			found = x;
		}
	}
	return found;
}

/* Appends a sentence about the effect of stdio's buffer. */
static void lesson_stdio(const struct run *r, struct buf *out)
{
	const struct run_subject *stdio = row(r, "fgetc/fputc", 0);
	const struct run_subject *byte = row(r, "read/write", 1);
	if (!stdio || !knows_calls(stdio))
		return;
	const struct run_subject *alike = nearest_by_calls(r, stdio);
	buf_adds(out, "fgetc/fputc also handles single bytes, but only ");
	say_calls(stdio, out);
	if (alike)
		buf_addf(out, ", like read/write with %s", a_size(alike->buffer_bytes).s);
	buf_adds(out, ", because the C library has a buffer");
	if (byte && run_slower(r, byte, stdio))
		buf_addf(out, ". It is %s faster than read/write with 1 byte", a_ratio(median(byte) / median(stdio)).s);
	if (kernel_share(stdio) >= 0 && kernel_share(stdio) < 50)
		buf_addf(out,
			 ". It spends %.0f %% of its CPU time outside the kernel, in one function call for each "
			 "character",
			 100 - kernel_share(stdio));
	buf_adds(out, ".\n");
}

/* Appends how much time `shot`, which has a buffer for the whole file, saves in comparison with `best`. */
static void say_gain(const struct run *r, const struct run_subject *shot, const struct run_subject *best,
		     struct buf *out)
{
	double ratio = median(best) / median(shot);
	if (run_slower(r, best, shot) && ratio > 1 + RUN_WORTHWHILE)
		buf_addf(out, ". It is %s faster.\n", a_ratio(ratio).s);
	else if (run_slower(r, shot, best) && ratio < 1 / (1 + RUN_WORTHWHILE))
		buf_addf(out, ". It is %s slower nevertheless.\n", a_ratio(1 / ratio).s);
	else
		buf_adds(out, ". It does not save a significant amount of time.\n");
}

static void lesson_one_shot(const struct run *r, struct buf *out)
{
	const struct run_subject *shot = row(r, "one-shot", 0);
	const struct run_subject *best = run_knee(r, "read/write");
	/*
	 * A comparison with a tiny buffer would only show the effect of fewer calls, and nothing about the use of
	 * memory.
	 */
	if (!shot || !best || best->buffer_bytes < 1024 || !(peak_rss(shot) > 0) || !(peak_rss(best) > 0))
		return;
	if (peak_rss(shot) < peak_rss(best) * (1 + RUN_WORTHWHILE)) {
		buf_adds(out, "one-shot holds the whole file in memory, but this file is too small for a visible "
			      "difference.\n");
		return;
	}
	buf_addf(out, "one-shot holds the whole file in memory: it needs %s instead of %s for read/write with %s",
		 a_size(peak_rss(shot)).s, a_size(peak_rss(best)).s, a_size(best->buffer_bytes).s);
	say_gain(r, shot, best, out);
}

/* Used if no other finding applies: compares the fastest row with the next one and with the slowest. */
static void lesson_ends(const struct run *r, struct buf *out)
{
	const struct run_subject *best = run_fastest(r);
	const struct run_subject *worst = NULL;
	const struct run_subject *next = NULL;
	for (size_t i = 0; i < r->subjects.n; i++) {
		const struct run_subject *s = &r->subjects.v[i];
		if (!run_usable(s) || s == best)
			continue;
		if (!worst || median(s) > median(worst))
			worst = s;
		if (!next || median(s) < median(next))
			next = s;
	}
	if (!best || !worst)
		return;
	if (!run_slower(r, worst, best)) {
		buf_addf(out,
			 "No difference in time is seen between %s and %s: the 95 %% interval of their ratio includes "
			 "1.\n",
			 best->name, worst->name);
		return;
	}
	buf_addf(out, "%s is the fastest, %s faster than %s", best->name, a_ratio(median(worst) / median(best)).s,
		 worst->name);
	if (knows_calls(best) && knows_calls(worst) && best->counts.calls != worst->counts.calls)
		buf_addf(out, ", with %s calls instead of %s", a_count(best->counts.calls).s,
			 a_count(worst->counts.calls).s);
	buf_adds(out, ".\n");
	if (next != worst && !run_slower(r, next, best))
		buf_addf(out, "No difference is seen between it and %s.\n", next->name);
}

/* Returns true if rows can have different numbers of runs, because the runs of some have failed. */
static bool have_failed(const struct run *r)
{
	bool failed = false;
	for (size_t i = 0; i < r->subjects.n; i++)
		failed |= r->subjects.v[i].failed != NULL;
	return failed;
}

void compare_lessons(const struct run *r, struct buf *out)
{
	size_t before = out->len;
	const struct run_subject *best = run_fastest(r);
	if (!best || median(best) <= 0)
		return;
	size_t runs = best->judged.of[METRIC_TIME].n;
	if (runs < CHANGE_LEAST) {
		buf_addf(out, "%s has only %zu run%s, so any difference may be due to chance; use --runs=%d or more.\n",
			 have_failed(r) ? best->name : "Each row", runs, runs == 1 ? "" : "s", CHANGE_LEAST);
		return;
	}
	lesson_small_buffer(r, out);
	lesson_knee(r, out);
	lesson_stdio(r, out);
	lesson_one_shot(r, out);
	if (out->len == before)
		lesson_ends(r, out);
}

/* Returns true for calls that start a program, or that only wait for another program. */
static bool is_beside_the_work(const struct call_stats *k)
{
	static const char *const names[] = {"execve", "wait4", "waitid"};
	bool is = false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !is; i++)
		is = k->nr == syscall_number(k->arch, names[i]);
	return is;
}

/* Returns the call with the largest total time, or NULL if the times of calls are not precise enough. */
static const struct call_stats *dearest_call(const struct run_subject *s)
{
	const struct call_stats *found = NULL;
	const struct summary *sum = &s->counts.by_call;
	for (size_t g = 0; g < sum->groups.n; g++)
		for (size_t i = 0; i < sum->groups.v[g]->calls.n; i++) {
			const struct call_stats *k = sum->groups.v[g]->calls.v[i];
			if (call_stats_resolved(k) == RESOLVED && !is_beside_the_work(k) &&
			    (!found || k->ns > found->ns))
				found = k;
		}
	return s->counts.in_calls_s > s->counts.in_calls_resolution_s ? found : NULL;
}

/*
 * Appends "29 calls before main, then 2,088 calls (521 per MiB), 3,817 bytes per call". Calls before main() are
 * separate, because their number does not depend on the input. Their bytes are those that the dynamic linker reads.
 */
static void explain_calls(const struct run_subject *s, struct buf *out)
{
	double before = s->strategy ? s->counts.calls_before_main : 0;
	double calls = s->counts.calls - before;
	if (s->strategy)
		buf_addf(out, "%.0f call%s before main, then %s calls (%s per MiB)", before, before == 1 ? "" : "s",
			 a_count(calls).s, a_count(round(calls_per_mib(s))).s);
	else
		buf_addf(out, "%s call%s", a_count(calls).s, calls == 1 ? "" : "s");
	/*
	 * If most bytes do not appear in the results of calls (because files are mapped, or io_uring is used), the
	 * number of bytes per call means nothing.
	 */
	double loaded = s->strategy && isfinite(s->counts.bytes_before_main) ? s->counts.bytes_before_main : 0;
	double moved = s->counts.moved_bytes - loaded;
	double each = moved / calls;
	if (s->strategy && moved < s->counts.counted_bytes / 2)
		buf_adds(out, ", whose results do not contain the number of bytes copied");
	else if (each < 9.95)
		buf_addf(out, ", %.1f bytes per call", each);
	else if (!isnan(each))
		buf_addf(out, ", %s bytes per call", a_count(round(each)).s);
}

/* Appends the figures of the row: the number and time of its calls (or its wall time), and its share of kernel time. */
static void explain_figures(const struct run_subject *s, struct buf *out)
{
	if (knows_calls(s) && s->counts.calls > s->counts.calls_before_main) {
		const struct call_stats *dear = dearest_call(s);
		explain_calls(s, out);
		if (s->counts.in_calls_s > s->counts.in_calls_resolution_s)
			buf_addf(out, ", %s each", a_time(s->counts.in_calls_s / s->counts.calls).s);
		if (dear) {
			buf_addf(out, ", %.0f %% of this time in ", 100 * dear->ns * 1e-9 / s->counts.in_calls_s);
			syscall_name(out, dear->arch, dear->nr);
		}
		/* Less may be the work of other programs, which take the CPU away. */
		if (s->counts.waited_s > s->counts.in_calls_s / 20)
			buf_addf(out, "; %s of them waited and took %s", a_count(s->counts.waits).s,
				 a_time(s->counts.waited_s).s);
	} else {
		buf_adds(out, a_time(median(s)).s);
	}
	if (kernel_share(s) >= 0)
		buf_addf(out, "; %.0f %% of its CPU time inside the kernel, %.0f %% outside", kernel_share(s),
			 100 - kernel_share(s));
	buf_addc(out, '.');
}

/* Appends what changed in comparison with `before`, the previous row: the same strategy with another buffer size. */
static void explain_step(const struct run *r, const struct run_subject *s, const struct run_subject *before,
			 struct buf *out)
{
	double time = median(before) / median(s);
	bool slower = run_slower(r, s, before);
	bool faster = run_slower(r, before, s);
	buf_addf(out, " Compared with %s: ", before->name);
	if (knows_calls(s) && knows_calls(before) && !run_counted_partly(s) && !run_counted_partly(before)) {
		double calls = before->counts.calls / s->counts.calls;
		buf_addf(out, "%s times %s calls, ", a_factor(calls >= 1 ? calls : 1 / calls).s,
			 calls >= 1 ? "fewer" : "more");
	}
	if (slower || faster)
		buf_addf(out, "%s times %s.\n", a_factor(faster ? time : 1 / time).s, faster ? "faster" : "slower");
	else
		buf_adds(out, "no difference in time is seen.\n");
}

/*
 * Appends two sentences. The first one contains the figures of the row. The second one says how the row differs from
 * the previous buffer size of the strategy, why the strategy takes its time, or how much CPU time a command uses.
 */
static void explain_one(const struct run *r, const struct run_subject *s, const struct run_subject *before,
			struct buf *out)
{
	buf_addf(out, "%s: ", s->name);
	explain_figures(s, out);
	if (s->strategy && before && before->strategy && strcmp(before->strategy, s->strategy) == 0 &&
	    run_usable(before)) {
		explain_step(r, s, before, out);
		return;
	}
	buf_addc(out, ' ');
	const struct strategy *strategy = s->strategy ? strategy_find(s->strategy) : NULL;
	if (strategy) {
		char first = strategy->why[0];
		buf_addc(out, first >= 'a' && first <= 'z' ? (char)(first - 'a' + 'A') : first);
		buf_addf(out, "%s.\n", strategy->why + 1);
		return;
	}
	double cpu = s->judged.of[METRIC_USER].mean + s->judged.of[METRIC_SYSTEM].mean;
	buf_addf(out, "It takes %s%s%s", a_time(median(s)).s, cpu > median(s) ? " and uses " : ", of which ",
		 a_time(cpu).s);
	buf_adds(out, cpu > median(s) ? " of CPU time, so more than one processor worked for it.\n"
				      : " are CPU time; the rest is waiting.\n");
}

void compare_explain(const struct run *r, struct buf *out)
{
	for (size_t i = 0; i < r->subjects.n; i++)
		if (run_usable(&r->subjects.v[i]))
			explain_one(r, &r->subjects.v[i], i ? &r->subjects.v[i - 1] : NULL, out);
}
