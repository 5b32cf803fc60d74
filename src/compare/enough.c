/* SPDX-License-Identifier: MIT */
/* Decides when a comparison has enough rounds, by a sequential test. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/words.h"
#include "compare/compare.h"
#include "out/width.h"
#include "stats/change.h"
#include "stats/random.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A time is precise enough if its interval ends at most PRECISE (2 %) above it. A difference between two times that is
 * smaller than ALIKE (1 %) does not matter.
 */
#define PRECISE 0.02
#define ALIKE   0.01

/*
 * The intervals are tested for the first time after this number of rounds. With fewer rounds, they would be so wide
 * that the test would decide nothing, because repeated tests need wider intervals.
 */
#define LOOK_FIRST 12

static size_t first_look(const struct compare *c)
{
	return c->opt.min_runs > LOOK_FIRST ? (size_t)c->opt.min_runs : LOOK_FIRST;
}

/*
 * Returns true if the intervals may be tested after `n` rounds. Each test increases the probability of a wrong
 * decision, so there are at most CHANGE_LOOKS tests, the last one at the end of the measurement. From one test to the
 * next, the number of rounds grows by three quarters.
 */
static bool is_look(const struct compare *c, size_t n)
{
	size_t at = first_look(c);
	for (int i = 0; i < CHANGE_LOOKS - 1; i++) {
		if (at == n)
			return true;
		at += at * 3 / 4;
	}
	return false;
}

int compare_looks(const struct compare *c)
{
	bool early = false;
	for (size_t i = 0; i < c->subjects.n; i++)
		early |= c->subjects.v[i]->samples.n >= first_look(c);
	return early && !c->opt.runs && !c->opt.min_time ? CHANGE_LOOKS : 1;
}

/* Returns an array of the wall times in seconds, which the caller frees. */
static double *times(const struct subject *s)
{
	double *v = memory_zeroed(s->samples.n + 1, sizeof(*v));
	for (size_t i = 0; i < s->samples.n; i++)
		v[i] = (double)s->samples.v[i].wall_ns * 1e-9;
	return v;
}

static bool precise(const struct subject *s, double share)
{
	struct change at;
	auto_free double *v = times(s);
	return change_locate(v, s->samples.n, CHANGE_ALPHA, &at) == 0 &&
	       at.interval.high - at.value <= share * at.value;
}

/* Returns true if the interval of the ratio shows that `a` and `b` differ, or that they differ by less than ALIKE. */
static bool decided(const struct subject *a, const struct subject *b)
{
	struct change ratio;
	auto_free double *x = times(a);
	auto_free double *y = times(b);
	struct change_spec spec = {.a = x,
				   .na = a->samples.n,
				   .b = y,
				   .nb = b->samples.n,
				   .paired = true,
				   .relative = true,
				   .alpha = CHANGE_ALPHA / CHANGE_LOOKS};
	int rc = change_measure(&spec, &ratio);
	return rc == 0 && (!boot_spans_one(&ratio.interval) ||
			   (ratio.interval.low > 1 - ALIKE && ratio.interval.high < 1 + ALIKE));
}

static double mean(const struct subject *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->samples.n; i++)
		sum += (double)s->samples.v[i].wall_ns;
	return s->samples.n && !s->unable ? sum / (double)s->samples.n : INFINITY;
}

/* Returns true if `word` is the label of the subject (read/write 4K), or its name without the buffer size. */
static bool is_named(const struct subject *s, const char *word)
{
	auto_buf label = {0};
	compare_label(&label, s);
	return strcmp(s->name, word) == 0 || strcmp(buf_str(&label), word) == 0;
}

/* Returns the subject that --reference names, or NULL. */
static const struct subject *named_reference(const struct compare *c)
{
	for (size_t i = 0; c->opt.reference && i < c->subjects.n; i++)
		if (is_named(c->subjects.v[i], c->opt.reference))
			return c->subjects.v[i];
	return NULL;
}

/* Appends that no row has the name that --reference gives, and similar names or an example. */
static void unknown_reference(const struct compare *c, struct buf *why)
{
	struct words labels = {0};
	struct near near = {.word = c->opt.reference};
	for (size_t i = 0; i < c->subjects.n; i++) {
		struct buf label = {0};
		compare_label(&label, c->subjects.v[i]);
		words_take(&labels, buf_take(&label));
		near_offer(&near, labels.list.v[i]);
	}
	buf_addf(why, "--reference names the row '%s', which does not exist", c->opt.reference);
	if (near.n)
		near_say(&near, "", why);
	else
		buf_addf(why, "; write for example '%s'", labels.list.v[0]);
	words_free(words_done(&labels));
}

int compare_check_reference(const struct compare *c, struct buf *why)
{
	const struct subject *found[2] = {NULL, NULL};
	size_t n = 0;
	for (size_t i = 0; c->opt.reference && i < c->subjects.n && n < 2; i++)
		if (is_named(c->subjects.v[i], c->opt.reference))
			found[n++] = c->subjects.v[i];
	if (!c->opt.reference || n == 1)
		return 0;
	if (n == 0)
		unknown_reference(c, why);
	else {
		buf_addf(why, "--reference '%s' names several rows; add the buffer size, for example '",
			 c->opt.reference);
		compare_label(why, found[0]);
		buf_adds(why, "' or '");
		compare_label(why, found[1]);
		buf_addc(why, '\'');
	}
	return -EINVAL;
}

/* Returns the subject with which the others are compared: the one that --reference names, or the fastest one so far. */
static const struct subject *reference(const struct compare *c)
{
	const struct subject *best = named_reference(c);
	if (best)
		return best;
	for (size_t i = 0; i < c->subjects.n; i++)
		if (!best || mean(c->subjects.v[i]) < mean(best))
			best = c->subjects.v[i];
	return best;
}

/*
 * Returns true if the comparison of `s` with the reference is decided. If `s` is the reference itself, all comparisons
 * must be decided.
 */
static bool answered(const struct compare *c, const struct subject *s)
{
	const struct subject *to = reference(c);
	bool all = true;
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *x = c->subjects.v[i];
		if (x != to && !x->unable && (s == to || s == x))
			all &= decided(to, x);
	}
	return all;
}

bool compare_enough(const struct compare *c, size_t i)
{
	const struct subject *s = c->subjects.v[i];
	double total = 0;
	double extra = 0;
	for (size_t k = 0; k < s->samples.n; k++) {
		double t = (double)s->samples.v[k].wall_ns;
		total += t;
		extra += k >= (size_t)c->opt.min_runs ? t : 0;
	}
	if (c->opt.min_time)
		return total >= (double)c->opt.min_time;
	/*
	 * Each subject has the same share of max_time, so that a slow subject does not leave fewer runs to the fast
	 * ones.
	 */
	if (extra > (double)c->opt.max_time / (double)c->subjects.n)
		return true;
	if (!is_look(c, s->samples.n))
		return false;
	return c->subjects.n == 1 ? precise(s, ALIKE) : precise(s, PRECISE) && answered(c, s);
}

/* The progress line on standard error: what runs, for how long, and how much time remains. */

/* Prints the line, escaped, and truncated to the width of the terminal. */
static void show(const struct buf *line)
{
	auto_buf shown = {0};
	struct table_look look = width_look(STDERR_FILENO);
	size_t room = look.width > 1 ? (size_t)look.width - 1 : 79;
	escape_line(&shown, buf_str(line), line->len);
	size_t columns = 0;
	size_t end = 0;
	while (end < shown.len && columns < room) {
		size_t len = escape_utf8_len(shown.s + end, shown.len - end);
		end += len ? len : 1;
		columns++;
	}
	fprintf(stderr, "\r\033[K%.*s", (int)end, buf_str(&shown));
	fflush(stderr);
}

void compare_progress_end(const struct compare *c)
{
	if (c->progress)
		fputs("\r\033[K", stderr);
}

void compare_progress_count(const struct compare *c, size_t i)
{
	if (!c->progress)
		return;
	auto_buf line = {0};
	buf_addf(&line, "counting calls, %zu of %zu: ", i + 1, c->subjects.n);
	compare_label(&line, c->subjects.v[i]);
	show(&line);
}

/*
 * Returns the mean time of the runs so far in seconds; before the first run, the time of the warm-up; before the
 * warm-up, 0.
 */
static double typical_s(const struct subject *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->samples.n; i++)
		sum += (double)s->samples.v[i].wall_ns * 1e-9;
	if (s->samples.n)
		return sum / (double)s->samples.n;
	return s->has_first ? (double)s->first.wall_ns * 1e-9 : 0;
}

double compare_left_s(const struct compare *c, double elapsed_s)
{
	double due = 0;  /* time of the runs that are certainly still to come */
	double done = 0; /* time of the runs so far, including warm-ups */
	double over = 0; /* time of the runs beyond the minimum number */
	for (size_t i = 0; i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		double one = typical_s(s);
		double ran = one * (double)s->samples.n;
		double wanted = one * c->opt.min_runs;
		double least = (double)c->opt.min_time * 1e-9;
		wanted = wanted > least ? wanted : least;
		if (s->unable)
			continue;
		done += ran + (s->has_first ? (double)s->first.wall_ns * 1e-9 : 0);
		due += wanted > ran ? wanted - ran : 0;
		over += ran > wanted ? ran - wanted : 0;
	}
	/* The time between runs (to start programs, to check copies) is added in proportion. */
	double stretch = done > 0 && elapsed_s > done ? elapsed_s / done : 1;
	double budget = c->opt.runs || c->opt.min_time ? 0 : (double)c->opt.max_time * 1e-9;
	/* After the minimum number of runs, further runs start until max_time is used up or the times are precise. */
	double beyond = budget - over * stretch;
	return due * stretch + (beyond > 0 ? beyond : 0);
}

void compare_progress_time(const struct compare *c, size_t i, int round)
{
	if (!c->progress)
		return;
	const struct subject *s = c->subjects.v[i];
	auto_buf line = {0};
	if (round < 0)
		buf_addf(&line, "warm-up, %zu of %zu: ", i + 1, c->subjects.n);
	else
		buf_addf(&line, "timed run %d, %s %.0f s left: ", round + 1,
			 c->opt.runs || c->opt.min_time ? "about" : "at most",
			 compare_left_s(c, (double)(clock_ns() - c->started_ns) * 1e-9));
	compare_label(&line, s);
	if (round >= 0 && typical_s(s) > 0) {
		buf_adds(&line, ", ");
		duration_human(&line, typical_s(s) * 1e9);
	}
	show(&line);
}

struct round {
	size_t *order; /* the subjects that take part in the next round */
	size_t n;
	struct rng random;
};

/*
 * Runs each remaining subject once, and removes those that cannot run. The order is random: if a subject always ran
 * after the same other subject, it would always find the caches and the CPU in the state in which that subject leaves
 * them.
 */
static int run_round(const struct runner *r, struct round *round, int number)
{
	rng_shuffle(&round->random, round->order, round->n);
	size_t kept = 0;
	for (size_t i = 0; i < round->n; i++) {
		int err = r->run(r->ctx, round->order[i], number);
		if (err < 0)
			return err;
		if (err == 0)
			round->order[kept++] = round->order[i];
	}
	round->n = kept;
	return 0;
}

static void drop_finished(const struct runner *r, struct round *round)
{
	size_t kept = 0;
	for (size_t i = 0; i < round->n; i++)
		if (!r->enough(r->ctx, round->order[i]))
			round->order[kept++] = round->order[i];
	round->n = kept;
}

static int run_all(const struct runner *r, struct round *round)
{
	for (unsigned i = 0; i < r->warmup; i++) {
		int err = run_round(r, round, -1);
		if (err < 0)
			return err;
	}
	uint64_t start = 0;
	for (unsigned i = 0; i < r->max_runs && round->n; i++) {
		if (i == r->min_runs)
			start = clock_ns();
		if (i >= r->min_runs)
			drop_finished(r, round);
		if (i >= r->min_runs && clock_ns() - start > r->budget_ns)
			break;
		int err = run_round(r, round, (int)i);
		if (err < 0)
			return err;
	}
	return 0;
}

int runner_go(const struct runner *r)
{
	struct round round = {.order = memory_zeroed(r->subjects + 1, sizeof(size_t)), .n = r->subjects};
	rng_seed(&round.random, r->seed);
	for (size_t i = 0; i < r->subjects; i++)
		round.order[i] = i;
	int err = run_all(r, &round);
	free(round.order);
	return err;
}
