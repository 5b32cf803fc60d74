#include "tracee/mem.h"

#include "tracee/proc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
