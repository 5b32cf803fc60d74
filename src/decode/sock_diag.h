/* sock_diag(7): queries about existing sockets, which ss(8) makes. */
#ifndef SCTRACE_DECODE_SOCK_DIAG_H
#define SCTRACE_DECODE_SOCK_DIAG_H

#include "decode/kinds.h"

/*
 * Emits the part of a message after its header: the `n` bytes at `at`. The message is a request or an answer about
 * sockets. The part consists of a structure and attributes, which become one or two elements of the array that the
 * caller has opened. If the address family is unknown, emits nothing and returns false.
 */
bool decode_sock_diag(const struct decode *d, bool request, uint64_t at, uint64_t n);

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
