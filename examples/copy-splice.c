/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT with splice(2): pages are moved through a pipe inside the kernel. */
#include "copy.h"

/* Moves up to `n` bytes; a signal may interrupt it before it has moved any. */
static ssize_t move(int from, int to, size_t n, const char *name)
{
	ssize_t moved;
	do
		moved = splice(from, NULL, to, NULL, n, SPLICE_F_MOVE);
	while (moved < 0 && errno == EINTR);
	if (moved < 0)
		err(1, "cannot splice '%s'", name);
	return moved;
}

int main(int argc, char **argv)
{
	check_usage(argc);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	int in = open_in(in_name);
	int out = create_out(out_name, O_WRONLY);
	int pipe_fd[2];
	if (pipe(pipe_fd) < 0)
		err(1, "cannot create a pipe");

	/* A pipe holds 64 KiB by default, so a call can move at most that. */
	ssize_t n;
	while ((n = move(in, pipe_fd[1], 65536, in_name)) > 0)
		while (n > 0)
			n -= move(pipe_fd[0], out, n, out_name);
	close_out(out, out_name);
	close(in);
	return 0;
}
