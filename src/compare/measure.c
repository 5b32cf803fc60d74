/* The steps of a comparison. Also measures how much CPU time other programs use during the comparison. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/clock.h"
#include "measure/machine_env.h"
#include "run/judge.h"

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
