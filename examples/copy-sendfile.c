/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT with sendfile(2): the kernel moves the bytes, and the program never sees them. */
#include "copy.h"

#include <sys/sendfile.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open_in(in_name);
	int out = create_out(out_name, O_WRONLY);
	struct stat st;
	if (fstat(in, &st) < 0)
		err(1, "cannot stat '%s'", in_name);

	off_t left = st.st_size;
	while (left > 0) {
		ssize_t n = sendfile(out, in, NULL, left);
		if (n < 0 && errno != EINTR)
			err(1, "cannot send '%s' to '%s'", in_name, out_name);
		if (n == 0)
			errx(1, "'%s' became shorter while it was read", in_name);
		left -= n > 0 ? n : 0;
	}
	close_out(out, out_name);
	close(in);
	return 0;
}
