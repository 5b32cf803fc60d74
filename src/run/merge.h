/* Several runs: whether they can be laid side by side, or pooled into one. */
#ifndef SCTRACE_RUN_MERGE_H
#define SCTRACE_RUN_MERGE_H

#include "run/run.h"

/* Can `b` be laid beside `a`? 0, or -EINVAL and the reason; the paths are what it calls them. */
int run_comparable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/* Can they be pooled, too? The same. */
int run_poolable(const struct run *a, const char *path_a, const struct run *b, const char *path_b, struct buf *why);
/*
 * Adds the samples, histograms and calls of `from` to `to`, whose samples it takes over. What single runs told beside
 * them and what is not true of both is unknown then. 0 or -ENOMEM. run_judge() it afterwards.
 */
int run_merge(struct run *to, struct run *from);

#endif
