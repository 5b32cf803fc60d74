/* SPDX-License-Identifier: MIT */
#include "bench/syscall.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/words.h"
#include "bench/kid.h"
#include "bench/stop.h"
#include "engine/engine.h"
#include "stats/quantile.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS        10
#define CONTROL_PAIRS 501
#define CONTROL_BATCH 10000
#define SOLVE_CHEAP   31
#define SOLVE_DEAR    11
#define OWN_CONTROLS  5

void op_solve(double once, double twice, double n, double *op, double *loop)
{
	*op = (twice - once) / n;
	*loop = (2 * once - twice) / n;
}

double op_subtract(double elapsed, double n, const struct op_control *c)
{
	return (elapsed - c->clock_ns) / n - c->loop_ns;
}

uint64_t op_least_sample_ns(const struct op_control *c)
{
	double coarse = fmax(c->clock_step_ns, c->clock_ns);
	return (uint64_t)fmax(1000 * coarse, 10000);
}

static double time_loop(op_loop_fn *loop, struct op_state *s, uint64_t n)
{
	uint64_t start = clock_ns();
	loop(s, n);
	return (double)(clock_ns() - start);
}

static void measure_clock(struct op_control *c, double *x)
{
	c->clock_step_ns = INFINITY;
	for (int i = 0; i < CONTROL_PAIRS; i++) {
		uint64_t start = clock_ns();
		x[i] = (double)(clock_ns() - start);
		if (x[i] > 0)
			c->clock_step_ns = fmin(c->clock_step_ns, x[i]);
	}
	/* If the clock never advanced between two readings, measure how long it takes to advance. */
	if (!isfinite(c->clock_step_ns)) {
		uint64_t start = clock_ns();
		uint64_t now;
		while ((now = clock_ns()) == start)
			;
		c->clock_step_ns = (double)(now - start);
	}
	c->clock_ns = sample_median(x, CONTROL_PAIRS);
}

void op_control_measure(struct op_control *c)
{
	const struct op *empty = op_empty();
	struct op_state s = {0};
	auto_free double *x = memory_zeroed(CONTROL_PAIRS, sizeof(*x));
	*c = (struct op_control){0};
	measure_clock(c, x); /* the first measurement only warms the caches */
	measure_clock(c, x);
	for (int i = 0; i < CONTROL_PAIRS; i++)
		x[i] = time_loop(empty->once, &s, 1);
	struct sample_summary d;
	sample_summarise(x, CONTROL_PAIRS, &d);
	c->single_ns = d.median;
	c->single_spread_ns = fmax(quantile_sd(d.q1, d.q3), c->clock_step_ns / 2);
	for (int i = 0; i < CONTROL_PAIRS; i++) {
		double op;
		double once = time_loop(empty->once, &s, CONTROL_BATCH);
		double twice = time_loop(empty->twice, &s, CONTROL_BATCH);
		op_solve(once - c->clock_ns, twice - c->clock_ns, CONTROL_BATCH, &op, &x[i]);
	}
	sample_summarise(x, CONTROL_PAIRS, &d);
	c->loop_ns = fmax(d.median, 0);
	c->spread_ns = quantile_sd(d.q1, d.q3);
}

/*
 * Finds the number of executions that take as long as a sample should. Executing the operation so often also warms the
 * caches.
 */
static void find_batch(const struct op_plan *p, struct op_result *r, struct op_state *s)
{
	uint64_t n = 1;
	while (!stop_signal()) {
		double t = fmax(time_loop(r->op->once, s, n), 1);
		if (t >= (double)p->sample_ns)
			break;
		double factor = fmin(fmax((double)p->sample_ns / t * 1.2, 1.5), 10);
		n = (uint64_t)ceil((double)n * factor);
	}
	r->batch = n;
}

/* Computes the cost of the operation from its own two loops. This does not need the cost of the empty loop. */
static void solve_own(struct op_result *r, struct op_state *s)
{
	double x[SOLVE_CHEAP];
	size_t n = r->op->cost == OP_DEAR ? SOLVE_DEAR : SOLVE_CHEAP;
	double loop;
	for (size_t i = 0; i < n; i++) {
		if (stop_signal())
			return;
		double once = time_loop(r->op->once, s, r->batch);
		double twice = time_loop(r->op->twice, s, r->batch);
		op_solve(once, twice, (double)r->batch, &x[i], &loop);
	}
	r->two_op_ns = sample_median(x, n);
}

/* Runs the internal command OP_SAMPLE_WORD in a new process, and reads the result from a pipe. */
static int sample_in_process(const struct op_plan *p, const struct op *op, struct op_once *sample)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	char *argv[] = {"sctrace", "bench", OP_SAMPLE_WORD, (char *)op->name, (char *)p->dir, NULL};
	pid_t pid;
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	int err = -posix_spawn(&pid, p->self, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!err) {
		ssize_t got;
		while ((got = read(fds[0], sample, sizeof(*sample))) < 0 && errno == EINTR)
			;
		int status = kid_wait(pid);
		if (got != (ssize_t)sizeof(*sample) || status != 0)
			err = stop_signal() ? -EINTR : -EIO;
	}
	close(fds[0]);
	return err;
}

/* Takes one sample. Returns 0 or -errno. */
static int take_sample(const struct op_plan *p, const struct op_control *c, struct op_result *r, struct op_state *s)
{
	bool control = r->op == op_empty(); /* the row of the empty loop shows the cost that is subtracted from all
					     * other rows */
	double ns = 0;
	if (p->mode == OP_PER_PROCESS) {
		struct op_once once = {0};
		int err = sample_in_process(p, r->op, &once);
		if (err)
			return err;
		vec_push(&r->taken, once.control);
		ns = once.ns - (control ? 0 : once.control);
	} else if (p->mode == OP_SINGLE) {
		ns = time_loop(r->op->once, s, 1) - (control ? 0 : c->single_ns);
	} else {
		struct op_control mine = *c;
		if (control)
			mine.loop_ns = 0;
		ns = op_subtract(time_loop(r->op->once, s, r->batch), (double)r->batch, &mine);
	}
	if (stop_signal())
		return -EINTR;
	vec_push(&r->ns, ns);
	return 0;
}

static void warm_up(const struct op_plan *p, struct op_result *r, struct op_state *s)
{
	if (p->mode == OP_IN_PROCESS && !r->batch) {
		find_batch(p, r, s);
		solve_own(r, s);
	} else if (p->mode != OP_PER_PROCESS) {
		r->op->once(s, r->batch);
	}
}

/* Takes the samples of one operation in one round. */
static int measure_slice(const struct op_plan *p, const struct op_control *c, struct op_result *r, size_t samples)
{
	struct op_state s;
	uint64_t start = clock_ns();
	int err = op_open(r->op, &s, p->dir, &r->why);
	if (err) /* r->why says why the operation cannot run here */
		return 0;
	warm_up(p, r, &s);
	for (size_t i = 0; i < samples && !err && !stop_signal(); i++) {
		err = take_sample(p, c, r, &s);
		if (r->spent_ns + clock_ns() - start > p->limit_ns)
			break;
	}
	if (!stop_signal()) /* a signal to the process group may have killed a child of the operation, which is not a
			     * failure */
		r->wrong += s.wrong;
	op_close(r->op, &s);
	r->spent_ns += clock_ns() - start;
	if (err == -EIO) {
		buf_adds(&r->why, "the measuring process ended without a result");
		err = 0;
	}
	return err == -EINTR ? 0 : err;
}

int op_measure(const struct op_plan *p, const struct op_control *c, struct op_result *results, size_t n)
{
	auto_free size_t *order = memory_zeroed(n + 1, sizeof(*order));
	struct progress progress = p->progress;
	struct rng rng;
	rng_seed(&rng, p->seed);
	progress.all = (double)(ROUNDS * n);
	int err = 0;
	for (size_t i = 0; i < n; i++) {
		order[i] = i;
		results[i].two_op_ns = NAN;
		results[i].kernel = NAN;
		results[i].batch = p->mode == OP_IN_PROCESS ? 0 : 1;
	}
	for (size_t round = 0; round < ROUNDS && !err; round++) {
		size_t samples = p->samples * (round + 1) / ROUNDS - p->samples * round / ROUNDS;
		rng_shuffle(&rng, order, n);
		for (size_t i = 0; i < n && !err && !stop_signal(); i++) {
			struct op_result *r = &results[order[i]];
			progress.done = (double)(round * n + i);
			progress.what = r->op->name;
			progress_show(&progress);
			if (samples && !r->why.len && r->spent_ns < p->limit_ns)
				err = measure_slice(p, c, r, samples);
		}
	}
	return err;
}

void op_result_free(struct op_result *r)
{
	vec_free(&r->ns);
	vec_free(&r->taken);
	buf_free(&r->why);
	*r = (struct op_result){0};
}

static bool is_named(const struct op *op, char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], op->name) == 0 || strcmp(words[i], op->group) == 0)
			return true;
	return n == 0;
}

static void say_unknown(const char *word, struct buf *why)
{
	struct near near = {.word = word};
	for (size_t i = 0; op_at(i); i++) {
		near_offer(&near, op_at(i)->name);
		near_offer(&near, op_at(i)->group);
	}
	buf_addf(why, "there is no operation or group '%s'; sctrace bench syscall --list lists them", word);
	near_say(&near, "", why);
}

int op_check(char *const *words, size_t n, struct buf *why)
{
	for (size_t w = 0; w < n; w++) {
		bool known = false;
		for (size_t i = 0; op_at(i); i++)
			known |= is_named(op_at(i), &words[w], 1);
		if (!known) {
			say_unknown(words[w], why);
			return -EINVAL;
		}
	}
	return 0;
}

size_t op_choose(struct op_result **results, char *const *words, size_t n)
{
	size_t all = 0, chosen = 0;
	while (op_at(all))
		all++;
	*results = memory_zeroed(all + 1, sizeof(**results));
	for (size_t i = 0; i < all; i++)
		if (is_named(op_at(i), words, n))
			(*results)[chosen++].op = op_at(i);
	return chosen;
}

int op_sample_write(const char *name, const char *dir, int fd)
{
	const struct op *op = op_find(name);
	struct op_state s;
	auto_buf why = {0};
	if (!op)
		return -ENOENT;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int err = op_open(op, &s, dir, &why);
	if (err)
		return err;
	double x[OWN_CONTROLS + 1];
	for (size_t i = 0; i <= OWN_CONTROLS; i++)
		x[i] = time_loop(op_empty()->once, &s, 1);
	/* The first time includes the first use of the clock, so it is left out. */
	struct op_once once = {.control = sample_median(x + 1, OWN_CONTROLS)};
	once.ns = time_loop(op->once, &s, 1);
	op_close(op, &s);
	if (s.wrong)
		return -EIO;
	return write(fd, &once, sizeof(once)) == (ssize_t)sizeof(once) ? 0 : -EIO;
}

/*
 * How many times an operation is executed while its system calls are counted. An operation that is faster than a system
 * call may make a call in only a few of its executions, such as when a buffer is empty, so it is executed more often.
 */
#define TIMES_FAST  8192
#define TIMES_CHEAP 128
#define TIMES_DEAR  8

/* Returns a time in ns that is shorter than any system call on this machine: 80 % of the time of the cheapest call. */
static double fast_ns(void)
{
	enum { BATCHES = 9, BATCH = 500 };
	const struct op *least = op_find("getpid-raw");
	struct op_state s = {0};
	double best = INFINITY;
	for (int i = 0; i < BATCHES; i++) {
		uint64_t from = clock_ns();
		least->once(&s, BATCH);
		best = fmin(best, (double)(clock_ns() - from) / BATCH);
	}
	return 0.8 * best;
}

uint64_t op_count_times(const struct op_result *r, double fast_ns)
{
	/* Other programs can only make an operation slower, so its shortest time tells whether it is fast. */
	double least = r->two_op_ns;
	for (size_t i = 0; i < r->ns.n; i++)
		least = fmin(least, r->ns.v[i]);
	if (r->op->cost == OP_DEAR)
		return TIMES_DEAR;
	return least < fast_ns ? TIMES_FAST : TIMES_CHEAP;
}

static void mark(size_t i, int end)
{
	syscall(SYS_close, INT_MIN + 2 * (int)i + end);
}

int op_count_run(int argc, char *const *argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const struct op *op = op_find(argv[i]);
		uint64_t n = strtoull(argv[i + 1], NULL, 10);
		struct op_state s;
		auto_buf why = {0};
		if (!op)
			return -ENOENT;
		if (op_open(op, &s, argv[0], &why) == 0) {
			op->once(&s, 1); /* the first execution, which may load or allocate something, is not counted */
			mark((size_t)i / 2, 0);
			op->once(&s, n);
			mark((size_t)i / 2, 1);
			op_close(op, &s);
		}
	}
	return 0;
}

/* The state while the tracer counts the calls of the child. */
struct counting {
	struct op_result *results;
	size_t n;
	double fast;    /* the result of fast_ns() */
	size_t now;     /* index of the operation that is running; `n` if none is */
	uint64_t calls; /* number of calls since the operation began */
};

static void count_event(struct counting *c, const struct event *ev)
{
	if (ev->kind != EV_ENTER && ev->kind != EV_CALL)
		return;
	int fd = (int)ev->call.args[0];
	size_t i = ((unsigned)fd - (unsigned)INT_MIN) / 2;
	if (ev->call.nr != SYS_close || fd >= 0 || i >= c->n) {
		c->calls++;
		return;
	}
	if (!(fd & 1))
		c->now = i;
	else if (c->now == i)
		c->results[i].kernel = (double)c->calls / (double)op_count_times(&c->results[i], c->fast);
	c->calls = 0;
}

/* Returns the command line of the child. The caller frees it with words_free(). */
static char **make_words(const struct counting *c, const char *self, const char *dir)
{
	struct words words = {0};
	words_add(&words, self);
	words_add(&words, "bench");
	words_add(&words, OP_COUNT_WORD);
	words_add(&words, dir);
	for (size_t i = 0; i < c->n; i++) {
		struct buf times = {0};
		buf_addf(&times, "%llu", (unsigned long long)op_count_times(&c->results[i], c->fast));
		words_add(&words, c->results[i].op->name);
		words_take(&words, buf_take(&times));
	}
	return words_done(&words);
}

static int watch(struct engine *e, struct counting *c)
{
	for (;;) {
		struct event ev;
		int r = e->ops->next(e, &ev);
		if (r == 0)
			return 0;
		if (stop_signal()) {
			e->ops->kill(e, SIGKILL);
			return -EINTR;
		}
		if (r < 0 && r != -EINTR)
			return r;
		if (r > 0)
			count_event(c, &ev);
	}
}

int op_count_kernel(struct op_result *results, size_t n, const char *self, const char *dir, struct buf *why)
{
	const struct engine_ops *ops = engine_choose(NULL, CAP_EVENTS, why);
	if (!ops)
		return -ENOTSUP;
	struct counting c = {.results = results, .n = n, .fast = fast_ns(), .now = n};
	char **words = make_words(&c, self, dir);
	struct engine_config config = {
		.want = CAP_EVENTS,
		.spawn = {.argv = words, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1},
		.kill_on_exit = true,
	};
	struct engine *e;
	int err = ops->start(&e, &config, why);
	if (!err) {
		err = watch(e, &c);
		ops->stop(e);
	}
	words_free(words);
	return err;
}
