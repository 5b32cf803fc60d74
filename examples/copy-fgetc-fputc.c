/* SPDX-License-Identifier: MIT */
/*
 * Copies IN to OUT one character at a time through the standard library, whose buffers turn many characters into one
 * system call. (stdio does not continue after EINTR, but that cannot happen here, because this program installs no
 * signal handler.)
 */
#include "copy.h"

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	FILE *in = open_in_stream(in_name);
	FILE *out = create_out_stream(out_name);

	int c;
	while ((c = fgetc(in)) != EOF)
		if (fputc(c, out) == EOF)
			err(1, "cannot write '%s'", out_name);
	close_streams(in, in_name, out, out_name);
	return 0;
}
