/* SPDX-License-Identifier: MIT */
/*
 * Makes calls with every kind of bad pointer in each of their pointer arguments. Prints the result of each call, which
 * must be the same as without a tracer. No call may raise a signal, and the program's actions and mask for SIGSEGV and
 * SIGBUS must stay as they were.
 */
#include "e2e.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

/*
 * Placeholders for arguments in the rows below. argument() replaces each by a valid pointer or descriptor, and one of
 * the pointers is then replaced by a bad one.
 */
enum {
	STRING = 0x5eed0000,
	ZEROES,
	TIME /* a time of zero, because a null pointer would wait for ever */,
	VECTOR,
	LENGTH,
	ZERO_FD,
	NULL_FD,
	SOCKET_FD,
	DIR_FD,
	EPOLL_FD
};

#define AT AT_FDCWD
static const struct row {
	const char *name;
	long nr;
	long args[6];
} rows[] = {
	{"read", SYS_read, {ZERO_FD, ZEROES, 100}},
	{"write", SYS_write, {NULL_FD, ZEROES, 100}},
	{"write", SYS_write, {SOCKET_FD, ZEROES, 10}},
	{"pread64", SYS_pread64, {ZERO_FD, ZEROES, 100, 0}},
	{"pwrite64", SYS_pwrite64, {NULL_FD, ZEROES, 100, 0}},
	{"readv", SYS_readv, {ZERO_FD, VECTOR, 2}},
	{"writev", SYS_writev, {NULL_FD, VECTOR, 2}},
	{"openat", SYS_openat, {AT, STRING, O_RDONLY}},
	{"openat", SYS_openat, {-7, STRING, O_RDONLY}},
	{"open", SYS_open, {STRING, O_RDONLY}},
	{"access", SYS_access, {STRING, 0}},
	{"faccessat", SYS_faccessat, {AT, STRING, 0}},
	{"stat", SYS_stat, {STRING, ZEROES}},
	{"lstat", SYS_lstat, {STRING, ZEROES}},
	{"fstat", SYS_fstat, {ZERO_FD, ZEROES}},
	{"newfstatat", SYS_newfstatat, {ZERO_FD, STRING, ZEROES, AT_EMPTY_PATH}},
	{"statx", SYS_statx, {AT, STRING, 0, 0x7ff, ZEROES}},
	{"statfs", SYS_statfs, {STRING, ZEROES}},
	{"fstatfs", SYS_fstatfs, {ZERO_FD, ZEROES}},
	{"readlink", SYS_readlink, {STRING, ZEROES, 64}},
	{"readlinkat", SYS_readlinkat, {AT, STRING, ZEROES, 64}},
	{"getcwd", SYS_getcwd, {ZEROES, 4000}},
	{"chdir", SYS_chdir, {STRING}},
	{"mkdir", SYS_mkdir, {STRING, 0700}},
	{"rmdir", SYS_rmdir, {STRING}},
	{"unlink", SYS_unlink, {STRING}},
	{"unlinkat", SYS_unlinkat, {AT, STRING, 0}},
	{"rename", SYS_rename, {STRING, STRING}},
	{"renameat2", SYS_renameat2, {AT, STRING, AT, STRING, 0}},
	{"link", SYS_link, {STRING, STRING}},
	{"symlink", SYS_symlink, {STRING, STRING}},
	{"truncate", SYS_truncate, {STRING, 0}},
	{"chmod", SYS_chmod, {STRING, 0600}},
	{"utimensat", SYS_utimensat, {AT, STRING, ZEROES, 0}},
	{"getxattr", SYS_getxattr, {STRING, STRING, ZEROES, 16}},
	{"getdents64", SYS_getdents64, {DIR_FD, ZEROES, 512}},
	{"poll", SYS_poll, {ZEROES, 1, 0}},
	{"ppoll", SYS_ppoll, {ZEROES, 1, TIME, ZEROES, 8}},
	{"select", SYS_select, {1, ZEROES, ZEROES, ZEROES, TIME}},
	{"epoll_ctl", SYS_epoll_ctl, {EPOLL_FD, EPOLL_CTL_MOD, SOCKET_FD, ZEROES}},
	{"epoll_wait", SYS_epoll_wait, {EPOLL_FD, ZEROES, 1, 0}},
	{"nanosleep", SYS_nanosleep, {ZEROES, ZEROES}},
	{"clock_nanosleep", SYS_clock_nanosleep, {CLOCK_MONOTONIC, 0, ZEROES, ZEROES}},
	{"clock_gettime", SYS_clock_gettime, {CLOCK_MONOTONIC, ZEROES}},
	{"clock_getres", SYS_clock_getres, {CLOCK_MONOTONIC, ZEROES}},
	{"gettimeofday", SYS_gettimeofday, {ZEROES, 0}},
	{"times", SYS_times, {ZEROES}},
	{"futex", SYS_futex, {ZEROES, 1 /* FUTEX_WAKE */, 1}},
	{"futex", SYS_futex, {ZEROES, 0 /* FUTEX_WAIT */, 0, TIME}},
	{"futex", SYS_futex, {ZEROES, 0 /* FUTEX_WAIT */, 1, TIME}},
	{"pipe2", SYS_pipe2, {ZEROES, O_CLOEXEC}},
	{"socketpair", SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, ZEROES}},
	{"getrandom", SYS_getrandom, {ZEROES, 16, 0}},
	{"uname", SYS_uname, {ZEROES}},
	{"sysinfo", SYS_sysinfo, {ZEROES}},
	{"getrlimit", SYS_getrlimit, {7, ZEROES}},
	{"prlimit64", SYS_prlimit64, {0, 7, 0, ZEROES}},
	{"getrusage", SYS_getrusage, {0, ZEROES}},
	{"getgroups", SYS_getgroups, {64, ZEROES}},
	{"getitimer", SYS_getitimer, {0, ZEROES}},
	{"setitimer", SYS_setitimer, {0, ZEROES, ZEROES}},
	{"sched_getaffinity", SYS_sched_getaffinity, {0, 128, ZEROES}},
	{"capget", SYS_capget, {ZEROES, ZEROES}},
	{"rt_sigaction", SYS_rt_sigaction, {SIGUSR2, ZEROES, ZEROES, 8}},
	{"rt_sigprocmask", SYS_rt_sigprocmask, {SIG_BLOCK, ZEROES, ZEROES, 8}},
	{"rt_sigpending", SYS_rt_sigpending, {ZEROES, 8}},
	{"sigaltstack", SYS_sigaltstack, {0, ZEROES}},
	{"prctl", SYS_prctl, {16 /* PR_GET_NAME */, ZEROES}},
	{"ioctl", SYS_ioctl, {SOCKET_FD, 0x541b /* FIONREAD */, ZEROES}},
	{"fcntl", SYS_fcntl, {ZERO_FD, F_GETLK, ZEROES}},
	{"getsockname", SYS_getsockname, {SOCKET_FD, ZEROES, LENGTH}},
	{"getsockopt", SYS_getsockopt, {SOCKET_FD, SOL_SOCKET, SO_TYPE, ZEROES, LENGTH}},
	{"setsockopt", SYS_setsockopt, {SOCKET_FD, SOL_SOCKET, SO_PASSCRED, ZEROES, 4}},
	{"connect", SYS_connect, {SOCKET_FD, ZEROES, 16}},
	{"bind", SYS_bind, {SOCKET_FD, ZEROES, 16}},
	{"sendto", SYS_sendto, {SOCKET_FD, ZEROES, 10, MSG_DONTWAIT, 0, 0}},
	{"recvfrom", SYS_recvfrom, {SOCKET_FD, ZEROES, 10, MSG_DONTWAIT, 0, 0}},
	{"sendmsg", SYS_sendmsg, {SOCKET_FD, ZEROES, MSG_DONTWAIT}},
	{"recvmsg", SYS_recvmsg, {SOCKET_FD, ZEROES, MSG_DONTWAIT}},
	{"ioctl", SYS_ioctl, {DIR_FD, 0xc020660b /* FS_IOC_FIEMAP */, ZEROES}},
	{"ioctl", SYS_ioctl, {DIR_FD, 0xc0189436 /* FIDEDUPERANGE */, ZEROES}},
	{"ioctl", SYS_ioctl, {SOCKET_FD, 0x8913 /* SIOCGIFFLAGS */, ZEROES}},
	{"ioctl", SYS_ioctl, {SOCKET_FD, 0x8912 /* SIOCGIFCONF */, ZEROES}},
	{"ioctl", SYS_ioctl, {SOCKET_FD, 0x123456, ZEROES}},
	{"io_uring_setup", SYS_io_uring_setup, {0, ZEROES}},
	{"io_uring_enter", SYS_io_uring_enter, {ZERO_FD, 0, 1, 9, ZEROES, 24}},
	{"io_submit", SYS_io_submit, {0, 1, ZEROES}},
	{"io_getevents", SYS_io_getevents, {0, 1, 1, ZEROES, TIME}},
	{"bpf", SYS_bpf, {100, ZEROES, 128}},
	{"bpf", SYS_bpf, {7 /* BPF_OBJ_GET */, ZEROES, 128}},
	{"name_to_handle_at", SYS_name_to_handle_at, {AT, STRING, ZEROES, ZEROES, 0}},
	{"open_by_handle_at", SYS_open_by_handle_at, {DIR_FD, ZEROES, 0}},
	{"msgsnd", SYS_msgsnd, {-1, ZEROES, 10, 0}},
	{"msgrcv", SYS_msgrcv, {-1, ZEROES, 10, 0, 0}},
	{"semop", SYS_semop, {-1, ZEROES, 1}},
	{"semctl", SYS_semctl, {-1, 0, 2 /* IPC_STAT */, ZEROES}},
	{"keyctl", SYS_keyctl, {11 /* KEYCTL_READ */, 0, ZEROES, 10}},
	{"keyctl", SYS_keyctl, {10 /* KEYCTL_SEARCH */, 0, STRING, STRING, 0}},
	{"add_key", SYS_add_key, {STRING, STRING, ZEROES, 10, 0}},
	{"mount", SYS_mount, {STRING, STRING, STRING, 0, STRING}},
	{"sched_setaffinity", SYS_sched_setaffinity, {-1, 128, ZEROES}},
	{"sched_setattr", SYS_sched_setattr, {-1, ZEROES, 0}},
	{"sched_getattr", SYS_sched_getattr, {0, ZEROES, 56, 0}},
	{"mincore", SYS_mincore, {0x1000, 4096, ZEROES}},
	{"move_pages", SYS_move_pages, {0, 1, VECTOR, 0, ZEROES, 0}},
	{"set_mempolicy", SYS_set_mempolicy, {100, ZEROES, 64}},
	{"process_vm_readv", SYS_process_vm_readv, {-1, VECTOR, 2, VECTOR, 2, 0}},
	{"prctl", SYS_prctl, {15 /* PR_SET_NAME */, STRING}},
	{"mq_open", SYS_mq_open, {STRING, O_CREAT, 0600, ZEROES}},
	{"fcntl", SYS_fcntl, {ZERO_FD, 1035 /* F_GET_RW_HINT */, ZEROES}},
	{"kcmp", SYS_kcmp, {-1, -1, 7 /* KCMP_EPOLL_TFD */, 0, ZEROES}},
	{"clone3", SYS_clone3, {ZEROES, 8}},
	{"setxattr", SYS_setxattr, {STRING, STRING, ZEROES, 16, 0}},
};

static unsigned char zeroes[6][8192];
static int fds[5]; /* the descriptors from ZERO_FD on */

/* The value of argument `i`, which `v` describes. Its memory is initialised again for each call. */
static long argument(int i, long v)
{
	static char string[] = "/not/there";
	static struct {
		void *at;
		size_t n;
	} vector[6][2];
	static int length[6];
	memset(zeroes[i], 0, sizeof zeroes[i]);
	length[i] = 64;
	vector[i][0].at = vector[i][1].at = zeroes[i];
	vector[i][0].n = vector[i][1].n = 20;
	return v == STRING                     ? (long)string
	       : v == ZEROES || v == TIME      ? (long)zeroes[i]
	       : v == VECTOR                   ? (long)vector[i]
	       : v == LENGTH                   ? (long)&length[i]
	       : v >= ZERO_FD && v <= EPOLL_FD ? fds[v - ZERO_FD]
					       : v;
}

struct bad {
	const char *name;
	long at;
};

static size_t bad_pointers(struct bad *v)
{
	const int rw = PROT_READ | PROT_WRITE, priv = MAP_PRIVATE | MAP_ANONYMOUS;
	char *pages = mmap(NULL, 8 * 4096, rw, priv, -1, 0);
	CHECK(pages != MAP_FAILED);
	memset(pages, 'x', 4096);
	CHECK(mprotect(pages + 4096, 4096, PROT_NONE) == 0);
	CHECK(mprotect(pages + 2 * 4096, 4096, PROT_READ) == 0);
	CHECK(mprotect(pages + 3 * 4096, 4096, PROT_EXEC) == 0);
	CHECK(munmap(pages + 4 * 4096, 4096) == 0);
	int fd = memfd_create("short", 0);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	char *beyond = mmap(NULL, 8192, rw, MAP_SHARED, fd, 0);
	CHECK(beyond != MAP_FAILED && close(fd) == 0);
	memset(beyond, 'x', 4096);
	const struct bad all[] = {
		{"null", 0},
		{"one", 1},
		{"kernel", (long)0xffff888000000000},
		{"noncanonical", 0x800000000000},
		{"none", (long)pages + 4096 + 16},
		{"edge", (long)pages + 4096 - 3},
		{"read-only", (long)pages + 2 * 4096 + 16},
		{"execute-only", (long)pages + 3 * 4096 + 16},
		{"unmapped", (long)pages + 4 * 4096 + 16},
		{"beyond", (long)beyond + 4096 + 16},
		{"edge-of-file", (long)beyond + 4096 - 3},
	};
	memcpy(v, all, sizeof all);
	return sizeof all / sizeof *all;
}

/*
 * The actions for SIGSEGV and SIGBUS, and the signal mask, in the kernel's layout. The C library's structures are
 * larger, and the kernel leaves the rest of them unchanged.
 */
struct kept {
	uint64_t action[2][4], mask;
};

static void look(struct kept *k)
{
	CHECK(syscall(SYS_rt_sigaction, SIGSEGV, NULL, k->action[0], sizeof k->mask) == 0);
	CHECK(syscall(SYS_rt_sigaction, SIGBUS, NULL, k->action[1], sizeof k->mask) == 0);
	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &k->mask, sizeof k->mask) == 0);
}

/* Makes the call, and prints the result, unless it depends on the time or on free numbers. */
static void make(const struct row *r, int replaced, const struct bad *bad, const struct kept *before)
{
	long a[6];
	for (int i = 0; i < 6; i++)
		a[i] = i == replaced ? bad->at : argument(i, r->args[i]);
	errno = 0;
	long result = syscall(r->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	int err = result == -1 ? errno : 0;
	printf("%s %d %s: %d\n", r->name, replaced, bad->name, err);
	if (r->nr == SYS_pipe2 || r->nr == SYS_socketpair)
		for (int i = 0; err == 0 && i < 2; i++)
			close(((int *)a[r->nr == SYS_pipe2 ? 0 : 3])[i]);
	struct kept after;
	look(&after);
	if (memcmp(before, &after, sizeof after) != 0) {
		printf("%s %d %s: changed an action or the mask\n", r->name, replaced, bad->name);
		exit(1);
	}
}

static void test_all(const struct kept *before)
{
	struct bad bad[16];
	size_t n = bad_pointers(bad);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int k = 0; k < 6; k++)
			for (size_t b = 0; b < n && rows[i].args[k] >= STRING && rows[i].args[k] <= LENGTH; b++)
				if (rows[i].args[k] != TIME || bad[b].at)
					make(&rows[i], k, &bad[b], before);
}

static void open_all(void)
{
	int pair[2];
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
	fds[0] = open("/dev/zero", O_RDONLY);
	fds[1] = open("/dev/null", O_WRONLY);
	fds[2] = pair[0];
	fds[3] = open("/", O_RDONLY | O_DIRECTORY);
	fds[4] = epoll_create1(0);
	struct epoll_event ev = {0};
	CHECK(epoll_ctl(fds[4], EPOLL_CTL_ADD, fds[2], &ev) == 0);
	CHECK(fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
}

static void run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	open_all();
	struct kept before;
	look(&before);
	test_all(&before);
}

static void on_fault(int sig)
{
	(void)sig;
	dprintf(1, "a fault was raised\n");
	_exit(2);
}

static void on_child_fault(int sig)
{
	(void)sig;
	dprintf(1, "a child's handler was called\n");
	_exit(2);
}

static void set_actions(void (*handler)(int))
{
	CHECK(signal(SIGSEGV, handler) != SIG_ERR && signal(SIGBUS, handler) != SIG_ERR);
}

static void block(bool everything)
{
	sigset_t set;
	sigemptyset(&set);
	if (everything)
		sigfillset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGBUS);
	CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0);
}

static void run_handled(int argc, char **argv)
{
	set_actions(on_fault);
	run(argc, argv);
}

static void run_ignored(int argc, char **argv)
{
	set_actions(SIG_IGN);
	run(argc, argv);
}

/* Blocks SIGSEGV and SIGBUS. Their handler would report a signal that is delivered. */
static void run_blocked(int argc, char **argv)
{
	set_actions(on_fault);
	block(false);
	run(argc, argv);
}

static void run_all_blocked(int argc, char **argv)
{
	set_actions(on_fault);
	block(true);
	run(argc, argv);
}

/* A child that runs in this process's memory sets its own actions. */
static void __attribute__((noinline)) let_child_set_actions(void (*handler)(int))
{
	pid_t pid = vfork();
	if (pid == 0) {
		set_actions(handler);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
}

/* Like run_blocked(), but children have set their own actions, one before this process had handlers, and one after. */
static void run_beside_children(int argc, char **argv)
{
	let_child_set_actions(on_child_fault);
	set_actions(on_fault);
	let_child_set_actions(SIG_DFL);
	block(false);
	run(argc, argv);
}

/*
 * Ignores both signals. For each byte that it reads, passes a bad pointer to a write to /dev/null, which does not read
 * the memory.
 */
static void run_attached(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct kept before, after;
	char byte;
	open_all();
	set_actions(SIG_IGN);
	look(&before);
	CHECK(write(1, "ready\n", 6) == 6);
	while (read(0, &byte, 1) == 1) {
		for (int i = 0; i < 10; i++)
			CHECK(syscall(SYS_write, fds[1], 4096, 8) == 8);
		look(&after);
		CHECK(memcmp(&before, &after, sizeof after) == 0);
		CHECK(write(1, "checked\n", 8) == 8);
	}
}

static const struct test tests[] = {{"attached", run_attached},
				    {"default", run},
				    {"handled", run_handled},
				    {"ignored", run_ignored},
				    {"blocked", run_blocked},
				    {"all_blocked", run_all_blocked},
				    {"beside_children", run_beside_children}};
TEST_MAIN(tests)
