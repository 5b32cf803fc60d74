/* The table of background loads, and the work that each of them does. */
#include "bench/loads.h"

#include "base/buf.h"
#include "base/memory.h"
#include "bench/op.h"
#include "bench/suite.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB          (UINT64_C(1) << 20)
#define DISK_FILE    (512 * MIB)
#define MEMORY_BYTES (64 * MIB)
#define PACKET_BYTES 64
#define SUITE_CHEAP  100

static void give_up(struct load_board *b, const char *what)
{
	snprintf(b->why, sizeof(b->why), "%s: %s", what, strerror(errno));
}

static void run_cpu(struct load_board *b, const char *dir)
{
	(void)dir;
	for (;;) {
		for (int i = 0; i < 1000000; i++)
			__asm__ volatile("" ::: "memory");
		atomic_fetch_add_explicit(&b->work, 1, memory_order_relaxed);
	}
}

/* Writes 1 MiB. Returns false, with errno, if this fails; a short write alone sets no errno. */
static bool write_block(int fd, const char *block, uint64_t at)
{
	ssize_t n = 1;
	for (size_t done = 0; done < MIB && n > 0; done += (size_t)n)
		n = pwrite(fd, block + done, MIB - done, (off_t)(at + done));
	return n > 0;
}

/* Writes a file of 512 MiB in blocks of 1 MiB, and flushes the file to the device, again and again. */
static void run_disk(struct load_board *b, const char *dir)
{
	struct statvfs fs;
	if (statvfs(dir, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < 2 * DISK_FILE) {
		snprintf(b->why, sizeof(b->why),
			 "less than 1 GiB is free on the file system; choose another directory with --dir");
		return;
	}
	char *block = memory_get(MIB);
	int fd = op_nameless_file(dir);
	const char *failed = fd < 0 ? "cannot create a file" : NULL;
	memset(block, 0x5a, MIB);
	while (!failed) {
		for (uint64_t at = 0; at < DISK_FILE && !failed; at += MIB)
			if (write_block(fd, block, at))
				atomic_fetch_add(&b->work, 1);
			else
				failed = "write";
		if (!failed && (fdatasync(fd) < 0 || ftruncate(fd, 0) < 0))
			failed = "fdatasync";
	}
	give_up(b, failed);
	free(block);
}

/* Sends small datagrams to itself as fast as possible, and counts those that arrive. */
static void run_net(struct load_board *b, const char *dir)
{
	(void)dir;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(to);
	char packet[PACKET_BYTES] = {0};
	int in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (in < 0 || bind(in, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockname(in, (struct sockaddr *)&to, &len) < 0) {
		give_up(b, "cannot open a socket on 127.0.0.1");
		return;
	}
	pid_t parent = getpid();
	pid_t sender = fork();
	if (sender < 0) {
		give_up(b, "fork");
		return;
	}
	if (sender == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			for (int i = 0; i < 1000; i++)
				sendto(in, packet, sizeof(packet), 0, (struct sockaddr *)&to, sizeof(to));
		_exit(0);
	}
	for (;;)
		if (recv(in, packet, sizeof(packet), 0) > 0)
			atomic_fetch_add_explicit(&b->work, 1, memory_order_relaxed);
}

static void run_fork(struct load_board *b, const char *dir)
{
	(void)dir;
	for (;;) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid < 0) {
			give_up(b, "fork");
			return;
		}
		waitpid(pid, NULL, 0);
		atomic_fetch_add(&b->work, 1);
	}
}

static void run_memory(struct load_board *b, const char *dir)
{
	(void)dir;
	char *p = mmap(NULL, 2 * MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		give_up(b, "mmap");
		return;
	}
	memset(p, 1, MEMORY_BYTES);
	for (size_t from = 0;; from ^= MEMORY_BYTES)
		for (size_t at = 0; at < MEMORY_BYTES; at += MIB) {
			memcpy(p + (from ^ MEMORY_BYTES) + at, p + from + at, MIB);
			atomic_fetch_add(&b->work, 1);
		}
}

/* Runs the operations of `bench syscall` in turn, except those that cannot run on this machine. */
static void run_suite(struct load_board *b, const char *dir)
{
	struct buf without = {0};
	struct buf why = {0};
	suite_find_missing(dir, &without, &why);
	buf_clear(&why);
	for (size_t i = 0;; i = op_at(i + 1) ? i + 1 : 0) {
		const struct op *op = op_at(i);
		struct op_state s;
		uint64_t n = op->cost == OP_DEAR ? 1 : SUITE_CHEAP;
		if (suite_is_without(buf_str(&without), op))
			continue;
		if (op_open(op, &s, dir, &why) < 0)
			break;
		op->once(&s, n);
		op_close(op, &s);
		atomic_fetch_add(&b->work, n);
	}
	snprintf(b->why, sizeof(b->why), "%s", buf_str(&why));
	buf_free(&why);
	buf_free(&without);
}

static const struct load_kind kinds[] = {
	{"cpu", "CPU-bound processes, one for each CPU", "Mloops", 1, run_cpu},
	{"disk", "repeated writes of 512 MiB in blocks of 1 MiB", "MiB", 0, run_disk},
	{"net", "small datagrams through the loopback device, as fast as possible", "packets", 0, run_net},
	{"fork", "processes that start and end", "forks", 0, run_fork},
	{"memory", "processes that copy 64 MiB back and forth, one for each CPU", "MiB", 1, run_memory},
	{"suite", "the operations of bench syscall, one after the other", "operations", 0, run_suite},
};

const struct load_kind *load_kind_at(size_t i)
{
	return i < sizeof(kinds) / sizeof(*kinds) ? &kinds[i] : NULL;
}
