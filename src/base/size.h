/* Sizes, durations and lists as people type and read them. */
#ifndef SCTRACE_BASE_SIZE_H
#define SCTRACE_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * Reads "4096", "4K", "1M", "2G", "64KiB" (powers of 1024), "10kB", "1MB" (powers of 1000; a bare letter is 1024).
 * Returns 0 and the bytes, -EINVAL for what is no size, -ERANGE where it does not fit in 64 bits.
 */
int size_parse(const char *text, uint64_t *bytes);
/* Appends the shortest exact form ("4K", "1M", "1500"), readable by size_parse(). */
void size_format(struct buf *out, uint64_t bytes);
/* Appends a rounded form for people: "968 KiB", "1.5 MiB". */
void size_human(struct buf *out, uint64_t bytes);

/*
 * Reads "250ms", "1.5s", "10us", "3min", and "20" (microseconds, as strace's options take them) as nanoseconds.
 * Returns 0, -EINVAL, or -ERANGE where it does not fit in 64 bits.
 */
int duration_parse(const char *text, uint64_t *ns);
/* Appends a duration with three significant digits and its unit: "0.97 us", "201 us", "1.01 s". `ns` may be fractional.
 */
void duration_human(struct buf *out, double ns);

/* Appends a count with its thousands apart: "20,971,550". */
void count_human(struct buf *out, uint64_t n);
/* Appends a factor with three digits: "0.94", "1.60", "17.0", "340". */
void factor_human(struct buf *out, double x);
/* The same for an interval: "1.21 to 1.93"; "above 1.21" where `high` has no end. */
void factor_interval(struct buf *out, double low, double high);

/* Reads a whole decimal number within [min, max]: 0, -EINVAL, or -ERANGE. */
int number_parse(const char *text, int64_t min, int64_t max, int64_t *value);

#endif
