/* SPDX-License-Identifier: MIT */
/* The names that -y and -yy show for descriptors of this process. */
#include "tracee/names_kept.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *name_of(int depth, int fd)
{
	static struct buf out;
	buf_clear(&out);
	if (!(depth > 1 ? names_live.fd_in_full : names_live.fd)(NULL, getpid(), fd, &out))
		buf_adds(&out, "nothing");
	return buf_str(&out);
}

static struct sockaddr_in bound(int fd)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	return a;
}

/* True if the kernel reports the address of a bound TCP socket that does not listen (Linux 6.8). */
static bool reports_bound(void)
{
	struct utsname u;
	int version, patch;
	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &version, &patch) == 2 &&
	       (version > 6 || (version == 6 && patch >= 8));
}

static void files_are_paths(void **state)
{
	(void)state;
	struct buf device = {0};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_string_equal(name_of(1, fd), "/dev/null");
	assert_string_equal(name_of(2, fd), "/dev/null");
	assert_true(names_live.device(NULL, getpid(), fd, &device));
	assert_string_equal(buf_str(&device), "char 1:3");
	close(fd);
	assert_string_equal(name_of(2, 9999), "nothing");
	buf_clear(&device);
	fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_false(names_live.device(NULL, getpid(), fd, &device));
	close(fd);
	buf_free(&device);
	char cwd[4096];
	assert_string_equal(name_of(1, AT_FDCWD), getcwd(cwd, sizeof(cwd)));
}

static void removed_files_are_marked(void **state)
{
	char name[] = "/tmp/sctrace-test-XXXXXX", odd[64];
	char expect[128];
	(void)state;
	int fd = mkstemp(name);
	assert_string_equal(name_of(1, fd), name);
	/* An existing file may have a name that ends like the path of a removed one. */
	snprintf(odd, sizeof(odd), "%s (deleted)", name);
	assert_int_equal(rename(name, odd), 0);
	assert_string_equal(name_of(1, fd), odd);
	assert_false(names_live.deleted(NULL, getpid(), fd));
	unlink(odd);
	snprintf(expect, sizeof(expect), "%s" NAMES_DELETED, odd);
	assert_string_equal(name_of(1, fd), expect);
	assert_true(names_live.deleted(NULL, getpid(), fd));
	close(fd);
}

static void sockets_have_addresses(void **state)
{
	char expect[128];
	(void)state;
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = bound(server);
	assert_int_equal(strncmp(name_of(1, server), "socket:[", 8), 0);
	snprintf(expect, sizeof(expect), "TCP:[127.0.0.1:%d]", ntohs(a.sin_port));
	if (reports_bound())
		assert_string_equal(name_of(2, server), expect);
	assert_int_equal(listen(server, 1), 0);
	snprintf(expect, sizeof(expect), "TCP:[127.0.0.1:%d]", ntohs(a.sin_port));
	assert_string_equal(name_of(2, server), expect);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&a, sizeof(a)), 0);
	snprintf(expect, sizeof(expect), "->127.0.0.1:%d]", ntohs(a.sin_port));
	assert_int_equal(strncmp(name_of(2, client), "TCP:[127.0.0.1:", 15), 0);
	assert_non_null(strstr(name_of(2, client), expect));
	close(client);
	close(server);
	/* The kernel does not list an unbound socket in /proc/net, so only its protocol is known. */
	int fresh = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(strncmp(name_of(2, fresh), "TCP:[", 5), 0);
	close(fresh);
}

static void other_sockets_have_addresses(void **state)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t len = sizeof(a);
	char expect[128];
	(void)state;
	int four = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in own = bound(four);
	snprintf(expect, sizeof(expect), "UDP:[127.0.0.1:%d]", ntohs(own.sin_port));
	assert_string_equal(name_of(2, four), expect);
	assert_int_equal(connect(four, (struct sockaddr *)&own, sizeof(own)), 0);
	snprintf(expect, sizeof(expect), "UDP:[127.0.0.1:%d->127.0.0.1:%d]", ntohs(own.sin_port), ntohs(own.sin_port));
	assert_string_equal(name_of(2, four), expect);
	close(four);
	int six = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (six < 0 || bind(six, (struct sockaddr *)&a, sizeof(a)) < 0)
		return; /* no IPv6 */
	assert_int_equal(listen(six, 1), 0);
	assert_int_equal(getsockname(six, (struct sockaddr *)&a, &len), 0);
	snprintf(expect, sizeof(expect), "TCPv6:[[::1]:%d]", ntohs(a.sin6_port));
	assert_string_equal(name_of(2, six), expect);
	close(six);
}

static void kept_addresses_are_verified(void **state)
{
	struct names_kept kept;
	struct buf out = {0};
	char expect[64];
	(void)state;
	names_keep_sockets(&kept);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = bound(server), own = bound(client);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&a, sizeof(a)), 0);
	snprintf(expect, sizeof(expect), "TCP:[127.0.0.1:%d->127.0.0.1:%d]", ntohs(own.sin_port), ntohs(a.sin_port));
	for (int i = 0; i < 2; i++) {
		buf_clear(&out);
		assert_true(kept.names.fd_in_full(kept.names.ctx, getpid(), client, &out));
		assert_string_equal(buf_str(&out), expect);
	}
	/* The same socket listens now. */
	assert_int_equal(connect(client, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr)), 0);
	own = bound(client);
	assert_int_equal(listen(client, 1), 0);
	snprintf(expect, sizeof(expect), "TCP:[127.0.0.1:%d]", ntohs(own.sin_port));
	buf_clear(&out);
	assert_true(kept.names.fd_in_full(kept.names.ctx, getpid(), client, &out));
	assert_string_equal(buf_str(&out), expect);
	close(client);
	close(server);
	buf_free(&out);
	names_kept_free(&kept);
}

static unsigned long inode_of(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static void unix_sockets_have_peers(void **state)
{
	int pair[2];
	char expect[128];
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	snprintf(expect, sizeof(expect), "[%lu->%lu]", inode_of(pair[0]), inode_of(pair[1]));
	const char *name = name_of(2, pair[0]);
	/* Before Linux 5.15, all Unix sockets had the same protocol. */
	assert_int_equal(strncmp(name, "UNIX", 4), 0);
	assert_string_equal(strchr(name, '['), expect);
	close(pair[1]);
	snprintf(expect, sizeof(expect), "[%lu]", inode_of(pair[0]));
	assert_string_equal(strchr(name_of(2, pair[0]), '['), expect);
	close(pair[0]);
}

static void netlink_sockets_have_a_protocol_and_a_port(void **state)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(a);
	char expect[64];
	(void)state;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	snprintf(expect, sizeof(expect), "NETLINK:[%lu]", inode_of(fd));
	assert_string_equal(name_of(2, fd), expect);
	assert_int_equal(names_live.netlink(NULL, getpid(), fd), NETLINK_UNTOLD);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(expect, sizeof(expect), "NETLINK:[ROUTE:%u]", a.nl_pid);
	assert_string_equal(name_of(2, fd), expect);
	assert_int_equal(names_live.netlink(NULL, getpid(), fd), NETLINK_ROUTE);
	close(fd);
}

static void unix_names_are_escaped(void **state)
{
	static const char name[] = "\0sctrace-test\033\n";
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char expect[64];
	(void)state;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(strncmp(name_of(2, fd), "UNIX:[", 6), 0);
	memcpy(a.sun_path, name, sizeof(name) - 1);
	/*
	 * A unique name for each process, so that two test runs do not collide. It begins with an octal digit, because
	 * the escape would be shorter otherwise.
	 */
	int n = snprintf(a.sun_path + sizeof(name) - 2, 16, "1%d", (int)getpid());
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name) - 2 + (size_t)n);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	snprintf(expect, sizeof(expect), ",@\"sctrace-test\\0331%d\"]", (int)getpid());
	assert_non_null(strstr(name_of(2, fd), expect));
	close(fd);
}

/* The table in /proc/PID/net/unix shows a zero byte as "@", and its line seems to end at a newline. */
static void unix_names_may_contain_any_byte(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char expect[64], link[64];
	(void)state;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int n = snprintf(a.sun_path + 1, 64, "a\nb%c@%d", '\0', (int)getpid());
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	snprintf(link, sizeof(link), "%s", name_of(2, fd));
	snprintf(expect, sizeof(expect), "[%lu,@\"a\\nb\\0@%d\"]", inode_of(fd), (int)getpid());
	assert_string_equal(strchr(link, '['), expect);
	close(fd);
}

static void a_process_descriptor_names_it(void **state)
{
	char expect[32];
	(void)state;
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0 && errno == ENOSYS)
		return; /* kernels before 5.3, and Valgrind */
	assert_true(fd >= 0);
	snprintf(expect, sizeof(expect), "pid:%d", (int)getpid());
	/* Newer kernels show pidfds as files of a pidfs file system. */
	if (strncmp(name_of(1, fd), "anon_inode:[pidfd]", 18) == 0)
		assert_string_equal(name_of(2, fd), expect);
	close(fd);
}

static void kept_names_stay_until_they_are_dropped(void **state)
{
	(void)state;
	struct names_kept kept;
	struct buf out = {0};
	names_keep(&kept);
	const struct names *n = &kept.names;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), other = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	assert_true(n->fd(n->ctx, getpid(), fd, &out));
	assert_int_equal(dup2(other, fd), fd);
	assert_true(n->fd(n->ctx, getpid(), fd, &out));
	assert_string_equal(buf_str(&out), "/dev/null/dev/null");
	assert_true(n->fd(n->ctx, getpid(), other, &out));
	assert_string_equal(buf_str(&out), "/dev/null/dev/null/dev/zero");
	names_kept_drop(&kept);
	buf_clear(&out);
	assert_true(n->fd(n->ctx, getpid(), fd, &out));
	assert_string_equal(buf_str(&out), "/dev/zero");
	/* A missing name is not kept. */
	close(fd);
	names_kept_drop(&kept);
	assert_false(n->fd(n->ctx, getpid(), fd, &out));
	assert_int_equal(dup2(other, fd), fd);
	assert_true(n->fd(n->ctx, getpid(), fd, &out));
	close(fd);
	close(other);
	buf_free(&out);
	names_kept_free(&kept);
}

static void names_of_descriptors_outlive_their_thread(void **state)
{
	(void)state;
	struct names_kept kept;
	struct buf out = {0};
	int pipe_[2], fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(pipe(pipe_), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(pipe_[1]);
		_exit(read(pipe_[0], &(char){0}, 1) != 0);
	}
	names_keep(&kept);
	const struct names *n = &kept.names;
	assert_true(n->fd(n->ctx, pid, fd, &out));
	close(pipe_[0]);
	close(pipe_[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	names_kept_drop(&kept);
	buf_clear(&out);
	assert_true(n->fd(n->ctx, pid, fd, &out));
	assert_string_equal(buf_str(&out), "/dev/null");
	assert_false(n->fd(n->ctx, pid, pipe_[0], &out)); /* its name was never looked up */
	names_kept_at(&kept, pid, pid, -1);
	names_kept_close(&kept, (uint32_t)fd, (uint32_t)fd, 1, 1);
	assert_false(n->fd(n->ctx, pid, fd, &out));
	close(fd);
	names_kept_free(&kept);
	buf_free(&out);
}

static const char *kept_name(struct names_kept *k, pid_t tid, int fd)
{
	static struct buf out;
	buf_clear(&out);
	return k->names.fd(k->names.ctx, tid, fd, &out) ? buf_str(&out) : "";
}

static void record_name(struct names_kept *k, int fd, const char *text, uint64_t time_ns)
{
	const struct event_name name = {.fd = fd,
					.mode = S_IFCHR,
					.rdev = makedev(1, 3),
					.text = text,
					.len = strlen(text),
					.time_ns = time_ns};
	names_kept_record(k, &name);
}

/* Recorded names belong to a process. A close(2) that began before a descriptor was created is not that of this descriptor. */
static void recorded_names_stay_until_their_descriptors_are_closed(void **state)
{
	(void)state;
	struct names_kept kept;
	struct buf out = {0};
	const pid_t none = 0; /* no thread has this number, so that its names are not found in /proc */
	names_keep(&kept);
	names_kept_at(&kept, none, 1, -1);
	record_name(&kept, 3, "/one", 10);
	record_name(&kept, 4, "/two", 20);
	assert_string_equal(kept_name(&kept, none, 3), "/one");
	assert_true(kept.names.fd_in_full(kept.names.ctx, none, 4, &out));
	assert_true(kept.names.device(kept.names.ctx, none, 4, &out));
	assert_string_equal(buf_str(&out), "/twochar 1:3");
	names_kept_at(&kept, none, 1, 3);
	assert_string_equal(kept_name(&kept, none, 3), "");
	names_kept_at(&kept, none, 1, -1);
	names_kept_close(&kept, 3, 3, 5, 5);
	assert_string_equal(kept_name(&kept, none, 3), "/one");
	names_kept_drop(&kept);
	assert_string_equal(kept_name(&kept, none, 3), "/one");
	names_kept_close(&kept, 3, 3, 15, 15);
	assert_string_equal(kept_name(&kept, none, 3), "");
	names_kept_change(&kept, 15);
	assert_string_equal(kept_name(&kept, none, 4), "/two");
	names_kept_at(&kept, none, 2, -1);
	assert_string_equal(kept_name(&kept, none, 4), "");
	names_kept_end(&kept);
	names_kept_at(&kept, none, 1, -1);
	assert_string_equal(kept_name(&kept, none, 4), "/two");
	names_kept_close(&kept, 0, UINT32_MAX, 30, 30);
	assert_string_equal(kept_name(&kept, none, 4), "");
	record_name(&kept, 4, "/two", 40);
	names_kept_end(&kept);
	assert_string_equal(kept_name(&kept, none, 4), "");
	/* Only a name with addresses changes if the addresses change. */
	const struct event_name plain = {.fd = 6, .text = "socket:[7]", .len = 10, .time_ns = 60},
				full = {.fd = 7, .text = "socket:[8]", .len = 10, .time_ns = 60, .full = "TCP:[8]"};
	names_kept_record(&kept, &plain);
	names_kept_record(&kept, &full);
	buf_clear(&out);
	assert_true(kept.names.fd_in_full(kept.names.ctx, none, 7, &out));
	assert_string_equal(buf_str(&out), "TCP:[8]");
	names_kept_readdress(&kept, 6, 70);
	names_kept_readdress(&kept, 7, 70);
	assert_string_equal(kept_name(&kept, none, 6), "socket:[7]");
	assert_string_equal(kept_name(&kept, none, 7), "");
	/* A name that was looked up before its descriptor was closed may be passed on later. */
	record_name(&kept, 8, "/old", 80);
	names_kept_close(&kept, 8, 8, 90, 95);
	record_name(&kept, 8, "/old", 92);
	assert_string_equal(kept_name(&kept, none, 8), "");
	record_name(&kept, 8, "/new", 100);
	record_name(&kept, 8, "/old", 94);
	assert_string_equal(kept_name(&kept, none, 8), "/new");
	names_kept_change(&kept, 110);
	assert_string_equal(kept_name(&kept, none, 8), "");
	record_name(&kept, 8, "/renamed", 105);
	assert_string_equal(kept_name(&kept, none, 8), "/renamed");
	record_name(&kept, 5, "/left", 50);
	names_kept_free(&kept);
	buf_free(&out);
}

static void names_of_ended_processes_are_kept(void **state)
{
	(void)state;
	struct names_kept kept;
	struct buf out = {0}, own = {0}; /* under an emulator, the process has the emulator's name */
	int pipe_[2];
	assert_int_equal(pipe(pipe_), 0);
	assert_true(names_live.comm(NULL, getpid(), &own));
	pid_t pid = fork();
	if (pid == 0) {
		close(pipe_[1]);
		_exit(read(pipe_[0], &(char){0}, 1) != 0);
	}
	names_keep_sockets(&kept);
	const struct names *n = &kept.names;
	names_kept_learn(&kept, pid);
	close(pipe_[0]);
	close(pipe_[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(names_live.comm(NULL, pid, &out));
	assert_true(n->comm(n->ctx, pid, &out));
	assert_string_equal(buf_str(&out), buf_str(&own));
	names_kept_forget(&kept, pid);
	buf_clear(&out);
	assert_true(n->comm(n->ctx, pid, &out)); /* its parent still has to learn its end */
	assert_string_equal(buf_str(&out), buf_str(&own));
	for (pid_t other = 1 << 23; other < (1 << 23) + NAMES_GONE_MOST; other++) {
		names_kept_say(&kept, other, "other");
		names_kept_forget(&kept, other);
	}
	assert_false(n->comm(n->ctx, pid, &out));
	names_kept_forget(&kept, pid);
	names_kept_free(&kept);
	buf_free(&own);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_paths),
		cmocka_unit_test(removed_files_are_marked),
		cmocka_unit_test(sockets_have_addresses),
		cmocka_unit_test(other_sockets_have_addresses),
		cmocka_unit_test(kept_addresses_are_verified),
		cmocka_unit_test(recorded_names_stay_until_their_descriptors_are_closed),
		cmocka_unit_test(names_of_ended_processes_are_kept),
		cmocka_unit_test(unix_sockets_have_peers),
		cmocka_unit_test(netlink_sockets_have_a_protocol_and_a_port),
		cmocka_unit_test(unix_names_are_escaped),
		cmocka_unit_test(unix_names_may_contain_any_byte),
		cmocka_unit_test(a_process_descriptor_names_it),
		cmocka_unit_test(kept_names_stay_until_they_are_dropped),
		cmocka_unit_test(names_of_descriptors_outlive_their_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
