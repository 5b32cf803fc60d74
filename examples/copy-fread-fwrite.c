/* Copies IN to OUT with fread() and fwrite() and an array of the size that -b says. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* "4096", "4K" or "1M" as a number of bytes. */
static size_t parse_size(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (*end == 'K' || *end == 'M')
		n <<= *end++ == 'K' ? 10 : 20;
	if (n == 0 || *end || *text == '-')
		errx(2, "'%s' is no buffer size", text);
	return n;
}

int main(int argc, char **argv)
{
	size_t size = 4096;
	int opt;
	while ((opt = getopt(argc, argv, "b:")) != -1)
		size = opt == 'b' ? parse_size(optarg) : 0;
	if (size == 0 || argc - optind > 2)
		errx(2, "usage: copy-fread-fwrite [-b SIZE] [IN [OUT]]");
	const char *in_name = optind < argc ? argv[optind] : "in";
	const char *out_name = optind + 1 < argc ? argv[optind + 1] : "out";

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
