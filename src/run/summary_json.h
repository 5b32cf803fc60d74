/* A summary of calls as rows of a saved run (sctrace-run(5), kind "count"), and back. */
#ifndef SCTRACE_RUN_SUMMARY_JSON_H
#define SCTRACE_RUN_SUMMARY_JSON_H

#include <jansson.h>

struct buf;
struct hist;
struct summary;

/* A new array of an object for each call: counts, sums and extremes in ns, quantiles, errors by name, the histogram. */
json_t *summary_json(const struct summary *s);
/* Fills the zero-initialised `s`. 0; -EINVAL and `why`: a row whose books do not add up; -ENOMEM. */
int summary_read(const json_t *rows, struct summary *s, struct buf *why);

/* [[least ns, count], ..] of the bins that hold something, and back: 0, -EINVAL or -ENOMEM. */
json_t *summary_hist_json(const struct hist *h);
int summary_hist_read(const json_t *a, struct hist *h);

#endif
