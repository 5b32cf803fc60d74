/* Operations of `bench syscall` on tasks: yielding, waking, signals, creating processes and threads. */
#include "bench/op.h"

#include "base/buf.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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

OP(yield)
{
	OP_WRONG_IF(sched_yield() != 0);
}

OP(futex_wake)
{
	OP_WRONG_IF(syscall(SYS_futex, &s->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 0);
}

OP(signal_self)
{
	OP_WRONG_IF(syscall(SYS_tgkill, s->pid, s->tid, SIGUSR1) != 0);
}

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

const struct op ops_task[] = {
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
	{0},
};
