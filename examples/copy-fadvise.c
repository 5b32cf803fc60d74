/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT with read(2) and write(2), after telling the kernel that IN will be read from front to end. */
#include "copy.h"

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	char *buffer = get_buffer(size);
	int in = open_in(in_name);
	int out = create_out(out_name, O_WRONLY);
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
	close_out(out, out_name);
	close(in);
	free(buffer);
	return 0;
}
