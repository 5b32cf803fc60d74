/* The parts that the copiers share: parsing [-b SIZE] [IN [OUT]], and writing all of a buffer. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <err.h>
#include <errno.h>
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
