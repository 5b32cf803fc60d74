/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT with copy_file_range(2): the file system may share the blocks instead of copying the bytes. */
#include "copy.h"

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open_in(in_name);
	int out = create_out(out_name, O_WRONLY);

	ssize_t n;
	while ((n = copy_file_range(in, NULL, out, NULL, 1 << 30, 0)) != 0)
		if (n < 0 && errno != EINTR)
			err(1, "cannot copy '%s' to '%s'", in_name, out_name);
	close_out(out, out_name);
	close(in);
	return 0;
}
