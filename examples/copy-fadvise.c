/* Copies IN to OUT with read(2) and write(2), after telling the kernel that IN will be read from front to end. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* "4096", "4K" or "1M" as a number of bytes. */
static size_t parse_size(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (*end == 'K' || *end == 'M')
		n <<= *end++ == 'K' ? 10 : 20;
	if (n == 0 || *end || *text == '-')
		errx(2, "'%s' is no buffer size", text);
	return n;
}

/* write() may take less than it was given, and a signal may interrupt it: go on with the rest. */
static void write_all(int fd, const char *p, size_t n, const char *name)
{
	while (n > 0) {
		ssize_t w = write(fd, p, n);
		if (w < 0 && errno != EINTR)
			err(1, "cannot write '%s'", name);
		if (w > 0)
			p += w, n -= w;
	}
}

int main(int argc, char **argv)
{
	size_t size = 65536;
	int opt;
	while ((opt = getopt(argc, argv, "b:")) != -1)
		size = opt == 'b' ? parse_size(optarg) : 0;
	if (size == 0 || argc - optind > 2)
		errx(2, "usage: copy-fadvise [-b SIZE] [IN [OUT]]");
	const char *in_name = optind < argc ? argv[optind] : "in";
	const char *out_name = optind + 1 < argc ? argv[optind + 1] : "out";

	char *buffer = malloc(size);
	if (!buffer)
		err(1, "cannot allocate %zu bytes", size);
	int in = open(in_name, O_RDONLY);
	if (in < 0)
		err(1, "cannot open '%s'", in_name);
	int out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out < 0)
		err(1, "cannot create '%s'", out_name);
	errno = posix_fadvise(in, 0, 0, POSIX_FADV_SEQUENTIAL);
	if (errno)
		err(1, "cannot advise on '%s'", in_name);

	ssize_t n;
	while ((n = read(in, buffer, size)) != 0) {
		if (n > 0)
			write_all(out, buffer, n, out_name);
		else if (errno != EINTR)
			err(1, "cannot read '%s'", in_name);
	}
	if (close(out) < 0)
		err(1, "cannot write '%s'", out_name);
	close(in);
	free(buffer);
	return 0;
}
