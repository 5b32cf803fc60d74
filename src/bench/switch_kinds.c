/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/words.h"
#include "bench/stop.h"
#include "bench/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The table of the mechanisms by which two tasks take turns. */
static int cannot(struct buf *why, const char *what)
{
	int err = errno;
	buf_addf(why, "%s: %s", what, strerror(err));
	return -err;
}

/* Opens a pipe or a pair of sockets for each task. */
static int open_pairs(struct switch_pair *p, bool sockets, struct buf *why)
{
	for (int i = 0; i < 2; i++) {
		int fds[2];
		if ((sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) : pipe2(fds, O_CLOEXEC)) < 0)
			return cannot(why, sockets ? "socketpair" : "pipe");
		p->side[i].read_fd = fds[0];
		p->side[i].write_fd = fds[1];
	}
	p->message = 1;
	return 0;
}

static int open_pipes(struct switch_pair *p, struct buf *why)
{
	return open_pairs(p, false, why);
}

static int open_sockets(struct switch_pair *p, struct buf *why)
{
	return open_pairs(p, true, why);
}

static int open_eventfds(struct switch_pair *p, struct buf *why)
{
	for (int i = 0; i < 2; i++) {
		int fd = eventfd(0, EFD_CLOEXEC);
		if (fd < 0)
			return cannot(why, "eventfd");
		p->side[i].read_fd = p->side[i].write_fd = fd;
	}
	p->message = sizeof(uint64_t);
	return 0;
}

static void fd_wake(struct switch_pair *p, int side)
{
	static const uint64_t one = 1;
	while (write(p->side[side].write_fd, &one, p->message) < 0)
		if (errno != EINTR)
			switch_give_up(p, "write");
}

static void fd_wait(struct switch_pair *p, int side)
{
	uint64_t got;
	while (read(p->side[side].read_fd, &got, p->message) < 0)
		if (errno != EINTR)
			switch_give_up(p, "read");
}

/*
 * Opens two message queues. Their names are removed before the first message, so that no other program can open them.
 */
static int open_queues(struct switch_pair *p, struct buf *why)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
	for (int i = 0; i < 2; i++) {
		char name[64];
		snprintf(name, sizeof(name), "/sctrace-bench-%d-%d", (int)getpid(), i);
		p->side[i].queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
		if (p->side[i].queue == (mqd_t)-1)
			return cannot(why, "mq_open");
		mq_unlink(name);
	}
	return 0;
}

static void queue_wake(struct switch_pair *p, int side)
{
	while (mq_send(p->side[side].queue, "x", 1, 0) < 0)
		if (errno != EINTR)
			switch_give_up(p, "mq_send");
}

static void queue_wait(struct switch_pair *p, int side)
{
	char c;
	while (mq_receive(p->side[side].queue, &c, 1, NULL) < 0)
		if (errno != EINTR)
			switch_give_up(p, "mq_receive");
}

static void futex_wake(struct switch_pair *p, int side)
{
	atomic_store(&p->side[side].word, 1);
	if (syscall(SYS_futex, &p->side[side].word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0)
		switch_give_up(p, "futex");
}

/* Calls the kernel at least once, even if the word is already 1, so that the cost of the call is part of every wait. */
static void futex_wait(struct switch_pair *p, int side)
{
	do
		if (syscall(SYS_futex, &p->side[side].word, FUTEX_WAIT, 0, NULL, NULL, 0) < 0 && errno != EAGAIN &&
		    errno != EINTR)
			switch_give_up(p, "futex");
	while (!atomic_exchange(&p->side[side].word, 0));
}

static sigset_t only_usr1(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return set;
}

/*
 * Blocks SIGUSR1, which the tasks receive by sigwait(3). The second task is created later and inherits the signal mask.
 */
static int open_signals(struct switch_pair *p, struct buf *why)
{
	(void)p;
	sigset_t set = only_usr1();
	return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? cannot(why, "sigprocmask") : 0;
}

static void signal_wake(struct switch_pair *p, int side)
{
	if (syscall(SYS_tgkill, p->side[side].pid, p->side[side].tid, SIGUSR1) < 0)
		switch_give_up(p, "tgkill");
}

static void signal_wait(struct switch_pair *p, int side)
{
	(void)side;
	sigset_t set = only_usr1();
	while (sigwaitinfo(&set, NULL) < 0)
		if (errno != EINTR)
			switch_give_up(p, "sigwaitinfo");
}

static void yield_wake(struct switch_pair *p, int side)
{
	(void)p;
	(void)side;
}

static void yield_wait(struct switch_pair *p, int side)
{
	(void)p;
	(void)side;
	sched_yield();
}

/* These switch at user level. */
static void switch_ucontext_rounds(uint64_t n);
static void switch_bare_rounds(uint64_t n);
/* Returns 0, or -ENOSYS with the reason in `why` if the mechanism "bare" is not implemented for this processor. */
static int switch_open_bare(struct switch_pair *p, struct buf *why);

#define FD     fd_wake, fd_wait
#define FUTEX  futex_wake, futex_wait
#define QUEUE  queue_wake, queue_wait
#define SIGNAL signal_wake, signal_wait
#define YIELD  yield_wake, yield_wait
#define P      .tasks = TASKS_PROCESSES
#define T      .tasks = TASKS_THREADS
#define U      .tasks = TASKS_USER
static const struct switch_kind kinds[] = {
	{"pipe", "one byte there and back through two pipes", P, open_pipes, FD},
	{"pipe-thread", "one byte there and back through two pipes, between two threads", T, open_pipes, FD},
	{"eventfd", "a counter through two eventfds", P, open_eventfds, FD},
	{"socket", "one byte through two Unix stream sockets", P, open_sockets, FD},
	{"mqueue", "one byte through two POSIX message queues", P, open_queues, QUEUE},
	{"signal", "a blocked signal and sigwaitinfo()", P, open_signals, SIGNAL},
	{"futex", "FUTEX_WAKE and FUTEX_WAIT on two words", P, NULL, FUTEX},
	{"futex-thread", "FUTEX_WAKE and FUTEX_WAIT on two words, between two threads", T, NULL, FUTEX},
	{"yield", "sched_yield() by two tasks that never sleep", P, NULL, YIELD, .yields = true},
	{"ucontext", "swapcontext(), without the scheduler", U, .rounds = switch_ucontext_rounds},
	{"bare", "switching only registers and stack", U, switch_open_bare, .rounds = switch_bare_rounds},
};

const struct switch_kind *switch_kind_at(size_t i)
{
	return i < sizeof(kinds) / sizeof(*kinds) ? &kinds[i] : NULL;
}

const struct switch_kind *switch_kind_find(const char *name)
{
	for (size_t i = 0; switch_kind_at(i); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/*
 * Mechanisms that switch between two stacks without the kernel's scheduler. Their cost shows which part of the cost of
 * a switch does not come from the scheduler.
 */
#define STACK_BYTES (64 * 1024)

static void swap_back(unsigned here_high, unsigned here_low, unsigned there_high, unsigned there_low)
{
	/* makecontext(3) passes only arguments of type int, so each pointer was split into two of them. */
	ucontext_t *here = (ucontext_t *)((uintptr_t)here_high << 16 << 16 | here_low);
	ucontext_t *there = (ucontext_t *)((uintptr_t)there_high << 16 << 16 | there_low);
	for (;;)
		swapcontext(here, there);
}

static void switch_ucontext_rounds(uint64_t n)
{
	ucontext_t a;
	ucontext_t b;
	auto_free void *stack = memory_get(STACK_BYTES);
	if (getcontext(&b) < 0)
		abort();
	b.uc_stack.ss_sp = stack;
	b.uc_stack.ss_size = STACK_BYTES;
	b.uc_link = NULL;
	uintptr_t pa = (uintptr_t)&a;
	uintptr_t pb = (uintptr_t)&b;
	makecontext(&b, (void (*)(void))swap_back, 4, (unsigned)(pb >> 16 >> 16), (unsigned)pb,
		    (unsigned)(pa >> 16 >> 16), (unsigned)pa);
	for (uint64_t i = 0; i < n; i++)
		swapcontext(&a, &b);
}

/*
 * switch_bare(save, load): pushes the registers that a called function must preserve, stores the stack pointer in
 * *save, and continues on the stack `load`, which an earlier switch_bare() has saved.
 */
void switch_bare(void **save, void *load);

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl switch_bare\n"
	".hidden switch_bare\n"
	".type switch_bare, @function\n"
	"switch_bare:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n"
	".size switch_bare, . - switch_bare\n"
	".popsection\n");
#define SAVED_WORDS  6 /* saved registers below the return address */
#define RETURN_INDEX 6
#define FRAME_WORDS  8 /* one more word aligns the stack as after a call instruction */
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".globl switch_bare\n"
	".hidden switch_bare\n"
	".type switch_bare, %function\n"
	"switch_bare:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n	str x9, [x0]\n	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size switch_bare, . - switch_bare\n"
	".popsection\n");
#define RETURN_INDEX 11
#define FRAME_WORDS  20
#endif

#ifdef FRAME_WORDS

/* Global, because the function on the second stack receives no arguments and needs both stack pointers. */
static __thread void *bare_here;
static __thread void *bare_there;

static void bare_back(void)
{
	for (;;)
		switch_bare(&bare_there, bare_here);
}

static void switch_bare_rounds(uint64_t n)
{
	auto_free char *stack = aligned_alloc(16, STACK_BYTES);
	if (!stack)
		abort();
	void **top = (void **)(stack + STACK_BYTES) - FRAME_WORDS;
	for (size_t i = 0; i < FRAME_WORDS; i++)
		top[i] = NULL;
	top[RETURN_INDEX] = (void *)bare_back;
	bare_there = top;
	for (uint64_t i = 0; i < n; i++)
		switch_bare(&bare_here, bare_there);
}

static int switch_open_bare(struct switch_pair *p, struct buf *why)
{
	(void)p;
	(void)why;
	return 0;
}

#else

static void switch_bare_rounds(uint64_t n)
{
	(void)n;
}

static int switch_open_bare(struct switch_pair *p, struct buf *why)
{
	(void)p;
	buf_adds(why, "not available for this processor");
	return -ENOSYS;
}

#endif

/* Chooses the measurements of `bench switch`, and makes all of them. */
static void say_unknown(const char *name, struct buf *why)
{
	struct near near = {.word = name};
	for (size_t i = 0; switch_kind_at(i); i++)
		near_offer(&near, switch_kind_at(i)->name);
	buf_addf(why, "there is no kind of switch '%s'; sctrace bench switch --list lists them", name);
	near_say(&near, "", why);
}

int switch_check(char *const *names, size_t n, bool sized, struct buf *why)
{
	for (size_t i = 0; i < n; i++)
		if (!switch_kind_find(names[i])) {
			say_unknown(names[i], why);
			return -EINVAL;
		}
	for (size_t i = 0; i < n && sized; i++)
		if (switch_kind_find(names[i])->tasks == TASKS_USER) {
			buf_addf(why, "--size cannot be used with '%s', which is a switch at user level", names[i]);
			return -EINVAL;
		}
	return 0;
}

static bool is_named(const struct switch_kind *k, char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], k->name) == 0)
			return true;
	return n == 0;
}

size_t switch_choose(struct switch_result **results, char *const *names, size_t n, bool across, bool sized)
{
	size_t all = 0, chosen = 0;
	while (switch_kind_at(all))
		all++;
	*results = memory_zeroed(2 * all + 1, sizeof(**results));
	for (int two = 0; two <= (across ? 1 : 0); two++)
		for (size_t i = 0; i < all; i++) {
			const struct switch_kind *k = switch_kind_at(i);
			/*
			 * User-level switches have no working set. Kinds that use sched_yield(2) are measured only on
			 * one CPU.
			 */
			if (!is_named(k, names, n) || (k->tasks == TASKS_USER && (two || sized)) || (k->yields && two))
				continue;
			(*results)[chosen++] = (struct switch_result){.kind = k, .cpu = {0, two}};
		}
	return chosen;
}

int switch_policy(const struct switch_plan *plan, const struct switch_result *r)
{
	bool across = r->cpu[0] != r->cpu[1];
	return across && plan->policy.policy == SCHED_BATCH ? SCHED_OTHER : plan->policy.policy;
}

int switch_measure_all(const struct switch_plan *plan, struct switch_result *results, size_t n)
{
	int err = 0;
	for (size_t i = 0; i < n && !err && !stop_signal(); i++) {
		struct switch_result *r = &results[i];
		struct switch_plan one = *plan;
		one.progress.done = (double)i;
		one.progress.all = (double)n;
		one.progress.what = r->kind->name;
		one.cpu[1] = plan->cpu[r->cpu[1] ? 1 : 0];
		one.policy.policy = switch_policy(plan, r);
		err = switch_measure(&one, r);
	}
	return err;
}
