/* SPDX-License-Identifier: MIT */
#include "tracee/mem.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tracee/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

ssize_t mem_read(const struct mem *m, uint64_t addr, void *buf, size_t n)
{
	size_t done = 0;
	while (done < n) {
		uint64_t at = addr + done;
		if (at < addr)
			break;
		size_t want = MEM_PAGE - at % MEM_PAGE;
		/* Try to read everything at once. If some of it is not readable, read page by page. */
		if (want < n - done) {
			ssize_t all = m->read(m->ctx, at, (char *)buf + done, n - done);
			if (all == (ssize_t)(n - done))
				return (ssize_t)n;
		}
		if (want > n - done)
			want = n - done;
		ssize_t got = m->read(m->ctx, at, (char *)buf + done, want);
		if (got <= 0)
			return done ? (ssize_t)done : got ? got : -EFAULT;
		done += (size_t)got;
		if ((size_t)got < want)
			break;
	}
	return done || !n ? (ssize_t)done : -EFAULT;
}

int mem_get(const struct mem *m, uint64_t addr, void *buf, size_t n)
{
	ssize_t got = mem_read(m, addr, buf, n);
	return got == (ssize_t)n ? 0 : -EFAULT;
}

ssize_t mem_string(const struct mem *m, uint64_t addr, char *buf, size_t n, int *ended)
{
	size_t done = 0;
	if (m->string)
		return m->string(m->ctx, addr, buf, n, ended);
	*ended = 0;
	while (done < n) {
		size_t want = MEM_PAGE - (addr + done) % MEM_PAGE;
		if (want > 256)
			want = 256; /* most strings are short, so whole pages are not requested */
		if (want > n - done)
			want = n - done;
		ssize_t got = m->read(m->ctx, addr + done, buf + done, want);
		if (got <= 0)
			return done ? (ssize_t)done : -EFAULT;
		char *nul = memchr(buf + done, 0, (size_t)got);
		if (nul) {
			*ended = 1;
			return nul - buf;
		}
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Some sandboxes refuse process_vm_readv(2) but allow /proc/PID/mem, which gives access even to execute-only pages. */
static ssize_t read_proc_mem(pid_t pid, uint64_t addr, void *buf, size_t n)
{
	int fd = proc_open(pid, "mem");
	if (fd < 0)
		return fd;
	ssize_t got = pread(fd, buf, n, (off_t)addr);
	got = got < 0 ? -errno : got;
	close(fd);
	return got;
}

ssize_t mem_read_process(void *pid, uint64_t addr, void *buf, size_t n)
{
	pid_t p = *(pid_t *)pid;
	struct iovec here = {buf, n};
	struct iovec there = {(void *)(uintptr_t)addr, n}; /* NOLINT(performance-no-int-to-ptr) */
	ssize_t got = process_vm_readv(p, &here, 1, &there, 1, 0);
	if (got >= 0)
		return got;
	return errno == EFAULT && n > 1 ? -EFAULT : read_proc_mem(p, addr, buf, n);
}

/* Returns how many bytes at `addr` are in memory or swapped out, up to the first page that is neither. */
static size_t present_bytes(pid_t pid, uint64_t addr, size_t n)
{
	const uint64_t there = UINT64_C(3) << 62;
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = proc_open(pid, "pagemap");
	size_t done = 0;
	while (fd >= 0 && done < n) {
		uint64_t at = addr + done, entry = 0;
		off_t where = (off_t)(at / size * sizeof(entry));
		if (pread(fd, &entry, sizeof(entry), where) != sizeof(entry) || !(entry & there))
			break;
		done += size - at % size;
	}
	if (fd >= 0)
		close(fd);
	return done < n ? done : n;
}

ssize_t mem_read_present(void *pid, uint64_t addr, void *buf, size_t n)
{
	n = present_bytes(*(pid_t *)pid, addr, n);
	return n ? mem_read_process(pid, addr, buf, n) : -EFAULT;
}

bool mem_serves_pages(pid_t pid)
{
	char path[40], target[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	const struct dirent *e;
	bool found = false;
	while (dir && !found && (e = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, "anon_inode:[userfaultfd]") == 0 || strcmp(target, "/dev/fuse") == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool mem_call_serves_pages(int64_t nr)
{
	return nr == SYS_userfaultfd || nr == SYS_mount || nr == SYS_fsopen;
}

void mem_pages_init(struct mem_pages *pages, const struct mem *under)
{
	pages->under = under;
	memset(pages->page, 0, sizeof(pages->page));
}

ssize_t mem_read_pages(void *pages, uint64_t addr, void *buf, size_t n)
{
	struct mem_pages *p = pages;
	uint64_t page = addr & ~(uint64_t)(MEM_PAGE - 1);
	size_t i = (size_t)(page / MEM_PAGE % MEM_PAGES);
	size_t left = (size_t)(page + MEM_PAGE - addr);
	n = n < left ? n : left;
	if (page != 0 && p->page[i] != page) {
		p->page[i] = page;
		p->partial[i] = mem_get(p->under, page, p->bytes[i], MEM_PAGE) < 0;
	}
	if (page == 0 || p->partial[i])
		return p->under->read(p->under->ctx, addr, buf, n);
	memcpy(buf, p->bytes[i] + (addr - page), n);
	return (ssize_t)n;
}

static bool is_served_type(const char *type)
{
	static const char *const types[] = {"fuse", "fuseblk", "nfs", "nfs4", "cifs",     "smb3",
					    "9p",   "ceph",    "afs", "coda", "orangefs", "lustre"};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return strncmp(type, "fuse.", 5) == 0;
}

bool mem_served_device(pid_t pid, uint64_t dev)
{
	auto_buf text = {0};
	struct proc_mount m;
	char want[32];
	bool served = false;
	snprintf(want, sizeof(want), " %u:%u ", (unsigned)(dev >> 32), (unsigned)dev);
	int r = proc_read(pid, "mountinfo", &text);
	for (const char *line = buf_str(&text); r == 0 && !served && *line; line += *line == '\n') {
		size_t n = strcspn(line, "\n");
		const char *at = strstr(line, want);
		/* The third word of the line is the device. */
		bool same = at && at < line + n && at - line < 24 && memchr(line, ' ', (size_t)(at - line));
		served = same && proc_mount_parse(line, &m) && is_served_type(m.type);
		line += n;
	}
	return served;
}

enum { COPY_MOST = 512 << 20, COPY_PART = 1 << 20, COPY_FD = 3, DONE_FD = 4 };

/* In the helper: copies the file to COPY_FD, and writes a byte to DONE_FD after each part, and 'e' at the end. */
static void __attribute__((noreturn)) copy_all(const char *path)
{
	struct stat st;
	int from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = from >= 0 && fstat(from, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= COPY_MOST ? 1 : -1;
	while (n > 0) {
		n = sendfile(COPY_FD, from, NULL, COPY_PART);
		if (n >= 0 && write(DONE_FD, n ? "p" : "e", 1) != 1)
			break;
	}
	_exit(0);
}

/*
 * Starts the helper as an orphan, because sctrace waits for all of its children as tracees. If the server does not
 * answer, the helper cannot be killed until it does (request_wait_answer() in fs/fuse/dev.c), and nobody waits for it.
 */
static int start_copy(const char *path, int copy, int done)
{
	pid_t middle = fork();
	if (middle == 0) {
		if (fork() != 0)
			_exit(0);
		const int high[] = {fcntl(copy, F_DUPFD, 10), fcntl(done, F_DUPFD, 10)};
		if (high[0] < 0 || high[1] < 0 || dup2(high[0], COPY_FD) < 0 || dup2(high[1], DONE_FD) < 0)
			_exit(0);
		for (int fd = 0; fd < COPY_FD; fd++)
			close(fd);
		syscall(SYS_close_range, DONE_FD + 1, ~0U, 0);
		copy_all(path);
	}
	int r = middle < 0 ? -errno : 0;
	while (middle > 0 && waitpid(middle, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

/* Waits for the helper. Returns 0 or -errno. */
static int await_copy(int done)
{
	char said = 'p';
	while (said == 'p') {
		struct pollfd p = {done, POLLIN, 0};
		/* sctrace's timer interrupts poll(2) again and again. */
		const uint64_t until = clock_ns() + SERVED_PATIENCE_MS * UINT64_C(1000000);
		int n;
		while ((n = poll(&p, 1, SERVED_PATIENCE_MS)) < 0 && errno == EINTR && clock_ns() < until)
			;
		if (n <= 0)
			return -ETIMEDOUT;
		if (read(done, &said, 1) != 1)
			return -EIO;
	}
	return 0;
}

int mem_served_copy(const char *path)
{
	int pipes[2];
	int copy = memfd_create("sctrace", MFD_CLOEXEC);
	int r = copy < 0 || pipe2(pipes, O_CLOEXEC) < 0 ? -errno : 0;
	if (r == 0) {
		r = start_copy(path, copy, pipes[1]);
		close(pipes[1]);
		r = r < 0 ? r : await_copy(pipes[0]);
		close(pipes[0]);
	}
	if (r == 0 && lseek(copy, 0, SEEK_SET) == 0)
		return copy;
	if (copy >= 0)
		close(copy);
	return r < 0 ? r : -EIO;
}

int mem_served_open(pid_t pid, const char *name)
{
	char path[64];
	struct statx st;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int r = proc_stat(path, &st);
	if (r < 0)
		return r;
	bool served = mem_served_device(pid, (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor);
	return served ? mem_served_copy(path) : proc_open(pid, name);
}
