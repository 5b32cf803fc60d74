/* Converts a summary of calls to the rows of a saved run of kind "count" (sctrace-run(5)), and back. */
#ifndef SCTRACE_RUN_SUMMARY_JSON_H
#define SCTRACE_RUN_SUMMARY_JSON_H

#include <jansson.h>

struct buf;
struct hist;
struct summary;

/*
 * Returns a new array with an object for each call: counts, sums and extremes in ns, quantiles, the number of each
 * error, the histogram.
 */
json_t *summary_json(const struct summary *s);
/*
 * Fills in `s`, which must be zeroed. Returns 0, or -EINVAL with the reason in `why` if the figures of a row
 * contradict each other.
 */
int summary_read(const json_t *rows, struct summary *s, struct buf *why);

/*
 * summary_hist_json() returns the histogram as [[lowest value in ns, count], ..] without empty bins;
 * summary_hist_read() reads that form. The latter returns 0 or -EINVAL.
 */
json_t *summary_hist_json(const struct hist *h);
int summary_hist_read(const json_t *a, struct hist *h);

#endif
