/* SPDX-License-Identifier: MIT */
/* The table of copy strategies. `sctrace compare` uses it, also for --list, --help and --explain. */
#ifndef SCTRACE_STRATEGY_STRATEGY_H
#define SCTRACE_STRATEGY_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum strategy_flags {
	STRATEGY_DEFAULT = 1 << 0,  /* part of the comparison if the user does not choose strategies */
	STRATEGY_BUFFER = 1 << 1,   /* has the option -b SIZE */
	STRATEGY_PER_BYTE = 1 << 2, /* makes two system calls for each byte, whatever the size of the buffer */
	STRATEGY_ALIGNED = 1 << 3,  /* the size of its buffer must be a multiple of 4096 */
	STRATEGY_GATHERED = 1 << 4, /* the C library combines smaller buffers into pages */
	STRATEGY_BATCHED = 1 << 5,  /* one call reads and writes STRATEGY_BATCH buffers */
};

/* How many requests copy-io-uring submits at once. */
#define STRATEGY_BATCH 8

struct strategy {
	const char *name;    /* the name that users see and type: "read/write" */
	const char *program; /* the name of the program in examples/ that copies: "copy-read-write" */
	unsigned flags;
	const char *buffers; /* the default buffer sizes, as strategy_buffers() parses them; NULL without the option
			      * -b */
	const char *what;    /* a description of the strategy in one line, for --list */
	const char *why;     /* what the time of the strategy depends on, in one sentence, for --explain */
};

/* Returns the array of all strategies in the order of display, and stores their number in *n. */
const struct strategy *strategy_all(size_t *n);
/* Returns the strategy that has this name, or whose program has this name (with or without "copy-"), or NULL. */
const struct strategy *strategy_find(const char *name);
/*
 * Estimates the number of system calls for `bytes` of input with a buffer of size `buffer` (0: none). The estimate is
 * used to recognise runs that would take too long, and is never printed as a result.
 */
uint64_t strategy_expected_calls(const struct strategy *s, uint64_t bytes, uint64_t buffer);
/*
 * Appends the path of the copier `program`, which is searched for in examples/ beside the running executable (in a
 * build), in the libexec directory that belongs to the executable, in the installation directory, and in the directory
 * in which the copiers were built. Returns 0, or -ENOENT with a message in `why` that names the first and the third of
 * these directories.
 */
int strategy_locate(const char *program, struct buf *path, struct buf *why);

/* Maximum number of sizes in a list of buffer sizes. */
#define STRATEGY_BUFFERS_MAX 64
/*
 * Parses a list of sizes ("1,4K,64K") into `sizes`. "all" means the powers of two from 1 byte to 4 MiB. Returns the
 * number of sizes, or -EINVAL with the reason in `why`.
 */
int strategy_buffers(const char *list, uint64_t sizes[STRATEGY_BUFFERS_MAX], struct buf *why);

#endif
