/* sock_diag(7): what sockets there are, as ss(8) asks for them. */
#ifndef SCTRACE_DECODE_SOCK_DIAG_H
#define SCTRACE_DECODE_SOCK_DIAG_H

#include "decode/kinds.h"

/*
 * Emits the `n` bytes at `at` that follow the header of a message about sockets, a request or an answer: a structure and
 * attributes, as one or two elements of the array that is open. False where the family is not known; nothing was emitted then.
 */
bool decode_sock_diag(const struct decode *d, bool request, uint64_t at, uint64_t n);

/* A socket's ports and addresses (struct inet_diag_sockid). */
struct inet_id {
	uint16_t idiag_sport, idiag_dport;
	uint32_t idiag_src[4], idiag_dst[4];
	uint32_t idiag_if, idiag_cookie[2];
};
/* The addresses and ports of a socket; `about` says how many bytes before it the address family is. */
show_fn show_inet_diag_id;
/* Two numbers; and a netlink protocol, or NDIAG_PROTO_ALL. */
show_fn show_diag_cookie, show_ndiag_protocol;

#endif
