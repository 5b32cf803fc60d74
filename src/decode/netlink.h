/* Netlink messages: headers, errors, and the contents of the messages of rtnetlink(7) and sock_diag(7). */
#ifndef SCTRACE_DECODE_NETLINK_H
#define SCTRACE_DECODE_NETLINK_H

#include "decode/kinds.h"

/*
 * Emits the `n` bytes at `addr` as netlink messages. If the first argument of the call is not a netlink socket, or if
 * the bytes are not messages, emits nothing and returns false.
 */
bool decode_netlink(const struct decode *d, uint64_t addr, uint64_t n);

/* The ports and addresses of a socket (struct inet_diag_sockid). */
struct inet_id {
	uint16_t idiag_sport, idiag_dport;
	uint32_t idiag_src[4], idiag_dst[4];
	uint32_t idiag_if, idiag_cookie[2];
};
/*
 * Shows the addresses and ports of a socket. The address family is in a member before them; `about` is the distance to
 * it in bytes.
 */
show_fn show_inet_diag_id;
/* Shows a netlink protocol, or NDIAG_PROTO_ALL. */
show_fn show_ndiag_protocol;

#endif
