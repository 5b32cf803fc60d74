/* Lines, JSON and truss's look of hand-made events; no engine runs. */
#include "trace/trace.h"

#include "base/buf.h"
#include "syscall/table.h"
#include "tracee/mem.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* A traced program's memory: one string at address 0x1000. */
static const char text[] = "a \033[31m \"b\"\n";

static ssize_t fake_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	if (addr < 0x1000 || addr >= 0x1000 + sizeof(text))
		return -EFAULT;
	size_t have = 0x1000 + sizeof(text) - addr;
	n = n < have ? n : have;
	memcpy(buf, text + (addr - 0x1000), n);
	return (ssize_t)n;
}

static const struct mem memory = {.read = fake_read};

struct fixture {
	struct trace t;
	struct trace_task a, b;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	trace_opts_init(&f->t.o);
	f->t.ntasks = f->t.tasks_seen = 1;
	f->t.out.fd = -1;
	f->t.sink = &trace_text_sink;
	f->a.tid = f->a.pid = 100;
	f->b.tid = 101;
	f->b.pid = 100;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	buf_free(&f->t.out.buf);
	buf_free(&f->a.text);
	buf_free(&f->b.text);
	trace_opts_free(&f->t.o);
	free(f);
	return 0;
}

static struct event call_event(enum event_kind kind, const struct trace_task *k, long nr, uint64_t a0, uint64_t a1,
			       uint64_t a2, int64_t result)
{
	struct event ev = {.kind = kind, .tid = k->tid, .pid = k->pid, .mem = &memory, .time_ns = 5000};
	ev.call.arch = syscall_native_arch();
	ev.call.nr = nr;
	ev.call.desc = syscall_lookup(ev.call.arch, nr);
	ev.call.args[0] = a0;
	ev.call.args[1] = a1;
	ev.call.args[2] = a2;
	ev.call.result = result;
	ev.call.error = result < 0;
	ev.call.err = result < 0 ? (int)-result : 0;
	ev.call.duration_ns = 30000;
	ev.call.cost_ns = 20000;
	ev.call.spread_ns = 1000;
	return ev;
}

static void enter(struct fixture *f, struct trace_task *k, long nr, uint64_t a0, uint64_t a1, uint64_t a2)
{
	struct event ev = call_event(EV_ENTER, k, nr, a0, a1, a2, 0);
	f->t.sink->enter(&f->t, k, &ev);
}

static void leave(struct fixture *f, struct trace_task *k, long nr, uint64_t a0, uint64_t a1, uint64_t a2,
		  int64_t result)
{
	struct event ev = call_event(EV_EXIT, k, nr, a0, a1, a2, result);
	f->t.sink->leave(&f->t, k, &ev);
}

static void wrote(struct fixture *f, const char *expected)
{
	assert_string_equal(buf_str(&f->t.out.buf), expected);
	buf_clear(&f->t.out.buf);
}

static void lines_are_aligned_and_harmless(void **state)
{
	struct fixture *f = *state;
	enter(f, &f->a, SYS_close, 3, 0, 0);
	leave(f, &f->a, SYS_close, 3, 0, 0, 0);
	wrote(f, "close(3)                                = 0\n");
	enter(f, &f->a, SYS_write, 1, 0x1000, sizeof(text) - 1);
	leave(f, &f->a, SYS_write, 1, 0x1000, sizeof(text) - 1, 12);
	wrote(f, "write(1, \"a \\33[31m \\\"b\\\"\\n\", 12)       = 12\n");
	f->t.o.durations = true;
	enter(f, &f->a, SYS_close, 9, 0, 0);
	leave(f, &f->a, SYS_close, 9, 0, 0, -EBADF);
	wrote(f, "close(9)                                = -1 EBADF (Bad file descriptor) <0.000010>\n");
}

static void other_tasks_break_lines(void **state)
{
	struct fixture *f = *state;
	f->t.ntasks = 2;
	enter(f, &f->a, SYS_read, 0, 0x1000, 4);
	enter(f, &f->b, SYS_close, 3, 0, 0);
	leave(f, &f->b, SYS_close, 3, 0, 0, 0);
	leave(f, &f->a, SYS_read, 0, 0x1000, 4, 1);
	wrote(f, "[pid   100] read(0,  <unfinished ...>\n"
		 "[pid   101] close(3)                    = 0\n"
		 "[pid   100] <... read resumed>\"a\", 4)   = 1\n");
	f->t.o.output = "file";
	f->t.o.follow = 1;
	enter(f, &f->a, SYS_close, 3, 0, 0);
	leave(f, &f->a, SYS_close, 3, 0, 0, 0);
	wrote(f, "100   close(3)                          = 0\n");
}

static void what_never_returns(void **state)
{
	struct fixture *f = *state;
	enter(f, &f->a, SYS_exit_group, 3, 0, 0);
	struct event ev = call_event(EV_VANISH, &f->a, SYS_exit_group, 3, 0, 0, 0);
	f->t.sink->leave(&f->t, &f->a, &ev);
	ev = (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100, .status = 3 << 8, .is_process = true};
	f->t.sink->other(&f->t, &f->a, &ev);
	wrote(f, "exit_group(3)                           = ?\n+++ exited with 3 +++\n");
	enter(f, &f->a, SYS_read, 0, 0x1000, 4);
	ev = call_event(EV_VANISH, &f->a, SYS_read, 0, 0x1000, 4, 0);
	f->t.sink->leave(&f->t, &f->a, &ev);
	ev = (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100, .status = 9, .is_process = true};
	f->t.sink->other(&f->t, &f->a, &ev);
	wrote(f, "read(0,  <unfinished ...>)              = ?\n+++ killed by SIGKILL +++\n");
}

/* A line whose end decides whether it is shown is held back and never broken. */
static void lines_wait_for_their_end(void **state)
{
	struct fixture *f = *state;
	f->t.o.select.status = STATUS_FAILED;
	enter(f, &f->a, SYS_close, 9, 0, 0);
	wrote(f, "");
	enter(f, &f->b, SYS_close, 3, 0, 0);
	leave(f, &f->a, SYS_close, 9, 0, 0, -EBADF);
	wrote(f, "close(9)                                = -1 EBADF (Bad file descriptor)\n");
}

static void json_is_json(void **state)
{
	struct fixture *f = *state;
	f->t.sink = &trace_json_sink;
	enter(f, &f->a, SYS_write, 1, 0x1000, sizeof(text) - 1);
	leave(f, &f->a, SYS_write, 1, 0x1000, sizeof(text) - 1, -ENOSPC);
	json_t *o = json_loads(buf_str(&f->t.out.buf), 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "name")), "write");
	assert_string_equal(json_string_value(json_object_get(o, "errno")), "ENOSPC");
	json_t *args = json_object_get(o, "args");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(args, "fd"), "raw")), 1);
	assert_non_null(json_object_get(args, "count"));
	assert_true(json_is_true(json_object_get(o, "resolved")));
	json_decref(o);
	buf_clear(&f->t.out.buf);
	/* Vanished with arguments missing: still JSON. */
	enter(f, &f->a, SYS_read, 0, 0x1000, 4);
	struct event ev = call_event(EV_VANISH, &f->a, SYS_read, 0, 0x1000, 4, 0);
	f->t.sink->leave(&f->t, &f->a, &ev);
	o = json_loads(buf_str(&f->t.out.buf), 0, NULL);
	assert_non_null(o);
	assert_true(json_is_true(json_object_get(o, "unfinished")));
	json_decref(o);
}

static void perfetto_is_one_document(void **state)
{
	struct fixture *f = *state;
	f->t.sink = &trace_perfetto_sink;
	f->t.sink->begin(&f->t);
	for (int i = 0; i < 2; i++) {
		enter(f, &f->a, SYS_close, 3, 0, 0);
		leave(f, &f->a, SYS_close, 3, 0, 0, 0);
	}
	f->t.sink->end(&f->t);
	json_t *o = json_loads(buf_str(&f->t.out.buf), 0, NULL);
	assert_non_null(o);
	assert_int_equal(json_array_size(json_object_get(o, "traceEvents")), 2);
	json_decref(o);
}

static void truss_has_tabs_and_hex(void **state)
{
	struct fixture *f = *state;
	f->t.sink = &trace_truss_sink;
	f->t.o.truss = true;
	enter(f, &f->a, SYS_close, 3, 0, 0);
	leave(f, &f->a, SYS_close, 3, 0, 0, 0);
	wrote(f, "close(3)\t\t\t\t\t = 0 (0x0)\n");
	enter(f, &f->a, SYS_write, 1, 0x1000, sizeof(text) - 1);
	leave(f, &f->a, SYS_write, 1, 0x1000, sizeof(text) - 1, -ENOENT);
	wrote(f, "write(1,\"a \\33[31m \\\"b\\\"\\n\",12)\t\t\t ERR#2 'No such file or directory'\n");
	struct event ev = {.kind = EV_SIGNAL, .tid = 100, .pid = 100, .sig.si_signo = SIGTERM};
	f->t.sink->other(&f->t, &f->a, &ev);
	wrote(f, "SIGNAL 15 (SIGTERM)\n");
	ev = (struct event){.kind = EV_DEATH, .tid = 100, .pid = 100, .status = 0, .is_process = true};
	f->t.sink->other(&f->t, &f->a, &ev);
	wrote(f, "process exit, rval = 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_are_aligned_and_harmless, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_tasks_break_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_never_returns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_wait_for_their_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(json_is_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(perfetto_is_one_document, set_up, tear_down),
		cmocka_unit_test_setup_teardown(truss_has_tabs_and_hex, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
