/* Facts about sockets that /proc does not contain, from sock_diag(7): only for sctrace's network namespace. */
#ifndef SCTRACE_TRACEE_SOCK_QUERY_H
#define SCTRACE_TRACEE_SOCK_QUERY_H

#include <stdbool.h>

struct buf;

/* Returns the inode of the socket that is connected to the Unix socket `inode`; 0 if there is none or it is unknown. */
unsigned long sock_query_unix_peer(unsigned long inode);
/*
 * Appends the address of a TCP socket that is bound, but is neither listening nor connected: "[127.0.0.1:80]". Returns
 * false if it is unknown, as it is before Linux 6.8 (TCP_BOUND_INACTIVE in include/net/tcp_states.h).
 */
bool sock_query_tcp_bound(bool v6, unsigned long inode, struct buf *out);

#endif
