#include "io/probe.h"

#include "arch/arch.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "stats/quantile.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	char *folder = memory_copy(file);
	folder[slash == file ? 1 : slash - file] = '\0';
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(folder);
	return fd;
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
	char *piece = memory_zeroed(1, large);
	uint64_t deadline_ns = clock_ns() + PROBE_MOST;
	for (int r = -1; r < ROUNDS; r++) /* round -1 is a warm-up */
		for (int k = 0; k < 2; k++)
			taken[k][r < 0 ? 0 : r] = time_writes(fd, piece, &pieces[k], deadline_ns);
	free(piece);
	close(fd);
	vec_free(&pieces[0]);
	vec_free(&pieces[1]);
	for (int k = 0; k < 2; k++)
		ns[k] = sample_median(taken[k], ROUNDS);
	if (!isfinite(ns[0]) || !isfinite(ns[1]) || small_ns > MUCH * ns[0] * size)
		return NAN;
	return fmin(fmax(1 - ns[1] / ns[0], 0), 1);
}
