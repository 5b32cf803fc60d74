/* Reading a traced program's memory: bounded, page-wise, never trusted. Decoders see nothing else of a tracee. */
#ifndef SCTRACE_TRACEE_MEM_H
#define SCTRACE_TRACEE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* `read` returns how many bytes it could read from `addr` on (fewer where a page ends), or -errno (-EFAULT: none). */
struct mem {
	ssize_t (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
};

/* Reads up to `n` bytes at `addr`, page by page, so that what is readable is read: bytes read, or -errno when none was.
 */
ssize_t mem_read(const struct mem *m, uint64_t addr, void *buf, size_t n);
/* Reads exactly `n` bytes: 0, or -EFAULT. */
int mem_get(const struct mem *m, uint64_t addr, void *buf, size_t n);
/*
 * Reads a NUL-terminated string into `buf` (at most `n` bytes, NUL not included and not added). Returns its length with
 * *ended set where the NUL was found; -EFAULT where not even the first byte can be read.
 */
ssize_t mem_string(const struct mem *m, uint64_t addr, char *buf, size_t n, int *ended);

/* The memory of process `pid`, by process_vm_readv(2) with /proc/PID/mem as the way out; ctx points at the pid. */
ssize_t mem_read_process(void *pid, uint64_t addr, void *buf, size_t n);

/*
 * The same of pages that are there (proc_pid_pagemap(5)): who reads others waits, in a program that serves its own page faults
 * (userfaultfd(2)), for a thread that may be stopped meanwhile.
 */
ssize_t mem_read_present(void *pid, uint64_t addr, void *buf, size_t n);
/* Does the process have a userfaultfd(2) open? Where that cannot be told, no. */
bool mem_has_userfaultfd(pid_t pid);

/*
 * Other memory seen through whole pages that are kept: for many small reads of what does not change meanwhile. Initialise
 * with {.under = ...}; to be used as {mem_read_pages, &pages}.
 */
#define MEM_PAGE  4096
#define MEM_PAGES 8
struct mem_pages {
	const struct mem *under;
	uint64_t page[MEM_PAGES]; /* address, or 0 for none; page 0 is not kept */
	unsigned char bytes[MEM_PAGES][MEM_PAGE];
};
ssize_t mem_read_pages(void *pages, uint64_t addr, void *buf, size_t n);

#endif
