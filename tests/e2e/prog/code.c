/* SPDX-License-Identifier: MIT */
/* Code that appears, disappears, moves and changes, which a patching tracer must notice. */
#include "e2e.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

typedef long call_fn(long nr);

enum { AT = 64, SIZE = 4096 };

/*
 * Functions that are at offset AT in a page of code. `calling` makes the call whose number is its argument. `constant` returns
 * 42, and has different bytes at the position of the call. `four` makes the call of its first argument with the others.
 */
#ifdef __aarch64__
static const unsigned char calling[] = {0xe8, 0x03, 0, 0xaa, 0,    0,    0x80, 0xd2,      /* mov x8, x0; mov x0, #0 */
					0x01, 0,    0, 0xd4, 0xc0, 0x03, 0x5f, 0xd6};     /* svc #0; ret */
static const unsigned char constant[] = {0x40, 0x05, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6,  /* mov w0, #42; ret */
					 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5}; /* nop; nop */
static const unsigned char four[] = {0xe8, 0x03, 0,    0xaa, 0xe0, 0x03, 0x01, 0xaa,      /* mov x8, x0; mov x0, x1 */
				     0xe1, 0x03, 0x02, 0xaa, 0xe2, 0x03, 0x03, 0xaa,      /* mov x1, x2; mov x2, x3 */
				     0xe3, 0x03, 0x04, 0xaa, 0x01, 0,    0,    0xd4,      /* mov x3, x4; svc #0 */
				     0xc0, 0x03, 0x5f, 0xd6};                             /* ret */
enum { EACH = 2 /* getpgrp(3) makes getpgid(2), too */ };
#else
/* mov %edi,%eax; xor %edi,%edi; syscall; ret */
static const unsigned char calling[] = {0x89, 0xf8, 0x31, 0xff, 0x0f, 0x05, 0xc3};
/* mov $42,%eax; ret */
static const unsigned char constant[] = {0xb8, 42, 0, 0, 0, 0xc3, 0x90};
/* mov %rdi,%rax; mov %rsi,%rdi; mov %rdx,%rsi; mov %rcx,%rdx; mov %r8,%r10; syscall; ret */
static const unsigned char four[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6,
				     0x48, 0x89, 0xca, 0x4d, 0x89, 0xc2, 0x0f, 0x05, 0xc3};
enum { EACH = 1 };
#endif

/* Writes a page with this function, and no-operations of x86-64 around it. */
static void page_of(unsigned char *page, const unsigned char *code)
{
	memset(page, 0x90, SIZE);
	memcpy(page + AT, code, sizeof calling);
	__builtin___clear_cache((char *)page, (char *)page + SIZE);
}

static int file_of(const char *name, const unsigned char *code)
{
	unsigned char page[SIZE];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	page_of(page, code);
	CHECK(fd >= 0 && write(fd, page, SIZE) == SIZE);
	return fd;
}

static long call_at(void *page, long nr)
{
	return ((call_fn *)((char *)page + AT))(nr);
}

/* How often the test made the call. */
static long made;

static void use(void *page, int n)
{
	for (int i = 0; i < n; i++) {
		CHECK(call_at(page, SYS_getppid) == getppid());
		made++;
	}
}

static void print_calls(void)
{
	calls("getppid", 2 * made, 0);
}

/*
 * The program writes code at run time and overwrites it in place: first while the page is both writable and
 * executable, then while mprotect(2) makes it writable and executable in turn.
 */
static void test_jit(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	unsigned char *page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	for (int i = 0; i < n; i++) {
		page_of(page, calling);
		use(page, 5);
		page_of(page, constant);
		CHECK(call_at(page, 0) == 42);
	}
	for (int i = 0; i < n; i++) {
		CHECK(mprotect(page, SIZE, PROT_READ | PROT_WRITE) == 0);
		page_of(page, calling);
		CHECK(mprotect(page, SIZE, PROT_READ | PROT_EXEC) == 0);
		use(page, 5);
		CHECK(mprotect(page, SIZE, PROT_READ | PROT_WRITE) == 0);
		CHECK(memcmp(page + AT, calling, sizeof calling) == 0);
		page_of(page, constant);
		CHECK(mprotect(page, SIZE, PROT_READ | PROT_EXEC) == 0);
		CHECK(call_at(page, 0) == 42);
	}
	print_calls();
}

/* A JIT with two views of the same memory: it writes to one and executes the other. */
static void test_jit_views(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100), fd = memfd_create("jit", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, SIZE) == 0);
	unsigned char *write_here = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned char *run_there = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CHECK(write_here != MAP_FAILED && run_there != MAP_FAILED);
	for (int i = 0; i < n; i++) {
		page_of(write_here, calling);
		use(run_there, 5);
		CHECK(memcmp(write_here + AT, calling, sizeof calling) == 0);
		page_of(write_here, constant);
		CHECK(call_at(run_there, 0) == 42);
	}
	print_calls();
}

static void *map(int fd, void *where, int flags)
{
	void *p = mmap(where, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | flags, fd, 0);
	CHECK(p != MAP_FAILED);
	return p;
}

/* The program maps and unmaps files with code, and maps others in their place. */
static void test_remap(int argc, char **argv)
{
	int n = number(argc, argv, 0, 50), a = file_of("calling", calling), b = file_of("constant", constant);
	void *p = map(a, NULL, 0);
	for (int i = 0; i < n; i++) {
		use(p, 20);
		CHECK(munmap(p, SIZE) == 0);
		map(b, p, MAP_FIXED);
		CHECK(call_at(p, 0) == 42);
		map(a, p, MAP_FIXED);
		use(p, 20);
		map(b, p, MAP_FIXED);
		CHECK(call_at(p, 0) == 42);
		map(a, p, MAP_FIXED);
	}
	print_calls();
}

/*
 * The program moves mappings to free addresses and over other mappings, and then maps different code at the old
 * addresses.
 */
static void test_mremap(int argc, char **argv)
{
	int n = number(argc, argv, 0, 50), a = file_of("calling", calling), b = file_of("constant", constant);
	char *area = mmap(NULL, 16 * (size_t)page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(area != MAP_FAILED);
	void *p = map(a, area, MAP_FIXED);
	for (int i = 0; i < n; i++) {
		use(p, 20);
		char *to = area + (1 + i % 15) * page_size();
		if (to == p)
			continue;
		map(b, to, MAP_FIXED);
		CHECK(call_at(to, 0) == 42);
		CHECK(mremap(p, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
		use(to, 20);
		map(b, p, MAP_FIXED);
		CHECK(call_at(p, 0) == 42);
		p = to;
	}
	print_calls();
}

/* The program cannot read the page, and on most processors the kernel cannot read it for the program either. */
static void test_execute_only(int argc, char **argv)
{
	const int n = number(argc, argv, 0, 50), fd = file_of("calling", calling);
	void *p = mmap(NULL, SIZE, PROT_EXEC, MAP_PRIVATE, fd, 0), *q = map(fd, NULL, 0);
	CHECK(p != MAP_FAILED && mprotect(q, SIZE, PROT_EXEC) == 0);
	use(p, n);
	use(q, n);
	print_calls();
}

#ifdef __aarch64__
static sigjmp_buf refused;

static void on_refused(int sig)
{
	siglongjmp(refused, sig);
}

/*
 * The page is protected by branch target identification: an indirect call must lead to an instruction that permits it.
 * Its function also signs the address to which it returns.
 */
static void test_protected(int argc, char **argv)
{
	static const uint32_t code[] = {0xd50324df, 0xd503233f,             /* bti jc; paciasp */
					0xaa0003e8, 0xd2800000, 0xd4000001, /* mov x8, x0; mov x0, #0; svc #0 */
					0xd50323bf, 0xd65f03c0};            /* autiasp; ret */
	const bool enforced = getauxval(AT_HWCAP2) & 1 << 17;               /* HWCAP2_BTI */
	const int prot = PROT_READ | PROT_EXEC | (enforced ? 0x10 : 0), fd = file_of("calling", calling); /* PROT_BTI */
	CHECK(pwrite(fd, code, sizeof code, AT) == sizeof code);
	char *p = mmap(NULL, SIZE, prot, MAP_PRIVATE, fd, 0);
	CHECK(p != MAP_FAILED && signal(SIGILL, on_refused) != SIG_ERR);
	for (volatile int i = 0; i < number(argc, argv, 0, 50); i++) {
		use(p, 5);
		if (enforced && sigsetjmp(refused, 1) == 0)
			CHECK(call_at(p + 8, SYS_getppid) == -1); /* does not return */
	}
	print_calls();
}
#else
/* The function begins with the landing pad of indirect branch tracking, which user space does not enforce yet. */
static void test_protected(int argc, char **argv)
{
	static const unsigned char pad[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	const int fd = file_of("calling", calling);
	CHECK(pwrite(fd, pad, sizeof pad, AT) == sizeof pad &&
	      pwrite(fd, calling, sizeof calling, AT + sizeof pad) == sizeof calling);
	use(map(fd, NULL, 0), number(argc, argv, 0, 50));
	print_calls();
}
#endif

/* The program makes a private file mapping writable, changes it, and makes it executable again. */
static void test_mprotect(int argc, char **argv)
{
	int n = number(argc, argv, 0, 50), a = file_of("calling", calling);
	unsigned char *p = map(a, NULL, 0);
	for (int i = 0; i < n; i++) {
		use(p, 20);
		CHECK(mprotect(p, SIZE, PROT_READ | PROT_WRITE) == 0);
		page_of(p, constant);
		CHECK(mprotect(p, SIZE, PROT_READ | PROT_EXEC) == 0);
		CHECK(call_at(p, 0) == 42);
		CHECK(mprotect(p, SIZE, PROT_NONE) == 0 && mprotect(p, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
		page_of(p, calling);
		use(p, 20);
		CHECK(mprotect(p, SIZE, PROT_READ | PROT_EXEC) == 0);
	}
	print_calls();
}

/* MADV_DONTNEED discards private changes of the mapping, also a patch: the file's code must be traced again. */
static void test_madvise(int argc, char **argv)
{
	int n = number(argc, argv, 0, 50), a = file_of("calling", calling);
	unsigned char *p = map(a, NULL, 0);
	for (int i = 0; i < n; i++) {
		use(p, 20);
		CHECK(madvise(p, SIZE, MADV_DONTNEED) == 0);
		use(p, 20);
	}
	print_calls();
}

/*
 * The program maps the same file many times. The parent and its children use the mappings, and the children unmap them.
 */
static void test_fork(int argc, char **argv)
{
	int n = number(argc, argv, 0, 20), a = file_of("calling", calling), b = file_of("constant", constant);
	void *p = map(a, NULL, 0), *q = map(a, NULL, 0);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			for (int k = 0; k < 10; k++)
				CHECK(call_at(p, SYS_getpgid) == getpgrp());
			CHECK(munmap(p, SIZE) == 0);
			map(b, p, MAP_FIXED);
			CHECK(call_at(p, 0) == 42);
			CHECK(call_at(q, SYS_getpgid) == getpgrp());
			_exit(3);
		}
		use(p, 5);
		use(q, 5);
		reap_ok(pid, 3);
	}
	print_calls();
}

/*
 * Call sites that are first used while another thread forks. `used` counts the calls at these sites, including those of
 * children.
 */
enum { NEW_SITES = 800 };
struct news {
	_Atomic long used, mapped;
	void *page[NEW_SITES];
};

static void *make_news(void *arg)
{
	struct news *n = arg;
	int a = file_of("calling", calling);
	for (long i = 0; i < NEW_SITES; i++) {
		n->page[i] = map(a, NULL, 0);
		n->mapped = i + 1;
		CHECK(call_at(n->page[i], SYS_getppid) == getppid());
		n->used++;
	}
	return NULL;
}

/* fork(2) may copy the memory before a site is patched in the parent. The child must be able to use the site. */
static void test_fork_news(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct news *n = mmap(NULL, sizeof *n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	CHECK(n != MAP_FAILED && pthread_create(&thread, NULL, make_news, n) == 0);
	for (int i = 0; n->mapped < NEW_SITES && i < 1000; i++) {
		long there = n->mapped; /* the child may lack sites that were mapped later */
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			for (long k = there > 3 ? there - 3 : 0; k < there; k++) {
				CHECK(call_at(n->page[k], SYS_getppid) == getppid());
				n->used++;
			}
			_exit(0);
		}
		int status;
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	CHECK(pthread_join(thread, NULL) == 0);
	calls("getppid", 2 * n->used, 0);
}

static void plug_path(char *path, int which)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	CHECK(n > 0);
	exe[n] = 0;
	snprintf(path, PATH_MAX, "%.4000s/plug%d.so", dirname(exe), which);
}

/* Libraries that are loaded and unloaded at the same address. Each contains a different call. */
static void test_dlopen(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		plug_path(path, 1 + i % 2);
		void *lib = dlopen(path, RTLD_NOW);
		CHECK(lib != NULL);
		call_fn *call = (call_fn *)dlsym(lib, "plug_call");
		int (*id)(void) = (int (*)(void))dlsym(lib, "plug_id");
		CHECK(call != NULL && id != NULL && id() == 1 + i % 2);
		for (int k = 0; k < 10; k++)
			CHECK(call(SYS_getpgid) == getpgrp());
		CHECK(dlclose(lib) == 0);
	}
	calls("getpgid", 10L * n * EACH, 0);
}

/* Compares the code at `from`, read directly and through /proc/self/mem, with its file, as copy protections do. */
static void compare_with_file(const char *name, unsigned long from, unsigned long to, unsigned long offset)
{
	static unsigned char file[1 << 20], mem[1 << 20];
	int fd = open(name, O_RDONLY | O_CLOEXEC), own = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && own >= 0);
	for (; from < to; from += sizeof file, offset += sizeof file) {
		size_t n = to - from < sizeof file ? to - from : sizeof file;
		ssize_t got = pread(fd, file, n, offset);
		CHECK(got > 0);
		CHECK(memcmp((void *)from, file, got) == 0);
		CHECK(pread(own, mem, got, from) == got && memcmp(mem, file, got) == 0);
	}
	close(fd);
	close(own);
}

static void test_own_code(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 50; i++) {
		struct stat st;
		syscall(SYS_getppid);
		stat("/", &st);
		sleep_us(1);
	}
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4600], perms[8], name[4096];
	int compared = 0;
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f) != NULL) {
		unsigned long from, to, offset;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &from, &to, perms, &offset, name) == 5 &&
		    strcmp(perms, "r-xp") == 0 && name[0] == '/' && access(name, R_OK) == 0) {
			compare_with_file(name, from, to, offset);
			compared++;
		}
	}
	CHECK(compared >= 2);
	puts("own code untouched");
}

/*
 * A second mapping of the C library's code, which is read and never executed, as Valgrind maps its client's libraries.
 * It must stay equal to the file, also in a child and after calls from generated code.
 */
static void test_read_code(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	Dl_info lib;
	CHECK(dladdr((void *)getppid, &lib) != 0);
	int fd = open(lib.dli_fname, O_RDONLY | O_CLOEXEC);
	struct stat st;
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	size_t size = (size_t)st.st_size & ~(size_t)(SIZE - 1);
	char *copy = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	unsigned char *page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(copy != MAP_FAILED && page != MAP_FAILED);
	page_of(page, calling);
	for (int i = 0; i < 3; i++) {
		use(page, 3);
		pid_t pid = fork();
		if (pid == 0) {
			CHECK(call_at(page, SYS_getpgid) == getpgrp());
			compare_with_file(lib.dli_fname, (unsigned long)copy, (unsigned long)copy + size, 0);
			_exit(3);
		}
		reap_ok(pid, 3);
	}
	compare_with_file(lib.dli_fname, (unsigned long)copy, (unsigned long)copy + size, 0);
	print_calls();
}

static void use_crowd(void *lib, int i)
{
	const char *first = dlsym(lib, "crowd_0"), *second = dlsym(lib, "crowd_1");
	CHECK(first != NULL && second != NULL);
	call_fn *f = (call_fn *)(first + i * (second - first));
	CHECK(f(SYS_getpgid) == getpgrp() + i);
	made++;
}

/*
 * Programs that make different subsets of the calls: what sctrace learned from one program must be correct for the
 * others.
 */
static void test_crowd(int argc, char **argv)
{
	static const char *const some[] = {"0 1", "2 0", "3 4 5", "1 6", "7 8 9", "5 10 2", "11 0", "9 7 3 1", NULL};
	char path[PATH_MAX];
	plug_path(path, 1);
	void *lib = dlopen(path, RTLD_NOW);
	CHECK(lib != NULL);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < argc; i++)
			use_crowd(lib, atoi(argv[i]));
	for (int i = 0; argc == 0 && some[i]; i++) {
		char *args[] = {"code", "crowd", NULL, NULL, NULL, NULL, NULL}, words[20];
		int n = 2;
		strcpy(words, some[i]);
		for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
			args[n++] = w;
		made += 2 * (n - 2);
		pid_t pid = fork();
		if (pid == 0) {
			execv("/proc/self/exe", args);
			_exit(99);
		}
		reap_ok(pid, 0);
	}
	if (argc == 0)
		calls("getpgid", made * EACH, 0);
}

static void on_sigsys(int sig)
{
	(void)sig;
}

static void *call_forever(void *page)
{
	for (;;)
		call_at(page, SYS_getpgid);
	return NULL;
}

/* If a call that cannot be patched sets the action for SIGSYS, it must return the former action. */
static void test_old_action(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	typedef long call4_fn(long nr, long sig, const void *action, void *old, long size);
	struct {
		uint64_t handler, flags, restorer, mask;
	} action = {.flags = SA_NODEFER}, old;
	void *page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	memcpy(page, four, sizeof four);
	__builtin___clear_cache(page, (char *)page + SIZE);
	for (uint64_t i = 0; i < 10; i++) {
		memset(&old, 0xff, sizeof old);
		action.handler = (i + 1) * 0x1000;
		CHECK(((call4_fn *)page)(SYS_rt_sigaction, SIGSYS, &action, &old, 8) == 0);
		CHECK(old.handler == i * 0x1000);
	}
	puts("former actions returned");
}

/* SIGKILL ends several threads during calls that cannot be patched, while the program handles SIGSYS. */
static void test_killed(int argc, char **argv)
{
	int n = number(argc, argv, 0, 40);
	unsigned seed = 1;
	unsigned char *page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	page_of(page, calling);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			const struct sigaction action = {.sa_handler = on_sigsys};
			sigset_t set;
			pthread_t t;
			sigemptyset(&set);
			sigaddset(&set, SIGSYS);
			CHECK(sigaction(SIGSYS, &action, NULL) == 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
			for (int k = 0; k < 2; k++)
				CHECK(pthread_create(&t, NULL, call_forever, page) == 0);
			call_forever(page);
		}
		seed = seed * 1103515245 + 12345;
		sleep_us(2000 + seed / 65536 % 8000);
		CHECK(kill(pid, SIGKILL) == 0);
		int status = reap(pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	puts("all killed");
}

static const struct test tests[] = {
	{"jit", test_jit},
	{"jit_views", test_jit_views},
	{"remap", test_remap},
	{"mremap", test_mremap},
	{"mprotect", test_mprotect},
	{"execute_only", test_execute_only},
	{"protected", test_protected},
	{"madvise", test_madvise},
	{"fork", test_fork},
	{"fork_news", test_fork_news},
	{"dlopen", test_dlopen},
	{"own_code", test_own_code},
	{"read_code", test_read_code},
	{"crowd", test_crowd},
	{"killed", test_killed},
	{"old_action", test_old_action},
};
TEST_MAIN(tests)
