/* A process that reads the output of a program and discards it, so that the program writes to a pipe. */
#ifndef SCTRACE_MEASURE_DRAIN_H
#define SCTRACE_MEASURE_DRAIN_H

#include <stdint.h>

struct buf;

struct drain {
	int fd;     /* the end of the pipe for the program */
	int result; /* for drain_close() */
};

struct drained {
	uint64_t bytes; /* what the program has written; 0 if processes that it left behind may still write more */
	double cpu_s;   /* the CPU time that reading took */
};

/*
 * Starts the process. It is not a child of sctrace, and it continues until all writers have closed the pipe, because a
 * process that the program left behind must not be killed by SIGPIPE. Returns 0, or -errno with the reason in `why`.
 */
int drain_open(struct drain *d, struct buf *why);
/* Closes d->fd, and waits for a moment until everything has been read. */
void drain_close(struct drain *d, struct drained *result);

#endif
