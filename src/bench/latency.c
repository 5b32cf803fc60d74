/* SPDX-License-Identifier: MIT */
#include "bench/latency.h"

#include "base/clock.h"
#include "bench/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS 2048 /* more than hist_bucket(UINT64_MAX) */

/* The memory in which the measuring process stores its results. That process allocates nothing while it measures. */
struct board {
	struct latency_result r; /* its members n and hist are not used: n and count below replace them */
	_Atomic uint64_t n;
	uint64_t count[BUCKETS];
};

/* Keeps the CPUs out of deep idle states until the process exits (kernel: Documentation/power/pm_qos_interface.rst). */
static bool hold_idle(void)
{
	int32_t most_us = 0;
	int fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
	return fd >= 0 && write(fd, &most_us, sizeof(most_us)) == (ssize_t)sizeof(most_us);
}

static void count(struct board *b, uint64_t late)
{
	b->count[hist_bucket(late)]++;
	b->r.sum += (double)late;
	b->r.squares += (double)late * (double)late;
	if (!b->n || late < b->r.min)
		b->r.min = late;
	if (late > b->r.max)
		b->r.max = late;
	atomic_fetch_add_explicit(&b->n, 1, memory_order_release);
}

static int prepare(const struct latency_plan *plan, struct board *b)
{
	b->r.lock_err = -place_lock_memory();
	b->r.idle_held = hold_idle();
	memset(b->count, 0, sizeof(b->count)); /* touches the memory now, so that no page fault happens during the
						* measurement */
	int err = plan->ncpus ? place_pin(plan->cpus, plan->ncpus) : 0;
	return err ? err : place_set_policy(&plan->policy);
}

static int measure(const struct latency_plan *plan, struct board *b)
{
	int err = prepare(plan, b);
	if (err)
		return -err;
	uint64_t next = clock_ns() + plan->interval_ns;
	uint64_t end = next + plan->time_ns;
	while (next < end) {
		struct timespec until = clock_to_timespec(next);
		err = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		if (err && err != EINTR)
			return err;
		if (err)
			continue;
		uint64_t now = clock_ns();
		count(b, now - next);
		for (next += plan->interval_ns; next < now && next < end; next += plan->interval_ns)
			b->r.missed++;
	}
	return 0;
}

static void collect(struct latency_result *r, const struct board *b)
{
	struct latency_result one = b->r;
	one.n = b->n;
	for (uint32_t i = 0; i < BUCKETS; i++)
		if (b->count[i])
			hist_add(&one.hist, hist_bucket_low(i), b->count[i]);
	latency_merge(r, &one);
	r->lock_err = one.lock_err;
	r->idle_held = one.idle_held;
	latency_free(&one);
}

int latency_measure(const struct latency_plan *plan, struct latency_result *r)
{
	struct board *b = kid_share(sizeof(*b));
	int status = 0;
	pid_t kid = kid_fork();
	if (kid == 0)
		_exit(measure(plan, b));
	int err = kid < 0 ? kid : kid_watch(kid, 0, &plan->progress, &status);
	if (!err && status != 0)
		err = WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
	collect(r, b);
	munmap(b, sizeof(*b));
	return err;
}

int latency_measure_all(const struct latency_plan *plan, struct latency_row *rows, size_t n, int runs, const char *dir,
			struct run *run)
{
	struct kid_guard guard;
	struct latency_plan one = *plan;
	one.progress.all = (double)plan->time_ns * (double)n * runs;
	int err = kid_guard_open(&guard);
	for (int round = 0; round < runs && !err; round++)
		for (size_t i = 0; i < n && !err && !stop_signal(); i++) {
			struct load *load = rows[i].load;
			one.progress.what = load->name;
			one.progress.since_ns = clock_ns();
			err = load_begin(load, dir, &guard, run);
			if (!err) {
				err = latency_measure(&one, &rows[i].r);
				load_end(load, &guard, run);
			} else if (err != -EINTR) {
				err = 0; /* a load that cannot run leaves its row empty */
			}
			one.progress.done += (double)plan->time_ns;
		}
	kid_guard_close(&guard);
	return err == -EINTR ? 0 : err;
}

void latency_merge(struct latency_result *r, const struct latency_result *from)
{
	if (!from->n)
		return;
	if (!r->n || from->min < r->min)
		r->min = from->min;
	if (from->max > r->max)
		r->max = from->max;
	r->n += from->n;
	r->sum += from->sum;
	r->squares += from->squares;
	r->missed += from->missed;
	hist_merge(&r->hist, &from->hist);
}

double latency_mean(const struct latency_result *r)
{
	return r->n ? r->sum / (double)r->n : NAN;
}

double latency_stddev(const struct latency_result *r)
{
	if (r->n < 2)
		return NAN;
	double n = (double)r->n;
	return sqrt(fmax((r->squares - r->sum * r->sum / n) / (n - 1), 0));
}

void latency_free(struct latency_result *r)
{
	hist_free(&r->hist);
}
