/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT in one step: a buffer as large as the file, one read(2), one write(2). */
#include "copy.h"

#include <sys/stat.h>

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open(in_name, O_RDONLY);
	struct stat st;
	if (in < 0 || fstat(in, &st) < 0)
		err(1, "cannot open '%s'", in_name);
	if (!S_ISREG(st.st_mode))
		errx(1, "'%s' is not a regular file, so its size is not known in advance", in_name);
	size_t size = st.st_size;
	char *buffer = get_buffer(size ? size : 1);

	/*
	 * One call is enough. If the kernel transfers less, because of a signal or its limit of 2 GiB, continues with
	 * the rest.
	 */
	size_t have = 0;
	while (have < size) {
		ssize_t n = read(in, buffer + have, size - have);
		if (n < 0 && errno != EINTR)
			err(1, "cannot read '%s'", in_name);
		if (n == 0)
			errx(1, "'%s' became shorter while it was read", in_name);
		have += n > 0 ? n : 0;
	}

	int out = create_out(out_name, O_WRONLY);
	write_all(out, buffer, size, out_name);
	close_out(out, out_name);
	close(in);
	free(buffer);
	return 0;
}
