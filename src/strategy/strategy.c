#include "strategy/strategy.h"

#include "base/buf.h"
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
	{"fgetc/fputc", "copy-fgetc-fputc", STRATEGY_DEFAULT, NULL,
	 "a character at a time through the C library's buffers",
	 "the C library asks the kernel for a block at a time and hands out its characters from memory, so the calls "
	 "are few "
	 "and the time goes into one function call a character"},
	{"getc_unlocked", "copy-getc-unlocked", 0, NULL, "the same without locking the stream for each character",
	 "its system calls are those of fgetc/fputc; what it saves is the lock around each character, in user time"},
	{"fgets/fputs", "copy-fgets-fputs", 0, NULL, "a line at a time (text only)",
	 "lines are cut out of the C library's buffer by a fast search for the newline, so it costs less user time "
	 "than single "
	 "characters with the same system calls"},
	{"fread/fwrite", "copy-fread-fwrite", STRATEGY_BUFFER | STRATEGY_GATHERED, "4K", "blocks through the C library",
	 "blocks smaller than the C library's buffer are gathered in it before the kernel is asked; larger ones go "
	 "straight "
	 "through"},
	{"setvbuf", "copy-setvbuf", STRATEGY_BUFFER, BLOCKS, "fgetc/fputc with stdio's own buffers made larger",
	 "a larger buffer inside stdio makes the system calls fewer; the function call a character stays, and it is "
	 "the larger "
	 "part"},
	{"unbuffered", "copy-stdio-unbuffered", STRATEGY_PER_BYTE, NULL,
	 "fgetc/fputc with stdio's buffers off (_IONBF)",
	 "without its buffer each character is a read and a write again, with the C library's own work on top"},
	{"double-buffer", "copy-double-buffer", 0, NULL, "a hand-written buffer on top of stdio: the needless one",
	 "the bytes are copied once more, from stdio's buffer into the program's own, and not one system call is saved "
	 "by it; what it spares is stdio's call for each character, as fread/fwrite would without it"},
	{"read/write", "copy-read-write", STRATEGY_DEFAULT | STRATEGY_BUFFER, "1,16,256,4K,64K,1M",
	 "read(2) and write(2) with a buffer of a given size",
	 "each buffer-full is one read and one write, and the kernel's price for entering and leaving is paid each "
	 "time, "
	 "however few bytes move"},
	{"one-shot", "copy-read-write2", STRATEGY_DEFAULT, NULL, "one buffer of the file's size, one read, one write",
	 "one call each way is the least there can be; the whole file stands in memory for it, and each of its pages "
	 "must be "
	 "given to the program first"},
	{"readv/writev", "copy-readv-writev", STRATEGY_BUFFER, BLOCKS, "one call for four buffers",
	 "a vector spares the program gathering its pieces; the calls are those of one buffer of the same total size"},
	{"pread/pwrite", "copy-pread-pwrite", STRATEGY_BUFFER, BLOCKS, "read and write at a given position",
	 "it costs what read and write cost: the position comes as an argument and not from the descriptor"},
	{"fadvise", "copy-fadvise", STRATEGY_BUFFER, BLOCKS, "read/write after posix_fadvise(SEQUENTIAL)",
	 "the advice doubles how far the kernel reads ahead, which matters for a cold cache and a slow device alone"},
	{"mmap+write", "copy-mmap-write", 0, NULL, "one write out of the mapped input",
	 "no read and no buffer: the page cache itself is mapped, and its pages count as resident memory of the "
	 "program"},
	{"mmap+memcpy", "copy-mmap-memcpy", 0, NULL, "memcpy between two mapped files",
	 "no read and no write: page faults take their place, and both files' pages count as resident memory"},
	{"sendfile", "copy-sendfile", 0, NULL, "sendfile(2): the kernel moves the bytes",
	 "the bytes never come to the program, which needs no buffer for them; its time outside the kernel is its "
	 "start"},
	{"splice", "copy-splice", 0, NULL, "splice(2) through a pipe",
	 "the pipe between the files holds 64 KiB, so each piece takes two calls and the program sees none of the "
	 "bytes"},
	{"copy_file_range", "copy-copy-file-range", 0, NULL, "copy_file_range(2): the file system may share the blocks",
	 "the file system does the work, and where it can share blocks no byte is moved at all"},
	{"O_DIRECT", "copy-direct", STRATEGY_BUFFER | STRATEGY_ALIGNED, "1M", "past the page cache",
	 "nothing is kept in the page cache, so each call waits for the device, and the next reader pays again"},
	{"O_SYNC", "copy-sync", STRATEGY_BUFFER, BLOCKS, "read/write, each write waiting for the device",
	 "each write waits until the device has the bytes: the time is the device's, not the system call's"},
	{"threads", "copy-threads", STRATEGY_BUFFER, BLOCKS, "a reader and a writer thread with two buffers",
	 "reading and writing can overlap, but each block is handed over by waking the other thread, which costs more "
	 "than the "
	 "copy from a warm cache"},
	{"io_uring", "copy-io-uring", STRATEGY_BUFFER | STRATEGY_BATCHED, BLOCKS,
	 "eight linked reads and writes handed over in one call",
	 "one call hands over many requests, so entering the kernel is paid once for all; linked requests run one "
	 "after the "
	 "other in it"},
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
	/* Strategies without a buffer of their own use at least the buffer of the C library. */
	uint64_t unit = s->flags & STRATEGY_BUFFER && buffer ? buffer : LIBRARY_BUFFER;
	if (s->flags & STRATEGY_GATHERED && unit < LIBRARY_BUFFER)
		unit = LIBRARY_BUFFER;
	uint64_t units = bytes / unit + 1;
	return s->flags & STRATEGY_BATCHED ? units / STRATEGY_BATCH + 1 : 2 * units;
}

/* The folder of the running executable, or "" if it cannot be determined. */
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
	/* A relocated build or installation comes first, because its own copiers belong to this executable. */
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
	buf_addf(why, "'%s' was not built, or is neither in '%s/examples' nor in '%s'", program, own,
		 SCTRACE_LIBEXECDIR);
	return -ENOENT;
}

/* 1, 2, 4 .. 4M */
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
	char *copy = strdup(list);
	if (!copy)
		return -ENOMEM;
	int n = 0;
	char *save = NULL;
	for (char *word = strtok_r(copy, ",", &save); word && n >= 0; word = strtok_r(NULL, ",", &save)) {
		uint64_t size;
		int err = size_parse(word, &size);
		if (err == 0 && size > 0 && size <= 1u << 30 && n < STRATEGY_BUFFERS_MAX) {
			sizes[n++] = size;
			continue;
		}
		if (n >= STRATEGY_BUFFERS_MAX)
			buf_addf(why, "more than %d buffer sizes", STRATEGY_BUFFERS_MAX);
		else
			buf_addf(why, "'%s' is no buffer size; write 1 to 1G, such as 16, 4K or 1M, or 'all'", word);
		n = -EINVAL;
	}
	free(copy);
	if (n == 0) {
		buf_adds(why, "no buffer size is given");
		return -EINVAL;
	}
	return n;
}
