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

/*
 * Returns the time in ns per byte to write about `bytes` to the empty file in pieces, or NAN if that fails or does not
 * end before `deadline_ns`.
 */
static double time_writes(int fd, const char *piece, size_t size, size_t bytes, uint64_t deadline_ns)
{
	size_t n = bytes / size;
	if (ftruncate(fd, 0) < 0)
		return NAN;
	uint64_t start = clock_ns();
	for (size_t i = 0; i < n; i++)
		if (pwrite(fd, piece, size, (off_t)(i * size)) != (ssize_t)size ||
		    (i % LOOK == 0 && clock_ns() > deadline_ns))
			return NAN;
	return (double)(clock_ns() - start) / (double)(n * size);
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

double io_probe_joined(const char *file, double small, double small_ns, double large)
{
	double ns[2], taken[2][ROUNDS]; /* per byte */
	const size_t sizes[] = {(size_t)small, (size_t)large};
	const size_t bytes = (size_t)fmin(fmax(CALLS * small, LEAST), MOST);
	int fd = open_beside(file);
	if (fd < 0)
		return NAN;
	char *piece = memory_zeroed(1, sizes[1]);
	uint64_t deadline_ns = clock_ns() + PROBE_MOST;
	for (int r = -1; r < ROUNDS; r++) /* round -1 is a warm-up */
		for (int k = 0; k < 2; k++)
			taken[k][r < 0 ? 0 : r] = time_writes(fd, piece, sizes[k], bytes, deadline_ns);
	free(piece);
	close(fd);
	for (int k = 0; k < 2; k++)
		ns[k] = sample_median(taken[k], ROUNDS);
	if (!isfinite(ns[0]) || !isfinite(ns[1]) || small_ns > MUCH * ns[0] * small)
		return NAN;
	return fmin(fmax(1 - ns[1] / ns[0], 0), 1);
}
