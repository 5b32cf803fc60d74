/* Shows clocks and file times. The functions are used in the rows of decode_kinds. */
#ifndef SCTRACE_DECODE_TIME_H
#define SCTRACE_DECODE_TIME_H

#include "decode/kinds.h"

#include <stdbool.h>
#include <stddef.h>

show_fn show_ticks, show_stamp, show_timespec2, show_timeval2, show_remaining, show_clock;
when_fn when_remaining, when_clock_remaining;

/*
 * Emits a time in clock ticks, such as 250 with the comment "2.50 s". For programs, a second has 100 ticks (times(2)).
 */
void decode_ticks(struct emit *out, int64_t ticks);
/*
 * Writes `seconds` since 1970 as a date and time in UTC, "2026-11-21T04:56:39+0000". Returns false for 0 and for times
 * out of range.
 */
bool decode_time_text(char *text, size_t n, int64_t seconds);

#endif
