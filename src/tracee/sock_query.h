/*
 * Facts about sockets that /proc does not show. The kernel gives them by sock_diag(7), for the sockets of sctrace's
 * network namespace.
 */
#ifndef SCTRACE_TRACEE_SOCK_QUERY_H
#define SCTRACE_TRACEE_SOCK_QUERY_H

#include <stdbool.h>

struct buf;

/* The inode of the peer of Unix socket `inode`; 0 if it has none or the kernel does not say. */
unsigned long sock_query_unix_peer(unsigned long inode);
/*
 * Appends the address of a TCP socket that is bound, but neither listens nor is connected: "[127.0.0.1:80]". Needs
 * Linux 6.8 (TCP_BOUND_INACTIVE in include/net/tcp_states.h); returns false without it.
 */
bool sock_query_tcp_bound(bool v6, unsigned long inode, struct buf *out);

#endif
