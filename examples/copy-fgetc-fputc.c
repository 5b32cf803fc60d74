/*
 * Copies IN to OUT one character at a time through the standard library, whose buffers turn many characters into one
 * system call. (stdio does not continue after EINTR, but that cannot happen here, because this program installs no
 * signal handler.)
 */
#include <err.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc > 3)
		errx(2, "usage: copy-fgetc-fputc [IN [OUT]]");
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	FILE *in = fopen(in_name, "rb");
	if (!in)
		err(1, "cannot open '%s'", in_name);
	FILE *out = fopen(out_name, "wb");
	if (!out)
		err(1, "cannot create '%s'", out_name);

	int c;
	while ((c = fgetc(in)) != EOF)
		if (fputc(c, out) == EOF)
			err(1, "cannot write '%s'", out_name);
	if (ferror(in))
		err(1, "cannot read '%s'", in_name);

	/* What is still in the buffer is written here, so a full disk may show only now. */
	if (fclose(out) == EOF)
		err(1, "cannot write '%s'", out_name);
	fclose(in);
	return 0;
}
