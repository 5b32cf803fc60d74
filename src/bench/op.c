/* SPDX-License-Identifier: MIT */
#include "bench/op.h"

#include "base/buf.h"
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Operations of `bench syscall` on files, pipes and memory. */
#define FILE_BYTES  (1 << 20)
#define FAULT_BYTES (4 << 20)

static int cannot(struct buf *why, const char *what)
{
	int err = errno;
	buf_addf(why, "%s: %s", what, strerror(err));
	return -err;
}

static int open_device(struct op_state *s, const char *path, int flags, struct buf *why)
{
	s->fd = open(path, flags | O_CLOEXEC);
	return s->fd < 0 ? cannot(why, path) : 0;
}

static int open_zero(struct op_state *s, struct buf *why)
{
	return open_device(s, "/dev/zero", O_RDONLY, why);
}

static int open_null(struct op_state *s, struct buf *why)
{
	return open_device(s, "/dev/null", O_WRONLY, why);
}

int op_nameless_file(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	char path[4096];
	snprintf(path, sizeof(path), "%s/sctrace-bench-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int make_file(struct op_state *s, struct buf *why)
{
	s->fd = op_nameless_file(s->dir);
	if (s->fd < 0)
		return cannot(why, s->dir);
	char block[4096];
	memset(block, 'x', sizeof(block));
	int err = 0;
	for (s->size = 0; s->size < FILE_BYTES && !err; s->size += sizeof(block))
		err = outfile_write(s->fd, block, sizeof(block), NULL);
	if (err) {
		errno = -err;
		cannot(why, "write");
		close(s->fd);
		return err;
	}
	lseek(s->fd, 0, SEEK_SET);
	return 0;
}

static int make_file_at_end(struct op_state *s, struct buf *why)
{
	int err = make_file(s, why);
	if (!err)
		lseek(s->fd, 0, SEEK_END);
	return err;
}

static int make_stream(struct op_state *s, struct buf *why)
{
	int err = make_file(s, why);
	if (err)
		return err;
	s->file = fdopen(s->fd, "r");
	return s->file ? 0 : cannot(why, "fdopen");
}

static int make_pipe(struct op_state *s, struct buf *why)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return cannot(why, "pipe");
	s->fd = fds[0];
	s->fd2 = fds[1];
	return 0;
}

/* Maps memory with pages of the usual size (no huge pages), none of which is present yet. */
static int make_pages(struct op_state *s, struct buf *why)
{
	s->size = FAULT_BYTES;
	s->mem = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->mem == MAP_FAILED)
		return cannot(why, "mmap");
	madvise(s->mem, s->size, MADV_NOHUGEPAGE);
	return 0;
}

static void drop_pages(struct op_state *s)
{
	munmap(s->mem, s->size);
}

static void close_stream(struct op_state *s)
{
	fclose(s->file);
}

static void close_all(struct op_state *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->fd2 >= 0)
		close(s->fd2);
}

/* Defines an operation that executes `call`, which fills in the variable `got` of this type, and returns 0. */
#define FILLS(type, name, call)                                                                                        \
	OP(name)                                                                                                       \
	{                                                                                                              \
		type got;                                                                                              \
		OP_WRONG_IF((call) != 0);                                                                              \
		OP_KEEP(&got);                                                                                         \
	}

OP_ONE(read_0, read(s->fd, s->data, 0) != 0)
OP_ONE(read_1, read(s->fd, s->data, 1) != 1)

/* Reads one byte of the file. Rewinds the file after its last byte, once in a million reads. */
OP(read_1_file)
{
	if (__builtin_expect(++s->at > s->size, 0)) {
		lseek(s->fd, 0, SEEK_SET);
		s->at = 1;
	}
	OP_WRONG_IF(read(s->fd, s->data, 1) != 1);
}

OP_ONE(read_end, read(s->fd, s->data, 1) != 0)
OP_ONE(write_1, write(s->fd, s->data, 1) != 1)

/* Calls fgets(3) with a buffer of one byte, which has room only for the terminating NUL, so nothing is read. */
OP_ONE(fgets_0, fgets(s->data, 1, s->file) == NULL)

OP(fgets_1)
{
	if (__builtin_expect(++s->at > s->size, 0)) {
		rewind(s->file);
		s->at = 1;
	}
	OP_WRONG_IF(fgets(s->data, 2, s->file) == NULL);
}

OP_ONE(do_lseek, lseek(s->fd, 0, SEEK_SET) != 0)
FILLS(struct stat, do_fstat, fstat(s->fd, &got))
FILLS(struct stat, do_stat, stat("/dev/null", &got))

OP(open_close)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	OP_WRONG_IF(fd < 0 || close(fd) != 0);
}

OP_ONE(pipe_pair, write(s->fd2, s->data, 1) != 1 || read(s->fd, s->data, 1) != 1)

OP(map_unmap)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OP_WRONG_IF(p == MAP_FAILED || munmap(p, 4096) != 0);
}

/*
 * Touches one page, which causes a page fault. After the last page, one madvise(2) call frees all pages; its cost is
 * spread over a thousand faults.
 */
OP(page_fault)
{
	if (__builtin_expect(s->at >= s->size, 0)) {
		OP_WRONG_IF(madvise(s->mem, s->size, MADV_DONTNEED) != 0);
		s->at = 0;
	}
	*(volatile char *)(s->mem + s->at) = 1;
	s->at += 4096;
}

/* Operations of `bench syscall` that need only the process itself: the empty loop, process identity, clocks. */
OP(empty)
{
	(void)s;
}

OP_ONE(self_getpid, getpid() <= 0)
OP_ONE(self_getppid, getppid() < 0)

OP(self_getuid)
{
	OP_KEEP(getuid());
	(void)s;
}

OP_ONE(self_getpid_raw, syscall(SYS_getpid) <= 0)
OP_ONE(self_sysconf, sysconf(_SC_CLK_TCK) <= 0)
OP_ONE(clock_time, time(NULL) <= 0)
FILLS(struct timeval, clock_gettimeofday, gettimeofday(&got, NULL))
FILLS(struct timespec, clock_monotonic, clock_gettime(CLOCK_MONOTONIC, &got))
FILLS(struct timespec, clock_monotonic_raw, syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &got))
FILLS(struct timespec, clock_realtime, clock_gettime(CLOCK_REALTIME, &got))
FILLS(struct timespec, clock_realtime_raw, syscall(SYS_clock_gettime, CLOCK_REALTIME, &got))
FILLS(struct timespec, clock_coarse, clock_gettime(CLOCK_MONOTONIC_COARSE, &got))
FILLS(struct timespec, clock_coarse_raw, syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &got))
FILLS(struct timespec, clock_cputime, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &got))

#ifdef SYS_time
OP_ONE(clock_time_raw, syscall(SYS_time, NULL) <= 0)
#endif

#if defined(__x86_64__)
#define TSC_ABOUT "RDTSC, the processor's time stamp counter"
OP(clock_tsc)
{
	(void)s;
	OP_KEEP(__builtin_ia32_rdtsc());
}
#elif defined(__aarch64__)
#define TSC_ABOUT "CNTVCT_EL0, the processor's virtual timer"
OP(clock_tsc)
{
	(void)s;
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	OP_KEEP(t);
}
#endif

/* Operations of `bench syscall` on tasks: yielding, waking, signals, creating processes and threads. */

/* Stores the path of true(1), the program that the operations with execve(2) run, in s->path. */
static int need_true(struct op_state *s, struct buf *why)
{
	static const char *const places[] = {"/bin/true", "/usr/bin/true"};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (access(places[i], X_OK) == 0) {
			strncpy(s->path, places[i], sizeof(s->path) - 1);
			return 0;
		}
	buf_adds(why, "there is no true(1) in /bin or /usr/bin");
	return -ENOENT;
}

static void handle(int sig)
{
	(void)sig;
}

static int catch_signal(struct op_state *s, struct buf *why)
{
	struct sigaction sa = {.sa_handler = handle};
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	s->pid = getpid();
	s->tid = (int)syscall(SYS_gettid);
	if (sigaction(SIGUSR1, &sa, &s->old_action) < 0) {
		buf_addf(why, "sigaction: %s", strerror(errno));
		return -errno;
	}
	/*
	 * If the parent of sctrace has blocked the signal, sctrace inherits the mask, and the signal would never be
	 * handled.
	 */
	pthread_sigmask(SIG_UNBLOCK, &set, &s->old_mask);
	return 0;
}

static void release_signal(struct op_state *s)
{
	pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
	sigaction(SIGUSR1, &s->old_action, NULL);
}

OP_ONE(yield, sched_yield() != 0)
OP_ONE(futex_wake, syscall(SYS_futex, &s->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 0)
OP_ONE(signal_self, syscall(SYS_tgkill, s->pid, s->tid, SIGUSR1) != 0)

/* Waits for `pid`. If the child failed or could not be created, counts a failure of the operation. */
static void reap(struct op_state *s, pid_t pid)
{
	int status = -1;
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	OP_WRONG_IF(pid <= 0 || status != 0);
}

OP(fork_wait)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	reap(s, pid);
}

OP(fork_exec)
{
	char *argv[] = {s->path, NULL};
	pid_t pid = fork();
	if (pid == 0) {
		execve(s->path, argv, environ);
		_exit(127);
	}
	reap(s, pid);
}

/*
 * Creates a child by vfork(2) and waits for it. Must not be inlined: the child would share a stack frame with the loop,
 * and might change the loop's variables.
 */
static __attribute__((noinline)) void vfork_child(struct op_state *s)
{
	pid_t pid = vfork();
	if (pid == 0)
		_exit(0);
	reap(s, pid);
}

OP(vfork_wait)
{
	vfork_child(s);
}

OP(spawn_true)
{
	char *argv[] = {s->path, NULL};
	pid_t pid = -1;
	if (posix_spawn(&pid, s->path, NULL, NULL, argv, environ) != 0)
		pid = -1;
	reap(s, pid);
}

static void *nothing(void *arg)
{
	return arg;
}

OP(thread)
{
	pthread_t t;
	OP_WRONG_IF(pthread_create(&t, NULL, nothing, NULL) != 0 || pthread_join(t, NULL) != 0);
}

static const struct op ops[] = {
	{"loop", "control", "an empty loop; its cost is subtracted from the others", OP_LOOPS(empty)},
	{"getpid", "id", "getpid() of the C library", OP_LOOPS(self_getpid)},
	{"getpid-raw", "id", "syscall(SYS_getpid)", OP_LOOPS(self_getpid_raw)},
	{"getppid", "id", "getppid()", OP_LOOPS(self_getppid)},
	{"getuid", "id", "getuid()", OP_LOOPS(self_getuid)},
	{"sysconf", "id", "sysconf(_SC_CLK_TCK)", OP_LOOPS(self_sysconf)},
#ifdef TSC_ABOUT
	{"tsc", "clock", TSC_ABOUT, OP_LOOPS(clock_tsc)},
#endif
	{"time", "clock", "time(NULL) in the vDSO", OP_LOOPS(clock_time)},
#ifdef SYS_time
	{"time-raw", "clock", "syscall(SYS_time)", OP_LOOPS(clock_time_raw)},
#endif
	{"gettimeofday", "clock", "gettimeofday() in the vDSO", OP_LOOPS(clock_gettimeofday)},
	{"monotonic", "clock", "clock_gettime(CLOCK_MONOTONIC) in the vDSO", OP_LOOPS(clock_monotonic)},
	{"monotonic-raw", "clock", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC)", OP_LOOPS(clock_monotonic_raw)},
	{"realtime", "clock", "clock_gettime(CLOCK_REALTIME) in the vDSO", OP_LOOPS(clock_realtime)},
	{"realtime-raw", "clock", "syscall(SYS_clock_gettime, CLOCK_REALTIME)", OP_LOOPS(clock_realtime_raw)},
	{"coarse", "clock", "clock_gettime(CLOCK_MONOTONIC_COARSE) in the vDSO", OP_LOOPS(clock_coarse)},
	{"coarse-raw", "clock", "syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE)", OP_LOOPS(clock_coarse_raw)},
	{"cputime", "clock", "clock_gettime(CLOCK_PROCESS_CPUTIME_ID): a system call", OP_LOOPS(clock_cputime)},
	{"read-0", "file", "read() of 0 bytes from /dev/zero", OP_LOOPS(read_0), open_zero, close_all},
	{"read-zero", "file", "read() of 1 byte from /dev/zero", OP_LOOPS(read_1), open_zero, close_all},
	{"read-file", "file", "read() of 1 byte from a file in the page cache", OP_LOOPS(read_1_file), make_file,
	 close_all},
	{"read-end", "file", "read() of 1 byte at the end of a file", OP_LOOPS(read_end), make_file_at_end, close_all},
	{"write-null", "file", "write() of 1 byte to /dev/null", OP_LOOPS(write_1), open_null, close_all},
	{"fgets-0", "stdio", "fgets() with a buffer that has no space for a character", OP_LOOPS(fgets_0), make_stream,
	 close_stream},
	{"fgets-1", "stdio", "fgets() of 1 character from a file read in blocks", OP_LOOPS(fgets_1), make_stream,
	 close_stream},
	{"lseek", "file", "lseek() to the start of a file", OP_LOOPS(do_lseek), make_file, close_all},
	{"fstat", "file", "fstat()", OP_LOOPS(do_fstat), make_file, close_all},
	{"stat", "file", "stat() of /dev/null", OP_LOOPS(do_stat)},
	{"open-close", "file", "open() of /dev/null and close()", OP_LOOPS(open_close)},
	{"pipe", "ipc", "write() of 1 byte to a pipe and read() of it", OP_LOOPS(pipe_pair), make_pipe, close_all},
	{"mmap", "memory", "mmap() of an untouched page and munmap()", OP_LOOPS(map_unmap)},
	{"page-fault", "memory", "the first write to an anonymous page", OP_LOOPS(page_fault), make_pages, drop_pages,
	 .trap = true},
	{"yield", "task", "sched_yield() while no other task wants the CPU", OP_LOOPS(yield)},
	{"futex-wake", "ipc", "futex(FUTEX_WAKE) while no task waits", OP_LOOPS(futex_wake)},
	{"signal", "task", "tgkill() to the same thread, handler and return", OP_LOOPS(signal_self),
	 .setup = catch_signal, .teardown = release_signal},
	{"thread", "process", "pthread_create() of an empty thread and pthread_join()", OP_LOOPS(thread),
	 .cost = OP_DEAR},
	{"vfork", "process", "vfork(), exit in the child, wait", OP_LOOPS(vfork_wait), .cost = OP_DEAR},
	{"fork", "process", "fork(), exit in the child, wait", OP_LOOPS(fork_wait), .cost = OP_DEAR},
	{"fork-exec", "process", "fork(), execve() of true, wait", OP_LOOPS(fork_exec), .setup = need_true,
	 .cost = OP_DEAR},
	{"spawn", "process", "posix_spawn() of true, wait", OP_LOOPS(spawn_true), .setup = need_true, .cost = OP_DEAR},
};

const struct op *op_at(size_t i)
{
	return i < sizeof(ops) / sizeof(*ops) ? &ops[i] : NULL;
}

const struct op *op_find(const char *name)
{
	for (size_t i = 0; op_at(i); i++)
		if (strcmp(op_at(i)->name, name) == 0)
			return op_at(i);
	return NULL;
}

const struct op *op_empty(void)
{
	return &ops[0];
}

int op_open(const struct op *op, struct op_state *s, const char *dir, struct buf *why)
{
	*s = (struct op_state){.dir = dir, .fd = -1, .fd2 = -1};
	return op->setup ? op->setup(s, why) : 0;
}

void op_close(const struct op *op, struct op_state *s)
{
	if (op->teardown)
		op->teardown(s);
}
