/* SPDX-License-Identifier: MIT */
/* Converts a summary of calls to the rows of a saved run of kind "count" (sctrace-run(5)), and back. */
#ifndef SCTRACE_RUN_SUMMARY_JSON_H
#define SCTRACE_RUN_SUMMARY_JSON_H

#include <jansson.h>
#include <stdbool.h>

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
 * Returns a new JSON string. JSON requires UTF-8, but the name of a program or file can contain any bytes, so a text
 * that is not valid UTF-8 is escaped.
 */
json_t *summary_json_text(const char *s);
/* Returns a new JSON number, which is an integer if `whole` is set, or null if `x` is not finite. */
json_t *summary_json_number(double x, bool whole);
/*
 * summary_hist_json() returns the histogram as [[lowest value in ns, count], ..] without empty bins;
 * summary_hist_read() reads that form. The latter returns 0 or -EINVAL.
 */
json_t *summary_hist_json(const struct hist *h);
int summary_hist_read(const json_t *a, struct hist *h);

#endif
