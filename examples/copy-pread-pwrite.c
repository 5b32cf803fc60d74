/* SPDX-License-Identifier: MIT */
/*
 * Copies IN to OUT with pread(2) and pwrite(2), which take the file offset as an argument and do not change that of the
 * descriptor.
 */
#include "copy.h"

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	char *buffer = get_buffer(size);
	int in = open_in(in_name);
	int out = create_out(out_name, O_WRONLY);

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
	close_out(out, out_name);
	close(in);
	free(buffer);
	return 0;
}
