/* Decides whether two runs can be compared or merged, and merges them. */
#ifndef SCTRACE_RUN_MERGE_H
#define SCTRACE_RUN_MERGE_H

#include "run/run.h"

/*
 * Decides whether `a` and `b` can be compared. Returns 0, or -EINVAL with the reason in `why`, which names the runs by
 * `path_a` and `path_b`.
 */
int run_comparable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/* Decides whether the samples of `a` and `b` can be merged into one run. Returns as run_comparable() does. */
int run_poolable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/*
 * Moves the samples, histograms and calls of `from` into `to`. Facts that concern only a single run, or that differ in
 * the two runs, become unknown. Call run_judge() afterwards.
 */
void run_merge(struct run *to, struct run *from);

#endif
