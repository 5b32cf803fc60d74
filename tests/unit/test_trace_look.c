/* SPDX-License-Identifier: MIT */
/* Tests which calls and descriptors -e abbrev=, verbose=, raw=, read=, write= and quiet= select. */
#include "base/buf.h"
#include "syscall/call_table.h"
#include "trace/look.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int parse(struct trace_look *l, const char *name, const char *value, size_t *at)
{
	struct buf why = {0};
	int r = trace_look_parse(l, name, strlen(name), value, at, &why);
	assert_true((r == -EINVAL) == (why.len > 0));
	buf_free(&why);
	return r;
}

static struct call call_named(const char *name)
{
	uint32_t arch = syscall_native_arch();
	int64_t nr = syscall_number(arch, name);
	return (struct call){.arch = arch, .nr = nr, .desc = syscall_lookup(arch, nr)};
}

static void test_calls(void **state)
{
	struct trace_look l = {0};
	struct call read = call_named("read"), write = call_named("write");
	size_t at;
	(void)state;
	assert_true(!trace_look_full(&l, &read) && trace_look_deep(&l, &read) && !trace_look_raw(&l, &read));
	assert_int_equal(parse(&l, "raw", "read", &at), 1);
	assert_true(trace_look_raw(&l, &read) && !trace_look_raw(&l, &write));
	assert_int_equal(parse(&l, "abbrev", "!read", &at), 1);
	assert_true(trace_look_full(&l, &read) && !trace_look_full(&l, &write));
	assert_int_equal(parse(&l, "v", "none", &at), 1);
	assert_true(!trace_look_deep(&l, &read));
	assert_int_equal(parse(&l, "abbrev", "read,wrote", &at), -EINVAL);
	assert_int_equal(at, 5);
	assert_int_equal(parse(&l, "trace", "read", &at), 0);
	trace_look_free(&l);
}

static void test_descriptors(void **state)
{
	struct trace_look l = {0};
	size_t at;
	(void)state;
	assert_false(trace_look_has_fd(&l.read, 0));
	assert_int_equal(parse(&l, "read", "3,5", &at), 1);
	assert_true(trace_look_has_fd(&l.read, 5) && !trace_look_has_fd(&l.read, 4) && !trace_look_has_fd(&l.write, 5));
	assert_int_equal(parse(&l, "read", "!3", &at), 1);
	assert_true(trace_look_has_fd(&l.read, 5) && !trace_look_has_fd(&l.read, 3));
	assert_int_equal(parse(&l, "write", "all", &at), 1);
	assert_true(trace_look_has_fd(&l.write, 77));
	assert_int_equal(parse(&l, "write", "none", &at), 1);
	assert_false(trace_look_has_fd(&l.write, 77));
	assert_int_equal(parse(&l, "write", "!1,x", &at), -EINVAL);
	assert_int_equal(at, 3);
	trace_look_free(&l);
}

static void test_messages(void **state)
{
	struct trace_look l = {0};
	size_t at;
	(void)state;
	assert_int_equal(parse(&l, "quiet", "exit,path-resolution", &at), 1);
	assert_int_equal(l.quiet, QUIET_EXIT);
	assert_int_equal(parse(&l, "q", "!exit", &at), 1);
	assert_int_equal(l.quiet, QUIET_ATTACH | QUIET_EXECVE);
	assert_int_equal(parse(&l, "quiet", "attach,extis", &at), -EINVAL);
	assert_int_equal(at, 7);
	trace_look_free(&l);
}

static void test_names_of_descriptors(void **state)
{
	static const struct {
		const char *list;
		unsigned names;
	} cases[] = {{"none", FD_NUMBERS},
		     {"path", FD_PATHS},
		     {"path,none", FD_PATHS},
		     {"path,socket", FD_PATHS | FD_SOCKETS},
		     {"pidfd,dev", FD_PIDFDS | FD_DEVICES},
		     {"signalfd", FD_SIGNALFDS},
		     {"eventfd", FD_EVENTFDS},
		     {"all", FD_IN_FULL}};
	struct buf why = {0};
	size_t at;
	unsigned names = FD_IN_FULL;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(trace_look_fd_names(&names, cases[i].list, &at, &why), 0);
		assert_int_equal(names, cases[i].names);
	}
	assert_int_equal(trace_look_fd_names(&names, "path,colour", &at, &why), -EINVAL);
	assert_int_equal(at, 5);
	assert_string_equal(buf_str(&why),
			    "'colour' is not one of path, socket, dev, pidfd, eventfd, signalfd, all, none");
	buf_free(&why);
}

static void test_constants(void **state)
{
	struct trace_look l = {0};
	struct buf why = {0};
	(void)state;
	assert_int_equal(trace_look_constants(&l, "raw", &why), 0);
	assert_int_equal(l.constants, CONSTANTS_RAW);
	assert_int_equal(trace_look_constants(&l, "abbrev", &why), 0);
	assert_int_equal(l.constants, CONSTANTS_NAMED);
	assert_int_equal(trace_look_constants(&l, "Raw", &why), -EINVAL);
	assert_string_equal(buf_str(&why), "'Raw' is not one of raw, abbrev, verbose");
	buf_free(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),     cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_messages),  cmocka_unit_test(test_names_of_descriptors),
		cmocka_unit_test(test_constants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
