/*
 * Measures the cost of counting a call. The same loop of getppid(2) is timed twice: by sctrace itself before counting
 * starts, and by the kernel half after that.
 */
#include "engine/bpf/loader.h"

#include "base/clock.h"
#include "stats/hist.h"

#include <errno.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCHES = 15, BATCH = 500 };

static void make_calls(void)
{
	for (int i = 0; i < BATCH; i++)
		syscall(SYS_getppid);
}

double bpf_native_cost(void)
{
	double best = INFINITY;
	for (int i = 0; i < BATCHES; i++) {
		uint64_t t0 = clock_ns();
		make_calls();
		double ns = (double)(clock_ns() - t0) / BATCH;
		best = ns < best ? ns : best;
	}
	return best;
}

/* Adds the current histogram of a slot to `h`. */
static void read_hist(const struct bpf_engine *b, unsigned int slot, struct hist *h)
{
	for (unsigned int i = 0; i < CHUNKS_PER_ROW; i++) {
		unsigned int chunk = b->hists[slot].chunk[i];
		for (unsigned int k = 0; chunk && k < CHUNK_SIZE * b->shards; k++) {
			uint64_t n = b->chunks[chunk * b->shards + k / CHUNK_SIZE].count[k % CHUNK_SIZE];
			hist_add(h, hist_bucket_low(i * CHUNK_SIZE + k % CHUNK_SIZE), n);
		}
	}
}

/* Returns the mean of the fastest batch, as the kernel half measured it; or -errno, which is below zero. */
static double counted_cost(struct bpf_engine *b, unsigned int *slot)
{
	const struct row_key key = {.id = ROW_ID_SELF, .nr = SYS_getppid};
	struct row_counts before, after;
	double best = INFINITY;
	make_calls();
	*slot = bpf_find_row(b, &key);
	int r = *slot ? bpf_read_row(b, *slot, &before) : -EIO;
	for (int i = 0; r == 0 && i < BATCHES; i++) {
		make_calls();
		r = bpf_read_row(b, *slot, &after);
		double ns = (double)(after.ns - before.ns) / BATCH;
		if (after.returned - before.returned != BATCH)
			r = -EIO;
		best = ns < best ? ns : best;
		before = after;
	}
	return r < 0 ? r : best;
}

int bpf_calibrate(struct bpf_engine *b, double native_ns)
{
	unsigned int slot;
	struct hist h = {0};
	int r = bpf_mark(b, getpid(), TASK_SELF | TASK_UNSEEN);
	if (r < 0)
		return r;
	double counted = counted_cost(b, &slot);
	r = bpf_unmark(b, getpid());
	if (counted < 0)
		r = (int)counted;
	if (r == 0) {
		read_hist(b, slot, &h);
		b->cost.ns = counted - native_ns;
		/*
		 * Robust standard deviation: for a normal distribution, the interquartile range is 1.349 standard
		 * deviations.
		 */
		b->cost.spread_ns = (hist_quantile(&h, 0.75) - hist_quantile(&h, 0.25)) / 1.349;
	}
	hist_free(&h);
	return r;
}
