/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT one character at a time, with stdio's own buffers enlarged to the size of -b. */
#include "copy.h"

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	FILE *in = open_in_stream(in_name);
	FILE *out = create_out_stream(out_name);

	/* The C library uses the size only together with a buffer of that size. */
	char *in_buffer = malloc(size);
	char *out_buffer = malloc(size);
	if (!in_buffer || !out_buffer)
		err(1, "cannot allocate two buffers of %zu bytes", size);
	if (setvbuf(in, in_buffer, _IOFBF, size) || setvbuf(out, out_buffer, _IOFBF, size))
		errx(1, "cannot set buffers of %zu bytes", size);

	int c;
	while ((c = fgetc(in)) != EOF)
		if (fputc(c, out) == EOF)
			err(1, "cannot write '%s'", out_name);
	close_streams(in, in_name, out, out_name);
	free(in_buffer);
	free(out_buffer);
	return 0;
}
