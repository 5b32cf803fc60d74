/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "event.h"
#include "stack/stack.h"
#include "tracee/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The frames of a stack walk, copied during the walk. */
struct frames {
	unsigned n;
	struct {
		char function[64], file[256], module[256];
		int line;
		uint64_t ip;
	} v[64];
};

static void copy(char *to, size_t size, const char *from)
{
	to[0] = '\0';
	strncat(to, from ? from : "", size - 1);
}

static bool take(void *ctx, const struct stack_frame *f)
{
	struct frames *t = ctx;
	assert_int_equal(f->index, t->n);
	copy(t->v[t->n].function, sizeof(t->v[0].function), f->function);
	copy(t->v[t->n].file, sizeof(t->v[0].file), f->file);
	copy(t->v[t->n].module, sizeof(t->v[0].module), f->module);
	t->v[t->n].line = f->line;
	t->v[t->n].ip = f->ip;
	return ++t->n < 64;
}

static int walk(struct stack *s, pid_t pid, struct frames *t)
{
	const struct mem mem = {mem_read_process, &pid};
	return stack_walk(s, &(struct event){.pid = pid, .tid = pid, .mem = &mem}, take, t);
}

/* The code of the traced child: three functions that the compiler must not merge. */
static volatile int depth;

static __attribute__((noinline)) void innermost(void (*end)(void))
{
	end();
	depth--;
}

static __attribute__((noinline)) void middle(void (*end)(void))
{
	innermost(end);
	depth--;
}

static __attribute__((noinline)) void outermost(void (*end)(void))
{
	middle(end);
	depth--;
}

static __attribute__((noinline)) void stop(void)
{
	raise(SIGSTOP);
	depth--; /* otherwise the compiler would make a jump of the call */
}

/* Calls through code that belongs to no file, with frame pointers, as a just-in-time compiler generates it. */
static void stop_in_generated_code(void)
{
#ifdef __x86_64__
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	void (*call)(void (*)(void));
	memcpy(&call, &page, sizeof(call));
	call(stop);
	depth--;
#else
	stop();
#endif
}

static pid_t start_child(void (*end)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		outermost(end);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSTOPPED(status))
		return pid;
	return 0;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Creates the stack walker and a stopped child. If ptrace(2) is not permitted, skips, or fails with
 * SCTRACE_MUST_WORK=1.
 */
static struct stack *set_up(pid_t *pid, void (*end)(void))
{
	struct stack *s = NULL;
	struct buf why = {0};
	int r = stack_open(&s, &why);
	if (r < 0)
		print_message("skipped: %s\n", buf_str(&why));
	*pid = r == 0 ? start_child(end) : 0;
	if (r == 0 && !*pid)
		print_message("skipped: ptrace is not allowed here\n");
	if (!*pid)
		assert_null(getenv("SCTRACE_MUST_WORK"));
	assert_true(r == 0 || buf_str(&why)[0]);
	buf_free(&why);
	if (*pid)
		return s;
	stack_close(s);
	return NULL;
}

static int find(const struct frames *t, const char *function)
{
	for (unsigned i = 0; i < t->n; i++)
		if (strcmp(t->v[i].function, function) == 0)
			return (int)i;
	return -1;
}

static void functions_files_and_lines(void **state)
{
	(void)state;
	pid_t pid;
	struct frames t = {0};
	struct stack *s = set_up(&pid, stop);
	if (!s)
		skip();
	assert_true(walk(s, pid, &t) > 3);
	int in = find(&t, "innermost");
	assert_true(in > 0);
	assert_int_equal(find(&t, "middle"), in + 1);
	assert_int_equal(find(&t, "outermost"), in + 2);
	assert_true(find(&t, "main") > in + 2);
	assert_non_null(strstr(t.v[in].file, "test_stack.c"));
	assert_true(t.v[in + 1].line > t.v[in].line);
	assert_true(t.v[in + 2].line > t.v[in + 1].line);
	end_child(pid);
	stack_close(s);
}

static void generated_code_is_an_address(void **state)
{
	(void)state;
	pid_t pid;
	struct frames t = {0};
	struct stack *s = set_up(&pid, stop_in_generated_code);
	if (!s)
		skip();
	assert_true(walk(s, pid, &t) > 3);
	int in = find(&t, "stop");
	assert_true(in > 0);
#ifdef __x86_64__
	assert_string_equal(t.v[in + 1].module, "");
	assert_string_equal(t.v[in + 1].function, "");
	assert_true(t.v[in + 1].ip != 0);
	assert_true(find(&t, "innermost") > in + 1); /* the walk continues after the generated code */
#endif
	end_child(pid);
	stack_close(s);
}

/* The child executes another program. A walk afterwards uses the new mappings. */
static void a_new_image_is_seen(void **state)
{
	(void)state;
	pid_t pid;
	struct frames t = {0};
	struct stack *s = set_up(&pid, stop);
	if (!s)
		skip();
	end_child(pid);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execl("/proc/self/exe", "test_stack", "stop", (char *)NULL);
		_exit(1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_true(walk(s, pid, &t) > 0);
	assert_true(find(&t, "a_new_image_is_seen") > 0);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0); /* the SIGTRAP of execve(2) */
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	memset(&t, 0, sizeof(t));
	assert_true(walk(s, pid, &t) > 0);
	assert_int_equal(find(&t, "a_new_image_is_seen"), -1);
	assert_true(find(&t, "stop") > 0);
	assert_int_equal(find(&t, "main"), find(&t, "stop") + 1);
	end_child(pid);
	stack_forget(s, pid);
	stack_close(s);
}

static void a_process_that_has_ended(void **state)
{
	(void)state;
	pid_t pid;
	struct frames t = {0};
	struct stack *s = set_up(&pid, stop);
	if (!s)
		skip();
	end_child(pid);
	assert_int_equal(walk(s, pid, &t), -ESRCH);
	assert_int_equal(t.n, 0);
	stack_forget(s, pid);
	stack_close(s);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		stop();
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_files_and_lines),
		cmocka_unit_test(generated_code_is_an_address),
		cmocka_unit_test(a_new_image_is_seen),
		cmocka_unit_test(a_process_that_has_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
