/* SPDX-License-Identifier: MIT */
/*
 * Starts a program repeatedly, and waits for each before the next one.  children WAY N PROGRAM [ARG...]
 *
 * WAY is one of:
 *   vfork     vfork(2)
 *   fork      fork(2), as in bash(1)
 *   redirect  fork(2), and the child calls dup2(2), which its parent never does
 *   spawn     posix_spawn(3)
 *   ids       posix_spawn(3) with POSIX_SPAWN_RESETIDS, as in make
 *   pidfd     a vfork-like clone(2) with CLONE_PIDFD, as in Go
 *   tls       a vfork-like clone(2) with CLONE_SETTLS; both the child and its parent call umask(2)
 *   handler   vfork(2), with a handler for SIGCHLD, as in shells
 *   guarded   posix_spawn(3), with a handler for SIGSEGV that blocks most signals, as in Java
 *   pairs     posix_spawn(3); a child is waited for when the next one has been started, as in make -j2
 *   crowd     posix_spawn(3), in four threads at the same time
 *   ending    vfork(2), and a thread ends while the child process has the memory of its parent; N is not used
 *   thread    creates threads instead, which end at once; PROGRAM is not used
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CROWD 4

extern char **environ;

static void on_child(int sig)
{
	(void)sig;
}

static int execute(void *argv)
{
	execv(*(char **)argv, argv);
	return 127;
}

static int execute_with_umask(void *argv)
{
	umask(022);
	return execute(argv);
}

static _Alignas(16) char stack[65536];

static pid_t start_with_tls(char **argv)
{
	static void *tls[512];
	tls[256] = &tls[256];
	umask(022);
	return clone(execute_with_umask, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD, argv,
		     NULL, tls[256]);
}

static pid_t start_with_pidfd(char **argv)
{
	int fd = -1;
	pid_t pid = clone(execute, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, argv, &fd);
	return close(fd) == 0 ? pid : -1;
}

static pid_t start(const char *way, char **argv)
{
	pid_t pid = -1;
	if (strcmp(way, "pidfd") == 0)
		return start_with_pidfd(argv);
	if (strcmp(way, "tls") == 0)
		return start_with_tls(argv);
	bool copies = strcmp(way, "fork") == 0 || strcmp(way, "redirect") == 0;
	if (!copies && strcmp(way, "vfork") != 0 && strcmp(way, "handler") != 0) {
		posix_spawnattr_t attr;
		posix_spawnattr_init(&attr);
		posix_spawnattr_setflags(&attr, strcmp(way, "ids") == 0 ? POSIX_SPAWN_RESETIDS : 0);
		return posix_spawn(&pid, argv[0], NULL, &attr, argv, environ) == 0 ? pid : -1;
	}
	pid = copies ? fork() : vfork();
	if (pid == 0) {
		if (strcmp(way, "redirect") == 0)
			dup2(2, 9);
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static void *end_at_once(void *arg)
{
	return arg;
}

static int create_threads(int n)
{
	pthread_t thread;
	while (n-- > 0)
		if (pthread_create(&thread, NULL, end_at_once, NULL) != 0 || pthread_join(thread, NULL) != 0)
			return 1;
	return 0;
}

static char **words;

static void await(pid_t pid)
{
	int status;
	if (pid < 0 || (pid && (waitpid(pid, &status, 0) != pid || status != 0)))
		exit(1);
}

static void *start_all(void *arg)
{
	bool pairs = strcmp(words[1], "pairs") == 0;
	pid_t before = 0;
	for (int i = 0; i < atoi(words[2]) / (arg ? CROWD : 1); i++) {
		pid_t pid = start(words[1], words + 3);
		await(pairs ? before : pid);
		before = pid;
	}
	if (pairs)
		await(before);
	return NULL;
}

static int start_in_crowd(void)
{
	pthread_t threads[CROWD];
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], NULL, start_all, words) != 0)
			return 1;
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int ends[2];

static void *end_when_told(void *arg)
{
	char c;
	return read(ends[0], &c, 1) == 1 ? arg : NULL;
}

/* The child waits long enough for the thread's end; it does not know when the thread has ended. */
static int end_beside_child(void)
{
	static const struct timespec pause = {.tv_nsec = 300000000};
	pthread_t thread;
	if (pipe(ends) != 0 || pthread_create(&thread, NULL, end_when_told, NULL) != 0)
		return 1;
	pid_t pid = vfork();
	if (pid == 0) {
		if (write(ends[1], "", 1) == 1)
			nanosleep(&pause, NULL);
		execv(words[3], words + 3);
		_exit(127);
	}
	await(pid);
	return pthread_join(thread, NULL) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_child, .sa_flags = SA_RESTART};
	if (argc < 4) {
		fprintf(stderr, "usage: children "
				"vfork|fork|redirect|spawn|ids|pidfd|tls|handler|guarded|pairs|crowd|ending|thread "
				"N PROGRAM "
				"[ARG...]\n");
		return 2;
	}
	if (strcmp(argv[1], "handler") == 0)
		sigaction(SIGCHLD, &act, NULL);
	if (strcmp(argv[1], "guarded") == 0) {
		sigfillset(&act.sa_mask);
		sigdelset(&act.sa_mask, SIGSEGV);
		sigaction(SIGSEGV, &act, NULL);
	}
	if (strcmp(argv[1], "thread") == 0)
		return create_threads(atoi(argv[2]));
	words = argv;
	if (strcmp(argv[1], "crowd") == 0)
		return start_in_crowd();
	if (strcmp(argv[1], "ending") == 0)
		return end_beside_child();
	start_all(NULL);
	return 0;
}
