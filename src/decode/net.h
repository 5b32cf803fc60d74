/*
 * Decodes the arguments of socket calls: addresses, messages, options. The functions are used in the rows of
 * decode_kinds.
 */
#ifndef SCTRACE_DECODE_NET_H
#define SCTRACE_DECODE_NET_H

#include "decode/kinds.h"

show_fn show_sockaddr, show_out_sockaddr, show_socklen, show_sock_proto, show_in_msghdr, show_out_msghdr, show_in_mmsg;
show_fn show_out_mmsg, show_in_iovec, show_out_iovec, show_remote_iovec, show_sockopt, show_sockopt_value;
show_fn show_sock_bytes, show_out_sock_bytes, show_out_sockopt_value, show_in_addr, show_in6_addr;

/* Emits a length that the kernel has written. If it differs from the length at entry, emits both: 110 => 16. */
void decode_length(const struct decode *d, uint32_t v);
/* Emits the socket address of `len` bytes at `addr`. */
void decode_sockaddr(const struct decode *d, uint64_t addr, uint64_t len);

#endif
