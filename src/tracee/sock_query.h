/* SPDX-License-Identifier: MIT */
/* Facts about sockets from sock_diag(7): only for sctrace's network namespace. */
#ifndef SCTRACE_TRACEE_SOCK_QUERY_H
#define SCTRACE_TRACEE_SOCK_QUERY_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct inet_diag_sockid;

/* A Unix socket. */
struct sock_query_unix {
	unsigned long inode, peer; /* `peer` is the inode of the socket that is connected to it, or 0 */
	size_t len;                /* the length of its address; 0: none */
	bool abstract;             /* the address is not a path, and begins after a byte 0, which is not in `name` */
	char name[108];            /* the address; not terminated */
};

/* Fills in all but `inode`, which the caller sets. Returns false if the kernel does not tell; *s is then empty except for `inode`. */
bool sock_query_unix(struct sock_query_unix *s);
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
