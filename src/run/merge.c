/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include "base/buf.h"
#include "run/judge.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * Members of struct run_method that must be equal in two runs of a kind, or these runs cannot be compared. `means` is
 * the text for the user if the member differs.
 */
static const struct {
	unsigned kind;
	const char *group, *key, *means;
} must_equal[] = {
	{RUN_COMPARE, "settings", "input_bytes", "the inputs have different sizes"},
	{RUN_COMPARE, "settings", "cold", "one was measured with a cold cache, the other with a warm one"},
	{RUN_COMPARE, "settings", "fsync", "one waited for the device (--fsync), the other did not"},
	{RUN_SYSCALL, "method", "mode", "the calls were timed in different ways"},
	{RUN_SWITCH, "method", "working_set_bytes", "the working sets of the switching tasks differ"},
	{RUN_SCHED, "method", "alone_s", "the amounts of work for each process differ"},
	{RUN_LATENCY, "method", "interval_ns", "the intervals of the timers differ"},
	{RUN_LOAD, "method", "command", "the commands that ran under load differ"},
	{RUN_LOAD, "method", "suite_times", "the suite was repeated a different number of times"},
	{RUN_LOAD, "method", "suite_without", "the operations that are missing from the suite differ"},
};

/* Returns true if bench syscall was run in a mode in which each sample is one call. */
static bool one_call(const struct run_method *m)
{
	return m->mode && (strcmp(m->mode, "single") == 0 || strcmp(m->mode, "per-process") == 0);
}

/*
 * Real numbers, such as calibrated times, may differ by a tenth; everything else must be equal, with one exception:
 * calls that were timed one by one in the same process may be compared with calls that were each timed in a new
 * process, as published measurements do. The notes of the report then show the mode of each run.
 */
static bool equal_enough(const struct field *f, const struct run_method *a, const struct run_method *b)
{
	if (strcmp(f->key, "mode") == 0 && one_call(a) && one_call(b))
		return true;
	if (f->type != FIELD_REAL)
		return field_equal(f, a, b);
	double x = field_number(f, a);
	double y = field_number(f, b);
	return fabs(x - y) <= 0.1 * fabs(x);
}

/* Appends "A, B, C" for the subjects of a run. If there are many, appends the first few and their number. */
static void name_subjects(const struct run *r, struct buf *out)
{
	enum { SHOWN = 4 };
	size_t shown = r->subjects.n < SHOWN ? r->subjects.n : SHOWN;
	buf_adds(out, shown ? "" : "nothing");
	for (size_t i = 0; i < shown; i++)
		buf_addf(out, "%s%s", i ? ", " : "", r->subjects.v[i].name);
	if (shown < r->subjects.n)
		buf_addf(out, " and %zu more", r->subjects.n - shown);
}

static bool share_a_subject(const struct run *a, const struct run *b)
{
	for (size_t i = 0; i < b->subjects.n; i++)
		if (run_find(a, b->subjects.v[i].name))
			return true;
	return false;
}

/*
 * Appends the first difference between the methods that makes a comparison invalid. Appends nothing if there is none.
 */
static void say_unlike(const struct run *a, const struct run *b, struct buf *out)
{
	for (size_t i = 0; i < sizeof(must_equal) / sizeof(*must_equal); i++) {
		const struct field *f = fields_find(&run_method_fields, must_equal[i].key);
		if (must_equal[i].kind != a->bits || !a->method.known || !b->method.known ||
		    (f->type != FIELD_STRING && (field_is_unknown(f, &a->method) || field_is_unknown(f, &b->method))) ||
		    equal_enough(f, &a->method, &b->method))
			continue;
		buf_addf(out, "%s (%s.%s: ", must_equal[i].means, must_equal[i].group, f->key);
		field_say(f, &a->method, out);
		buf_adds(out, " and ");
		field_say(f, &b->method, out);
		buf_addc(out, ')');
		return;
	}
}

static void add_selection(const struct strings *selection, struct buf *out)
{
	for (size_t i = 0; i < selection->n; i++)
		buf_addf(out, "%s%s", i ? " " : "", selection->v[i]);
	buf_adds(out, selection->n ? "" : "all");
}

/* Appends the options with which two runs of -c selected calls, if they differ. */
static void say_selections(const struct run *a, const struct run *b, struct buf *out)
{
	const struct field *f = fields_find(&run_fields, "selection");
	if (!a->selection.known || !b->selection.known || field_equal(f, a, b))
		return;
	buf_adds(out, "they counted different calls (selection: ");
	add_selection(&a->selection, out);
	buf_adds(out, " and ");
	add_selection(&b->selection, out);
	buf_addc(out, ')');
}

int run_comparable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why)
{
	auto_buf unlike = {0};
	if (strcmp(a->kind, b->kind) != 0)
		buf_addf(&unlike, "one is a run of kind '%s', the other of kind '%s'", a->kind, b->kind);
	else if (a->bits == RUN_COUNT)
		say_selections(a, b, &unlike);
	else
		say_unlike(a, b, &unlike);
	if (!unlike.len && a->bits != RUN_COUNT && !share_a_subject(a, b)) {
		buf_adds(&unlike, "they have no subject in common; one measured ");
		name_subjects(a, &unlike);
		buf_adds(&unlike, ", the other ");
		name_subjects(b, &unlike);
	}
	if (unlike.len)
		buf_addf(why, "'%s' and '%s' cannot be compared or merged: %s", path_a, path_b, buf_str(&unlike));
	return unlike.len ? -EINVAL : 0;
}

/* Appends the words of a command, separated by blanks. */
static void add_words(const struct strings *command, struct buf *out)
{
	for (size_t i = 0; i < command->n; i++)
		buf_addf(out, "%s%s", i ? " " : "", command->v[i]);
}

/* Appends the commands of two runs, or of two rows with the same name, if they differ. */
static void say_commands(const struct run *a, const struct run *b, struct buf *out)
{
	const struct field *f = fields_find(&run_fields, "command");
	if (a->bits == RUN_COUNT && a->command.known && b->command.known && !field_equal(f, a, b)) {
		buf_adds(out, "they counted the calls of different commands, '");
		add_words(&a->command, out);
		buf_adds(out, "' and '");
		add_words(&b->command, out);
		buf_addc(out, '\'');
		return;
	}
	for (size_t i = 0; i < b->subjects.n && !out->len; i++) {
		const struct run_subject *y = &b->subjects.v[i], *x = run_find(a, y->name);
		if (x && x->command && y->command && strcmp(x->command, y->command) != 0)
			buf_addf(out, "the command of the row '%s' is '%s' in one and '%s' in the other", y->name,
				 x->command, y->command);
	}
}

int run_poolable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why)
{
	auto_buf x = {0};
	auto_buf y = {0};
	auto_buf lines = {0};
	auto_buf unlike = {0};
	if (a->bits == RUN_LATENCY) {
		buf_adds(why, "runs of bench latency cannot be merged: they contain histograms, not samples");
		return -EINVAL;
	}
	run_dump(a, &x);
	run_dump(b, &y);
	if (strcmp(buf_str(&x), buf_str(&y)) == 0)
		buf_adds(&unlike, "they are the same run, which would count twice");
	else if (env_differences(&a->env, &b->env, &lines) > 0)
		buf_addf(&unlike, "their machines differ in %.*s", (int)strcspn(buf_str(&lines), "\n"),
			 buf_str(&lines));
	else
		say_commands(a, b, &unlike);
	if (unlike.len)
		buf_addf(why, "'%s' and '%s' cannot be merged: %s", path_a, path_b, buf_str(&unlike));
	return unlike.len ? -EINVAL : 0;
}

/* A number that differs in the two runs becomes unknown in the merged run. */
static void agree(double *to, double from)
{
	if (*to != from)
		*to = NAN;
}

static void merge_subject(struct run_subject *to, struct run_subject *from)
{
	for (int m = 0; m < METRICS; m++)
		for (size_t i = 0; i < from->samples[m].n; i++)
			vec_push(&to->samples[m], from->samples[m].v[i]);
	for (size_t k = 0; k < to->metrics.n; k++) {
		struct run_metric *m = &to->metrics.v[k];
		const struct run_metric *more = m->name ? run_metric_find(from, m->name) : NULL;
		for (size_t i = 0; more && i < more->samples.n; i++)
			vec_push(&m->samples, more->samples.v[i]);
	}
	for (size_t i = 0; i < from->repetitions.n; i++)
		vec_push(&to->repetitions, from->repetitions.v[i]);
	from->repetitions.n = 0; /* `to` owns their contents now */
	for (size_t i = 0; i < to->load_work.n; i++)
		to->load_work.v[i].number += i < from->load_work.n ? from->load_work.v[i].number : 0;
	to->load_span_s += from->load_span_s;
	if (!from->unable)
		field_set(&to->unable, NULL);
	agree(&to->counts.calls, from->counts.calls);
	agree(&to->counts.reads, from->counts.reads);
	agree(&to->counts.writes, from->counts.writes);
	agree(&to->counts.errors, from->counts.errors);
	agree(&to->counts.moved_bytes, from->counts.moved_bytes);
	agree(&to->counts.calls_before_main, from->counts.calls_before_main);
	agree(&to->counts.bytes_before_main, from->counts.bytes_before_main);
	agree(&to->kernel_calls, from->kernel_calls);
	agree(&to->batch, from->batch);
	agree(&to->two_loops_ns, from->two_loops_ns);
	agree(&to->round_median_ns, from->round_median_ns);
	agree(&to->own_median_ns, from->own_median_ns);
	agree(&to->voluntary_per_round, from->voluntary_per_round);
	agree(&to->involuntary_per_round, from->involuntary_per_round);
}

void run_merge(struct run *to, struct run *from)
{
	for (size_t i = 0; i < from->subjects.n; i++) {
		struct run_subject *s = &from->subjects.v[i];
		struct run_subject *same = (struct run_subject *)run_find(to, s->name);
		if (same)
			merge_subject(same, s);
		else {
			vec_push(&to->subjects, *s);
			fields_init(&run_subject_fields, s); /* `to` owns its members now */
		}
	}
	summary_merge(&to->calls, &from->calls);
	to->merged = true;
	/* Facts about the whole program become unknown, because the merged run describes several executions of it. */
	to->program.known = false;
	strings_clear(&to->footer);
	for (size_t i = 0; i < from->notes.n; i++)
		strings_add(&to->notes, from->notes.v[i]);
}
