/* Copies IN to OUT with readv(2) and writev(2): one call fills, or empties, four buffers that are -b bytes together. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PARTS = 4 };

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

/* writev() may take less than it was given: skip what it took and go on with the rest. */
static void writev_all(int fd, struct iovec *v, size_t n, const char *name)
{
	int first = 0;
	while (n > 0) {
		/* Of the last part only what was read. */
		size_t left = n;
		for (int i = first; i < PARTS; i++) {
			v[i].iov_len = v[i].iov_len < left ? v[i].iov_len : left;
			left -= v[i].iov_len;
		}
		ssize_t w = writev(fd, v + first, PARTS - first);
		if (w < 0 && errno != EINTR)
			err(1, "cannot write '%s'", name);
		n -= w > 0 ? w : 0;
		for (; w > 0 && (size_t)w >= v[first].iov_len && first < PARTS - 1; first++)
			w -= v[first].iov_len;
		if (w > 0) {
			v[first].iov_base = (char *)v[first].iov_base + w;
			v[first].iov_len -= w;
		}
	}
}

int main(int argc, char **argv)
{
	size_t size = 65536;
	int opt;
	while ((opt = getopt(argc, argv, "b:")) != -1)
		size = opt == 'b' ? parse_size(optarg) : 0;
	if (size == 0 || argc - optind > 2)
		errx(2, "usage: copy-readv-writev [-b SIZE] [IN [OUT]]");
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

	for (;;) {
		struct iovec v[PARTS];
		for (size_t i = 0; i < PARTS; i++) {
			v[i].iov_base = buffer + size * i / PARTS;
			v[i].iov_len = size * (i + 1) / PARTS - size * i / PARTS;
		}
		ssize_t n = readv(in, v, PARTS);
		if (n == 0)
			break;
		if (n > 0)
			writev_all(out, v, n, out_name);
		else if (errno != EINTR)
			err(1, "cannot read '%s'", in_name);
	}
	if (close(out) < 0)
		err(1, "cannot write '%s'", out_name);
	close(in);
	free(buffer);
	return 0;
}
