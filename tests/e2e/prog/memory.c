/* SPDX-License-Identifier: MIT */
/*
 * Makes calls with invalid pointers, strings without an end, vectors of any length, and memory that changes during the
 * call; and with little stack, and memory at low addresses.
 */
#include "e2e.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>

/* Maps a page that is followed by an unmapped page. */
static char *last_page(int prot)
{
	const long size = page_size();
	char *two = mmap(NULL, 2 * (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(two != MAP_FAILED);
	memset(two, 'a', (size_t)size);
	if (prot == 0)
		CHECK(mprotect(two + size, (size_t)size, PROT_NONE) == 0);
	else
		CHECK(munmap(two + size, (size_t)size) == 0);
	return two;
}

/* Invalid pointers in each kind of argument cause the same errors as without a tracer. */
static void test_efault(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char *page = last_page(0), *end = page + page_size();
	long bad[] = {1,  4095,  (long)end,      (long)end - 3, (long)0x8000000000000000ul,
		      -1, -4096, 0x7ffffffff000, 0x800000000000};
	int fds[2], sock[2];
	CHECK(pipe(fds) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sock) == 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		long p = bad[i];
		memset(page, 'a', (size_t)(end - page));
		CHECK_FAILS(syscall(SYS_openat, AT_FDCWD, p, O_RDONLY), EFAULT);
		CHECK_FAILS(syscall(SYS_execve, p, NULL, NULL), EFAULT);
		CHECK_FAILS(syscall(SYS_renameat2, AT_FDCWD, "/", AT_FDCWD, p, 0), EFAULT);
		CHECK_FAILS(syscall(SYS_mount, p, "/", "x", 0, NULL), EFAULT);
		CHECK_FAILS(syscall(SYS_readlinkat, AT_FDCWD, p, page, 10), EFAULT);
		CHECK_FAILS(syscall(SYS_newfstatat, AT_FDCWD, "/", p, 0), EFAULT);
		CHECK_FAILS(syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_BASIC_STATS, p), EFAULT);
		CHECK_FAILS(syscall(SYS_nanosleep, p, NULL), EFAULT);
		CHECK_FAILS(syscall(SYS_uname, p), EFAULT);
		CHECK_FAILS(syscall(SYS_getrlimit, RLIMIT_NOFILE, p), EFAULT);
		CHECK_FAILS(syscall(SYS_writev, fds[1], p, 2), EFAULT);
#ifdef SYS_poll /* newer architectures have neither of these calls */
		CHECK_FAILS(syscall(SYS_poll, p, 2, 0), EFAULT);
		CHECK_FAILS(syscall(SYS_pipe, p), EFAULT);
#endif
		CHECK_FAILS(syscall(SYS_rt_sigaction, SIGUSR1, p, NULL, 8), EFAULT);
		CHECK_FAILS(syscall(SYS_rt_sigprocmask, SIG_BLOCK, p, NULL, 8), EFAULT);
		CHECK_FAILS(syscall(SYS_connect, sock[0], p, 110), EFAULT);
		CHECK_FAILS(syscall(SYS_sendmsg, sock[0], p, 0), EFAULT);
		CHECK_FAILS(syscall(SYS_execve, "/bin/true", p, NULL), EFAULT);
		CHECK_FAILS(syscall(SYS_clone3, p, 88), EFAULT);
		CHECK_FAILS(syscall(SYS_epoll_ctl, 0, EPOLL_CTL_ADD, 1, p), EFAULT);
		CHECK_FAILS(syscall(SYS_write, fds[1], p == (long)end - 3 ? (long)end : p, 5), EFAULT);
	}
	puts("as the kernel says");
}

/* Strings end at the end of mapped memory, or have no end. */
static void test_strings(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int prot = 0; prot < 2; prot++) {
		char *end = last_page(prot) + page_size();
		memcpy(end - 10, "/dev/null", 10);
		int fd = open(end - 10, O_RDONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK_FAILS(open(end - 9, O_RDONLY), ENOENT);
		end[-1] = 'l';
		CHECK_FAILS(syscall(SYS_openat, AT_FDCWD, end - 10, O_RDONLY), EFAULT);
		CHECK_FAILS(syscall(SYS_openat, AT_FDCWD, end - 3996, O_RDONLY), EFAULT); /* less than PATH_MAX */
		CHECK(write(fd, "", 0) == -1);
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		CHECK(write(null, end - 1, 1) == 1);
		close(null);
		close(fd);
	}
	char *endless = malloc(1 << 20);
	memset(endless, '/', 1 << 20);
	CHECK_FAILS(syscall(SYS_openat, AT_FDCWD, endless, O_RDONLY), ENAMETOOLONG);
	CHECK_FAILS(mkdir(endless, 0700), ENAMETOOLONG);
	puts("ends met");
}

/* Mappings beyond the end of a file cause SIGBUS in the program and EFAULT in the kernel. */
static void test_beyond(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	int fd = memfd_create("short", MFD_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC), fds[2];
	CHECK(fd >= 0 && ftruncate(fd, 100) == 0 && pipe(fds) == 0);
	const long size = page_size();
	char *p = mmap(NULL, 4 * (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	CHECK_FAILS(open(p + 2 * size, O_RDONLY), EFAULT);
	CHECK_FAILS(write(fds[1], p + size, 100), EFAULT);
	CHECK_FAILS(syscall(SYS_nanosleep, p + size - 4, NULL), EFAULT);
	CHECK_FAILS(open(p, O_RDONLY), ENOENT);
	close(null);
	puts("beyond the end");
}

/* Vectors without elements, with many, with too many, and with invalid elements. */
static void test_vectors(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	static struct iovec v[5000];
	static char c[5000];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), fds[2];
	CHECK(pipe(fds) == 0);
	for (int i = 0; i < 5000; i++)
		v[i] = (struct iovec){&c[i], 1};
	CHECK(writev(null, v, 0) == 0 && writev(null, v, 1) == 1 && writev(null, v, 1024) == 1024);
	CHECK_FAILS(writev(null, v, 1025), EINVAL);
	CHECK_FAILS(syscall(SYS_writev, null, v, -1), EINVAL);
	CHECK(syscall(SYS_writev, null, v, 1L << 40) == 0);
	v[3].iov_len = -1;
	CHECK_FAILS(writev(null, v, 10), EINVAL);
	v[3].iov_len = 1;
	v[2].iov_base = (void *)8;
	CHECK_FAILS(writev(fds[1], v, 5), EFAULT);
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 1L << 60};
	CHECK_FAILS(sendmsg(fds[1], &m, 0), ENOTSOCK);
	CHECK_FAILS(syscall(SYS_ppoll, v, 1u << 31, NULL, NULL, 0), EINVAL);
	calls("writev", 8, 4);
}

static char path[2][64] = {"/nonexistent/one", "/nonexistent/a/much/longer/one"};
static char moving[64];
static volatile int stop_now;

static void *rewrite(void *arg)
{
	for (int i = 0; !stop_now; i++)
		memcpy(moving, path[i & 1], 64);
	return arg;
}

/* Another thread rewrites the arguments continuously. */
static void test_moving(int argc, char **argv)
{
	int n = number(argc, argv, 0, 2000);
	pthread_t t;
	memcpy(moving, path[0], 64);
	CHECK(pthread_create(&t, NULL, rewrite, NULL) == 0);
	for (int i = 0; i < n; i++)
		CHECK(open(moving, O_RDONLY) == -1);
	stop_now = 1;
	CHECK(pthread_join(t, NULL) == 0);
	puts("moved");
}

/* execve without arguments, with many and with huge ones, and with names that are not text. */
static void test_exec_args(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	static char *many[20001], big[100000];
	for (int i = 0; i < 20000; i++)
		many[i] = "argument";
	memset(big, 'b', sizeof big - 1);
	char *few[] = {"\x1b[31mred\n", big, "\xff\xfe", NULL}, *none[] = {NULL};
	char *const *sets[] = {many, few, none};
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			execve("/bin/true", sets[i], none);
			_exit(1);
		}
		reap_ok(pid, 0);
	}
	puts("executed");
}

/*
 * Truncates all memory that is shared with the tracer. The tracer must not be killed when it then reads this memory.
 * The truncation needs privileges to succeed.
 */
static void test_cut(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char line[512], path[128];
	unsigned long lo, hi;
	FILE *f = fopen("/proc/self/maps", "r");
	CHECK(f);
	while (fgets(line, sizeof line, f)) {
		if (!strstr(line, "/memfd:") || sscanf(line, "%lx-%lx", &lo, &hi) != 2)
			continue;
		snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", lo, hi);
		int fd = open(path, O_RDWR);
		if (fd >= 0 && ftruncate(fd, 0) == 0)
			close(fd);
	}
	fclose(f);
	for (int i = 0; i < 100; i++)
		getppid();
	puts("cut");
}

/* Makes calls with more different numbers than a tracer can keep rows for. */
static void test_numbers(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (long i = 0; i < 6000; i++)
		CHECK(syscall(100000 + i) == -1 && errno == ENOSYS);
	puts("none of them");
}

/*
 * The program handles its own page faults: an argument is in a page that is still missing, and the thread that fills in
 * this page makes calls.
 */
static void *serve_faults(void *arg)
{
	int fd = *(int *)arg;
	static char page[1 << 16] __attribute__((aligned(1 << 16)));
	const size_t size = (size_t)page_size();
	struct uffd_msg msg;
	while (read(fd, &msg, sizeof msg) == sizeof msg) {
		struct uffdio_copy copy = {
			.dst = msg.arg.pagefault.address & -size, .src = (uintptr_t)page, .len = size};
		strcpy(page, "/dev/null");
		getppid();
		CHECK(ioctl(fd, UFFDIO_COPY, &copy) == 0);
	}
	return NULL;
}

static int open_userfault(bool device)
{
	int dev = device ? open("/dev/userfaultfd", O_RDWR | O_CLOEXEC) : -1;
	return device ? ioctl(dev, USERFAULTFD_IOC_NEW, O_CLOEXEC) : (int)syscall(SYS_userfaultfd, O_CLOEXEC);
}

static void test_userfault(int argc, char **argv)
{
	enum { PAGES = 16 };
	const size_t size = (size_t)page_size();
	struct uffdio_api api = {.api = UFFD_API};
	bool device = argc > 0 && strcmp(argv[0], "device") == 0;
	int p[2], fd = open_userfault(device);
	pthread_t t;
	if (fd < 0) {
		puts("not allowed");
		return;
	}
	char *m = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register area = {{(uintptr_t)m, PAGES * size}, UFFDIO_REGISTER_MODE_MISSING, 0};
	CHECK(m != MAP_FAILED && pipe(p) == 0);
	CHECK(ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &area) == 0);
	CHECK(pthread_create(&t, NULL, serve_faults, &fd) == 0);
	for (int i = 0; i < PAGES; i += 2) {
		char got[10];
		CHECK(write(p[1], m + (size_t)i * size, 10) == 10 && read(p[0], got, 10) == 10);
		CHECK(strcmp(got, "/dev/null") == 0);
		int file = open(m + (size_t)(i + 1) * size, O_RDONLY);
		CHECK(file >= 0 && close(file) == 0);
	}
	if (argc == 0 || device)
		calls("getppid", PAGES, 0);
	_exit(0);
}

#define AGENT 0x553670000000 /* where the patch engine puts its agent (src/engine/patch/code/agent.h) */

/* Accesses memory where this program has no mapping. */
static void test_unmapped(int argc, char **argv)
{
	const size_t size = (size_t)page_size();
	unsigned char vec[2];
	char *at = (char *)AGENT;
	(void)argc;
	(void)argv;
	for (int i = 0; i < 3; i++, at += size * (size_t)i) {
		CHECK(mprotect(at, size, PROT_READ) == -1 && errno == ENOMEM);
		CHECK(madvise(at, size, MADV_DONTNEED) == -1 && errno == ENOMEM);
		CHECK(mincore(at, size, vec) == -1 && errno == ENOMEM);
		CHECK(msync(at, size, MS_ASYNC) == -1 && errno == ENOMEM);
		CHECK(mlock(at, size) == -1 && errno == ENOMEM);
		CHECK(mremap(at, size, 2 * size, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
		CHECK(mprotect(at + 1, size, PROT_READ) == -1 && errno == EINVAL);
		CHECK(munmap(at, size) == 0);
		syscall(SYS_getppid);
	}
	calls("getppid", 3, 0);
}

enum { GUARD = 1 << 16 /* the largest page */, STACK = 131072 /* PTHREAD_STACK_MIN of glibc for aarch64 */ };
static char *guarded; /* a stack with a guard page below it */
static sigjmp_buf overflowed;
static volatile long overflow_calls;

static void on_overflow(int sig, siginfo_t *si, void *context)
{
	const char *at = si->si_addr;
	(void)context;
	siglongjmp(overflowed, sig == SIGSEGV && at >= guarded && at < guarded + GUARD ? 1 : 2);
}

/* Each call has its string on the stack. The string of the last call ends at the last byte of the stack. */
static int overflow(int depth)
{
	char name[64] = "not/there";
	CHECK(syscall(SYS_truncate, name, depth) < 0);
	overflow_calls++;
	return depth < 0 ? 0 : overflow(depth + 1) + name[0];
}

static void *overflow_in_thread(void *arg)
{
	stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction act = {.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	CHECK(sigaltstack(&other, NULL) == 0 && sigaction(SIGSEGV, &act, NULL) == 0);
	int how = sigsetjmp(overflowed, 1);
	if (how == 0)
		overflow(0);
	CHECK(how == 1);
	other.ss_flags = SS_DISABLE;
	CHECK(sigaltstack(&other, NULL) == 0);
	free(other.ss_sp);
	return arg;
}

/*
 * Recursion until the stack is full. As without a tracer, a call is possible as long as the frame of its caller fits.
 */
static void test_overflow(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t;
	(void)argc, (void)argv;
	guarded = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(guarded != MAP_FAILED && mprotect(guarded, GUARD, PROT_NONE) == 0);
	pthread_attr_init(&attr);
	CHECK(pthread_attr_setstack(&attr, guarded + GUARD, STACK) == 0);
	for (int i = 0; i < 10; i++)
		CHECK(pthread_create(&t, &attr, overflow_in_thread, NULL) == 0 && pthread_join(t, NULL) == 0);
	calls("truncate", overflow_calls, overflow_calls);
}

typedef int clock_fn(clockid_t clock, struct timespec *t);

/* Reads a clock of the process, for which the vDSO makes a call. */
static long use_clock(clock_fn *fn, long n)
{
	struct timespec before = {0}, t;
	for (long i = 0; i < n; i++, before = t)
		CHECK(fn(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 &&
		      (t.tv_sec > before.tv_sec || (t.tv_sec == before.tv_sec && t.tv_nsec >= before.tv_nsec)));
	return n;
}

/* Sets the range of the vDSO. Returns false if there is none. */
static bool find_vdso(char **at, size_t *size)
{
	char line[512];
	uintptr_t lo, hi;
	FILE *maps = fopen("/proc/self/maps", "re");
	*at = NULL;
	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, " [vdso]\n") && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &lo, &hi) == 2)
			*at = (char *)lo, *size = hi - lo; /* NOLINT(performance-no-int-to-ptr) */
	if (maps)
		fclose(maps);
	return *at != NULL;
}

/* The vDSO's calls, also in a child, and after the program has made the vDSO writable and has moved it. */
static void test_vdso(int argc, char **argv)
{
	enum { CODE = 256, CALLS = 50 };
	unsigned char code[CODE];
	char *vdso;
	size_t size = 0;
	long made = 0;
	void *object = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	char *fn = object ? dlsym(object, "__vdso_clock_gettime") : NULL;
	fn = object && !fn ? dlsym(object, "__kernel_clock_gettime") : fn;
	bool found = find_vdso(&vdso, &size) && fn;
	fn = found ? fn : dlsym(RTLD_DEFAULT, "clock_gettime");
	memcpy(code, fn, CODE);
	for (int i = 0; i < number(argc, argv, 0, 5); i++) {
		made += use_clock((clock_fn *)(void *)fn, CALLS);
		pid_t pid = fork();
		if (pid == 0)
			_exit(use_clock((clock_fn *)(void *)fn, CALLS) != CALLS);
		reap_ok(pid, 0);
		made += CALLS;
		if (!found)
			continue;
		/* Since Linux 6.16, the kernel may refuse these two. */
		if (mprotect(vdso, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
			CHECK(memcmp(code, fn, CODE) == 0);
			made += use_clock((clock_fn *)(void *)fn, CALLS);
			CHECK(memcmp(code, fn, CODE) == 0 && mprotect(vdso, size, PROT_READ | PROT_EXEC) == 0);
		}
		made += use_clock((clock_fn *)(void *)fn, CALLS);
		char *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mremap(vdso, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
			continue;
		made += use_clock((clock_fn *)(void *)(to + (fn - vdso)), CALLS);
		CHECK(mremap(to, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, vdso) == vdso);
	}
	calls("clock_gettime", made, 0);
}

/* Makes calls with little stack: `left` bytes above a page that must not be accessed. */
static volatile long low_result;

static void *low_stack(void *arg)
{
	const long left = (intptr_t)arg, size = page_size();
	char *area = mmap(NULL, 3 * (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(area != MAP_FAILED && mprotect(area, (size_t)size, PROT_NONE) == 0);
	char *sp = area + size + left;
	for (int i = 0; i < 50; i++) {
#ifdef __aarch64__
		register long result __asm__("x0") = 0, nr __asm__("x8") = SYS_getppid;
		__asm__ volatile("mov x20, sp; mov sp, %1; svc #0; mov sp, x20"
				 : "+r"(result)
				 : "r"(sp), "r"(nr)
				 : "x20", "memory");
#else
		long result;
		__asm__ volatile("mov %%rsp, %%rbx; mov %2, %%rsp; syscall; mov %%rbx, %%rsp"
				 : "=a"(result)
				 : "a"(SYS_getppid), "r"(sp)
				 : "rbx", "rcx", "r11", "memory");
#endif
		CHECK(result > 0);
		low_result = result;
	}
	return NULL;
}

static void test_low_stack(int argc, char **argv)
{
	pthread_t t;
	CHECK(pthread_create(&t, NULL, low_stack, (void *)(intptr_t)number(argc, argv, 0, 1024)) == 0);
	CHECK(pthread_join(t, NULL) == 0);
	calls("getppid", 50, 0);
}

#ifdef __aarch64__
enum { SMALLEST_STACK = 131072 };
#else
enum { SMALLEST_STACK = 16384 };
#endif

static int recurse(int depth)
{
	volatile char room[64];
	room[0] = (char)depth;
	if (syscall(SYS_getppid) <= 0)
		return 0;
	return depth == 0 ? 1 : recurse(depth - 1) + (room[0] == (char)depth ? 0 : 100);
}

static void *recurse_in_thread(void *arg)
{
	CHECK(recurse((int)(intptr_t)arg) == 1);
	return NULL;
}

/* Makes calls during deep recursion, on the smallest permitted stack of a thread. */
static void test_recursion(int argc, char **argv)
{
	int depth = number(argc, argv, 0, 60);
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	CHECK(pthread_attr_setstacksize(&attr, SMALLEST_STACK) == 0);
	for (int i = 0; i < 20; i++) {
		pthread_t t;
		CHECK(pthread_create(&t, &attr, recurse_in_thread, (void *)(intptr_t)depth) == 0);
		CHECK(pthread_join(t, NULL) == 0);
	}
	calls("getppid", 20L * (depth + 1), 0);
}

/* Maps memory at low addresses, as emulators do. */
static void test_low_memory(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char *p = mmap((void *)0x10000, 0x100000, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(p == (char *)0x10000);
	memset(p, 1, 0x100000);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	CHECK(p[0xfffff] == 1 && munmap(p, 0x100000) == 0);
	p = mmap((void *)0x7fff8000, 0x10000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(p == (char *)0x7fff8000);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	calls("getppid", 200, 0);
}

static const struct test tests[] = {
	{"efault", test_efault},
	{"strings", test_strings},
	{"beyond", test_beyond},
	{"vectors", test_vectors},
	{"moving", test_moving},
	{"exec_args", test_exec_args},
	{"cut", test_cut},
	{"numbers", test_numbers},
	{"userfault", test_userfault},
	{"unmapped", test_unmapped},
	{"overflow", test_overflow},
	{"vdso", test_vdso},
	{"low_stack", test_low_stack},
	{"recursion", test_recursion},
	{"low_memory", test_low_memory},
};
TEST_MAIN(tests)
