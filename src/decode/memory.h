/*
 * Describes which memory of the program is read to show an argument. With this description the agent of the patch
 * engine can copy that memory during a call, and decoders read the copy.
 */
#ifndef SCTRACE_DECODE_MEMORY_H
#define SCTRACE_DECODE_MEMORY_H

#include "syscall/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_rule {
	MEMORY_UNKNOWN,     /* the memory is not described: the argument can be decoded only from live memory */
	MEMORY_NONE,        /* no memory is read */
	MEMORY_STRING,      /* a string and its NUL byte */
	MEMORY_IN,          /* `size` bytes that the kernel reads but does not change */
	MEMORY_IN_SIZED,    /* as many bytes as the next argument says, but at most `size` */
	MEMORY_IN_BYTES,    /* as many bytes as the next argument says, but no more than is shown of a string */
	MEMORY_IN_ARRAY,    /* an array of elements of `size` bytes; the next argument is their number */
	MEMORY_OUT,         /* `size` bytes that the kernel writes if the call succeeds */
	MEMORY_OUT_BYTES,   /* as many bytes as the result says, but no more than is shown of a string */
	MEMORY_OUT_ALL,     /* an array of elements of `size` bytes; the result is their number */
	MEMORY_ON_ERROR,    /* some memory if the call fails, and none if it succeeds */
	MEMORY_COMMAND,     /* the previous argument is a command that decides: see decode_memory_command() */
	MEMORY_FUTEX_TIME,  /* a struct timespec, if the operation of futex(2) uses one */
	MEMORY_EPOLL_EVENT, /* a struct epoll_event, if the operation of epoll_ctl(2) uses one */
	MEMORY_IN_IOVEC, /* an array of struct iovec (the next argument is its length), and the beginnings of its buffers */
	MEMORY_OUT_IOVEC, /* like MEMORY_IN_IOVEC, but the call writes to the buffers; the result is the number of bytes */
	MEMORY_CHANGED,   /* `size` bytes that the kernel reads and then changes */
	MEMORY_OUT_SIZED, /* the next argument points at a length (MEMORY_CHANGED): that many bytes, but at most `size` */
	MEMORY_FD_SET,    /* select(2): a set that is read and then changed; argument 0 is the number of descriptors */
	MEMORY_SIGSET_PAIR,    /* pselect6(2): a pointer to a set of signals, and the size of that set */
	MEMORY_SOCK_BYTES,     /* like MEMORY_IN_BYTES, but a netlink message is needed in full */
	MEMORY_OUT_SOCK_BYTES, /* like MEMORY_SOCK_BYTES, for received data; the result is its length */
	MEMORY_MSG,            /* struct msghdr of sendmsg(2), and what it points at */
	MEMORY_OUT_MSG,        /* like MEMORY_MSG, for recvmsg(2); msg_namelen is read and then changed */
	MEMORY_MMSG,           /* an array of struct mmsghdr; the next argument is its length */
	MEMORY_OUT_MMSG,       /* like MEMORY_MMSG, for recvmmsg(2); the result is its length. In the first `size`
				* elements, msg_namelen is read and then changed */
};

/* The number of arguments of execve(2) that are shown, unless all are (-v). */
#define DECODE_ARGV_MOST 32

struct memory_need {
	enum memory_rule rule;
	uint16_t size;
};

/* Returns which memory is read to show an argument of this kind. The program must be of the native architecture. */
struct memory_need decode_memory_need(enum syscall_kind kind);

struct memory_command {
	uint32_t command;
	struct memory_need need; /* MEMORY_NONE, MEMORY_IN, MEMORY_OUT or MEMORY_UNKNOWN */
};
/*
 * Fills in row `i` of the commands of K_FCNTL_ARG, K_IOCTL_ARG or K_PRCTL_ARG2 that decoders know. Returns false after
 * the last row. All other commands are MEMORY_UNKNOWN.
 */
bool decode_memory_command(enum syscall_kind kind, size_t i, struct memory_command *c);

#endif
