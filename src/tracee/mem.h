/*
 * Reads the memory of a traced program: bounded, page by page, and without trusting it. Decoders see a tracee only
 * through this interface.
 */
#ifndef SCTRACE_TRACEE_MEM_H
#define SCTRACE_TRACEE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* `read` returns how many bytes it could read at `addr` (fewer at the end of a page), or -errno (-EFAULT if none). */
struct mem {
	ssize_t (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	/* Called by mem_string(), which otherwise uses `read`, where the memory wants to know that a string is read. May be NULL. */
	ssize_t (*string)(void *ctx, uint64_t addr, char *buf, size_t n, int *ended);
};

/*
 * Reads up to `n` bytes at `addr`, page by page, as far as they are readable. Returns the number of bytes, or -errno if
 * there were none.
 */
ssize_t mem_read(const struct mem *m, uint64_t addr, void *buf, size_t n);
/* Reads exactly `n` bytes. Returns 0 or -EFAULT. */
int mem_get(const struct mem *m, uint64_t addr, void *buf, size_t n);
/*
 * Reads a NUL-terminated string into `buf`: at most `n` bytes, without the NUL. Returns its length, and sets *ended if
 * the NUL was found; -EFAULT if not even the first byte is readable.
 */
ssize_t mem_string(const struct mem *m, uint64_t addr, char *buf, size_t n, int *ended);

/* Reads the memory of process `pid` by process_vm_readv(2), or else by /proc/PID/mem. ctx points at the pid. */
ssize_t mem_read_process(void *pid, uint64_t addr, void *buf, size_t n);

/*
 * The same, but only for pages that are present (proc_pid_pagemap(5)). If a program serves its own page faults
 * (userfaultfd(2)), reading a missing page would wait for a thread that may be stopped.
 */
ssize_t mem_read_present(void *pid, uint64_t addr, void *buf, size_t n);
/* True if the process has a userfaultfd(2) open; false also if that is unknown. */
bool mem_has_userfaultfd(pid_t pid);

/*
 * A cache of whole pages over other memory, for many small reads of data that does not change in between. Initialise
 * with {.under = ...} and use as {mem_read_pages, &pages}.
 */
#define MEM_PAGE  4096
#define MEM_PAGES 8
struct mem_pages {
	const struct mem *under;
	uint64_t page[MEM_PAGES]; /* address, or 0 if empty; page 0 is not cached */
	unsigned char bytes[MEM_PAGES][MEM_PAGE];
};
ssize_t mem_read_pages(void *pages, uint64_t addr, void *buf, size_t n);

#endif
