/* Copies IN to OUT with copy_file_range(2): the file system may share the blocks instead of moving any byte. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 3)
		errx(2, "usage: copy-copy-file-range [IN [OUT]]");
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open(in_name, O_RDONLY);
	if (in < 0)
		err(1, "cannot open '%s'", in_name);
	int out = open(out_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out < 0)
		err(1, "cannot create '%s'", out_name);

	ssize_t n;
	while ((n = copy_file_range(in, NULL, out, NULL, 1 << 30, 0)) != 0)
		if (n < 0 && errno != EINTR)
			err(1, "cannot copy '%s' to '%s'", in_name, out_name);
	if (close(out) < 0)
		err(1, "cannot write '%s'", out_name);
	close(in);
	return 0;
}
