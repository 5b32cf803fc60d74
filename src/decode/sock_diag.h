/* sock_diag(7): queries about existing sockets, as ss(8) makes them. */
#ifndef SCTRACE_DECODE_SOCK_DIAG_H
#define SCTRACE_DECODE_SOCK_DIAG_H

#include "decode/kinds.h"

/*
 * Emits the `n` bytes at `at`, which follow the header of a request or answer about sockets: a structure and
 * attributes, as one or two elements of the open array. Returns false without emitting anything if the family is
 * unknown.
 */
bool decode_sock_diag(const struct decode *d, bool request, uint64_t at, uint64_t n);

/* A socket's ports and addresses (struct inet_diag_sockid). */
struct inet_id {
	uint16_t idiag_sport, idiag_dport;
	uint32_t idiag_src[4], idiag_dst[4];
	uint32_t idiag_if, idiag_cookie[2];
};
/* The addresses and ports of a socket; `about` is the distance in bytes to the address family before it. */
show_fn show_inet_diag_id;
/* Two numbers; and a netlink protocol, or NDIAG_PROTO_ALL. */
show_fn show_diag_cookie, show_ndiag_protocol;

#endif
