/* SPDX-License-Identifier: MIT */
/*
 * Copies IN, a text, to OUT line by line. Strings end at a NUL, so a file that contains one cannot be copied this way.
 */
#include "copy.h"

#include <string.h>
#include <sys/types.h>

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	FILE *in = open_in_stream(in_name);
	FILE *out = create_out_stream(out_name);

	char line[4096];
	off_t copied = 0;
	while (fgets(line, sizeof(line), in)) {
		if (fputs(line, out) == EOF)
			err(1, "cannot write '%s'", out_name);
		copied += strlen(line);
	}
	if (!ferror(in) && ftello(in) != copied)
		errx(1, "'%s' is not a text file: it contains NUL bytes, and a C string ends at the first one",
		     in_name);
	close_streams(in, in_name, out, out_name);
	return 0;
}
