/* SPDX-License-Identifier: MIT */
/*
 * Copies IN to OUT by memcpy(3) between two mapped files: it calls neither read nor write, and page faults do the work.
 */
#include "copy.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open_in(in_name);
	int out = create_out(out_name, O_RDWR);
	struct stat st;
	if (fstat(in, &st) < 0)
		err(1, "cannot stat '%s'", in_name);

	if (st.st_size > 0) {
		/*
		 * Allocates the space beforehand, because a store into the mapping would raise SIGBUS on a full disk.
		 */
		errno = posix_fallocate(out, 0, st.st_size);
		if (errno)
			err(1, "cannot write '%s'", out_name);
		char *from = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, in, 0);
		if (from == MAP_FAILED)
			err(1, "cannot map '%s'", in_name);
		char *to = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
		if (to == MAP_FAILED)
			err(1, "cannot map '%s'", out_name);
		memcpy(to, from, st.st_size);
		munmap(from, st.st_size);
		munmap(to, st.st_size);
	}
	close_out(out, out_name);
	close(in);
	return 0;
}
