/* SPDX-License-Identifier: MIT */
/*
 * Copies IN to OUT one character at a time through a hand-written buffer on top of stdio, which already has a buffer.
 */
#include "copy.h"

static char in_buffer[4096], out_buffer[4096];
static size_t in_have, in_used, out_used;

/* The next character of `in` from our buffer, which is filled from stdio's. */
static int get(FILE *in)
{
	if (in_used == in_have) {
		in_have = fread(in_buffer, 1, sizeof(in_buffer), in);
		in_used = 0;
		if (in_have == 0)
			return EOF;
	}
	return (unsigned char)in_buffer[in_used++];
}

/* Empties our buffer into stdio's. */
static void flush(FILE *out, const char *name)
{
	if (fwrite(out_buffer, 1, out_used, out) < out_used)
		err(1, "cannot write '%s'", name);
	out_used = 0;
}

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	FILE *in = open_in_stream(in_name);
	FILE *out = create_out_stream(out_name);

	int c;
	while ((c = get(in)) != EOF) {
		if (out_used == sizeof(out_buffer))
			flush(out, out_name);
		out_buffer[out_used++] = (char)c;
	}
	flush(out, out_name);
	close_streams(in, in_name, out, out_name);
	return 0;
}
