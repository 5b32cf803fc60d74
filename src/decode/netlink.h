/* Netlink messages: headers, errors, and what rtnetlink's are about. */
#ifndef SCTRACE_DECODE_NETLINK_H
#define SCTRACE_DECODE_NETLINK_H

#include "decode/kinds.h"

/*
 * Emits the `n` bytes at `addr` as netlink messages where the call is one of a netlink socket's (its first argument) and
 * they are such; false, and nothing emitted, where not.
 */
bool decode_netlink(const struct decode *d, uint64_t addr, uint64_t n);

#endif
