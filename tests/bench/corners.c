/* SPDX-License-Identifier: MIT */
/*
 * Programs for corners.py: `corners MODE N` does something N times whose tracing has been expensive.
 *
 *   close    closes a descriptor that is not open, as daemons do when they start
 *   open     opens and closes /dev/null
 *   ignore   ignores SIGSYS, and calls getppid(2)
 *   threads  40 threads allocate memory, so that each has an arena of malloc(3), and call getppid(2)
 *   connect  connects to itself by TCP, while HELD other connections stay open (a third argument)
 *   message  sends a message of System V to itself and receives it
 *   number   makes a call with a number that the kernel does not know
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 40

static long count, held;

static void close_unused(void)
{
	for (long i = 0; i < count; i++)
		close(100 + (int)(i % 100000));
}

static void open_and_close(void)
{
	for (long i = 0; i < count; i++)
		close(open("/dev/null", O_RDONLY));
}

static void call(void)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
}

static void ignore(void)
{
	signal(SIGSYS, SIG_IGN);
	call();
}

static void *thread(void *unused)
{
	for (long i = 0; i < count; i++) {
		free(malloc(100));
		syscall(SYS_getppid);
	}
	return unused;
}

static void threads(void)
{
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&all[i], NULL, thread, NULL) != 0)
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

/* Opens a connection and returns one end of it. Stores the other in *other. */
static int connection(int server, const struct sockaddr_in *address, int *other)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
	    (*other = accept(server, NULL, NULL)) < 0) {
		perror("corners: connection");
		exit(1);
	}
	return fd;
}

static void connect_to_itself(void)
{
	struct rlimit most;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int other, server = socket(AF_INET, SOCK_STREAM, 0);
	getrlimit(RLIMIT_NOFILE, &most);
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
	if (bind(server, (struct sockaddr *)&address, size) < 0 || listen(server, 100) < 0 ||
	    getsockname(server, (struct sockaddr *)&address, &size) < 0) {
		perror("corners: bind");
		exit(1);
	}
	for (long i = 0; i < held; i++)
		connection(server, &address, &other);
	for (long i = 0; i < count; i++) {
		close(connection(server, &address, &other));
		close(other);
	}
}

static void send_messages(void)
{
	struct {
		long type;
		char text[8];
	} message = {1, "message"};
	int queue = msgget(IPC_PRIVATE, 0600);
	for (long i = 0; i < count; i++) {
		msgsnd(queue, &message, sizeof(message.text), 0);
		msgrcv(queue, &message, sizeof(message.text), 0, 0);
	}
	msgctl(queue, IPC_RMID, NULL);
}

static void call_by_number(void)
{
	for (long i = 0; i < count; i++)
		syscall(500, i);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"close", close_unused},        {"open", open_and_close},   {"ignore", ignore},         {"threads", threads},
	{"connect", connect_to_itself}, {"message", send_messages}, {"number", call_by_number},
};

int main(int argc, char **argv)
{
	count = argc > 2 ? atol(argv[2]) : 0;
	held = argc > 3 ? atol(argv[3]) : 0;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (argc > 2 && strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run();
			return 0;
		}
	fputs("usage: corners MODE N [HELD]\n", stderr);
	return 2;
}
