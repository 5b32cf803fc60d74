/* SPDX-License-Identifier: MIT */
/*
 * Prints the program's environment: descriptors, masks, limits, ids, variables. The output must be the same as without
 * a tracer.
 */
#include "e2e.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

extern char **environ;

static void print_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	CHECK(d != NULL);
	bool open_fd[1024] = {false};
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d) && atoi(e->d_name) < 1024)
			open_fd[atoi(e->d_name)] = true;
	closedir(d);
	for (int fd = 0; fd < 1024; fd++)
		if (open_fd[fd])
			printf("descriptor %d flags 0x%x status 0x%x\n", fd, fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
}

/*
 * Lines of /proc/self/status that a tracer could change. NoNewPrivs is left out, because sctrace's filter sets it, as
 * documented.
 */
static void print_status(void)
{
	const char *const keys[] = {"Umask", "Uid", "Gid", "Groups",       "Threads",
				    "Sig",   "Shd", "Cap", "Cpus_allowed", "THP"};
	char line[4096];
	FILE *f = fopen("/proc/self/status", "re");
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f) != NULL)
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			if (strncmp(line, keys[i], strlen(keys[i])) == 0 && strncmp(line, "SigQ", 4) != 0)
				fputs(line, stdout);
	fclose(f);
}

static void print_limits(void)
{
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit r;
		CHECK(getrlimit(i, &r) == 0);
		printf("limit %d: %llx %llx\n", i, (unsigned long long)r.rlim_cur, (unsigned long long)r.rlim_max);
	}
}

static void print_rest(void)
{
	char cwd[PATH_MAX];
	printf("argv0 %s, cwd %s\n", program_invocation_name, getcwd(cwd, sizeof cwd));
	printf("nice %d, scheduler %d, personality %x, dumpable %d, keepcaps %d, pdeathsig ",
	       getpriority(PRIO_PROCESS, 0), sched_getscheduler(0), personality(0xffffffff), prctl(PR_GET_DUMPABLE),
	       prctl(PR_GET_KEEPCAPS));
	int sig = -1;
	prctl(PR_GET_PDEATHSIG, &sig);
	printf("%d, subreaper ", sig);
	prctl(37 /* PR_GET_CHILD_SUBREAPER */, &sig);
	printf("%d, timer slack %d\n", sig, prctl(PR_GET_TIMERSLACK));
	stack_t stack;
	CHECK(sigaltstack(NULL, &stack) == 0);
	printf("altstack %d, alarm %u\n", stack.ss_flags, alarm(0));
}

static void test_show(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print_descriptors();
	print_status();
	print_limits();
	print_rest();
	for (char **e = environ; *e != NULL; e++)
		if (strncmp(*e, "SCTRACE_", 8) != 0 && strncmp(*e, "_=", 2) != 0)
			puts(*e);
}

/* Closes all descriptors, one by one and at once; calls continue and are counted. */
static void test_close_all(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	CHECK(syscall(436 /* close_range */, 3, ~0u, 0) == 0);
	for (int i = 0; i < 200; i++)
		syscall(SYS_getppid);
	for (int fd = 3; fd < 200; fd++)
		CHECK(dup2(0, fd) == fd);
	for (int i = 0; i < 200; i++)
		syscall(SYS_getppid);
	calls("getppid", 400, 0);
}

static void limit(int which, rlim_t value)
{
	struct rlimit r = {value, value};
	CHECK(setrlimit(which, &r) == 0);
}

/*
 * Sets limits: few descriptors, file size 0, no core, no locked memory, little address space. Then executes a program.
 */
static void test_limits(int argc, char **argv)
{
	if (argc > 0) {
		CHECK(open("/dev/null", O_RDONLY) == -1 || atoi(argv[0]) != 0);
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
		return;
	}
	for (int which = 0; which < 5; which++) {
		pid_t pid = fork();
		if (pid == 0) {
			char number[4];
			if (which == 0)
				limit(RLIMIT_NOFILE, 4); /* enough for the loader */
			if (which == 1)
				limit(RLIMIT_FSIZE, 0);
			if (which == 2)
				limit(RLIMIT_AS, 64 << 20);
			if (which == 3)
				limit(RLIMIT_MEMLOCK, 0);
			if (which == 4)
				limit(RLIMIT_STACK, 256 << 10);
			if (which == 0) {
				int fd = dup(0);
				CHECK(fd == 3 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0);
			}
			snprintf(number, sizeof number, "%d", which + 1);
			execl("/proc/self/exe", "surround", "limits", number, (char *)NULL);
			_exit(1);
		}
		reap_ok(pid, 0);
	}
	calls("getppid", 500, 0);
}

/* Finds the smallest address-space limit, in MiB, with which a program runs. */
static void test_room(int argc, char **argv)
{
	(void)argv;
	if (argc > 0) {
		for (int i = 0; i < 10; i++)
			syscall(SYS_getppid);
		return;
	}
	for (rlim_t mib = 1; mib < 64; mib++) {
		pid_t pid = fork();
		if (pid == 0) {
			limit(RLIMIT_AS, mib << 20);
			execl("/proc/self/exe", "surround", "room", "again", (char *)NULL);
			_exit(1);
		}
		if (reap(pid) == 0) {
			printf("%d MiB\n", (int)mib);
			return;
		}
	}
	CHECK(!"room");
}

/* mlockall() also locks memory that is mapped later. */
static void test_locked(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		puts("may not lock");
	for (int i = 0; i < 200; i++)
		syscall(SYS_getppid);
	calls("getppid", 200, 0);
}

/* The status of a child that dumps core says so, as without a tracer. */
static void test_core(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char dir[] = "core-XXXXXX";
	CHECK(mkdtemp(dir) != NULL && chdir(dir) == 0);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			struct rlimit r = {i ? RLIM_INFINITY : 0, RLIM_INFINITY};
			CHECK(setrlimit(RLIMIT_CORE, &r) == 0);
			abort();
		}
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		printf("core %d\n", WCOREDUMP(status) != 0);
	}
	CHECK(chdir("..") == 0);
	fflush(stdout);
	char command[64];
	snprintf(command, sizeof command, "rm -r %s", dir);
	CHECK(system(command) == 0);
}

static int silent[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pid_t waiting[3];

static void *wait_read(void *arg)
{
	char c = 0;
	CHECK(write(silent[1], &c, 1) == 1 && read(silent[0], &c, 1) == 1);
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	(void)!read(silent[0], &c, 1);
	return NULL;
}

static void *wait_sleep(void *arg)
{
	const struct timespec soon = {0, 1}, late = {10000, 0};
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL) == 0);
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &late, NULL);
	return NULL;
}

static void *wait_futex(void *arg)
{
	pthread_mutex_lock(&lock);
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	pthread_cond_wait(&never, &lock);
	return NULL;
}

static size_t read_of_thread(pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, file);
	int fd = tid ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* True if the thread sleeps in this call. A thread that a tracer has stopped before its call is in state t, not S. */
static bool is_in(pid_t tid, long nr)
{
	char text[512];
	if (!read_of_thread(tid, "syscall", text, sizeof text) || strncmp(text, "running", 7) == 0 ||
	    strtol(text, NULL, 10) != nr || !read_of_thread(tid, "stat", text, sizeof text))
		return false;
	const char *name_end = strrchr(text, ')');
	return name_end && strncmp(name_end, ") S", 3) == 0;
}

/* Dumps core by SIGABRT while three other threads wait in different calls. */
static void test_crash(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	static void *(*const begin[])(void *) = {wait_read, wait_sleep, wait_futex};
	static const long calls_in[] = {SYS_read, SYS_clock_nanosleep, SYS_futex};
	struct rlimit r;
	CHECK(getrlimit(RLIMIT_CORE, &r) == 0 && pipe(silent) == 0);
	r.rlim_cur = r.rlim_max;
	CHECK(setrlimit(RLIMIT_CORE, &r) == 0);
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, begin[i], &waiting[i]) == 0);
		while (!is_in(__atomic_load_n(&waiting[i], __ATOMIC_ACQUIRE), calls_in[i]))
			usleep(1000);
	}
	abort();
}

/* Prints the user and group ids of the process. The case runs a set-uid copy of this program. */
static void test_ids(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("uid %d euid %d\n", getuid(), geteuid());
}

/* Prints the arguments that the interpreter of a script gets. */
static void test_script(int argc, char **argv)
{
	printf("%d words", argc);
	for (int i = 0; i < argc; i++)
		printf(" [%s]", argv[i]);
	putchar('\n');
	fflush(stdout);
	for (int i = 0; i < 10; i++)
		syscall(SYS_getppid);
	calls("getppid", 10, 0);
}

/* Enters an empty root without /proc and libraries; needs root and a static build. */
static void test_chroot(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char dir[] = "root-XXXXXX", to[64];
	CHECK(mkdtemp(dir) != NULL);
	snprintf(to, sizeof to, "%s/surround", dir);
	int from_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
	    to_fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	char block[65536];
	ssize_t n;
	CHECK(from_fd >= 0 && to_fd >= 0);
	while ((n = read(from_fd, block, sizeof block)) > 0)
		CHECK(write(to_fd, block, n) == n);
	close(to_fd);
	close(from_fd);
	pid_t pid = fork();
	if (pid == 0) {
		CHECK(chroot(dir) == 0 && chdir("/") == 0);
		execl("/surround", "surround", "script", "in", "jail", (char *)NULL);
		_exit(1);
	}
	reap_ok(pid, 0);
	CHECK(unlink(to) == 0 && rmdir(dir) == 0);
}

/* prctl(), rseq and robust lists still work. */
static void test_comm(int argc, char **argv)
{
	char name[16];
	(void)argc;
	(void)argv;
	CHECK(prctl(PR_GET_NAME, name) == 0);
	printf("named %s\n", name);
	CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
		_exit(0);
	}
	reap_ok(pid, 0);
	fflush(stdout);
	calls("getppid", 200, 0);
}

static const struct test tests[] = {
	{"show", test_show},     {"close_all", test_close_all}, {"limits", test_limits}, {"room", test_room},
	{"locked", test_locked}, {"core", test_core},           {"crash", test_crash},   {"ids", test_ids},
	{"script", test_script}, {"chroot", test_chroot},       {"comm", test_comm},
};
TEST_MAIN(tests)
