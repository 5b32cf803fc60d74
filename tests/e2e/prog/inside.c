/* SPDX-License-Identifier: MIT */
/*
 * x86-64: checks that a program notices no difference if its calls are handled inside its address space: rcx and r11
 * after a call, single-stepping, faults after a call, code that is moved or made writable, and unmapped memory around
 * the stack pointer.
 */
#include "e2e.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <ucontext.h>

/*
 * long NAME(struct regs *): makes a call with rax, rdi, rsi, rdx and the flags from regs, and returns rax, rcx, r11,
 * the flags and the address after the call. Each function has a separate page. If there is padding nearby, sctrace
 * patches two bytes of the function, otherwise five: those of the call and of the instructions after it, or those of
 * the instruction before the call (`load`, which sets rax).
 */
struct regs {
	uint64_t rax, rdi, rsi, rdx, flags, rcx, r11, ip;
};
#define SITE_WITH(load, name, behind, after)                                                                           \
	long name(struct regs *r);                                                                                     \
	extern const char name##_ip[];                                                                                 \
	__asm__(".text\n.p2align 12\n.globl " #name "," #name "_ip\n.type " #name ",@function\n" #name                 \
		":.cfi_startproc\nmov %rdi, %r8\nmov 16(%r8), %rsi; mov 24(%r8), %rdx\npush 32(%r8); popfq\n"          \
		"mov 8(%r8), %rdi; " load "\nsyscall\n" #name "_ip: " behind "\npushfq; pop 32(%r8)\n"                 \
		"mov %rcx, 40(%r8); mov %r11, 48(%r8); mov %rax, (%r8); lea " #name "_ip(%rip), %rcx\n"                \
		"mov %rcx, 56(%r8)\npushq $0x202; popfq\nret\n.cfi_endproc\n.size " #name ",.-" #name "\n" after);
#define SITE(name, behind, after) SITE_WITH("mov (%r8), %rax", name, behind, after)
#define PACKED                    ".rept 64\n.cfi_startproc\nmov $39, %eax\nret\n.cfi_endproc\n.endr\n"
SITE(site_short, "", ".p2align 6\n1: .cfi_startproc\nret\n.cfi_endproc\n")
SITE(site_long, "mov %rax, %rax; mov %rsi, %rsi", PACKED)
SITE(site_none, "jmp 2f\n2:", PACKED)
SITE(site_moved, "", ".p2align 6\n1: .cfi_startproc\nret\n.cfi_endproc\n.p2align 12\n")

SITE_WITH("{disp32} mov (%r8), %rax", site_early, "jmp 2f\n2:", PACKED)

static long (*const sites[])(struct regs *) = {site_short, site_long, site_none, site_early};

static void leaves(long (*site)(struct regs *), uint64_t nr, uint64_t arg, uint64_t flags, int64_t result)
{
	struct regs r = {.rax = nr, .rdi = arg, .rsi = arg, .flags = flags};
	site(&r);
	CHECK((int64_t)r.rax == result);
	CHECK(r.rcx == r.ip);
	CHECK(r.r11 == flags && r.flags == flags);
}

/* rcx is the address after the call, r11 the flags (Intel SDM 2B, SYSCALL), whichever way the call was made. */
static void test_leaves(int argc, char **argv)
{
	const uint64_t flags[] = {0x202, 0xad7, 0x602, 0x200202, 0x240202};
	(void)argc;
	(void)argv;
	for (int i = 0; i < 400; i++) {
		long (*site)(struct regs *) = sites[i % 4];
		uint64_t f = flags[i / 4 % 5];
		leaves(site, SYS_getppid, 0, f, getppid());
		leaves(site, SYS_close, -1, f, -EBADF);
		leaves(site, SYS_rt_sigprocmask, 1, f, -EINVAL);
		leaves(site, -1, 0, f, -ENOSYS);
		leaves(site, SYS_execve, 1, f, -EFAULT);
	}
}

/* --- the program single-steps itself --- */

long step(void (*fn)(void), void *unused);
extern const char step_code[], step_end[];
__asm__(".text\n.p2align 6\n.globl step\n.type step,@function\nstep: .cfi_startproc\npushfq; orq $0x100, (%rsp); "
	"popfq\n"
	"step_code: nop\nmov $110, %eax\nsyscall\nmov %eax, %edx; mov %eax, %esi\nnop\nmov $39, %eax\nsyscall\n"
	"pushfq; andq $~0x100, (%rsp); popfq\nnop\nstep_end: mov %edx, %eax\nret\n.cfi_endproc\n.size step,.-step\n");
/* Like step(), but the first call can only be patched by a jump over the instruction before it. */
long step_early(void (*fn)(void), void *unused);
extern const char early_code[], early_end[];
__asm__(".text\n.p2align 6\n" PACKED
	"1: .globl step_early\n.type step_early,@function\nstep_early: .cfi_startproc\npushfq; orq $0x100, (%rsp); "
	"popfq\n"
	"early_code: nop\nmov $110, %eax\nsyscall\njmp 2f\n2: mov %eax, %edx; mov %eax, %esi\nnop\n"
	"pushfq; andq $~0x100, (%rsp); popfq\nnop\nearly_end: mov %edx, %eax\nret\n.cfi_endproc\n"
	".size step_early,.-step_early\n" PACKED);
static const char *step_from, *step_to;
static int nsteps;
static unsigned char steps[64];

static void on_step(int sig, siginfo_t *si, void *u)
{
	uint64_t ip = (uint64_t)((ucontext_t *)u)->uc_mcontext.gregs[REG_RIP];
	CHECK(sig == SIGTRAP && si->si_code == TRAP_TRACE && (uint64_t)si->si_addr == ip && nsteps < 64);
	CHECK(ip > (uint64_t)step_from && ip <= (uint64_t)step_to);
	steps[nsteps++] = (unsigned char)(ip - (uint64_t)step_from);
}

/*
 * While the program single-steps itself, each instruction raises one SIGTRAP. As without a tracer, there is none
 * between a call and the end of the next instruction.
 */
static void test_step(int argc, char **argv)
{
	static const unsigned char want[] = {1, 6, 10, 12, 13, 18, 21, 29, 30};
	static const unsigned char want_early[] = {1, 6, 10, 12, 14, 15, 16, 24, 25};
	struct sigaction sa = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	(void)argc;
	(void)argv;
	CHECK(sigaction(SIGTRAP, &sa, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		nsteps = 0;
		step_from = step_code;
		step_to = step_end;
		CHECK(step(NULL, NULL) == getppid());
		CHECK(nsteps == sizeof want && memcmp(steps, want, sizeof want) == 0);
		nsteps = 0;
		step_from = early_code;
		step_to = early_end;
		CHECK(step_early(NULL, NULL) == getppid());
		CHECK(nsteps == sizeof want_early && memcmp(steps, want_early, sizeof want_early) == 0);
	}
	puts("stepped");
}

/* --- the instruction after a call faults --- */

long divides(long divisor);
extern const char divides_ip[];
__asm__(".text\n.p2align 6\n" PACKED
	"1: .globl divides\n.type divides,@function\ndivides: .cfi_startproc\nmov $110, %eax\n"
	"syscall\ndivides_ip: xor %edx, %edx; div %edi\nret\n.cfi_endproc\n.size divides,.-divides\n" PACKED);
long loads(const char *p);
extern const char loads_ip[];
__asm__(".text\n.p2align 6\n" PACKED "1: .globl loads\n.type loads,@function\nloads: .cfi_startproc\nmov $110, %eax\n"
	"mov $7, %edx\nsyscall\nloads_ip: inc %edx\nmov (%rdi), %r8b\ninc %edx\nmov %edx, %eax\nret\n.cfi_endproc\n"
	".size loads,.-loads\n" PACKED);
static int nfaults;
static const char readable;

static void on_fault(int sig, siginfo_t *si, void *u)
{
	greg_t *g = ((ucontext_t *)u)->uc_mcontext.gregs;
	CHECK(sig == SIGSEGV ? si->si_addr == (void *)8 && g[REG_RIP] == (greg_t)loads_ip + 2 && g[REG_RDX] == 8
			     : si->si_addr == divides_ip + 2 && g[REG_RIP] == (greg_t)divides_ip + 2);
	g[REG_RDI] = sig == SIGSEGV ? (greg_t)&readable : 3;
	nfaults++;
}

static void test_faults(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	(void)argc;
	(void)argv;
	CHECK(sigaction(SIGSEGV, &sa, NULL) == 0 && sigaction(SIGFPE, &sa, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(loads(i % 2 ? &readable : (char *)8) == 9);
		CHECK(divides(i % 2) == getppid() / (i % 2 ? 1 : 3));
	}
	CHECK(nfaults == 20);
}

/* --- patched code that the program moves to another address or overwrites --- */

static void must_call(long (*site)(struct regs *))
{
	for (int i = 0; i < 5; i++) {
		struct regs r = {.rax = SYS_getppid, .flags = 0x202};
		site(&r);
		CHECK((int64_t)r.rax == getppid());
	}
}

/*
 * Patched code of the program is moved, and copied after it was made writable: the bytes must be those that the
 * compiler generated.
 */
static void test_remap(int argc, char **argv)
{
	char before[4096], *code = (char *)(uintptr_t)site_short;
	(void)argc;
	(void)argv;
	memcpy(before, code, sizeof before);
	must_call(site_short);
	CHECK(mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	CHECK(memcmp(before, code, sizeof before) == 0);
	CHECK(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
	must_call(site_short);
	char *to = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(code, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
	CHECK(memcmp(before, to, sizeof before) == 0);
	must_call((long (*)(struct regs *))(uintptr_t)to);
	CHECK(mmap(code, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == code);
	memcpy(code, before, sizeof before);
	CHECK(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
	must_call(site_short);
	must_call(site_moved);
	CHECK(mremap(to, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(uintptr_t)site_moved) != MAP_FAILED);
	must_call(site_moved);
}

/* --- memory around the stack pointer --- */

long with_stack(long nr, void *a, long b, long c, void *sp);
__asm__(".text\n.p2align 6\n.globl with_stack\n.type with_stack,@function\nwith_stack: .cfi_startproc\nmov %rdi, %rax; "
	"mov %rsi, %rdi\n"
	"mov %rdx, %rsi; mov %rcx, %rdx; mov %rsp, %r9; mov %r8, %rsp\nsyscall\nmov %r9, %rsp\nret\n.cfi_endproc\n"
	".size with_stack,.-with_stack\n");

/*
 * Unmaps the page below the stack pointer, or the one it points into: the call must not need the memory of the stack.
 */
static void test_edges(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (long at = -64; at < 512; at += 8)
		for (int upper = 0; upper < 2; upper++) {
			char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char *page = p + (upper ? 4096 : 0);
			CHECK(with_stack(SYS_madvise, page, 4096, MADV_DONTNEED, p + 4096 + at) == 0);
			CHECK(with_stack(SYS_mprotect, page, 4096, PROT_READ, p + 4096 + at) == 0);
			CHECK(with_stack(SYS_munmap, page, 4096, 0, p + 4096 + at) == 0);
			munmap(p, 3 * 4096);
		}
}

static volatile int nalarms;

static void on_alarm(int sig)
{
	(void)sig;
	nalarms++;
}

/* Signals arrive at each instruction of the code that counts a failed call. */
static void test_errors(int argc, char **argv)
{
	const char *volatile nowhere = NULL;
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {0};
	struct sigaction sa = {.sa_handler = on_alarm};
	(void)argc;
	(void)argv;
	CHECK(sigaction(SIGALRM, &sa, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
	while (nalarms < 3000)
		CHECK(close(-1) == -1 && errno == EBADF && access(nowhere, F_OK) == -1 && errno == EFAULT &&
		      syscall(1000) == -1 && errno == ENOSYS);
	CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

/* --- a handler returns to an instruction after a call, which is in the middle of a long jump --- */

#define NAPS 12
/* Makes nanosleep(2) in function number `number`, and returns its result. */
long nap(const struct timespec *time, long number);
extern const char naps[], naps_end[];
#define NAP_SIZE  32
#define NAP_AFTER 7 /* offset of the instruction after the call */
__asm__(".text\n.p2align 6\n" PACKED
	"naps: .rept 12\n.cfi_startproc\nmov $35, %eax\nsyscall\nmov %eax, %edx; mov %eax, %ecx\n"
	"cmp %edx, %ecx; je 1f; ud2; 1: movslq %edx, %rax\nret\n.p2align 5, "
	"0xc3\n.cfi_endproc\n.endr\nnaps_end:\n" PACKED
	".globl nap\nnap: .cfi_startproc\nimul $32, %rsi; lea naps(%rip), %rax; add %rsi, %rax; xor %esi, %esi; "
	"jmp *%rax\n.cfi_endproc\n");

static enum { JUST_RETURNS, NESTED, FORKS, JUMPS, FALLS_BACK, SEVERAL } returning;
static volatile int nreturns;
static jmp_buf out_of_nap;

static void on_return(int sig, siginfo_t *si, void *u)
{
	const char *ip = (const char *)((ucontext_t *)u)->uc_mcontext.gregs[REG_RIP]; /* NOLINT */
	(void)si;
	/* The signal may come before the call. Natively, the handler returns to the instruction after the call. */
	if (sig == SIGALRM && !(ip >= naps && ip < naps_end && (ip - naps) % NAP_SIZE == NAP_AFTER))
		return;
	nreturns++;
	CHECK(setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL) == 0);
	if (sig == SIGALRM && returning == NESTED)
		CHECK(raise(SIGUSR1) == 0);
	if (returning == FORKS && fork() == 0)
		returning = JUST_RETURNS;
	if (returning == JUMPS)
		siglongjmp(out_of_nap, 1);
	if (returning == FALLS_BACK)
		CHECK(prctl(PR_SET_TSC, PR_TSC_ENABLE) == 0);
}

static void try_return(long number)
{
	const struct itimerval soon = {{0, 3000}, {0, 1000}};
	const struct timespec second = {1, 0};
	const pid_t own = getpid();
	const int before = nreturns;
	do {
		if (sigsetjmp(out_of_nap, 1) == 0) {
			CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
			const long result = nap(&second, number);
			CHECK(result == -EINTR);
		}
		if (getpid() != own)
			_exit(7);
		/*
		 * Under any tracer, the kernel may restart the call, and a handler that runs before the restart makes it fail.
		 * After the image has fallen back, the handler may see an address in a stub.
		 */
	} while (nreturns == before && (returning != FALLS_BACK || !before));
}

/* Handlers return to the instruction after a call that they have interrupted: in mode `several`, to more of them than the agent notes. */
static void test_returns(int argc, char **argv)
{
	static const char *const modes[] = {"plain", "nested", "forks", "jumps", "falls_back", "several"};
	struct sigaction sa = {.sa_sigaction = on_return, .sa_flags = SA_SIGINFO};
	const int n = number(argc, argv, 1, 100);
	const struct timespec none = {0, 0};
	int status;
	while (argc > 0 && strcmp(modes[returning], argv[0]) != 0)
		returning++;
	CHECK(sigaction(SIGALRM, &sa, NULL) == 0 && sigaction(SIGUSR1, &sa, NULL) == 0);
	for (long k = 0; k < NAPS; k++)
		CHECK(nap(&none, k) == 0);
	for (int i = 0; i < n; i++) {
		try_return(returning == SEVERAL ? i % NAPS : i % 4);
		if (returning == FORKS)
			CHECK(wait(&status) > 0 && WEXITSTATUS(status) == 7);
	}
}

/* --- a thread is in a call that was interrupted and has begun again, while handlers of another thread return --- */

static int waited_for[2];

static void on_waiting(int sig)
{
	(void)sig;
	nreturns++;
}

static void *wait_for_byte(void *arg)
{
	char byte;
	CHECK(read(waited_for[0], &byte, 1) == 1);
	return arg;
}

static void test_restarted(int argc, char **argv)
{
	const struct sigaction sa = {.sa_handler = on_waiting, .sa_flags = SA_RESTART};
	const int n = number(argc, argv, 0, 200);
	const struct timespec pause = {0, 20000000};
	pthread_t waiting;
	CHECK(sigaction(SIGUSR1, &sa, NULL) == 0 && pipe(waited_for) == 0);
	CHECK(pthread_create(&waiting, NULL, wait_for_byte, NULL) == 0 && nanosleep(&pause, NULL) == 0);
	CHECK(pthread_kill(waiting, SIGUSR1) == 0);
	while (!nreturns)
		CHECK(nanosleep(&pause, NULL) == 0);
	CHECK(nanosleep(&pause, NULL) == 0);
	for (int i = 0; i < n; i++)
		CHECK(raise(SIGUSR1) == 0);
	CHECK(nreturns == n + 1);
	CHECK(write(waited_for[1], "x", 1) == 1 && pthread_join(waiting, NULL) == 0);
}

#define READERS 7
static int pipes[READERS][2];

static void *read_byte(void *arg)
{
	char byte;
	CHECK(read(((int *)arg)[0], &byte, 1) == 1 && byte == 'x');
	return arg;
}

static void *set_ids(void *arg)
{
	CHECK(setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1) == 0);
	return arg;
}

/* setresuid(3) interrupts the reads of all threads by a signal, whose handler makes a call. The reads begin again. */
static void interrupt_threads(void)
{
	const struct timespec pause = {0, 5000000};
	pthread_t readers[READERS], setter;
	for (int i = 0; i < READERS; i++)
		CHECK(pipe(pipes[i]) == 0 && pthread_create(&readers[i], NULL, read_byte, pipes[i]) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK(nanosleep(&pause, NULL) == 0);
		CHECK(pthread_create(&setter, NULL, set_ids, NULL) == 0 && pthread_join(setter, NULL) == 0);
	}
	for (int i = 0; i < READERS; i++)
		CHECK(write(pipes[i][1], "x", 1) == 1 && pthread_join(readers[i], NULL) == 0);
	_exit(0);
}

/* For each byte of standard input, signals interrupt the threads of a child. Before and after, sctrace attaches and detaches, or is killed. */
static void test_interrupted(int argc, char **argv)
{
	char byte;
	(void)argc;
	(void)argv;
	CHECK(write(1, "ready\n", 6) == 6);
	while (read(0, &byte, 1) == 1) {
		pid_t pid = fork();
		if (pid == 0)
			interrupt_threads();
		reap_ok(pid, 0);
		CHECK(write(1, "checked\n", 8) == 8);
	}
}

static const struct test tests[] = {
	{"leaves", test_leaves},   {"step", test_step},           {"faults", test_faults},
	{"remap", test_remap},     {"edges", test_edges},         {"errors", test_errors},
	{"returns", test_returns}, {"restarted", test_restarted}, {"interrupted", test_interrupted},
};
TEST_MAIN(tests)
