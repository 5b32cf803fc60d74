/* SPDX-License-Identifier: MIT */
/* Tests the subjects of calls: descriptors, paths, and paths relative to a folder. */
#include "trace/subject.h"

#include "syscall/call_table.h"
#include "tracee/mem.h"
#include "tracee/names.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* Paths of the traced program from address 0x1000 on, ending with an empty one. */
static const char paths[] = "/etc/passwd\0./sub/../x\0plain\0";
enum { ABSOLUTE = 0x1000, DOTTED = 0x1000 + 12, PLAIN = 0x1000 + 23, EMPTY = 0x1000 + 29 };

static unsigned reads, lookups;

static ssize_t fake_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	if (addr < 0x1000 || addr >= 0x1000 + sizeof(paths))
		return -EFAULT;
	size_t have = 0x1000 + sizeof(paths) - addr;
	n = n < have ? n : have;
	memcpy(buf, paths + (addr - 0x1000), n);
	reads++;
	return (ssize_t)n;
}

static const struct mem memory = {.read = fake_read};

static bool fake_fd(void *ctx, pid_t tid, int fd, struct buf *out)
{
	(void)ctx, (void)tid;
	lookups++;
	if (fd == AT_FDCWD)
		buf_adds(out, "/home");
	else if (fd == 3)
		buf_adds(out, "/srv/data");
	else if (fd == 4)
		buf_adds(out, "/");
	else
		return false;
	return true;
}

static const struct names names = {.fd = fake_fd};

struct fixture {
	struct event ev;
	struct trace_subject s;
};

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	reads = lookups = 0;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	trace_subject_free(&f->s);
	free(f);
	return 0;
}

static struct trace_subject *call(struct fixture *f, const char *name, uint64_t a0, uint64_t a1, uint64_t a2,
				  uint64_t a3)
{
	uint32_t arch = syscall_native_arch();
	int64_t nr = syscall_number(arch, name);
	f->ev = (struct event){.kind = EV_ENTER, .tid = 1, .pid = 1, .mem = &memory};
	f->ev.call = (struct call){.arch = arch, .nr = nr, .desc = syscall_lookup(arch, nr), .args = {a0, a1, a2, a3}};
	trace_subject_begin(&f->s, &f->ev, &names);
	return &f->s;
}

static void names_are_only_looked_up_on_request(void **state)
{
	struct fixture *f = *state;
	struct trace_subject *s = call(f, "openat", 3, PLAIN, 0, 0);
	assert_int_equal(trace_subject_refs(s)[1].kind, REF_PATH);
	assert_int_equal(s->n, 2);
	assert_int_equal(reads + lookups, 0);
}

static void answers_are_kept(void **state)
{
	struct fixture *f = *state;
	struct trace_subject *s = call(f, "openat", 3, PLAIN, 0, 0);
	struct trace_ref *path = &trace_subject_refs(s)[1];
	assert_string_equal(buf_str(trace_ref_text(s, path)), "plain");
	assert_string_equal(buf_str(trace_ref_full(s, path)), "/srv/data/plain");
	assert_string_equal(buf_str(trace_ref_text(s, &s->refs[0])), "/srv/data");
	unsigned before = reads + lookups;
	for (int i = 0; i < 3; i++) {
		trace_ref_text(s, &trace_subject_refs(s)[0]);
		trace_ref_full(s, path);
		trace_subject_fd(s);
		trace_subject_path(s);
	}
	assert_int_equal(reads + lookups, before);
	/* The subject of the former call is forgotten. */
	s = call(f, "close", 3, 0, 0, 0);
	assert_null(trace_subject_path(s));
	assert_int_equal(s->n, 1);
}

static void paths_become_full(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int folder;
		uint64_t path;
		const char *full;
	} cases[] = {
		{AT_FDCWD, ABSOLUTE, "/etc/passwd"},
		{3, ABSOLUTE, "/etc/passwd"},
		{AT_FDCWD, PLAIN, "/home/plain"},
		{3, DOTTED, "/srv/data/sub/../x"},
		{9, PLAIN, ""},
		{3, EMPTY, ""},
		{4, PLAIN, "/plain"},
		{3, 0x10, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trace_subject *s = call(f, "openat", (uint64_t)cases[i].folder, cases[i].path, 0, 0);
		assert_string_equal(buf_str(trace_ref_full(s, &trace_subject_refs(s)[1])), cases[i].full);
	}
}

static void each_path_begins_in_its_own_folder(void **state)
{
	struct fixture *f = *state;
	struct trace_subject *s = call(f, "renameat", 3, PLAIN, (uint64_t)AT_FDCWD, DOTTED);
	struct trace_ref *r = trace_subject_refs(s);
	assert_int_equal(s->n, 4);
	assert_string_equal(buf_str(trace_ref_full(s, &r[1])), "/srv/data/plain");
	assert_string_equal(buf_str(trace_ref_full(s, &r[3])), "/home/sub/../x");
}

/* The descriptor of a folder is the subject only if the path argument is empty (AT_EMPTY_PATH) or missing. */
static void a_folder_is_not_the_subject(void **state)
{
	struct fixture *f = *state;
	struct trace_subject *s = call(f, "newfstatat", 3, PLAIN, 0, 0);
	assert_null(trace_subject_fd(s));
	assert_string_equal(buf_str(trace_ref_text(s, trace_subject_path(s))), "plain");
	s = call(f, "newfstatat", 3, EMPTY, 0, 0);
	assert_non_null(trace_subject_fd(s));
	assert_int_equal(trace_subject_fd(s)->fd, 3);
	assert_null(trace_subject_path(s));
	s = call(f, "newfstatat", (uint64_t)AT_FDCWD, EMPTY, 0, 0);
	assert_null(trace_subject_fd(s));
	s = call(f, "close", (uint64_t)-1, 0, 0, 0);
	assert_null(trace_subject_fd(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_only_looked_up_on_request, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_are_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(paths_become_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_path_begins_in_its_own_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_is_not_the_subject, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
