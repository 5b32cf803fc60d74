/* rtnetlink(7): links, addresses, routes, neighbours, rules, queueing disciplines. */
#ifndef SCTRACE_DECODE_RTNETLINK_H
#define SCTRACE_DECODE_RTNETLINK_H

#include "decode/decode.h"

/*
 * Emits the part of a message after its header: the `n` bytes at `at`. `type` is the type of the message (RTM_NEWLINK,
 * ...). The part consists of a structure and attributes, which become one or two elements of the array that the caller
 * has opened. If the type is unknown, emits nothing and returns false.
 */
bool decode_rtnetlink(const struct decode *d, uint16_t type, uint64_t at, uint64_t n);

#endif
