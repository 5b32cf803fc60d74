/* SPDX-License-Identifier: MIT */
#include "measure/machine_env.h"
#include "measure/work.h"

#include "base/buf.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cmocka.h>

static struct env *collect(const char *dir)
{
	static struct env e;
	fields_free(&env_fields, &e);
	env_collect(&e, dir);
	return &e;
}

static void the_machine_is_described(void **state)
{
	(void)state;
	/* Uses /proc, which is always in mountinfo. "/" is missing there in many chroots. */
	const struct env *e = collect("/proc");
	struct utsname u;
	uname(&u);
	assert_string_equal(e->kernel.release, u.release);
	assert_true(e->memory.total_bytes > 1 << 20);
	assert_int_equal(strlen(e->date), strlen("2026-01-01T00:00:00+00:00"));
	assert_true(e->file_system.known && *e->file_system.type);
}

static void without_a_folder_there_is_no_file_system(void **state)
{
	(void)state;
	assert_false(collect(NULL)->file_system.known);
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Reads the limits from files in `dir`, after removing what an earlier call made. */
static struct env_limits limits(const char *dir, const char *groups)
{
	struct env_limits l;
	char path[512];
	put(dir, "groups", groups);
	snprintf(path, sizeof(path), "%s/groups", dir);
	env_limits_read(path, dir, &l);
	return l;
}

/* The limits of all groups above the own one hold, in both versions of control groups. */
static void limits_of_control_groups_are_read(void **state)
{
	(void)state;
	char dir[] = "/tmp/sctrace-test-XXXXXX";
	char sub[64];
	assert_non_null(mkdtemp(dir));
	static const char *const made[] = {"a", "a/b", "cpu", "cpu/x", "memory", "memory/x"};
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		snprintf(sub, sizeof(sub), "%s/%s", dir, made[i]);
		assert_int_equal(mkdir(sub, 0700), 0);
	}
	struct env_limits l = limits(dir, "0::/a/b\n");
	assert_true(isinf(l.cpus) && isinf(l.memory_bytes) && l.throttled == 0 && l.oom_kills == 0);
	put(dir, "a/cpu.max", "20000 100000\n");
	put(dir, "a/b/cpu.max", "max 100000\n");
	put(dir, "a/b/memory.max", "67108864\n");
	put(dir, "a/cpu.stat", "usage_usec 9\nnr_periods 5\nnr_throttled 3\nthrottled_usec 7\n");
	put(dir, "a/b/memory.events", "low 0\noom 2\noom_kill 1\n");
	l = limits(dir, "0::/a/b\n");
	assert_true(fabs(l.cpus - 0.2) < 1e-9 && l.memory_bytes == 64 << 20 && l.throttled == 3 && l.oom_kills == 1);
	/* In a container, the path can be one of the host. */
	l = limits(dir, "0::/elsewhere/c\n");
	assert_true(isinf(l.cpus));
	put(dir, "cpu/x/cpu.cfs_quota_us", "-1\n");
	put(dir, "cpu/cpu.cfs_quota_us", "150000\n");
	put(dir, "cpu/cpu.cfs_period_us", "100000\n");
	put(dir, "memory/x/memory.limit_in_bytes", "1048576\n");
	put(dir, "memory/memory.limit_in_bytes", "9223372036854771712\n");
	put(dir, "memory/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
	l = limits(dir, "5:cpuacct,cpu:/x\n4:memory:/x\n0::/\n");
	assert_true(fabs(l.cpus - 1.5) < 1e-9 && l.memory_bytes == 1 << 20 && l.oom_kills == 4);
	l = limits(dir, "4:memory:/\n");
	assert_true(isinf(l.memory_bytes));
	work_remove(dir);
}

/*
 * Writes the environment as JSON and reads it back. Missing and additional members are accepted, and a wrong type is an
 * error.
 */
static void an_environment_survives_the_file(void **state)
{
	(void)state;
	const struct env *e = collect("/");
	struct env back;
	struct buf text = {0};
	struct buf why = {0};
	json_t *o = fields_write(&env_fields, e, 0);
	json_object_set_new(o, "news", json_true());
	fields_init(&env_fields, &back);
	assert_int_equal(fields_read(&env_fields, &back, o, 0, &why), 0);
	assert_int_equal(env_differences(e, &back, &text), 0);
	assert_string_equal(back.kernel.version, e->kernel.version);
	fields_free(&env_fields, &back);
	json_object_clear(o);
	assert_int_equal(fields_read(&env_fields, &back, o, 0, &why), 0);
	assert_null(back.host);
	assert_true(back.cpu.turbo == TRUTH_UNKNOWN || !back.cpu.known);
	json_object_set_new(o, "host", json_integer(1));
	assert_int_equal(fields_read(&env_fields, &back, o, 0, &why), -EINVAL);
	assert_non_null(strstr(buf_str(&why), "'host'"));
	fields_free(&env_fields, &back);
	json_decref(o);
	buf_free(&text);
	buf_free(&why);
}

static void proc_is_its_own_mount(void **state)
{
	(void)state;
	struct env_fs fs;
	assert_int_equal(env_fs_read("/proc/self", &fs), 0);
	assert_string_equal(fs.mount.type, "proc");
	assert_string_equal(fs.mount.mount_point, "/proc");
	assert_true(env_fs_read("/no/such/folder", &fs) < 0);
}

static void equal_environments_have_no_differences(void **state)
{
	(void)state;
	struct buf text = {0};
	struct env a = {0}, b = {0};
	env_collect(&a, NULL);
	env_collect(&b, NULL);
	assert_int_equal(env_differences(&a, &b, &text), 0);
	field_set(&b.kernel.release, "9.9");
	assert_int_equal(env_differences(&a, &b, &text), 1);
	assert_non_null(strstr(buf_str(&text), "| 9.9\n"));
	fields_free(&env_fields, &a);
	fields_free(&env_fields, &b);
	texts_add(&a.mitigations, "meltdown", "PTI");
	texts_add(&a.mitigations, "mds", "Not affected");
	assert_int_equal(env_differences(&a, &b, &text), 2);
	a.kernel.debug_options.known = true;
	strings_add(&b.kernel.debug_options, "CONFIG_A");
	strings_add(&b.kernel.debug_options, "CONFIG_B");
	a.cpu.turbo = TRUTH_YES;
	b.cpu.turbo = TRUTH_NO;
	assert_int_equal(env_differences(&a, &b, &text), 4);
	assert_non_null(strstr(buf_str(&text), "kernel debug options: none | CONFIG_A, CONFIG_B\n"));
	assert_non_null(strstr(buf_str(&text), "turbo: on | off\n"));
	buf_free(&text);
	fields_free(&env_fields, &a);
	fields_free(&env_fields, &b);
}

static void activity_only_grows(void **state)
{
	(void)state;
	struct env_activity a, b;
	assert_int_equal(env_activity_read(&a), 0);
	assert_int_equal(env_activity_read(&b), 0);
	assert_true(a.busy_s > 0 && b.busy_s >= a.busy_s);
}

static void the_kernel_configuration_is_read(void **state)
{
	(void)state;
	assert_string_equal(env_debug_option("CONFIG_PROVE_LOCKING=y\n"), "CONFIG_PROVE_LOCKING");
	assert_null(env_debug_option("# CONFIG_PROVE_LOCKING is not set\n"));
	assert_null(env_debug_option("CONFIG_KASAN_STACK=y\n"));
	assert_null(env_debug_option("CONFIG_KASAN=m\n"));
	assert_string_equal(env_preemption_model("CONFIG_PREEMPT_NONE=y\n"), "none");
	assert_string_equal(env_preemption_model("CONFIG_PREEMPT=y"), "full");
	assert_string_equal(env_preemption_model("CONFIG_PREEMPT_LAZY=y\n"), "lazy");
	assert_null(env_preemption_model("CONFIG_PREEMPT_DYNAMIC=y\n"));
	assert_null(env_preemption_model("# CONFIG_PREEMPT is not set\n"));
}

static void hypervisors_have_names(void **state)
{
	(void)state;
	assert_string_equal(env_hypervisor_name("KVMKVMKVM"), "KVM");
	assert_string_equal(env_hypervisor_name("Microsoft Hv"), "Hyper-V");
	assert_string_equal(env_hypervisor_name("SomethingNew"), "SomethingNew");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_is_described),
		cmocka_unit_test(without_a_folder_there_is_no_file_system),
		cmocka_unit_test(limits_of_control_groups_are_read),
		cmocka_unit_test(an_environment_survives_the_file),
		cmocka_unit_test(proc_is_its_own_mount),
		cmocka_unit_test(equal_environments_have_no_differences),
		cmocka_unit_test(activity_only_grows),
		cmocka_unit_test(the_kernel_configuration_is_read),
		cmocka_unit_test(hypervisors_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
