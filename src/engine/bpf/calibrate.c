/*
 * Measures the cost of counting a call. The same loop of getppid(2) is timed twice: by sctrace itself before counting
 * starts, and by the kernel half after that.
 */
#include "engine/bpf/loader.h"

#include "engine/costs.h"
#include "stats/hist.h"

#include <errno.h>
#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns the mean of the fastest batch, as the kernel half measured it; or -errno, which is below zero. */
static double counted_cost(struct bpf_engine *b, unsigned int *slot)
{
	const struct row_key key = {.id = ROW_ID_SELF, .nr = SYS_getppid};
	struct row_counts before, after;
	double best = INFINITY;
	costs_make_calls(BPF_BATCH);
	*slot = bpf_find_row(b, &key);
	int r = *slot ? bpf_read_row(b, *slot, &before) : -EIO;
	for (int i = 0; r == 0 && i < BPF_BATCHES; i++) {
		costs_make_calls(BPF_BATCH);
		r = bpf_read_row(b, *slot, &after);
		double ns = (double)(after.ns - before.ns) / BPF_BATCH;
		if (after.returned - before.returned != BPF_BATCH)
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
	r = bpf_mark(b, getpid(), 0);
	if (counted < 0)
		r = (int)counted;
	if (r == 0) {
		bpf_collect_hist(b, &h, slot); /* nothing is subtracted yet, because b->cost is 0 */
		b->cost.ns = counted - native_ns;
		b->cost.spread_ns = hist_sd(&h);
	}
	hist_free(&h);
	return r;
}
