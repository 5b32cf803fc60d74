/* What descriptors and processes of the traced are called. A live source asks /proc; a recording keeps the answers. */
#ifndef SCTRACE_TRACEE_NAMES_H
#define SCTRACE_TRACEE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* What the kernel writes behind the path of a file that was removed. */
#define NAMES_DELETED " (deleted)"

/* A netlink socket whose protocol is not known: no table has it before it has a port. */
#define NETLINK_UNTOLD 256

/* Who knows the names. Each function appends to `out` and says true, or appends nothing where there is no answer. */
struct names {
	/*
	 * What descriptor `fd` of thread `tid` leads to, as readlink(2) of /proc/TID/fd/FD gives it ("/etc/passwd",
	 * "socket:[123]"); AT_FDCWD asks for the current directory. Not escaped.
	 */
	bool (*fd)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* The same with the addresses of a socket ("TCP:[127.0.0.1:80->...]") and the process of a pidfd ("pid:12"). */
	bool (*fd_in_full)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* Does that path end in NAMES_DELETED because the file was removed? A file may be called so, and be there. */
	bool (*deleted)(void *ctx, pid_t tid, int fd);
	/* The kind and the numbers of the device file that `fd` is: "char 1:3". */
	bool (*device)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* The protocol (NETLINK_ROUTE, ...) of a netlink socket, NETLINK_UNTOLD where nobody knows it, or -1 where `fd` is none. */
	int (*netlink)(void *ctx, pid_t tid, int fd);
	/*
	 * The name of network interface `index`, where the thread sees the same interfaces as sctrace; in another network name
	 * space (network_namespaces(7)) the same index is another interface. Not escaped.
	 */
	bool (*interface)(void *ctx, pid_t tid, uint32_t index, struct buf *out);
	/* The short name of a thread or process, proc_pid_comm(5). Not escaped. */
	bool (*comm)(void *ctx, pid_t tid, struct buf *out);
	void *ctx;
};

/* The answers of /proc, now. */
extern const struct names names_live;

#endif
