/* Operations of `bench syscall` on files, pipes and memory. */
#include "bench/op.h"

#include "base/buf.h"

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

/* Opens a file without a name in the directory s->dir, so that no file remains if the process is killed. */
static int make_file(struct op_state *s, struct buf *why)
{
	s->fd = open(s->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		snprintf(s->path, sizeof(s->path), "%s/sctrace-bench-XXXXXX", s->dir);
		s->fd = mkostemp(s->path, O_CLOEXEC);
		if (s->fd < 0)
			return cannot(why, s->dir);
		unlink(s->path);
	}
	char block[4096];
	memset(block, 'x', sizeof(block));
	for (s->size = 0; s->size < FILE_BYTES; s->size += sizeof(block))
		if (write(s->fd, block, sizeof(block)) != (ssize_t)sizeof(block)) {
			int err = cannot(why, "write");
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

OP_BODY(read_0)
{
	OP_WRONG_IF(read(s->fd, s->data, 0) != 0);
}
OP_LOOPS(read_0)

OP_BODY(read_1)
{
	OP_WRONG_IF(read(s->fd, s->data, 1) != 1);
}
OP_LOOPS(read_1)

/* Reads one byte of the file. Rewinds the file after its last byte, once in a million reads. */
OP_BODY(read_1_file)
{
	if (__builtin_expect(++s->at > s->size, 0)) {
		lseek(s->fd, 0, SEEK_SET);
		s->at = 1;
	}
	OP_WRONG_IF(read(s->fd, s->data, 1) != 1);
}
OP_LOOPS(read_1_file)

OP_BODY(read_end)
{
	OP_WRONG_IF(read(s->fd, s->data, 1) != 0);
}
OP_LOOPS(read_end)

OP_BODY(write_1)
{
	OP_WRONG_IF(write(s->fd, s->data, 1) != 1);
}
OP_LOOPS(write_1)

/* Calls fgets(3) with a buffer of one byte, which has room only for the terminating NUL, so nothing is read. */
OP_BODY(fgets_0)
{
	OP_WRONG_IF(fgets(s->data, 1, s->file) == NULL);
}
OP_LOOPS(fgets_0)

OP_BODY(fgets_1)
{
	if (__builtin_expect(++s->at > s->size, 0)) {
		rewind(s->file);
		s->at = 1;
	}
	OP_WRONG_IF(fgets(s->data, 2, s->file) == NULL);
}
OP_LOOPS(fgets_1)

OP_BODY(do_lseek)
{
	OP_WRONG_IF(lseek(s->fd, 0, SEEK_SET) != 0);
}
OP_LOOPS(do_lseek)

OP_BODY(do_fstat)
{
	struct stat st;
	OP_WRONG_IF(fstat(s->fd, &st) != 0);
	OP_KEEP(&st);
}
OP_LOOPS(do_fstat)

OP_BODY(do_stat)
{
	struct stat st;
	OP_WRONG_IF(stat("/dev/null", &st) != 0);
	OP_KEEP(&st);
}
OP_LOOPS(do_stat)

OP_BODY(open_close)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	OP_WRONG_IF(fd < 0 || close(fd) != 0);
}
OP_LOOPS(open_close)

OP_BODY(pipe_pair)
{
	OP_WRONG_IF(write(s->fd2, s->data, 1) != 1 || read(s->fd, s->data, 1) != 1);
}
OP_LOOPS(pipe_pair)

OP_BODY(map_unmap)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OP_WRONG_IF(p == MAP_FAILED || munmap(p, 4096) != 0);
}
OP_LOOPS(map_unmap)

/*
 * Touches one page, which causes a page fault. After the last page, one madvise(2) call frees all pages; its cost is
 * spread over a thousand faults.
 */
OP_BODY(page_fault)
{
	if (__builtin_expect(s->at >= s->size, 0)) {
		OP_WRONG_IF(madvise(s->mem, s->size, MADV_DONTNEED) != 0);
		s->at = 0;
	}
	*(volatile char *)(s->mem + s->at) = 1;
	s->at += 4096;
}
OP_LOOPS(page_fault)

#define ROW(name, group, body, setup, teardown, about)                                                                 \
	{                                                                                                              \
		name, group, about, body##_once, body##_twice, setup, teardown, OP_CHEAP, false                        \
	}

const struct op ops_file[] = {
	ROW("read-0", "file", read_0, open_zero, close_all, "read() of 0 bytes from /dev/zero"),
	ROW("read-zero", "file", read_1, open_zero, close_all, "read() of 1 byte from /dev/zero"),
	ROW("read-file", "file", read_1_file, make_file, close_all, "read() of 1 byte from a file in the page cache"),
	ROW("read-end", "file", read_end, make_file_at_end, close_all, "read() of 1 byte at the end of a file"),
	ROW("write-null", "file", write_1, open_null, close_all, "write() of 1 byte to /dev/null"),
	ROW("fgets-0", "stdio", fgets_0, make_stream, close_stream,
	    "fgets() with a buffer that has no space for a character"),
	ROW("fgets-1", "stdio", fgets_1, make_stream, close_stream,
	    "fgets() of 1 character from a file read in blocks"),
	ROW("lseek", "file", do_lseek, make_file, close_all, "lseek() to the start of a file"),
	ROW("fstat", "file", do_fstat, make_file, close_all, "fstat()"),
	ROW("stat", "file", do_stat, NULL, NULL, "stat() of /dev/null"),
	ROW("open-close", "file", open_close, NULL, NULL, "open() of /dev/null and close()"),
	ROW("pipe", "ipc", pipe_pair, make_pipe, close_all, "write() of 1 byte to a pipe and read() of it"),
	ROW("mmap", "memory", map_unmap, NULL, NULL, "mmap() of an untouched page and munmap()"),
	{"page-fault", "memory", "the first write to an anonymous page", page_fault_once, page_fault_twice, make_pages,
	 drop_pages, OP_CHEAP, true},
};
const size_t ops_file_count = sizeof(ops_file) / sizeof(*ops_file);
