/* SPDX-License-Identifier: MIT */
/*
 * Makes calls of which each needs another memory rule (syscall/kinds.def), 20 times each: with extended attributes, groups,
 * signal information, options of prctl(2), arguments that the kernel does not read, System V IPC, asynchronous I/O, the
 * memory of processes, sets of CPUs, keys, and requests to network interfaces. It also makes calls that fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static void repeat(int epoll, const char *tty)
{
	char value[32];
	gid_t groups[64];
	siginfo_t info;
	sigset_t set;
	struct epoll_event event = {.events = EPOLLIN};
	const struct timespec now = {0, 0};
	uint64_t action[4] = {0};
	lgetxattr(".", "user.sctrace-none", value, sizeof(value));
	getgroups(64, groups);
	waitid(P_ALL, 0, &info, WEXITED | WNOHANG);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, &info, &now);
	prctl(PR_CAPBSET_READ, 0, 0, 0, 0);
	prctl(PR_SET_NAME, "described", 0, 0, 0);
	prctl(PR_GET_NAME, value, 0, 0, 0);
	epoll_ctl(epoll, EPOLL_CTL_DEL, 0, &event);
	syscall(SYS_rt_sigaction, SIGKILL, action, NULL, 8);
	close(open(tty, O_RDONLY | O_NONBLOCK));
}

static void exchange_messages(void)
{
	struct {
		long type;
		char text[16];
	} message = {1, "text"};
	struct msqid_ds messages;
	struct semid_ds semaphores;
	struct shmid_ds shared;
	int queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600),
	    memory = shmget(IPC_PRIVATE, 4096, 0600);
	msgsnd(queue, &message, 5, 0);
	msgrcv(queue, &message, sizeof(message.text), 0, 0);
	msgctl(queue, IPC_STAT, &messages);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_STAT, &semaphores);
	semctl(set, 0, IPC_RMID);
	shmctl(memory, IPC_STAT, &shared);
	shmctl(memory, IPC_RMID, NULL);
}

static void read_asynchronously(void)
{
	aio_context_t context = 0;
	char byte[1];
	int zero = open("/dev/zero", O_RDONLY);
	struct iocb request = {.aio_lio_opcode = IOCB_CMD_PREAD,
			       .aio_fildes = (uint32_t)zero,
			       .aio_buf = (uintptr_t)byte,
			       .aio_nbytes = 1},
		    *requests[] = {&request};
	struct io_event event;
	syscall(SYS_io_setup, 1, &context);
	syscall(SYS_io_submit, context, 1L, requests);
	syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL);
	syscall(SYS_io_destroy, context);
	close(zero);
}

static void ask_for_much(int network)
{
	char from[8] = "from", to[8], *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char resident[1];
	struct iovec here = {to, sizeof(to)}, there = {from, sizeof(from)};
	struct ifreq request = {.ifr_name = "lo"};
	struct flock lock = {.l_type = F_WRLCK};
	cpu_set_t cpus;
	uint32_t sched[12];
	process_vm_readv(getpid(), &here, 1, &there, 1, 0);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	syscall(SYS_sched_getattr, 0, sched, sizeof(sched), 0);
	mincore(page, 4096, resident);
	munmap(page, 4096);
	syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3L, 0L, 0L, 0L);
	ioctl(network, SIOCGIFFLAGS, &request);
	ioctl(network, 0x123456, page);
	fcntl(network, F_GETLK, &lock);
}

/* Calls that fail before the kernel has read their memory. */
static void fail(void)
{
	struct iovec data = {"data", 4};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	const struct sockaddr address = {.sa_family = AF_INET};
	const struct timespec now = {0, 1};
	int on = 1;
	close(1000);
	if (write(1000, "data", 4) > 0 || writev(1000, &data, 1) > 0 || openat(1000, "name", O_RDONLY) >= 0)
		_exit(1);
	connect(1000, &address, sizeof(address));
	sendto(1000, "data", 4, 0, NULL, 0);
	sendmsg(1000, &message, 0);
	setsockopt(1000, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	clock_nanosleep(77, 0, &now, NULL);
	access((const char *)8, R_OK);
	syscall(511, 1, 2); /* there is no such call */
}

int main(void)
{
	int network = socket(AF_INET, SOCK_DGRAM, 0);
	setsid(); /* without a terminal, opening /dev/tty fails with ENXIO */
	int epoll = epoll_create1(0);
	for (int i = 0; i < 20; i++) {
		repeat(epoll, "/dev/tty");
		exchange_messages();
		read_asynchronously();
		ask_for_much(network);
		fail();
	}
	return 0;
}
