/* Decides whether several runs can be compared, or pooled into one. */
#ifndef SCTRACE_RUN_MERGE_H
#define SCTRACE_RUN_MERGE_H

#include "run/run.h"

/*
 * Decides whether `b` can be compared with `a`. Returns 0, or -EINVAL with the reason in `why`, which names the runs by
 * their paths.
 */
int run_comparable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/* The same for pooling. */
int run_poolable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/*
 * Adds the samples, histograms and calls of `from` to `to`, and takes over the samples. Facts of single runs, and those
 * that differ between both, become unknown. Returns 0 or -ENOMEM. Call run_judge() afterwards.
 */
int run_merge(struct run *to, struct run *from);

#endif
