#include "measure/env.h"
#include "measure/env_text.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <cmocka.h>

static void the_machine_is_described(void **state)
{
	(void)state;
	json_t *env = env_collect("/");
	assert_non_null(env);
	struct utsname u;
	uname(&u);
	const json_t *kernel = json_object_get(env, "kernel");
	assert_string_equal(json_string_value(json_object_get(kernel, "release")), u.release);
	assert_true(json_integer_value(json_object_get(json_object_get(env, "memory"), "total_bytes")) > 1 << 20);
	const char *date = json_string_value(json_object_get(env, "date"));
	assert_int_equal(strlen(date), strlen("2026-01-01T00:00:00+00:00"));
	assert_true(json_is_object(json_object_get(env, "file_system")));
	json_decref(env);
}

static void without_a_folder_there_is_no_file_system(void **state)
{
	(void)state;
	json_t *env = env_collect(NULL);
	assert_true(json_is_null(json_object_get(env, "file_system")));
	json_decref(env);
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

static void equal_environments_do_not_differ(void **state)
{
	(void)state;
	struct buf text = {0};
	json_t *a = env_collect(NULL);
	json_t *b = json_deep_copy(a);
	assert_int_equal(env_differences(a, b, &text), 0);
	json_object_set_new(json_object_get(b, "kernel"), "release", json_string("9.9"));
	assert_int_equal(env_differences(a, b, &text), 1);
	assert_non_null(strstr(buf_str(&text), "| 9.9\n"));
	json_object_del(b, "mitigations");
	json_object_set_new(a, "mitigations", json_pack("{s:s, s:s}", "meltdown", "PTI", "mds", "Not affected"));
	assert_int_equal(env_differences(a, b, &text), 3);
	json_object_set_new(json_object_get(a, "kernel"), "debug_options", json_array());
	json_object_set_new(json_object_get(b, "kernel"), "debug_options", json_pack("[s,s]", "CONFIG_A", "CONFIG_B"));
	json_object_set_new(json_object_get(a, "cpu"), "turbo", json_true());
	json_object_set_new(json_object_get(b, "cpu"), "turbo", json_false());
	assert_int_equal(env_differences(a, b, &text), 5);
	assert_non_null(strstr(buf_str(&text), "kernel debug options: none | CONFIG_A, CONFIG_B\n"));
	assert_non_null(strstr(buf_str(&text), "turbo: on | off\n"));
	buf_free(&text);
	json_decref(a);
	json_decref(b);
}

static void activity_only_grows(void **state)
{
	(void)state;
	struct env_activity a, b;
	assert_int_equal(env_activity_read(&a), 0);
	assert_int_equal(env_activity_read(&b), 0);
	assert_true(a.busy_s > 0 && b.busy_s >= a.busy_s);
}

static void a_kernels_configuration_tells(void **state)
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
		cmocka_unit_test(the_machine_is_described), cmocka_unit_test(without_a_folder_there_is_no_file_system),
		cmocka_unit_test(proc_is_its_own_mount),    cmocka_unit_test(equal_environments_do_not_differ),
		cmocka_unit_test(activity_only_grows),      cmocka_unit_test(a_kernels_configuration_tells),
		cmocka_unit_test(hypervisors_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
