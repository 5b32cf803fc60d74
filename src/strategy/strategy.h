/* The copy strategies that compare runs. One table drives --list, the runs, the help and --explain. */
#ifndef SCTRACE_STRATEGY_STRATEGY_H
#define SCTRACE_STRATEGY_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum strategy_flags {
	STRATEGY_DEFAULT = 1 << 0,  /* part of the default set */
	STRATEGY_BUFFER = 1 << 1,   /* takes -b SIZE */
	STRATEGY_PER_BYTE = 1 << 2, /* two system calls for each byte, whatever the buffer */
	STRATEGY_ALIGNED = 1 << 3,  /* its buffer must be a multiple of 4096 bytes */
	STRATEGY_GATHERED = 1 << 4, /* the C library collects smaller buffers into pages */
	STRATEGY_BATCHED = 1 << 5,  /* one call reads and writes STRATEGY_BATCH buffers */
};

/* The number of requests that copy-io-uring submits at once. */
#define STRATEGY_BATCH 8

struct strategy {
	const char *name;    /* the name that the user types and reads: "read/write" */
	const char *program; /* the copier: "copy-read-write" */
	unsigned flags;
	const char *buffers; /* the default buffer sizes, in the form of strategy_buffers(); NULL: no -b */
	const char *what;    /* one line, for --list */
	const char *why;     /* the reason for its cost, in one sentence, for --explain */
};

/* All strategies in the order of display; sets *n to their number. */
const struct strategy *strategy_all(size_t *n);
/* Finds a strategy by its name or its program's name, with or without "copy-". NULL if there is none. */
const struct strategy *strategy_find(const char *name);
/*
 * An estimate of the number of system calls that `s` makes for `bytes` of input with `buffer` (0: none). It serves to
 * warn of long runs, not as a result.
 */
uint64_t strategy_expected_calls(const struct strategy *s, uint64_t bytes, uint64_t buffer);
/*
 * Appends the path of the copier `program`: beside the running executable (build folder), in its libexec folder, or in
 * the installation folder. Returns 0, or -ENOENT and the searched places in `why`.
 */
int strategy_locate(const char *program, struct buf *path, struct buf *why);

/* The sizes that "all" means: the powers of two from 1 byte to 4 MiB. */
#define STRATEGY_BUFFERS_MAX 64
/*
 * Reads a list of sizes ("1,4K,64K", "all") into sizes[]. Returns their number, or -EINVAL with the invalid size in
 * `why`.
 */
int strategy_buffers(const char *list, uint64_t sizes[STRATEGY_BUFFERS_MAX], struct buf *why);

#endif
