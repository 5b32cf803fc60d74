/*
 * Describes which of a program's memory is read to show an argument, so that a recorder can save it and decoders need
 * not change.
 */
#ifndef SCTRACE_DECODE_MEMORY_H
#define SCTRACE_DECODE_MEMORY_H

#include "syscall/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_rule {
	MEMORY_UNKNOWN,     /* not described: such an argument is decoded only from live memory */
	MEMORY_NONE,        /* nothing */
	MEMORY_STRING,      /* a string up to its NUL */
	MEMORY_IN,          /* `size` bytes, which the kernel reads and does not change */
	MEMORY_IN_SIZED,    /* the number of bytes in the next argument, at most `size` */
	MEMORY_IN_BYTES,    /* the beginning, limited as for strings, of the number of bytes in the next argument */
	MEMORY_IN_ARRAY,    /* the number of elements in the next argument, `size` bytes each */
	MEMORY_OUT,         /* `size` bytes, which the kernel writes if the call succeeds */
	MEMORY_OUT_BYTES,   /* the beginning, limited as for strings, of the number of bytes in the result */
	MEMORY_OUT_ALL,     /* the number of elements in the result, `size` bytes each */
	MEMORY_ON_ERROR,    /* something, if the call fails */
	MEMORY_COMMAND,     /* by the command in the argument before: see decode_memory_command() */
	MEMORY_FUTEX_TIME,  /* a struct timespec, by the operation of futex(2) */
	MEMORY_EPOLL_EVENT, /* a struct epoll_event, by the operation of epoll_ctl(2) */
	MEMORY_IN_IOVEC, /* a vector of struct iovec, as many as the next argument says, and the beginnings of its buffers */
	MEMORY_OUT_IOVEC, /* the same; the call fills the buffers with as many bytes as its result says */
	MEMORY_CHANGED,   /* `size` bytes, which the kernel reads and then changes */
	MEMORY_OUT_SIZED, /* the number of bytes that the next argument points at, which is MEMORY_CHANGED; at most `size` */
	MEMORY_FD_SET,         /* select(2): a set of as many descriptors as argument 0 says, read and then changed */
	MEMORY_SIGSET_PAIR,    /* pselect6(2): a pointer to a set of signals, and its size */
	MEMORY_SOCK_BYTES,     /* as MEMORY_IN_BYTES, but all of them if they are a netlink message */
	MEMORY_OUT_SOCK_BYTES, /* the same, written: the number of bytes in the result, at most the next argument */
	MEMORY_MSG,            /* struct msghdr (sendmsg(2)) and what it points at */
	MEMORY_OUT_MSG,        /* the same, written (recvmsg(2)); msg_namelen is read and then changed */
	MEMORY_MMSG,           /* as many struct mmsghdr as the next argument says */
	MEMORY_OUT_MMSG,       /* the same, as many as the result says */
};

struct memory_need {
	enum memory_rule rule;
	uint16_t size;
};

/* The need of an argument of this kind, in a program of the native architecture. */
struct memory_need decode_memory_need(enum syscall_kind kind);

struct memory_command {
	uint32_t command;
	struct memory_need need; /* MEMORY_NONE, MEMORY_IN, MEMORY_OUT or MEMORY_UNKNOWN */
};
/* Row `i` of the commands of K_FCNTL_ARG or K_IOCTL_ARG that decoders know; false behind the last. Other commands are MEMORY_UNKNOWN. */
bool decode_memory_command(enum syscall_kind kind, size_t i, struct memory_command *c);

#endif
