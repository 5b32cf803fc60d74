/* Saved runs that are shown beside each other: their files, their labels, and merging them into one run. */
#ifndef SCTRACE_PRESENT_DIFFERENCES_H
#define SCTRACE_PRESENT_DIFFERENCES_H

#include "present/page.h"

/* Initialise with zeros. */
struct beside {
	struct run *runs;
	struct page_run *list; /* the same runs with their labels */
	size_t n;
};

/*
 * Loads the files `paths`, of which "-" is standard input, and checks that their runs can be compared with the first
 * one. Returns 0, or -EINVAL with the reason in `why`. Call beside_free() in every case.
 */
int beside_load(struct beside *b, char *const *paths, size_t n, struct buf *why);
/*
 * Sets the labels from `names`, which are separated by commas, or from the names of the files if `names` is NULL.
 * Returns 0, or -ERANGE with the reason in `why` if `names` does not give each run a different name.
 */
int beside_name(struct beside *b, const char *names, struct buf *why);
/*
 * Merges all runs into the first one, and appends a sentence about this to `note`. Returns 0, or -EINVAL with the
 * reason in `why` if they cannot be merged. Call run_judge() afterwards.
 */
int beside_merge(struct beside *b, struct buf *note, struct buf *why);
void beside_free(struct beside *b);

#endif
