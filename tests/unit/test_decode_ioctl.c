/* SPDX-License-Identifier: MIT */
/* Decodes requests about network interfaces, and structures of other commands, on fake memory. */
#include "decode_check.h"

#include <arpa/inet.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <linux/input.h>
#include <linux/loop.h>
#include <linux/nsfs.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <termios.h>

static struct ifreq request(void)
{
	struct ifreq r = {.ifr_name = "eth0"};
	return r;
}

static void test_interfaces(void **state)
{
	struct ifreq r = request();
	struct sockaddr_in *in = (struct sockaddr_in *)&r.ifr_addr;
	(void)state;
	r.ifr_flags = IFF_UP | IFF_LOOPBACK;
	put(0, &r, sizeof(r));
	CHECK("3, SIOCGIFFLAGS, {ifr_name=\"eth0\", ifr_flags=IFF_UP|IFF_LOOPBACK}) = 0", "ioctl", 0, 3, SIOCGIFFLAGS,
	      BASE);
	CHECK("3, SIOCSIFFLAGS, {ifr_name=\"eth0\", ifr_flags=IFF_UP|IFF_LOOPBACK}) = -1 EPERM (Operation not "
	      "permitted)",
	      "ioctl", -EPERM, 3, SIOCSIFFLAGS, BASE);
	/* The call failed, so only the name of the interface is shown, and not the requested value. */
	CHECK("3, SIOCGIFMTU, {ifr_name=\"eth0\"}) = -1 ENODEV (No such device)", "ioctl", -ENODEV, 3, SIOCGIFMTU,
	      BASE);
	CHECK("3, SIOCGIFMTU, 0x7) = -1 EFAULT (Bad address)", "ioctl", -EFAULT, 3, SIOCGIFMTU, 7);
	CHECK_AS(JSON,
		 "\"fd\":{\"raw\":3,\"value\":3},\"request\":{\"raw\":35091,\"value\":\"SIOCGIFFLAGS\"},\"argp\":{"
		 "\"raw\":"
		 "65536,"
		 "\"value\":{\"ifr_name\":\"eth0\",\"ifr_flags\":\"IFF_UP|IFF_LOOPBACK\"}},\"result\":0",
		 "ioctl", 0, 3, SIOCGIFFLAGS, BASE);
	r = request();
	*in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xff000000)};
	put(0, &r, sizeof(r));
	CHECK("3, SIOCGIFNETMASK, {ifr_name=\"eth0\", ifr_netmask={sa_family=AF_INET, sin_port=htons(0), "
	      "sin_addr=inet_addr(\"255.0.0.0\")}}) = 0",
	      "ioctl", 0, 3, SIOCGIFNETMASK, BASE);
	r = request();
	r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(r.ifr_hwaddr.sa_data, "\x02\xfc\0\0\0\x01", 6);
	put(0, &r, sizeof(r));
	CHECK("3, SIOCGIFHWADDR, {ifr_name=\"eth0\", ifr_hwaddr={sa_family=ARPHRD_ETHER, sa_data=02:fc:00:00:00:01}}) "
	      "= 0",
	      "ioctl", 0, 3, SIOCGIFHWADDR, BASE);
	r = request();
	r.ifr_ifindex = 4;
	put(0, &r, sizeof(r));
	CHECK("3, SIOCGIFNAME, {ifr_ifindex=4, ifr_name=\"eth0\"}) = 0", "ioctl", 0, 3, SIOCGIFNAME, BASE);
	CHECK("3, SIOCGIFNAME, {ifr_ifindex=4}) = -1 ENODEV (No such device)", "ioctl", -ENODEV, 3, SIOCGIFNAME, BASE);
	r.ifr_map = (struct ifmap){.mem_start = 0x1000, .irq = 9};
	put(0, &r, sizeof(r));
	CHECK("3, SIOCGIFMAP, {ifr_name=\"eth0\", ifr_map={mem_start=0x1000, mem_end=0, base_addr=0, irq=9, dma=0, "
	      "port=0}}) "
	      "= 0",
	      "ioctl", 0, 3, SIOCGIFMAP, BASE);
	r = request();
	r.ifr_flags = IFF_TAP | IFF_NO_PI;
	put(0, &r, sizeof(r));
	CHECK("3, TUNSETIFF, {ifr_name=\"eth0\", ifr_flags=IFF_TAP|IFF_NO_PI}) = 0", "ioctl", 0, 3, TUNSETIFF, BASE);
}

/* The kernel replaces the length of the buffer by the length used. */
static void one_interface(void)
{
	memcpy(memory, &(int32_t){sizeof(struct ifreq)}, sizeof(int32_t));
}

static void test_configuration(void **state)
{
	struct ifreq r = {.ifr_name = "lo"};
	struct ifconf c = {.ifc_len = 256};
	struct sockaddr_in *in = (struct sockaddr_in *)&r.ifr_addr;
	uint64_t buf = BASE + 64;
	(void)state;
	*in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	memcpy(&c.ifc_buf, &buf, sizeof(buf));
	put(0, &c, sizeof(c));
	memcpy(memory + 64, &r, sizeof(r));
	kernel_writes = one_interface;
	CHECK("3, SIOCGIFCONF, {ifc_len=256 => 40 /* 1 * sizeof(struct ifreq) */, ifc_buf=[{ifr_name=\"lo\", "
	      "ifr_addr={sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr(\"127.0.0.1\")}}]}) = 0",
	      "ioctl", 0, 3, SIOCGIFCONF, BASE);
	kernel_writes = NULL;
	CHECK("3, SIOCGIFCONF, {ifc_len=40, ifc_buf=0x10040}) = -1 EBADF (Bad file descriptor)", "ioctl", -EBADF, 3,
	      SIOCGIFCONF, BASE);
}

static void test_commands(void **state)
{
	struct shmid_ds shm = {.shm_perm.uid = 7, .shm_segsz = 4096};
	(void)state;
	CHECK("3, NS_GET_USERNS) = 4", "ioctl", 4, 3, NS_GET_USERNS, 77);
	CHECK("PTRACE_TRACEME) = 0", "ptrace", 0, PTRACE_TRACEME, 1, 2, 3);
	CHECK("IPC_PRIVATE, 4096, IPC_CREAT|SHM_HUGETLB|21<<SHM_HUGE_SHIFT|0600) = 5", "shmget", 5, IPC_PRIVATE, 4096,
	      IPC_CREAT | SHM_HUGETLB | 21 << 26 | 0600);
	CHECK("0x1, IPC_EXCL|IPC_NOWAIT|000) = 5", "msgget", 5, 1, IPC_EXCL | IPC_NOWAIT);
	CHECK("0x1, 3, 0640) = 5", "semget", 5, 1, 3, 0640);
	put(0, &shm, sizeof(shm));
	CHECK("5, IPC_STAT, {shm_perm={uid=7, gid=0, mode=000, key=IPC_PRIVATE, cuid=0, cgid=0}, shm_segsz=4096, "
	      "shm_cpid=0, shm_lpid=0, "
	      "shm_nattch=0, "
	      "shm_atime=0, shm_dtime=0, shm_ctime=0}) = 0",
	      "shmctl", 0, 5, IPC_STAT, BASE);
	CHECK("5, IPC_SET, {shm_perm={uid=7, gid=0, mode=000}}) = 0", "shmctl", 0, 5, IPC_SET, BASE);
}

/* Descriptors in sets have names, too. poll(2) ignores a negative descriptor, so it has no events. */
static void test_waiting(void **state)
{
	static const struct pollfd fds[] = {{3, POLLIN, 0}, {4, 0, 0}, {-1, POLLIN, 0}};
	fd_set set;
	(void)state;
	put(0, fds, sizeof(fds));
	CHECK("[{fd=3, events=POLLIN}, {fd=4, events=0}, {fd=-1}], 3, 0) = 0 (Timeout)", "poll", 0, BASE, 3, 0);
	FD_ZERO(&set);
	FD_SET(3, &set);
	FD_SET(5, &set);
	put(0, &set, sizeof(set));
	CHECK("6, [3 5], NULL, NULL, NULL) = 1 (in [3 5])", "select", 1, 6, BASE, 0, 0, 0);
	CHECK_AS(NAMED, "6, [3</f3> 5</f5>], NULL, NULL, NULL) = 1 (in [3</f3> 5</f5>])", "select", 1, 6, BASE, 0, 0,
		 0);
}

static void test_devices(void **state)
{
	(void)state;
	put(0, (const uint64_t[]){4096, 512}, 2 * sizeof(uint64_t));
	CHECK("3, BLKDISCARD, [4096, 512]) = 0", "ioctl", 0, 3, BLKDISCARD, BASE);
	CHECK("3, BLKROSET, [4096]) = 0", "ioctl", 0, 3, BLKROSET, BASE);
	CHECK("3, BLKSECTGET, [4096]) = 0", "ioctl", 0, 3, BLKSECTGET, BASE);
	CHECK("3, BLKRASET, 256) = 0", "ioctl", 0, 3, BLKRASET, 256);
	put(0, &(int){TIOCM_DTR | TIOCM_RTS}, sizeof(int));
	CHECK("3, TIOCMGET, [TIOCM_DTR|TIOCM_RTS]) = 0", "ioctl", 0, 3, TIOCMGET, BASE);
	put(0, "ab", 2);
	CHECK("3, TIOCSTI, \"a\") = 0", "ioctl", 0, 3, TIOCSTI, BASE);
	put(0, (const uint32_t[11]){[9] = 9600, [10] = 19200}, 44);
	CHECK("3, TCGETS2, {c_iflag=0, c_oflag=0, c_cflag=B0, c_lflag=0, c_ispeed=9600, "
	      "c_ospeed=19200, ...}) = 0",
	      "ioctl", 0, 3, 0x802c542a, BASE);
	CHECK("3, SIOCATMARK, 0x10000) = -1 ENOTTY (Inappropriate ioctl for device)", "ioctl", -ENOTTY, 3, 0x8905,
	      BASE);
	CHECK("3, NS_GET_NSTYPE) = 1073741824 (CLONE_NEWNET)", "ioctl", 0x40000000, 3, NS_GET_NSTYPE, 77);
}

/* With MSG_TRUNC the result is the length of the whole message, which may be more than the buffer contains. */
static void test_truncated(void **state)
{
	(void)state;
	put(0, "abcdefgh", 8);
	CHECK("3, \"abc\", 3, MSG_TRUNC, NULL, NULL) = 2000", "recvfrom", 2000, 3, BASE, 3, MSG_TRUNC, 0, 0);
}

/* Structures of which the kernel reads one part, and fills in another. */
static void test_exchanges(void **state)
{
	struct file_dedupe_range range = {.src_length = 4096, .dest_count = 1};
	struct file_dedupe_range_info info = {.dest_fd = 4, .dest_offset = 8, .bytes_deduped = 4096};
	struct fiemap map = {
		.fm_length = 9, .fm_flags = FIEMAP_FLAG_SYNC, .fm_extent_count = 3, .fm_mapped_extents = 1};
	struct fiemap_extent extent = {
		.fe_logical = 1, .fe_physical = 2, .fe_length = 3, .fe_flags = FIEMAP_EXTENT_LAST};
	struct uffdio_copy copy = {.dst = 0x1000, .src = 0x2000, .len = 0x1000, .copy = 0x1000};
	(void)state;
	put(0, &range, sizeof(range));
	memcpy(memory + sizeof(range), &info, sizeof(info));
	CHECK("3, FIDEDUPERANGE, {src_offset=0, src_length=4096, dest_count=1, info=[{dest_fd=4, dest_offset=8}]} => "
	      "{info=[{bytes_deduped=4096, status=0}]}) = 0",
	      "ioctl", 0, 3, FIDEDUPERANGE, BASE);
	CHECK("3, FIDEDUPERANGE, 0x7) = -1 EFAULT (Bad address)", "ioctl", -EFAULT, 3, FIDEDUPERANGE, 7);
	put(0, &map, sizeof(map));
	memcpy(memory + sizeof(map), &extent, sizeof(extent));
	CHECK("3, FS_IOC_FIEMAP, {fm_start=0, fm_length=9, fm_flags=FIEMAP_FLAG_SYNC, fm_extent_count=3} => "
	      "{fm_flags=FIEMAP_FLAG_SYNC, fm_mapped_extents=1, ...}) = 0",
	      "ioctl", 0, 3, FS_IOC_FIEMAP, BASE);
	CHECK_AS(VERBOSE,
		 "3, FS_IOC_FIEMAP, {fm_start=0, fm_length=9, fm_flags=FIEMAP_FLAG_SYNC, fm_extent_count=3} => "
		 "{fm_flags=FIEMAP_FLAG_SYNC, fm_mapped_extents=1, fm_extents=[{fe_logical=1, fe_physical=2, "
		 "fe_length=3, fe_flags=FIEMAP_EXTENT_LAST}]}) = 0",
		 "ioctl", 0, 3, FS_IOC_FIEMAP, BASE);
	put(0, &copy, sizeof(copy));
	CHECK("3, UFFDIO_COPY, {dst=0x1000, src=0x2000, len=0x1000, mode=0} => {copy=0x1000}) = 0", "ioctl", 0, 3,
	      UFFDIO_COPY, BASE);
	CHECK("3, UFFDIO_COPY, {dst=0x1000, src=0x2000, len=0x1000, mode=0}) = -1 EEXIST (File exists)", "ioctl",
	      -EEXIST, 3, UFFDIO_COPY, BASE);
	put(0, &(struct uffdio_api){.api = UFFD_API, .ioctls = UINT64_C(1) << _UFFDIO_API}, sizeof(struct uffdio_api));
	CHECK("3, UFFDIO_API, {api=0xaa, features=0} => {features=0, ioctls=1<<_UFFDIO_API}) = 0", "ioctl", 0, 3,
	      UFFDIO_API, BASE);
}

/* Commands of loop devices, terminals and input devices. */
static void test_more_devices(void **state)
{
	struct loop_info64 loop = {.lo_flags = LO_FLAGS_AUTOCLEAR, .lo_file_name = "disk"};
	(void)state;
	put(0, &loop, sizeof(loop));
	CHECK("3, LOOP_SET_STATUS64, {lo_offset=0, lo_number=0, lo_flags=LO_FLAGS_AUTOCLEAR, lo_file_name=\"disk\", "
	      "...}) = 0",
	      "ioctl", 0, 3, LOOP_SET_STATUS64, BASE);
	put(0, (const uint16_t[9]){1}, 18);
	CHECK("3, TCSETA, {c_iflag=IGNBRK, c_oflag=0, c_cflag=B0, c_lflag=0, ...}) = 0", "ioctl", 0, 3, 0x5406, BASE);
	CHECK("3, TCFLSH, TCIOFLUSH) = 0", "ioctl", 0, 3, TCFLSH, TCIOFLUSH);
	CHECK("3, TCXONC, TCOON) = 0", "ioctl", 0, 3, TCXONC, TCOON);
	put(0, (const uint64_t[3]){0x11, 0, UINT64_C(1) << 32}, 24);
	CHECK("3, SECCOMP_IOCTL_NOTIF_SEND, {id=0x11, val=0, error=0, flags=SECCOMP_USER_NOTIF_FLAG_CONTINUE}) = 0",
	      "ioctl", 0, 3, 0xc0182101, BASE);
	put(0, (const uint64_t[10]){0x11, 7, 59 | (uint64_t)AUDIT_ARCH_X86_64 << 32, 0x55, 1, 2, 3, 4, 5, 6}, 80);
	CHECK("3, SECCOMP_IOCTL_NOTIF_RECV, {id=0x11, pid=7, flags=0, data={nr=59, arch=AUDIT_ARCH_X86_64, "
	      "instruction_pointer=0x55, args=[0x1, 0x2, 0x3, 0x4, 0x5, 0x6]}}) = 0",
	      "ioctl", 0, 3, 0xc0502100, BASE);
	put(0, (const uint64_t[4]){1, 0x1000, 4096, 0x7000}, 32);
	CHECK("3, KVM_SET_USER_MEMORY_REGION, {slot=1, flags=0, guest_phys_addr=0x1000, memory_size=4096, "
	      "userspace_addr=0x7000}) = 0",
	      "ioctl", 0, 3, 0x4020ae46, BASE);
	put(0, "mouse", 6);
	CHECK("3, EVIOCGNAME(64), \"mouse\") = 6", "ioctl", 6, 3, EVIOCGNAME(64), BASE);
	CHECK("3, PIDFD_GET_INFO(88), 0x10000) = 0", "ioctl", 0, 3, _IOC(_IOC_READ | _IOC_WRITE, 0xff, 0x0b, 88), BASE);
	CHECK("3, NS_MNT_GET_INFO(24), 0x10000) = 0", "ioctl", 0, 3, _IOC(_IOC_READ, 0xb7, 0x0a, 24), BASE);
	CHECK("3, EVIOCGBIT(EV_KEY, 96), 0x10000) = 96", "ioctl", 96, 3, EVIOCGBIT(EV_KEY, 96), BASE);
	put(0, &(struct input_absinfo){.value = -3, .maximum = 9}, sizeof(struct input_absinfo));
	CHECK("3, EVIOCGABS(ABS_Y), {value=-3, minimum=0, maximum=9, fuzz=0, flat=0, resolution=0}) = 0", "ioctl", 0, 3,
	      EVIOCGABS(ABS_Y), BASE);
	CHECK("3, EVIOCSABS(ABS_X), {value=-3, minimum=0, maximum=9, fuzz=0, flat=0, resolution=0}) = -1 EINVAL "
	      "(Invalid argument)",
	      "ioctl", -EINVAL, 3, EVIOCSABS(ABS_X), BASE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interfaces), cmocka_unit_test(test_configuration),
		cmocka_unit_test(test_commands),   cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_truncated),  cmocka_unit_test(test_devices),
		cmocka_unit_test(test_exchanges),  cmocka_unit_test(test_more_devices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
