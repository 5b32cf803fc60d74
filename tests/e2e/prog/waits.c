/* SPDX-License-Identifier: MIT */
/* A process that hangs: two threads in a deadlock, others that wait for a pipe, a Unix socket and the lock of a file. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int pipe_ends[2], sockets[2];

static void *deadlock(void *reverse)
{
	pthread_mutex_lock(reverse ? &second : &first);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(reverse ? &first : &second);
	return NULL;
}

static void *read_pipe(void *arg)
{
	char c;
	return read(pipe_ends[0], &c, 1) < 0 ? arg : NULL;
}

static void *read_socket(void *arg)
{
	char c;
	return recv(sockets[0], &c, 1, 0) < 0 ? arg : NULL;
}

static void *lock_file(void *path)
{
	struct flock lock = {.l_type = F_WRLCK};
	fcntl(open(path, O_RDWR), F_SETLKW, &lock);
	return NULL;
}

/* The child holds the lock, the writing end of the pipe, and the other end of the socket. */
static void child(const char *path, int told)
{
	struct flock lock = {.l_type = F_WRLCK};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fcntl(open(path, O_RDWR | O_CREAT, 0600), F_SETLKW, &lock);
	if (write(told, "x", 1) == 1)
		pause();
}

int main(int argc, char **argv)
{
	pthread_t t;
	int told[2];
	char c;
	if (argc < 2 || pipe(pipe_ends) < 0 || pipe(told) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		return 1;
	if (fork() == 0) {
		child(argv[1], told[1]);
		return 0;
	}
	if (read(told[0], &c, 1) != 1)
		return 1;
	close(pipe_ends[1]);
	close(sockets[1]);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, read_pipe, NULL);
	pthread_create(&t, NULL, read_socket, NULL);
	pthread_create(&t, NULL, lock_file, argv[1]);
	pthread_create(&t, NULL, deadlock, NULL);
	pthread_create(&t, NULL, deadlock, &first);
	pthread_join(t, NULL);
	return 0;
}
