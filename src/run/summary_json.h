/* Converts a summary of calls to rows of a saved run (sctrace-run(5), kind "count"), and back. */
#ifndef SCTRACE_RUN_SUMMARY_JSON_H
#define SCTRACE_RUN_SUMMARY_JSON_H

#include <jansson.h>

struct buf;
struct hist;
struct summary;

/*
 * A new array with an object for each call: counts, sums and extremes in ns, quantiles, errors by name, the histogram.
 */
json_t *summary_json(const struct summary *s);
/*
 * Fills in the zeroed `s`. Returns 0, -EINVAL with the reason in `why` if the figures of a row are inconsistent, or
 * -ENOMEM.
 */
int summary_read(const json_t *rows, struct summary *s, struct buf *why);

/*
 * Converts to [[least ns, count], ..] for the bins that are not empty, and back. summary_hist_read() returns 0, -EINVAL
 * or -ENOMEM.
 */
json_t *summary_hist_json(const struct hist *h);
int summary_hist_read(const json_t *a, struct hist *h);

#endif
