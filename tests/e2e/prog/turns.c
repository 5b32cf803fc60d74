/* SPDX-License-Identifier: MIT */
/*
 * Threads whose calls have the same order in each run, so that the traces of two tracers can be compared. One thread
 * works while the others wait, in pthread_join(3) or for a byte in a pipe.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 50, PLAYERS = 3 };

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void *reader(void *arg)
{
	char text[100];
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	check(fd >= 0, "open");
	for (int i = 0; i < ROUNDS; i++) {
		lseek(fd, 0, SEEK_SET);
		check(read(fd, text, sizeof(text)) > 0, "read");
	}
	close(fd);
	return arg;
}

/* A ring of pipes: player i reads what the previous one wrote. */
static int ring[PLAYERS][2];

static void *player(void *arg)
{
	int i = *(int *)arg;
	char c;
	for (int round = 0; round < ROUNDS; round++) {
		check(read(ring[i][0], &c, 1) == 1, "read");
		syscall(SYS_getppid);
		check(write(ring[(i + 1) % PLAYERS][1], "x", 1) == 1, "write");
	}
	return NULL;
}

static void start(pthread_t *t, void *(*run)(void *), void *arg)
{
	check(pthread_create(t, NULL, run, arg) == 0, "pthread_create");
}

int main(void)
{
	pthread_t t[PLAYERS];
	int number[PLAYERS];
	for (int i = 0; i < PLAYERS; i++) {
		start(&t[i], reader, NULL);
		pthread_join(t[i], NULL);
	}
	for (int i = 0; i < PLAYERS; i++) {
		number[i] = i;
		check(pipe2(ring[i], O_CLOEXEC) == 0, "pipe2");
	}
	for (int i = 0; i < PLAYERS; i++)
		start(&t[i], player, &number[i]);
	check(write(ring[0][1], "x", 1) == 1, "write");
	for (int i = 0; i < PLAYERS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
