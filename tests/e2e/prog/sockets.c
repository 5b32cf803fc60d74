/* SPDX-License-Identifier: MIT */
/* Requests information about links and sockets, to test how a tracer shows the kernel's answers and the descriptors. */
#include "e2e.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Sends a request of `n` bytes with its header on a new socket of `protocol`, and puts the first answer into `answer`.
 */
static void ask(int protocol, struct nlmsghdr *request, size_t n, struct nlmsghdr *answer, size_t room)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	struct sockaddr_nl own = {.nl_family = AF_NETLINK};
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0);
	request->nlmsg_len = (uint32_t)n;
	request->nlmsg_seq = 1;
	CHECK(send(fd, request, n, 0) == (ssize_t)n);
	CHECK(recv(fd, answer, room, 0) >= (ssize_t)sizeof(*answer));
	close(fd);
}

static char room[32768] __attribute__((aligned(8)));

/* Requests the loopback interface by its index. The answer has a name and an MTU. */
static void test_link(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct {
		struct nlmsghdr h;
		struct ifinfomsg link;
	} request = {.h = {.nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
		     .link.ifi_index = (int)if_nametoindex("lo")};
	struct nlmsghdr *answer = (struct nlmsghdr *)room;
	ask(NETLINK_ROUTE, &request.h, sizeof(request), answer, sizeof(room));
	CHECK(answer->nlmsg_type == RTM_NEWLINK);
	/* There is no interface with this index. The kernel answers with the reason. */
	request.link.ifi_index = 0x7fffffff;
	ask(NETLINK_ROUTE, &request.h, sizeof(request), answer, sizeof(room));
	CHECK(answer->nlmsg_type == NLMSG_ERROR);
	struct ifreq r = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(ioctl(fd, SIOCGIFFLAGS, &r) == 0 && r.ifr_flags & IFF_LOOPBACK);
	close(fd);
}

/* Requests a TCP socket of this program by its listening port. */
static void test_listening(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0 && listen(fd, 1) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&own, &len) == 0);
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 socket;
	} request = {.h = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
		     .socket = {.sdiag_family = AF_INET,
				.sdiag_protocol = IPPROTO_TCP,
				.idiag_ext = 1 << (INET_DIAG_CONG - 1),
				.idiag_states = 1 << 10, /* TCP_LISTEN */
				.id = {.idiag_sport = own.sin_port,
				       .idiag_src[0] = own.sin_addr.s_addr,
				       .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
	struct nlmsghdr *answer = (struct nlmsghdr *)room;
	ask(NETLINK_SOCK_DIAG, &request.h, sizeof(request), answer, sizeof(room));
	CHECK(answer->nlmsg_type == SOCK_DIAG_BY_FAMILY);
	close(fd);
}

static void *nothing(void *arg)
{
	return arg;
}

/* Uses both ends of a socket pair, and creates a thread. */
static void test_ends(int argc, char **argv)
{
	(void)argc, (void)argv;
	int pair[2];
	char c;
	pthread_t thread;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(write(pair[0], "x", 1) == 1 && read(pair[1], &c, 1) == 1);
	CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static struct sockaddr_un path_of(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

static int bound(const char *path)
{
	struct sockaddr_un own = path_of(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unlink(path);
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0);
	return fd;
}

/*
 * Sends messages from `from` to `to`, whose path is "to": whole, truncated and empty messages, with and without a name.
 */
static void send_and_receive(int from, int to)
{
	static char in[200];
	struct sockaddr_un there = path_of("to"), who;
	struct iovec out[] = {{"one", 3}, {"", 0}, {"two two two two two two two two two two two two two two", 55}};
	struct iovec into[] = {{in, 4}, {NULL, 0}, {in + 4, 100}}, cut = {in, 2};
	struct msghdr sent = {.msg_name = &there, .msg_namelen = sizeof(there), .msg_iov = out, .msg_iovlen = 3};
	CHECK(sendmsg(from, &sent, 0) == 58);
	struct msghdr got = {.msg_name = &who, .msg_namelen = sizeof(who), .msg_iov = into, .msg_iovlen = 3};
	CHECK(recvmsg(to, &got, MSG_PEEK) == 58 && got.msg_namelen < sizeof(who));
	struct msghdr short_name = {.msg_name = &who, .msg_namelen = 4, .msg_iov = &cut, .msg_iovlen = 1};
	CHECK(recvmsg(to, &short_name, MSG_TRUNC) == 58);
	CHECK(recvmsg(to, &got, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	CHECK(sendto(from, "three", 5, 0, (struct sockaddr *)&there, sizeof(there)) == 5);
	socklen_t len = sizeof(who);
	CHECK(recvfrom(to, in, sizeof(in), 0, (struct sockaddr *)&who, &len) == 5);
	CHECK(sendto(from, "", 0, 0, (struct sockaddr *)&there, sizeof(there)) == 0);
	CHECK(recvfrom(to, in, sizeof(in), 0, NULL, NULL) == 0);
	CHECK(sendmsg(from, NULL, 0) < 0 && recvmsg(to, NULL, 0) < 0);
	struct mmsghdr several[] = {{.msg_hdr = sent}, {.msg_hdr = {&there, sizeof(there), out, 1, NULL, 0, 0}}};
	CHECK(sendmmsg(from, several, 2, 0) == 2);
	struct timespec patience = {100, 0};
	struct mmsghdr both[] = {{.msg_hdr = got}, {.msg_hdr = {.msg_iov = &cut, .msg_iovlen = 1}}, {.msg_len = 0}};
	CHECK(recvmmsg(to, both, 2, 0, &patience) == 2);
}

/* Sends a descriptor and credentials as control data, and uses socket options. */
static void control_and_options(void)
{
	int pair[2], one = 1;
	char in[8];
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	memcpy(CMSG_DATA(&control.head), &pair[0], sizeof(int));
	struct iovec data = {"x", 1}, into = {in, sizeof(in)};
	struct msghdr sent = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(sizeof(int))};
	struct msghdr got = {
		.msg_iov = &into, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	CHECK(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) == 0);
	CHECK(sendmsg(pair[0], &sent, 0) == 1 && recvmsg(pair[1], &got, MSG_CMSG_CLOEXEC) == 1);
	struct timeval wait = {5, 0};
	struct ucred who;
	socklen_t len = sizeof(wait);
	CHECK(setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0);
	CHECK(getsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &wait, &len) == 0);
	len = 100;
	CHECK(getsockopt(pair[1], SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && len == sizeof(who));
	CHECK(getsockopt(pair[1], SOL_SOCKET, 12345, &who, &len) < 0 &&
	      setsockopt(pair[1], SOL_SOCKET, 12345, &one, 4) < 0);
	struct sockaddr_un name;
	len = sizeof(name);
	CHECK(getsockname(pair[0], (struct sockaddr *)&name, &len) == 0 && len == sizeof(sa_family_t));
	CHECK(getpeername(0, (struct sockaddr *)&name, &len) < 0);
}

/* Makes select(2) if the architecture has it. Otherwise the C library makes pselect6(2). */
static int select_call(int n, fd_set *in, fd_set *out, struct timeval *left)
{
#ifdef SYS_select
	return (int)syscall(SYS_select, n, in, out, NULL, left);
#else
	return select(n, in, out, NULL, left);
#endif
}

/* Waits for descriptors: one is ready, the time limit expires, or the arguments are invalid. */
static void wait_for_some(int ready, int idle)
{
	fd_set in, out;
	struct timeval left = {50, 0}, none = {0};
	struct timespec left_ns = {50, 0}, none_ns = {0};
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	FD_ZERO(&in);
	FD_SET(ready, &in);
	FD_SET(idle, &in);
	FD_ZERO(&out);
	FD_SET(idle, &out);
	int most = (ready > idle ? ready : idle) + 1;
	CHECK(select_call(most, &in, &out, &left) == 2 && FD_ISSET(ready, &in) && !FD_ISSET(idle, &in));
	FD_CLR(ready, &in);
	FD_SET(idle, &in);
	CHECK(pselect(most, &in, NULL, NULL, &none_ns, &mask) == 0 && !FD_ISSET(idle, &in));
	FD_SET(ready, &in);
	CHECK(pselect(most, &in, NULL, NULL, &left_ns, NULL) == 1);
	CHECK(select_call(0, NULL, NULL, &none) == 0);
	CHECK(select_call(-1, &in, NULL, &none) < 0);
	FD_SET(300, &in);
	(void)select_call(301, &in, NULL, &none); /* more than the table of descriptors may have */
	struct pollfd p[] = {{.fd = ready, .events = POLLIN}, {.fd = idle, .events = POLLIN}};
	CHECK(ppoll(p, 2, &left_ns, &mask) == 1);
	p[0].fd = -1;
	CHECK(ppoll(p, 2, &none_ns, NULL) == 0);
}

/* Makes socket calls whose memory contains pointers, or is both read and changed. */
static void test_messages(int argc, char **argv)
{
	(void)argc, (void)argv;
	int from = bound("from"), to = bound("to"), server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	send_and_receive(from, to);
	control_and_options();
	CHECK(sendto(from, "four", 4, 0, (struct sockaddr *)&(struct sockaddr_un){AF_UNIX, "to"},
		     sizeof(struct sockaddr_un)) == 4);
	wait_for_some(to, from);
	struct sockaddr_un own = path_of("server"), who;
	socklen_t len = sizeof(who);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink("server");
	CHECK(bind(server, (struct sockaddr *)&own, sizeof(own)) == 0 && listen(server, 1) == 0);
	CHECK(connect(client, (struct sockaddr *)&own, sizeof(own)) == 0);
	int peer = accept4(server, (struct sockaddr *)&who, &len, SOCK_CLOEXEC);
	CHECK(peer >= 0 && write(client, "five", 4) == 4 && recv(peer, &who, 4, MSG_WAITALL) == 4);
	len = sizeof(who);
	CHECK(getpeername(client, (struct sockaddr *)&who, &len) == 0);
}

static const struct test tests[] = {
	{"link", test_link}, {"listening", test_listening}, {"ends", test_ends}, {"messages", test_messages}};
TEST_MAIN(tests)
