/* SPDX-License-Identifier: MIT */
/*
 * Makes calls that the kernel answers in the memory of their arguments, of which each engine must show both the request
 * and the answer: commands of ioctl(2), chosen thread ids, control messages with addresses.
 */
#include "e2e.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/input.h>
#include <linux/loop.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* struct clone_args (linux/sched.h), which conflicts with sched.h of the C library */
struct clone_request {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size,
		cgroup;
};

/* Not all file systems and kernels support the commands, but all engines show the requests. */
static void ask_devices(void)
{
	static _Alignas(8) char extents[sizeof(struct fiemap) + sizeof(struct fiemap_extent)];
	struct fiemap *map = (struct fiemap *)extents;
	struct loop_info64 loop = {.lo_flags = LO_FLAGS_AUTOCLEAR, .lo_file_name = "disk"};
	char name[16];
	int file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600), null = open("/dev/null", O_RDWR | O_CLOEXEC);
	CHECK(file >= 0 && null >= 0 && write(file, "x", 1) == 1);
	map->fm_length = 4096;
	map->fm_flags = FIEMAP_FLAG_SYNC;
	map->fm_extent_count = 1;
	ioctl(file, FS_IOC_FIEMAP, map);
	CHECK(ioctl(null, LOOP_SET_STATUS64, &loop) < 0);
	CHECK(ioctl(null, EVIOCGNAME(sizeof(name)), name) < 0);
}

/* The id 1 is in use, so the call fails. */
static void choose_id(void)
{
	int32_t id = 1;
	struct clone_request request = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&id, .set_tid_size = 1};
	CHECK(syscall(435 /* SYS_clone3 */, &request, sizeof(request)) < 0);
}

static void receive_address(void)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, who[2];
	socklen_t len = sizeof(own);
	char in[8], control[128];
	struct iovec into = {in, sizeof(in)};
	struct mmsghdr got[2] = {{.msg_hdr = {&who[0], sizeof(who[0]) + 7, &into, 1, control, sizeof(control), 0}},
				 {.msg_hdr = {&who[1], sizeof(who[1]) + 9, &into, 1, NULL, 0, 0}}};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&own, &len) == 0);
	CHECK(setsockopt(fd, IPPROTO_IP, IP_RECVORIGDSTADDR, &one, sizeof(one)) == 0);
	CHECK(setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one)) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(sendto(fd, "one", 3, 0, (struct sockaddr *)&own, sizeof(own)) == 3);
	CHECK(recvmmsg(fd, got, 2, 0, NULL) == 2);
}

static void test_all(int argc, char **argv)
{
	(void)argc, (void)argv;
	ask_devices();
	choose_id();
	receive_address();
}

static const struct test tests[] = {{"all", test_all}};
TEST_MAIN(tests)
