/* Copies IN to OUT with fread() and fwrite() and an array of the size of -b. */
#include "copy.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 4096);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	char *buffer = malloc(size);
	if (!buffer)
		err(1, "cannot allocate %zu bytes", size);
	FILE *in = fopen(in_name, "rb");
	if (!in)
		err(1, "cannot open '%s'", in_name);
	FILE *out = fopen(out_name, "wb");
	if (!out)
		err(1, "cannot create '%s'", out_name);

	size_t n;
	while ((n = fread(buffer, 1, size, in)) > 0)
		if (fwrite(buffer, 1, n, out) < n)
			err(1, "cannot write '%s'", out_name);
	free(buffer);
	if (ferror(in))
		err(1, "cannot read '%s'", in_name);

	/* What is still in the buffer is written here, so a full disk may show only now. */
	if (fclose(out) == EOF)
		err(1, "cannot write '%s'", out_name);
	fclose(in);
	return 0;
}
