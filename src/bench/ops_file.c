/* Operations of `bench syscall` on files, pipes and memory. */
#include "bench/op.h"

#include "base/buf.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES  (1 << 20)
#define FAULT_BYTES (4 << 20)

static int cannot(struct buf *why, const char *what)
{
	int err = errno;
	buf_addf(why, "%s: %s", what, strerror(err));
	return -err;
}

static int open_device(struct op_state *s, const char *path, int flags, struct buf *why)
{
	s->fd = open(path, flags | O_CLOEXEC);
	return s->fd < 0 ? cannot(why, path) : 0;
}

static int open_zero(struct op_state *s, struct buf *why)
{
	return open_device(s, "/dev/zero", O_RDONLY, why);
}

static int open_null(struct op_state *s, struct buf *why)
{
	return open_device(s, "/dev/null", O_WRONLY, why);
}

int op_nameless_file(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	char path[4096];
	snprintf(path, sizeof(path), "%s/sctrace-bench-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int make_file(struct op_state *s, struct buf *why)
{
	s->fd = op_nameless_file(s->dir);
	if (s->fd < 0)
		return cannot(why, s->dir);
	char block[4096];
	memset(block, 'x', sizeof(block));
	int err = 0;
	for (s->size = 0; s->size < FILE_BYTES && !err; s->size += sizeof(block))
		err = outfile_write(s->fd, block, sizeof(block), NULL);
	if (err) {
		errno = -err;
		cannot(why, "write");
		close(s->fd);
		return err;
	}
	lseek(s->fd, 0, SEEK_SET);
	return 0;
}

static int make_file_at_end(struct op_state *s, struct buf *why)
{
	int err = make_file(s, why);
	if (!err)
		lseek(s->fd, 0, SEEK_END);
	return err;
}

static int make_stream(struct op_state *s, struct buf *why)
{
	int err = make_file(s, why);
	if (err)
		return err;
	s->file = fdopen(s->fd, "r");
	return s->file ? 0 : cannot(why, "fdopen");
}

static int make_pipe(struct op_state *s, struct buf *why)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return cannot(why, "pipe");
	s->fd = fds[0];
	s->fd2 = fds[1];
	return 0;
}

/* Maps memory with pages of the usual size (no huge pages), none of which is present yet. */
static int make_pages(struct op_state *s, struct buf *why)
{
	s->size = FAULT_BYTES;
	s->mem = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->mem == MAP_FAILED)
		return cannot(why, "mmap");
	madvise(s->mem, s->size, MADV_NOHUGEPAGE);
	return 0;
}

static void drop_pages(struct op_state *s)
{
	munmap(s->mem, s->size);
}

static void close_stream(struct op_state *s)
{
	fclose(s->file);
}

static void close_all(struct op_state *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->fd2 >= 0)
		close(s->fd2);
}

OP(read_0)
{
	OP_WRONG_IF(read(s->fd, s->data, 0) != 0);
}

OP(read_1)
{
	OP_WRONG_IF(read(s->fd, s->data, 1) != 1);
}

/* Reads one byte of the file. Rewinds the file after its last byte, once in a million reads. */
OP(read_1_file)
{
	if (__builtin_expect(++s->at > s->size, 0)) {
		lseek(s->fd, 0, SEEK_SET);
		s->at = 1;
	}
	OP_WRONG_IF(read(s->fd, s->data, 1) != 1);
}

OP(read_end)
{
	OP_WRONG_IF(read(s->fd, s->data, 1) != 0);
}

OP(write_1)
{
	OP_WRONG_IF(write(s->fd, s->data, 1) != 1);
}

/* Calls fgets(3) with a buffer of one byte, which has room only for the terminating NUL, so nothing is read. */
OP(fgets_0)
{
	OP_WRONG_IF(fgets(s->data, 1, s->file) == NULL);
}

OP(fgets_1)
{
	if (__builtin_expect(++s->at > s->size, 0)) {
		rewind(s->file);
		s->at = 1;
	}
	OP_WRONG_IF(fgets(s->data, 2, s->file) == NULL);
}

OP(do_lseek)
{
	OP_WRONG_IF(lseek(s->fd, 0, SEEK_SET) != 0);
}

OP(do_fstat)
{
	struct stat st;
	OP_WRONG_IF(fstat(s->fd, &st) != 0);
	OP_KEEP(&st);
}

OP(do_stat)
{
	struct stat st;
	OP_WRONG_IF(stat("/dev/null", &st) != 0);
	OP_KEEP(&st);
}

OP(open_close)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	OP_WRONG_IF(fd < 0 || close(fd) != 0);
}

OP(pipe_pair)
{
	OP_WRONG_IF(write(s->fd2, s->data, 1) != 1 || read(s->fd, s->data, 1) != 1);
}

OP(map_unmap)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OP_WRONG_IF(p == MAP_FAILED || munmap(p, 4096) != 0);
}

/*
 * Touches one page, which causes a page fault. After the last page, one madvise(2) call frees all pages; its cost is
 * spread over a thousand faults.
 */
OP(page_fault)
{
	if (__builtin_expect(s->at >= s->size, 0)) {
		OP_WRONG_IF(madvise(s->mem, s->size, MADV_DONTNEED) != 0);
		s->at = 0;
	}
	*(volatile char *)(s->mem + s->at) = 1;
	s->at += 4096;
}

const struct op ops_file[] = {
	{"read-0", "file", "read() of 0 bytes from /dev/zero", OP_LOOPS(read_0), open_zero, close_all},
	{"read-zero", "file", "read() of 1 byte from /dev/zero", OP_LOOPS(read_1), open_zero, close_all},
	{"read-file", "file", "read() of 1 byte from a file in the page cache", OP_LOOPS(read_1_file), make_file,
	 close_all},
	{"read-end", "file", "read() of 1 byte at the end of a file", OP_LOOPS(read_end), make_file_at_end, close_all},
	{"write-null", "file", "write() of 1 byte to /dev/null", OP_LOOPS(write_1), open_null, close_all},
	{"fgets-0", "stdio", "fgets() with a buffer that has no space for a character", OP_LOOPS(fgets_0), make_stream,
	 close_stream},
	{"fgets-1", "stdio", "fgets() of 1 character from a file read in blocks", OP_LOOPS(fgets_1), make_stream,
	 close_stream},
	{"lseek", "file", "lseek() to the start of a file", OP_LOOPS(do_lseek), make_file, close_all},
	{"fstat", "file", "fstat()", OP_LOOPS(do_fstat), make_file, close_all},
	{"stat", "file", "stat() of /dev/null", OP_LOOPS(do_stat)},
	{"open-close", "file", "open() of /dev/null and close()", OP_LOOPS(open_close)},
	{"pipe", "ipc", "write() of 1 byte to a pipe and read() of it", OP_LOOPS(pipe_pair), make_pipe, close_all},
	{"mmap", "memory", "mmap() of an untouched page and munmap()", OP_LOOPS(map_unmap)},
	{"page-fault", "memory", "the first write to an anonymous page", OP_LOOPS(page_fault), make_pages, drop_pages,
	 .trap = true},
	{0},
};
