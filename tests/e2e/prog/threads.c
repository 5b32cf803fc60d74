/* SPDX-License-Identifier: MIT */
/* Many threads and processes. All are counted, and none is lost. */
#include "e2e.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

static pthread_attr_t small;

static void make_small(void)
{
	pthread_attr_init(&small);
	CHECK(pthread_attr_setstacksize(&small, 131072) == 0); /* the minimum on aarch64 */
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *live_body(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		syscall(SYS_getppid);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	syscall(SYS_getppid);
	return NULL;
}

/* Creates n threads that exist at the same time. */
static void test_live(int argc, char **argv)
{
	int n = number(argc, argv, 0, 2000);
	pthread_t *threads = calloc(n, sizeof *threads);
	make_small();
	pthread_mutex_lock(&gate);
	for (int i = 0; i < n; i++)
		CHECK(pthread_create(&threads[i], &small, live_body, NULL) == 0);
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < n; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	calls("getppid", 4L * n, 0);
}

static void *short_body(void *arg)
{
	syscall(SYS_getppid);
	return arg;
}

/* Creates n threads, one after the other. */
static void test_short(int argc, char **argv)
{
	int n = number(argc, argv, 0, 4000);
	make_small();
	for (int i = 0; i < n; i++) {
		pthread_t t;
		void *got;
		CHECK(pthread_create(&t, &small, short_body, argv) == 0);
		CHECK(pthread_join(t, &got) == 0 && got == argv);
	}
	calls("getppid", n, 0);
}

/* Creates n detached threads, in bursts. */
static void test_detached(int argc, char **argv)
{
	int n = number(argc, argv, 0, 2000);
	make_small();
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < n; i++) {
		pthread_t t;
		while (pthread_create(&t, &small, short_body, NULL) != 0)
			sleep_us(1000);
	}
	puts("made");
	fflush(stdout);
	calls("getppid", n, 0);
	pthread_exit(NULL);
}

/* Creates n processes that exist at the same time. */
static void test_processes(int argc, char **argv)
{
	int n = number(argc, argv, 0, 2000), go[2];
	char c;
	CHECK(pipe(go) == 0);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			close(go[1]);
			syscall(SYS_getppid);
			read(go[0], &c, 1);
			syscall(SYS_getppid);
			_exit(0);
		}
	}
	close(go[1]);
	for (int i = 0; i < n; i++) {
		int status;
		CHECK(wait(&status) > 0 && status == 0);
	}
	calls("getppid", 2L * n, 0);
}

/*
 * Creates n processes, one after the other. Then waits for a line of input, so that the test can read the tracer's
 * memory size.
 */
static void test_short_processes(int argc, char **argv)
{
	int n = number(argc, argv, 0, 1000), pause_at = number(argc, argv, 1, 0);
	char c;
	for (volatile int i = 0; i < n; i++) {
		pid_t pid = vfork();
		if (pid == 0)
			_exit(0);
		reap_ok(pid, 0);
		if (i + 1 == pause_at || i + 1 == n) {
			CHECK(write(1, ".", 1) == 1);
			CHECK(read(0, &c, 1) == 1);
		}
	}
}

/* Reads and writes much more data than the permitted memory size of the tracer. */
static void test_payload(int argc, char **argv)
{
	size_t size = (size_t)number(argc, argv, 0, 64) << 20;
	char c, *data = malloc(size);
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	CHECK(data != NULL && fd >= 0);
	memset(data, 'x', size);
	for (int i = 0; i < 5; i++)
		CHECK(write(fd, data, size) == (ssize_t)size);
	CHECK(write(1, ".", 1) == 1);
	CHECK(read(0, &c, 1) == 1);
}

static volatile int stop_now;
static pthread_barrier_t barrier;

static void *pump(void *arg)
{
	int *fds = arg, n = fds[2];
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++) {
		char c = 1;
		CHECK(pwrite(fds[0], &c, 1, i) == 1 && pread(fds[0], &c, 1, i) == 1);
		syscall(SYS_getppid);
	}
	return NULL;
}

/* Threads make calls continuously, and each call is counted. */
static void test_pump(int argc, char **argv)
{
	int threads = number(argc, argv, 0, 4), n = number(argc, argv, 1, 5000);
	pthread_t t[64];
	int fds[3] = {memfd_create("pump", MFD_CLOEXEC), 0, n};
	CHECK(fds[0] >= 0 && threads <= 64);
	pthread_barrier_init(&barrier, NULL, threads);
	for (int i = 0; i < threads; i++)
		CHECK(pthread_create(&t[i], NULL, pump, fds) == 0);
	for (int i = 0; i < threads; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	calls("pwrite64", (long)threads * n, 0);
	calls("getppid", (long)threads * n, 0);
}

static void *set_ids(void *arg)
{
	while (!stop_now)
		syscall(SYS_getppid);
	return arg;
}

/* setuid(2) and similar functions: glibc uses internal signals to change the ids of all threads. */
static void test_setxid(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&t[i], NULL, set_ids, NULL) == 0);
	for (int i = 0; i < 50; i++)
		CHECK(setgid(getgid()) == 0 && setuid(getuid()) == 0);
	stop_now = 1;
	for (int i = 0; i < 8; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	puts("identities set");
}

/* A thread forks while others make calls and allocate memory. */
static void test_fork_threads(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, set_ids, NULL) == 0);
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			for (int k = 0; k < 10; k++)
				syscall(SYS_getpgid, 0);
			_exit(5);
		}
		reap_ok(pid, 5);
	}
	stop_now = 1;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	calls("getpgid", 1000, 0);
}

static void *leave(void *arg)
{
	syscall(SYS_getppid);
	syscall(SYS_exit, 0);
	return arg;
}

/* Threads end with exit(2), made by an instruction that makes other calls as well. */
static void test_leave(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20);
	for (int i = 0; i < n; i++) {
		pthread_t t;
		CHECK(pthread_create(&t, NULL, leave, NULL) == 0);
		CHECK(pthread_join(t, NULL) == 0);
	}
	calls("getppid", n, 0);
	calls("exit", n, 0);
}

static int calls_left[4], threads_left = 4;

/* Uses no thread-local storage. syscall(2) uses it only if the call fails. */
static int raw_body(void *arg)
{
	for (int *left = arg; *left; --*left)
		syscall(SYS_getppid);
	__atomic_sub_fetch(&threads_left, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_exit, 0);
	return 0;
}

/* Creates 4 threads, each of which makes `n` calls. `more` are flags of clone(2). */
static void run_raw(int n, int more)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | more;
	syscall(SYS_gettid); /* at the first use of a function, the loader looks it up, and uses thread-local storage */
	for (int i = 0; i < 4; i++) {
		char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(stack != MAP_FAILED);
		calls_left[i] = n;
		CHECK(clone(raw_body, stack + 65536, flags, &calls_left[i], NULL, NULL) > 0);
	}
	while (__atomic_load_n(&threads_left, __ATOMIC_SEQ_CST))
		usleep(1000);
	calls("getppid", 4L * n, 0);
}

/* Threads have the same thread-local storage, and so the same fs base, as those of valgrind. */
static void test_same_fs(int argc, char **argv)
{
	run_raw(number(argc, argv, 0, 3000), 0);
}

/* The thread pointer is 0 in all threads, as in Go programs on aarch64. */
static void test_no_pointer(int argc, char **argv)
{
	run_raw(number(argc, argv, 0, 3000), CLONE_SETTLS);
}

static void *end_together(void *arrived)
{
	__atomic_fetch_add((int *)arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n((int *)arrived, __ATOMIC_SEQ_CST) < 2)
		;
	syscall(SYS_exit, 0);
	return NULL;
}

/* Both threads of each child exit at the same time. The last child makes calls after its parent has exited. */
static void test_together(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			int arrived = 0;
			pthread_t thread;
			CHECK(pthread_create(&thread, NULL, end_together, &arrived) == 0);
			end_together(&arrived);
		}
		reap_ok(pid, 0);
	}
	int fds[2];
	char c;
	CHECK(pipe(fds) == 0);
	if (fork() == 0) {
		close(fds[1]);
		CHECK(read(fds[0], &c, 1) == 0); /* the parent has exited */
		sleep_us(100 * 1000L);
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
	}
	_exit(0);
}

/* linux/seccomp.h, which musl does not have */
#ifndef SECCOMP_GET_ACTION_AVAIL
#define SECCOMP_GET_ACTION_AVAIL 2
#define SECCOMP_RET_ALLOW        0x7fff0000
#endif

/* A call that the patch engine cannot make in the program: each one stops. It asks whether the kernel has an action. */
static void call_that_stops(void)
{
	const uint32_t action = SECCOMP_RET_ALLOW;
	CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
}

enum { STOPPING = 12 }; /* so many of these calls for each getppid(2) */

static void call_mostly_stopping(int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < STOPPING; k++)
			call_that_stops();
		syscall(SYS_getppid);
	}
}

static struct {
	uintptr_t lo, hi;
} code[64];
static int ncode;

static int note_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) || ncode == sizeof code / sizeof *code)
			continue;
		code[ncode].lo = info->dlpi_addr + h->p_vaddr;
		code[ncode++].hi = info->dlpi_addr + h->p_vaddr + h->p_memsz;
	}
	return 0;
}

static int handled, outside;

/* A handler must see that its thread was in the code of the program or of a library. */
static void note_place(int sig, siginfo_t *si, void *context)
{
	const ucontext_t *uc = context;
#ifdef __x86_64__
	const uintptr_t ip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	const uintptr_t ip = uc->uc_mcontext.pc;
#elif defined(__arm__)
	const uintptr_t ip = uc->uc_mcontext.arm_pc;
#else
	const uintptr_t ip = (uintptr_t)uc->uc_mcontext.gregs[REG_EIP];
#endif
	bool inside = false;
	(void)sig;
	(void)si;
	for (int i = 0; i < ncode; i++)
		inside |= ip >= code[i].lo && ip < code[i].hi;
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&outside, !inside, __ATOMIC_SEQ_CST);
}

static int pipes[2], ended;

static void on_term(int sig)
{
	(void)sig;
	stop_now = 1;
}

/* Waits in calls, which handlers of signals interrupt. */
static void *stopping_reader(void *arg)
{
	const int n = *(int *)arg;
	char c;
	for (int i = 0; i < n; i++)
		CHECK(read(pipes[0], &c, 1) == 1);
	return NULL;
}

static int stopping_child(void *arg)
{
	call_mostly_stopping(*(int *)arg);
	_exit(0);
}

/* The first thread also has children that share the memory. */
static void *stopping_body(void *arg)
{
	const int n = *(int *)arg;
	static int first, few = 5;
	static char stack[65536] __attribute__((aligned(16)));
	const bool parent = __atomic_add_fetch(&first, 1, __ATOMIC_SEQ_CST) == 1;
	pid_t sharing = parent ? clone(stopping_child, stack + sizeof stack, CLONE_VM | SIGCHLD, arg) : 0;
	for (volatile int i = 0; n ? i < n : !stop_now; i += few) {
		call_mostly_stopping(few);
		pid_t pid = parent ? vfork() : 0;
		if (parent && pid == 0)
			stopping_child(&few);
		if (parent)
			reap_ok(pid, 0);
	}
	if (parent)
		reap_ok(sharing, 0);
	__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * Most calls of the threads stop, so the image falls back to ptrace. Meanwhile, as many threads wait in calls, and signals
 * with handlers interrupt all of them. If `n` is 0, this lasts until SIGTERM.
 */
static void test_stopping(int argc, char **argv)
{
	int threads = number(argc, argv, 0, 2), n = number(argc, argv, 1, 250), bytes = 20, got = 0;
	pthread_t t[64], readers[64];
	struct sigaction act = {.sa_sigaction = note_place, .sa_flags = SA_SIGINFO | SA_RESTART};
	CHECK(threads <= 64 && n % 5 == 0 && pipe(pipes) == 0);
	dl_iterate_phdr(note_code, NULL);
	sigaction(SIGUSR1, &act, NULL);
	signal(SIGTERM, on_term);
	for (int i = 0; i < threads; i++) {
		CHECK(pthread_create(&readers[i], NULL, stopping_reader, &bytes) == 0);
		CHECK(pthread_create(&t[i], NULL, stopping_body, &n) == 0);
	}
	if (n == 0)
		CHECK(write(1, "ready\n", 6) == 6);
	for (int i = 0; __atomic_load_n(&ended, __ATOMIC_SEQ_CST) < threads; i++, got++) {
		pthread_t to = i % 2 ? t[i / 2 % threads] : readers[i / 2 % threads];
		if (got < bytes * threads / 2)
			CHECK(write(pipes[1], "x", 1) == 1);
		else
			got--;
		CHECK(pthread_kill(to, SIGUSR1) == 0);
		sleep_us(2000);
	}
	for (; got < bytes * threads; got++)
		CHECK(write(pipes[1], "x", 1) == 1);
	for (int i = 0; i < threads; i++) {
		CHECK(pthread_join(t[i], NULL) == 0);
		CHECK(pthread_join(readers[i], NULL) == 0);
	}
	CHECK(n == 0 || outside == 0); /* in attached processes, a handler may see an instruction that has moved */
	if (n == 0)
		return;
	calls("seccomp", STOPPING * n * (threads + 2L), 0);
	calls("getppid", n * (threads + 2L), 0);
	calls("rt_sigreturn", handled, 0);
}

/* The alternate stack of all threads, which only a handler that ends the program uses. */
static char only_stack[65536];

static void *stacked_body(void *arg)
{
	const volatile intptr_t own = (intptr_t)arg; /* on the usual stack */
	const pid_t tid = (pid_t)syscall(SYS_gettid);
	CHECK(sigaltstack(&(stack_t){.ss_sp = only_stack, .ss_size = sizeof only_stack}, NULL) == 0);
	while (!stop_now) {
		for (int i = 0; i < 8; i++)
			CHECK(syscall(SYS_gettid) == tid);
		CHECK(syscall(SYS_seccomp, -1, 0, NULL) == -1 && errno == EINVAL); /* stops under the patch engine */
		CHECK(own == (intptr_t)arg);
		sleep_us(100);
	}
	return NULL;
}

/* Threads that share an alternate stack make calls, until SIGTERM. */
static void test_one_altstack(int argc, char **argv)
{
	pthread_t t[32];
	(void)argc;
	(void)argv;
	signal(SIGTERM, on_term);
	for (intptr_t i = 0; i < 32; i++)
		CHECK(pthread_create(&t[i], NULL, stacked_body, (void *)i) == 0);
	CHECK(write(1, "ready\n", 6) == 6);
	for (int i = 0; i < 32; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
}

static const struct test tests[] = {
	{"live", test_live},
	{"short", test_short},
	{"detached", test_detached},
	{"processes", test_processes},
	{"short_processes", test_short_processes},
	{"payload", test_payload},
	{"pump", test_pump},
	{"setxid", test_setxid},
	{"fork_threads", test_fork_threads},
	{"leave", test_leave},
	{"together", test_together},
	{"same_fs", test_same_fs},
	{"no_pointer", test_no_pointer},
	{"stopping", test_stopping},
	{"one_altstack", test_one_altstack},
};
TEST_MAIN(tests)
