/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT past the page cache (O_DIRECT). Memory, position and length must be multiples of the block size. */
#include "copy.h"

#include <sys/stat.h>

enum { BLOCK = 4096 };

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	if (size % BLOCK)
		errx(2, "with O_DIRECT, the buffer size must be a multiple of %d bytes", BLOCK);
	char *buffer = aligned_alloc(BLOCK, size);
	if (!buffer)
		err(1, "cannot allocate %zu bytes", size);
	int in = open(in_name, O_RDONLY | O_DIRECT);
	if (in < 0)
		err(1, "cannot open '%s' with O_DIRECT", in_name);
	int out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0666);
	if (out < 0)
		err(1, "cannot create '%s' with O_DIRECT", out_name);

	/* Writes the whole last block, and truncates the file to its real length afterwards. */
	off_t at = 0;
	ssize_t n;
	while ((n = pread(in, buffer, size, at)) != 0) {
		if (n < 0 && errno != EINTR)
			err(1, "cannot read '%s' with O_DIRECT", in_name);
		ssize_t whole = (n + BLOCK - 1) / BLOCK * BLOCK;
		for (ssize_t done = 0; n > 0 && done < whole;) {
			ssize_t w = pwrite(out, buffer + done, whole - done, at + done);
			if (w < 0 && errno != EINTR)
				err(1, "cannot write '%s' with O_DIRECT", out_name);
			done += w > 0 ? w : 0;
		}
		at += n > 0 ? n : 0;
		if (at % BLOCK)
			break;
	}
	if (ftruncate(out, at) < 0)
		err(1, "cannot truncate '%s' to the length of the input", out_name);
	close_out(out, out_name);
	close(in);
	free(buffer);
	return 0;
}
