/* What may spoil a comparison: one table of warnings, each with the condition, the words and the advice. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/size.h"
#include "run/run.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct warning_row {
	const char *name; /* in saved runs */
	bool (*found)(const struct compare *c);
	const char *what, *advice;
};

static bool usable(const struct subject *s)
{
	return !s->unable && s->wall.of.n > 0;
}

/* Does `f` hold for a row that ran? */
static bool any(const struct compare *c, bool (*f)(const struct compare *c, const struct subject *s))
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (usable(c->subjects.v[i]) && f(c, c->subjects.v[i]))
			return true;
	return false;
}

static bool noisy(const struct compare *c)
{
	return c->other_share > 0.10;
}

static double load(const struct compare *c)
{
	return json_number_value(json_object_get(json_object_get(c->env, "load"), "1min"));
}

/* Only where it ran too briefly to tell what else did: the load average remembers a minute that is over. */
static bool loaded(const struct compare *c)
{
	double cpus = json_number_value(json_object_get(json_object_get(c->env, "cpu"), "online"));
	return c->other_share < 0 && cpus > 0 && load(c) > 0.5 * cpus;
}

static bool steal(const struct compare *c)
{
	return c->steal_share > 0.01;
}

static bool is_short(const struct compare *c, const struct subject *s)
{
	(void)c;
	return s->wall.of.median < 0.005;
}

static bool short_runs(const struct compare *c)
{
	return any(c, is_short);
}

static bool is_spread(const struct compare *c, const struct subject *s)
{
	(void)c;
	return s->wall.of.n >= 3 && s->wall.of.q3 - s->wall.of.q1 > 0.2 * s->wall.of.median;
}

static bool spread(const struct compare *c)
{
	return any(c, is_spread);
}

static bool in_memory(const struct compare *c)
{
	return c->fs.in_memory;
}

static bool compresses(const struct compare *c)
{
	return c->fs.compresses;
}

static bool shares(const struct compare *c)
{
	return c->fs.shares_extents;
}

static const char *env_string(const struct compare *c, const char *section, const char *key)
{
	const char *s = json_string_value(json_object_get(json_object_get(c->env, section), key));
	return s ? s : "";
}

static bool governor(const struct compare *c)
{
	const char *g = env_string(c, "cpu", "governor");
	return (*g && strcmp(g, "performance") != 0) ||
	       json_is_true(json_object_get(json_object_get(c->env, "cpu"), "turbo"));
}

static bool debug_kernel(const struct compare *c)
{
	return json_array_size(json_object_get(json_object_get(c->env, "kernel"), "debug_options")) > 0;
}

static bool not_cold(const struct compare *c)
{
	return c->opt.cold && c->resident != 0;
}

static bool has_no_rss(const struct compare *c, const struct subject *s)
{
	(void)c;
	return s->peak_rss <= 0;
}

static bool no_rss(const struct compare *c)
{
	return any(c, has_no_rss);
}

static bool is_larger(const struct compare *c, const struct subject *s)
{
	return s->buffer > c->work.size;
}

static bool small_input(const struct compare *c)
{
	return any(c, is_larger);
}

static bool first_differs(const struct compare *c, const struct subject *s)
{
	(void)c;
	return compare_first_differs(s);
}

static bool first_run(const struct compare *c)
{
	return any(c, first_differs);
}

static bool has_outliers(const struct compare *c, const struct subject *s)
{
	(void)c;
	return compare_outliers(s) > 0;
}

static bool outliers(const struct compare *c)
{
	return any(c, has_outliers);
}

static size_t failures(const struct subject *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->samples.n; i++)
		n += compare_exit_status(&s->samples.v[i]) != 0;
	return n;
}

static bool has_failed(const struct compare *c, const struct subject *s)
{
	(void)c;
	return failures(s) > 0;
}

static bool failed(const struct compare *c)
{
	return any(c, has_failed);
}

static bool is_no_copy(const struct compare *c, const struct subject *s)
{
	(void)c;
	return s->not_a_copy;
}

static bool no_copy(const struct compare *c)
{
	return any(c, is_no_copy);
}

static bool is_lost_in_shell(const struct compare *c, const struct subject *s)
{
	return !s->strategy && s->wall.of.median < 0.2 * c->shell_s[0];
}

static bool lost_in_shell(const struct compare *c)
{
	return any(c, is_lost_in_shell);
}

static bool is_uncounted(const struct compare *c, const struct subject *s)
{
	(void)c;
	return !s->counted;
}

static bool uncounted(const struct compare *c)
{
	return !c->opt.no_count && any(c, is_uncounted);
}

static const struct warning_row rows[WARNINGS] = {
	[WARN_NOISY] = {"noisy_machine", noisy, "other programs used this machine's processors meanwhile",
			"end them, or trust only large differences"},
	[WARN_LOAD] = {"load", loaded, "this machine was busy when it began",
		       "end what else runs, or repeat at a quieter time"},
	[WARN_STEAL] = {"steal", steal, "the hypervisor gave processor time of this machine to others",
			"repeat at a quieter time"},
	[WARN_SHORT] =
		{"short_runs", short_runs,
		 "runs below 5 ms are mostly the program's start, and the kernel splits their user and system time by "
		 "its clock tick",
		 "use a larger --size, or commands that have more to do"},
	[WARN_SPREAD] = {"spread", spread, "some rows' quartiles are more than 20 % of the median apart",
			 "use more --runs, or --cpus to hold the programs on one processor"},
	[WARN_MEMORY_FS] = {"memory_file_system", in_memory, "the files are in memory: no device is measured",
			    "choose a folder on a disk with --dir"},
	[WARN_COMPRESSES] = {"compressing_file_system", compresses,
			     "the file system compresses: fewer bytes may be written than were copied",
			     "use --input random, or another --dir"},
	[WARN_SHARED] =
		{"shared_extents", shares,
		 "the file system can share blocks between files: copy_file_range and commands like cp may have moved "
		 "no data at all",
		 "compare those with the others as what they are, or use another --dir"},
	[WARN_GOVERNOR] = {"governor", governor, "the processor's clock follows load and heat (governor, turbo)",
			   "set the governor to performance (cpupower frequency-set -g performance)"},
	[WARN_DEBUG_KERNEL] = {"debug_kernel", debug_kernel,
			       "the kernel was built with debugging options that slow calls down",
			       "do not compare these figures with those of another kernel"},
	[WARN_NOT_COLD] = {"not_cold", not_cold,
			   "the input could not be dropped from the page cache (mincore shows it there)",
			   "run as root, or put --dir on a file system on a disk"},
	[WARN_NO_RSS] = {"no_peak_rss", no_rss, "tracing is not permitted here, so peak memory is unknown",
			 "allow ptrace in this container (--cap-add=SYS_PTRACE)"},
	[WARN_SMALL_INPUT] = {"small_input", small_input,
			      "some buffers are larger than the input, so they are all alike", "use a larger --size"},
	[WARN_FIRST_RUN] = {"first_run", first_run, "the first run was unlike the rest",
			    "--warmup keeps it out of the figures, --cold measures a first use each time"},
	[WARN_OUTLIERS] = {"outliers", outliers, "some runs lie outside of Tukey's fences (1.5 IQR)",
			   "they are kept, and count in every maximum; --save has each sample"},
	[WARN_FAILED] = {"failed_runs", failed, "runs failed, as --ignore-failure allows",
			 "their times are those of failures"},
	[WARN_NO_COPY] = {"no_copy", no_copy, "what a command left in {out} is not what was in {in}",
			  "that is right for a command that converts, and wrong for one that copies"},
	[WARN_SHELL] = {"lost_in_shell", lost_in_shell,
			"hardly anything is left of these runs when the shell's own start is taken out",
			"run them without a shell (-N)"},
	[WARN_UNCOUNTED] = {"uncounted", uncounted, "the calls could not be counted", "see sctrace --list-engines"},
};

void compare_warn_find(struct compare *c)
{
	for (int i = 0; i < WARNINGS; i++)
		if (rows[i].found(c))
			c->warned |= 1u << i;
}

/* Which rows a warning is about, where it is about some of them. */
static bool (*const about[WARNINGS])(const struct compare *, const struct subject *) = {
	[WARN_SHORT] = is_short,        [WARN_SPREAD] = is_spread,   [WARN_FIRST_RUN] = first_differs,
	[WARN_OUTLIERS] = has_outliers, [WARN_NO_COPY] = is_no_copy, [WARN_FAILED] = has_failed,
};

/* Names the rows that a warning is about: the first of them where they are many. */
static void say_rows(const struct compare *c, int which, struct buf *out)
{
	enum { SHOWN = 4 };
	size_t found = 0;
	size_t ran = 0;
	struct buf names = {0};
	for (size_t i = 0; about[which] && i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		ran += usable(s);
		if (!usable(s) || !about[which](c, s))
			continue;
		if (found++ >= SHOWN)
			continue;
		buf_adds(&names, found > 1 ? ", " : " (");
		compare_label(&names, s);
		if (which == WARN_OUTLIERS)
			buf_addf(&names, ": %zu of %zu", compare_outliers(s), s->wall.of.n);
		if (which == WARN_FAILED)
			buf_addf(&names, ": %zu of %zu", failures(s), s->wall.of.n);
		if (which == WARN_FIRST_RUN) {
			buf_adds(&names, ": ");
			duration_human(&names, 1e9 * compare_first_s(s));
			buf_adds(&names, " and then ");
			s->wall.of.median > 0 ? duration_human(&names, 1e9 * s->wall.of.median)
					      : buf_adds(&names, "nothing");
		}
	}
	if (found > SHOWN)
		buf_addf(&names, " and %zu more", found - SHOWN);
	if (which == WARN_LOAD)
		buf_addf(out, " (load average %.2f)", load(c));
	if (found && (found < ran || which == WARN_OUTLIERS || which == WARN_FIRST_RUN || which == WARN_FAILED))
		buf_addf(out, "%s)", buf_str(&names));
	buf_free(&names);
}

void compare_warn_say(const struct compare *c, const char *prefix, struct buf *out)
{
	for (int i = 0; i < WARNINGS; i++) {
		if (!(c->warned & 1u << i))
			continue;
		buf_addf(out, "%s%s", prefix, rows[i].what);
		say_rows(c, i, out);
		buf_addf(out, "; %s\n", rows[i].advice);
	}
}

/* The names of the rows a warning is about, null where it is about all. */
static json_t *about_json(const struct compare *c, int which)
{
	json_t *names = about[which] ? json_array() : json_null();
	for (size_t i = 0; about[which] && i < c->subjects.n; i++) {
		const struct subject *s = c->subjects.v[i];
		struct buf label = {0};
		compare_label(&label, s);
		if (usable(s) && about[which](c, s))
			json_array_append_new(names, run_string(buf_str(&label)));
		buf_free(&label);
	}
	return names;
}

json_t *compare_warn_json(const struct compare *c)
{
	json_t *all = json_array();
	for (int i = 0; all && i < WARNINGS; i++)
		if (c->warned & 1u << i)
			json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "name", rows[i].name, "what",
							     rows[i].what, "advice", rows[i].advice, "rows",
							     about_json(c, i)));
	return all;
}
