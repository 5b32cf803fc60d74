/* Sizes, durations and lists in the forms that people type and read. */
#ifndef SCTRACE_BASE_SIZE_H
#define SCTRACE_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * Reads "4096", "4K", "1M", "2G", "64KiB" (powers of 1024), "10kB", "1MB" (powers of 1000; a bare letter means 1024).
 * Returns 0 and the bytes, -EINVAL if the text is not a size, or -ERANGE if it does not fit in 64 bits.
 */
int size_parse(const char *text, uint64_t *bytes);
/* Appends the shortest exact form ("4K", "1M", "1500"), which size_parse() can read. */
void size_format(struct buf *out, uint64_t bytes);
/* Appends a rounded form for people: "968 KiB", "1.5 MiB". */
void size_human(struct buf *out, uint64_t bytes);

/*
 * Reads "250ms", "1.5s", "10us", "3min", or "20" (microseconds, as in strace's options) and returns nanoseconds in *ns.
 * Returns 0, -EINVAL, or -ERANGE if the value does not fit in 64 bits.
 */
int duration_parse(const char *text, uint64_t *ns);
/* Appends a duration with three significant digits and its unit: "0.97 us", "201 us", "1.01 s". `ns` may be fractional.
 */
void duration_human(struct buf *out, double ns);

/* Appends a count with commas between groups of three digits: "20,971,550". */
void count_human(struct buf *out, uint64_t n);
/* Appends a factor with three digits: "0.94", "1.60", "17.0", "340". */
void factor_human(struct buf *out, double x);
/* The same for an interval: "1.21 to 1.93", or "above 1.21" if `high` is infinite. */
void factor_interval(struct buf *out, double low, double high);

/* Reads an integer within [min, max]. Returns 0, -EINVAL or -ERANGE. */
int number_parse(const char *text, int64_t min, int64_t max, int64_t *value);

#endif
