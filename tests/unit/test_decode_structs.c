/* SPDX-License-Identifier: MIT */
/* Decodes structures, addresses and commands on fake memory. */
#include "decode_check.h"

#include "decode/kinds.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/mempolicy.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/un.h>
#include <sys/wait.h>

static void test_stat(void **state)
{
	struct stat st = {.st_mode = S_IFREG | 0644, .st_size = 26126};
	(void)state;
	put(0, &st, sizeof(st));
	CHECK("3, {st_mode=S_IFREG|0644, st_size=26126, ...}) = 0", "fstat", 0, 3, BASE);
	CHECK("3, 0x10000) = -1 EBADF (Bad file descriptor)", "fstat", -EBADF, 3, BASE);
	CHECK("3, 0x5) = 0", "fstat", 0, 3, 5);
	st.st_mode = S_IFCHR | S_ISVTX | 0620;
	st.st_rdev = 0x8801;
	put(0, &st, sizeof(st));
	CHECK("3, {st_mode=S_IFCHR|S_ISVTX|0620, st_rdev=makedev(0x88, 0x1), ...}) = 0", "fstat", 0, 3, BASE);
	CHECK_AS(JSON,
		 "\"fd\":{\"raw\":3,\"value\":3},\"statbuf\":{\"raw\":65536,\"value\":{\"st_mode\":\"S_IFCHR|S_ISVTX|"
		 "0620\","
		 "\"st_rdev\":\"makedev(0x88, 0x1)\",\"more\":true}},\"result\":0",
		 "fstat", 0, 3, BASE);
}

static void test_modes(void **state)
{
	(void)state;
	CHECK("0x5, S_IFDIR|000) = 0", "mknod", 0, 5, S_IFDIR, 0);
	CHECK("0x5, S_IFREG|007) = 0", "mknod", 0, 5, S_IFREG | 07, 0);
	CHECK("0x5, S_IFIFO|070) = 0", "mknod", 0, 5, S_IFIFO | 070, 0);
	CHECK("0x5, S_IFREG|S_ISUID|S_ISGID|S_ISVTX|0755) = 0", "mknod", 0, 5, S_IFREG | 07755, 0);
	CHECK("0x5, 0644) = 0", "mknod", 0, 5, 0644, 0);
	CHECK("0x5, 0170644) = 0", "mknod", 0, 5, 0170644, 0);
	CHECK("0x5, 0) = 0", "swapon", 0, 5, 0);
	CHECK("0x5, SWAP_FLAG_PREFER) = 0", "swapon", 0, 5, 0x8000);
	CHECK("0x5, SWAP_FLAG_PREFER|SWAP_FLAG_DISCARD|5) = 0", "swapon", 0, 5, 0x18005);
	CHECK("0x5, 32767) = 0", "swapon", 0, 5, 0x7fff);
}

/* statx(2): times that the file system did not fill in are not shown. */
static void test_statx(void **state)
{
	struct statx stx = {.stx_mask = STATX_MODE | STATX_MTIME, .stx_mode = S_IFREG | 0644, .stx_mtime.tv_sec = 5};
	(void)state;
	put(0, &stx, sizeof(stx));
	CHECK_AS(VERBOSE,
		 "3, \"\", AT_STATX_SYNC_AS_STAT|AT_EMPTY_PATH, STATX_MODE, {stx_mask=STATX_MODE|STATX_MTIME, "
		 "stx_blksize=0, "
		 "stx_attributes=0, stx_nlink=0, stx_uid=0, stx_gid=0, stx_mode=S_IFREG|0644, stx_ino=0, stx_size=0, "
		 "stx_blocks=0, stx_attributes_mask=0, stx_mtime={tv_sec=5, tv_nsec=0} /* 1970-01-01T00:00:05+0000 */, "
		 "stx_rdev_major=0, stx_rdev_minor=0, stx_dev_major=0, stx_dev_minor=0, stx_mnt_id=0}) = 0",
		 "statx", 0, 3, BASE + 900, AT_EMPTY_PATH, STATX_MODE, BASE);
}

/* The older records of getdents(2), on architectures that have that call: the last byte is the type. */
static void test_old_directory(void **state)
{
	static const struct {
		uint64_t ino, off;
		uint16_t len;
		char name[13], type;
	} dents[] = {{7, 32, 32, "etc", DT_DIR}, {8, 64, 32, "passwd", DT_REG}};
	(void)state;
	put(0, dents, sizeof(dents));
	CHECK("3, 0x10000 /* 2 entries */, 1024) = 64", "getdents", 64, 3, BASE, 1024);
	CHECK_AS(SHALLOW, "3, 0x10000, 1024) = 64", "getdents", 64, 3, BASE, 1024);
	CHECK_AS(
		VERBOSE,
		"3, [{d_ino=7, d_off=32, d_reclen=32, d_name=\"etc\", d_type=DT_DIR}, {d_ino=8, d_off=64, d_reclen=32, "
		"d_name=\"passwd\", d_type=DT_REG}], 1024) = 64",
		"getdents", 64, 3, BASE, 1024);
	memory[16] = 3; /* shorter than any valid record */
	CHECK_AS(VERBOSE, "3, [], 1024) = 64", "getdents", 64, 3, BASE, 1024);
}

static void test_addresses(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(0x7f000035)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(80), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
	(void)state;
	put(0, &in, sizeof(in));
	CHECK("3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"127.0.0.53\")}, 16) = 0", "connect", 0,
	      3, BASE, sizeof(in));
	CHECK("3, {sa_family=AF_INET, sa_data=\"\\0005\"}, 4) = -1 EINVAL (Invalid argument)", "connect", -EINVAL, 3,
	      BASE, 4);
	CHECK("3, 0x10000, 1) = -1 EINVAL (Invalid argument)", "connect", -EINVAL, 3, BASE, 1);
	CHECK_AS(JSON,
		 "\"sockfd\":{\"raw\":3,\"value\":3},\"addr\":{\"raw\":65536,\"value\":{\"sa_family\":\"AF_INET\","
		 "\"sin_port\":53,\"sin_addr\":\"127.0.0.53\"}},\"addrlen\":{\"raw\":16,\"value\":16},\"result\":0",
		 "connect", 0, 3, BASE, sizeof(in));
	put(0, &in6, sizeof(in6));
	CHECK("3, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), "
	      "sin6_addr=inet_pton(AF_INET6, \"::1\"), sin6_scope_id=0}, 28) = 0",
	      "bind", 0, 3, BASE, sizeof(in6));
	put(0, &un, sizeof(un));
	CHECK("3, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 110) = 0", "connect", 0, 3, BASE, 110);
	memcpy(un.sun_path, "\0name\x1b", 6);
	put(0, &un, sizeof(un));
	CHECK("3, {sa_family=AF_UNIX, sun_path=@\"name\\33\"}, 8) = 0", "connect", 0, 3, BASE, 8);
}

/* Address families whose headers may be missing on the build machine; the test writes their bytes itself. */
static void test_rare_addresses(void **state)
{
	static const unsigned char packet[] = {17, 0, 8, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0xde, 0xad, 0xbe};
	static const unsigned char vsock[] = {40, 0, 0, 0, 0x39, 5, 0, 0, 2, 0, 0, 0, 0};
	static const unsigned char can[] = {29, 0, 0, 0, 0, 0, 0, 0};
	static const unsigned char xdp[] = {44, 0, 2, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0};
	unsigned char alg[88] = {38, 0, 'h', 'a', 's', 'h'};
	(void)state;
	put(0, packet, sizeof(packet));
	CHECK("3, {sa_family=AF_PACKET, sll_protocol=htons(ETH_P_IP), sll_ifindex=0, sll_hatype=ARPHRD_ETHER, "
	      "sll_pkttype=PACKET_HOST, sll_halen=3, sll_addr=[0xde, 0xad, 0xbe]}, 88) = 0",
	      "bind", 0, 3, BASE, 88);
	put(0, vsock, sizeof(vsock));
	CHECK("3, {sa_family=AF_VSOCK, svm_cid=VMADDR_CID_HOST, svm_port=0x539, svm_flags=0}, 88) = 0", "bind", 0, 3,
	      BASE, 88);
	put(0, can, sizeof(can));
	CHECK("3, {sa_family=AF_CAN, can_ifindex=0}, 88) = 0", "bind", 0, 3, BASE, 88);
	put(0, xdp, sizeof(xdp));
	CHECK("3, {sa_family=AF_XDP, sxdp_flags=XDP_COPY, sxdp_ifindex=0, sxdp_queue_id=7, sxdp_shared_umem_fd=9}, 88) "
	      "= 0",
	      "bind", 0, 3, BASE, 88);
	strcpy((char *)alg + 24, "sha256\n");
	put(0, alg, sizeof(alg));
	CHECK("3, {sa_family=AF_ALG, salg_type=\"hash\", salg_feat=0, salg_mask=0, salg_name=\"sha256\\n\"}, 88) = 0",
	      "bind", 0, 3, BASE, 88);
}

static void test_signals(void **state)
{
	uint64_t action[4] = {1, SA_RESTART | SA_INTERRUPT | 0x04000000, 0x1234, 0x2}, full = ~(3ull << 31), none = 0;
	(void)state;
	put(0, action, sizeof(action));
	CHECK("SIGTERM, {sa_handler=SIG_IGN, sa_mask=[INT], sa_flags=SA_RESTORER|SA_RESTART|SA_INTERRUPT, "
	      "sa_restorer=0x1234}, "
	      "NULL, 8) = 0",
	      "rt_sigaction", 0, SIGTERM, BASE, 0, 8);
	put(0, &full, sizeof(full));
	CHECK("SIG_SETMASK, ~[RTMIN RT_1], NULL, 8) = 0", "rt_sigprocmask", 0, SIG_SETMASK, BASE, 0, 8);
	CHECK_AS(RAW, "0x2, ~[32 33], NULL, 8) = 0", "rt_sigprocmask", 0, SIG_SETMASK, BASE, 0, 8);
	CHECK_AS(BOTH, "0x2 /* SIG_SETMASK */, ~[32 /* RTMIN */ 33 /* RT_1 */], NULL, 8) = 0", "rt_sigprocmask", 0,
		 SIG_SETMASK, BASE, 0, 8);
	CHECK_AS(JSON,
		 "\"how\":{\"raw\":2,\"value\":\"SIG_SETMASK\"},\"set\":{\"raw\":65536,\"value\":\"~[RTMIN RT_1]\"},"
		 "\"oldset\":{\"raw\":0,\"value\":null},\"sigsetsize\":{\"raw\":8,\"value\":8},\"result\":0",
		 "rt_sigprocmask", 0, SIG_SETMASK, BASE, 0, 8);
	put(0, &none, sizeof(none));
	CHECK("SIG_BLOCK, NULL, [], 8) = 0", "rt_sigprocmask", 0, SIG_BLOCK, 0, BASE, 8);
	CHECK("1, SIGRT_2) = 0", "kill", 0, 1, 34);
	CHECK("1, 99) = -1 EINVAL (Invalid argument)", "kill", -EINVAL, 1, 99);
	assert_null(decode_signal_name(0));
	assert_null(decode_signal_name(-1));
	assert_null(decode_signal_name(65));
	assert_int_equal(decode_signal_number("TERM"), SIGTERM);
	assert_int_equal(decode_signal_number("SIGRT_2"), 34);
}

static void test_waiting(void **state)
{
	int status = 7 << 8;
	struct pollfd fds[2] = {{3, POLLIN, 0}, {4, POLLOUT | POLLERR, POLLOUT}};
	struct epoll_event ev = {EPOLLIN | EPOLLET, {.u64 = 5}};
	uint64_t sets[16] = {1 << 3};
	(void)state;
	put(0, &status, sizeof(status));
	CHECK("9, [{WIFEXITED(s) && WEXITSTATUS(s) == 7}], WNOHANG, NULL) = 9", "wait4", 9, 9, BASE, 1, 0);
	CHECK("9, 0x10000, WNOHANG, NULL) = 0", "wait4", 0, 9, BASE, 1, 0);
	status = SIGSEGV | 0x80;
	put(0, &status, sizeof(status));
	CHECK("-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}], 0, NULL) = 9", "wait4", 9,
	      (uint64_t)-1, BASE, 0, 0);
	put(0, fds, sizeof(fds));
	CHECK("[{fd=3, events=POLLIN}, {fd=4, events=POLLOUT|POLLERR}], 2, -1) = 1 ([{fd=4, revents=POLLOUT}])", "poll",
	      1, BASE, 2, (uint32_t)-1);
	CHECK("[{fd=3, events=POLLIN}], 1, 0) = 0 (Timeout)", "poll", 0, BASE, 1, 0);
	put(0, &ev, sizeof(ev));
	CHECK("5, [{events=EPOLLIN|EPOLLET, data={u32=5, u64=5}}], 8, -1) = 1", "epoll_wait", 1, 5, BASE, 8,
	      (uint32_t)-1);
	CHECK("5, [], 8, 0) = 0", "epoll_wait", 0, 5, BASE, 8, 0);
	put(0, sets, sizeof(sets));
	CHECK("4, [3], NULL, NULL, NULL) = 1 (in [3])", "select", 1, 4, BASE, 0, 0, 0);
	CHECK_AS(JSON,
		 "\"nfds\":{\"raw\":4,\"value\":4},\"readfds\":{\"raw\":65536,\"value\":\"[3]\"},\"writefds\":{\"raw\":"
		 "0,"
		 "\"value\":null},\"exceptfds\":{\"raw\":0,\"value\":null},\"timeout\":{\"raw\":0,\"value\":null},"
		 "\"result\":1,\"returned\":{\"in\":\"[3]\"}",
		 "select", 1, 4, BASE, 0, 0, 0);
}

/* A command determines whether an argument exists, and its kind. */
static void test_commands(void **state)
{
	struct {
		int64_t sec, nsec;
	} ts = {1, 2};
	(void)state;
	CHECK("3, F_GETFD) = 0x1 (flags FD_CLOEXEC)", "fcntl", 1, 3, F_GETFD, 99);
	CHECK("3, F_SETFL, O_RDONLY|O_APPEND|O_NONBLOCK) = 0", "fcntl", 0, 3, F_SETFL, O_APPEND | O_NONBLOCK);
	CHECK("3, F_DUPFD_CLOEXEC, 10) = 10", "fcntl", 10, 3, F_DUPFD_CLOEXEC, 10);
	CHECK("3, 0x270f /* F_??? */, 0x5) = -1 EINVAL (Invalid argument)", "fcntl", -EINVAL, 3, 9999, 5);
	put(0, (uint32_t[]){3, 65534}, 2 * sizeof(uint32_t));
	CHECK_AS(NAMED, "3</f3>, F_GETOWNER_UIDS, [3, 65534]) = 0", "fcntl", 0, 3, 17, BASE);
	put(0, &ts, sizeof(ts));
	CHECK("0x5, FUTEX_WAIT_PRIVATE, 3, {tv_sec=1, tv_nsec=2}) = -1 ETIMEDOUT (Connection timed out)", "futex",
	      -ETIMEDOUT, 5, 128, 3, BASE, 77, 88);
	CHECK("0x5, FUTEX_WAKE, 1) = 1", "futex", 1, 5, 1, 1, 7, 8, 9);
	CHECK("0x5, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 3, NULL, FUTEX_BITSET_MATCH_ANY) = 0", "futex", 0, 5,
	      9 | 256, 3, 0, 4, 0xffffffff);
	CHECK("PR_GET_DUMPABLE) = 1 (SUID_DUMP_USER)", "prctl", 1, 3, 9, 9, 9, 9);
	CHECK("PR_SET_PDEATHSIG, SIGTERM) = 0", "prctl", 0, 1, SIGTERM);
	CHECK("ARCH_SET_FS, 0x7f00) = 0", "arch_prctl", 0, 0x1002, 0x7f00);
	CHECK("1, TCGETS, 0x10000) = -1 ENOTTY (Inappropriate ioctl for device)", "ioctl", -ENOTTY, 1, 0x5401, BASE);
	CHECK("1, _IOC(_IOC_READ, 0x5a, 0x7, 0xc), 0x1) = -1 ENOTTY (Inappropriate ioctl for device)", "ioctl", -ENOTTY,
	      1, 0x800c5a07, 1);
}

/* Writes to the memory what clone3(2) writes there: the child's id, and its pidfd. */
static void child_of_77(void)
{
	memcpy(memory + 0x100, &(int32_t){77}, 4);
	memcpy(memory + 0x108, &(int32_t){9}, 4);
}

static void test_new_tasks(void **state)
{
	uint64_t args[11] = {0x3d0f00, BASE + 0x108, BASE, BASE + 0x100, 0, 0x7000, 0x9000, 0x1234};
	(void)state;
	put(0, args, sizeof(args));
	kernel_writes = child_of_77;
	CHECK("{flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_"
	      "SETTID|CLONE_CHILD_CLEARTID, child_tid=0x10000, parent_tid=0x10100, exit_signal=0, stack=0x7000, "
	      "stack_size=0x9000, tls=0x1234} => {parent_tid=[77]}, 88) = 77",
	      "clone3", 77, BASE, 88);
	CHECK_AS(RAW,
		 "{flags=0x3d0f00, child_tid=0x10000, parent_tid=0x10100, exit_signal=0, stack=0x7000, "
		 "stack_size=0x9000, "
		 "tls=0x1234}, 88) = -1 EAGAIN (Resource temporarily unavailable)",
		 "clone3", -EAGAIN, BASE, 88);
	args[0] = 0x1000; /* CLONE_PIDFD */
	args[4] = SIGCHLD;
	args[5] = args[6] = 0;
	put(0, args, sizeof(args));
	CHECK_AS(JSON,
		 "\"cl_args\":{\"raw\":65536,\"value\":{\"flags\":\"CLONE_PIDFD\",\"pidfd\":\"0x10108\","
		 "\"exit_signal\":\"SIGCHLD\",\"stack\":null,\"stack_size\":\"0x0\"},\"after\":{\"pidfd\":[9]}},"
		 "\"size\":{\"raw\":88,\"value\":88},\"result\":77",
		 "clone3", 77, BASE, 88);
	kernel_writes = NULL;
	uint64_t chosen[12] = {[4] = SIGCHLD, [8] = BASE + 88, [9] = 1, [11] = 4711};
	put(0, chosen, sizeof(chosen));
	CHECK("{flags=0, exit_signal=SIGCHLD, stack=NULL, stack_size=0, set_tid=[4711], set_tid_size=1}, 88) = -1 "
	      "EEXIST "
	      "(File exists)",
	      "clone3", -EEXIST, BASE, 88);
	kernel_writes = child_of_77;
	/*
	 * The arguments in the order of clone(2) for this architecture: on aarch64, the fourth and fifth are swapped.
	 */
	CHECK("flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_stack=NULL, child_tidptr=0x10000) = 77",
	      "clone", 77, 0x1200011, 0, 0, BASE, BASE);
	put(0x100, &(int32_t){77}, 4);
	uint64_t all[6] = {0x3d0f00, 0x7000, BASE + 0x100, 0x1111, 0x2222};
	struct buf out = {0};
	shown(&out, "clone", 77, all, TEXT);
	bool tls_last = syscall_native_arch() == AUDIT_ARCH_X86_64;
	assert_string_equal(strstr(buf_str(&out), ", child_stack"),
			    tls_last ? ", child_stack=0x7000, parent_tid=[77], child_tidptr=0x1111, tls=0x2222) = 77"
				     : ", child_stack=0x7000, parent_tid=[77], tls=0x1111, child_tidptr=0x2222) = 77");
	buf_free(&out);
	kernel_writes = NULL;
}

static void three_bytes_copied(void)
{
	put(0, &(uint64_t){5}, sizeof(uint64_t));
}

static void test_moved_offset(void **state)
{
	const uint32_t narrow[2] = {2, 7}; /* the second word is not a part of the offset */
	(void)state;
	kernel_writes = three_bytes_copied;
	put(0, &(uint64_t){2}, sizeof(uint64_t));
	CHECK("3, 6, [2] => [5], 10) = 3", "sendfile", 3, 3, 6, BASE, 10);
	put(0, &(uint64_t){2}, sizeof(uint64_t));
	CHECK_AS(JSON,
		 "\"out_fd\":{\"raw\":3,\"value\":3},\"in_fd\":{\"raw\":6,\"value\":6},\"offset\":{\"raw\":65536,"
		 "\"value\":[2],\"after\":[5]},\"count\":{\"raw\":10,\"value\":10},\"result\":3",
		 "sendfile", 3, 3, 6, BASE, 10);
	CHECK("3, 6, [5], 10) = 0", "sendfile", 0, 3, 6, BASE, 10);
	CHECK("3, 6, [5], 10) = -1 EBADF (Bad file descriptor)", "sendfile", -EBADF, 3, 6, BASE, 10);
	CHECK("3, 6, NULL, 10) = 3", "sendfile", 3, 3, 6, 0, 10);
	i386 = true;
	put(0, narrow, sizeof(narrow));
	CHECK("3, 6, [2] => [5], 10) = 3", "sendfile", 3, 3, 6, BASE, 10);
	i386 = false;
	kernel_writes = NULL;
}

/*
 * If a call does not return, the arguments that were known at its entry are shown, as text and as a complete JSON
 * object.
 */
static void test_new_task_unfinished(void **state)
{
	uint64_t args[11] = {0x1000, BASE + 0x108};
	struct call call = call_of("clone3");
	struct mem mem = {memory_read, NULL};
	struct decode_opts opts = {.string_max = 32};
	struct buf out = {0};
	struct emit e;
	(void)state;
	put(0, args, sizeof(args));
	call.desc = syscall_lookup(call.arch, call.nr);
	call.args[0] = BASE;
	call.args[1] = 88;
	emit_json_init(&e, &out);
	struct decode d = {.out = &e, .call = &call, .mem = &mem, .opts = &opts, .pid = 1};
	assert_int_equal(decode_enter(&d), 0);
	assert_int_equal(decode_count(&d), 2);
	decode_vanish(&d, 0);
	assert_string_equal(buf_str(&out), "\"cl_args\":{\"raw\":65536,\"value\":{\"flags\":\"CLONE_PIDFD\",\"pidfd\":"
					   "\"0x10108\",\"exit_signal\":0,\"stack\":null,\"stack_size\":\"0x0\"}}");
	buf_free(&out);
}

static void test_processes(void **state)
{
	uint64_t limit[2] = {8192 * 1024, UINT64_MAX};
	uint32_t groups[] = {0, 5};
	(void)state;
	put(0, groups, sizeof(groups));
	CHECK("0, []) = 2", "getgroups", 2, 0, BASE);
	CHECK("0, NULL) = 2", "getgroups", 2, 0, 0);
	CHECK("2, [0, 5]) = 2", "getgroups", 2, 2, BASE);
	CHECK("1, 0x10000) = -1 EINVAL (Invalid argument)", "getgroups", -EINVAL, 1, BASE);
	put(0, limit, sizeof(limit));
	CHECK("0, RLIMIT_STACK, NULL, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0", "prlimit64", 0, 0, 3, 0,
	      BASE);
	CHECK_AS(RAW, "0, 0x3, NULL, {rlim_cur=8388608, rlim_max=18446744073709551615}) = 0", "prlimit64", 0, 0, 3, 0,
		 BASE);
	CHECK_AS(BOTH,
		 "0, 0x3 /* RLIMIT_STACK */, NULL, {rlim_cur=8388608 /* 8192*1024 */, "
		 "rlim_max=18446744073709551615 /* RLIM64_INFINITY */}) = 0",
		 "prlimit64", 0, 0, 3, 0, BASE);
	CHECK("7) = ?", "exit_group", 0, 7);
	CHECK("022) = 077", "umask", 077, 022);
	CHECK("NULL) = 0x55000000", "brk", 0x55000000, 0);
}

static void test_vanished(void **state)
{
	struct buf out = {0};
	struct emit e;
	struct decode_opts opts = {.string_max = 32};
	struct call call = {
		.arch = AUDIT_ARCH_X86_64, .desc = syscall_lookup(AUDIT_ARCH_X86_64, 0), .args = {3, BASE, 10}};
	struct decode d = {.out = &e, .call = &call, .opts = &opts, .pid = 1};
	(void)state;
	emit_text_init(&e, &out, 0);
	int from = decode_enter(&d);
	assert_int_equal(from, 1);
	assert_string_equal(buf_str(&out), "3, ");
	decode_exit(&d, from);
	buf_adds(&out, ") = ");
	decode_result(&d);
	assert_string_equal(buf_str(&out), "3, 0x10000, 10) = ?");
	buf_free(&out);
}

static void test_narrow_structures(void **state)
{
	static const int32_t rusage[18] = {1, 2, 3, 4, 500};
	static const int32_t siginfo[32] = {SIGCHLD, 0, CLD_EXITED, 77, 1000, 3, 0, 0};
	static const uint32_t stack[3] = {0x8000, 0, 8192};
	(void)state;
	i386 = true;
	put(0, rusage, sizeof(rusage));
	CHECK("RUSAGE_SELF, {ru_utime={tv_sec=1, tv_usec=2}, ru_stime={tv_sec=3, tv_usec=4}, ...}) = 0", "getrusage", 0,
	      0, BASE);
	put(0, siginfo, sizeof(siginfo));
	CHECK("P_ALL, 0, {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=77, si_uid=1000, si_status=3}, WEXITED, "
	      "NULL) = 0",
	      "waitid", 0, 0, 0, BASE, 4, 0);
	put(0, stack, sizeof(stack));
	CHECK("{ss_sp=0x8000, ss_flags=0, ss_size=8192}, NULL) = 0", "sigaltstack", 0, BASE, 0);
	CHECK("0, 4294967298, [8192], SEEK_SET) = 0", "_llseek", 0, 0, 1, 2, BASE + 8, 0);
	CHECK("0, 4294967296, 5, POSIX_FADV_DONTNEED) = 0", "fadvise64", 0, 0, 0, 1, 5, 4);
	i386 = false;
}

/* i386 makes several calls through one number (socketcall(2), ipc(2)). They are shown by their own names. */
static void test_inside(void **state)
{
	static const uint32_t sendto[] = {7, BASE + 24, 3, 0, 0, 0}, shmat[] = {0xf7000000};
	(void)state;
	i386 = true;
	put(0, sendto, sizeof(sendto));
	memcpy(memory + 24, "abc", 3);
	CHECK("7, \"abc\", 3, 0, NULL, 0) = 3", "socketcall", 3, 11, BASE);
	CHECK("7, \"abc\", 3, 0) = 3", "socketcall", 3, 9, BASE);
	CHECK("99, 0x10000) = -1 EINVAL (Invalid argument)", "socketcall", -EINVAL, 99, BASE);
	CHECK("11, 0x5) = -1 EFAULT (Bad address)", "socketcall", -EFAULT, 11, 5);
	CHECK("3, NULL, 0) = 0", "ipc", 0, 21, 3, 0, BASE, 0, 0);
	put(0, shmat, sizeof(shmat));
	struct mem mem = {memory_read, NULL};
	struct call call = {.arch = AUDIT_ARCH_I386, .nr = 117, .args = {21, 3, 0, BASE}};
	assert_int_equal(decode_inside_result(&call, &mem), 0xf7000000);
	struct call real;
	assert_true(decode_inside(&call, &mem, &real));
	assert_string_equal(syscall_name_known(real.arch, real.nr), "shmat");
	assert_string_equal(real.desc->name, "shmat");
	assert_int_equal(syscall_kernel_number(real.arch, real.nr), 117);
	i386 = false;
}

/* Rarely used calls and structures. */
static void test_seldom(void **state)
{
	static const struct {
		uint64_t ino;
		int64_t off;
		uint16_t len;
		uint8_t type;
		char name[5];
	} dent = {7, 32, 24, DT_REG, "file"};
	static const struct ipv6_mreq group = {IN6ADDR_LOOPBACK_INIT, 0};
	static const struct pollfd nothing = {3, POLLIN, 0};
	uint32_t prog[12] = {BPF_PROG_TYPE_KPROBE};
	(void)state;
	put(0, &dent, sizeof(dent));
	CHECK_AS(VERBOSE, "3, [{d_ino=7, d_off=32, d_reclen=24, d_type=DT_REG, d_name=\"file\"}], 1024) = 24",
		 "getdents64", 24, 3, BASE, 1024);
	put(0, "why", 4);
	CHECK("LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART2, \"why\") = -1 EPERM (Operation not "
	      "permitted)",
	      "reboot", -EPERM, 0xfee1dead, 0x28121969, 0xa1b2c3d4, BASE);
	put(0, &group, sizeof(group));
	CHECK("3, SOL_IPV6, IPV6_ADD_MEMBERSHIP, {ipv6mr_multiaddr=inet_pton(AF_INET6, \"::1\"), ipv6mr_ifindex=0}, "
	      "20) = 0",
	      "setsockopt", 0, 3, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, BASE, sizeof(group));
	put(0, &(int){1}, sizeof(int));
	CHECK_AS(EMPTY_STRINGS, "3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0", "setsockopt", 0, 3, SOL_SOCKET,
		 SO_REUSEADDR, BASE, sizeof(int));
	put(0, &nothing, sizeof(nothing));
	CHECK_AS(JSON,
		 "\"fds\":{\"raw\":65536,\"value\":[{\"fd\":3,\"events\":\"POLLIN\"}]},\"nfds\":{\"raw\":1,\"value\":1}"
		 ",\"tmo_p\":{\"raw\":0,\"value\":null},\"sigmask\":{\"raw\":0,\"value\":null},\"sigsetsize\":{\"raw\":"
		 "0,\"value\":0},\"result\":0,\"returned\":\"Timeout\"",
		 "ppoll", 0, BASE, 1, 0, 0, 0);
	put(0, (uint64_t[]){BASE + 16, 8, UINT64_C(1) << (SIGUSR1 - 1)}, 24);
	CHECK("0, NULL, NULL, NULL, NULL, {sigmask=[USR1], sigsetsize=8}) = 0 (Timeout)", "pselect6", 0, 0, 0, 0, 0, 0,
	      BASE);
	CHECK("0, NULL, NULL, NULL, NULL, 0x7) = -1 EFAULT (Bad address)", "pselect6", -EFAULT, 0, 0, 0, 0, 0, 7);
	CHECK_AS(RAW, "NULL, 0, 5) = 0 (Timeout)", "poll", 0, 0, 0, 5);
	CHECK_AS(SHALLOW, "NULL, 0, 5) = 0 (Timeout)", "poll", 0, 0, 0, 5);
	CHECK_AS(SHALLOW, "0x10000, 1, 5) = 1", "poll", 1, BASE, 1, 5);
	CHECK_AS(SHALLOW, "0x10000, 1, 0x10100, NULL, 8) = 1", "ppoll", 1, BASE, 1, BASE + 0x100, 0, 8);
	CHECK_AS(SHALLOW, "5, 0x10000, NULL, NULL, 0x10100) = 1", "select", 1, 5, BASE, 0, 0, BASE + 0x100);
	CHECK_AS(SHALLOW, "3, 0x10000, 1, 0, 0x10100) = 1", "recvmmsg", 1, 3, BASE, 1, 0, BASE + 0x100);
	CHECK_AS(SHALLOW, "3, 0x10000, 1024) = 64", "getdents64", 64, 3, BASE, 1024);
	CHECK_AS(BOTH, "NULL, 0, 5) = 0 (Timeout)", "poll", 0, 0, 0, 5);
	CHECK_AS(RAW, "3, 0x3) = 0x402 (flags O_RDWR|O_APPEND)", "fcntl", 0x402, 3, F_GETFL);
	CHECK_AS(BOTH, "0) = 3 (SCHED_BATCH)", "sched_getscheduler", 3, 0);
	CHECK_AS(RAW, "0, -3, 0) = 7", "keyctl", 7, 0, (uint64_t)-3, 0);
	CHECK_AS(RAW, "-100, NULL, 020600, 0x103) = 0", "mknodat", 0, (uint64_t)AT_FDCWD, 0, S_IFCHR | 0600, 0x103);
	CHECK_AS(BOTH, "-100 /* AT_FDCWD */, NULL, 020600 /* S_IFCHR|0600 */, 0x103 /* makedev(0x1, 0x3) */) = 0",
		 "mknodat", 0, (uint64_t)AT_FDCWD, 0, S_IFCHR | 0600, 0x103);
	CHECK_AS(RAW, "0x17, 0x40) = 0", "prctl", 0, 23, 64);
	CHECK_AS(BOTH, "0x17 /* PR_CAPBSET_READ */, 0x40 /* CAP_??? */) = 0", "prctl", 0, 23, 64);
	prog[10] = 0x060102;
	put(0, prog, sizeof(prog));
	CHECK("BPF_PROG_LOAD, {prog_type=BPF_PROG_TYPE_KPROBE, insn_cnt=0, insns=NULL, license=NULL, log_level=0, "
	      "log_size=0, kern_version=KERNEL_VERSION(6, 1, 2), prog_flags=0}, 48) = -1 EPERM (Operation not "
	      "permitted)",
	      "bpf", -EPERM, 5, BASE, sizeof(prog));
	static const uint64_t nodes[] = {3, 5};
	put(0, nodes, sizeof(nodes));
	CHECK("MPOL_BIND, [0x0000000000000003], 65) = 0", "set_mempolicy", 0, MPOL_BIND, BASE, 65);
	CHECK("MPOL_BIND, [0x0000000000000003, 0x0000000000000005], 66) = 0", "set_mempolicy", 0, MPOL_BIND, BASE, 66);
}

/* Clock ticks are also shown in seconds. */
static void test_ticks(void **state)
{
	static const struct tms times = {.tms_utime = 250, .tms_cstime = 6};
	siginfo_t child = {.si_signo = SIGCHLD, .si_code = CLD_EXITED};
	static const siginfo_t queued = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
	(void)state;
	put(0, &times, sizeof(times));
	CHECK("{tms_utime=250 /* 2.50 s */, tms_stime=0, tms_cutime=0, tms_cstime=6 /* 0.06 s */}) = 7", "times", 7,
	      BASE);
	put(0, &(int64_t){1795664285}, sizeof(int64_t));
	CHECK("[1795664285 /* 2026-11-26T03:38:05+0000 */]) = 1795664285 (2026-11-26T03:38:05+0000)", "time",
	      1795664285, BASE);
	child.si_pid = 5;
	child.si_stime = 2;
	put(0, &child, sizeof(child));
	CHECK("NULL, {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=5, si_uid=0, si_status=0, si_utime=0, si_stime=2 "
	      "/* 0.02 s */}, NULL, 8) = 17 (SIGCHLD)",
	      "rt_sigtimedwait", SIGCHLD, 0, BASE, 0, 8);
	/* waitid(2) does not write the times. */
	CHECK("P_ALL, 0, {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=5, si_uid=0, si_status=0}, WEXITED, NULL) = 0",
	      "waitid", 0, 0, 0, BASE, WEXITED, 0);
	put(0, &queued, sizeof(queued));
	CHECK("5, SIGUSR1, {si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=0, si_uid=0, si_int=0, si_ptr=NULL}) = 0",
	      "rt_sigqueueinfo", 0, 5, SIGUSR1, BASE);
}

/* The rules of kinds that special functions show. */
static void test_memory_needs(void **state)
{
	(void)state;
	struct memory_need statx = decode_memory_need(K_OUT_STATX, 4), tms = decode_memory_need(K_OUT_TMS, 0);
	assert_int_equal(statx.rule, MEMORY_OUT);
	assert_int_equal(statx.size, sizeof(struct statx));
	assert_int_equal(tms.rule, MEMORY_OUT);
	assert_int_equal(tms.size, sizeof(struct tms));
	assert_int_equal(decode_memory_need(K_OUT_STAT, 1).size, sizeof(struct stat));
	struct memory_need cpus = decode_memory_need(K_OUT_CPU_SET, 2);
	assert_int_equal(cpus.rule, MEMORY_OUT);
	assert_int_equal(cpus.count, COUNT_RESULT);
	assert_int_equal(cpus.size, 1);
	/* capget(2) changes the header if it does not know the version. */
	struct memory_need header = decode_memory_need(K_CAP_HEADER, 0), caps = decode_memory_need(K_OUT_CAP_DATA, 1);
	assert_int_equal(header.rule, MEMORY_CHANGED);
	assert_int_equal(header.size, 8);
	assert_int_equal(caps.rule, MEMORY_OUT);
	assert_int_equal(caps.size, 24);
	struct memory_need attr = decode_memory_need(K_SCHED_ATTR, 1), address = decode_memory_need(K_SOCKADDR, 1);
	assert_int_equal(attr.count, COUNT_OWN);
	assert_int_equal(attr.most, 56);
	assert_int_equal(address.count, COUNT_INT);
	assert_int_equal(address.from, 2);
}

/* All kinds have a memory rule. There are no exceptions. */
static void test_kinds_without_memory_rule(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < K_COUNT; kind++)
		if (decode_memory_need(kind, 0).rule == MEMORY_MISSING)
			fail_msg("%s", decode_kinds[kind].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),           cmocka_unit_test(test_modes),
		cmocka_unit_test(test_statx),          cmocka_unit_test(test_old_directory),
		cmocka_unit_test(test_rare_addresses), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_moved_offset),   cmocka_unit_test(test_narrow_structures),
		cmocka_unit_test(test_inside),         cmocka_unit_test(test_signals),
		cmocka_unit_test(test_waiting),        cmocka_unit_test(test_commands),
		cmocka_unit_test(test_new_tasks),      cmocka_unit_test(test_new_task_unfinished),
		cmocka_unit_test(test_processes),      cmocka_unit_test(test_vanished),
		cmocka_unit_test(test_seldom),         cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_memory_needs),   cmocka_unit_test(test_kinds_without_memory_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
