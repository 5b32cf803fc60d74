/* SPDX-License-Identifier: MIT */
/*
 * Makes as many different calls as possible, most of them harmless or refused, to test how a tracer shows them.
 * Deterministic except for addresses.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* An address that the compiler does not know to be invalid. */
static char *volatile nowhere = (char *)1;
static char dir[40];

/* Calls that newer architectures, such as aarch64, do not have. */
static void old_calls(void)
{
#ifdef SYS_stat
	struct stat st;
	char dents[2048];
	int d = open("/", O_RDONLY | O_DIRECTORY);
	syscall(SYS_stat, ".", &st);
	syscall(SYS_lstat, "nonesuch", &st);
	syscall(SYS_utimes, "nonesuch", (struct timeval[]){{1, 2}, {3, 4}});
	syscall(SYS_getdents, d, dents, sizeof(dents));
	syscall(SYS_time, NULL);
	close(d);
#endif
}

static void files(void)
{
	struct stat st;
	struct statfs fs;
	struct statx stx;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = 1, .tv_nsec = 5}};
	char buf[128];
	int fd = open("a", O_RDWR | O_CREAT | O_TRUNC, 0640);
	write(fd, "hello\n\t\"\\\001x", 11);
	pwrite(fd, "abc", 3, 100);
	lseek(fd, -3, SEEK_END);
	lseek(fd, 0, SEEK_DATA);
	pread(fd, buf, sizeof(buf), 0);
	struct iovec iov[2] = {{buf, 4}, {buf + 4, 100}};
	preadv(fd, iov, 2, 0);
	writev(fd, iov, 2);
	pwritev(fd, iov, 1, 7);
	syscall(SYS_preadv2, fd, iov, 2, 0, 0, 1);
	fstat(fd, &st);
	statx(AT_FDCWD, "a", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stx);
	statfs("/proc", &fs);
	fstatfs(fd, &fs);
	fcntl(fd, F_GETFD);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_GETFD);
	fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK);
	fcntl(fd, F_GETFL);
	fcntl(fd, F_SETLK, &lock);
	fcntl(fd, F_GETLK, &lock);
	fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1});
	fcntl(fd, F_DUPFD_CLOEXEC, 20);
	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_GETLEASE);
	fcntl(fd, 9999, 1);
	flock(fd, LOCK_EX | LOCK_NB);
	flock(fd, LOCK_UN);
	ftruncate(fd, 5000);
	truncate("nonesuch", 1);
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4096);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	fsync(fd);
	fdatasync(fd);
	syncfs(-1);
	sync_file_range(fd, 0, 10, SYNC_FILE_RANGE_WRITE);
	readahead(fd, 0, 4096);
	chmod("a", 04755);
	fchmod(fd, 0600);
	fchmodat(AT_FDCWD, "a", 0700, 0);
	chown("a", -1, -1);
	fchownat(AT_FDCWD, "a", 0, 0, AT_SYMLINK_NOFOLLOW);
	utimensat(AT_FDCWD, "a", times, AT_SYMLINK_NOFOLLOW);
	mkdir("d", 01777);
	mknod("fifo", S_IFIFO | 0600, 0);
	mknod("dev", S_IFCHR | 0600, 0x103);
	symlink("target \"of\" link", "l");
	readlink("l", buf, sizeof(buf));
	link("a", "b");
	rename("b", "c");
	renameat2(AT_FDCWD, "c", AT_FDCWD, "a", RENAME_EXCHANGE);
	syscall(SYS_faccessat2, AT_FDCWD, "a", R_OK | W_OK, AT_EACCESS);
	access("a", F_OK);
	access("a", R_OK | X_OK);
	setxattr("a", "user.test", "value", 5, XATTR_CREATE);
	getxattr("a", "user.test", buf, sizeof(buf));
	listxattr("a", buf, sizeof(buf));
	removexattr("a", "user.test");
	syscall(SYS_openat2, AT_FDCWD, "a", &how, sizeof(how));
	int d = open(".", O_RDONLY | O_DIRECTORY);
	char dents[2048];
	syscall(SYS_getdents64, d, dents, sizeof(dents));
	lseek(d, 0, SEEK_SET);
	int both = open("a", O_RDWR);
	copy_file_range(both, &(off_t){0}, both, &(off_t){6000}, 10, 0);
	close(both);
	int in = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	inotify_add_watch(in, ".", IN_CREATE | IN_DELETE | IN_ONLYDIR);
	inotify_rm_watch(in, 1);
	umask(022);
	syscall(SYS_name_to_handle_at, AT_FDCWD, "nonesuch", NULL, NULL, 0);
	mount("src", "nonesuch", "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "size=1m");
	umount2("nonesuch", MNT_DETACH | UMOUNT_NOFOLLOW);
	syscall(SYS_close_range, 100, 200, 0);
	memfd_create("mem", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	unlinkat(AT_FDCWD, "d", AT_REMOVEDIR);
	unlink("fifo"), unlink("dev"), unlink("l"), unlink("a"), unlink("c");
	read(fd, nowhere, 10);
	write(fd, nowhere, 10);
	open(nowhere, O_PATH);
	syscall(SYS_statx, AT_FDCWD, NULL, 0xf0000, 0xffffffff, (void *)1);
}

static void memory(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	unsigned char vec[2];
	mprotect(p, 4096, PROT_NONE);
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	madvise(p, 8192, MADV_DONTNEED);
	madvise(p, 8192, 12345);
	mincore(p, 8192, vec);
	msync(p, 4096, MS_SYNC | MS_INVALIDATE);
	mlock(p, 4096);
	munlock(p, 4096);
	mremap(p, 8192, 16384, MREMAP_MAYMOVE);
	mlockall(1 << 20);
	munmap((void *)1, 10);
	syscall(SYS_pkey_alloc, 0, 4);
	syscall(SYS_membarrier, 0, 0, 0);
}

static void signals(void)
{
	struct sigaction old, sa = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART | SA_NOCLDWAIT};
	struct timespec ts = {0, 1000};
	sigset_t set, before;
	siginfo_t si;
	stack_t ss;
	sigfillset(&sa.sa_mask);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGRTMIN + 1, &sa, &old);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2), sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, &before);
	sigpending(&set);
	kill(getpid(), 0);
	kill(getpid(), SIGUSR1);
	syscall(SYS_tgkill, getpid(), getpid(), 0);
	sigemptyset(&set), sigaddset(&set, SIGUSR2);
	raise(SIGUSR2);
	sigtimedwait(&set, &si, &ts);
	sigtimedwait(&set, &si, &ts);
	sigaltstack(NULL, &ss);
	syscall(SYS_signalfd4, -1, &set, 8, SFD_CLOEXEC | SFD_NONBLOCK);
	syscall(SYS_rt_sigaction, 99, NULL, NULL, 8);
}

static void times_(void)
{
	struct timespec ts = {1, 2};
	struct itimerspec its = {.it_value = {1000, 5}};
	struct itimerval itv = {.it_value = {1000, 7}};
	struct timeval tv;
	timer_t timer;
	nanosleep(&(struct timespec){0, 1000}, NULL);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){0, 1}, NULL);
	syscall(SYS_clock_getres, CLOCK_BOOTTIME, &ts);
	syscall(SYS_clock_gettime, 77, &ts);
	setitimer(ITIMER_REAL, &itv, NULL);
	itv.it_value.tv_sec = 0, itv.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &itv, NULL);
	alarm(0);
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL);
	syscall(SYS_timer_create, CLOCK_REALTIME, &(struct sigevent){.sigev_notify = SIGEV_NONE}, &timer);
	syscall(SYS_timer_delete, 0);
	syscall(SYS_gettimeofday, NULL, NULL);
	syscall(SYS_settimeofday, (void *)1, NULL);
	(void)tv;
}

static void sockets(void)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(0), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(1), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/nonesuch/socket"};
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK, .nl_groups = 0x10};
	char data[64], control[CMSG_SPACE(sizeof(int))] = {0};
	struct linger linger = {1, 2};
	socklen_t len = sizeof(in);
	int pair[2], one = 1, err;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(s, IPPROTO_TCP, 1, &one, sizeof(one));
	setsockopt(s, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){1, 5}, sizeof(struct timeval));
	bind(s, (struct sockaddr *)&in, sizeof(in));
	listen(s, 5);
	shutdown(s, SHUT_RDWR);
	len = sizeof(err);
	getsockopt(s, SOL_SOCKET, SO_ERROR, &err, &len);
	getsockopt(s, SOL_SOCKET, SO_TYPE, &err, &len);
	int u = socket(AF_UNIX, SOCK_DGRAM, 0);
	connect(u, (struct sockaddr *)&un, sizeof(un));
	memcpy(un.sun_path, "\0abstract", 9);
	bind(u, (struct sockaddr *)&un, 2 + 9);
	len = sizeof(un);
	getsockname(u, (struct sockaddr *)&un, &len);
	int s6 = socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
	sendto(s6, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&in6, sizeof(in6));
	int n = socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
	bind(n, (struct sockaddr *)&nl, sizeof(nl));
	socket(AF_PACKET, SOCK_RAW, htons(3));
	socket(99, 77, 55);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
	struct iovec iov[2] = {{"one", 3}, {"two!", 4}}, back = {data, sizeof(data)};
	struct msghdr msg = {
		.msg_iov = iov, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &pair[0], sizeof(int));
	sendmsg(pair[0], &msg, MSG_NOSIGNAL);
	msg.msg_iov = &back, msg.msg_iovlen = 1;
	recvmsg(pair[1], &msg, MSG_CMSG_CLOEXEC);
	recvmsg(pair[1], &msg, 0);
	send(pair[0], "plain", 5, 0);
	recv(pair[1], data, sizeof(data), MSG_PEEK);
	recvfrom(pair[1], data, sizeof(data), 0, NULL, NULL);
	accept4(s, NULL, NULL, SOCK_CLOEXEC);
	getpeername(pair[0], NULL, NULL);
}

static void waiting(void)
{
	int p[2];
	char c;
	pipe2(p, O_CLOEXEC | O_NONBLOCK);
	struct pollfd fds[2] = {{p[0], POLLIN, 0}, {p[1], POLLOUT | POLLERR, 0}};
	poll(fds, 2, 0);
	poll(fds, 1, 0);
	ppoll(fds, 2, &(struct timespec){0, 5}, NULL);
	fd_set r, w;
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(p[0], &r);
	FD_SET(p[1], &w);
	select(p[1] + 1, &r, &w, NULL, &(struct timeval){0, 0});
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	select(p[1] + 1, &r, NULL, NULL, &(struct timeval){0, 0});
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = {EPOLLIN | EPOLLET, {.fd = p[0]}}, out[4];
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
	ev.events = EPOLLOUT | EPOLLONESHOT;
	epoll_ctl(ep, EPOLL_CTL_ADD, p[1], &ev);
	epoll_wait(ep, out, 4, 0);
	epoll_pwait(ep, out, 4, 0, NULL);
	epoll_ctl(ep, EPOLL_CTL_DEL, p[1], NULL);
	eventfd(3, EFD_CLOEXEC | EFD_SEMAPHORE);
	ioctl(p[0], FIONREAD, &c);
	ioctl(p[0], TCGETS, &c);
	ioctl(p[0], TIOCGWINSZ, &c);
	ioctl(p[0], _IOC(_IOC_READ, 'Z', 7, 12), &c);
	tee(p[0], p[1], 10, SPLICE_F_NONBLOCK);
	splice(p[0], NULL, -1, NULL, 10, SPLICE_F_MOVE);
	syscall(SYS_sendfile, 1000, p[0], &(off_t){3}, 10);
	dup2(p[0], 50);
	dup3(p[0], 51, O_CLOEXEC);
	read(p[0], &c, 1);
}

static void process(void)
{
	struct rlimit lim;
	struct rusage ru;
	struct utsname uts;
	struct sched_param sp;
	cpu_set_t cpus;
	int status, word = 5;
	char name[16];
	gid_t groups[64];
	pid_t child = fork();
	if (!child)
		_exit(7);
	wait4(child, &status, __WALL, &ru);
	wait4(-1, &status, WNOHANG, NULL);
	siginfo_t si;
	child = fork();
	if (!child)
		raise(SIGKILL);
	waitid(P_PID, (id_t)child, &si, WEXITED | WNOWAIT);
	waitpid(child, &status, 0);
	getrlimit(RLIMIT_NOFILE, &lim);
	syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &lim);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	getpriority(PRIO_PROCESS, 0);
	sched_getscheduler(0);
	sched_getparam(0, &sp);
	sched_get_priority_max(SCHED_FIFO);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	sched_yield();
	prctl(PR_SET_NAME, "everycall");
	prctl(PR_GET_NAME, name);
	prctl(PR_GET_DUMPABLE);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_GET_PDEATHSIG, &word);
	prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_GET_SECUREBITS);
	prctl(12345, 1, 2, 3, 4);
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];
	syscall(SYS_capget, &h, caps);
	syscall(SYS_capget, &(struct __user_cap_header_struct){.version = 1},
		caps); /* EINVAL, and changes the version */
	getgroups(64, groups);
	getgroups(0, NULL);
	uid_t a, b, c2;
	getresuid(&a, &b, &c2);
	setresgid(-1, -1, -1);
	getsid(0), getpgid(0), getpgrp(), geteuid(), getegid();
	setpgid(0, 0);
	uname(&uts);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
	syscall(SYS_futex, &word, FUTEX_WAIT, 4, NULL);
	syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 4, &(struct timespec){1, 2}, NULL, ~0);
	syscall(SYS_futex, &word, FUTEX_REQUEUE, 1, 2, &word);
	syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2, &word, 5);
	syscall(SYS_getcpu, NULL, NULL, NULL);
	syscall(SYS_personality, 0xffffffff);
	syscall(SYS_unshare, 0);
	syscall(SYS_setns, -1, CLONE_NEWNET);
	syscall(SYS_kcmp, getpid(), getpid(), 0, 1, 2);
	syscall(SYS_ioprio_get, 1, 0);
	syscall(SYS_pidfd_open, getpid(), 0);
	syscall(SYS_pidfd_send_signal, -1, 0, NULL, 0);
	syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(uint32_t){SECCOMP_RET_LOG});
	syscall(SYS_ptrace, 12345, 1, 2, 3);
	syscall(SYS_bpf, 0, NULL, 0);
	syscall(SYS_perf_event_open, NULL, 0, -1, -1, 8);
	syscall(SYS_keyctl, 0, -3, 0);
	syscall(SYS_reboot, 1, 2, 3, NULL);
	execve("/nonesuch", (char *[]){"nonesuch", "arg \x1b[31m", NULL}, (char *[]){"A=1", NULL});
	chroot("nonesuch");
	syscall(SYS_quotactl, 0, NULL, 0, NULL);
	syscall(5000, 1, 2, 3, 4, 5, 6);
}

static void ipc(void)
{
	struct shmid_ds shm;
	struct {
		long type;
		char text[8];
	} m = {3, "text"};
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	void *p = shmat(id, NULL, SHM_RDONLY);
	shmctl(id, IPC_STAT, &shm);
	shmdt(p);
	shmctl(id, IPC_RMID, NULL);
	id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
	semctl(id, 0, SETVAL, 1);
	semop(id, &(struct sembuf){0, -1, IPC_NOWAIT | SEM_UNDO}, 1);
	semctl(id, 0, GETVAL);
	semctl(id, 0, IPC_RMID);
	id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	msgsnd(id, &m, 4, IPC_NOWAIT);
	msgrcv(id, &m, 8, 0, IPC_NOWAIT | MSG_NOERROR);
	msgctl(id, IPC_RMID, NULL);
}

int main(void)
{
	/* Not mkdtemp(3), which sometimes requests random bytes twice. */
	snprintf(dir, sizeof(dir), "/tmp/everycall.%d", (int)getpid());
	if (mkdir(dir, 0700) != 0 || chdir(dir) != 0)
		return 1;
	old_calls();
	files();
	memory();
	signals();
	times_();
	sockets();
	waiting();
	process();
	ipc();
	chdir("/");
	return rmdir(dir) != 0;
}
