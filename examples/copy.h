/* SPDX-License-Identifier: MIT */
/*
 * The parts that the copiers share: parsing [-b SIZE] [IN [OUT]], opening and closing the files, writing a buffer. If a
 * function fails, it prints a message and ends the program, with status 2 if the arguments are wrong, otherwise with 1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Converts "4096", "4K" or "1M" to a number of bytes. */
static inline size_t parse_size(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (*end == 'K' || *end == 'M')
		n <<= *end++ == 'K' ? 10 : 20;
	if (n == 0 || *end || *text == '-')
		errx(2, "'%s' is not a valid buffer size", text);
	return n;
}

/* For copiers without options, whose IN and OUT are argv[1] and argv[2]. */
static inline void check_usage(int argc)
{
	if (argc > 3)
		errx(2, "usage: %s [IN [OUT]]", program_invocation_short_name);
}

/* Returns the buffer size of -b, or else `size`, and removes the option, so that IN and OUT are argv[1] and argv[2]. */
static inline size_t buffer_option(int *argc, char ***argv, size_t size)
{
	int opt;
	while ((opt = getopt(*argc, *argv, "b:")) != -1)
		size = opt == 'b' ? parse_size(optarg) : 0;
	*argc -= optind - 1;
	*argv += optind - 1;
	if (size == 0 || *argc > 3)
		errx(2, "usage: %s [-b SIZE] [IN [OUT]]", program_invocation_short_name);
	return size;
}

static inline char *get_buffer(size_t size)
{
	char *buffer = malloc(size);
	if (!buffer)
		err(1, "cannot allocate %zu bytes", size);
	return buffer;
}

static inline int open_in(const char *name)
{
	int fd = open(name, O_RDONLY);
	if (fd < 0)
		err(1, "cannot open '%s'", name);
	return fd;
}

/* `flags` are flags of open(2): O_WRONLY or O_RDWR, and others such as O_SYNC. */
static inline int create_out(const char *name, int flags)
{
	int fd = open(name, flags | O_CREAT | O_TRUNC, 0666);
	if (fd < 0)
		err(1, "cannot create '%s'", name);
	return fd;
}

/* Some file systems report only in close(2) that they could not write. */
static inline void close_out(int fd, const char *name)
{
	if (close(fd) < 0)
		err(1, "cannot write '%s'", name);
}

static inline FILE *open_in_stream(const char *name)
{
	FILE *in = fopen(name, "rb");
	if (!in)
		err(1, "cannot open '%s'", name);
	return in;
}

static inline FILE *create_out_stream(const char *name)
{
	FILE *out = fopen(name, "wb");
	if (!out)
		err(1, "cannot create '%s'", name);
	return out;
}

/* fclose(3) writes what is still in the buffer of `out`, so it may be the first call that fails if the disk is full. */
static inline void close_streams(FILE *in, const char *in_name, FILE *out, const char *out_name)
{
	if (ferror(in))
		err(1, "cannot read '%s'", in_name);
	if (fclose(out) == EOF)
		err(1, "cannot write '%s'", out_name);
	fclose(in);
}

/* write() may write less than requested, and a signal may interrupt it: continues with the rest. */
static inline void write_all(int fd, const char *p, size_t n, const char *name)
{
	while (n > 0) {
		ssize_t w = write(fd, p, n);
		if (w < 0 && errno != EINTR)
			err(1, "cannot write '%s'", name);
		if (w > 0)
			p += w, n -= w;
	}
}
