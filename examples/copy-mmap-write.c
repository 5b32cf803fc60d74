/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT by one write(2) directly from the mapped input: no buffer, and no read. */
#include "copy.h"

#include <sys/mman.h>
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

	if (st.st_size > 0) {
		char *map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, in, 0);
		if (map == MAP_FAILED)
			err(1, "cannot map '%s'", in_name);
		write_all(out, map, st.st_size, out_name);
		munmap(map, st.st_size);
	}
	close_out(out, out_name);
	close(in);
	return 0;
}
