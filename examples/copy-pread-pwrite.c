/* Copies IN to OUT with pread(2) and pwrite(2), which are told the position in the file and leave the descriptor's
 * alone. */
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

int main(int argc, char **argv)
{
	size_t size = 65536;
	int opt;
	while ((opt = getopt(argc, argv, "b:")) != -1)
		size = opt == 'b' ? parse_size(optarg) : 0;
	if (size == 0 || argc - optind > 2)
		errx(2, "usage: copy-pread-pwrite [-b SIZE] [IN [OUT]]");
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

	off_t at = 0;
	ssize_t n;
	while ((n = pread(in, buffer, size, at)) != 0) {
		if (n < 0 && errno != EINTR)
			err(1, "cannot read '%s'", in_name);
		/* What a short write left is written at its own place. */
		for (ssize_t done = 0; done < n;) {
			ssize_t w = pwrite(out, buffer + done, n - done, at + done);
			if (w < 0 && errno != EINTR)
				err(1, "cannot write '%s'", out_name);
			done += w > 0 ? w : 0;
		}
		at += n > 0 ? n : 0;
	}
	if (close(out) < 0)
		err(1, "cannot write '%s'", out_name);
	close(in);
	free(buffer);
	return 0;
}
