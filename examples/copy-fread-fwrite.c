/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT with fread() and fwrite() and an array of the size of -b. */
#include "copy.h"

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 4096);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	char *buffer = get_buffer(size);
	FILE *in = open_in_stream(in_name);
	FILE *out = create_out_stream(out_name);

	size_t n;
	while ((n = fread(buffer, 1, size, in)) > 0)
		if (fwrite(buffer, 1, n, out) < n)
			err(1, "cannot write '%s'", out_name);
	free(buffer);
	close_streams(in, in_name, out, out_name);
	return 0;
}
