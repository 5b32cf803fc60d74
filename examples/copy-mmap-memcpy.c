/*
 * Copies IN to OUT by memcpy(3) between two mapped files: it calls neither read nor write, and page faults do the work.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 3)
		errx(2, "usage: copy-mmap-memcpy [IN [OUT]]");
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open(in_name, O_RDONLY);
	if (in < 0)
		err(1, "cannot open '%s'", in_name);
	int out = open(out_name, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (out < 0)
		err(1, "cannot create '%s'", out_name);
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
	if (close(out) < 0)
		err(1, "cannot write '%s'", out_name);
	close(in);
	return 0;
}
