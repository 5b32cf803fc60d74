/* SPDX-License-Identifier: MIT */
#include "bench/sched.h"

#include "base/clock.h"
#include "base/memory.h"
#include "bench/kid.h"
#include "bench/stop.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK_NS     20000
#define CALIBRATIONS 400
#define SETTLE_NS    5000000
#define READINGS     8 /* maximum number of attempts in switches_at() */

/* What a process logs. While it works, the process writes to no other memory. */
struct proc_board {
	struct sched_proc proc; /* its members done, logs and slices are not used: those below replace them */
	atomic_bool done;
	_Atomic size_t logs;
	struct sched_slice slices[SCHED_SLICES];
	_Atomic size_t nslices;
	uint64_t slice_ns, last_ns; /* start of the current slice, and the last time at which the process was
				     * certainly still in it */
	int cpu;
};

struct board {
	_Atomic uint32_t ready, go;
	uint64_t start_ns;
	struct proc_board proc[];
};

static __attribute__((noinline)) void spin(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("" ::: "memory");
}

static double fastest_spin(uint64_t iterations)
{
	double best = INFINITY;
	for (int i = 0; i < CALIBRATIONS; i++) {
		uint64_t start = clock_ns();
		spin(iterations);
		best = fmin(best, (double)(clock_ns() - start));
	}
	return best;
}

static void calibrate(struct sched_work *w, uint64_t time_ns)
{
	w->chunk_iterations = 1000;
	while ((w->chunk_ns = fastest_spin(w->chunk_iterations)) < CHUNK_NS / 2.0)
		w->chunk_iterations *= 2;
	w->chunk_iterations = (uint64_t)((double)w->chunk_iterations * CHUNK_NS / w->chunk_ns) + 1;
	w->chunk_ns = fastest_spin(w->chunk_iterations);
	w->chunks = (uint64_t)((double)time_ns / w->chunk_ns);
	if (w->chunks < SCHED_LOGS)
		w->chunks = SCHED_LOGS;
}

int sched_calibrate(struct sched_work *w, uint64_t time_ns, const int *cpus, size_t ncpus)
{
	struct sched_work *shared = kid_share(sizeof(*shared));
	pid_t kid = kid_fork();
	if (kid == 0) {
		if (place_pin(cpus, ncpus) < 0)
			_exit(1);
		calibrate(shared, time_ns);
		_exit(0);
	}
	int status = kid < 0 ? kid : kid_wait(kid);
	*w = *shared;
	munmap(shared, sizeof(*shared));
	return status < 0 ? status : status ? -EINVAL : 0;
}

static int futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0) < 0 ? -errno : 0;
}

static uint64_t switches(struct proc_board *p, const struct rusage *before)
{
	struct rusage now;
	getrusage(RUSAGE_SELF, &now);
	p->proc.voluntary = (uint64_t)(now.ru_nvcsw - before->ru_nvcsw);
	p->proc.involuntary = (uint64_t)(now.ru_nivcsw - before->ru_nivcsw);
	return p->proc.voluntary + p->proc.involuntary;
}

/*
 * Returns the number of context switches so far, and stores in *now a time for which the number is valid. If a switch
 * happened between reading the counter and reading the clock, the number would not fit the time, and the period without
 * the CPU would not be noticed. Therefore both are read again if reading them took longer than a chunk.
 */
static uint64_t switches_at(struct proc_board *p, const struct rusage *before, double chunk_ns, uint64_t *now)
{
	uint64_t count, from;
	int tries = 0;
	do {
		from = clock_ns();
		count = switches(p, before);
		*now = clock_ns();
	} while ((double)(*now - from) > chunk_ns && ++tries < READINGS);
	return count;
}

/*
 * Stores a slice, unless it is empty: a process that lost the CPU in its first chunk had the CPU too briefly to be
 * measured.
 */
static void add_slice(struct proc_board *p, uint64_t start, uint64_t end, int cpu)
{
	if (end <= start)
		return;
	if (p->nslices == SCHED_SLICES) {
		p->proc.slices_whole = false;
		return;
	}
	p->slices[p->nslices] = (struct sched_slice){start, end, cpu};
	p->nslices++;
}

/*
 * Does the work of a process. If a chunk takes longer than expected, the kernel's counter of switches tells whether the
 * process was switched out. Does not print or allocate anything.
 */
static void work(struct board *b, struct proc_board *p, const struct sched_work *w)
{
	struct rusage before;
	getrusage(RUSAGE_SELF, &before);
	uint64_t seen = 0;
	uint64_t last = clock_ns();
	p->cpu = sched_getcpu();
	p->slice_ns = last - b->start_ns;
	for (uint64_t i = 1; i <= w->chunks; i++) {
		spin(w->chunk_iterations);
		uint64_t now = clock_ns();
		if ((double)(now - last) > 1.25 * w->chunk_ns) {
			uint64_t count = switches_at(p, &before, w->chunk_ns, &now);
			if (count != seen) {
				add_slice(p, p->slice_ns, last - b->start_ns, p->cpu);
				p->cpu = sched_getcpu();
				p->slice_ns = now - (uint64_t)w->chunk_ns - b->start_ns;
			}
			seen = count;
		}
		last = now;
		p->last_ns = now - b->start_ns;
		if (i * SCHED_LOGS / w->chunks > p->logs)
			p->proc.progress_ns[p->logs++] = now - b->start_ns;
	}
	p->proc.latency_ns = last - b->start_ns;
	add_slice(p, p->slice_ns, p->proc.latency_ns, p->cpu);
	switches(p, &before);
	p->done = true;
}

static void run_proc(const struct sched_plan *plan, struct board *b, struct proc_board *p)
{
	struct place_policy policy = plan->policy;
	policy.nice = p->proc.nice;
	if (place_pin(plan->cpus, plan->ncpus) < 0 || place_set_policy(&policy) < 0)
		_exit(EPERM);
	memset(p->slices, 0, sizeof(p->slices)); /* touches the memory now, so that no page fault happens during the
						  * measurement */
	b->ready++;
	while (!b->go)
		futex(&b->go, FUTEX_WAIT, 0);
	work(b, p, &plan->work);
	_exit(0);
}

/* Creates all processes, waits until they are ready, and starts them at the same time. Returns 0 or -errno. */
static int start_all(const struct sched_plan *plan, struct board *b, pid_t *kids)
{
	for (size_t i = 0; i < plan->procs; i++) {
		b->proc[i].proc.slices_whole = true;
		b->proc[i].proc.nice = plan->nnice ? plan->nice[i % plan->nnice] : plan->policy.nice;
		kids[i] = kid_fork();
		if (kids[i] == 0)
			run_proc(plan, b, &b->proc[i]);
		if (kids[i] < 0)
			return kids[i];
	}
	for (uint64_t waited = 0; b->ready < plan->procs; waited += 100000) {
		if (waited > 10 * NSEC_PER_SEC)
			return -ETIMEDOUT;
		for (size_t i = 0; i < plan->procs; i++) {
			int status;
			if (kids[i] && waitpid(kids[i], &status, WNOHANG) == kids[i]) {
				kids[i] = 0;
				return -EPERM;
			}
		}
		clock_sleep_ns(100000);
	}
	clock_sleep_ns(SETTLE_NS); /* gives the last process time to begin its wait in futex(2) */
	b->start_ns = clock_ns();
	b->go = 1;
	return futex(&b->go, FUTEX_WAKE, INT_MAX);
}

static void copy_proc(struct sched_proc *to, const struct proc_board *from)
{
	*to = from->proc;
	to->done = from->done;
	to->logs = from->logs;
	for (size_t i = 0; i < from->nslices; i++)
		vec_push(&to->slices, from->slices[i]);
	const struct sched_slice open = {from->slice_ns, from->last_ns, from->cpu};
	if (!from->done && open.end > open.start)
		vec_push(&to->slices, open);
}

static void collect(struct sched_run *r, const struct board *b, size_t procs)
{
	r->procs = memory_zeroed(procs, sizeof(*r->procs));
	r->n = procs;
	r->window_ns = UINT64_MAX;
	uint64_t last = 0;
	for (size_t i = 0; i < procs; i++) {
		const struct proc_board *p = &b->proc[i];
		copy_proc(&r->procs[i], p);
		if (p->done && p->proc.latency_ns < r->window_ns)
			r->window_ns = p->proc.latency_ns;
		last = p->last_ns > last ? p->last_ns : last;
	}
	if (r->window_ns == UINT64_MAX)
		r->window_ns = last;
}

int sched_measure(const struct sched_plan *plan, struct sched_run *r)
{
	size_t bytes = sizeof(struct board) + plan->procs * sizeof(struct proc_board);
	pid_t kids[SCHED_PROCS] = {0};
	struct board *b = kid_share(bytes);
	int err = start_all(plan, b, kids);
	for (size_t i = 0; i < plan->procs; i++) {
		int status = 0;
		if (kids[i] <= 0)
			continue;
		if (err)
			kid_kill(kids[i]);
		else
			err = kid_watch(kids[i], 0, &plan->progress, &status);
		if (!err && status != 0)
			err = -ECHILD;
	}
	if (!err || err == -EINTR)
		collect(r, b, plan->procs);
	munmap(b, bytes);
	return err;
}

void sched_run_free(struct sched_run *r)
{
	for (size_t i = 0; i < r->n; i++)
		vec_free(&r->procs[i].slices);
	free(r->procs);
	*r = (struct sched_run){0};
}

int sched_measure_all(const struct sched_plan *plan, const int *procs, struct sched_size *sizes, size_t n, size_t runs)
{
	struct sched_plan one = *plan;
	char what[48];
	int err = 0;
	for (size_t i = 0; i < n; i++)
		sizes[i] = (struct sched_size){.procs = (size_t)procs[i],
					       .runs = memory_zeroed(runs, sizeof(struct sched_run))};
	one.progress.all = (double)(n * runs);
	one.progress.what = what;
	for (size_t run = 0; run < runs; run++)
		for (size_t i = 0; i < n && !err && !stop_signal(); i++, one.progress.done++) {
			snprintf(what, sizeof(what), "%zu process%s", sizes[i].procs, sizes[i].procs == 1 ? "" : "es");
			one.procs = sizes[i].procs;
			struct sched_run *r = &sizes[i].runs[sizes[i].n];
			err = sched_measure(&one, r);
			/* An interrupted run is added only if no run was completed before. */
			if (!err || (err == -EINTR && !sizes[i].n && r->window_ns))
				sizes[i].n++;
			else
				sched_run_free(r);
		}
	return err == -EINTR ? 0 : err;
}

void sched_sizes_free(struct sched_size *sizes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizes[i].n; k++)
			sched_run_free(&sizes[i].runs[k]);
		free(sizes[i].runs);
	}
}

double sched_throughput(const struct sched_run *r)
{
	uint64_t last = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (!r->procs[i].done)
			return NAN;
		if (r->procs[i].latency_ns > last)
			last = r->procs[i].latency_ns;
	}
	return last ? (double)r->n * (double)NSEC_PER_SEC / (double)last : NAN;
}

double sched_mean_latency(const struct sched_run *r)
{
	double sum = 0;
	for (size_t i = 0; i < r->n; i++)
		sum += r->procs[i].done ? (double)r->procs[i].latency_ns : NAN;
	return sum / (double)r->n;
}

/* Returns the CPU time that `p` received in the first `window` ns. */
static double cpu_within(const struct sched_proc *p, uint64_t window)
{
	double sum = 0;
	for (size_t i = 0; i < p->slices.n; i++) {
		const struct sched_slice *s = &p->slices.v[i];
		uint64_t end = s->end < window ? s->end : window;
		if (s->start < end)
			sum += (double)(end - s->start);
	}
	return p->slices_whole ? sum : NAN;
}

double sched_share(const struct sched_run *r, size_t proc)
{
	double all = 0;
	for (size_t i = 0; i < r->n; i++)
		all += cpu_within(&r->procs[i], r->window_ns);
	return all > 0 ? cpu_within(&r->procs[proc], r->window_ns) / all : NAN;
}

double sched_others(const struct sched_run *r, size_t ncpus)
{
	double theirs = (double)(r->n < ncpus ? r->n : ncpus) * (double)r->window_ns;
	double had = 0;
	for (size_t i = 0; i < r->n; i++)
		had += cpu_within(&r->procs[i], r->window_ns);
	return theirs > 0 && isfinite(had) ? fmax(1 - had / theirs, 0) : NAN;
}

int sched_weight(int nice)
{
	static const int weights[40] = {
		88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
		3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
		172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15,
	};
	return weights[nice + 20];
}
