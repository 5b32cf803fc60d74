/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT one character at a time through stdio without its buffers: each character takes two system calls. */
#include "copy.h"

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	FILE *in = open_in_stream(in_name);
	FILE *out = create_out_stream(out_name);
	setvbuf(in, NULL, _IONBF, 0);
	setvbuf(out, NULL, _IONBF, 0);

	int c;
	while ((c = fgetc(in)) != EOF)
		if (fputc(c, out) == EOF)
			err(1, "cannot write '%s'", out_name);
	close_streams(in, in_name, out, out_name);
	return 0;
}
