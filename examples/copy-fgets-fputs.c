/*
 * Copies IN, a text, to OUT line by line. Strings end at a NUL, so a file that contains one cannot be copied this way.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

int main(int argc, char **argv)
{
	if (argc > 3)
		errx(2, "usage: copy-fgets-fputs [IN [OUT]]");
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	FILE *in = fopen(in_name, "rb");
	if (!in)
		err(1, "cannot open '%s'", in_name);
	FILE *out = fopen(out_name, "wb");
	if (!out)
		err(1, "cannot create '%s'", out_name);

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
	if (ferror(in))
		err(1, "cannot read '%s'", in_name);

	/* What is still in the buffer is written here, so a full disk may show only now. */
	if (fclose(out) == EOF)
		err(1, "cannot write '%s'", out_name);
	fclose(in);
	return 0;
}
