/*
 * Copies IN to OUT with pread(2) and pwrite(2), which take the file offset as an argument and do not change that of the
 * descriptor.
 */
#include "copy.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

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
		/* Writes the rest of a short write at its own position. */
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
