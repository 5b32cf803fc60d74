/* SPDX-License-Identifier: MIT */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/size.h"
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS         "64K"
#define LIBRARY_BUFFER 4096

static const struct strategy strategies[] = {
	{"fgetc/fputc", "copy-fgetc-fputc", STRATEGY_DEFAULT, NULL, "one character at a time, through stdio",
	 "the C library reads one block at a time and returns its characters from memory, so there are few system "
	 "calls, and the time is spent in one function call for each character"},
	{"getc_unlocked", "copy-getc-unlocked", 0, NULL, "the same without locking the stream",
	 "it makes the same system calls as fgetc/fputc, but does not lock the stream for each character, which saves "
	 "user time"},
	{"fgets/fputs", "copy-fgets-fputs", 0, NULL, "one line at a time (text only)",
	 "a fast search finds each newline in the buffer of the C library, so it needs less user time than single "
	 "characters and makes the same system calls"},
	{"fread/fwrite", "copy-fread-fwrite", STRATEGY_BUFFER | STRATEGY_GATHERED, "4K", "blocks through the C library",
	 "the C library collects small blocks in its buffer before it makes a system call; it passes blocks that are "
	 "larger than its buffer to the kernel directly"},
	{"setvbuf", "copy-setvbuf", STRATEGY_BUFFER, BLOCKS, "fgetc/fputc with larger stdio buffers",
	 "larger stdio buffers mean fewer system calls; the function call for each character remains, and it is the "
	 "larger part of the cost"},
	{"unbuffered", "copy-stdio-unbuffered", STRATEGY_PER_BYTE, NULL, "fgetc/fputc without stdio buffers (_IONBF)",
	 "without a buffer, each character needs a read and a write, and the C library adds its own work"},
	{"double-buffer", "copy-double-buffer", 0, NULL, "a second, needless buffer above stdio's",
	 "the bytes are copied once more, from the stdio buffer to the program's own buffer; that saves no system "
	 "calls, but only the library call for each character, which fread/fwrite avoids without a second buffer"},
	{"read/write", "copy-read-write", STRATEGY_DEFAULT | STRATEGY_BUFFER, "1,16,256,4K,64K,1M",
	 "read(2) and write(2) with a given buffer",
	 "each buffer needs one read and one write, and the cost of entering and leaving the kernel does not depend on "
	 "the number of bytes"},
	{"one-shot", "copy-read-write2", STRATEGY_DEFAULT, NULL, "one buffer as large as the file",
	 "one read and one write is the minimum, but the whole file must be in memory, and the kernel must first "
	 "allocate each of its pages"},
	{"readv/writev", "copy-readv-writev", STRATEGY_BUFFER, BLOCKS, "one call for four buffers",
	 "with a vector, the program does not have to join its buffers; it makes as many calls as with one buffer of "
	 "the same total size"},
	{"pread/pwrite", "copy-pread-pwrite", STRATEGY_BUFFER, BLOCKS, "read and write at a given position",
	 "it costs the same as read and write; the position is an argument instead of a property of the descriptor"},
	{"fadvise", "copy-fadvise", STRATEGY_BUFFER, BLOCKS, "read/write after posix_fadvise(SEQUENTIAL)",
	 "the advice doubles the kernel's read-ahead, which matters only with a cold cache and a slow device"},
	{"mmap+write", "copy-mmap-write", 0, NULL, "one write of the mapped input",
	 "there is no read and no buffer: the page cache itself is mapped, and its pages count as resident memory of "
	 "the program"},
	{"mmap+memcpy", "copy-mmap-memcpy", 0, NULL, "memcpy between two mapped files",
	 "page faults replace reads and writes, and the pages of both files count as resident memory"},
	{"sendfile", "copy-sendfile", 0, NULL, "sendfile(2): the kernel copies the bytes",
	 "the bytes stay in the kernel, so the program needs no buffer; its time outside the kernel is that of its "
	 "start-up"},
	{"splice", "copy-splice", 0, NULL, "splice(2) through a pipe",
	 "the pipe between the files holds 64 KiB, so every 64 KiB takes two calls; the bytes stay in the kernel"},
	{"copy_file_range", "copy-copy-file-range", 0, NULL, "copy_file_range(2): blocks may be shared",
	 "the file system does the work, and if it can share blocks between files, no bytes are copied"},
	{"O_DIRECT", "copy-direct", STRATEGY_BUFFER | STRATEGY_ALIGNED, "1M", "bypasses the page cache",
	 "the page cache is not used, so each call waits for the device, and the next reader must wait for it again"},
	{"O_SYNC", "copy-sync", STRATEGY_BUFFER, BLOCKS, "each write waits for the device",
	 "each write waits until the bytes are on the device, so its time is that of the device and not of the system "
	 "call"},
	{"threads", "copy-threads", STRATEGY_BUFFER, BLOCKS, "a reader and a writer with two buffers",
	 "reading and writing can overlap, but passing a block means waking the other thread, which costs more than "
	 "the copy from a warm cache"},
	{"io_uring", "copy-io-uring", STRATEGY_BUFFER | STRATEGY_BATCHED, BLOCKS,
	 "eight linked reads and writes in one call",
	 "one call submits many requests, so the program enters the kernel only once for all of them; linked "
	 "requests run one after the other"},
};

const struct strategy *strategy_all(size_t *n)
{
	*n = sizeof(strategies) / sizeof(*strategies);
	return strategies;
}

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; i < sizeof(strategies) / sizeof(*strategies); i++) {
		const struct strategy *s = &strategies[i];
		if (strcmp(name, s->name) == 0 || strcmp(name, s->program) == 0 ||
		    strcmp(name, s->program + strlen("copy-")) == 0)
			return s;
	}
	return NULL;
}

uint64_t strategy_expected_calls(const struct strategy *s, uint64_t bytes, uint64_t buffer)
{
	if (s->flags & STRATEGY_PER_BYTE)
		return 2 * bytes;
	/* Strategies without the option -b copy at least one buffer of the C library with each call. */
	uint64_t unit = s->flags & STRATEGY_BUFFER && buffer ? buffer : LIBRARY_BUFFER;
	if (s->flags & STRATEGY_GATHERED && unit < LIBRARY_BUFFER)
		unit = LIBRARY_BUFFER;
	uint64_t units = bytes / unit + 1;
	return s->flags & STRATEGY_BATCHED ? units / STRATEGY_BATCH + 1 : 2 * units;
}

/* Stores the directory of the running executable in `dir`, or "" if it is unknown. */
static void own_folder(char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	dir[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
}

int strategy_locate(const char *program, struct buf *path, struct buf *why)
{
	char own[PATH_MAX];
	own_folder(own);
	/* The copiers beside the executable come first, because they were built together with it. */
	const char *const places[][2] = {
		{own, "/examples/"},
		{own, "/../libexec/sctrace/"},
		{SCTRACE_LIBEXECDIR, "/"},
		{SCTRACE_BUILD_EXAMPLES, "/"},
	};
	size_t start = path->len;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		buf_truncate(path, start);
		buf_addf(path, "%s%s%s", places[i][0], places[i][1], program);
		if (access(buf_str(path) + start, X_OK) == 0)
			return 0;
	}
	buf_truncate(path, start);
	buf_addf(why, "'%s' was not found in '%s/examples' or in '%s'; it may not have been built", program, own,
		 SCTRACE_LIBEXECDIR);
	return -ENOENT;
}

/* Stores the sizes 1, 2, 4 and so on up to 4 MiB in `sizes`, and returns their number. */
static int all_buffers(uint64_t sizes[STRATEGY_BUFFERS_MAX])
{
	int n = 0;
	for (uint64_t size = 1; size <= 4u << 20; size *= 2)
		sizes[n++] = size;
	return n;
}

int strategy_buffers(const char *list, uint64_t sizes[STRATEGY_BUFFERS_MAX], struct buf *why)
{
	if (strcmp(list, "all") == 0)
		return all_buffers(sizes);
	auto_free char *copy = memory_copy(list);
	int n = 0;
	char *save = NULL;
	for (char *word = strtok_r(copy, ",", &save); word && n >= 0; word = strtok_r(NULL, ",", &save)) {
		uint64_t size;
		if (n == STRATEGY_BUFFERS_MAX)
			buf_addf(why, "there are more than %d buffer sizes", STRATEGY_BUFFERS_MAX);
		else if (size_parse(word, &size) < 0 || size == 0 || size > 1u << 30)
			buf_addf(why,
				 "'%s' is not a buffer size; write a size from 1 to 1G, such as 16, 4K or 1M, or 'all'",
				 word);
		else {
			sizes[n++] = size;
			continue;
		}
		n = -EINVAL;
	}
	if (n == 0) {
		buf_adds(why, "no buffer size was given");
		return -EINVAL;
	}
	return n;
}
