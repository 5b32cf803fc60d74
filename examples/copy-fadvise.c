/* Copies IN to OUT with read(2) and write(2), after telling the kernel that IN will be read from front to end. */
#include "copy.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	char *buffer = malloc(size);
	if (!buffer)
		err(1, "cannot allocate %zu bytes", size);
	int in = open(in_name, O_RDONLY);
	if (in < 0)
		err(1, "cannot open '%s'", in_name);
	int out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out < 0)
		err(1, "cannot create '%s'", out_name);
	errno = posix_fadvise(in, 0, 0, POSIX_FADV_SEQUENTIAL);
	if (errno)
		err(1, "cannot advise the kernel about '%s' (posix_fadvise)", in_name);

	ssize_t n;
	while ((n = read(in, buffer, size)) != 0) {
		if (n > 0)
			write_all(out, buffer, n, out_name);
		else if (errno != EINTR)
			err(1, "cannot read '%s'", in_name);
	}
	if (close(out) < 0)
		err(1, "cannot write '%s'", out_name);
	close(in);
	free(buffer);
	return 0;
}
