/* SPDX-License-Identifier: MIT */
/*
 * Uses io_uring(7) by its system calls, as no library does: rings of all layouts, several rings and threads, registered
 * files and rings, a child that inherits a ring, completions that are taken without a call. Each test prints lines
 * `request NAME N ERRORS BYTES`, which are what the rows io_uring:NAME of -c must show. `uring probe` ends with status 77
 * if the kernel refuses io_uring.
 */
#include "e2e.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Of Linux 6.1 to 6.6, which the header may not have. */
#define SETUP_DEFER    (1u << 12 | 1u << 13) /* SINGLE_ISSUER, DEFER_TASKRUN */
#define SETUP_NO_MMAP  (1u << 14)
#define SETUP_NO_ARRAY (1u << 16)
#define ENTER_BY_INDEX (1u << 4)
#define REGISTER_RINGS 20

enum { ENTRIES = 8, BLOCK = 512, THREADS = 4, ROUNDS = 50 };

struct ring {
	int fd, by_index;
	struct io_uring_params p;
	char *rings, *sqes;
};

static struct {
	const char *name;
	long n, errors, bytes;
} made[IORING_OP_LAST];
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static const char *const names[IORING_OP_LAST] = {
	[IORING_OP_NOP] = "NOP",           [IORING_OP_READV] = "READV",   [IORING_OP_WRITEV] = "WRITEV",
	[IORING_OP_FSYNC] = "FSYNC",       [IORING_OP_OPENAT] = "OPENAT", [IORING_OP_CLOSE] = "CLOSE",
	[IORING_OP_READ] = "READ",         [IORING_OP_WRITE] = "WRITE",   [IORING_OP_TIMEOUT] = "TIMEOUT",
	[IORING_OP_POLL_ADD] = "POLL_ADD", [IORING_OP_SEND] = "SEND",     [IORING_OP_RECV] = "RECV",
};

static uint32_t *word(struct ring *r, uint32_t offset)
{
	return (uint32_t *)(void *)(r->rings + offset);
}

/* Returns false if the kernel does not support the flags. */
static bool try_setup(struct ring *r, uint32_t flags)
{
	*r = (struct ring){.by_index = -1};
	r->p.flags = flags;
	size_t room = 16384;
	if (flags & SETUP_NO_MMAP) {
		char *own =
			mmap(NULL, 2 * room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		uint64_t at = (uintptr_t)own;
		CHECK(own != MAP_FAILED);
		memcpy((char *)&r->p.cq_off + 32, &at, sizeof(at));
		at += room;
		memcpy((char *)&r->p.sq_off + 32, &at, sizeof(at));
		r->rings = own;
		r->sqes = own + room;
	}
	r->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &r->p);
	if (r->fd < 0)
		return false;
	if (flags & SETUP_NO_MMAP)
		return true;
	r->rings = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	if (r->rings == MAP_FAILED || r->sqes == MAP_FAILED) {
		/* The kernel refuses mappings that are longer than the ring. */
		room = 4096;
		r->rings = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
		r->sqes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
	}
	CHECK(r->rings != MAP_FAILED && r->sqes != MAP_FAILED);
	return true;
}

static void setup(struct ring *r)
{
	CHECK(try_setup(r, 0));
}

/* Adds a request. Its user_data is its operation, plus 256 times `tag`. */
static struct io_uring_sqe *add(struct ring *r, uint8_t op, int fd, const void *addr, uint32_t len, uint64_t off)
{
	static atomic_ulong tag;
	uint32_t tail = *word(r, r->p.sq_off.tail), at = tail & (r->p.sq_entries - 1);
	size_t size = r->p.flags & IORING_SETUP_SQE128 ? 128 : 64;
	struct io_uring_sqe *s = (void *)(r->sqes + at * size);
	memset(s, 0, size);
	s->opcode = op;
	s->fd = fd;
	s->addr = (uintptr_t)addr;
	s->len = len;
	s->off = off;
	s->user_data = ++tag << 8 | op;
	if (!(r->p.flags & SETUP_NO_ARRAY))
		word(r, r->p.sq_off.array)[at] = at;
	__atomic_store_n(word(r, r->p.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	return s;
}

/* Takes a completion if there is one, and counts it. */
static bool take(struct ring *r, int *result)
{
	uint32_t head = *word(r, r->p.cq_off.head), at = head & (r->p.cq_entries - 1);
	size_t size = r->p.flags & IORING_SETUP_CQE32 ? 32 : 16;
	if (head == __atomic_load_n(word(r, r->p.cq_off.tail), __ATOMIC_ACQUIRE))
		return false;
	struct io_uring_cqe *c = (void *)(r->rings + r->p.cq_off.cqes + at * size);
	uint8_t op = c->user_data & 255;
	pthread_mutex_lock(&counting);
	made[op].n++;
	made[op].errors += c->res < 0;
	bool moves = op == IORING_OP_READ || op == IORING_OP_WRITE || op == IORING_OP_READV || op == IORING_OP_WRITEV ||
		     op == IORING_OP_SEND || op == IORING_OP_RECV;
	made[op].bytes += moves && c->res > 0 ? c->res : 0;
	pthread_mutex_unlock(&counting);
	*result = c->res;
	__atomic_store_n(word(r, r->p.cq_off.head), head + 1, __ATOMIC_RELEASE);
	return true;
}

static long enter(struct ring *r, uint32_t submit, uint32_t wait)
{
	unsigned flags = (wait || r->p.flags & SETUP_DEFER ? IORING_ENTER_GETEVENTS : 0) |
			 (r->by_index >= 0 ? ENTER_BY_INDEX : 0);
	long n;
	do
		n = syscall(SYS_io_uring_enter, r->by_index >= 0 ? r->by_index : r->fd, submit, wait, flags, NULL, 8);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Submits `n` requests and waits for all of them. Returns the result of the last completion. */
static int run(struct ring *r, uint32_t n)
{
	int result = 0;
	CHECK(enter(r, n, n) == n);
	for (uint32_t i = 0; i < n; i++)
		CHECK(take(r, &result));
	return result;
}

static void print(void)
{
	for (int op = 0; op < IORING_OP_LAST; op++)
		if (made[op].n)
			dprintf(1, "request %s %ld %ld %ld\n", names[op] ? names[op] : "?", made[op].n, made[op].errors,
				made[op].bytes);
}

static void probe(int argc, char **argv)
{
	struct ring r;
	(void)argc, (void)argv;
	if (!try_setup(&r, 0))
		_exit(77);
}

static void write_and_read(struct ring *r, const char *name)
{
	char out[BLOCK], in[BLOCK];
	memset(out, 'u', sizeof(out));
	struct iovec halves[] = {{in, BLOCK / 4}, {in + BLOCK / 4, BLOCK / 4}};
	struct iovec whole = {out, sizeof(out)};
	add(r, IORING_OP_OPENAT, AT_FDCWD, name, 0600, 0)->open_flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
	int fd = run(r, 1);
	CHECK(fd >= 0);
	add(r, IORING_OP_WRITE, fd, out, sizeof(out), 0);
	CHECK(run(r, 1) == BLOCK);
	add(r, IORING_OP_WRITEV, fd, &whole, 1, BLOCK);
	CHECK(run(r, 1) == BLOCK);
	add(r, IORING_OP_FSYNC, fd, NULL, 0, 0);
	CHECK(run(r, 1) == 0);
	add(r, IORING_OP_READ, fd, in, sizeof(in), 0);
	add(r, IORING_OP_READV, fd, halves, 2, BLOCK);
	run(r, 2);
	CHECK(in[0] == 'u');
	add(r, IORING_OP_READ, fd, in, sizeof(in), 2L * BLOCK); /* behind the end */
	CHECK(run(r, 1) == 0);
	add(r, IORING_OP_CLOSE, fd, NULL, 0, 0);
	CHECK(run(r, 1) == 0);
	add(r, IORING_OP_OPENAT, AT_FDCWD, "missing", 0, 0);
	CHECK(run(r, 1) == -ENOENT);
	add(r, IORING_OP_READ, -1, in, sizeof(in), 0);
	CHECK(run(r, 1) == -EBADF);
}

static void files(int argc, char **argv)
{
	struct ring r;
	(void)argc, (void)argv;
	setup(&r);
	write_and_read(&r, "file");
	print();
}

/* All layouts of rings that the kernel supports; several rings exist at the same time. */
static void layouts(int argc, char **argv)
{
	static const uint32_t flags[] = {0,
					 IORING_SETUP_SQE128,
					 IORING_SETUP_CQE32,
					 IORING_SETUP_CQSIZE,
					 SETUP_DEFER,
					 SETUP_NO_MMAP,
					 SETUP_NO_ARRAY,
					 IORING_SETUP_SQE128 | IORING_SETUP_CQE32 | SETUP_DEFER | SETUP_NO_ARRAY};
	static struct ring r[sizeof(flags) / sizeof(*flags)];
	(void)argc, (void)argv;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		r[i].p.cq_entries = 4 * ENTRIES;
		if (!try_setup(&r[i], flags[i] & ~(uint32_t)IORING_SETUP_CQSIZE))
			r[i].fd = -1;
	}
	for (int round = 0; round < 20; round++) /* so many that the rings wrap around */
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			if (r[i].fd >= 0) {
				for (int k = 0; k < 3; k++)
					add(&r[i], IORING_OP_NOP, -1, NULL, 0, 0);
				run(&r[i], 3);
			}
	print();
}

static struct ring shared;
static pthread_mutex_t submitting = PTHREAD_MUTEX_INITIALIZER;

/* Each thread reads through a ring of its own, and through one of all threads. */
static void *read_blocks(void *file)
{
	char in[BLOCK];
	struct ring own;
	int fd = *(int *)file, result;
	setup(&own);
	for (int i = 0; i < ROUNDS; i++) {
		add(&own, IORING_OP_READ, fd, in, sizeof(in), 0);
		CHECK(run(&own, 1) == BLOCK);
		pthread_mutex_lock(&submitting);
		add(&shared, IORING_OP_READ, fd, in, sizeof(in), 0);
		CHECK(enter(&shared, 1, 1) == 1);
		while (!take(&shared, &result))
			enter(&shared, 0, 1);
		pthread_mutex_unlock(&submitting);
	}
	return NULL;
}

static void threads(int argc, char **argv)
{
	pthread_t t[THREADS];
	char block[BLOCK] = "";
	int fd = open("blocks", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	(void)argc, (void)argv;
	CHECK(fd >= 0 && write(fd, block, sizeof(block)) == BLOCK);
	setup(&shared);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, read_blocks, &fd) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	print();
}

/* Registered files and a registered ring; a time limit for a call (IORING_ENTER_EXT_ARG). */
static void registered(int argc, char **argv)
{
	struct ring r;
	char in[BLOCK];
	int fds[] = {-1, open("/dev/zero", O_RDONLY | O_CLOEXEC)};
	struct {
		uint32_t offset, unused;
		uint64_t data;
	} ring = {UINT32_MAX, 0, 0};
	struct timespec soon = {0, 1000000};
	struct {
		uint64_t mask;
		uint32_t size, pad;
		uint64_t time;
	} limit = {0, 8, 0, (uintptr_t)&soon};
	(void)argc, (void)argv;
	setup(&r);
	CHECK(syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_FILES, fds, 2) == 0);
	add(&r, IORING_OP_READ, 1, in, sizeof(in), 0)->flags = IOSQE_FIXED_FILE;
	CHECK(run(&r, 1) == BLOCK);
	ring.data = (uint64_t)r.fd;
	if (syscall(SYS_io_uring_register, r.fd, REGISTER_RINGS, &ring, 1) == 1)
		r.by_index = (int)ring.offset;
	add(&r, IORING_OP_READ, 1, in, BLOCK / 2, 0)->flags = IOSQE_FIXED_FILE;
	CHECK(run(&r, 1) == BLOCK / 2);
	r.by_index = -1;
	CHECK(syscall(SYS_io_uring_enter, r.fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &limit,
		      sizeof(limit)) == -1 &&
	      errno == ETIME);
	print();
}

/* The child uses the ring of its parent, and the parent uses it afterwards. */
static void children(int argc, char **argv)
{
	struct ring r;
	(void)argc, (void)argv;
	setup(&r);
	add(&r, IORING_OP_NOP, -1, NULL, 0, 0);
	run(&r, 1);
	pid_t pid = fork();
	if (pid == 0) {
		add(&r, IORING_OP_NOP, -1, NULL, 0, 0);
		run(&r, 1);
		_exit(0);
	}
	reap_ok(pid, 0);
	made[IORING_OP_NOP].n++;
	add(&r, IORING_OP_NOP, -1, NULL, 0, 0);
	run(&r, 1);
	print();
}

/* Completions that come between calls, some of which the program takes without a call. */
static void later(int argc, char **argv)
{
	struct ring r;
	int ends[2], result;
	char in[8];
	(void)argc, (void)argv;
	setup(&r);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		add(&r, IORING_OP_RECV, ends[0], in, sizeof(in), 0);
		CHECK(enter(&r, 1, 0) == 1);
		CHECK(send(ends[1], "hello", 5, 0) == 5);
		while (!take(&r, &result))
			sleep_us(100);
		CHECK(result == 5);
	}
	add(&r, IORING_OP_NOP, -1, NULL, 0, 0);
	run(&r, 1);
	print();
}

/* A kernel thread takes the requests. */
static void polled(int argc, char **argv)
{
	struct ring r;
	int result;
	(void)argc, (void)argv;
	CHECK(try_setup(&r, IORING_SETUP_SQPOLL));
	for (int i = 0; i < 3; i++) {
		add(&r, IORING_OP_NOP, -1, NULL, 0, 0);
		if (*word(&r, r.p.sq_off.flags) & IORING_SQ_NEED_WAKEUP)
			syscall(SYS_io_uring_enter, r.fd, 1, 0, IORING_ENTER_SQ_WAKEUP, NULL, 8);
		while (!take(&r, &result))
			enter(&r, 0, 1);
	}
}

/* Many requests, one at a time and several together, that read and write as the decoders show. */
static void many(int argc, char **argv)
{
	struct ring r;
	char out[2][BLOCK], in[2][BLOCK];
	struct iovec to[] = {{in[0], BLOCK}, {in[1], BLOCK}}, from[] = {{out[0], BLOCK}, {out[1], 7}};
	const struct timespec soon = {0, 1000};
	int fd = open("many", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	(void)argc, (void)argv;
	CHECK(fd >= 0);
	setup(&r);
	for (int i = 0; i < 8 * ROUNDS; i++) {
		memset(out, 'a' + i % 26, sizeof(out));
		add(&r, IORING_OP_WRITE, fd, out[0], BLOCK, 0);
		CHECK(run(&r, 1) == BLOCK);
		add(&r, IORING_OP_WRITEV, fd, from, 2, BLOCK);
		CHECK(run(&r, 1) == BLOCK + 7);
		add(&r, IORING_OP_READV, fd, to, 2, 0);
		CHECK(run(&r, 1) == 2 * BLOCK && memcmp(in, out, sizeof(in)) == 0);
		add(&r, IORING_OP_TIMEOUT, -1, &soon, 1, 0);
		CHECK(run(&r, 1) == -ETIME);
		for (uint32_t k = 0; k < ENTRIES; k++)
			add(&r, k % 2 ? IORING_OP_NOP : IORING_OP_READ, k == 4 ? -1 : fd, in[0], BLOCK, 0);
		run(&r, ENTRIES);
	}
	print();
}

static struct ring divided;

static void *take_all(void *unused)
{
	int result;
	(void)unused;
	for (int left = 8 * ROUNDS; left; left -= take(&divided, &result))
		enter(&divided, 0, 1);
	return NULL;
}

/* One thread submits requests, and another one waits for their completions. */
static void divides(int argc, char **argv)
{
	pthread_t taker;
	(void)argc, (void)argv;
	setup(&divided);
	CHECK(pthread_create(&taker, NULL, take_all, NULL) == 0);
	for (int i = 0; i < 8 * ROUNDS; i++) {
		add(&divided, IORING_OP_NOP, -1, NULL, 0, 0);
		while (enter(&divided, 1, 0) != 1)
			;
	}
	CHECK(pthread_join(taker, NULL) == 0);
	print();
}

static const struct test tests[] = {
	{"probe", probe},     {"files", files},           {"layouts", layouts},
	{"threads", threads}, {"registered", registered}, {"children", children},
	{"later", later},     {"polled", polled},         {"many", many},
	{"divides", divides},
};
TEST_MAIN(tests)
