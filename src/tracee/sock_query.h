/* Facts about sockets from sock_diag(7): only for sctrace's network namespace. */
#ifndef SCTRACE_TRACEE_SOCK_QUERY_H
#define SCTRACE_TRACEE_SOCK_QUERY_H

#include <stdbool.h>

struct buf;
struct inet_diag_sockid;

/* Returns the inode of the socket that is connected to the Unix socket `inode`; 0 if there is none or it is unknown. */
unsigned long sock_query_unix_peer(unsigned long inode);
/*
 * Appends the addresses of a socket of the protocol IPPROTO_TCP or IPPROTO_UDP: "[127.0.0.1:80->10.0.0.1:5]". Returns 1;
 * 0 if the kernel knows no addresses; -1 if the kernel cannot be asked. Before Linux 6.8, the kernel does not know the
 * address of a TCP socket that is neither listening nor connected.
 *
 * *ends is an earlier result for this socket, or zero, and is updated. It spares the kernel a search through all sockets.
 */
int sock_query_inet(bool v6, int protocol, unsigned long inode, struct inet_diag_sockid *ends, struct buf *out);
/*
 * Appends the name in full ("TCP:[127.0.0.1:80->10.0.0.1:5]") of the socket `inode` with these addresses, each of which is a struct
 * sockaddr_in or sockaddr_in6. `peer` is NULL if it is not connected. Returns false if they are not such addresses.
 */
bool sock_query_name(int protocol, const void *local, const void *peer, unsigned long inode, struct buf *out);

#endif
