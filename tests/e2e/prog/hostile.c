/* SPDX-License-Identifier: MIT */
/*
 * x86-64: a program that finds the tracer's memory in its own address space and damages this memory. Each attack runs
 * in a child, which may end in any way. The tracer must survive unharmed, and trace the next child normally.
 */
#include "e2e.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>

/* Programs have no mappings at these addresses unless they request them (src/engine/patch/code/agent.h). */
#define CODE  0x553670000000
#define DATA  (CODE + 0x1000)
#define SLOTS (CODE + 0x8200000)
enum { PAGE = 4096 };

static uint32_t state = 1;

static uint32_t chance(uint32_t n)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * n >> 32);
}

/* A word that may be mistaken for an address, a size or a count. */
static uint64_t word(void)
{
	static const uint64_t interesting[] = {0,    1,    ~0ull, 1ull << 63, 0x7fffffff, 0xffffffff,
					       CODE, DATA, SLOTS, 8,          4095,       ~0ull - 4094};
	switch (chance(4)) {
	case 0:
		return interesting[chance(sizeof interesting / sizeof *interesting)];
	case 1:
		return SLOTS + chance(0x130000);
	case 2:
		return chance(600);
	default:
		return (uint64_t)chance(~0u) << 32 | chance(~0u);
	}
}

/* The size of the mapping that begins at `at`, or 0. */
static size_t mapped(uintptr_t at)
{
	char line[512];
	size_t size = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		unsigned long lo, hi;
		if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo <= at && at < hi)
			size = hi - at;
	}
	if (f != NULL)
		fclose(f);
	return size;
}

/* Runs an attack in a child, which may end in any way; kills a child that runs for ever or sleeps. */
static void attack(void (*how)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		how();
		_exit(0);
	}
	CHECK(pid > 0);
	for (int i = 0; i < 3000; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return;
		sleep_us(1000);
	}
	kill(pid, SIGKILL);
	reap(pid);
}

static void use_calls(void)
{
	char byte;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < 20; i++) {
		getppid();
		read(fd, &byte, 1);
		read(-1, &byte, 1);
	}
	close(fd);
}

static void *calling(void *arg)
{
	for (;;)
		use_calls();
	return arg;
}

static void nothing(int sig)
{
	(void)sig;
}

static void scribble(uint64_t *at, size_t size)
{
	for (int i = 0; i < 400; i++)
		at[chance(size / 8)] = word();
}

/* Overwrites the counters, which the tracer reads and adds to. */
static void spoil_slots(void)
{
	size_t size = mapped(SLOTS);
	if (size == 0)
		return;
	pthread_t t;
	pthread_create(&t, NULL, calling, NULL);
	signal(SIGUSR2, nothing);
	for (int i = 0; i < 20; i++) {
		scribble((uint64_t *)SLOTS, size & ~(size_t)7);
		kill(getpid(), SIGUSR2);
		use_calls();
	}
	if (fork() == 0)
		_exit(0);
	execl("/bin/true", "true", NULL);
}

/* Writes the same word to all slots, so that sums overflow and a histogram is half full. */
static void fill_slots(void)
{
	static const uint64_t with[] = {~0ull, 0x7fffffff7fffffff, 0x8000000080000000, 0};
	size_t size = mapped(SLOTS);
	for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
		for (size_t i = 0; i < size / 8; i++)
			((uint64_t *)SLOTS)[i] = with[k];
		use_calls();
	}
}

/* Overwrites the private page: the map of calls, the vfork frame, and the address of the exec word. */
static void spoil_data(void)
{
	if (mapped(DATA) == 0)
		return;
	signal(SIGUSR2, nothing);
	for (int i = 0; i < 20; i++) {
		uint64_t *at = (uint64_t *)(uintptr_t)DATA;
		at[chance(PAGE / 8)] = word();
		if (vfork() == 0)
			_exit(0);
		kill(getpid(), SIGUSR2);
		use_calls();
	}
	execl("/bin/true", "true", NULL);
}

/*
 * Overwrites the agent's frame on the stack of another thread that sleeps in a call. A signal then interrupts that
 * thread.
 */
static void *volatile sleeper_stack;

static void *sleeping(void *arg)
{
	sleeper_stack = __builtin_frame_address(0);
	for (;;)
		pause();
	return arg;
}

static void spoil_frames(void)
{
	pthread_t t;
	signal(SIGUSR1, nothing);
	pthread_create(&t, NULL, sleeping, NULL);
	for (int i = 0; i < 60; i++) {
		sleep_us(500);
		uint64_t *top = sleeper_stack;
		for (uint64_t *p = top ? top - 64 : NULL; p != NULL && p < top; p++) {
			bool slot = *p >= SLOTS && *p < SLOTS + 0x130000;
			if (slot && chance(2))
				*p = chance(2) ? *p | 8 : word();
			else if (slot)
				p[(int)chance(7) - 2] = word();
		}
		pthread_kill(t, SIGUSR1);
	}
}

/*
 * More processes share a set of counters than it has exec words, and a frame claims to have an exec word, although the
 * tracer has none for this process.
 */
static void without_exec_word(void)
{
	enum { MANY = 520 };
	int p[2];
	CHECK(pipe(p) == 0);
	for (int i = 0; i < MANY; i++) {
		pid_t pid = fork();
		if (pid > 0)
			continue;
		char byte;
		close(p[1]);
		if (pid < 0)
			_exit(1);
		if (i < MANY - 1) {
			read(p[0], &byte, 1);
			_exit(0);
		}
		pthread_t t;
		signal(SIGUSR1, nothing);
		pthread_create(&t, NULL, sleeping, NULL);
		for (int k = 0; k < 10; k++) {
			sleep_us(2000);
			uint64_t *top = sleeper_stack;
			for (uint64_t *w = top ? top - 64 : NULL; w != NULL && w < top; w++)
				*w |= *w >= SLOTS && *w < SLOTS + 0x130000 ? 8 : 0;
			pthread_kill(t, SIGUSR1);
		}
		_exit(0);
	}
	sleep_us(100000);
	close(p[0]);
	close(p[1]);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* Overwrites the agent's code while another thread runs it, with traps, jumps to themselves, and zeros. */
static void spoil_code(void)
{
	static const unsigned char with[][2] = {{0xcc, 0xcc}, {0xeb, 0xfe}, {0x0f, 0x0b}, {0x90, 0x90}, {0xc3, 0xc3}};
	if (mapped(CODE) == 0 || mprotect((void *)(uintptr_t)CODE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return;
	pthread_t t;
	pthread_create(&t, NULL, calling, NULL);
	for (int i = 0; i < 50; i++) {
		memcpy((char *)(uintptr_t)CODE + chance(1600), with[chance(5)], 2);
		sleep_us(100);
	}
	_exit(0);
}

/* --- the tracer must not use what it learned about a file's code from a process that can change that code --- */

/* Makes calls that programs rarely make, through the code of the C library. */
static void rare_calls(void)
{
	struct sysinfo info;
	struct rusage usage;
	struct tms times_;
	for (int i = 0; i < 3; i++) {
		CHECK(getsid(0) >= 0 && getpgid(0) >= 0);
		CHECK(sysinfo(&info) == 0 && getrusage(RUSAGE_SELF, &usage) == 0);
		CHECK(times(&times_) != -1 && sched_get_priority_max(SCHED_FIFO) > 0);
		CHECK(personality(0xffffffff) != -1 && getpriority(PRIO_PROCESS, 0) >= -20);
	}
}

/*
 * After the call, changes `cmp $-4095, %rax` to `cmp $1, %rax`, so that all results except 0 are errors. A jump of five
 * bytes over the call does not cover the changed bytes.
 */
static void change_code(void *function)
{
	static const unsigned char was[] = {0x0f, 0x05, 0x48, 0x3d, 0x01, 0xf0, 0xff, 0xff};
	static const unsigned char is[] = {0x0f, 0x05, 0x48, 0x3d, 0x01, 0x00, 0x00, 0x00};
	unsigned char *at = memmem(function, 64, was, sizeof was);
	if (at == NULL)
		return;
	void *page = (void *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1));
	if (mprotect(page, 2ul * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
		memcpy(at, is, sizeof is);
	mprotect(page, 2ul * PAGE, PROT_READ | PROT_EXEC);
}

static void spoil_plans(void)
{
	change_code((void *)getsid);
	change_code((void *)getpgid);
	getsid(0);
	getpgid(0);
}

static void spoil_plans_as_nobody(void)
{
	setresuid(65534, 65534, 65534);
	spoil_plans();
}

static void test_plans(int argc, char **argv)
{
	attack(argc > 0 && strcmp(argv[0], "nobody") == 0 ? spoil_plans_as_nobody : spoil_plans);
	pid_t pid = fork();
	if (pid == 0)
		execl("/proc/self/exe", "hostile", "rare", NULL);
	reap_ok(pid, 0);
}

static void test_rare(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	rare_calls();
}

static void test_all(int argc, char **argv)
{
	static void (*const attacks[])(void) = {spoil_slots, fill_slots, spoil_data, spoil_frames, spoil_code};
	int rounds = number(argc, argv, 0, 3);
	state = (uint32_t)number(argc, argv, 1, 1);
	for (int i = 0; i < rounds; i++)
		for (size_t k = 0; k < sizeof attacks / sizeof *attacks; k++) {
			chance(2);
			attack(attacks[k]);
		}
}

/* --- code that the tracer makes the program execute --- */

/* `mov %edi,%eax; xor %edi,%edi; syscall; ret`, in a file that is mapped far from all other code. */
static long call_far_away(long nr)
{
	static const unsigned char code[] = {0x89, 0xf8, 0x31, 0xff, 0x0f, 0x05, 0xc3};
	unsigned char page[PAGE] = {0};
	char name[] = "far-XXXXXX";
	int fd = mkstemp(name);
	memcpy(page, code, sizeof code);
	if (fd < 0 || unlink(name) != 0 || write(fd, page, PAGE) != PAGE)
		return -1;
	void *at = mmap((void *)0x200000000000, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	return at == MAP_FAILED ? -1 : ((long (*)(long))at)(nr);
}

/* Writes a jump to itself after the place where the tracer makes calls and waits for them to return. */
static void never_come_back(void)
{
	static const unsigned char was[] = {0x0f, 0x05, 0xcc}; /* syscall; int3 */
	unsigned char *code = (unsigned char *)(uintptr_t)CODE;
	if (mapped(CODE) == 0 || mprotect(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return;
	unsigned char *at = memmem(code, PAGE, was, sizeof was);
	if (at != NULL)
		memcpy(at, (const unsigned char[]){0xeb, 0xfe}, 2);
	call_far_away(SYS_getppid);
	pause();
}

/*
 * The tracer must serve other programs in the meantime. A child that does not end by itself is killed only after them.
 */
static void test_loop(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pid_t bad = fork();
	if (bad == 0) {
		never_come_back();
		_exit(0);
	}
	sleep_us(50000);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (pid == 0)
			execl("/bin/true", "true", NULL);
		reap_ok(pid, 0);
	}
	kill(bad, SIGKILL);
	reap(bad);
}

/* --- the memory of a call's arguments may change after the call has begun --- */

static struct clone_args volatile args;

static void *flipping(void *arg)
{
	for (;;) {
		args.flags = CLONE_THREAD;
		for (volatile int i = 0; i < 100; i++)
			;
		args.flags = 0;
		for (volatile int i = 0; i < 100; i++)
			;
	}
	return arg;
}

/* Creates child processes while other threads overwrite the flags in memory. Some children execute a program. */
static void test_children(int argc, char **argv)
{
	pthread_t t;
	int n = number(argc, argv, 0, 150), created = 0;
	CHECK(pthread_create(&t, NULL, flipping, NULL) == 0);
	while (created < n) {
		args.exit_signal = SIGCHLD;
		long pid = syscall(SYS_clone3, &args, sizeof args);
		if (pid == 0) {
			if (created % 4 == 0)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		int err = errno;
		CHECK(pid > 0 || err == EINVAL);
		created += pid > 0;
		if (pid < 0)
			sched_yield();
		if (pid > 0)
			reap_ok((pid_t)pid, 0);
	}
}

/*
 * When input arrives, blocks and sends itself a forged signal that seems to come from a call outside the agent. Then
 * runs without any call.
 */
static void test_pending(int argc, char **argv)
{
	siginfo_t si = {.si_signo = SIGSYS, .si_code = 2 /* SYS_USER_DISPATCH */};
	sigset_t one;
	char byte;
	sigemptyset(&one);
	sigaddset(&one, SIGSYS);
	dprintf(1, "ready\n");
	CHECK(read(0, &byte, 1) == 1);
	time_t end = time(NULL) + number(argc, argv, 0, 20);
	CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
	CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGSYS, &si) == 0);
	while (time(NULL) < end)
		;
}

static void test_exec_words(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	attack(without_exec_word);
}

static const struct test tests[] = {
	{"children", test_children}, {"all", test_all},         {"exec_words", test_exec_words},
	{"loop", test_loop},         {"pending", test_pending}, {"plans", test_plans},
	{"rare", test_rare},
};
TEST_MAIN(tests)
