/*
 * The format of recordings, as sctrace-recording(5) documents it: a header, and zstd frames. The content of a frame is a block: a
 * sequence of items. Each block can be read without the ones before it.
 */
#ifndef SCTRACE_RECORDING_FORMAT_H
#define SCTRACE_RECORDING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC   "SCTRACE\n"
#define RECORDING_VERSION 1
#define RECORDING_HEADER  16 /* bytes: the magic, the version (4 bytes, little-endian), 4 bytes that are 0 */

#define RECORDING_BLOCK        (1u << 20)  /* a block of this size is compressed and written */
#define RECORDING_BLOCK_LAST   (1u << 16)  /* the same for --last, which drops whole blocks */
#define RECORDING_BLOCK_MOST   (64u << 20) /* a reader refuses a longer one */
#define RECORDING_CAPTURES     (32u << 20) /* bytes of memory that one event holds at most */
#define RECORDING_THREADS_MOST 4096        /* in one block */
#define RECORDING_SLOTS        4           /* calls of a thread that later ones are compared with */

enum recording_item {
	ITEM_HEAD = 1, /* about the recording as a whole; the first item of the first block */
	ITEM_END,      /* the last item: the recording is complete */
	ITEM_THREAD,   /* a thread; threads of a block are numbered from 0 on */
	ITEM_NAME,     /* what a descriptor, a process or a network interface is called from here on */
	ITEM_FRAME,    /* a level of the stack of the next event, the innermost first */
	ITEM_ENTER,    /* events: enum event_kind of event.h */
	ITEM_EXIT,
	ITEM_VANISH,
	ITEM_SIGNAL,
	ITEM_STOP,
	ITEM_CONT,
	ITEM_NEW_TASK,
	ITEM_EXEC,
	ITEM_DEATH,
};

/* What of a call differs from the one that it is compared with: bits of its mask. Bits 0 to 5 are the arguments. */
enum recording_mask {
	MASK_IP = 1 << 6,
	MASK_SP = 1 << 7,
	MASK_ARCH = 1 << 8,
	MASK_COST = 1 << 9,
	MASK_SPREAD = 1 << 10,
	/* These have no number that follows. */
	MASK_FOREIGN = 1 << 11,
	MASK_RESTART = 1 << 12,
	MASK_LAUNCH = 1 << 13,
	MASK_ERROR = 1 << 14,
	/* A number, or a text, follows. */
	MASK_ERRNO = 1 << 15,  /* the errno is not the negative result */
	MASK_INSIDE = 1 << 16, /* the call is one that an i386 program makes through another one; its name follows */
};

/* What a name is asked by. */
enum recording_name {
	NAME_FD,        /* struct names (tracee/names.h) has these questions */
	NAME_FULL,      /* fd_in_full() */
	NAME_DELETED,   /* a number */
	NAME_DEVICE,    /* */
	NAME_NETLINK,   /* a number */
	NAME_INTERFACE, /* */
	NAME_COMM,      /* */
	NAME_KINDS,
};

/* A key for maps: kind, thread, and descriptor or interface. Thread ids have fewer than 29 bits (proc_sys_kernel(5), pid_max). */
static inline uint64_t recording_name_key(enum recording_name kind, int tid, uint32_t key)
{
	return (uint64_t)kind << 61 | (uint64_t)((uint32_t)tid & 0x1fffffff) << 32 | key;
}

/* How the address of a capture is written: behind an argument of the call, or as a number; or the entry had the same capture. */
enum { BASE_ABSOLUTE = 6, BASE_SAME = 7 };

#endif
