/* SPDX-License-Identifier: MIT */
/*
 * Seeded chaos: processes, threads, images, signals, stops, kills, mappings and libraries at random. Counts some of its
 * calls in shared memory, before and after each call, because a process may be killed during the call. Prints `calls
 * NAME AT-LEAST AT-MOST` at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 4 };
static const struct {
	const char *name;
	long nr;
} kinds[KINDS] = {{"getppid", SYS_getppid}, {"getpgid", SYS_getpgid}, {"getsid", SYS_getsid}, {"umask", SYS_umask}};

struct account {
	atomic_long begun[KINDS], done[KINDS];
	atomic_int processes; /* the processes that are alive, to limit their number */
};

static struct account *account;
static int account_fd;

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7fff;
}

static void call(int kind)
{
	atomic_fetch_add(&account->begun[kind], 1);
	syscall(kinds[kind].nr, 0);
	atomic_fetch_add(&account->done[kind], 1);
}

static void calls(unsigned *seed)
{
	for (unsigned n = next(seed) % 200; n > 0; n--)
		call((int)(next(seed) % KINDS));
}

static void nap(unsigned us)
{
	struct timespec t = {0, (long)us * 1000};
	nanosleep(&t, NULL);
}

static void on_signal(int sig)
{
	(void)sig;
	int saved = errno;
	call(0);
	errno = saved;
}

static void act(unsigned *seed, int depth, int steps);

static void child_of(unsigned *seed, int depth)
{
	if (depth >= 3 || atomic_fetch_add(&account->processes, 1) > 40)
		return;
	unsigned own = *seed ^ next(seed);
	pid_t pid = fork();
	if (pid == 0) {
		act(&own, depth + 1, 4);
		_exit((int)(next(&own) % 100));
	}
	if (pid < 0)
		return;
	switch (next(seed) % 5) {
	case 0:
		nap(next(seed) % 2000);
		kill(pid, SIGKILL);
		break;
	case 1:
		for (int i = 0; i < 5; i++) {
			kill(pid, SIGSTOP);
			nap(next(seed) % 500);
			kill(pid, SIGCONT);
		}
		break;
	case 2:
		for (int i = 0; i < 20; i++)
			kill(pid, SIGUSR1);
		break;
	default:
		break;
	}
	int status;
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	atomic_fetch_sub(&account->processes, 1);
}

static void *thread(void *arg)
{
	unsigned own = (unsigned)(uintptr_t)arg;
	calls(&own);
	if (next(&own) % 3 == 0)
		nap(next(&own) % 1000);
	calls(&own);
	return NULL;
}

static void threads(unsigned *seed, int depth)
{
	pthread_t t[8];
	int n = (int)(next(seed) % 8);
	(void)depth;
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(uintptr_t)next(seed)) != 0)
			n = i;
	if (n > 0 && next(seed) % 2)
		pthread_kill(t[0], SIGUSR1);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void image(unsigned *seed, int depth)
{
	char words[4][16];
	if (depth >= 3)
		return;
	snprintf(words[0], 16, "%u", next(seed));
	snprintf(words[1], 16, "%d", account_fd);
	snprintf(words[2], 16, "%d", depth + 1);
	pid_t pid = next(seed) % 2 ? fork() : vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "chaos", words[0], words[1], words[2], (char *)NULL);
		_exit(1);
	}
	int status;
	if (pid > 0)
		while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
			;
}

static void mappings(unsigned *seed, int depth)
{
	(void)depth;
	for (unsigned n = next(seed) % 20; n > 0; n--) {
		size_t size = (1 + next(seed) % 16) * 4096;
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return;
		p[0] = 1;
		call((int)(next(seed) % KINDS));
		mprotect(p, 4096, PROT_READ | PROT_EXEC);
		munmap(p, size);
	}
}

static void library(unsigned *seed, int depth)
{
	char exe[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	(void)depth;
	if (n <= 0)
		return;
	exe[n] = 0;
	snprintf(path, sizeof path, "%.4000s/plug%u.so", dirname(exe), 1 + next(seed) % 2);
	void *lib = dlopen(path, RTLD_NOW);
	long (*plug)(long) = lib ? (long (*)(long))dlsym(lib, "plug_call") : NULL;
	for (int i = 0; plug != NULL && i < 20; i++) {
		atomic_fetch_add(&account->begun[2], 1);
		plug(SYS_getsid);
		atomic_fetch_add(&account->done[2], 1);
	}
	if (lib != NULL)
		dlclose(lib);
}

static void timer(unsigned *seed, int depth)
{
	struct itimerval tick = {{0, 200}, {0, 200}}, off = {0};
	(void)depth;
	setitimer(ITIMER_REAL, &tick, NULL);
	for (int i = 0; i < 5; i++)
		calls(seed);
	setitimer(ITIMER_REAL, &off, NULL);
}

static void few_calls(unsigned *seed, int depth)
{
	(void)depth;
	calls(seed);
}

static void act(unsigned *seed, int depth, int steps)
{
	static void (*const actions[])(unsigned *, int) = {few_calls, child_of, child_of, threads,
							   image,     mappings, library,  timer};
	for (int i = 0; i < steps; i++)
		actions[next(seed) % (sizeof actions / sizeof *actions)](seed, depth);
}

/*
 * Waits for all remaining children, and continues those that are stopped: the process that stopped one may have been
 * killed before it continued it.
 */
static void reap_orphans(void)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WUNTRACED)) > 0 || errno == EINTR)
		if (pid > 0 && WIFSTOPPED(status))
			kill(pid, SIGCONT);
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	int depth = argc > 3 ? atoi(argv[3]) : 0;
	if (depth == 0)
		prctl(PR_SET_CHILD_SUBREAPER, 1); /* makes orphans children of this process, which waits for them
						   * below, because their calls count too */
	account_fd = argc > 2 ? atoi(argv[2]) : memfd_create("account", 0);
	if (account_fd < 0 || (argc <= 2 && ftruncate(account_fd, sizeof *account) != 0))
		return 2;
	account = mmap(NULL, sizeof *account, PROT_READ | PROT_WRITE, MAP_SHARED, account_fd, 0);
	if (account == MAP_FAILED)
		return 2;
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	act(&seed, depth, depth ? 3 : 12);
	if (depth == 0)
		reap_orphans();
	for (int i = 0; depth == 0 && i < KINDS; i++)
		printf("calls %s %ld %ld\n", kinds[i].name, account->done[i], account->begun[i]);
	return 0;
}
