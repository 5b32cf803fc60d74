/* Requests with several buffers or messages, which the memory of the program describes. */
#include "io/call.h"
#include "tracee/mem.h"

#include <linux/audit.h>

#define X32_BIT      0x40000000 /* in the numbers of x32 calls, whose pointers have 32 bits */
#define BUFFERS_MAX  64
#define MESSAGES_MAX 1024 /* UIO_MAXIOV (linux/uio.h): Linux handles at most this many messages in one call */

bool io_is_32bit(const struct call *c)
{
	return !(c->arch & __AUDIT_ARCH_64BIT);
}

/* Returns the size of a pointer of the program in bytes. */
static size_t word_of(const struct call *c)
{
	return io_is_32bit(c) || (c->arch == AUDIT_ARCH_X86_64 && c->nr & X32_BIT) ? 4 : 8;
}

int64_t io_buffers_length(const struct call *c, const struct mem *m, uint64_t addr, uint64_t n)
{
	/* Addresses and lengths in turn. */
	union {
		uint64_t wide[2 * BUFFERS_MAX];
		uint32_t narrow[2 * BUFFERS_MAX];
	} iov;
	size_t word = word_of(c);
	int64_t sum = 0;
	if (n > BUFFERS_MAX || !m || mem_get(m, addr, &iov, 2 * n * word) < 0)
		return -1;
	for (uint64_t i = 0; i < n; i++)
		sum += (int64_t)io_at_most(word == 8 ? iov.wide[2 * i + 1] : iov.narrow[2 * i + 1], IO_BYTES_MAX);
	return sum;
}

/* Returns the number of bytes in the buffers of a struct mmsghdr that will be sent. */
static uint64_t message_length(const struct call *c, const struct mem *m, uint64_t addr)
{
	uint64_t wide[2] = {0}; /* msg_iov and msg_iovlen */
	uint32_t narrow[2] = {0};
	size_t word = word_of(c);
	if (mem_get(m, addr + 2 * word, word == 8 ? (void *)wide : narrow, 2 * word) < 0)
		return 0;
	int64_t length = io_buffers_length(c, m, wide[0] | narrow[0], wide[1] | narrow[1]);
	return length > 0 ? (uint64_t)length : 0;
}

/*
 * Returns the number of bytes in the first `n` struct mmsghdr of the call. The kernel stores the size of each message
 * that was received.
 */
static uint64_t messages_length(const struct call *c, const struct mem *m, uint64_t n, enum io_direction d)
{
	/* struct mmsghdr: a struct msghdr of seven words, the size, and padding to a whole word. */
	size_t word = word_of(c);
	uint64_t sum = 0;
	uint32_t received;
	for (uint64_t i = 0, addr = c->args[1]; i < n && n <= MESSAGES_MAX && m; i++, addr += 8 * word)
		if (d == IO_WRITE)
			sum += message_length(c, m, addr);
		else if (mem_get(m, addr + 7 * word, &received, sizeof(received)) == 0)
			sum += received;
	return sum;
}

/* A recording contains the messages that are sent only as they were before the call. */
void io_enter_messages(struct io_thread *k, const struct event *ev)
{
	if (strcmp(ev->call.desc->name, "sendmmsg") == 0)
		k->sent = messages_length(&ev->call, ev->mem, (uint32_t)ev->call.args[2], IO_WRITE);
}

void io_leave_messages(const struct io_context *x)
{
	struct io_open *o = io_open_of(x, 0);
	enum io_direction d = x->row->direction;
	if (!o || x->c->error)
		return;
	uint64_t n = (uint64_t)x->c->result;
	bool all_sent = d == IO_WRITE && n == (uint32_t)x->c->args[2];
	uint64_t bytes = all_sent ? x->k->sent : messages_length(x->c, x->ev->mem, n, d);
	*(d == IO_READ ? &o->file->row.reads : &o->file->row.writes) += 1;
	if (bytes)
		io_file_request(o, &(struct io_request){.direction = d,
							.asked = bytes,
							.bytes = bytes,
							.ns = x->ns,
							.spread_ns = x->spread_ns,
							.pid = x->ev->pid,
							.time_s = io_time_of(x)});
}
