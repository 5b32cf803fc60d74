/* SPDX-License-Identifier: MIT */
#include "bench/switch.h"

#include "base/clock.h"
#include "base/memory.h"
#include "bench/kid.h"
#include "stats/quantile.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_SHARE   4 /* run_alone() is measured for 1/OWN_SHARE of the duration of a sample */
#define LINE_BYTES  64
#define YIELD_SHARE 32
#define LATE_NS     (10 * NSEC_PER_SEC) /* maximum duration of a measurement: this time plus ten times plan->limit_ns */

/*
 * The memory in which the measuring process stores its results. sctrace reads it afterwards, even if that process was
 * killed.
 */
struct switch_board {
	struct switch_pair pair;
	_Atomic size_t n;
	bool whole; /* the measuring process reached its end, so its switches were counted */
	double x[]; /* plan->samples pairs: the time of a round, and the mechanism's own cost, which was measured
		     * just before it */
};

/* Local state of one task. */
struct side_work {
	struct switch_pair *pair;
	const struct switch_kind *kind;
	int side;
	volatile char *memory; /* pair->size bytes */
};

double switch_solve(double round_ns, double own_ns, double turns, double switches)
{
	return (round_ns - turns * own_ns) / switches;
}

static void touch(const struct side_work *w)
{
	for (size_t i = 0; w->memory && i < w->pair->size; i += LINE_BYTES)
		w->memory[i]++;
}

static int side_begin(struct side_work *w, struct switch_pair *pair, const struct switch_kind *kind, int side)
{
	*w = (struct side_work){pair, kind, side, NULL};
	pair->side[side].pid = getpid();
	pair->side[side].tid = (pid_t)syscall(SYS_gettid);
	if (pair->size) {
		w->memory = memory_get(pair->size);
		memset((void *)w->memory, 1, pair->size);
	}
	int err = place_pin(&pair->cpu[side], 1);
	return err ? err : place_set_policy(&pair->policy);
}

static void count_switches(struct switch_side *s, int sign)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	s->voluntary += (uint64_t)(sign * u.ru_nvcsw);
	s->involuntary += (uint64_t)(sign * u.ru_nivcsw);
}

/* The main function of the second task: answers each turn until `stop` is set. */
static void answer(struct switch_pair *pair, const struct switch_kind *kind)
{
	struct side_work w;
	int err = side_begin(&w, pair, kind, 1);
	if (err < 0) {
		errno = -err;
		switch_give_up(pair, "cannot set up the second task");
	}
	atomic_store(&pair->ready, true);
	count_switches(&pair->side[1], -1);
	for (;;) {
		kind->wait(pair, 1);
		if (atomic_load_explicit(&pair->stop, memory_order_relaxed))
			break;
		touch(&w);
		kind->wake(pair, 0);
		pair->side[1].rounds++;
	}
	count_switches(&pair->side[1], 1);
	free((void *)w.memory);
}

_Noreturn void switch_give_up(struct switch_pair *p, const char *what)
{
	snprintf(p->why, sizeof(p->why), "%s: %s", what, strerror(errno));
	kill(p->side[0].pid, SIGKILL);
	_exit(1);
}

static void *answer_thread(void *arg)
{
	struct side_work *w = arg;
	answer(w->pair, w->kind);
	return NULL;
}

/* Runs `n` rounds as the first task. Returns the total time in ns. */
static double run_rounds(struct side_work *w, uint64_t n)
{
	struct switch_pair *pair = w->pair;
	uint64_t start = clock_ns();
	if (w->kind->rounds)
		w->kind->rounds(n);
	else
		for (uint64_t i = 0; i < n; i++) {
			w->kind->wake(pair, 1);
			w->kind->wait(pair, 0);
			touch(w);
		}
	pair->side[0].rounds += n;
	return (double)(clock_ns() - start);
}

/*
 * Measures the mechanism's own cost: the task wakes itself, so that its wait returns at once. Returns the time of `n`
 * turns in ns.
 */
static double run_alone(struct side_work *w, uint64_t n)
{
	uint64_t start = clock_ns();
	for (uint64_t i = 0; i < n; i++) {
		w->kind->wake(w->pair, 0);
		w->kind->wait(w->pair, 0);
		touch(w);
	}
	return (double)(clock_ns() - start);
}

/*
 * Calls `f` with growing numbers of rounds until a call takes at least `ns`. Returns the number of rounds of that call.
 */
static uint64_t find_batch(double (*f)(struct side_work *, uint64_t), struct side_work *w, uint64_t ns)
{
	uint64_t n = 1;
	for (;;) {
		double t = fmax(f(w, n), 1);
		if (t >= (double)ns)
			return n;
		n = (uint64_t)ceil((double)n * fmin(fmax((double)ns / t * 1.2, 1.5), 10));
	}
}

/*
 * Takes the samples. Before each sample it measures the mechanism's own cost, while the other task sleeps, so that both
 * measurements see the same state of the machine. With mechanisms that yield, the other task never sleeps: their cost
 * was measured earlier and is passed as `own`, which is NAN for all other mechanisms.
 */
static void measure_rounds(const struct switch_plan *plan, struct switch_board *b, struct side_work *w, double own)
{
	uint64_t start = clock_ns();
	uint64_t alone = isnan(own) ? find_batch(run_alone, w, plan->sample_ns / OWN_SHARE) : 0;
	count_switches(&b->pair.side[0], -1);
	uint64_t n = find_batch(run_rounds, w, plan->sample_ns);
	/* Take at least one sample. If other programs run, find_batch() may have used all the time. */
	while (b->n < plan->samples && (!b->n || clock_ns() - start < plan->limit_ns)) {
		double *x = &b->x[2 * b->n];
		x[1] = alone ? run_alone(w, alone) / (double)alone : own;
		x[0] = run_rounds(w, n) / (double)n;
		atomic_fetch_add(&b->n, 1);
	}
	count_switches(&b->pair.side[0], 1);
}

/*
 * Returns the mechanism's own cost if it cannot be measured between the samples: 0 for switches at user level, and for
 * yields the cost of a yield while no other task yields. Returns NAN for all other mechanisms.
 */
static double own_before(struct side_work *w, const struct switch_plan *plan)
{
	if (w->kind->rounds)
		return 0;
	if (!w->kind->yields)
		return NAN;
	/*
	 * Take the smallest value. If other programs run on this CPU, most yields switch to them, and that time is not
	 * a cost of the call.
	 */
	uint64_t n = find_batch(run_alone, w, plan->sample_ns / YIELD_SHARE);
	double least = INFINITY;
	for (int i = 0; i < 2 * YIELD_SHARE; i++)
		least = fmin(least, run_alone(w, n) / (double)n);
	return least;
}

/* Creates the second task, measures, and ends that task. Returns 0 or -errno. */
static int measure_pair(const struct switch_plan *plan, const struct switch_kind *kind, struct switch_board *b,
			struct side_work *w, double own)
{
	struct side_work other = {.pair = &b->pair, .kind = kind};
	pthread_t thread = 0;
	pid_t kid = 0;
	if (kind->tasks == TASKS_THREADS && pthread_create(&thread, NULL, answer_thread, &other) != 0)
		return -EAGAIN;
	if (kind->tasks == TASKS_PROCESSES) {
		kid = kid_fork();
		if (kid < 0)
			return kid;
		if (kid == 0) {
			answer(&b->pair, kind);
			_exit(0);
		}
	}
	while (kind->tasks != TASKS_USER && !atomic_load(&b->pair.ready)) {
		if (kid > 0 && waitpid(kid, NULL, WNOHANG) != 0)
			return -ECHILD;
		clock_sleep_ns(100000);
	}
	measure_rounds(plan, b, w, own);
	if (kind->tasks == TASKS_USER)
		return 0;
	atomic_store(&b->pair.stop, true);
	kind->wake(&b->pair, 1);
	if (kind->tasks == TASKS_THREADS)
		return -pthread_join(thread, NULL);
	return kid_wait(kid) == 0 ? 0 : -ECHILD;
}

/* The main function of the measuring process. Returns its exit status, which is an errno or 0. */
static int measure_in_kid(const struct switch_plan *plan, const struct switch_kind *kind, struct switch_board *b)
{
	struct buf why = {0};
	struct side_work w;
	b->pair.size = plan->size;
	b->pair.policy = plan->policy;
	memcpy(b->pair.cpu, plan->cpu, sizeof(b->pair.cpu));
	int err = side_begin(&w, &b->pair, kind, 0);
	if (!err && kind->open && (err = kind->open(&b->pair, &why)) < 0)
		snprintf(b->pair.why, sizeof(b->pair.why), "%s", buf_str(&why));
	if (!err) {
		err = measure_pair(plan, kind, b, &w, own_before(&w, plan));
		b->whole = !err;
	}
	if (err && !b->pair.why[0])
		snprintf(b->pair.why, sizeof(b->pair.why), "%s", strerror(-err));
	return -err;
}

/* Computes the result from what the measuring process has written to the board. */
static void conclude(struct switch_result *r, struct switch_board *b)
{
	const struct switch_side *s = b->pair.side;
	size_t n = b->n;
	double rounds = (double)s[0].rounds;
	double turns = 2;
	r->per_round = 2;
	r->rounds = s[0].rounds;
	r->voluntary = b->whole ? (double)(s[0].voluntary + s[1].voluntary) / rounds : NAN;
	r->involuntary = b->whole ? (double)(s[0].involuntary + s[1].involuntary) / rounds : NAN;
	if (r->kind->yields) {
		/*
		 * sched_yield(2) does not always switch, so one task may have more turns than the other. Count the
		 * turns of both.
		 */
		turns = 1 + (double)s[1].rounds / rounds;
		r->per_round = r->voluntary + r->involuntary;
	}
	auto_free double *own = memory_zeroed(2 * n + 1, sizeof(*own));
	double *round = own + n;
	for (size_t i = 0; i < n; i++) {
		round[i] = b->x[2 * i];
		own[i] = b->x[2 * i + 1];
	}
	r->own_ns = sample_median(own, n);
	for (size_t i = 0; i < n && isfinite(r->per_round); i++)
		vec_push(&r->ns, switch_solve(round[i], r->own_ns, turns, r->per_round));
	r->round_ns = sample_median(round, n);
}

int switch_measure(const struct switch_plan *plan, struct switch_result *r)
{
	size_t bytes = sizeof(struct switch_board) + 2 * plan->samples * sizeof(double);
	struct switch_board *b = kid_share(bytes);
	memcpy(r->cpu, plan->cpu, sizeof(r->cpu));
	int status = 0;
	pid_t kid = kid_fork();
	if (kid == 0)
		_exit(measure_in_kid(plan, r->kind, b));
	int err = kid < 0 ? kid : kid_watch(kid, 10 * plan->limit_ns + LATE_NS, &plan->progress, &status);
	if (b->pair.why[0])
		buf_adds(&r->why, b->pair.why);
	else if (!err && status != 0)
		buf_adds(&r->why, "the measuring process ended too early");
	else if (err == -ETIMEDOUT)
		buf_adds(&r->why,
			 "the measurement took far longer than planned; use a longer --time or a smaller --size");
	else if (!err || err == -EINTR)
		conclude(r, b);
	munmap(b, bytes);
	return err == -ETIMEDOUT || err == -EINTR ? 0 : err;
}

void switch_result_free(struct switch_result *r)
{
	vec_free(&r->ns);
	buf_free(&r->why);
}
