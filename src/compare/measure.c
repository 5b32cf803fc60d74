/* SPDX-License-Identifier: MIT */
/* The steps of a comparison. Also measures how much CPU time other programs use during the comparison. */
#include "base/buf.h"
#include "base/clock.h"
#include "compare/compare.h"
#include "measure/machine_env.h"
#include "run/judge.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEFAULT_SIZE (1u << 20)

/* Notes what is special about the input: it has holes, or it is on another file system than the copies. */
static void describe_input(struct compare *c)
{
	struct run_method *m = &c->run.method;
	struct env_fs in, out;
	int fd = open(c->work.in, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && lseek(fd, 0, SEEK_HOLE) < (off_t)c->work.size)
		m->input_sparse = TRUTH_YES;
	if (fd >= 0)
		close(fd);
	if (!c->work.linked || env_fs_read(c->work.source, &in) < 0 || env_fs_read(c->work.dir, &out) < 0)
		return;
	if (strcmp(in.mount.type, out.mount.type) != 0 || strcmp(in.mount.source, out.mount.source) != 0)
		field_set(&m->input_file_system, in.mount.type);
}

int compare_prepare(struct compare *c, char *const *commands, size_t n, struct buf *why)
{
	const char *input = c->opt.input ? c->opt.input : "random";
	uint64_t size = c->opt.size || !work_makes_input(input) ? c->opt.size : DEFAULT_SIZE;
	int err = work_open(&c->work, c->opt.dir, why);
	if (!err)
		err = compare_plan(c, commands, n, why);
	if (!err)
		err = compare_check_reference(c, why);
	if (!err)
		err = work_make_input(&c->work, input, size, compare_names_input(c), why);
	if (err)
		return err;
	env_collect(&c->run.env, c->work.dir);
	describe_input(c);
	return 0;
}

/* Returns the CPU time in seconds that sctrace and its exited children have used. */
static double own_cpu_s(const struct compare *c)
{
	static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	double sum = c->drain_s;
	for (size_t i = 0; i < sizeof(whose) / sizeof(*whose); i++) {
		struct rusage u;
		getrusage(whose[i], &u);
		sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	}
	return sum;
}

/* The CPU times of the machine before the timed runs. */
struct activity {
	struct env_activity all;
	struct env_limits limits;
	double own_s;
	uint64_t at_ns;
	bool known;
};

static void activity_begin(const struct compare *c, struct activity *a)
{
	env_limits_read(ENV_GROUPS, ENV_GROUPS_DIR, &a->limits);
	a->known = env_activity_read(&a->all) == 0;
	a->own_s = own_cpu_s(c);
	a->at_ns = clock_ns();
}

/*
 * Computes which share of the CPU time other programs used during the runs: the busy time of all CPUs, minus the time
 * of sctrace and its children.
 */
static void activity_end(struct compare *c, const struct activity *a)
{
	struct env_activity after;
	struct env_limits limits;
	env_limits_read(ENV_GROUPS, ENV_GROUPS_DIR, &limits);
	/* NAN means that there is nothing to report. */
	if (limits.throttled > a->limits.throttled)
		c->run.method.throttled = limits.throttled - a->limits.throttled;
	if (limits.oom_kills > a->limits.oom_kills)
		c->run.method.oom_kills = limits.oom_kills - a->limits.oom_kills;
	if (!a->known || env_activity_read(&after) < 0)
		return;
	double busy = after.busy_s - a->all.busy_s;
	double steal = after.steal_s - a->all.steal_s;
	double all = busy + after.idle_s - a->all.idle_s + steal;
	/*
	 * /proc/stat counts in ticks of 10 ms, which is too coarse if the runs took less than half a second. What was
	 * seen between the runs is used then.
	 */
	if (all <= 0 || clock_ns() - a->at_ns < NSEC_PER_SEC / 2) {
		if (c->loads >= RUN_LOADS_MIN)
			c->other_share = fmin(1, (double)c->others / c->loads / (double)sysconf(_SC_NPROCESSORS_ONLN));
		return;
	}
	c->other_share = fmax(0, (busy - (own_cpu_s(c) - a->own_s)) / all);
	c->steal_share = fmax(0, steal / all);
}

/*
 * For each metric of compare: its member of struct sample, and how many units of that member make one unit of struct
 * run.
 */
static const struct {
	size_t offset;
	double scale;
	unsigned kinds;
} members[METRICS] = {
#define METRIC(id, member, scale, key, column, median, title, unit, better, kinds)                                     \
	[METRIC_##id] = {offsetof(struct sample, member), scale, kinds},
#include "run/metrics.def"
#undef METRIC
};

static void add_sample(struct run_subject *to, const struct sample *s)
{
	for (int m = 0; m < METRICS; m++) {
		uint64_t v;
		if (!(members[m].kinds & RUN_COMPARE))
			continue;
		memcpy(&v, (const char *)s + members[m].offset, sizeof(v));
		reals_add(&to->samples[m],
			  m == METRIC_STATUS ? compare_exit_status(s->status) : (double)v / members[m].scale);
	}
}

/*
 * Fills in `to` from the run in which the calls of `s` were counted. Moves the summary of these calls from `s` to `to`.
 */
static void fill_counts(struct run_counts *to, struct subject *s)
{
	int64_t read_nr = syscall_number(syscall_native_arch(), "read");
	int64_t write_nr = syscall_number(syscall_native_arch(), "write");
	const struct summary *sum = &s->count.calls;
	to->known = true;
	field_set(&to->engine, s->count.engine);
	to->counted_bytes = (double)s->counted_bytes;
	to->left = s->count.left ? TRUTH_YES : TRUTH_UNKNOWN;
	to->calls_before_main = (double)s->count.result.before_main;
	to->bytes_before_main = s->count.bytes_before_main;
	to->calls = to->reads = to->writes = to->errors = to->moved_bytes = 0;
	to->in_calls_s = to->in_calls_resolution_s = to->waits = to->waited_s = 0;
	uint64_t judged = 0, unknown = 0;
	for (size_t g = 0; g < sum->groups.n; g++)
		for (size_t i = 0; i < sum->groups.v[g]->calls.n; i++) {
			const struct call_stats *k = sum->groups.v[g]->calls.v[i];
			double calls = (double)call_stats_calls(k);
			bool native = k->arch == syscall_native_arch();
			to->calls += calls;
			to->errors += (double)k->errors;
			to->moved_bytes += (double)k->bytes;
			to->in_calls_s += k->ns * 1e-9;
			to->in_calls_resolution_s += call_stats_resolution(k) * (double)k->returned * 1e-9;
			to->waits += (double)k->waits;
			to->waited_s += k->waited_ns * 1e-9;
			judged += k->judged;
			unknown += call_stats_is_request(k) ? 0 : k->returned - k->judged;
			to->reads += native && k->nr == read_nr ? calls : 0;
			to->writes += native && k->nr == write_nr ? calls : 0;
		}
	/* Before main, waits are not known. If more is not known, a zero would be a claim. */
	if (!judged || (to->waits <= 0 && (double)unknown > to->calls_before_main))
		to->waits = to->waited_s = NAN;
	to->by_call = s->count.calls;
	s->count.calls = (struct summary){0};
}

static void fill_subject(struct compare *c, struct subject *s)
{
	struct buf name = {0};
	compare_label(&name, s);
	struct run_subject *to = run_add_subject(&c->run, buf_str(&name), "s");
	buf_free(&name);
	field_set(&to->base, s->name);
	if (s->strategy)
		field_set(&to->strategy, s->strategy->name);
	else
		field_set(&to->command, s->command);
	to->buffer_bytes = s->buffer ? (double)s->buffer : NAN;
	to->input_bytes = (double)c->work.size;
	compare_copy_texts(&to->parameters, &s->params);
	if (s->unable && (s->strategy || !s->samples.n))
		field_set(&to->unable, s->unable);
	else
		field_set(&to->failed, s->unable);
	if (s->unable && s->strategy)
		return;
	for (size_t i = 0; i < s->samples.n; i++)
		add_sample(to, &s->samples.v[i]);
	for (size_t k = 0; k < s->metrics.n; k++) {
		struct run_metric m = {0};
		field_set(&m.name, s->metrics.v[k].name);
		/* A run can fail after its metrics were read. */
		for (size_t i = 0; i < s->metrics.v[k].samples.n && i < s->samples.n; i++)
			vec_push(&m.samples, s->metrics.v[k].samples.v[i]);
		vec_push(&to->metrics, m);
	}
	if (s->has_first)
		to->first_run_s = (double)s->first.wall_ns / 1e9;
	else if (s->samples.n)
		to->first_run_s = (double)s->samples.v[0].wall_ns / 1e9;
	to->largest = s->strategy ? TRUTH_NO : TRUTH_YES;
	to->copied = s->not_a_copy ? TRUTH_NO : s->copies ? TRUTH_YES : TRUTH_UNKNOWN;
	to->traced = s->untraced || c->opt.no_trace ? TRUTH_NO : TRUTH_UNKNOWN;
	if (s->output_bytes)
		to->output_bytes = (double)s->output_bytes;
	to->input_changed = s->changes_input ? TRUTH_YES : TRUTH_UNKNOWN;
	if (s->counted)
		fill_counts(&to->counts, s);
	if (s->use.known)
		to->use = s->use;
}

/* A negative share means unknown, for which struct run has NAN. */
static double share(double v)
{
	return v >= 0 ? v : NAN;
}

static enum truth yes(bool is)
{
	return is ? TRUTH_YES : TRUTH_NO;
}

static void fill_method(struct compare *c)
{
	const struct compare_options *o = &c->opt;
	struct run_method *m = &c->run.method;
	const char *input = o->input ? o->input : "random";
	bool made = work_makes_input(input);
	m->known = true;
	m->input_bytes = (double)c->work.size;
	field_set(&m->input, made ? input : "file");
	if (!made)
		field_set(&m->input_name, input);
	field_set(&m->reference, o->reference);
	m->seed = o->seed;
	m->warmup = o->warmup;
	m->looks = compare_looks(c);
	m->cold = yes(o->cold);
	m->fsync = yes(o->fsync);
	m->shell = yes(c->subjects.n && !c->subjects.v[0]->strategy && !o->no_shell);
	m->shell_taken_out_s = c->shell_s[0];
	m->shell_after_s = share(c->shell_after_s);
	m->other_cpu_share = share(c->other_share);
	m->steal_share = share(c->steal_share);
	m->input_resident_share = share(c->resident);
	m->counted = yes(!o->no_count && !o->no_trace);
	field_set(&m->output, o->command_output);
	m->explain = yes(o->explain);
	m->usage = yes(o->usage);
	field_set(&m->columns, o->columns);
}

/* Replaces the sentences in `to` by those that say() appends. */
static void tell(void (*say)(const struct run *r, struct buf *out), const struct run *r, struct strings *to)
{
	auto_buf text = {0};
	strings_clear(to);
	say(r, &text);
	strings_add_lines(to, buf_str(&text));
}

int compare_tell(struct run *r)
{
	int err = run_judge(r);
	if (err)
		return err;
	run_clear_warnings(r);
	tell(compare_notes, r, &r->notes);
	tell(compare_lessons, r, &r->lessons);
	tell(compare_explain, r, &r->reasons);
	compare_warn(r);
	return 0;
}

/* The figures by which --sort sorts the rows, all of them in ascending order. */
static double by_wall(const struct run_subject *s)
{
	return run_median(s, METRIC_TIME);
}

static double by_calls(const struct run_subject *s)
{
	return s->counts.known ? s->counts.calls : NAN;
}

static double by_memory(const struct run_subject *s)
{
	return run_median(s, METRIC_PEAK_RSS);
}

/* Sorts the rows. Equal rows keep their order, and rows that failed or lack the figure come last. */
static void sort_rows(struct run *r, const char *by)
{
	double (*figure)(const struct run_subject *s) = strcmp(by, "wall") == 0    ? by_wall
							: strcmp(by, "calls") == 0 ? by_calls
										   : by_memory;
	for (size_t i = 1; i < r->subjects.n; i++) {
		struct run_subject s = r->subjects.v[i];
		size_t k = i;
		for (; k > 0 && !s.unable && isfinite(figure(&s)); k--) {
			const struct run_subject *before = &r->subjects.v[k - 1];
			if (!before->unable && figure(before) <= figure(&s))
				break;
			r->subjects.v[k] = *before;
		}
		r->subjects.v[k] = s;
	}
}

int compare_fill(struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		fill_subject(c, c->subjects.v[i]);
	fill_method(c);
	c->run.interrupted = yes(c->interrupted);
	if (c->opt.sort && run_judge(&c->run) == 0)
		sort_rows(&c->run, c->opt.sort);
	return compare_tell(&c->run);
}

bool compare_any_result(const struct compare *c)
{
	for (size_t i = 0; i < c->subjects.n; i++)
		if (c->subjects.v[i]->samples.n || c->subjects.v[i]->counted)
			return true;
	return false;
}

int compare_measure(struct compare *c, struct buf *uncounted, struct buf *why)
{
	int err = compare_setup(c, why);
	if (!err && !c->opt.no_count && !c->opt.no_trace)
		err = compare_count(c, why);
	/* If no engine is permitted to trace, the times are still useful. A warning says that the calls are missing. */
	if (err == -ENOTSUP || err == -EPERM) {
		buf_adds(uncounted, buf_str(why));
		buf_clear(why);
		err = 0;
	}
	struct activity before;
	activity_begin(c, &before);
	if (!err)
		err = compare_time(c, why);
	compare_cleanup(c);
	/* Display everything that was measured before the interruption. */
	if (err == -EINTR && compare_any_result(c)) {
		c->interrupted = true;
		buf_clear(why);
		err = 0;
	}
	if (!err)
		activity_end(c, &before);
	return err ? err : compare_fill(c);
}
