/* Names of a tracee's descriptors and processes. A live source asks /proc; a recording contains the answers. */
#ifndef SCTRACE_TRACEE_NAMES_H
#define SCTRACE_TRACEE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* The kernel appends this to the path of a removed file. */
#define NAMES_DELETED " (deleted)"

/* A netlink socket whose protocol is unknown, because no table lists it before it has a port. */
#define NETLINK_UNTOLD 256

/*
 * A source of names. Each function appends to `out` and returns true, or appends nothing and returns false if it has no
 * answer.
 */
struct names {
	/*
	 * The target of descriptor `fd` of thread `tid`, as readlink(2) of /proc/TID/fd/FD gives it ("/etc/passwd",
	 * "socket:[123]"). AT_FDCWD means the current directory. Not escaped.
	 */
	bool (*fd)(void *ctx, pid_t tid, int fd, struct buf *out);
	/* The same with the addresses of a socket ("TCP:[127.0.0.1:80->...]") and the process of a pidfd ("pid:12"). */
	bool (*fd_in_full)(void *ctx, pid_t tid, int fd, struct buf *out);
	/*
	 * True if that path ends in NAMES_DELETED because the file was removed. A file that exists may have such a name
	 * as well.
	 */
	bool (*deleted)(void *ctx, pid_t tid, int fd);
	/* The type and numbers of the device file `fd`: "char 1:3". */
	bool (*device)(void *ctx, pid_t tid, int fd, struct buf *out);
	/*
	 * The protocol (NETLINK_ROUTE, ...) of a netlink socket, NETLINK_UNTOLD if it is unknown, or -1 if `fd` is not
	 * a netlink socket.
	 */
	int (*netlink)(void *ctx, pid_t tid, int fd);
	/*
	 * The name of network interface `index`, if the thread is in sctrace's network namespace; in another one
	 * (network_namespaces(7)) the index means another interface. Not escaped.
	 */
	bool (*interface)(void *ctx, pid_t tid, uint32_t index, struct buf *out);
	/* The short name of a thread or process, proc_pid_comm(5). Not escaped. */
	bool (*comm)(void *ctx, pid_t tid, struct buf *out);
	void *ctx;
};

/* Answers from /proc at the time of the question. */
extern const struct names names_live;

#endif
