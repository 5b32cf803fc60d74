/* Netlink messages: headers, errors, and the contents of rtnetlink's messages. */
#ifndef SCTRACE_DECODE_NETLINK_H
#define SCTRACE_DECODE_NETLINK_H

#include "decode/kinds.h"

/*
 * Emits the `n` bytes at `addr` as netlink messages. If the first argument of the call is not a netlink socket, or if
 * the bytes are not messages, emits nothing and returns false.
 */
bool decode_netlink(const struct decode *d, uint64_t addr, uint64_t n);

#endif
