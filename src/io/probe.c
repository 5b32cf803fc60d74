/* SPDX-License-Identifier: MIT */
#include "io/probe.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "base/memory.h"
#include "stats/quantile.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLASS_MIN  8.0 /* minimum number of requests in a class */
#define SPREAD_MIN 8.0 /* minimum ratio of the pages of two classes */
#define DISTURBED  16.0

void io_tally_add(struct io_tally *t, double ns, double spread_ns)
{
	t->n++;
	t->ns += ns;
	t->spread_ns += spread_ns;
	hist_add(&t->took, (uint64_t)ns, 1);
}

void io_tally_add_judged(struct io_tally *t, double ns, double spread_ns, bool waited)
{
	if (!waited) {
		io_tally_add(t, ns, spread_ns);
		return;
	}
	t->n++;
	t->ns += ns;
	t->spread_ns += spread_ns;
	t->waits++;
	t->waited_ns += ns;
}

void io_tally_free(struct io_tally *t)
{
	hist_free(&t->took);
	*t = (struct io_tally){0};
}

double io_tally_mean(const struct io_tally *t)
{
	return t->n > 0 ? t->ns / t->n : 0;
}

/* Returns the mean time of the calls that were not disturbed, and sets *n to their number. */
static double undisturbed(const struct io_tally *t, double *n)
{
	double limit = DISTURBED * hist_quantile(&t->took, 0.5);
	double sum = 0;
	*n = 0;
	for (uint32_t i = 0; i < t->took.n; i++) {
		uint32_t b = t->took.first + i;
		double middle = ((double)hist_bucket_low(b) + (double)hist_bucket_low(b + 1) - 1) / 2;
		if (middle > limit)
			break;
		sum += middle * (double)t->took.count[i];
		*n += (double)t->took.count[i];
	}
	return *n > 0 ? fmin(sum / *n, t->ns / t->n) : io_tally_mean(t);
}

double io_tally_each(const struct io_tally *t)
{
	double n;
	return undisturbed(t, &n);
}

struct io_delays io_tally_delays(const struct io_tally *t)
{
	double n;
	double each = undisturbed(t, &n);
	/* The sum of the others is not exact, because a histogram rounds. Without disturbed calls, there are no delays. */
	return t->n > n ? (struct io_delays){t->n - n, fmax(t->ns - each * t->n, 0)} : (struct io_delays){0};
}

static unsigned class_of(double pages)
{
	int exponent = 0;
	if (pages < 1)
		return 0;
	frexp(pages, &exponent); /* the exponent of 1 is 1 */
	return exponent < IO_COST_CLASSES ? (unsigned)exponent : IO_COST_CLASSES - 1;
}

void io_cost_add(struct io_cost *c, double pages, double bytes, double ns, double spread_ns)
{
	struct io_cost_class *k = &c->classes[class_of(pages)];
	k->pages += pages;
	k->bytes += bytes;
	io_tally_add(&k->calls, ns, spread_ns);
}

void io_cost_merge(struct io_cost *c, const struct io_cost *from)
{
	for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
		struct io_cost_class *to = &c->classes[i];
		const struct io_cost_class *k = &from->classes[i];
		to->pages += k->pages;
		to->bytes += k->bytes;
		to->calls.n += k->calls.n;
		to->calls.ns += k->calls.ns;
		to->calls.spread_ns += k->calls.spread_ns;
		hist_merge(&to->calls.took, &k->calls.took);
	}
}

void io_cost_free(struct io_cost *c)
{
	for (unsigned i = 0; i < IO_COST_CLASSES; i++)
		io_tally_free(&c->classes[i].calls);
}

struct io_fit io_cost_fit(const struct io_cost *c)
{
	double least = INFINITY, most = 0;
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
	for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
		const struct io_cost_class *k = &c->classes[i];
		double y = io_tally_each(&k->calls);
		if (k->calls.n < CLASS_MIN || y <= 0)
			continue;
		double x = k->pages / k->calls.n;
		double weight = 1 / (y * y);
		least = fmin(least, x);
		most = fmax(most, x);
		w += weight;
		wx += weight * x;
		wy += weight * y;
		wxx += weight * x * x;
		wxy += weight * x * y;
	}
	double det = w * wxx - wx * wx;
	if (most <= 0 || most < SPREAD_MIN * least || det <= 0)
		return (struct io_fit){0};
	double slope = fmax((w * wxy - wx * wy) / det, 0);
	return (struct io_fit){true, fmax((wy - slope * wx) / w, 0), slope};
}

const struct io_cost_class *io_cost_light(const struct io_cost *c)
{
	return c->classes[0].calls.n >= CLASS_MIN ? &c->classes[0] : NULL;
}

enum { BATCHES = 9, BATCH = 300 };

static double library_calls(void)
{
	uint64_t start = clock_ns();
	for (int i = 0; i < BATCH; i++)
		getppid();
	return (double)(clock_ns() - start) / BATCH;
}

static double bare_calls(void)
{
	uint64_t start = clock_ns();
	for (int i = 0; i < BATCH; i++)
		arch_bare_call(SYS_getppid);
	return (double)(clock_ns() - start) / BATCH;
}

double io_probe_return_ns(void)
{
	/* Other processes can only lengthen a batch, so the shortest one is used. */
	double library = INFINITY, bare = INFINITY;
	for (int i = 0; i < BATCHES; i++) {
		library = fmin(library, library_calls());
		bare = fmin(bare, bare_calls());
	}
	return fmax(library - bare, 0);
}

#define MUCH 4.0
enum { ROUNDS = 5, CALLS = 256, LEAST = 1 << 19, MOST = 1 << 21 };
enum { LOOK = 16 };                    /* the clock is read once for this number of writes */
#define PROBE_MOST (NSEC_PER_SEC / 10) /* the file system may be slow, for example mounted with -o sync */

typedef VEC(size_t) sizes;

/*
 * Returns the time in ns per byte to write pieces of these sizes to the empty file, or NAN if that fails or does not end
 * before `deadline_ns`.
 */
static double time_writes(int fd, const char *piece, const sizes *pieces, uint64_t deadline_ns)
{
	off_t at = 0;
	if (ftruncate(fd, 0) < 0)
		return NAN;
	uint64_t start = clock_ns();
	for (size_t i = 0; i < pieces->n; at += (off_t)pieces->v[i++])
		if (pwrite(fd, piece, pieces->v[i], at) != (ssize_t)pieces->v[i] ||
		    (i % LOOK == 0 && clock_ns() > deadline_ns))
			return NAN;
	return (double)(clock_ns() - start) / (double)at;
}

/* The writes of a program: how many there are of each class, and their mean size, which is at most `large` bytes. */
struct mixture {
	double calls, bytes; /* of all classes */
	double n[IO_COST_CLASSES], size[IO_COST_CLASSES];
};

static struct mixture mixture_of(const struct io_cost *c, size_t large)
{
	struct mixture m = {0};
	for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
		const struct io_cost_class *k = &c->classes[i];
		if (k->calls.n <= 0 || k->bytes > k->calls.n * (double)large)
			continue;
		m.n[i] = k->calls.n;
		m.size[i] = floor(k->bytes / k->calls.n + 0.5);
		m.calls += k->calls.n;
		m.bytes += k->bytes;
	}
	return m;
}

/* Appends sizes that add up to about `bytes`. The classes alternate, each as often as its share of the calls. */
static void add_mixture(sizes *to, const struct mixture *m, double bytes)
{
	double given[IO_COST_CLASSES] = {0};
	for (double sum = 0; sum < bytes;) {
		unsigned next = 0;
		double most = -1;
		for (unsigned i = 0; i < IO_COST_CLASSES; i++) {
			double missing = m->n[i] / m->calls * (double)(to->n + 1) - given[i];
			next = missing > most ? i : next;
			most = missing > most ? missing : most;
		}
		vec_push(to, (size_t)m->size[next]);
		given[next]++;
		sum += m->size[next];
	}
}

/* Returns an open file without a name in the folder that contains `file`, or -1. */
static int open_beside(const char *file)
{
	const char *slash = strrchr(file, '/');
	if (!slash)
		return -1;
	auto_free char *folder = memory_copy(file);
	folder[slash == file ? 1 : slash - file] = '\0';
	return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

double io_probe_joined(const char *file, const struct io_cost *small, double small_ns, size_t large)
{
	double ns[2], taken[2][ROUNDS]; /* per byte */
	sizes pieces[2] = {0};
	const struct mixture m = mixture_of(small, large);
	const double size = m.bytes / m.calls, bytes = fmin(fmax(CALLS * size, LEAST), MOST);
	int fd = m.calls > 0 ? open_beside(file) : -1;
	if (fd < 0)
		return NAN;
	add_mixture(&pieces[0], &m, bytes);
	for (size_t i = 0; i < (size_t)bytes / large; i++)
		vec_push(&pieces[1], large);
	auto_free char *piece = memory_zeroed(1, large);
	uint64_t deadline_ns = clock_ns() + PROBE_MOST;
	for (int r = -1; r < ROUNDS; r++) /* round -1 is a warm-up */
		for (int k = 0; k < 2; k++)
			taken[k][r < 0 ? 0 : r] = time_writes(fd, piece, &pieces[k], deadline_ns);
	close(fd);
	vec_free(&pieces[0]);
	vec_free(&pieces[1]);
	for (int k = 0; k < 2; k++)
		ns[k] = sample_median(taken[k], ROUNDS);
	if (!isfinite(ns[0]) || !isfinite(ns[1]) || small_ns > MUCH * ns[0] * size)
		return NAN;
	return fmin(fmax(1 - ns[1] / ns[0], 0), 1);
}
