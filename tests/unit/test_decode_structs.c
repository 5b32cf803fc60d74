/* What structures, addresses and commands look like, on fake memory. */
#include "base/buf.h"
#include "decode/decode.h"
#include "decode/emit.h"
#include "decode/inside.h"
#include "syscall/table.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/if_addr.h>
#include <linux/mempolicy.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>

#define BASE 0x10000u

/* Memory from BASE on. */
static _Alignas(8) unsigned char memory[1024];

static ssize_t memory_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	(void)ctx;
	if (addr < BASE || addr - BASE >= sizeof(memory))
		return -EFAULT;
	if (n > sizeof(memory) - (addr - BASE))
		n = sizeof(memory) - (addr - BASE);
	memcpy(buf, memory + (addr - BASE), n);
	return (ssize_t)n;
}

static void put(size_t at, const void *what, size_t n)
{
	memset(memory, 0, sizeof(memory));
	memcpy(memory + at, what, n);
}

enum { TEXT, JSON, VERBOSE, RAW, BOTH };

static bool i386;
/* Structures as libc has them are shown for this machine's own calls alone. */
static struct call call_of(const char *name)
{
	uint32_t own = syscall_native_arch(), arch = syscall_number(own, name) >= 0 ? own : AUDIT_ARCH_X86_64;
	if (!i386)
		return (struct call){.arch = arch, .nr = syscall_number(arch, name)};
	/* By name libseccomp gives the numbers that calls have inside of socketcall(2). */
	bool direct = strcmp(name, "sendmsg") == 0;
	return (struct call){.arch = AUDIT_ARCH_I386, .nr = direct ? 370 : syscall_number(AUDIT_ARCH_I386, name)};
}

/* What the call does to the memory, where it does anything. */
static void (*kernel_writes)(void);

static int route_socket(void *ctx, pid_t pid, int fd)
{
	(void)ctx, (void)pid;
	return fd == 7 ? NETLINK_ROUTE : -1;
}

static const struct names names = {.netlink = route_socket};

static void shown(struct buf *out, const char *name, int64_t result, const uint64_t *args, int how)
{
	struct mem mem = {memory_read, NULL};
	struct decode_opts opts = {.string_max = 32, .verbose = how == VERBOSE, .names = &names};
	struct call call = call_of(name), real;
	call.desc = syscall_lookup(call.arch, call.nr);
	struct decode_memo memo = {0};
	struct emit e;
	memcpy(call.args, args, sizeof(call.args));
	if (decode_inside(&call, &mem, &real))
		call = real;
	if (how == JSON)
		emit_json_init(&e, out);
	else
		emit_text_init(&e, out, how == RAW ? EMIT_RAW_NAMES : how == BOTH ? EMIT_BOTH_NAMES : 0);
	struct decode d = {.out = &e, .call = &call, .mem = &mem, .opts = &opts, .pid = 1, .memo = &memo};
	int from = decode_enter(&d);
	if (kernel_writes)
		kernel_writes();
	call.result = result;
	call.error = result < 0 && result > -4096;
	call.err = call.error ? (int)-result : 0;
	d.leaving = true;
	decode_exit(&d, from);
	buf_adds(out, how == JSON ? "," : ") = ");
	decode_result(&d);
}

#define CHECK_AS(how, expect, name, result, ...)                                                                       \
	do {                                                                                                           \
		struct buf out_ = {0};                                                                                 \
		shown(&out_, name, result, (const uint64_t[6]){__VA_ARGS__}, how);                                     \
		assert_string_equal(buf_str(&out_), expect);                                                           \
		buf_free(&out_);                                                                                       \
	} while (0)
#define CHECK(expect, name, result, ...) CHECK_AS(TEXT, expect, name, result, __VA_ARGS__)

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

/* Families of which the machine that compiles this may not have the headers: laid out by hand. */
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
	CHECK("3, {sa_family=AF_XDP, sxdp_flags=0x2, sxdp_ifindex=0, sxdp_queue_id=7, sxdp_shared_umem_fd=9}, 88) = 0",
	      "bind", 0, 3, BASE, 88);
	strcpy((char *)alg + 24, "sha256\n");
	put(0, alg, sizeof(alg));
	CHECK("3, {sa_family=AF_ALG, salg_type=\"hash\", salg_feat=0, salg_mask=0, salg_name=\"sha256\\n\"}, 88) = 0",
	      "bind", 0, 3, BASE, 88);
}

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
	/* What came in is clipped to what the call returned, over all vectors. */
	CHECK("3, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"one\", iov_len=3}, {iov_base=\"tw\", "
	      "iov_len=10}], "
	      "msg_iovlen=2, msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[7, "
	      "8]}], "
	      "msg_controllen=24, msg_flags=0}, MSG_PEEK) = 5",
	      "recvmsg", 5, 3, BASE, MSG_PEEK);
}

static void test_signals(void **state)
{
	uint64_t action[4] = {1, SA_RESTART | 0x04000000, 0x1234, 0x2}, full = ~(3ull << 31), none = 0;
	(void)state;
	put(0, action, sizeof(action));
	CHECK("SIGTERM, {sa_handler=SIG_IGN, sa_mask=[INT], sa_flags=SA_RESTORER|SA_RESTART, sa_restorer=0x1234}, "
	      "NULL, 8) = 0",
	      "rt_sigaction", 0, SIGTERM, BASE, 0, 8);
	put(0, &full, sizeof(full));
	CHECK("SIG_SETMASK, ~[RTMIN RT_1], NULL, 8) = 0", "rt_sigprocmask", 0, SIG_SETMASK, BASE, 0, 8);
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

/* What an argument is depends on a command, and whether it is there at all. */
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

static void test_processes(void **state)
{
	uint64_t args[11] = {0x3d0f00, 0, BASE, BASE, 0, 0x7000, 0x9000, 0x1234}, limit[2] = {8192 * 1024, UINT64_MAX};
	(void)state;
	put(0, args, sizeof(args));
	CHECK("{flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_"
	      "SETTID|"
	      "CLONE_CHILD_CLEARTID, child_tid=0x10000, parent_tid=0x10000, exit_signal=0, stack=0x7000, "
	      "stack_size=0x9000, "
	      "tls=0x1234}, 88) = 77",
	      "clone3", 77, BASE, 88);
	CHECK("flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_stack=NULL, child_tidptr=0x10000) = 77",
	      "clone", 77, 0x1200011, 0, 0, BASE, BASE); /* 4th or, on aarch64, 5th */
	put(0, limit, sizeof(limit));
	CHECK("0, RLIMIT_STACK, NULL, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0", "prlimit64", 0, 0, 3, 0,
	      BASE);
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
	/* Less room than the address needs: what lies behind the buffer is no address. */
	room = 4;
	put(512, &room, sizeof(room));
	CHECK("3, {sa_family=AF_INET, sa_data=\"\\0005\"}, [4 => 16]) = 0", "getsockname", 0, 3, BASE, BASE + 512);
	room = 16;
	put(512, &room, sizeof(room));
	CHECK("3, NULL, [16]) = 0", "getsockname", 0, 3, 0, BASE + 512);
	kernel_writes = NULL;
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
	CHECK("P_ALL, 0, {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=77, si_uid=1000, si_status=3, si_utime=0, "
	      "si_stime=0}, WEXITED, NULL) = 0",
	      "waitid", 0, 0, 0, BASE, 4, 0);
	put(0, stack, sizeof(stack));
	CHECK("{ss_sp=0x8000, ss_flags=0, ss_size=8192}, NULL) = 0", "sigaltstack", 0, BASE, 0);
	CHECK("0, 4294967298, [8192], SEEK_SET) = 0", "_llseek", 0, 0, 1, 2, BASE + 8, 0);
	CHECK("0, 4294967296, 5, POSIX_FADV_DONTNEED) = 0", "fadvise64", 0, 0, 0, 1, 5, 4);
	i386 = false;
}

/* What i386 does through one number is shown as what it is. */
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

static void test_netlink(void **state)
{
	static const struct {
		struct nlmsghdr h;
		struct ifaddrmsg a;
		struct nlattr label;
		char name[4];
		struct nlattr local;
		unsigned char ip[4];
		struct nlmsghdr done;
		int32_t status;
	} m = {{40, RTM_NEWADDR, NLM_F_MULTI, 9, 1},
	       {AF_INET, 8, IFA_F_PERMANENT, RT_SCOPE_HOST, 1},
	       {7, IFA_LABEL},
	       "lo",
	       {8, IFA_LOCAL},
	       {127, 0, 0, 1},
	       {20, NLMSG_DONE, NLM_F_MULTI, 9, 1},
	       0};
	static const struct nlmsghdr get = {16, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0};
	static const struct nlmsghdr lie = {400, RTM_GETLINK, 0, 1, 0};
	static const struct nlattr long_one = {60000, IFA_LABEL};
	(void)state;
	put(0, &m, sizeof(m));
	CHECK("7, [[{nlmsg_len=40, nlmsg_type=RTM_NEWADDR, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=9, nlmsg_pid=1}, "
	      "{ifa_family=AF_INET, ifa_prefixlen=8, ifa_flags=IFA_F_PERMANENT, ifa_scope=RT_SCOPE_HOST, ifa_index=1}, "
	      "[[{nla_len=7, nla_type=IFA_LABEL}, \"lo\"], [{nla_len=8, nla_type=IFA_LOCAL}, "
	      "inet_addr(\"127.0.0.1\")]]], "
	      "[{nlmsg_len=20, nlmsg_type=NLMSG_DONE, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=9, nlmsg_pid=1}, 0]], 1024, "
	      "0, "
	      "NULL, NULL) = 60",
	      "recvfrom", 60, 7, BASE, 1024, 0, 0, 0);
	memcpy(memory + 24, &long_one, sizeof(long_one));
	CHECK("7, [{nlmsg_len=40, nlmsg_type=RTM_NEWADDR, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=9, nlmsg_pid=1}, "
	      "{ifa_family=AF_INET, ifa_prefixlen=8, ifa_flags=IFA_F_PERMANENT, ifa_scope=RT_SCOPE_HOST, ifa_index=1}, "
	      "[[{nla_len=60000, nla_type=IFA_LABEL}]]], 1024, 0, NULL, NULL) = 40",
	      "recvfrom", 40, 7, BASE, 1024, 0, 0, 0);
	put(0, &get, sizeof(get));
	CHECK("7, {nlmsg_len=16, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST|NLM_F_DUMP, nlmsg_seq=1, "
	      "nlmsg_pid=0}, "
	      "16, 0, NULL, 0) = 16",
	      "sendto", 16, 7, BASE, 16, 0, 0, 0);
	CHECK("8, \"\\20\\0\\0\\0\\22\\0\\1\\3\\1\\0\\0\\0\\0\\0\\0\\0\", 16, 0, NULL, 0) = 16", "sendto", 16, 8, BASE,
	      16, 0, 0, 0);
	put(0, &lie, sizeof(lie));
	CHECK("7, \"\\220\\1\\0\\0\\22\\0\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0\", 16, 0, NULL, 0) = 16", "sendto", 16, 7, BASE,
	      16, 0, 0, 0);
}

/* What is seldom met, in a program or in this suite's. */
static void test_seldom(void **state)
{
	static const struct {
		struct nlmsghdr h;
		int32_t code;
		struct nlmsghdr about;
	} refused = {{36, NLMSG_ERROR, 0, 2, 1}, -EPERM, {16, RTM_GETLINK, NLM_F_REQUEST, 2, 1}};
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
	put(0, &refused, sizeof(refused));
	CHECK("7, [{nlmsg_len=36, nlmsg_type=NLMSG_ERROR, nlmsg_flags=0, nlmsg_seq=2, nlmsg_pid=1}, {error=-EPERM, "
	      "msg={nlmsg_len=16, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=2, nlmsg_pid=1}}], 36, "
	      "0, NULL, NULL) = 36",
	      "recvfrom", 36, 7, BASE, 36, 0, 0, 0);
	put(0, &dent, sizeof(dent));
	CHECK_AS(VERBOSE, "3, [{d_ino=7, d_off=32, d_reclen=24, d_type=DT_REG, d_name=\"file\"}], 1024) = 24",
		 "getdents64", 24, 3, BASE, 1024);
	put(0, "why", 4);
	CHECK("LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART2, \"why\") = -1 EPERM (Operation not "
	      "permitted)",
	      "reboot", -EPERM, 0xfee1dead, 0x28121969, 0xa1b2c3d4, BASE);
	put(0, &group, sizeof(group));
	CHECK("3, SOL_IPV6, IPV6_ADD_MEMBERSHIP, {ipv6mr_multiaddr=\"::1\", ipv6mr_ifindex=0}, 20) = 0", "setsockopt",
	      0, 3, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, BASE, sizeof(group));
	put(0, &nothing, sizeof(nothing));
	CHECK_AS(JSON,
		 "\"fds\":{\"raw\":65536,\"value\":[{\"fd\":3,\"events\":\"POLLIN\"}]},\"nfds\":{\"raw\":1,\"value\":1}"
		 ",\"tmo_p\":{\"raw\":0,\"value\":null},\"sigmask\":{\"raw\":0,\"value\":null},\"sigsetsize\":{\"raw\":"
		 "0,\"value\":0},\"result\":0,\"returned\":\"Timeout\"",
		 "ppoll", 0, BASE, 1, 0, 0, 0);
	CHECK_AS(RAW, "NULL, 0, 5) = 0 (Timeout)", "poll", 0, 0, 0, 5);
	CHECK_AS(BOTH, "NULL, 0, 5) = 0 (Timeout)", "poll", 0, 0, 0, 5);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_rare_addresses),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_narrow_messages),
		cmocka_unit_test(test_netlink),
		cmocka_unit_test(test_narrow_structures),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_vanished),
		cmocka_unit_test(test_seldom),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
