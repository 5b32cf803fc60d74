/* What a learner should see, in sentences computed from the rows: no figure stands in them that is not in the table. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "syscall/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gains below this share are called none. */
#define WORTHWHILE 0.10

static bool usable(const struct subject *s)
{
	return !s->unable && s->wall.of.n > 0 && s->wall.of.median > 0;
}

/* The row of `strategy`; with several buffers the one whose size is `buffer`, 0 for any. */
static const struct subject *row(const struct compare *c, const char *strategy, uint64_t buffer)
{
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		if (usable(s) && s->strategy && strcmp(s->name, strategy) == 0 && (!buffer || s->buffer == buffer))
			return s;
	}
	return NULL;
}

/* The rows called `name` with the least and the greatest buffer. */
static const struct subject *end_row(const struct compare *c, const char *name, bool greatest)
{
	const struct subject *found = NULL;
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		if (!usable(s) || strcmp(s->name, name) != 0)
			continue;
		if (!found || (s->buffer > found->buffer) == greatest)
			found = s;
	}
	return found;
}

/* Does a larger buffer of the same strategy gain WORTHWHILE over `s`, beyond chance? */
static bool larger_pays(const struct compare *c, const struct subject *s)
{
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *x = c->subjects.v[i];
		if (usable(x) && strcmp(x->name, s->name) == 0 && x->buffer > s->buffer &&
		    s->wall.of.median > x->wall.of.median * (1 + WORTHWHILE) &&
		    (s->wall.of.n < 2 || x->wall.of.n < 2 || compare_slower(c, s, x)))
			return true;
	}
	return false;
}

/* Is there a larger buffer whose median is that much better, beyond chance or not? */
static bool larger_looks_better(const struct compare *c, const struct subject *s)
{
	bool better = false;
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *x = c->subjects.v[i];
		better |= usable(x) && strcmp(x->name, s->name) == 0 && x->buffer > s->buffer &&
			  s->wall.of.median > x->wall.of.median * (1 + WORTHWHILE);
	}
	return better;
}

const char *compare_scanned(const struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < c->subjects.n; k++) {
			const struct subject *s = c->subjects.v[k];
			n += usable(s) && s->buffer && strcmp(s->name, c->subjects.v[i]->name) == 0;
		}
		if (n >= 3)
			return c->subjects.v[i]->name;
	}
	return NULL;
}

const struct subject *compare_knee(const struct compare *c, const char *name)
{
	const struct subject *found = NULL;
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		if (usable(s) && strcmp(s->name, name) == 0 && (!found || s->buffer < found->buffer) &&
		    !larger_pays(c, s))
			found = s;
	}
	return found;
}

static void say_time(struct buf *out, double seconds)
{
	duration_human(out, seconds * 1e9);
}

static void say_size(struct buf *out, double bytes)
{
	size_human(out, (uint64_t)bytes);
}

/* "1.4 times", "340 times": as many digits as the figure has. */
static void say_ratio(struct buf *out, double x)
{
	buf_addf(out, x < 9.95 ? "%.1f times" : "%.0f times", x);
}

/*
 * The share of CPU time that was the kernel's, in percent, over all runs together: many kernels split it by their clock
 * tick, so of one short run it says nothing. -1 where there is less of it than ten ticks of 4 ms.
 */
static double kernel_share(const struct subject *s)
{
	double system = s->system.of.mean * (double)s->system.of.n;
	double cpu = s->user.of.mean * (double)s->user.of.n + system;
	return cpu >= 0.040 ? 100 * system / cpu : -1;
}

/* Without those before main, which come once whatever the size is. */
static double calls_per_mib(const struct subject *s)
{
	double own = (double)(s->calls - s->count.result.before_main);
	return s->counted_bytes ? own * 1048576 / (double)s->counted_bytes : NAN;
}

/* "makes 2,097,190 calls" */
static void say_calls(const struct compare *c, const struct subject *s, struct buf *out)
{
	buf_adds(out, "makes ");
	count_human(out, s->calls);
	buf_adds(out, s->calls == 1 ? " call" : " calls");
	if (s->partly)
		buf_addf(out, " for %.0f %% of the input", 100 * (double)s->counted_bytes / (double)c->work.size);
}

/* The price of a small buffer. */
static void lesson_small_buffer(const struct compare *c, struct buf *out)
{
	const struct subject *small = end_row(c, "read/write", false);
	const struct subject *best = compare_knee(c, "read/write");
	if (!small || !best || small == best || !compare_slower(c, small, best))
		return;
	buf_adds(out, "read/write with ");
	say_size(out, (double)small->buffer);
	buf_adds(out, " at a time ");
	if (small->counted) {
		say_calls(c, small, out);
		buf_adds(out, " and ");
	}
	buf_adds(out, "takes ");
	say_time(out, small->wall.of.median);
	if (kernel_share(small) >= 0)
		buf_addf(out, ", %.0f %% of its CPU time in the kernel", kernel_share(small));
	buf_adds(out, "; with ");
	say_size(out, (double)best->buffer);
	buf_adds(out, " it ");
	if (best->counted) {
		say_calls(c, best, out);
		buf_adds(out, " and ");
	}
	buf_adds(out, "takes ");
	say_time(out, best->wall.of.median);
	buf_adds(out, ", ");
	say_ratio(out, small->wall.of.median / best->wall.of.median);
	buf_adds(out, " less: the price is paid per call, not per byte.\n");
}

/* Where a larger buffer stops paying. */
static void lesson_knee(const struct compare *c, struct buf *out)
{
	const char *scanned = compare_scanned(c);
	const char *name = row(c, "read/write", 0) || !scanned ? "read/write" : scanned;
	const struct subject *best = compare_knee(c, name);
	const struct subject *largest = end_row(c, name, true);
	if (!best || !largest || end_row(c, name, false) == largest)
		return;
	if (strcmp(name, "read/write") != 0)
		buf_addf(out, "%s: ", name);
	if (best == largest) {
		buf_adds(out, "Up to the largest buffer tried, ");
		say_size(out, (double)largest->buffer);
		buf_adds(out, ", a larger one still pays.\n");
		return;
	}
	buf_adds(out, "From a buffer of ");
	say_size(out, (double)best->buffer);
	buf_addf(out, " on, no larger one is seen to gain %.0f %%", 100 * WORTHWHILE);
	if (larger_looks_better(c, best))
		buf_adds(out, " (some do by their medians, but the runs are too few or too noisy to tell)");
	/* What the buffer itself takes, if it can be seen beside the rest of the program. */
	if (best->peak_rss > 0 && largest->peak_rss > best->peak_rss * (1 + WORTHWHILE)) {
		buf_adds(out, "; ");
		say_size(out, (double)largest->buffer);
		buf_adds(out, " only takes more memory, ");
		say_size(out, largest->peak_rss);
		buf_adds(out, " against ");
		say_size(out, best->peak_rss);
	}
	buf_adds(out, ".\n");
}

/* The row of read/write whose calls are nearest to those of `s`, at most a quarter off. */
static const struct subject *nearest_by_calls(const struct compare *c, const struct subject *s)
{
	const struct subject *found = NULL;
	double least = log(1.25);
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *x = c->subjects.v[i];
		if (!usable(x) || !x->strategy || strcmp(x->name, "read/write") != 0 || !x->counted)
			continue;
		double distance = fabs(log(calls_per_mib(x) / calls_per_mib(s)));
		if (distance < least) {
			least = distance;
			found = x;
		}
	}
	return found;
}

/* What stdio's buffer does. */
static void lesson_stdio(const struct compare *c, struct buf *out)
{
	const struct subject *stdio = row(c, "fgetc/fputc", 0);
	const struct subject *byte = row(c, "read/write", 1);
	if (!stdio || !stdio->counted)
		return;
	const struct subject *alike = nearest_by_calls(c, stdio);
	buf_adds(out, "fgetc/fputc handles single bytes too, but ");
	say_calls(c, stdio, out);
	buf_adds(out, " only");
	if (alike) {
		buf_adds(out, ", like read/write with ");
		say_size(out, (double)alike->buffer);
	}
	buf_adds(out, ", for the C library's buffer stands between");
	if (byte && compare_slower(c, byte, stdio)) {
		buf_adds(out, ": it is ");
		say_ratio(out, byte->wall.of.median / stdio->wall.of.median);
		buf_adds(out, " faster than read/write of 1 byte");
	}
	if (kernel_share(stdio) >= 0 && kernel_share(stdio) < 50)
		buf_addf(out,
			 ", and %.0f %% of its CPU time is spent outside the kernel, in a function call a character",
			 100 - kernel_share(stdio));
	buf_adds(out, ".\n");
}

/* What the one-shot buffer gets in time for its memory. */
static void say_gain(const struct compare *c, const struct subject *shot, const struct subject *best, struct buf *out)
{
	double ratio = best->wall.of.median / shot->wall.of.median;
	if (compare_slower(c, best, shot) && ratio > 1 + WORTHWHILE) {
		buf_adds(out, " and is ");
		say_ratio(out, ratio);
		buf_adds(out, " faster for it.\n");
	} else if (compare_slower(c, shot, best) && ratio < 1 / (1 + WORTHWHILE)) {
		buf_adds(out, " and is ");
		say_ratio(out, 1 / ratio);
		buf_adds(out, " slower all the same.\n");
	} else {
		buf_adds(out, " and gains no time worth it.\n");
	}
}

static void lesson_one_shot(const struct compare *c, struct buf *out)
{
	const struct subject *shot = row(c, "one-shot", 0);
	const struct subject *best = compare_knee(c, "read/write");
	/* Against a tiny buffer it would win by its calls, which says nothing of the memory. */
	if (!shot || !best || best->buffer < 1024 || shot->peak_rss <= 0 || best->peak_rss <= 0)
		return;
	if (shot->peak_rss < best->peak_rss * (1 + WORTHWHILE)) {
		buf_adds(out,
			 "one-shot holds the whole file in memory, but this file is too small for that to show.\n");
		return;
	}
	buf_adds(out, "one-shot holds the whole file in memory: it takes ");
	say_size(out, shot->peak_rss);
	buf_adds(out, " against ");
	say_size(out, best->peak_rss);
	buf_adds(out, " of read/write with ");
	say_size(out, (double)best->buffer);
	say_gain(c, shot, best, out);
}

/* Any other comparison: the fastest against each of the others that matters most, the next and the slowest. */
static void lesson_ends(const struct compare *c, struct buf *out)
{
	const struct subject *best = compare_fastest(c);
	const struct subject *worst = NULL;
	const struct subject *next = NULL;
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		if (!usable(s) || s == best)
			continue;
		if (!worst || s->wall.of.median > worst->wall.of.median)
			worst = s;
		if (!next || s->wall.of.median < next->wall.of.median)
			next = s;
	}
	if (!best || !worst)
		return;
	if (!compare_slower(c, worst, best)) {
		buf_adds(out, "No difference in time is seen between ");
		compare_label(out, best);
		buf_adds(out, " and ");
		compare_label(out, worst);
		buf_adds(out, ": the 95 % interval of their ratio holds 1.\n");
		return;
	}
	compare_label(out, best);
	buf_adds(out, " is the fastest, ");
	say_ratio(out, worst->wall.of.median / best->wall.of.median);
	buf_adds(out, " faster than ");
	compare_label(out, worst);
	if (best->counted && worst->counted && best->calls != worst->calls) {
		buf_adds(out, ", with ");
		count_human(out, best->calls);
		buf_adds(out, " calls against ");
		count_human(out, worst->calls);
	}
	buf_adds(out, ".\n");
	if (next != worst && !compare_slower(c, next, best)) {
		buf_adds(out, "Between it and ");
		compare_label(out, next);
		buf_adds(out, " no difference is seen.\n");
	}
}

void compare_lessons(const struct compare *c, struct buf *out)
{
	size_t before = out->len;
	const struct subject *best = compare_fastest(c);
	if (!best || best->wall.of.median <= 0)
		return;
	if (best->wall.of.n < 2) {
		buf_adds(out, "One run of each cannot tell a difference from chance: give more --runs.\n");
		return;
	}
	lesson_small_buffer(c, out);
	lesson_knee(c, out);
	lesson_stdio(c, out);
	lesson_one_shot(c, out);
	if (out->len == before)
		lesson_ends(c, out);
}

/* Is it a call of a program's start, or one that only waits for another program? */
static bool is_beside_the_work(const struct call_stats *k)
{
	static const char *const names[] = {"execve", "wait4", "waitid"};
	bool is = false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !is; i++)
		is = k->nr == syscall_number(k->arch, names[i]);
	return is;
}

/* The call that took the most of the time in calls; NULL where the times do not tell. */
static const struct call_stats *dearest_call(const struct subject *s)
{
	const struct call_stats *found = NULL;
	const struct summary *sum = &s->count.calls;
	for (size_t g = 0; g < sum->groups.n; g++)
		for (size_t i = 0; i < sum->groups.v[g]->calls.n; i++) {
			const struct call_stats *k = sum->groups.v[g]->calls.v[i];
			if (call_stats_resolved(k) == RESOLVED && !is_beside_the_work(k) &&
			    (!found || k->ns > found->ns))
				found = k;
		}
	return s->call_seconds > s->call_resolution ? found : NULL;
}

/* "521 calls per MiB after 29 before main, 3,817 bytes a call": calls that come once are told apart. */
static void explain_calls(const struct subject *s, struct buf *out)
{
	uint64_t before = s->strategy ? s->count.result.before_main : 0;
	if (s->strategy) {
		count_human(out, s->calls - before);
		buf_adds(out, " calls (");
		count_human(out, (uint64_t)llround(calls_per_mib(s)));
		buf_addf(out, " per MiB) after %" PRIu64 " before main", before);
	} else {
		count_human(out, s->calls);
		buf_adds(out, s->calls == 1 ? " call" : " calls");
	}
	/* Where most bytes go past the calls' results (mapped, or handed over in a ring), their number says nothing. */
	double each = (double)s->moved / (double)(s->calls - before);
	if (s->strategy && s->moved < s->counted_bytes / 2) {
		buf_adds(out, ", whose results carry none of the bytes");
	} else {
		buf_adds(out, ", ");
		each < 9.95 ? buf_addf(out, "%.1f", each) : count_human(out, (uint64_t)llround(each));
		buf_adds(out, " bytes a call");
	}
}

/* The row's own figures. */
static void explain_figures(const struct subject *s, struct buf *out)
{
	if (s->counted && s->calls > s->count.result.before_main) {
		const struct call_stats *dear = dearest_call(s);
		explain_calls(s, out);
		if (s->call_seconds > s->call_resolution) {
			buf_adds(out, ", ");
			say_time(out, s->call_seconds / (double)s->calls);
			buf_adds(out, " each");
		}
		if (dear) {
			buf_addf(out, ", %.0f %% of it in ", 100 * dear->ns * 1e-9 / s->call_seconds);
			syscall_name(out, dear->arch, dear->nr);
		}
	} else {
		say_time(out, s->wall.of.median);
	}
	if (kernel_share(s) >= 0)
		buf_addf(out, "; %.0f %% of its CPU time in the kernel, %.0f %% outside", kernel_share(s),
			 100 - kernel_share(s));
	buf_addc(out, '.');
}

/* Another buffer of the strategy above: what that changed. */
static void explain_step(const struct compare *c, const struct subject *s, const struct subject *before,
			 struct buf *out)
{
	double time = before->wall.of.median / s->wall.of.median;
	bool slower = compare_slower(c, s, before);
	bool faster = compare_slower(c, before, s);
	buf_adds(out, " Against ");
	compare_label(out, before);
	buf_adds(out, ": ");
	if (s->counted && before->counted && !s->partly && !before->partly) {
		double calls = (double)before->calls / (double)s->calls;
		factor_human(out, calls >= 1 ? calls : 1 / calls);
		buf_addf(out, " times %s calls, ", calls >= 1 ? "fewer" : "more");
	}
	if (slower || faster) {
		factor_human(out, faster ? time : 1 / time);
		buf_addf(out, " times %s.\n", faster ? "faster" : "slower");
	} else {
		buf_adds(out, "no difference in time is seen.\n");
	}
}

/* Two sentences a row: its own figures, then the mechanism, or what a further buffer of the same changed. */
static void explain_one(const struct compare *c, const struct subject *s, const struct subject *before, struct buf *out)
{
	compare_label(out, s);
	buf_adds(out, ": ");
	explain_figures(s, out);
	if (s->strategy && before && before->strategy == s->strategy && usable(before)) {
		explain_step(c, s, before, out);
		return;
	}
	buf_addc(out, ' ');
	if (s->strategy) {
		char first = s->strategy->why[0];
		buf_addc(out, first >= 'a' && first <= 'z' ? (char)(first - 'a' + 'A') : first);
		buf_addf(out, "%s.\n", s->strategy->why + 1);
		return;
	}
	double cpu = s->user.of.mean + s->system.of.mean;
	buf_adds(out, "Its ");
	say_time(out, s->wall.of.median);
	buf_adds(out, " of wall time hold ");
	say_time(out, cpu);
	buf_adds(out, cpu > s->wall.of.median ? " of CPU time: more than one processor worked for it.\n"
					      : " of CPU time; the rest is waiting.\n");
}

void compare_explain(const struct compare *c, struct buf *out)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (usable(c->subjects.v[i]))
			explain_one(c, c->subjects.v[i], i ? c->subjects.v[i - 1] : NULL, out);
}
