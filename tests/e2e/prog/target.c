/* SPDX-License-Identifier: MIT */
/*
 * Programs for scripted cases: they print `ready`, and run until a signal or the end of their input, or for a given
 * amount of work.
 */
#include "e2e.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static volatile sig_atomic_t stop_now;

static void on_term(int sig)
{
	(void)sig;
	stop_now = 1;
}

static void ready(void)
{
	CHECK(write(1, "ready\n", 6) == 6);
}

static atomic_int begun;

static void *row(void *arg)
{
	for (long i = 0; !stop_now; i++) {
		syscall(1000 + (int)(intptr_t)arg);
		syscall(SYS_seccomp, -1, 0, NULL);
		begun += i == 0;
		sleep_us(2000);
	}
	return NULL;
}

/*
 * Until SIGTERM, n threads make calls with different numbers (1000 and up), of which four do not stop under the patch engine, and
 * calls that always stop. Prints `ready` when each has made a call. With another argument, the main thread then ends before the
 * others.
 */
static void test_rows(int argc, char **argv)
{
	int n = number(argc, argv, 0, 32);
	pthread_t t[256];
	CHECK(n <= 256);
	signal(SIGTERM, on_term);
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&t[i], NULL, row, (void *)(intptr_t)i) == 0);
	while (begun < n)
		sleep_us(1000);
	ready();
	if (argc > 1)
		pthread_exit(NULL);
	for (int i = 0; i < n; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	puts("ended by itself");
}

static volatile int expected, wrong;
static volatile sig_atomic_t last_came;

static void on_order(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_value.sival_int == -1) {
		last_came = 1;
		return;
	}
	if (info->si_value.sival_int != expected)
		wrong++;
	expected++;
}

/* Receives queued signals until the last one, checks their order, and makes calls in between. */
static void test_receive(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = on_order, .sa_flags = SA_SIGINFO | SA_RESTART};
	(void)argc;
	(void)argv;
	CHECK(sigaction(SIGRTMIN + 1, &act, NULL) == 0);
	ready();
	while (!last_came) {
		struct timespec nap = {0, 50000};
		syscall(SYS_getppid);
		if (expected % 3 == 0)
			nanosleep(&nap, NULL);
	}
	printf("%d received, %d out of order\n", expected, wrong);
	exit(wrong ? 1 : 0);
}

static void queue(pid_t pid, int value)
{
	while (sigqueue(pid, SIGRTMIN + 1, (union sigval){.sival_int = value}) == -1) {
		CHECK(errno == EAGAIN);
		sleep_us(500);
	}
}

/* Queues at least n signals to a process, one every `pause` microseconds, until its input ends. */
static void test_send(int argc, char **argv)
{
	pid_t pid = number(argc, argv, 0, 0);
	int n = number(argc, argv, 1, 9000), pause = number(argc, argv, 2, 100), sent = 0;
	struct pollfd more = {.fd = 0};
	CHECK(pid > 0);
	for (; sent < n || poll(&more, 1, 0) == 0; sent++) {
		queue(pid, sent);
		if (pause > 0)
			sleep_us(pause);
	}
	queue(pid, -1);
	printf("%d received, 0 out of order\n", sent);
}

enum { ROUNDS = 2000 };
static int work_fd;
static atomic_bool enough;
static atomic_long blocks;

/* Does the same work each time. The result is only correct if each call worked. */
static uint64_t block(int which)
{
	uint64_t sum = which + 1;
	for (long i = 0; i < ROUNDS; i++) {
		uint64_t back = 0;
		off_t at = which * 4096 + i % 512 * 8;
		sum = sum * 6364136223846793005u + 1442695040888963407u;
		CHECK(pwrite(work_fd, &sum, 8, at) == 8 && pread(work_fd, &back, 8, at) == 8);
		sum ^= back >> 7;
	}
	return sum;
}

static void *compute(void *arg)
{
	int which = (int)(intptr_t)arg;
	uint64_t sum = block(which);
	bool last;
	do { /* one more after the signal to stop */
		last = enough;
		CHECK(block(which) == sum);
		blocks++;
	} while (!last);
	return NULL;
}

static int feed[2];
static volatile long fed;

static void *reader(void *arg)
{
	char c;
	while (read(feed[0], &c, 1) == 1)
		fed++;
	return arg;
}

/* Until its input ends, four threads repeat the same computation, with calls. A fifth thread waits in a read. */
static void test_compute(int argc, char **argv)
{
	pthread_t t[4], r;
	char c;
	(void)argc;
	(void)argv;
	work_fd = memfd_create("work", MFD_CLOEXEC);
	CHECK(work_fd >= 0 && pipe(feed) == 0);
	CHECK(pthread_create(&r, NULL, reader, NULL) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, compute, (void *)(intptr_t)i) == 0);
	while (blocks < 4)
		sleep_us(1000);
	ready();
	CHECK(read(0, &c, 1) == 0);
	enough = true;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	CHECK(write(feed[1], "end", 3) == 3 && close(feed[1]) == 0);
	CHECK(pthread_join(r, NULL) == 0 && fed == 3);
	puts("computed as ever");
}

extern char **environ;
static volatile int handled;

static void on_signal(int sig)
{
	(void)sig;
	handled++;
}

/* Creates n children by each of vfork(2), posix_spawn(3) and fork(2), and receives n signals. */
static void create_children(int n)
{
	char *args[] = {"target", "nothing", NULL};
	int before = handled;
	pid_t pid;
	for (volatile int i = 0; i < n; i++) {
		pid = vfork();
		if (pid == 0)
			_exit(7);
		CHECK(WEXITSTATUS(reap(pid)) == 7);
		CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ) == 0);
		CHECK(reap(pid) == 0);
		pid = fork();
		if (pid == 0)
			_exit(5);
		CHECK(WEXITSTATUS(reap(pid)) == 5);
		raise(SIGUSR1);
	}
	CHECK(handled == before + n);
}

/*
 * Creates children after a first line of input, and again when the input ends. If n is given, a second thread waits in
 * a read all the time.
 */
static void test_creates(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20);
	char c;
	pthread_t r;
	CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
	CHECK(pipe(feed) == 0 && (argc == 0 || pthread_create(&r, NULL, reader, NULL) == 0));
	ready();
	CHECK(read(0, &c, 1) == 1);
	create_children(n);
	ready();
	CHECK(read(0, &c, 1) == 0);
	create_children(n);
	CHECK(write(feed[1], "end", 3) == 3 && close(feed[1]) == 0);
	CHECK(argc == 0 || (pthread_join(r, NULL) == 0 && fed == 3));
	puts("created children as expected");
}

/* Creates a child after a first line of input. This child creates more children when the input ends. */
static void test_child_creates(int argc, char **argv)
{
	char c;
	(void)argc;
	(void)argv;
	ready();
	CHECK(read(0, &c, 1) == 1);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
		ready();
		CHECK(read(0, &c, 1) == 0);
		create_children(20);
		_exit(7);
	}
	reap_ok(pid, 7);
	puts("its child created children as expected");
}

static void test_nothing(int argc, char **argv)
{
	(void)argc;
	(void)argv;
}

/* Creates a vfork child that never ends by itself. The parent waits in the kernel. */
static void test_vforked(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pid_t pid = vfork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		write(1, "ready\n", 6);
		for (;;) {
			struct timespec nap = {0, 1000000};
			syscall(SYS_getppid);
			syscall(SYS_nanosleep, &nap, NULL);
		}
	}
	reap(pid);
}

static void *nothing(void *arg)
{
	syscall(SYS_getppid);
	return arg;
}

/* Creates threads continuously. */
static void test_storm(int argc, char **argv)
{
	pthread_attr_t attr;
	(void)argc;
	(void)argv;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 131072); /* the minimum on aarch64 */
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ready();
	for (;;) {
		pthread_t t;
		if (pthread_create(&t, &attr, nothing, NULL) != 0)
			sleep_us(100);
	}
}

/* Forks continuously. */
static void test_forks(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	ready();
	for (;;) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid > 0)
			reap(pid);
	}
}

/* Exits just after it has created three children, whose pids it writes to descriptor 3. They wait for a signal. */
static void test_leaves(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (pid == 0)
			pause();
		dprintf(3, "%d\n", (int)pid);
	}
	_exit(0);
}

/* Makes calls for some time, then writes a file, which proves that it reached its end. */
static void test_finish(int argc, char **argv)
{
	CHECK(argc > 1);
	ready();
	for (int i = 0; i < atoi(argv[1]); i++) {
		syscall(SYS_getppid);
		sleep_us(1000);
	}
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && write(fd, "finished\n", 9) == 9);
}

/* A vfork child makes calls for a second before it executes a program. Then the parent writes a file. */
static void test_slow_vfork(int argc, char **argv)
{
	CHECK(argc > 0);
	struct timespec begin, now;
	CHECK(clock_gettime(CLOCK_MONOTONIC, &begin) == 0);
	pid_t pid = vfork();
	if (pid == 0) {
		write(1, "ready\n", 6);
		do {
			struct timespec nap = {0, 1000000};
			syscall(SYS_getppid);
			syscall(SYS_nanosleep, &nap, NULL);
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while (now.tv_sec - begin.tv_sec < 2 && (now.tv_sec == begin.tv_sec || now.tv_nsec < begin.tv_nsec));
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	reap_ok(pid, 0);
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && write(fd, "finished\n", 9) == 9);
}

/* Makes short calls of the C library without end. After SIGTERM, writes a file and ends. */
static void test_endless(int argc, char **argv)
{
	sigset_t set;
	CHECK(argc > 0 && signal(SIGTERM, on_term) != SIG_ERR);
	fprintf(stderr, "pid %d\n", (int)getpid());
	while (!stop_now) {
		sigprocmask(SIG_BLOCK, NULL, &set);
		getppid();
		lseek(0, 0, SEEK_CUR);
		sched_yield();
	}
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && write(fd, "finished\n", 9) == 9);
}

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

/*
 * Makes calls for two seconds while a timer raises thousands of signals, some of them inside the tracer's code. Then
 * writes a file, or prints a line if no file is named.
 */
static void test_ticking(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	const struct itimerval often = {{0, 300}, {0, 300}};
	struct timespec begin, now;
	CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
	CHECK(clock_gettime(CLOCK_MONOTONIC, &begin) == 0);
	CHECK(write(1, "ready\n", 6) == 6);
	do {
		for (int i = 0; i < 1000; i++)
			getppid();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < 3 || ticks < 1000);
	int fd = argc > 0 ? open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : 1;
	CHECK(fd >= 0 && write(fd, "finished\n", 9) == 9);
}

static volatile sig_atomic_t interrupts;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupts++;
}

/* Counts SIGINT; after the first, waits a little for more. Prints the foreground process group of the terminal. */
static void test_interrupts(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	signal(SIGINT, on_interrupt);
	printf("front %d\n", tcgetpgrp(0) == getpgrp());
	fflush(stdout);
	ready();
	while (interrupts == 0)
		sleep_us(1000);
	sleep_us(300000);
	printf("interrupts %d\n", (int)interrupts);
}

static volatile uint64_t *beats;

static void *beat(void *arg)
{
	while (!interrupts) {
		beats[(intptr_t)arg]++;
		syscall(SYS_getppid);
		sleep_us(500);
	}
	return NULL;
}

/* 8 threads count their rounds in the file named in the environment, until SIGINT. */
static void test_heartbeat(int argc, char **argv)
{
	pthread_t t[8];
	int fd = open(getenv("BEATS"), O_RDWR | O_CLOEXEC);
	(void)argc;
	(void)argv;
	CHECK(fd >= 0);
	beats = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(beats != MAP_FAILED);
	signal(SIGINT, on_interrupt);
	for (intptr_t i = 0; i < 8; i++)
		CHECK(pthread_create(&t[i], NULL, beat, (void *)i) == 0);
	ready();
	for (int i = 0; i < 8; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	puts("interrupted in time");
}

/* Sleeps in many kinds of calls, none of which may end early. */
static void test_sleeps(int argc, char **argv)
{
	long ms = number(argc, argv, 0, 2000);
	struct timespec nap = {ms / 1000, ms % 1000 * 1000000}, start, end;
	ready();
	clock_gettime(CLOCK_MONOTONIC, &start);
	CHECK(syscall(SYS_nanosleep, &nap, NULL) == 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 >= ms - 1);
	puts("slept");
}

/* Uses names and contents with terminal controls, and some that look like lines of a trace. */
static void test_escapes(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	const char *const evil[] = {
		"/nonexistent/\x1b[31m\x1b]0;title\x07",
		"/nonexistent/\ngetppid() = 4711\n",
		"/nonexistent/\r+++ exited with 3 +++",
		"/nonexistent/\xff\xfe\xc3(\xe2\x82",
		"/nonexistent/\xc2\x9b"
		"31m",
		"/nonexistent/\x7f\x08\x08\x08\t\v\f",
		"/nonexistent/\") = 3\nopen(\"",
		"/nonexistent/\xe2\x80\xae"
		"desrever",
	};
	for (size_t i = 0; i < sizeof evil / sizeof *evil; i++) {
		CHECK(open(evil[i], O_RDONLY) == -1);
		CHECK(prctl(PR_SET_NAME, evil[i] + 13) == 0);
		int fd = memfd_create(evil[i] + 13, MFD_CLOEXEC);
		CHECK(fd >= 0 && write(fd, evil[i], strlen(evil[i])) > 0 && close(fd) == 0);
		pid_t pid = fork();
		if (pid == 0) {
			syscall(SYS_getpgid, 0);
			_exit(0);
		}
		reap_ok(pid, 0);
	}
}

static void *number_calls(void *arg)
{
	(void)arg;
	char path[32];
	for (long i = 1; !stop_now; i++) {
		snprintf(path, sizeof path, "not/there/%ld", i);
		CHECK(truncate(path, i) == -1 && errno == ENOENT);
		sleep_us(20);
	}
	return NULL;
}

/*
 * Until SIGTERM, n threads make numbered calls. Each call has its number as an argument, and as a string that the next
 * call overwrites.
 */
static void test_numbered(int argc, char **argv)
{
	int n = number(argc, argv, 0, 4);
	pthread_t t[64];
	CHECK(n <= 64);
	signal(SIGTERM, on_term);
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&t[i], NULL, number_calls, NULL) == 0);
	ready();
	for (int i = 0; i < n; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	puts("ended by itself");
}

static void *spawn_children(void *arg)
{
	(void)arg;
	char *const argv[] = {(char *)"true", NULL};
	while (!stop_now) {
		pid_t pid;
		CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0);
		reap_ok(pid, 0);
	}
	return NULL;
}

/* Until SIGTERM, n threads start a program again and again, and check that it succeeds. */
static void test_spawns(int argc, char **argv)
{
	int n = number(argc, argv, 0, 4);
	pthread_t t[64];
	CHECK(n <= 64);
	signal(SIGTERM, on_term);
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&t[i], NULL, spawn_children, NULL) == 0);
	ready();
	for (int i = 0; i < n; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	puts("ended by itself");
}

static const struct test tests[] = {
	{"rows", test_rows},           {"receive", test_receive},
	{"send", test_send},           {"compute", test_compute},
	{"vforked", test_vforked},     {"creates", test_creates},
	{"nothing", test_nothing},     {"leaves", test_leaves},
	{"storm", test_storm},         {"forks", test_forks},
	{"finish", test_finish},       {"interrupts", test_interrupts},
	{"sleeps", test_sleeps},       {"escapes", test_escapes},
	{"heartbeat", test_heartbeat}, {"child_creates", test_child_creates},
	{"numbered", test_numbered},   {"slow-vfork", test_slow_vfork},
	{"endless", test_endless},     {"ticking", test_ticking},
	{"spawns", test_spawns},
};
TEST_MAIN(tests)
