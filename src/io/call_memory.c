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

/* Returns the number of bytes in the first `n` struct mmsghdr of the call, in which the kernel has stored their sizes. */
static uint64_t messages_length(const struct call *c, const struct mem *m, uint64_t n)
{
	/* struct mmsghdr: a struct msghdr of seven words, the size, and padding to a whole word. */
	size_t word = word_of(c);
	uint64_t sum = 0;
	uint32_t size;
	for (uint64_t i = 0, addr = c->args[1]; i < n && n <= MESSAGES_MAX && m; i++, addr += 8 * word)
		if (mem_get(m, addr + 7 * word, &size, sizeof(size)) == 0)
			sum += size;
	return sum;
}

void io_leave_messages(const struct io_context *x)
{
	struct io_open *o = io_open_of(x, 0);
	enum io_direction d = x->row->direction;
	if (!o || x->c->error)
		return;
	uint64_t bytes = messages_length(x->c, x->ev->mem, (uint64_t)x->c->result);
	io_count_transfer(x, o->file, d);
	if (bytes && !io_peeks(x))
		io_file_request(o, &(struct io_request){.direction = d,
							.asked = bytes,
							.bytes = bytes,
							.waited = io_waited(x),
							.ns = x->ns,
							.spread_ns = x->spread_ns,
							.pid = x->ev->pid,
							.time_s = io_time_of(x)});
}
