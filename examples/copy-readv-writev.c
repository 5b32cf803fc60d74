/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT with readv(2) and writev(2): one call fills or empties four buffers of -b bytes in total. */
#include "copy.h"

#include <sys/uio.h>

enum { PARTS = 4 };

/* writev() may write less than requested: skips what was written and continues with the rest. */
static void writev_all(int fd, struct iovec *v, size_t n, const char *name)
{
	int first = 0;
	while (n > 0) {
		/* The last part is only as long as what was read. */
		size_t left = n;
		for (int i = first; i < PARTS; i++) {
			v[i].iov_len = v[i].iov_len < left ? v[i].iov_len : left;
			left -= v[i].iov_len;
		}
		ssize_t w = writev(fd, v + first, PARTS - first);
		if (w < 0 && errno != EINTR)
			err(1, "cannot write '%s'", name);
		n -= w > 0 ? w : 0;
		for (; w > 0 && (size_t)w >= v[first].iov_len && first < PARTS - 1; first++)
			w -= v[first].iov_len;
		if (w > 0) {
			v[first].iov_base = (char *)v[first].iov_base + w;
			v[first].iov_len -= w;
		}
	}
}

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	char *buffer = get_buffer(size);
	int in = open_in(in_name);
	int out = create_out(out_name, O_WRONLY);

	for (;;) {
		struct iovec v[PARTS];
		for (size_t i = 0; i < PARTS; i++) {
			v[i].iov_base = buffer + size * i / PARTS;
			v[i].iov_len = size * (i + 1) / PARTS - size * i / PARTS;
		}
		ssize_t n = readv(in, v, PARTS);
		if (n == 0)
			break;
		if (n > 0)
			writev_all(out, v, n, out_name);
		else if (errno != EINTR)
			err(1, "cannot read '%s'", in_name);
	}
	close_out(out, out_name);
	close(in);
	free(buffer);
	return 0;
}
