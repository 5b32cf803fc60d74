/* What -y and -yy say of descriptors, of this process's own. */
#include "tracee/names.h"

#include "base/buf.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
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

static void files_are_paths(void **state)
{
	(void)state;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_string_equal(name_of(1, fd), "/dev/null");
	assert_string_equal(name_of(2, fd), "/dev/null");
	close(fd);
	assert_string_equal(name_of(2, 9999), "nothing");
	char cwd[4096];
	assert_string_equal(name_of(1, AT_FDCWD), getcwd(cwd, sizeof(cwd)));
}

static void sockets_have_ends(void **state)
{
	char expect[128];
	(void)state;
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = bound(server);
	assert_int_equal(strncmp(name_of(1, server), "socket:[", 8), 0);
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
	/* No table lists it: its protocol is all there is. */
	int fresh = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(strncmp(name_of(2, fresh), "TCP:[", 5), 0);
	close(fresh);
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
	/* An own name for each process, so that two runs at once do not meet; an octal digit first, or the escape is shorter. */
	int n = snprintf(a.sun_path + sizeof(name) - 2, 16, "1%d", (int)getpid());
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name) - 2 + (size_t)n);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	snprintf(expect, sizeof(expect), ",@\"sctrace-test\\0331%d\"]", (int)getpid());
	assert_non_null(strstr(name_of(2, fd), expect));
	close(fd);
}

static void a_process_descriptor_names_it(void **state)
{
	char expect[32];
	(void)state;
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0)
		skip();
	snprintf(expect, sizeof(expect), "pid:%d", (int)getpid());
	/* Newer kernels keep such descriptors in a file system of their own. */
	if (strncmp(name_of(1, fd), "anon_inode:[pidfd]", 18) == 0)
		assert_string_equal(name_of(2, fd), expect);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_paths),
		cmocka_unit_test(sockets_have_ends),
		cmocka_unit_test(unix_names_are_escaped),
		cmocka_unit_test(a_process_descriptor_names_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
