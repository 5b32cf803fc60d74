/* Requests information about links and sockets, to test how a tracer shows the kernel's answers and the descriptors. */
#include "e2e.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
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

static const struct test tests[] = {{"link", test_link}, {"listening", test_listening}, {"ends", test_ends}};
TEST_MAIN(tests)
