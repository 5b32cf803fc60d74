/* SPDX-License-Identifier: MIT */
/*
 * Copies IN to OUT with two threads: one reads into a buffer while the other writes the buffer that was filled before.
 */
#include "copy.h"

#include <pthread.h>

static struct slot {
	char *data;
	ssize_t n; /* bytes to write; 0: the end */
	int full;
} slots[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int out;
static const char *out_name;

static void wait_until(struct slot *s, int full)
{
	pthread_mutex_lock(&lock);
	while (s->full != full)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void hand_over(struct slot *s, int full)
{
	pthread_mutex_lock(&lock);
	s->full = full;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void *writer(void *unused)
{
	for (int i = 0;; i = !i) {
		wait_until(&slots[i], 1);
		if (slots[i].n == 0)
			return unused;
		write_all(out, slots[i].data, slots[i].n, out_name);
		hand_over(&slots[i], 0);
	}
}

int main(int argc, char **argv)
{
	size_t size = buffer_option(&argc, &argv, 65536);
	const char *in_name = argc > 1 ? argv[1] : "in";
	out_name = argc > 2 ? argv[2] : "out";

	slots[0].data = malloc(size);
	slots[1].data = malloc(size);
	if (!slots[0].data || !slots[1].data)
		err(1, "cannot allocate two buffers of %zu bytes", size);
	int in = open_in(in_name);
	out = create_out(out_name, O_WRONLY);

	pthread_t thread;
	errno = pthread_create(&thread, NULL, writer, NULL);
	if (errno)
		err(1, "cannot start a thread");
	ssize_t n;
	int i = 0;
	do {
		wait_until(&slots[i], 0);
		do
			n = read(in, slots[i].data, size);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			err(1, "cannot read '%s'", in_name);
		slots[i].n = n;
		hand_over(&slots[i], 1);
		i = !i;
	} while (n > 0);
	pthread_join(thread, NULL);
	close_out(out, out_name);
	close(in);
	free(slots[0].data);
	free(slots[1].data);
	return 0;
}
