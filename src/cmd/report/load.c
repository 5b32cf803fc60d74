/* Reading saved runs, and whether they can be laid side by side at all. */
#include "cmd/report/report.h"

#include "base/escape.h"
#include "measure/env.h"
#include "run/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Members that must be equal for two runs of a kind to be comparable, and what it means where they are not. */
static const struct {
	const char *kind, *path, *means;
} must_equal[] = {
	{"compare", "settings.input_bytes", "the inputs are of different size"},
	{"compare", "settings.cold", "one ran with a cold cache, the other with a warm one"},
	{"compare", "settings.fsync", "one waited for the device (--fsync), the other did not"},
	{"bench-syscall", "method.mode", "the calls were timed in different ways"},
	{"bench-switch", "method.working_set_bytes", "the working sets touched per switch differ"},
	{"bench-sched", "method.alone_s", "the work of a process differs"},
	{"bench-latency", "method.interval_ns", "the timers' intervals differ"},
	{"bench-load", "method.command", "different commands were run under load"},
	{"bench-load", "method.suite_times", "the suite was run a different number of times"},
	{"bench-load", "method.suite_without", "the suite was without different operations"},
};

const json_t *report_member(const json_t *o, const char *path)
{
	while (o && *path) {
		size_t len = strcspn(path, ".");
		o = json_object_getn(o, path, len);
		path += len + (path[len] == '.');
	}
	return o;
}

double report_number(const json_t *o, const char *path)
{
	const json_t *v = report_member(o, path);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

const struct report_subject *report_find(const struct report_run *run, const char *name)
{
	for (size_t i = 0; i < run->subjects.n; i++)
		if (strcmp(run->subjects.v[i].name, name) == 0)
			return &run->subjects.v[i];
	return NULL;
}

void report_run_free(struct report_run *run)
{
	for (size_t i = 0; i < run->subjects.n; i++)
		free(run->subjects.v[i].samples);
	vec_free(&run->subjects);
	summary_free(&run->calls);
	json_decref(run->doc);
	free(run->label);
}

void report_free(struct report *r)
{
	for (size_t i = 0; i < r->runs.n; i++)
		report_run_free(&r->runs.v[i]);
	for (size_t i = 0; i < r->parts.n; i++) {
		table_free(r->parts.v[i].table);
		free(r->parts.v[i].heading);
	}
	for (size_t i = 0; i < r->strings.n; i++)
		free(r->strings.v[i]);
	for (size_t i = 0; i < r->kept.n; i++)
		json_decref(r->kept.v[i]);
	vec_free(&r->kept);
	vec_free(&r->strings);
	vec_free(&r->runs);
	vec_free(&r->parts);
	vec_free(&r->figures);
	buf_free(&r->lessons);
	buf_free(&r->differences);
	buf_free(&r->notes);
}

/* Seconds in a unit of time by its name; 0: it is none. */
static double unit_seconds(const char *unit)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
	for (size_t i = 0; unit && i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].seconds;
	return 0;
}

/* Reads the samples of a row, in seconds. 0, -EINVAL: damaged, -ENOMEM. */
static int read_samples(struct report_subject *s)
{
	const char *unit = json_string_value(json_object_get(s->row, "unit"));
	double scale = unit_seconds(unit);
	char key[32];
	snprintf(key, sizeof(key), "samples_%.8s", unit ? unit : "");
	const json_t *array = json_object_get(s->row, key);
	if (scale == 0 || !array)
		return 0;
	int rc = run_get_reals(array, &s->samples, &s->n);
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		s->samples[i] *= scale;
	return rc < 0 ? rc : sample_summarise(s->samples, s->n, &s->s);
}

static int read_subjects(struct report_run *run, struct buf *why)
{
	size_t i;
	json_t *row;
	json_array_foreach(run_results(run->doc), i, row)
	{
		struct report_subject s = {.name = json_string_value(json_object_get(row, "name")), .row = row};
		s.unable = json_string_value(json_object_get(row, "unable"));
		int rc = s.name ? read_samples(&s) : -EINVAL;
		if (rc == 0 && report_find(run, s.name))
			rc = -EINVAL;
		if (rc == 0 && !vec_push(&run->subjects, s))
			rc = -ENOMEM;
		if (rc == 0)
			continue;
		free(s.samples);
		buf_addf(why, "'%s' is damaged: row %zu of its results cannot be read", run->path, i + 1);
		return rc;
	}
	return 0;
}

/* The file's name without folders and ".json". */
static char *label_of(const char *path)
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	size_t len = strlen(base);
	if (len > 5 && strcmp(base + len - 5, ".json") == 0)
		len -= 5;
	return len ? strndup(base, len) : strdup(path);
}

static int load_one(struct report *r, const char *path, struct buf *why)
{
	struct report_run run = {.path = path, .doc = run_load(path, why)};
	if (!run.doc)
		return -EINVAL;
	run.label = label_of(path);
	if (!run.label || !vec_push(&r->runs, run)) {
		report_run_free(&run);
		return -ENOMEM;
	}
	struct report_run *at = &r->runs.v[r->runs.n - 1];
	if (strcmp(run_kind(at->doc), "count") != 0)
		return read_subjects(at, why);
	struct buf inner = {0};
	int rc = run_get_summary(at->doc, &at->calls, &inner);
	if (rc < 0)
		buf_addf(why, "'%s': %s", path, buf_str(&inner));
	buf_free(&inner);
	return rc;
}

/* "A, B, C" of a run's subjects, at most some. */
static void name_subjects(const struct report_run *run, struct buf *out)
{
	size_t shown = run->subjects.n < 4 ? run->subjects.n : 4;
	if (!shown)
		buf_adds(out, "nothing");
	for (size_t i = 0; i < shown; i++)
		buf_addf(out, "%s%s", i ? ", " : "", run->subjects.v[i].name);
	if (shown < run->subjects.n)
		buf_addf(out, " and %zu more", run->subjects.n - shown);
}

static bool share_a_subject(const struct report_run *a, const struct report_run *b)
{
	for (size_t i = 0; i < b->subjects.n; i++)
		if (report_find(a, b->subjects.v[i].name))
			return true;
	return false;
}

/* Is a sample of this mode of bench syscall one call? */
static bool one_call(const json_t *mode)
{
	const char *s = json_string_value(mode);
	return s && (strcmp(s, "single") == 0 || strcmp(s, "per-process") == 0);
}

/*
 * Times that were calibrated are equal within a tenth, all else exactly; but single calls in one process and each in its
 * own are laid side by side, as published measurements do: which is which stands in a note.
 */
static bool equal_enough(const json_t *x, const json_t *y)
{
	if (one_call(x) && one_call(y))
		return true;
	if (!json_is_real(x) || !json_is_real(y))
		return json_equal((json_t *)x, (json_t *)y);
	return fabs(json_real_value(x) - json_real_value(y)) <= 0.1 * fabs(json_real_value(x));
}

static void say_value(const json_t *v, struct buf *out)
{
	char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
	buf_adds(out, text ? text : "unknown");
	free(text);
}

/* Can `b` be laid beside `a`? 0, or -EINVAL and the reason. */
static int comparable(const struct report_run *a, const struct report_run *b, struct buf *why)
{
	const char *kind = run_kind(a->doc);
	if (strcmp(kind, run_kind(b->doc)) != 0) {
		buf_addf(why, "'%s' and '%s' cannot be compared: the one is a run of kind '%s', the other of '%s'",
			 a->path, b->path, kind, run_kind(b->doc));
		return -EINVAL;
	}
	for (size_t i = 0; i < sizeof(must_equal) / sizeof(*must_equal); i++) {
		const json_t *x = report_member(a->doc, must_equal[i].path);
		const json_t *y = report_member(b->doc, must_equal[i].path);
		if (strcmp(kind, must_equal[i].kind) != 0 || !x || !y || equal_enough(x, y))
			continue;
		buf_addf(why, "'%s' and '%s' cannot be compared: %s (%s: ", a->path, b->path, must_equal[i].means,
			 must_equal[i].path);
		say_value(x, why);
		buf_adds(why, " and ");
		say_value(y, why);
		buf_adds(why, ")");
		return -EINVAL;
	}
	if (strcmp(kind, "count") == 0 || share_a_subject(a, b))
		return 0;
	buf_addf(why, "'%s' and '%s' cannot be compared: they have nothing in common; the one measured ", a->path,
		 b->path);
	name_subjects(a, why);
	buf_adds(why, ", the other ");
	name_subjects(b, why);
	return -EINVAL;
}

/* What --names calls a run must tell it from the others: 0, or -ERANGE. */
static int labels_differ(const struct report *r, struct buf *why)
{
	for (size_t i = 0; i < r->runs.n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(r->runs.v[i].label, r->runs.v[k].label) == 0) {
				buf_addf(why, "--names calls two runs '%s'", r->runs.v[i].label);
				return -ERANGE;
			}
	return 0;
}

/* Labels from --names, else from the files; equal ones are told apart by the whole path. */
static int choose_labels(struct report *r, struct buf *why)
{
	const char *names = r->opt.names;
	for (size_t i = 0; i < r->runs.n && names; i++) {
		size_t len = strcspn(names, ",");
		if (!len)
			break;
		free(r->runs.v[i].label);
		r->runs.v[i].label = strndup(names, len);
		if (!r->runs.v[i].label)
			return -ENOMEM;
		names += len + (names[len] == ',');
		if (i + 1 == r->runs.n && *names == '\0')
			return labels_differ(r, why);
	}
	if (names) {
		buf_addf(why, "--names must name each of the %zu runs, by comma, and no more", r->runs.n);
		return -ERANGE;
	}
	for (size_t i = 0; i < r->runs.n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(r->runs.v[i].label, r->runs.v[k].label) == 0) {
				free(r->runs.v[i].label);
				r->runs.v[i].label = strdup(r->runs.v[i].path);
				if (!r->runs.v[i].label)
					return -ENOMEM;
			}
	return 0;
}

/* Chosen, and fit for printing. */
static int set_labels(struct report *r, struct buf *why)
{
	int rc = choose_labels(r, why);
	for (size_t i = 0; rc == 0 && i < r->runs.n; i++) {
		struct buf shown = {0};
		char *label = r->runs.v[i].label;
		escape_line(&shown, label, strlen(label));
		r->runs.v[i].label = buf_take(&shown);
		free(label);
		rc = r->runs.v[i].label ? 0 : -ENOMEM;
	}
	return rc;
}

/* The text of a note (a string) or of a warning (an object), and its advice; NULL where it has none. */
static const char *note_text(const json_t *v, const char **advice)
{
	*advice = json_string_value(json_object_get(v, "advice"));
	return json_string_value(json_is_object(v) ? json_object_get(v, "what") : v);
}

/* Does a run hold this text among its `group`? */
static bool has_note(const struct report_run *run, const char *group, const char *text)
{
	size_t i;
	json_t *v;
	json_array_foreach(json_object_get(run->doc, group), i, v)
	{
		const char *advice;
		const char *other = note_text(v, &advice);
		if (other && strcmp(other, text) == 0)
			return true;
	}
	return false;
}

/* Adds a note of run `k` with the names of all runs that have it, unless an earlier one had it. */
static void repeat_note(struct report *r, size_t k, const char *group, const json_t *v)
{
	const char *advice;
	const char *text = note_text(v, &advice);
	if (!text || !*text)
		return;
	for (size_t i = 0; i < k; i++)
		if (has_note(&r->runs.v[i], group, text))
			return;
	buf_adds(&r->notes, r->runs.v[k].label);
	for (size_t i = k + 1; i < r->runs.n; i++)
		if (has_note(&r->runs.v[i], group, text))
			buf_addf(&r->notes, ", %s", r->runs.v[i].label);
	buf_addf(&r->notes, ": %s%s%s\n", text, advice ? "; " : "", advice ? advice : "");
}

/* What a run itself told when it was made: notes of bench, warnings of compare, and its lessons where it is alone. */
static void repeat_notes(struct report *r, size_t k)
{
	static const char *const groups[] = {"notes", "warnings"};
	const struct report_run *run = &r->runs.v[k];
	size_t n;
	json_t *v;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		json_array_foreach(json_object_get(run->doc, groups[i]), n, v) repeat_note(r, k, groups[i], v);
	}
	if (r->runs.n == 1)
		json_array_foreach(json_object_get(run->doc, "lessons"), n, v)
			buf_addf(&r->lessons, "%s\n", json_string_value(v) ? json_string_value(v) : "");
}

/* Other work on the machine is what makes runs differ most. Bench and compare note it by themselves. */
static void note_load(struct report *r, const struct report_run *run)
{
	if (json_object_get(run->doc, "notes") || json_object_get(run->doc, "warnings"))
		return;
	double load = report_number(run->doc, "environment.load.1min");
	double cpus = report_number(run->doc, "environment.cpu.online");
	if (load > 0.5 * cpus)
		buf_addf(&r->notes, "%s was measured on a busy machine: load average %.2f on %.0f CPU%s.\n", run->label,
			 load, cpus, cpus == 1 ? "" : "s");
}

/* Words and switches of how it was measured that differ, and yet leave the runs comparable (a policy, CPUs). */
static void note_method(struct report *r, const struct report_run *run)
{
	static const char *const groups[] = {"method", "settings"};
	const struct report_run *first = &r->runs.v[0];
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		const char *key;
		json_t *v;
		json_object_foreach(json_object_get(first->doc, groups[i]), key, v)
		{
			const json_t *other = json_object_get(json_object_get(run->doc, groups[i]), key);
			bool telling = json_is_string(v) || json_is_boolean(v);
			if (!telling || !other || json_equal(v, (json_t *)other))
				continue;
			buf_addf(&r->notes, "Measured in another way: %s is ", key);
			say_value(v, &r->notes);
			buf_addf(&r->notes, " in %s and ", first->label);
			say_value(other, &r->notes);
			buf_addf(&r->notes, " in %s.\n", run->label);
		}
	}
}

/* Says where the machines differ, and what else of a run the reader must know. */
static void describe_runs(struct report *r)
{
	const json_t *first = json_object_get(r->runs.v[0].doc, "environment");
	const char *version = json_string_value(json_object_get(r->runs.v[0].doc, "sctrace_version"));
	for (size_t i = 0; i < r->runs.n; i++) {
		struct report_run *run = &r->runs.v[i];
		const char *other = json_string_value(json_object_get(run->doc, "sctrace_version"));
		if (json_is_true(json_object_get(run->doc, "interrupted")))
			buf_addf(&r->notes, "%s was interrupted: it holds what was measured until then.\n", run->label);
		if (version && other && strcmp(version, other) != 0)
			buf_addf(&r->notes, "%s was saved by sctrace %s, %s by %s.\n", r->runs.v[0].label, version,
				 run->label, other);
		repeat_notes(r, i);
		note_load(r, run);
		const json_t *env = json_object_get(run->doc, "environment");
		if (i == 0)
			continue;
		note_method(r, run);
		struct buf lines = {0};
		if (!json_is_object(env) || !json_is_object(first))
			buf_addf(&r->notes, "The machine of %s or of %s is not known.\n", r->runs.v[0].label,
				 run->label);
		else if (env_differences(first, env, &lines) > 0) {
			if (r->runs.n > 2)
				buf_addf(&r->differences, "%s | %s:\n", r->runs.v[0].label, run->label);
			buf_add(&r->differences, lines.s, lines.len);
		}
		buf_free(&lines);
	}
}

int report_load(struct report *r, char *const *paths, size_t n, struct buf *why)
{
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = load_one(r, paths[i], why);
		if (rc == 0 && i > 0)
			rc = comparable(&r->runs.v[0], &r->runs.v[i], why);
	}
	if (rc == 0)
		rc = set_labels(r, why);
	if (rc < 0)
		return rc;
	r->kind = run_kind(r->runs.v[0].doc);
	describe_runs(r);
	return 0;
}
