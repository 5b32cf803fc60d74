/* rtnetlink(7): links, addresses, routes, neighbours, rules, queueing disciplines. */
#ifndef SCTRACE_DECODE_RTNETLINK_H
#define SCTRACE_DECODE_RTNETLINK_H

#include "decode/decode.h"

/*
 * Emits the `n` bytes at `at`, which follow the header of a message of `type` (RTM_NEWLINK, ...): a structure and
 * attributes, as one or two elements of the open array. Returns false without emitting anything if the type is unknown.
 */
bool decode_rtnetlink(const struct decode *d, uint16_t type, uint64_t at, uint64_t n);

#endif
