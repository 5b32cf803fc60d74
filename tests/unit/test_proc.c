/* SPDX-License-Identifier: MIT */
#include "tracee/proc.h"

#include "base/buf.h"
#include "measure/machine_env.h"
#include "tracee/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_file_is_copied_by_a_helper(void **state)
{
	char own[100], copy[100], pipe[] = "/tmp/sctrace-test-XXXXXX";
	(void)state;
	int fd = mem_served_copy("/proc/self/exe"), exe = open("/proc/self/exe", O_RDONLY);
	assert_true(fd >= 0 && exe >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), lseek(exe, 0, SEEK_END));
	assert_int_equal(pread(fd, copy, sizeof(copy), 1000), sizeof(copy));
	assert_int_equal(pread(exe, own, sizeof(own), 1000), sizeof(own));
	assert_memory_equal(copy, own, sizeof(own));
	close(fd);
	close(exe);
	/* Neither a file that is not there nor a pipe without a writer is waited for. */
	assert_int_equal(mem_served_copy("/does/not/exist"), -EIO);
	assert_non_null(mkdtemp(pipe));
	assert_int_equal(rmdir(pipe), 0);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(mem_served_copy(pipe), -EIO);
	assert_int_equal(unlink(pipe), 0);
}

static void what_the_kernel_provides_is_not_served(void **state)
{
	struct statx st;
	(void)state;
	assert_int_equal(proc_stat("/proc/self/fd", &st), 0);
	assert_false(mem_served_device(getpid(), (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor));
	assert_false(mem_served_device(getpid(), UINT64_MAX));
	assert_int_equal(proc_stat("/proc/self/none", &st), -ENOENT);
}

static void a_status_is_read_whatever_comes_before(void **state)
{
	struct proc_status s;
	struct buf text = {0};
	(void)state;
	/*
	 * The line of groups is longer than a fixed buffer. The name contains an escaped newline, so it cannot forge
	 * another line.
	 */
	buf_adds(&text, "Name:\tx\\nTgid:\t1\nState:\tZ (zombie)\nTgid:\t71\nPPid:\t70\nTracerPid:\t9\nGroups:\t");
	for (int i = 0; i < 20000; i++)
		buf_addf(&text, "%d ", i);
	buf_adds(&text, "\nVmSize:\t 5 kB\nVmHWM:\t 17 kB\nSigBlk:\t0001\nSigIgn:\t0010\nSigCgt:\tffffffffffffffff\n");
	proc_status_parse(buf_str(&text), &s);
	assert_string_equal(s.name, "x\\nTgid:\t1");
	assert_int_equal(s.state, 'Z');
	assert_int_equal(s.tgid, 71);
	assert_int_equal(s.parent, 70);
	assert_int_equal(s.tracer, 9);
	assert_true(s.has_memory && s.has_signals);
	assert_int_equal(s.peak_rss, 17 * 1024);
	assert_int_equal(s.blocked, 1);
	assert_int_equal(s.ignored, 16);
	assert_true(s.caught == UINT64_MAX);
	buf_free(&text);
	proc_status_parse("Tgid:\nState:", &s);
	assert_int_equal(s.tgid + s.state, 0);
	assert_false(s.has_memory || s.has_signals);
}

static void lines_may_come_in_any_order(void **state)
{
	struct proc_status s;
	(void)state;
	proc_status_parse("Seccomp_filters:\t3\nSeccomp:\t2\nSigCgt:\t4\nSigIgn:\t2\nSigBlk:\t1\nVmHWM:\t    5 kB\n"
			  "PPid:\t8\nTgid:\t9\nName:\ta\\nState:\nState:\tT (stopped)",
			  &s);
	assert_string_equal(s.name, "a\\nState:");
	assert_true(s.state == 'T' && s.tgid == 9 && s.parent == 8 && s.tracer == 0);
	assert_true(s.has_signals && s.blocked == 1 && s.ignored == 2 && s.caught == 4);
	assert_true(s.peak_rss == 5 * 1024 && s.filtered && s.filters == 3);
	proc_status_parse("SigBlk:\t\nSigIgn:\t2\nSigCgt:\t\nabc", &s);
	assert_true(s.blocked == 0 && s.ignored == 2 && s.caught == 0);
}

/* A process belongs to one user only if all its user ids are equal. */
static void ids_count_only_if_all_four_are_equal(void **state)
{
	struct proc_status s;
	(void)state;
	proc_status_parse("Uid:\t7\t7\t7\t7\nGid:\t8\t8\t9\t8\nSigPnd:\t01\nShdPnd:\t40000000\nCapPrm:\t1f\n"
			  "Seccomp:\t2\nSeccomp_filters:\t3\n",
			  &s);
	assert_true(s.filtered && !s.strict);
	assert_int_equal(s.filters, 3);
	assert_int_equal(s.uid, 7);
	assert_true(s.gid == ID_MIXED);
	assert_int_equal(s.pending, 0x40000001);
	assert_int_equal(s.permitted, 0x1f);
	proc_status_parse("Uid:\t7\t7\t7", &s);
	assert_true(s.uid == ID_MIXED && s.gid == ID_MIXED);
}

static void first_process_of_a_pid_namespace_is_init(void **state)
{
	struct proc_status s;
	(void)state;
	proc_status_parse("Tgid:\t1\nNStgid:\t1\n", &s);
	assert_true(s.init);
	proc_status_parse("NStgid:\t4711\t1\nNSpid:\t4711\t1", &s);
	assert_true(s.init);
	proc_status_parse("NStgid:\t1\t31\nNSpid:\t1\t31", &s);
	assert_false(s.init);
	proc_status_parse("Tgid:\t1", &s);
	assert_false(s.init);
}

static void resident_memory_is_added_up(void **state)
{
	struct buf text = {0};
	(void)state;
	assert_int_equal(
		proc_number("5500-7ffc ---p 00000000 00:00 0    [rollup]\nRss:                1276 kB\nPss:  900 kB\n",
			    "Rss"),
		1276);
	assert_int_equal(proc_number("", "Rss"), 0);
	assert_int_equal(proc_read(getpid(), "smaps_rollup", &text), 0);
	assert_true(proc_number(buf_str(&text), "Rss") > 4);
	assert_true(proc_peak_rss(getpid()) > 4096);
	buf_free(&text);
}

static void the_status_of_this_process(void **state)
{
	struct proc_status s;
	(void)state;
	assert_int_equal(proc_status(getpid(), &s), 0);
	assert_int_equal(s.tgid, getpid());
	assert_true(s.has_memory && s.has_signals && s.peak_rss > 4096);
	assert_true(proc_status(-1, &s) < 0);
	assert_int_equal(s.tgid, 0);
}

static void a_name_may_hold_a_newline(void **state)
{
	char old[32], name[32];
	(void)state;
	proc_comm(getpid(), old, sizeof(old));
	prctl(PR_SET_NAME, "a\nb\n");
	proc_comm(getpid(), name, sizeof(name));
	prctl(PR_SET_NAME, old);
	assert_string_equal(name, "a\nb\n");
	proc_comm(-1, name, sizeof(name));
	assert_string_equal(name, "");
}

static void mappings_come_one_by_one(void **state)
{
	const char *text = "1000-3000 r-xp 00002000 fe:01 1311        /tmp/[stack] x\nnone\n3000-2000 r-xp 0 0:0 0\n"
			   "5000-6000 rw-p 00000000 00:00 0 \n"
			   "6000-7000 r-xp 0 a:B 12\n6000-7000 r-xp 0 0:0\n6000-g000 r-xp 0 0:0 1\n6000-7000 r-x\n"
			   "7ffd3a1e0000-7ffd3a201000 rw-p 00000000 00:00 0    [stack]";
	struct proc_map m;
	(void)state;
	assert_true(proc_map_next(&text, &m));
	assert_true(m.lo == 0x1000 && m.hi == 0x3000 && m.offset == 0x2000 && m.ino == 1311);
	assert_true(m.dev == (0xfeull << 32 | 1));
	assert_memory_equal(m.perm, "r-xp", 4);
	assert_false(proc_map_is(&m, "[stack]"));
	assert_true(proc_map_is(&m, "/tmp/[stack] x"));
	assert_true(proc_map_next(&text, &m));
	assert_true(m.lo == 0x5000 && m.name_len == 0);
	assert_true(proc_map_next(&text, &m));
	assert_true(m.lo == 0x6000 && m.dev == (0xaull << 32 | 0xb) && m.ino == 12 && m.name_len == 0);
	assert_true(proc_map_next(&text, &m));
	assert_true(proc_map_is(&m, "[stack]"));
	assert_false(proc_map_next(&text, &m));
}

static void mounts_lose_their_escapes(void **state)
{
	struct proc_mount m;
	char line[600];
	(void)state;
	assert_true(
		proc_mount_parse("36 35 98:0 / /a\\040b\\1 rw,noatime x:1 - ext4 /dev/r\\134t errors=continue\n", &m));
	assert_string_equal(m.mount_point, "/a b\\1");
	assert_string_equal(m.type, "ext4");
	assert_string_equal(m.source, "/dev/r\\t");
	assert_string_equal(m.options, "rw,noatime,errors=continue");
	assert_true(proc_mount_parse("1 2 0:1 / /p\\04 rw - proc none", &m));
	assert_string_equal(m.mount_point, "/p\\04");
	assert_string_equal(m.options, "rw");
	assert_false(proc_mount_parse("1 2 0:1 / /p rw", &m));
	assert_false(proc_mount_parse("1 2\n0:1 / /p rw - proc none", &m));
	memset(line, 'x', sizeof(line));
	memcpy(line, "1 2 0:1 / /", 11);
	strcpy(line + 500, " rw - proc none rw");
	assert_false(proc_mount_parse(line, &m)); /* a truncated mount point is refused */
}

/* If /proc is not mounted, or mounted with hidepid=2, existing processes are missing there. */
static void a_hidden_process_may_exist(void **state)
{
	(void)state;
	assert_string_equal(proc_why_unseen(999999999), "no such process");
	assert_non_null(strstr(proc_why_unseen(getpid()), "it is not visible in /proc"));
}

static void sockets_are_found_by_their_inode(void **state)
{
	static const char four[] = " 0: 0100007F:0050 0100007F:C001 01 00000000:00000000 00:00000000 00000000 0 0 7 1";
	static const char six[] = " 1: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A "
				  "00000000:00000000 00:00000000 00000000 0 0 8 1";
	struct buf out = {0};
	(void)state;
	assert_true(proc_net_inet(four, false, 7, &out));
	assert_true(proc_net_inet(six, true, 8, &out));
	assert_false(proc_net_inet(four, false, 8, &out));
	assert_false(proc_net_inet(four, true, 7, &out));
	assert_string_equal(buf_str(&out), "[127.0.0.1:80->127.0.0.1:49153][[::1]:8080]");
	buf_clear(&out);
	assert_true(proc_net_unix("0000: 00000002 00000000 00000000 0001 01 9 @a\x1b[m\n", 9, &out));
	assert_true(proc_net_unix("0000: 00000002 00000000 00000000 0001 01 9\n", 9, &out));
	assert_true(proc_net_unix("0000: 00000002 00000000 00000000 0001 01 9 /a>\"\n", 9, &out));
	proc_unix_ends(9, 12, "/a", 2, false, &out);
	proc_unix_ends(9, 0, "a\0b", 3, true, &out);
	assert_string_equal(buf_str(&out), "[9,@\"a\\33[m\"][9][9,\"/a\\76\\\"\"][9->12,\"/a\"][9,@\"a\\0b\"]");
	unsigned protocol;
	uint32_t port;
	const char *netlink = "00000000f2ac 16  4294963 00000111 0        0        0     2        0        77";
	assert_true(proc_net_netlink(netlink, 77, &protocol, &port));
	assert_int_equal(protocol, 16);
	assert_int_equal(port, 4294963);
	assert_false(proc_net_netlink(netlink, 7, &protocol, &port));
	assert_false(proc_net_netlink("sk               Eth Pid        Groups   Rmem     Wmem", 7, &protocol, &port));
	buf_free(&out);
}

static void lines_of_the_machine(void **state)
{
	char value[8];
	struct env_activity a = {0};
	(void)state;
	assert_true(env_field("model name\t: A \"B\"\n", "model name", value, sizeof(value)));
	assert_string_equal(value, "A ");
	assert_true(env_field("PRETTY_NAME=\"Debian 13\"\n", "PRETTY_NAME", value, sizeof(value)));
	assert_string_equal(value, "Debian ");
	assert_false(env_field("MemTotalX: 5", "MemTotal", value, sizeof(value)));
	assert_string_equal(env_debug_option("CONFIG_KASAN=y\n"), "CONFIG_KASAN");
	assert_null(env_debug_option("CONFIG_KASAN=n"));
	assert_null(env_debug_option("CONFIG_KASAN"));
	assert_true(env_is_telling("mitigations=off"));
	assert_false(env_is_telling("root=/dev/sda1"));
	assert_true(env_activity_parse("cpu  100 0 0 200 0 0 0 300", &a));
	assert_true(a.busy_s > 0 && a.idle_s == 2 * a.busy_s && a.steal_s == 3 * a.busy_s);
	assert_false(env_activity_parse("intr 5", &a));
	assert_int_equal(env_runnable_parse("1.66 1.02 0.52 3/135 23786"), 3);
	assert_int_equal(env_runnable_parse("1.66 1.02 0.52"), -1);
	assert_int_equal(env_runnable_parse(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_copied_by_a_helper),
		cmocka_unit_test(what_the_kernel_provides_is_not_served),
		cmocka_unit_test(a_status_is_read_whatever_comes_before),
		cmocka_unit_test(lines_may_come_in_any_order),
		cmocka_unit_test(ids_count_only_if_all_four_are_equal),
		cmocka_unit_test(first_process_of_a_pid_namespace_is_init),
		cmocka_unit_test(the_status_of_this_process),
		cmocka_unit_test(resident_memory_is_added_up),
		cmocka_unit_test(a_name_may_hold_a_newline),
		cmocka_unit_test(mappings_come_one_by_one),
		cmocka_unit_test(mounts_lose_their_escapes),
		cmocka_unit_test(a_hidden_process_may_exist),
		cmocka_unit_test(sockets_are_found_by_their_inode),
		cmocka_unit_test(lines_of_the_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
