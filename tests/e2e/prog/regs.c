/* SPDX-License-Identifier: MIT */
/*
 * x86-64: a system call changes rax, rcx and r11, and nothing else: no other register, no flag, no byte below the stack
 * pointer. Tested at sites of every shape that a patching tracer meets.
 */
#include "e2e.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* The state before and after a site; the assembly below uses these offsets. */
struct regs {
	uint64_t rax, rbx, rdx, rsi, rdi, rbp, r8, r9, r10, r12, r13, r14, r15, flags;
	uint64_t red[16];
	unsigned char xmm[16][16];
};

/*
 * long NAME(const struct regs *in, struct regs *out): loads everything, runs `body`, which contains one system call,
 * and stores everything. The body may use 8(%rsp). The red zone is filled before and copied afterwards; the flags are
 * stored last, because pushing them writes there.
 */
#define LOAD                                                                                                           \
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; pushq $0; push %rsi\n"                      \
	".set i, 0\n .rept 16\n mov 112+8*i(%rdi), %rax; mov %rax, -8-8*i(%rsp)\n .set i, i+1\n .endr\n"               \
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n movups 240+16*\\n(%rdi), %xmm\\n\n .endr\n"                   \
	"lea -136(%rsp), %rsp; pushq 104(%rdi); popfq; lea 136(%rsp), %rsp\n"                                          \
	"mov 0(%rdi), %rax; mov 8(%rdi), %rbx; mov 16(%rdi), %rdx; mov 24(%rdi), %rsi; mov 40(%rdi), %rbp\n"           \
	"mov 48(%rdi), %r8; mov 56(%rdi), %r9; mov 64(%rdi), %r10; mov 72(%rdi), %r12; mov 80(%rdi), %r13\n"           \
	"mov 88(%rdi), %r14; mov 96(%rdi), %r15; mov 32(%rdi), %rdi\n"
#define SAVE                                                                                                           \
	"mov (%rsp), %rcx\n"                                                                                           \
	"mov %rax, 0(%rcx); mov %rbx, 8(%rcx); mov %rdx, 16(%rcx); mov %rsi, 24(%rcx); mov %rdi, 32(%rcx)\n"           \
	"mov %rbp, 40(%rcx); mov %r8, 48(%rcx); mov %r9, 56(%rcx); mov %r10, 64(%rcx); mov %r12, 72(%rcx)\n"           \
	"mov %r13, 80(%rcx); mov %r14, 88(%rcx); mov %r15, 96(%rcx)\n"                                                 \
	".set i, 0\n .rept 16\n mov -8-8*i(%rsp), %r11; mov %r11, 112+8*i(%rcx)\n .set i, i+1\n .endr\n"               \
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n movups %xmm\\n, 240+16*\\n(%rcx)\n .endr\n"                   \
	"pushfq; popq 104(%rcx); cld\n"
#define STORE SAVE "pop %rsi; pop %rsi; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"
#define SITE(name, body)                                                                                               \
	void name(const struct regs *in, struct regs *out);                                                            \
	__asm__(".text\n.p2align 6\n.globl " #name "\n.type " #name ",@function\n" #name ":\n.cfi_startproc\n" LOAD    \
		"\n" body "\n" STORE ".cfi_endproc\n.size " #name ",.-" #name "\n");

/* Sites with different instructions after the call. */
SITE(site_plain, "syscall")
SITE(site_nop, "syscall; nop; nop; nop; nop")
SITE(site_compare, "syscall; mov %rax, %r11; cmp $-4095, %r11;")
SITE(site_jump, "syscall; jmp 1f; ud2; ud2\n1:")
SITE(site_short_jump, "syscall; jmp 1f\n1: nop")
SITE(site_rip, "syscall; mov site_rip(%rip), %r11")
SITE(site_lea, "syscall; lea 0(%rip), %rcx; mov %rcx, %r11")
SITE(site_call, "syscall; lea -256(%rsp), %rsp; call 1f; lea 256(%rsp), %rsp; jmp 2f\n1: ret\n2:")
/* A site with a jump to just after the call, and one to the call itself. */
SITE(site_into,
     "jmp 2f\n1: syscall\n3: nop; nop; nop; jmp 4f\n2: mov $1, %r11d; jmp 1b\n4: mov $7, %ecx; jmp 5f; jmp 3b\n5:")
/* A loop whose branch jumps to the bytes just after the call. The first iteration makes the call, two more do not. */
SITE(site_behind, "mov %rax, %r11; mov $3, %ecx; mov %rcx, 8(%rsp); syscall\n1: mov %rax, %r11; lea 1(%r11), %r11\n"
		  "mov 8(%rsp), %rcx; lea -1(%rcx), %rcx; mov %rcx, 8(%rsp); jrcxz 2f; jmp 1b\n2:")
/* A branch to two bytes after the call, into the bytes that a five-byte jump would cover. */
SITE(site_middle, "mov $1, %r11d; mov %r11, 8(%rsp)\nsyscall\nnop; nop\n1: nop; mov 8(%rsp), %rcx; jrcxz 2f\n"
		  "movq $0, 8(%rsp); jmp 1b\n2:")
/* Sites that cross a cache line or a page. */
SITE(site_line, "jmp 1f; .p2align 6; .fill 63, 1, 0x90\n1: syscall; nop")
SITE(site_page, "jmp 1f; .p2align 12; .fill 4095, 1, 0x90\n1: syscall; nop")
SITE(site_line_inside, "jmp 1f; .p2align 6; .fill 62, 1, 0x90\n1: syscall; nop")
/* A call instruction in a function of its own, as in some runtimes. */
SITE(site_function, "lea -256(%rsp), %rsp; call raw_syscall; lea 256(%rsp), %rsp")
__asm__(".text\n.p2align 4\nraw_syscall: syscall; ret\n");
/* A site with an invalid stack pointer, which is permitted, because the kernel does not use it. */
SITE(site_no_stack, "movq %rsp, %xmm15; mov $0, %esp; syscall; movq %xmm15, %rsp")

struct site {
	const char *name;
	void (*run)(const struct regs *, struct regs *);
	bool keeps_flags, keeps_xmm15;
};

static const struct site sites[] = {
	{"plain", site_plain, true, true},
	{"nop", site_nop, true, true},
	{"compare", site_compare, false, true},
	{"jump", site_jump, true, true},
	{"short_jump", site_short_jump, true, true},
	{"rip", site_rip, true, true},
	{"lea", site_lea, true, true},
	{"call", site_call, true, true},
	{"into", site_into, true, true},
	{"behind", site_behind, true, true},
	{"middle", site_middle, true, true},
	{"line", site_line, true, true},
	{"page", site_page, true, true},
	{"line_inside", site_line_inside, true, true},
	{"function", site_function, true, true},
	{"no_stack", site_no_stack, true, false},
};

static void fill(struct regs *in, unsigned seed)
{
	unsigned char *p = (unsigned char *)in;
	for (size_t i = 0; i < sizeof *in; i++)
		p[i] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
}

/* Combinations of the carry, parity, auxiliary, zero, sign, direction and overflow flags. */
static uint64_t some_flags(unsigned i)
{
	const unsigned bits[] = {1, 4, 16, 64, 128, 1024, 2048};
	uint64_t flags = 0x202;
	for (int k = 0; k < 7; k++)
		if (i >> k & 1)
			flags |= bits[k];
	return flags;
}

static void check(const struct site *s, const struct regs *in, const struct regs *out, uint64_t result)
{
	struct regs want = *in;
	want.rax = result;
	if (!s->keeps_flags)
		want.flags = out->flags;
	if (!s->keeps_xmm15)
		memcpy(want.xmm[15], out->xmm[15], 16);
	const uint64_t *a = (const uint64_t *)&want, *b = (const uint64_t *)out;
	for (size_t i = 0; i < sizeof want / 8; i++)
		if (a[i] != b[i]) {
			dprintf(2, "site %s: word %zu was %llx, is %llx\n", s->name, i, (unsigned long long)a[i],
				(unsigned long long)b[i]);
			_exit(99);
		}
}

static void try_site(const struct site *s, int n)
{
	uint64_t parent = getppid();
	for (int i = 0; i < n; i++) {
		struct regs in, out;
		fill(&in, i + 1);
		in.rax = SYS_getpgid;
		in.rdi = 0;
		in.flags = some_flags(i);
		memset(&out, 0, sizeof out);
		s->run(&in, &out);
		check(s, &in, &out, getpgrp());
		in.rax = SYS_getppid;
		s->run(&in, &out);
		check(s, &in, &out, parent);
		in.rax = SYS_close;
		in.rdi = -1;
		s->run(&in, &out);
		check(s, &in, &out, (uint64_t)-EBADF);
	}
}

/* Tests all sites, or the named one. */
static void test_all(int argc, char **argv)
{
	int n = number(argc, argv, 0, 128), tried = 0;
	for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
		if (argc < 2 ? strcmp(sites[i].name, "no_stack") != 0 : strcmp(sites[i].name, argv[1]) == 0) {
			try_site(&sites[i], n);
			tried++;
		}
	CHECK(tried > 0);
	printf("%d sites\n", tried);
}

static void *all_sites(void *arg)
{
	test_all(0, NULL);
	return arg;
}

/* Several threads test the same sites at the same time. */
static void test_threads(int argc, char **argv)
{
	pthread_t t[6];
	(void)argc;
	(void)argv;
	for (int i = 0; i < 6; i++)
		CHECK(pthread_create(&t[i], NULL, all_sites, NULL) == 0);
	for (int i = 0; i < 6; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
}

/*
 * Functions that begin with no-operations. One of them is just after a site, so bytes that look like padding are
 * executed.
 */
__attribute__((patchable_function_entry(30, 15))) int nop_entry_b(int x);
__attribute__((patchable_function_entry(30, 15), noinline)) int nop_entry_b(int x)
{
	return syscall(SYS_getppid) > 0 ? x + 1 : 0;
}
/* A function that consists of nops, between two sites. It has no unwind data and no symbol size. */
long nop_row(long nr);
__asm__(".text\n.p2align 4\n.globl nop_row\nnop_row: mov %rdi, %rax; jmp 1f\n"
	".fill 15, 1, 0x90\n.globl nop_live\nnop_live: .fill 15, 1, 0x90\nmov $4711, %eax; ret\n1: syscall; ret\n"
	".fill 13, 1, 0x90\n");
long nop_live(void);

static void test_padding(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 100; i++) {
		CHECK(nop_entry_b(i) == i + 1);
		CHECK(nop_row(SYS_getppid) == getppid());
		CHECK(nop_live() == 4711);
	}
	puts("padding was code");
}

/* mxcsr, x87 and AVX state are preserved. */
static void test_float(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	unsigned mxcsr = 0x7f80, now;
	unsigned short cw = 0x0e7f, cw_now;
	__asm__ volatile("ldmxcsr %0; fldcw %1" ::"m"(mxcsr), "m"(cw));
	for (int i = 0; i < 100; i++) {
		long result;
		double d = i + 0.5, back;
		unsigned char in[32], out[32];
		memset(in, i, 32);
		__asm__ volatile(
			"fldl %4\n vmovups %3, %%ymm3\n mov %5, %%eax\n syscall\n vmovups %%ymm3, %2\n fstpl %1\n"
			: "=&a"(result), "=m"(back), "=m"(out)
			: "m"(in), "m"(d), "i"(SYS_getppid)
			: "rcx", "r11", "memory", "xmm3");
		CHECK(result == getppid() && back == d && memcmp(in, out, 32) == 0);
	}
	__asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(now), "=m"(cw_now));
	CHECK((now & ~0x3fu) == mxcsr && cw_now == cw);
	puts("state kept");
}

/*
 * A build with -Wl,-e,first begins execution at `first`. It saves the registers, the arithmetic flags (by lahf and
 * seto), and the memory below the stack pointer. execve(2) sets all of these to 0.
 */
#define STACK_BELOW 20000
uint64_t first_regs[15], first_flags = UINT64_MAX;
unsigned char first_below[STACK_BELOW];
void _start(void);
__asm__(".text\n.globl first\nfirst:\n"
	".set i, 0\n .irp reg, rax,rbx,rcx,rdx,rsi,rdi,rbp,r8,r9,r10,r11,r12,r13,r14,r15\n"
	"mov %\\reg, first_regs+i(%rip)\n .set i, i+8\n .endr\n"
	"lahf; seto %al; mov %rax, first_flags(%rip)\n"
	"lea -20000(%rsp), %rsi; lea first_below(%rip), %rdi; mov $20000, %ecx; rep movsb\n"
	"mov first_regs+24(%rip), %rdx; jmp _start\n");

/*
 * Executes this program `more` times. With a second argument, memory that was writable cannot become executable
 * (PR_SET_MDWE(2const)).
 */
static void test_first(int argc, char **argv)
{
	int more = argc > 0 ? atoi(argv[0]) : 0;
	char rest[16];
	if (argc > 1)
		prctl(65 /* PR_SET_MDWE, Linux 6.3 */, 1, 0, 0, 0);
	for (int i = 0; i < 15; i++)
		CHECK(first_regs[i] == 0);
	CHECK((first_flags & 0xd501) == 0);
	for (int i = 0; i < STACK_BELOW; i++)
		CHECK(first_below[i] == 0);
	snprintf(rest, sizeof(rest), "%d", more - 1);
	if (more > 0)
		execl("/proc/self/exe", "regs", "first", rest, argv[1], (char *)NULL);
	CHECK(more == 0);
	puts("as it should begin");
}

/*
 * Functions like those of Go: no unwind table describes them, and int3 instructions follow them. The instruction after
 * the call is a jump target, so it cannot be moved. Both functions return a constant that contains int3 in their last
 * argument.
 */
#define UNDESCRIBED(name, end)                                                                                         \
	".p2align 5\n" #name ":\n"                                                                                     \
	"	movabs $0xcccccccccccccccd, %rax\n"                                                                          \
	"	mov %rax, (%rdi)\n"                                                                                          \
	"	mov $110, %eax\n" /* getppid */                                                                        \
	"	jmp 2f\n"                                                                                                    \
	"1:	movabs $0xcccccccccccccccd, %rdx\n"                                                                        \
	"	xor %rdx, (%rdi)\n"                                                                                          \
	"	ret\n"                                                                                                       \
	"2:	syscall\n"                                                                                                 \
	"3:	test %rax, %rax\n"                                                                                         \
	"	jns 4f\n"                                                                                                    \
	"	jmp 3b\n"                                                                                                    \
	"4:	movabs $0xcccccccccccccccd, %rdx\n"                                                                        \
	"	cmp %rdx, (%rdi)\n"                                                                                          \
	"	je 1b\n"                                                                                                     \
	"	ret\n" end
__asm__(".text\n" UNDESCRIBED(undescribed, ".fill 5, 1, 0xcc\n.p2align 5, 0xcc\n") UNDESCRIBED(cramped, ""));
long undescribed(uint64_t *constant);
long cramped(uint64_t *constant);

/* The call crosses a page. It can only be patched by a jump over the instruction before it. */
__asm__(".text\n.p2align 12\n.fill 0xfec, 1, 0x90\n.globl crossing\n.type crossing,@function\n"
	"crossing: .cfi_startproc\n"
	"	mov %rsp, %rsi; cmp %rsi, %rdi\n"
	"	je 1f\n"
	"	movl $110, %eax\n" /* getppid */
	"	nop\n"
	"	mov $110, %eax\n"
	"	syscall\n"
	"	jmp 1f\n"
	"1:	ret\n"
	"	.cfi_endproc\n.size crossing,.-crossing\n");
long crossing(void *unused);

static void test_crossing(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	for (int i = 0; i < n; i++)
		CHECK(crossing(NULL) == getppid());
	calls("getppid", 2 * n, 0);
}

/*
 * A function with an indirect jump, which has two targets: the syscall instruction, and the instruction before it, which
 * is long enough to be overwritten with a jump.
 */
__asm__(".text\n.globl indirect\n.type indirect,@function\n"
	"indirect: .cfi_startproc\n"
	"	mov %rsi, %rax\n"
	"	jmp *%rdi\n"
	".globl indirect_number\n"
	"indirect_number: mov $39, %eax\n" /* getpid */
	".globl indirect_call\n"
	"indirect_call: syscall\n"
	"	ret\n"
	"	.cfi_endproc\n.size indirect,.-indirect\n");
long indirect(const void *to, long nr);
extern const char indirect_number[], indirect_call[];

static void test_indirect(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	long pid = getpid(), parent = getppid();
	for (int i = 0; i < n; i++) {
		CHECK(indirect(indirect_number, 0) == pid);
		CHECK(indirect(indirect_call, 110 /* getppid */) == parent);
	}
	calls("getpid", n + 1, 0);
	calls("getppid", n + 1, 0);
}

static void test_undescribed(int argc, char **argv)
{
	int n = number(argc, argv, 0, 100);
	uint64_t constant;
	for (int i = 0; i < n; i++) {
		CHECK(undescribed(&constant) == getppid() && constant == 0);
		CHECK(i >= 100 || (cramped(&constant) == getppid() && constant == 0));
	}
	calls("getppid", 2 * n + 2 * (n < 100 ? n : 100), 0);
}

/*
 * Functions that a thread enters behind the call as well: long NAME(long behind, long nr). If `behind` is 0, the function
 * makes call `nr`, otherwise it returns `nr`. No unwind table describes them, as in hand-written assembly, and the
 * instructions behind the call are long enough to be overwritten with a jump.
 */
#define ENTERED(name, body)                                                                                            \
	long name(long behind, long nr);                                                                               \
	__asm__(".text\n" APART ".globl " #name "\n.type " #name ",@function\n" #name ":\n" body "\n" APART);
/* Each function is alone, so that each tests its own rule. */
#define APART   ".p2align 5\n.fill 1024, 1, 0xc3\n"
#define CALL_ME "	mov %rsi, %rax; test %rdi, %rdi\n"
#define AFTER   "2:	mov %esi, %esi\n3:	mov %esi, %esi; ret\n"
ENTERED(by_short_jump, CALL_ME "	jnz 3f\n1:	syscall\n" AFTER)
ENTERED(by_jump_back, CALL_ME "	jnz 4f\n1:	syscall\n" AFTER "4:	nop; jmp 3b\n")
ENTERED(by_long_jump, CALL_ME "	jz 1f\n	jmp far_away\n1:	syscall\n2:	mov %esi, %esi\n"
			      "back_from_far: mov %esi, %esi; ret\n.pushsection .text.far,\"ax\"\n"
			      ".fill 4096, 1, 0xcc\nfar_away: jmp back_from_far\n.popsection")
ENTERED(by_call, CALL_ME "	jz 1f\n	lea -256(%rsp), %rsp; call 3f; lea 256(%rsp), %rsp; ret\n"
			 "1:	syscall\n" AFTER)
ENTERED(by_table, "	mov %rsi, %rax; lea 4f(%rip), %rcx; jmp *(%rcx,%rdi,8)\n1:	syscall\n" AFTER
		  ".pushsection .data.rel.ro,\"aw\"\n.balign 8\n4:	.quad 1b, 3b\n.popsection")
ENTERED(by_distances,
	"	mov %rsi, %rax; lea 4f(%rip), %rcx; movslq (%rcx,%rdi,4), %rdi; add %rcx, %rdi; jmp *%rdi\n"
	"1:	syscall\n" AFTER ".pushsection .rodata\n.balign 4\n4:	.long 1b-4b, 3b-4b\n.popsection")
ENTERED(by_pointer, CALL_ME "	jz 1f\n	mov 4f(%rip), %rdi; push %rdi; ret\n1:	syscall\n" AFTER
			    ".pushsection .data.rel.ro,\"aw\"\n.balign 8\n4:	.quad 3b\n.popsection")
ENTERED(by_sum, "	mov %rsi, %rax; imul $(3f-1f), %rdi; lea 1f(%rip), %rcx; add %rcx, %rdi; jmp *%rdi\n"
		"1:	syscall\n" AFTER)
/* The bytes behind the call are mov $0x90c3f089,%ecx, and from the second one on, mov %esi,%eax; ret. */
ENTERED(by_overlap, CALL_ME "	jnz 2f+1\n1:	syscall\n2:	mov $0x90c3f089, %ecx; ret\n")
/* The instruction before the call is mov $39,%eax, and from the second byte on, daa, which is invalid, or mov %esi,%eax. */
ENTERED(before_call, "	test %rdi, %rdi; jnz 1f+1\n	mov %rsi, %rax; jmp 2f\n1:	mov $0x90c3f089, %eax\n"
		     "2:	syscall; ret\n	nop; jmp 2b\n")
/* The number between the functions looks like padding, and is read. */
ENTERED(by_data, CALL_ME "	jz 1f\n	mov %rsi, %rax; mov 4f(%rip), %rcx; mov $-1, %rdi; sub %rdi, %rcx\n"
			 "	mov $0x9090909090909091, %rdi; sub %rdi, %rcx; add %rcx, %rax; ret\n"
			 "1:	syscall; ret\n4:	.quad 0x9090909090909090\n")

static const struct {
	const char *name;
	long (*run)(long behind, long nr);
} entered[] = {
	{"by_short_jump", by_short_jump},
	{"by_jump_back", by_jump_back},
	{"by_long_jump", by_long_jump},
	{"by_call", by_call},
	{"by_table", by_table},
	{"by_distances", by_distances},
	{"by_pointer", by_pointer},
	{"by_sum", by_sum},
	{"by_overlap", by_overlap},
	{"before_call", before_call},
	{"by_data", by_data},
};

static void test_entered(int argc, char **argv)
{
	const int n = number(argc, argv, 0, 100), functions = sizeof entered / sizeof *entered;
	for (int k = 0; k < functions; k++)
		for (int i = 0; i < n; i++) {
			if (entered[k].run(0, SYS_getppid) == getppid() && entered[k].run(1, 4711 + i) == 4711 + i)
				continue;
			dprintf(2, "%s: wrong result\n", entered[k].name);
			_exit(99);
		}
	calls("getppid", 2 * n * functions, 0);
}

/*
 * Unwinders recognise the code to which a signal handler returns by its bytes, if no unwind table describes it. So a
 * tracer must not change them.
 */
__asm__(".text\n" APART ".globl restorer\nrestorer: mov $15, %rax; syscall\nnop; nop; nop; nop; ret\n" APART);
extern const unsigned char restorer[];

static void ignore(int sig)
{
	(void)sig;
}

static void test_restorer(int argc, char **argv)
{
	static const unsigned char bytes[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	const int n = number(argc, argv, 0, 50);
	const struct {
		void (*handler)(int);
		unsigned long flags;
		const unsigned char *restorer;
		uint64_t mask;
	} action = {ignore, 0x04000000 /* SA_RESTORER */, restorer, 0};
	CHECK(syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8) == 0);
	for (int i = 0; i < n; i++) {
		CHECK(raise(SIGUSR1) == 0);
		CHECK(memcmp(restorer, bytes, sizeof bytes) == 0);
	}
	calls("rt_sigreturn", n, 0);
}

/* A thread that begins after the call stores its state where the top of its stack points, and ends. */
#define THREAD "mov %rax, %rcx; jrcxz 1f; jmp 2f\n1:" SAVE "mov $60, %eax; xor %edi, %edi; syscall; ud2\n2:"
SITE(site_thread, "syscall;" THREAD)
SITE(site_thread_nop, "syscall; nop; nop; nop; nop;" THREAD)
SITE(site_thread_line, "jmp 1f\n.p2align 6\n.fill 62, 1, 0x90\n1: syscall;" THREAD)
static const struct site thread_sites[] = {
	{"thread", site_thread, true, true},
	{"thread_nop", site_thread_nop, true, true},
	{"thread_line", site_thread_line, true, true},
};
#define THREAD_STACK 16384

/* Creates a thread by `nr`, clone(2) or clone3(2), and compares the state of both threads. `more` are additional flags. */
static void try_thread(const struct site *s, unsigned seed, long nr, size_t size, unsigned long more)
{
	static _Alignas(16) unsigned char stack[THREAD_STACK];
	static _Atomic int running;
	struct regs in, out = {0}, child = {0};
	uint64_t *top = (uint64_t *)(void *)(stack + sizeof stack - 16);
	const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
				    CLONE_CHILD_CLEARTID | more;
	uint64_t args[12] = {flags, 0, (uintptr_t)&running, 0, 0, (uintptr_t)stack, sizeof stack - 16};
	fill(&in, seed);
	in.rax = nr;
	in.flags = some_flags(seed);
	in.rdi = nr == SYS_clone ? flags : (uintptr_t)args;
	in.rsi = nr == SYS_clone ? (uintptr_t)top : size;
	in.r10 = nr == SYS_clone ? (uintptr_t)&running : in.r10;
	for (int i = 0; i < 16; i++)
		top[-1 - i] = in.red[i];
	top[0] = (uintptr_t)&child;
	running = 1;
	s->run(&in, &out);
	if ((int64_t)out.rax < 0) {
		check(s, &in, &out, (uint64_t)-EINVAL);
		CHECK(more);
		return;
	}
	check(s, &in, &out, out.rax);
	while (running)
		syscall(SYS_futex, &running, 0 /* FUTEX_WAIT */, 1, NULL);
	check(s, &in, &child, 0);
	CHECK(!more && args[0] == flags && args[6] == sizeof stack - 16);
}

/* A call that creates a thread changes rax, rcx and r11 in both threads, and nothing else. */
static void test_clone(int argc, char **argv)
{
	int n = number(argc, argv, 0, 50);
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof thread_sites / sizeof *thread_sites; k++) {
			const struct site *s = &thread_sites[k];
			try_thread(s, i + 1, SYS_clone, 0, 0);
			try_thread(s, i + 1, SYS_clone3, 64, 0);
			try_thread(s, i + 1, SYS_clone3, 88, 0);
			try_thread(s, i + 1, SYS_clone3, 96, 0);
			try_thread(s, i + 1, SYS_clone, 0, CLONE_NEWNS);
			try_thread(s, i + 1, SYS_clone3, 88, CLONE_NEWNS);
		}
	CHECK(syscall(SYS_clone3, 1, 88) == -1 && errno == EFAULT);
	CHECK(syscall(SYS_clone3, "", 1 << 20) == -1 && errno == E2BIG);
	CHECK(syscall(SYS_clone3, "", 63) == -1 && errno == EINVAL);
	for (int i = 0; i < n; i++) { /* with CLONE_VFORK, but in a copy of the memory, on the same stack */
		int status;
		pid_t pid = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
		if (pid == 0)
			_exit(syscall(SYS_getppid) > 0 ? 21 : 22);
		CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 21);
	}
	calls("clone", 7 * n, 3 * n);
	calls("clone3", 12 * n + 3, 3 * n + 3);
}

static const struct test tests[] = {
	{"all", test_all},           {"threads", test_threads},
	{"padding", test_padding},   {"undescribed", test_undescribed},
	{"crossing", test_crossing}, {"float", test_float},
	{"first", test_first},       {"indirect", test_indirect},
	{"clone", test_clone},       {"entered", test_entered},
	{"restorer", test_restorer},
};
TEST_MAIN(tests)
