/* SPDX-License-Identifier: MIT */
/*
 * Maps memory at chosen addresses in every possible way, and checks that this memory is the program's alone, as it is
 * without a tracer. The addresses include those that a tracer may use itself.
 */
#include "e2e.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>

#define AGENT 0x553670000000 /* where the patch engine puts its agent (src/engine/patch/code/agent.h) */
#define PAGE  4096ul
enum { FIXED_ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, RW = PROT_READ | PROT_WRITE };

static long made; /* number of getppid(2) calls of this process */

static void make_calls(int n)
{
	for (int i = 0; i < n; i++, made++)
		syscall(SYS_getppid);
}

/* --- ways to get memory at an address --- */

static void by_fixed(char *at, size_t size)
{
	CHECK(mmap(at, size, RW, FIXED_ANONYMOUS, -1, 0) == at);
}

static void by_noreplace(char *at, size_t size)
{
	CHECK(mmap(at, size, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at);
}

static void by_hint(char *at, size_t size)
{
	CHECK(mmap(at, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == at);
}

static void by_file(char *at, size_t size)
{
	int fd = memfd_create("place", 0);
	CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	CHECK(mmap(at, size, RW, MAP_SHARED | MAP_FIXED, fd, 0) == at && close(fd) == 0);
}

static void by_mremap(char *at, size_t size)
{
	char *old = mmap(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(old, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
}

static void attach_shared(char *at, size_t size, int flags)
{
	int id = shmget(IPC_PRIVATE, size, 0600);
	CHECK(id >= 0);
	void *got = shmat(id, at, flags);
	CHECK(shmctl(id, IPC_RMID, NULL) == 0);
	CHECK(got == at);
}

static void by_shmat(char *at, size_t size)
{
	attach_shared(at, size, 0);
}

static void by_shm_remap(char *at, size_t size)
{
	attach_shared(at, size, SHM_REMAP);
}

/* After the mapping calls have failed for this range as they do without a mapping. */
static void by_asking(char *at, size_t size)
{
	unsigned char vec[2];
	CHECK_FAILS(mincore(at, PAGE, vec), ENOMEM);
	CHECK_FAILS(mprotect(at, size, PROT_READ), ENOMEM);
	CHECK_FAILS(madvise(at, size, MADV_DONTNEED), ENOMEM);
	CHECK_FAILS(msync(at, size, MS_ASYNC), ENOMEM);
	CHECK_FAILS(mlock(at, size), ENOMEM);
	CHECK_FAILS(mlock2(at, size, MLOCK_ONFAULT), ENOMEM);
	CHECK_FAILS(munlock(at, size), ENOMEM);
	CHECK_FAILS((long)mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE), EFAULT);
	CHECK(munmap(at, size) == 0);
	by_fixed(at, size);
}

static void (*const ways[])(char *, size_t) = {by_fixed,  by_noreplace, by_hint,      by_file,
					       by_mremap, by_shmat,     by_shm_remap, by_asking};
enum { WAYS = sizeof ways / sizeof *ways };

/* --- checking that memory is the program's --- */

static unsigned char pattern(size_t i)
{
	return (unsigned char)(i * 131 + (i >> 8) * 17 + 5);
}

static void fill(char *at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (char)pattern(i);
}

static void verify(const char *at, size_t size)
{
	size_t wrong = 0;
	for (size_t i = 0; i < size; i++)
		wrong += (unsigned char)at[i] != pattern(i);
	CHECK(wrong == 0);
}

static void check(char *at, size_t size)
{
	static unsigned char vec[65536];
	size_t pages = size / PAGE;
	CHECK(pages <= sizeof vec);
	fill(at, size);
	make_calls(100);
	verify(at, size);
	CHECK(mincore(at, size, vec) == 0);
	CHECK(mprotect(at, size, PROT_READ) == 0);
	make_calls(1);
	CHECK(mprotect(at, size, RW) == 0);
	CHECK(msync(at, size, MS_ASYNC) == 0);
	CHECK(mlock(at, size) == 0 && munlock(at, size) == 0);
	CHECK(madvise(at, size, MADV_WILLNEED) == 0);
	verify(at, size);
	pid_t child = fork();
	if (child == 0) {
		verify(at, size);
		_exit(0);
	}
	reap_ok(child, 0);
	char *other = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other);
	make_calls(1);
	verify(other, size);
	CHECK_FAILS(mincore(at, size, vec), ENOMEM);
	CHECK(munmap(other, size) == 0);
	by_fixed(at, size);
	fill(at, size);
	make_calls(10);
	verify(at, size);
	CHECK(munmap(at, size) == 0);
	make_calls(1);
}

/* Each way in a child of its own, then one in this process. */
static void try_all(char *at, size_t size)
{
	for (int w = 0; w < WAYS; w++) {
		int p[2];
		CHECK(pipe(p) == 0);
		pid_t child = fork();
		if (child == 0) {
			made = 0;
			ways[w](at, size);
			check(at, size);
			CHECK(write(p[1], &made, sizeof made) == sizeof made);
			_exit(0);
		}
		long n;
		int status = reap(child);
		if (status != 0)
			dprintf(2, "way %d, address %p, %zu bytes\n", w, (void *)at, size);
		CHECK(status == 0 && read(p[0], &n, sizeof n) == sizeof n);
		made += n;
		CHECK(close(p[0]) == 0 && close(p[1]) == 0);
	}
}

/* Addresses that programs choose, for example because they look for rr, or must be below 2 GiB. */
static void test_chosen(int argc, char **argv)
{
	static const uintptr_t at[] = {0x70000000,
				       0x70001000,
				       0x70010000,
				       0x78000000,
				       0x10000,
				       0x7ffe0000,
				       0xc000000000,
				       0x100000000000,
				       0x200000000000,
				       0x540000000000,
				       0x7ffffffdf000 - (1ul << 40)};
	(void)argc;
	(void)argv;
	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		try_all((char *)at[i], i % 2 ? 5 * PAGE : 64 * PAGE);
	by_fixed((char *)0x70001000, 64 * PAGE);
	check((char *)0x70001000, 64 * PAGE);
	calls("getppid", made, 0);
}

/* All memory that MAP_32BIT can get, and a write to an address where nothing is mapped. */
static void test_low(int argc, char **argv)
{
	enum { MANY = 1024 };
	const size_t size = 1 << 20; /* smaller than a huge page, which the kernel would align */
	bool found = false;
	char *got[MANY];
	int n = 0, fd = open("/proc/self/mem", O_RDWR);
	char byte = 'x';
	struct iovec here = {&byte, 1}, there = {(void *)0x70000000, 1};
	(void)argc;
	(void)argv;
	CHECK(fd >= 0);
	for (uintptr_t at = 0x70000000; at < 0x79000000; at += 0x1000000) {
		there.iov_base = (void *)at;
		CHECK_FAILS(pwrite(fd, "x", 1, (off_t)at), EIO);
		CHECK_FAILS(process_vm_writev(getpid(), &here, 1, &there, 1, 0), EFAULT);
		make_calls(1);
	}
	while (n < MANY &&
	       (got[n] = mmap(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0)) != MAP_FAILED) {
		found |= (uintptr_t)got[n] <= 0x71000000 && (uintptr_t)got[n] + size > 0x71000000;
		fill(got[n++], 2 * PAGE);
	}
	CHECK(found);
	make_calls(100);
	for (int i = 0; i < n; i++)
		verify(got[i], 2 * PAGE);
	calls("getppid", made, 0);
}

/* The address of a mapping that a tracer has added for code near the program's own, or of any free memory. */
static char *code_page(void)
{
	char line[512], perm[8];
	unsigned long lo, hi, offset, ino, found = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu", &lo, &hi, perm, &offset, &ino) == 5 && ino == 0 &&
		    strcmp(perm, "r-xp") == 0 && strchr(line, '[') == NULL && lo >> 24 != AGENT >> 24)
			found = lo;
	fclose(f);
	if (found)
		return (char *)found;
	char *at = mmap(NULL, 1 << 20, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(munmap(at, 1 << 20) == 0);
	return at;
}

/* The agent's addresses, and those of the code that belongs to it. */
static void test_agent(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	make_calls(10);
	try_all((char *)AGENT, PAGE);
	try_all((char *)AGENT + PAGE, 64 * PAGE);
	try_all((char *)AGENT - 8 * PAGE, 16 * PAGE);
	try_all((char *)AGENT + 0x8200000, 64 * PAGE);
	try_all((char *)AGENT + 0x200000, 4 * PAGE);
	try_all(code_page(), PAGE);
	try_all(code_page() - PAGE, 2 * PAGE);
	by_fixed((char *)AGENT, 0x9000);
	check((char *)AGENT, 0x9000);
	calls("getppid", made, 0);
}

/* Ranges that contain much more than the agent. */
static void test_large(int argc, char **argv)
{
	char *at = (char *)0x550000000000;
	const size_t size = 0x4000000000;
	(void)argc;
	(void)argv;
	make_calls(10);
	for (int i = 0; i < 4; i++) {
		pid_t child = fork();
		if (child == 0) {
			if (i == 0)
				CHECK(munmap(at, size) == 0);
			else if (i == 1)
				CHECK_FAILS(mprotect(at, size, PROT_NONE), ENOMEM);
			else if (i == 2)
				CHECK_FAILS(madvise(at, size, MADV_DONTNEED), ENOMEM);
			else
				CHECK(mmap(at, size, PROT_NONE, FIXED_ANONYMOUS | MAP_NORESERVE, -1, 0) == at);
			made = 0;
			make_calls(50);
			_exit(0);
		}
		reap_ok(child, 0);
		made += 50;
	}
	calls("getppid", made, 0);
}

static int blocked[2], polled[2];
static _Atomic bool stop;
static _Atomic long counted;

static void *wait_in_read(void *arg)
{
	char byte;
	(void)arg;
	CHECK(read(blocked[0], &byte, 1) == 1 && byte == 'b');
	return NULL;
}

static void *keep_calling(void *arg)
{
	char byte;
	(void)arg;
	while (!stop) {
		syscall(SYS_getppid);
		counted++;
		CHECK(read(polled[0], &byte, 1) == -1 && errno == EAGAIN);
		sleep_us(200);
	}
	return NULL;
}

static void *come_and_go(void *arg)
{
	return arg;
}

/* Other threads wait in a call, make calls, and are created while memory is mapped over the agent. */
static void test_threads(int argc, char **argv)
{
	enum { THREADS = 6 };
	pthread_t t[THREADS];
	char *at = (char *)AGENT;
	CHECK(pipe(blocked) == 0 && pipe2(polled, O_NONBLOCK) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, i % 2 ? wait_in_read : keep_calling, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		pthread_t short_lived;
		CHECK(pthread_create(&short_lived, NULL, come_and_go, NULL) == 0);
		make_calls(20);
		CHECK(pthread_join(short_lived, NULL) == 0);
	}
	sleep_us(number(argc, argv, 0, 0) * 1000L);
	by_fixed(at, 32 * PAGE);
	fill(at, 32 * PAGE);
	for (int i = 0; i < 100; i++) {
		make_calls(5);
		sched_yield();
	}
	verify(at, 32 * PAGE);
	stop = true;
	CHECK(write(blocked[1], "bbbbbb", THREADS / 2) == THREADS / 2);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	verify(at, 32 * PAGE);
	calls("getppid", made + counted, 0);
}

static _Atomic bool child_runs;

static void *wait_in_vfork(void *arg)
{
	pid_t pid = vfork();
	if (pid == 0) {
		child_runs = true;
		sleep_us(300000);
		_exit(7);
	}
	reap_ok(pid, 7);
	return arg;
}

/* Another thread is in vfork(2), and cannot stop, while memory is mapped over the agent. */
static void test_vforked(int argc, char **argv)
{
	pthread_t t;
	(void)argc;
	(void)argv;
	make_calls(10);
	CHECK(pthread_create(&t, NULL, wait_in_vfork, NULL) == 0);
	while (!child_runs)
		sleep_us(1000);
	by_fixed((char *)AGENT, 32 * PAGE);
	fill((char *)AGENT, 32 * PAGE);
	make_calls(100);
	CHECK(pthread_join(t, NULL) == 0);
	verify((char *)AGENT, 32 * PAGE);
	calls("getppid", made, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
	syscall(SYS_getpgid, 0);
}

static void *be_busy(void *arg)
{
	char *args[] = {"true", NULL}, byte;
	pthread_t t;
	pid_t pid;
	while (!stop) {
		if (*(char *)arg == 't')
			CHECK(pthread_create(&t, NULL, come_and_go, NULL) == 0 && pthread_join(t, NULL) == 0);
		else if (*(char *)arg == 'v')
			CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, args, environ) == 0 &&
			      waitpid(pid, NULL, 0) == pid);
		else if (*(char *)arg == 'r')
			CHECK(read(blocked[0], &byte, 1) == 1);
		else
			sleep_us(50);
	}
	return NULL;
}

/* Threads come and go, spawn, wait and run signal handlers while memory is mapped over the agent. */
static void busy_child(int round)
{
	pthread_t t[4];
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 500}, {0, 500}};
	CHECK(pipe(blocked) == 0 && sigaction(SIGALRM, &sa, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, be_busy, &"tvrs"[i]) == 0);
	sleep_us(1000L * (round % 7 + 1));
	by_fixed((char *)AGENT, 32 * PAGE);
	fill((char *)AGENT, 32 * PAGE);
	make_calls(100);
	sleep_us(3000);
	stop = true;
	CHECK(write(blocked[1], "bbbb", 4) == 4);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	verify((char *)AGENT, 32 * PAGE);
	_exit(0);
}

static void test_busy(int argc, char **argv)
{
	for (int i = 0; i < number(argc, argv, 0, 15); i++, made += 100) {
		pid_t pid = fork();
		if (pid == 0)
			busy_child(i);
		reap_ok(pid, 0);
	}
	calls("getppid", made, 0);
}

static const struct test tests[] = {{"chosen", test_chosen}, {"low", test_low},         {"agent", test_agent},
				    {"large", test_large},   {"threads", test_threads}, {"vforked", test_vforked},
				    {"busy", test_busy}};
TEST_MAIN(tests)
