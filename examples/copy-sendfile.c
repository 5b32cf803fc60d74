/* Copies IN to OUT with sendfile(2): the kernel moves the bytes, the program never sees them. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 3)
		errx(2, "usage: copy-sendfile [IN [OUT]]");
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open(in_name, O_RDONLY);
	if (in < 0)
		err(1, "cannot open '%s'", in_name);
	int out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out < 0)
		err(1, "cannot create '%s'", out_name);
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
	if (close(out) < 0)
		err(1, "cannot write '%s'", out_name);
	close(in);
	return 0;
}
