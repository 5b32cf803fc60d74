/* What no table of /proc says of a socket: asked of the kernel (sock_diag(7)), which knows the sockets of sctrace's network. */
#ifndef SCTRACE_TRACEE_SOCK_QUERY_H
#define SCTRACE_TRACEE_SOCK_QUERY_H

#include <stdbool.h>

struct buf;

/* The inode of the peer of Unix socket `inode`; 0 where it has none, or where the kernel does not say. */
unsigned long sock_query_unix_peer(unsigned long inode);
/*
 * Appends the address of TCP socket `inode` that is bound and neither listens nor is connected, "[127.0.0.1:80]". Linux says it
 * since 6.8 (TCP_BOUND_INACTIVE in include/net/tcp_states.h); false where it does not.
 */
bool sock_query_tcp_bound(bool v6, unsigned long inode, struct buf *out);

#endif
