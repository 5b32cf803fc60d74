/* SPDX-License-Identifier: MIT */
/* Copies IN to OUT through io_uring: eight reads, each linked to its write, are submitted in one call. */
#include "copy.h"

#include <liburing.h>
#include <stdint.h>
#include <sys/stat.h>

enum { DEPTH = 8 };

struct block {
	char *data;
	size_t n;
	off_t at;
	int failed;
};

/*
 * Repeats a block by pread and pwrite if its read or write was short, or if its write was cancelled because the read
 * was short.
 */
static void redo(int in, int out, char *p, size_t n, off_t at)
{
	while (n > 0) {
		ssize_t r = pread(in, p, n, at);
		ssize_t w = r > 0 ? pwrite(out, p, r, at) : r;
		if (r == 0)
			errx(1, "the input became shorter while it was read");
		if (w < 0 && errno != EINTR)
			err(1, "cannot copy the block at offset %lld", (long long)at);
		if (w > 0)
			n -= w, at += w;
	}
}

/* Queues the read of one block, linked to its write. */
static void queue(struct io_uring *ring, int in, int out, const struct block *b)
{
	struct io_uring_sqe *r = io_uring_get_sqe(ring);
	io_uring_prep_read(r, in, b->data, b->n, b->at);
	r->flags |= IOSQE_IO_LINK;
	r->user_data = (uintptr_t)b;
	struct io_uring_sqe *w = io_uring_get_sqe(ring);
	io_uring_prep_write(w, out, b->data, b->n, b->at);
	w->user_data = (uintptr_t)b;
}

/* Submits all queued requests in one call, and waits for them. */
static void run(struct io_uring *ring, int requests)
{
	errno = -io_uring_submit_and_wait(ring, requests);
	if (errno > 0)
		err(1, "cannot submit requests to io_uring");
	for (int i = 0; i < requests; i++) {
		struct io_uring_cqe *c;
		if (io_uring_wait_cqe(ring, &c) < 0)
			errx(1, "cannot get a completion from io_uring");
		struct block *b = (struct block *)(uintptr_t)c->user_data;
		b->failed |= c->res < 0 || (size_t)c->res != b->n;
		io_uring_cqe_seen(ring, c);
	}
}

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	const char *out_name = argc > 2 ? argv[2] : "out";

	char *buffer = get_buffer(size * DEPTH);
	int in = open(in_name, O_RDONLY);
	struct stat st;
	if (in < 0 || fstat(in, &st) < 0)
		err(1, "cannot open '%s'", in_name);
	int out = create_out(out_name, O_WRONLY);
	struct io_uring ring;
	errno = -io_uring_queue_init(2 * DEPTH, &ring, 0);
	if (errno)
		err(1, "io_uring cannot be used here");

	for (off_t at = 0; at < st.st_size;) {
		struct block blocks[DEPTH];
		int n = 0;
		for (; n < DEPTH && at < st.st_size; at += blocks[n++].n) {
			size_t left = st.st_size - at;
			blocks[n] = (struct block){buffer + n * size, left < size ? left : size, at, 0};
			queue(&ring, in, out, &blocks[n]);
		}
		run(&ring, 2 * n);
		for (int i = 0; i < n; i++)
			if (blocks[i].failed)
				redo(in, out, blocks[i].data, blocks[i].n, blocks[i].at);
	}
	io_uring_queue_exit(&ring);
	close_out(out, out_name);
	close(in);
	free(buffer);
	return 0;
}
