/* The ways of copying a file that compare runs: one table drives --list, the runs, the help and --explain. */
#ifndef SCTRACE_STRATEGY_STRATEGY_H
#define SCTRACE_STRATEGY_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum strategy_flags {
	STRATEGY_DEFAULT = 1 << 0,  /* part of the default set */
	STRATEGY_BUFFER = 1 << 1,   /* takes -b SIZE */
	STRATEGY_PER_BYTE = 1 << 2, /* two system calls a byte, whatever the buffer */
	STRATEGY_ALIGNED = 1 << 3,  /* its buffer must be a multiple of 4096 bytes */
	STRATEGY_GATHERED = 1 << 4, /* the C library makes pages of smaller buffers */
	STRATEGY_BATCHED = 1 << 5,  /* one call reads and writes STRATEGY_BATCH buffers */
};

/* As many as copy-io-uring hands over at once. */
#define STRATEGY_BATCH 8

struct strategy {
	const char *name;    /* what the user types and reads: "read/write" */
	const char *program; /* the copier: "copy-read-write" */
	unsigned flags;
	const char *buffers; /* the sizes it is run with by default, as strategy_buffers() reads them; NULL: no -b */
	const char *what;    /* one line, for --list */
	const char *why;     /* why it costs what it costs: one sentence, for --explain */
};

/* All strategies in the order they are shown; *n is how many. */
const struct strategy *strategy_all(size_t *n);
/* By its name or its program's, with or without "copy-"; NULL where there is none. */
const struct strategy *strategy_find(const char *name);
/*
 * About how many system calls `s` makes for `bytes` of input with `buffer` (0: none): to tell beforehand what would take
 * long. Not a result.
 */
uint64_t strategy_expected_calls(const struct strategy *s, uint64_t bytes, uint64_t buffer);
/*
 * Appends the path of the copier `program`: beside the running executable (build folder), in its libexec folder, or where
 * it was installed. 0, or -ENOENT and `why` says where it was looked for.
 */
int strategy_locate(const char *program, struct buf *path, struct buf *why);

/* The sizes that "all" in a list of buffers stands for: the powers of two from 1 byte to 4 MiB. */
#define STRATEGY_BUFFERS_MAX 64
/*
 * Reads a list of sizes ("1,4K,64K", "all"): how many, in sizes[]; -EINVAL and `why` names the bad one.
 */
int strategy_buffers(const char *list, uint64_t sizes[STRATEGY_BUFFERS_MAX], struct buf *why);

#endif
