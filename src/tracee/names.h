/* SPDX-License-Identifier: MIT */
/* The names of a tracee's descriptors and processes. There are two sources of names: the kernel, and recordings. */
#ifndef SCTRACE_TRACEE_NAMES_H
#define SCTRACE_TRACEE_NAMES_H

#include <linux/inet_diag.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* Beginning of the name of a signalfd(2). The mask of its signals follows, as 16 hexadecimal digits. */
#define NAMES_SIGNALFD "signalfd:"
/* The kernel appends this to the path of a deleted file. */
#define NAMES_DELETED " (deleted)"

/* Stands for an unknown protocol of a netlink socket: the kernel lists only netlink sockets that have a port. */
#define NETLINK_UNTOLD 256

/* A source of names. A function with the parameter `out` appends its answer, or returns false if it has none. */
struct names {
	/*
	 * What descriptor `fd` of thread `tid` refers to, as readlink(2) of /proc/TID/fd/FD returns it ("/etc/passwd",
	 * "socket:[123]"). AT_FDCWD means the current directory. The answer is not escaped.
	 */
	bool (*fd)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* Like fd(), with a socket's addresses ("TCP:[127.0.0.1:80->...]"), a pidfd's process ("pid:12"),
	 * or what an eventfd or a signalfd is. */
	bool (*fd_in_full)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* True if fd()'s path ends in NAMES_DELETED because the file was deleted, not because of its name. */
	bool (*deleted)(void *ctx, pid_t tid, int fd);
	/* The type and numbers of a device, if `fd` refers to one: "char 1:3". */
	bool (*device)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* The protocol of a netlink socket (NETLINK_ROUTE, ...), or NETLINK_UNTOLD; -1 if `fd` is not one. */
	int (*netlink)(void *ctx, pid_t tid, int fd);
	/*
	 * The name of network interface `index`. There is no answer if the thread is in another network namespace than
	 * sctrace (network_namespaces(7)), where the index belongs to another interface. The answer is not escaped.
	 */
	bool (*interface)(void *ctx, pid_t tid, uint32_t index, struct buf *out);
	/* Where the rings of an io_uring are; see uring_find() (tracee/uring.h). NULL: not known. */
	bool (*ring)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* The short name of a thread or process (proc_pid_comm(5)). The answer is not escaped. */
	bool (*comm)(void *ctx, pid_t tid, struct buf *out);
	/*
	 * The number, in sctrace's pid namespace, of the process or thread that thread `tid` knows by the number `id`. It
	 * is another number only if `tid` is in another pid namespace (pid_namespaces(7)). 0: it is unknown.
	 */
	pid_t (*outer_id)(void *ctx, pid_t tid, pid_t id);
	/* What link `link` of /proc/TID/ns refers to: "net:[4026531840]". NULL: namespaces are not known. */
	bool (*space)(void *ctx, pid_t tid, const char *link, struct buf *out);
	void *ctx;
};

#define NAMES_SOCKETS 256

/* The latest known addresses of sockets, by which the kernel finds the sockets again without a search. */
struct names_sockets {
	struct names_socket {
		unsigned long inode; /* 0: this entry is not used */
		struct inet_diag_sockid ends;
	} v[NAMES_SOCKETS];
};

enum { NAMES_SPACE_SIZE = 32, NAMES_SPACES_MOST = 33 /* pid namespaces can be nested 32 levels deep */ };

/* The numbers of a task in its pid namespaces, the outermost first, and the innermost namespace as text. */
struct names_ids {
	char space[NAMES_SPACE_SIZE];
	size_t n;
	pid_t v[NAMES_SPACES_MOST];
};

/* Reads the numbers of a task. Returns false if it has ended. */
bool names_ids_read(pid_t tid, struct names_ids *ids);
/* Returns the outermost number of `other` if it is the task that the task `from` knows by the number `id`; or else 0. */
pid_t names_ids_match(const struct names_ids *from, pid_t id, const struct names_ids *other);
/* Is the task in sctrace's network namespace? */
bool names_is_in_our_network(pid_t tid);
/* Does the kernel tell to which other one a Unix socket of sctrace's network namespace is connected? */
bool names_finds_peers(void);
/* Is the task in another pid namespace than sctrace? Returns 1 if it is, 0 if not, or -1 if the task has ended. */
int names_is_apart(pid_t tid);
/* Appends the type and numbers of a device, for names.device(), if `mode` (st_mode) is that of a device. */
bool names_device(uint32_t mode, uint32_t major, uint32_t minor, struct buf *out);
/* Appends the name of the protocol and the port of a netlink socket: "[ROUTE:4711]". */
void names_netlink(unsigned protocol, uint32_t port, struct buf *out);
/* The answers of /proc and sock_diag(7) at the time of the question. `ctx` is a struct names_sockets, or NULL. */
extern const struct names names_live;

/* Facts about sockets from sock_diag(7): only for sctrace's network namespace (sock_query.c). */

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
 * Appends the name in full ("TCP:[127.0.0.1:80->10.0.0.1:5]") of the socket `inode` of IPPROTO_TCP, IPPROTO_UDP or IPPROTO_RAW
 * with these addresses, each of which is a struct sockaddr_in or sockaddr_in6. `peer` is NULL if it is not connected. Returns false if they are not such addresses.
 */
bool sock_query_name(int protocol, const void *local, const void *peer, unsigned long inode, struct buf *out);

#endif
