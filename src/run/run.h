/* A saved run: one JSON document with a schema version, what was run, where, every sample, and the results. */
#ifndef SCTRACE_RUN_RUN_H
#define SCTRACE_RUN_RUN_H

#include <jansson.h>
#include <stddef.h>

struct buf;
struct summary;

#define RUN_SCHEMA_VERSION 1

/*
 * A new document: {"schema": "sctrace-run", "schema_version": 1, "sctrace_version": .., "kind": kind ("count",
 * "compare", "bench-syscall", ...), "date": RFC 3339, "command": [argv], "environment": env, "results": []}.
 * Takes over the reference `env` (measure/env.h makes it; may be NULL). NULL when memory ran out.
 */
json_t *run_new(const char *kind, int argc, char *const *argv, json_t *env);
/* The array to append one object per subject to; borrowed. Field names carry their unit (wall_s, peak_rss_bytes). */
json_t *run_results(json_t *run);
/*
 * Writes the document to `path`, mode 0600, by a temporary file beside it and rename(2), so that no half file is left;
 * a link is followed, except in sticky world-writable folders (ELOOP); what is no regular file (/dev/stdout, a pipe) is
 * written to as it is. Where memory ran out before, nothing is written. 0, or -errno and `why` names the file.
 */
int run_save(const json_t *run, const char *path, struct buf *why);
/* Appends the document's text as run_save() writes it: one result a line. 0 or -ENOMEM. */
int run_dump(const json_t *run, struct buf *out);
/* Reads and checks one; control bytes in its strings come as escapes (escape_line()). NULL and `why`: unreadable, truncated, foreign, a newer schema: one sentence. */
json_t *run_load(const char *path, struct buf *why);
/* The document's kind, "" where it has none; borrowed. */
const char *run_kind(const json_t *run);

/*
 * Appends each call of `s` to the results (sctrace-run(5), "count"): counts, sums and extremes in ns, quantiles, errors
 * by name, the histogram as [[least ns, count], ...]. 0 or -ENOMEM.
 */
int run_add_summary(json_t *run, const struct summary *s);
/* The way back: fills the zero-initialised `s`. 0, or -EINVAL and `why`: a row whose books do not add up; -ENOMEM. */
int run_get_summary(const json_t *run, struct summary *s, struct buf *why);

/* A new array of `n` numbers (samples); NANs become null. NULL when memory ran out. */
json_t *run_reals(const double *v, size_t n);
/* Reads such an array, nulls left out: *v is the caller's to free. 0, -EINVAL where it is no array of numbers, -ENOMEM.
 */
int run_get_reals(const json_t *array, double **v, size_t *n);
/* Strings of a program or a path may be no UTF-8, which JSON needs: such bytes are written as \xNN. */
json_t *run_string(const char *s);

#endif
