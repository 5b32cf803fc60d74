/* SPDX-License-Identifier: MIT */
/* Reads the memory of a traced program page by page, with bounds. Nothing in that memory is trusted. */
#ifndef SCTRACE_TRACEE_MEM_H
#define SCTRACE_TRACEE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* `read` returns how many bytes it has read at `addr`, perhaps fewer than `n` at the end of a page, or -errno. */
struct mem {
	ssize_t (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	/* Called by mem_string() in place of `read`, if not NULL: the memory learns that a string is read. */
	ssize_t (*string)(void *ctx, uint64_t addr, char *buf, size_t n, int *ended);
};

/* Reads up to `n` bytes, as far as pages are readable. Returns their number, or -errno if there are none. */
ssize_t mem_read(const struct mem *m, uint64_t addr, void *buf, size_t n);
/* Reads exactly `n` bytes. Returns 0 or -EFAULT. */
int mem_get(const struct mem *m, uint64_t addr, void *buf, size_t n);
/*
 * Reads a NUL-terminated string into `buf`: at most `n` bytes, and without the NUL. Sets *ended to 1 if the NUL was
 * found. Returns the length, or -EFAULT if the first byte is not readable.
 */
ssize_t mem_string(const struct mem *m, uint64_t addr, char *buf, size_t n, int *ended);

/* A `read` function for the process *pid (a pid_t), by process_vm_readv(2) or else /proc/PID/mem. */
ssize_t mem_read_process(void *pid, uint64_t addr, void *buf, size_t n);

/*
 * Like mem_read_process(), but reads only pages that are present (proc_pid_pagemap(5)). If a traced program serves page
 * faults (mem_serves_pages()), reading another page would wait for a thread that may be stopped.
 */
ssize_t mem_read_present(void *pid, uint64_t addr, void *buf, size_t n);
/*
 * Returns true if the process has opened userfaultfd(2), or /dev/fuse to serve a file system (fuse(4)). Then it may have
 * to provide a page before the page can be read. Returns false also if this is unknown.
 */
bool mem_serves_pages(pid_t pid);
/* Returns true for a call (of the native architecture) by which a program can begin to do so. */
bool mem_call_serves_pages(int64_t nr);

/* A cache of whole pages for many small reads of memory that does not change: use {mem_read_pages, &pages}. */
#define MEM_PAGE  4096
#define MEM_PAGES 8
struct mem_pages {
	const struct mem *under;
	uint64_t page[MEM_PAGES]; /* address of each cached page; 0 if the slot is empty, so page 0 is never cached */
	bool partial[MEM_PAGES];  /* the page cannot be read as a whole, so `bytes` is not set */
	unsigned char bytes[MEM_PAGES][MEM_PAGE];
};
/* Sets `page` only: clearing `bytes` would take longer than many uses of the cache. */
void mem_pages_init(struct mem_pages *pages, const struct mem *under);
/* A `read` function for memory that is cached in `pages`, a struct mem_pages. */
ssize_t mem_read_pages(void *pages, uint64_t addr, void *buf, size_t n);

/*
 * Files whose contents come from a process or a machine that may not answer: FUSE, NFS and the like. sctrace must not
 * wait for such a file while it holds a thread, because the thread may be the one that serves the file.
 */

/* Does another process or machine serve the files of device `dev` (struct proc_map) to `pid`? False if unknown. */
bool mem_served_device(pid_t pid, uint64_t dev);
/*
 * Copies a regular file into memory, with a helper process, which gets SERVED_PATIENCE_MS for each part of the file.
 * Returns a descriptor of the copy, or -errno; -ETIMEDOUT means that the server does not answer.
 */
#define SERVED_PATIENCE_MS 1000
int mem_served_copy(const char *path);
/* Opens /proc/PID/NAME, a link to a file such as "exe", for reading. If the file is served, opens a copy. */
int mem_served_open(pid_t pid, const char *name);

#endif
