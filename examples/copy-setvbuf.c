/* Copies IN to OUT one character at a time, with stdio's own buffers made as large as -b says. */
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
	size_t size = 65536;
	int opt;
	while ((opt = getopt(argc, argv, "b:")) != -1)
		size = opt == 'b' ? parse_size(optarg) : 0;
	if (size == 0 || argc - optind > 2)
		errx(2, "usage: copy-setvbuf [-b SIZE] [IN [OUT]]");
	const char *in_name = optind < argc ? argv[optind] : "in";
	const char *out_name = optind + 1 < argc ? argv[optind + 1] : "out";

	FILE *in = fopen(in_name, "rb");
	if (!in)
		err(1, "cannot open '%s'", in_name);
	FILE *out = fopen(out_name, "wb");
	if (!out)
		err(1, "cannot create '%s'", out_name);

	/* The C library takes over the size only together with a buffer of that size. */
	char *in_buffer = malloc(size);
	char *out_buffer = malloc(size);
	if (!in_buffer || !out_buffer)
		err(1, "cannot allocate twice %zu bytes", size);
	if (setvbuf(in, in_buffer, _IOFBF, size) || setvbuf(out, out_buffer, _IOFBF, size))
		errx(1, "cannot set buffers of %zu bytes", size);

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
	free(in_buffer);
	free(out_buffer);
	return 0;
}
