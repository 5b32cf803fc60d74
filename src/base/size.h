/* SPDX-License-Identifier: MIT */
/* Sizes, durations, counts and factors in the forms that people type and read. */
#ifndef SCTRACE_BASE_SIZE_H
#define SCTRACE_BASE_SIZE_H

#include <stdint.h>

struct buf;

/*
 * Parses "4096", "4K", "4k", "1M", "2G", "64KiB" (powers of 1024), or "10kB", "1MB" (powers of 1000). Returns 0 and
 * stores the result in *bytes, -EINVAL if the text is not a size, or -ERANGE if the size does not fit in 64 bits.
 */
int size_parse(const char *text, uint64_t *bytes);
/* Appends `bytes` exactly, in the shortest form that size_parse() accepts ("4K", "1M", "1500"). */
void size_format(struct buf *out, uint64_t bytes);
/* Appends `bytes` rounded: "968 KiB", "1.5 MiB". */
void size_human(struct buf *out, uint64_t bytes);

/*
 * Parses "250ms", "1.5s", "10us", "3min", or "20" (microseconds, as in strace's options), and stores nanoseconds in
 * *ns. Returns 0, -EINVAL if the text is not a duration, or -ERANGE if it does not fit in 64 bits.
 */
int duration_parse(const char *text, uint64_t *ns);
/* Appends a duration with three significant digits and its unit: "0.97 us", "201 us", "1.01 s". */
void duration_human(struct buf *out, double ns);
/*
 * Appends a duration in the unit `word`, also with three significant digits: "0.0352 ms", "12,345 us". The units are
 * those of TIME_UNITS. If `word` is NULL, does the same as duration_human().
 */
void duration_in(struct buf *out, double ns, const char *word);
#define TIME_UNITS "s ms us ns second millisecond microsecond nanosecond"

/* Appends a count with commas between groups of three digits: "20,971,550". */
void count_human(struct buf *out, uint64_t n);
/* Appends a factor with three significant digits and without an exponent: "0.94", "1.60", "17.0", "340". */
void factor_human(struct buf *out, double x);
/* Appends an interval of factors: "1.21 to 1.93", or "above 1.21" if `high` is infinite. */
void factor_interval(struct buf *out, double low, double high);

/* Parses a decimal integer from `min` to `max`. Returns 0, -EINVAL if the text is not a number, or -ERANGE. */
int number_parse(const char *text, int64_t min, int64_t max, int64_t *value);

#endif
