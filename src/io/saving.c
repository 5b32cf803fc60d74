/* SPDX-License-Identifier: MIT */
#include "io/saving.h"

#include "io/probe.h"

#include <math.h>

/* Time in ns to copy a byte between the kernel and the program: 50 GB/s from a cache, 8 GB/s from memory. */
#define COPY_LEAST_NS 0.02
#define COPY_MOST_NS  0.12
/*
 * The cost of each page if a write adds many pages at once, relative to a single page. File systems with large folios
 * (ext4 since Linux 6.16) add them in one operation.
 */
#define JOINED_LEAST 0.3
#define JOINED_MOST  0.9
/*
 * The part of the cost of a single page that arises once for each write, however many pages the write adds. Chosen so
 * that the middle of the range suits what tests/bench/estimates.py measured on two machines (ext4, Linux 6.18): a
 * larger buffer saved about half of the cost of these pages on one, and about two thirds on the other.
 */
#define ONCE_LEAST 0.32
#define ONCE_MOST  0.85
/*
 * The largest part of the cost of pages that a larger buffer saves if each write already adds several pages. Such a
 * write can begin at an offset that is not a multiple of its size, and the file system then needs more and smaller
 * folios. Measured on ext4.
 */
#define UNALIGNED_MOST 0.6
/*
 * Smaller writes are not made for a measurement, because there would be many for each page. The requests of such a
 * program show the cost of a call without that of the pages anyway.
 */
#define PROBED_LEAST 64
/* Time in ns to move a byte to a disk: 5 GB/s to a fast SSD, 100 MB/s to a hard disk. */
#define DISK_LEAST_NS 0.2
#define DISK_MOST_NS  10.0
/* The cost of a call varies from run to run by these factors. */
#define LEAST 0.9
#define MOST  1.1

/* The lower and the upper bound of the cost of a call, in ns. */
struct call_cost {
	double least_ns, most_ns;
};

/*
 * Returns the range of a cost, extended by the uncertainty of the measured times, which comes from the subtraction of
 * the tracing cost. The range is unknown if that uncertainty is more than half of the cost.
 */
static struct call_cost in_doubt(const struct io_tally *t, double least_ns, double most_ns)
{
	double doubt = t->n > 0 ? t->spread_ns / t->n : 0;
	if (doubt > most_ns / 2)
		return (struct call_cost){NAN, NAN};
	return (struct call_cost){fmax(least_ns * LEAST - doubt, 0), most_ns * MOST + doubt};
}

/*
 * Returns `ns`, or the mean time of the calls without their delays if that is less: no call saves more than it took.
 * NAN remains NAN.
 */
static double no_more(double ns, const struct io_tally *t)
{
	double mean = t->n > 0 ? (t->ns - io_tally_delays(t).ns) / t->n : INFINITY;
	return ns > mean ? mean : ns;
}

/* Adds the delays of `n` of the calls in `t`. */
static void add_delays(struct io_search *s, double n, const struct io_tally *t)
{
	struct io_delays d = io_tally_delays(t);
	double share = t->n > 0 ? fmin(n / t->n, 1) : 0;
	s->e.delays.n += d.n * share;
	s->e.delays.ns += d.ns * share;
}

void io_add_calls(struct io_search *s, double n, const struct io_tally *t)
{
	add_delays(s, n, t);
	double each = io_tally_each(t);
	struct call_cost c = in_doubt(t, each, each);
	s->e.low_ns += n * (c.least_ns + s->p->return_ns);
	s->e.high_ns += n * (no_more(c.most_ns, t) + s->p->return_ns);
}

void io_add_more_calls(struct io_search *s, double n, const struct io_tally *t)
{
	struct io_estimate before = s->e;
	io_add_calls(s, n, t);
	if (!isfinite(s->e.high_ns))
		s->e = before;
}

void io_saves_all(struct io_search *s, const struct io_tally *t)
{
	s->e.cost_ns = t->ns;
	io_add_calls(s, t->n, t);
}

/*
 * Returns the part of a request's cost that does not depend on its size. If there are requests that touched no new
 * page, their times show this part, because they only copied a few bytes. Otherwise it is computed from requests of
 * different sizes (io_cost_fit()), either of this file or of all files. If that is impossible too, it lies between the
 * time of the fastest call of the run and the time of the whole request minus the copying of its bytes.
 */
static struct call_cost request_cost(const struct io_search *s, const struct io_file *f, enum io_direction d,
				     const struct io_tally *t, double bytes)
{
	const struct io_cost *own = &f->flow[d].cost;
	const struct io_cost_class *light = io_cost_light(own);
	struct io_fit fit = io_cost_fit(own);
	double each = io_tally_each(t);
	/* A larger buffer does not save the time of waiting for a slow program at the other end of a stream. */
	if (light && f->kind != IO_FILE)
		return in_doubt(&light->calls, hist_quantile(&light->calls.took, 0.1),
				hist_quantile(&light->calls.took, 0.5));
	if (light) {
		double size = light->bytes / light->calls.n;
		each = io_tally_each(&light->calls);
		return in_doubt(&light->calls, each - size * COPY_MOST_NS, each - size * COPY_LEAST_NS);
	}
	if (!fit.known)
		fit = io_cost_fit(&s->all[d]);
	if (fit.known)
		return in_doubt(t, fmin(fit.call_ns, each), fmin(fit.call_ns, each));
	return in_doubt(t, fmin(s->p->quickest_ns, each), each - bytes * COPY_LEAST_NS);
}

/*
 * Returns the part of the cost of pages that is saved if each write adds `after` pages instead of `before`. `once` is
 * ONCE_LEAST or ONCE_MOST.
 */
static double joined(double once, double before, double after)
{
	return once * (1 / before - 1 / after) / (once / before + 1 - once);
}

/* Adds to *c, the cost of each of the `saved` writes, the cost of pages that writes of `buffer` bytes save. */
static void add_joined(const struct io_search *s, const struct io_tally *t, double bytes, double saved, double buffer,
		       struct call_cost *c)
{
	const struct io_cost *own = &s->f->flow[IO_WRITE].cost;
	double pages_ns = bytes / IO_PAGE * io_cost_fit(own).page_ns / saved;
	if (io_cost_light(own)) {
		c->least_ns += pages_ns * JOINED_LEAST;
		c->most_ns += pages_ns * JOINED_MOST;
	} else if (io_cost_fit(own).known) {
		c->most_ns += pages_ns * UNALIGNED_MOST;
	} else {
		/* Each call adds pages. The rest of its time, without the time to copy the bytes, is their cost. */
		double before = fmax(bytes / t->n / IO_PAGE, 1), after = buffer / IO_PAGE;
		double least_ns = io_tally_each(t) - c->least_ns - bytes / t->n * COPY_MOST_NS;
		double most_ns = c->most_ns - c->least_ns;
		c->most_ns = c->least_ns + fmax(most_ns, 0) * joined(ONCE_MOST, before, after);
		c->least_ns += fmax(least_ns, 0) * joined(ONCE_LEAST, before, after);
	}
}

/* Measures which part of the time a larger buffer saves, and sets *c. Returns false if that is impossible. */
static bool probe_joined(struct io_search *s, const struct io_tally *t, double bytes, double saved, double buffer,
			 struct call_cost *c)
{
	double size = bytes / t->n, each = io_tally_each(t);
	if (size < PROBED_LEAST || !*s->probes)
		return false;
	--*s->probes;
	double part = io_probe_joined(s->f->id, &s->f->flow[IO_WRITE].cost, each, (size_t)buffer);
	if (!isfinite(part))
		return false;
	/* The probe included the return from the call, which the caller adds. */
	double whole_ns = (each + s->p->return_ns) * part * t->n / saved - s->p->return_ns;
	*c = in_doubt(t, whole_ns, whole_ns);
	return true;
}

double io_fewer_calls(struct io_search *s, enum io_direction d, const struct io_tally *t, double bytes, double starts,
		      double buffer)
{
	double needed = ceil(bytes / buffer) + fmax(starts - 1, 0);
	struct call_cost c = request_cost(s, s->f, d, t, t->n > 0 ? bytes / t->n : 0);
	double saved = fmax(t->n - needed, 0);
	bool joins = saved > 0 && d == IO_WRITE && buffer >= IO_BUFFER && s->f->kind == IO_FILE;
	if (joins && !probe_joined(s, t, bytes, saved, buffer, &c))
		add_joined(s, t, bytes, saved, buffer, &c);
	double most_ns = no_more(c.most_ns, t);
	double least_ns = fmin(c.least_ns, most_ns);
	double return_ns = s->p->return_ns;
	s->e = (struct io_estimate){t->ns, saved * (least_ns + return_ns), saved * (most_ns + return_ns), {0}};
	add_delays(s, t->n, t);
	return needed;
}

void io_one_sync(struct io_search *s, const struct io_tally *t, double bytes)
{
	/* A write with O_DIRECT waits for the device in any case, and its time does not show for how long. */
	double quick_ns = s->f->synced_direct ? 0 : hist_quantile(&t->took, 0.1) - bytes / t->n * DISK_MOST_NS;
	double mean_ns = io_tally_mean(t) - bytes / t->n * DISK_LEAST_NS;
	s->e = (struct io_estimate){t->ns, (t->n - 1) * fmax(quick_ns, 0), (t->n - 1) * fmax(mean_ns, 0), {0}};
}
