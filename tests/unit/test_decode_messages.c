/* SPDX-License-Identifier: MIT */
/* Decodes messages of sockets, and the lengths and times that the kernel changes, on fake memory. */
#include "decode_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static void test_messages(void **state)
{
	struct {
		struct msghdr m;
		struct iovec v[2];
		char data[16];
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
	} m = {.data = "onetwo!"};
	struct cmsghdr c = {.cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	(void)state;
	m.m = (struct msghdr){.msg_iov = (void *)(uintptr_t)(BASE + offsetof(typeof(m), v)),
			      .msg_iovlen = 2,
			      .msg_control = (void *)(uintptr_t)(BASE + offsetof(typeof(m), control)),
			      .msg_controllen = sizeof(m.control)};
	m.v[0] = (struct iovec){(void *)(uintptr_t)(BASE + offsetof(typeof(m), data)), 3};
	m.v[1] = (struct iovec){(void *)(uintptr_t)(BASE + offsetof(typeof(m), data) + 3), 10};
	memcpy(m.control, &c, sizeof(c));
	memcpy(m.control + CMSG_LEN(0), (int[]){7, 8}, 2 * sizeof(int));
	put(0, &m, sizeof(m));
	/* Received data is shown up to the number of bytes that the call returned, over all vectors. */
	CHECK("3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"one\", iov_len=3}, {iov_base=\"tw\", "
	      "iov_len=10}], "
	      "msg_iovlen=2, msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[7, "
	      "8]}], "
	      "msg_controllen=24, msg_flags=0}, MSG_PEEK) = 5",
	      "recvmsg", 5, 3, BASE, MSG_PEEK);
}

static void address_of_16(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(0x7f000035)};
	uint32_t len = sizeof(in);
	memcpy(memory, &in, sizeof(in));
	memcpy(memory + 512, &len, sizeof(len));
}

static void test_lengths(void **state)
{
	uint32_t room = 128;
	(void)state;
	kernel_writes = address_of_16;
	put(512, &room, sizeof(room));
	CHECK("3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"127.0.0.53\")}, [128 => 16]) = 0",
	      "getsockname", 0, 3, BASE, BASE + 512);
	put(512, &room, sizeof(room));
	CHECK_AS(JSON,
		 "\"sockfd\":{\"raw\":3,\"value\":3},\"addr\":{\"raw\":0,\"value\":null},\"addrlen\":{\"raw\":66048,"
		 "\"value\":[16]},\"result\":0",
		 "getsockname", 0, 3, 0, BASE + 512);
	/* The buffer is shorter than the address: the bytes after it are not part of the address. */
	room = 4;
	put(512, &room, sizeof(room));
	CHECK("3, {sa_family=AF_INET, sa_data=\"\\0005\"}, [4 => 16]) = 0", "getsockname", 0, 3, BASE, BASE + 512);
	room = 16;
	put(512, &room, sizeof(room));
	CHECK("3, NULL, [16]) = 0", "getsockname", 0, 3, 0, BASE + 512);
	kernel_writes = NULL;
}

/* The kernel has transferred three bytes of the first message, and has replaced the timeout by the remaining time. */
static void first_message_done(void)
{
	memcpy(memory + 56, &(uint32_t){3}, sizeof(uint32_t));
	memcpy(memory + 512, (int64_t[]){1, 7}, 2 * sizeof(int64_t));
}

static void two_addresses_of_2(void)
{
	memcpy(memory + offsetof(struct msghdr, msg_namelen), &(socklen_t){2}, sizeof(socklen_t));
	memcpy(memory + sizeof(struct mmsghdr) + offsetof(struct msghdr, msg_namelen), &(socklen_t){2},
	       sizeof(socklen_t));
}

/* recvmmsg(2) shortens the lengths of the addresses. */
static void test_several_lengths(void **state)
{
	struct mmsghdr m[2] = {{.msg_hdr.msg_namelen = 128}, {.msg_hdr.msg_namelen = 100}};
	(void)state;
	m[0].msg_hdr.msg_name = m[1].msg_hdr.msg_name = (void *)(uintptr_t)(BASE + 512);
	put(0, m, sizeof(m));
	kernel_writes = two_addresses_of_2;
#define RECEIVED(n)                                                                                                    \
	"{msg_hdr={msg_name={sa_family=AF_UNSPEC}, msg_namelen=" n " => 2, msg_iov=NULL, msg_iovlen=0, "               \
	"msg_controllen=0, msg_flags=0}, msg_len=0}"
	CHECK("3, [" RECEIVED("128") ", " RECEIVED("100") "], 2, 0, NULL) = 2", "recvmmsg", 2, 3, BASE, 2, 0, 0);
	kernel_writes = NULL;
}

static void test_several_messages(void **state)
{
	struct {
		struct mmsghdr m[2];
		struct iovec v;
		char data[8];
	} m = {.m = {{.msg_len = 77}, {.msg_len = 77}}, .v = {.iov_len = 3}, .data = "abc"};
	const int64_t patience[2] = {2, 500};
	(void)state;
	m.v.iov_base = (void *)(uintptr_t)(BASE + offsetof(typeof(m), data));
	for (int i = 0; i < 2; i++) {
		m.m[i].msg_hdr.msg_iov = (void *)(uintptr_t)(BASE + offsetof(typeof(m), v));
		m.m[i].msg_hdr.msg_iovlen = 1;
	}
#define MESSAGE                                                                                                        \
	"{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"abc\", iov_len=3}], msg_iovlen=1, "              \
	"msg_controllen=0, msg_flags=0}"
	put(0, &m, sizeof(m));
	kernel_writes = first_message_done;
	/* The length of a message that was not sent is not shown. */
	CHECK("3, [" MESSAGE ", msg_len=3}, " MESSAGE "}], 2, 0) = 1", "sendmmsg", 1, 3, BASE, 2, 0);
	CHECK("3, [" MESSAGE "}], 1, 0) = -1 EPIPE (Broken pipe)", "sendmmsg", -EPIPE, 3, BASE, 1, 0);
	memcpy(memory + 512, patience, sizeof(patience));
	CHECK("3, [" MESSAGE ", msg_len=3}], 2, 0, {tv_sec=2, tv_nsec=500}) = 1 (left {tv_sec=1, tv_nsec=7})",
	      "recvmmsg", 1, 3, BASE, 2, 0, BASE + 512);
	CHECK("3, [" MESSAGE ", msg_len=3}], 2, 0, NULL) = 1", "recvmmsg", 1, 3, BASE, 2, 0, 0);
	kernel_writes = NULL;
	CHECK("3, 0x10000, 2, 0, {tv_sec=1, tv_nsec=7}) = -1 EAGAIN (Resource temporarily unavailable)", "recvmmsg",
	      -EAGAIN, 3, BASE, 2, 0, BASE + 512);
	/* The times of a 32-bit program are shorter. */
	i386 = true;
	memcpy(memory + 512, (int32_t[]){2, 500, 9, 9}, sizeof(patience));
	CHECK("3, 0x10000, 2, 0, {tv_sec=2, tv_nsec=500}) = -1 EAGAIN (Resource temporarily unavailable)", "recvmmsg",
	      -EAGAIN, 3, BASE, 2, 0, BASE + 512);
	i386 = false;
}

static void test_narrow_messages(void **state)
{
	static const struct {
		uint32_t name, namelen, iov, iovlen, control, controllen, flags, base, len;
		uint32_t cmsg_len, level, type, fds[2];
		char text[4];
	} m = {0, 0, BASE + 28, 1, BASE + 36, 20, 0, BASE + 56, 3, 20, SOL_SOCKET, SCM_RIGHTS, {5, 6}, "abc"};
	(void)state;
	i386 = true;
	put(0, &m, sizeof(m));
	CHECK("3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"abc\", iov_len=3}], msg_iovlen=1, "
	      "msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[5, 6]}], "
	      "msg_controllen=20, msg_flags=0}, 0) = 3",
	      "sendmsg", 3, 3, BASE, 0);
	i386 = false;
}

static void test_option_values(void **state)
{
	const struct {
		uint16_t len, pad[3];
		uint64_t filter;
	} program = {2, {0}, 0x55};
	const uint32_t ring[4] = {4096, 1, 2048, 2};
	const struct {
		int32_t ifindex;
		uint16_t type, alen;
		uint8_t address[8];
	} member = {1, 1, 0, {0}};
	(void)state;
	put(0, &program, sizeof(program));
	CHECK("3, SOL_SOCKET, SO_ATTACH_FILTER, {len=2, filter=0x55}, 16) = 0", "setsockopt", 0, 3, SOL_SOCKET, 26,
	      BASE, 16);
	put(0, ring, sizeof(ring));
	CHECK("3, SOL_PACKET, PACKET_RX_RING, {tp_block_size=4096, tp_block_nr=1, tp_frame_size=2048, tp_frame_nr=2}, "
	      "16) = 0",
	      "setsockopt", 0, 3, 263, 5, BASE, 16);
	put(0, &member, sizeof(member));
	CHECK("3, SOL_PACKET, PACKET_ADD_MEMBERSHIP, {mr_ifindex=if_nametoindex(\"lo\"), mr_type=PACKET_MR_PROMISC, "
	      "mr_alen=0, mr_address=00:00:00:00:00:00}, 16) = 0",
	      "setsockopt", 0, 3, 263, 1, BASE, 16);
	put(0, (const uint32_t[]){htonl(0xe0000101), 0, htonl(0x7f000001)}, 3 * sizeof(uint32_t));
	CHECK("3, SOL_IP, IP_ADD_SOURCE_MEMBERSHIP, {imr_multiaddr=inet_addr(\"224.0.1.1\"), "
	      "imr_interface=inet_addr(\"0.0.0.0\"), imr_sourceaddr=inet_addr(\"127.0.0.1\")}, 12) = 0",
	      "setsockopt", 0, 3, 0, 39, BASE, 12);
	/* This time has 64 bits even in a 32-bit program. */
	i386 = true;
	put(0, (const int64_t[]){2, 5}, 2 * sizeof(int64_t));
	CHECK("3, SOL_SOCKET, SO_RCVTIMEO_NEW, {tv_sec=2, tv_usec=5}, 16) = 0", "setsockopt", 0, 3, SOL_SOCKET, 66,
	      BASE, 16);
	i386 = false;
}

static void test_control_structures(void **state)
{
	struct {
		struct msghdr m;
		/* The heads of two struct cmsghdr, which ends with an array of unknown size. */
		struct head {
			size_t len;
			int level, type;
		} error;
		uint32_t err;
		uint8_t origin[4];
		uint32_t rest[2];
		struct head times;
		int64_t stamps[6];
	} m = {.error = {32, SOL_IP, 11},
	       .err = ECONNREFUSED,
	       .origin = {2, 3, 4},
	       .times = {64, SOL_SOCKET, 37},
	       .stamps = {1, 2, 0, 0, 5, 6}};
	(void)state;
	m.m.msg_control = (void *)(uintptr_t)(BASE + offsetof(typeof(m), error));
	m.m.msg_controllen = 96;
	put(0, &m, sizeof(m));
	CHECK("3, {msg_name=NULL, msg_namelen=0, msg_iov=NULL, msg_iovlen=0, msg_control=[{cmsg_len=32, "
	      "cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data={ee_errno=ECONNREFUSED, "
	      "ee_origin=SO_EE_ORIGIN_ICMP, ee_type=3, ee_code=4, ee_info=0, ee_data=0}}, {cmsg_len=64, "
	      "cmsg_level=SOL_SOCKET, cmsg_type=SCM_TIMESTAMPING_OLD, cmsg_data=[{tv_sec=1, tv_nsec=2}, {tv_sec=0, "
	      "tv_nsec=0}, {tv_sec=5, tv_nsec=6}]}], msg_controllen=96, msg_flags=0}, MSG_ERRQUEUE) = 0",
	      "recvmsg", 0, 3, BASE, MSG_ERRQUEUE);
}

/* Control messages with addresses and single values. */
static void test_control_values(void **state)
{
	struct head {
		size_t len;
		int level, type;
	};
	struct {
		struct msghdr m;
		struct head error;
		uint32_t err[4];
		struct sockaddr_in sender;
		struct head tos;
		uint8_t byte, pad[7];
		struct head to;
		struct sockaddr_in address;
	} m = {.error = {48, SOL_IP, 11},
	       .err = {ECONNREFUSED},
	       .sender = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)},
	       .tos = {17, SOL_IP, 1},
	       .byte = 0xc0,
	       .to = {32, SOL_IP, 20},
	       .address = {.sin_family = AF_INET, .sin_port = htons(53)}};
	(void)state;
	m.m.msg_control = (void *)(uintptr_t)(BASE + offsetof(typeof(m), error));
	m.m.msg_controllen = sizeof(m) - offsetof(typeof(m), error);
	put(0, &m, sizeof(m));
	CHECK("3, {msg_name=NULL, msg_namelen=0, msg_iov=NULL, msg_iovlen=0, msg_control=[{cmsg_len=48, "
	      "cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data={ee_errno=ECONNREFUSED, "
	      "ee_origin=SO_EE_ORIGIN_NONE, ee_type=0, ee_code=0, ee_info=0, ee_data=0, offender={sa_family=AF_INET, "
	      "sin_port=htons(0), sin_addr=inet_addr(\"127.0.0.1\")}}}, {cmsg_len=17, cmsg_level=SOL_IP, "
	      "cmsg_type=IP_TOS, cmsg_data=[0xc0]}, {cmsg_len=32, cmsg_level=SOL_IP, cmsg_type=IP_ORIGDSTADDR, "
	      "cmsg_data={sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"0.0.0.0\")}}], "
	      "msg_controllen=104, msg_flags=0}, 0) = 0",
	      "recvmsg", 0, 3, BASE, 0);
}

static void test_option_lengths(void **state)
{
	(void)state;
	put(0, (const uint32_t[7]){4096, 1, 2048, 2, 10, 0, 1}, 28);
	CHECK("3, SOL_PACKET, PACKET_RX_RING, {tp_block_size=4096, tp_block_nr=1, tp_frame_size=2048, tp_frame_nr=2, "
	      "tp_retire_blk_tov=10, tp_sizeof_priv=0, tp_feature_req_word=0x1}, 28) = 0",
	      "setsockopt", 0, 3, 263, 5, BASE, 28);
	put(0, (const uint64_t[1]){65536}, 8);
	CHECK("3, AF_VSOCK, SO_VM_SOCKETS_BUFFER_SIZE, [65536], 8) = 0", "setsockopt", 0, 3, AF_VSOCK, 0, BASE, 8);
	struct {
		uint64_t interface;
		struct sockaddr_in group;
		char rest[112];
	} group = {1, {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xe0000101)}, {0}};
	put(0, &group, sizeof(group));
	CHECK("3, SOL_IP, MCAST_JOIN_GROUP, {gr_interface=if_nametoindex(\"lo\"), gr_group={sa_family=AF_INET, "
	      "sin_port=htons(0), sin_addr=inet_addr(\"224.0.1.1\")}}, 136) = 0",
	      "setsockopt", 0, 3, SOL_IP, 42, BASE, 136);
	put(0, &(uint32_t){1}, sizeof(uint32_t));
	CHECK("3, SOL_SOCKET, SO_GET_FILTER, NULL, [1]) = 1", "getsockopt", 1, 3, SOL_SOCKET, 26, 0, BASE);
	put(0, &(uint32_t){~0x9u}, sizeof(uint32_t));
	CHECK("3, SOL_RAW, ICMP_FILTER, ~[ICMP_ECHOREPLY ICMP_DEST_UNREACH], 4) = 0", "setsockopt", 0, 3, 255, 1, BASE,
	      4);
	CHECK("AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI) = 3", "socket", 3, AF_BLUETOOTH, SOCK_RAW, 1);
	CHECK("AF_UNIX, SOCK_RAW, 0) = 3", "socket", 3, AF_UNIX, SOCK_RAW, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),         cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_option_values),    cmocka_unit_test(test_control_structures),
		cmocka_unit_test(test_several_messages), cmocka_unit_test(test_several_lengths),
		cmocka_unit_test(test_narrow_messages),  cmocka_unit_test(test_control_values),
		cmocka_unit_test(test_option_lengths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
