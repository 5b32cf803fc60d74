#include "trace/dump.h"

#include "syscall/kinds.h"
#include "syscall/table.h"
#include "tracee/mem.h"

#include <linux/audit.h>

enum { LINE = 16, PIECE = 4096, VECTORS_MOST = 1024 };

struct dump {
	const struct event *ev;
	struct trace_out *out;
	bool narrow;   /* the program's pointers have 4 bytes */
	uint64_t left; /* bytes that may still be shown */
};

/* Appends a line in strace's form: " | 00010  2f 72 6f 6f 74 3a 2f 62  69 6e 2f 62 61 73 68 0a  /root:/bin/bash. |" */
static void add_line(struct buf *out, uint64_t offset, const unsigned char *p, size_t n)
{
	buf_addf(out, " | %05llx ", (unsigned long long)offset);
	for (size_t i = 0; i < LINE; i++) {
		buf_adds(out, i % 8 == 0 && i ? "  " : " ");
		if (i < n)
			buf_addf(out, "%02x", p[i]);
		else
			buf_adds(out, "  ");
	}
	buf_adds(out, "  ");
	for (size_t i = 0; i < LINE; i++)
		buf_addc(out, i >= n ? ' ' : p[i] >= ' ' && p[i] < 0x7f ? (char)p[i] : '.');
	buf_adds(out, " |\n");
}

static void dump_bytes(struct dump *d, uint64_t addr, uint64_t n)
{
	unsigned char piece[PIECE];
	for (uint64_t done = 0; done < n;) {
		size_t want = n - done < PIECE ? (size_t)(n - done) : PIECE;
		ssize_t got = mem_read(d->ev->mem, addr + done, piece, want);
		for (size_t i = 0; got > 0 && i < (size_t)got; i += LINE)
			add_line(&d->out->buf, done + i, piece + i, (size_t)got - i < LINE ? (size_t)got - i : LINE);
		if (got < (ssize_t)want)
			return;
		done += want;
		trace_out_event(d->out);
	}
}

static bool get_word(const struct dump *d, uint64_t addr, unsigned index, uint64_t *v)
{
	uint32_t half;
	if (!d->narrow)
		return mem_get(d->ev->mem, addr + 8ull * index, v, 8) == 0;
	if (mem_get(d->ev->mem, addr + 4ull * index, &half, 4) != 0)
		return false;
	*v = half;
	return true;
}

static void dump_vectors(struct dump *d, uint64_t addr, uint64_t n)
{
	for (unsigned i = 0; i < n && i < VECTORS_MOST && d->left; i++) {
		uint64_t base, len;
		if (!get_word(d, addr, 2 * i, &base) || !get_word(d, addr, 2 * i + 1, &len))
			return;
		if (len > d->left)
			len = d->left;
		d->left -= len;
		if (!len)
			continue;
		buf_addf(&d->out->buf, " * %llu bytes in buffer %u\n", (unsigned long long)len, i);
		dump_bytes(d, base, len);
	}
}

/* Finds the buffers of a struct msghdr. It begins with name, namelen (padded to a word), iov and iovlen. */
static bool find_buffers(const struct dump *d, uint64_t addr, uint64_t *iov, uint64_t *n)
{
	return get_word(d, addr, 2, iov) && get_word(d, addr, 3, n);
}

static void dump_message(struct dump *d, uint64_t addr)
{
	uint64_t iov, n;
	if (find_buffers(d, addr, &iov, &n))
		dump_vectors(d, iov, n);
}

/* Dumps `n` structs mmsghdr. Each is a message, followed by the number of bytes that were transferred. */
static void dump_messages(struct dump *d, uint64_t addr, int64_t n)
{
	unsigned message = d->narrow ? 28 : 56, step = d->narrow ? 32 : 64;
	for (int64_t i = 0; i < n; i++, addr += step) {
		uint32_t len;
		uint64_t iov, buffers;
		if (mem_get(d->ev->mem, addr + message, &len, sizeof(len)) != 0 ||
		    !find_buffers(d, addr, &iov, &buffers))
			return;
		buf_addf(&d->out->buf, " = %llu buffers in vector %lld\n", (unsigned long long)buffers, (long long)i);
		d->left = len;
		dump_vectors(d, iov, buffers);
	}
}

/* Dumps the data that argument `i` points at. The kind of the argument says how to find the data. */
static void dump_arg(struct dump *d, uint16_t kind, unsigned i)
{
	const struct call *c = &d->ev->call;
	/* mq_timedsend(2) returns 0 if it has sent all bytes. */
	d->left = c->desc->result != R_BYTES ? c->args[i + 1] : c->result > 0 ? (uint64_t)c->result : 0;
	/* With MSG_TRUNC, the result is the length of the whole message, of which the buffer contains only a part. */
	if (kind == K_OUT_SOCK_BYTES && d->left > c->args[i + 1])
		d->left = c->args[i + 1];
	if (kind == K_IN_BYTES || kind == K_OUT_BYTES || kind == K_SOCK_BYTES || kind == K_OUT_SOCK_BYTES)
		dump_bytes(d, c->args[i], d->left);
	else if (kind == K_IN_IOVEC || kind == K_OUT_IOVEC)
		dump_vectors(d, c->args[i], c->args[i + 1]);
	else if (kind == K_IN_MSGHDR || kind == K_OUT_MSGHDR)
		dump_message(d, c->args[i]);
	else
		dump_messages(d, c->args[i], c->result);
}

/* Returns the option, -e read= or -e write=, for an argument of this kind, or NULL if it transfers no data. */
static const struct look_fds *choice_for(const struct trace_look *l, uint16_t kind)
{
	switch (kind) {
	case K_OUT_BYTES:
	case K_OUT_SOCK_BYTES:
	case K_OUT_IOVEC:
	case K_OUT_MSGHDR:
	case K_OUT_MMSG:
		return &l->read;
	case K_IN_BYTES:
	case K_SOCK_BYTES:
	case K_IN_IOVEC:
	case K_IN_MSGHDR:
	case K_IN_MMSG:
		return &l->write;
	default:
		return NULL;
	}
}

static bool is_none(const struct look_fds *s)
{
	return !s->all && !s->fds.n && !s->negated;
}

void trace_dump(const struct trace_look *l, const struct event *ev, struct trace_out *out)
{
	const struct call *c = &ev->call;
	const struct syscall_desc *desc = c->desc;
	if (is_none(&l->read) && is_none(&l->write))
		return;
	if (ev->kind == EV_VANISH || c->error || !ev->mem || !desc || !desc->nargs || desc->args[0].kind != K_FD)
		return;
	struct dump d = {.ev = ev, .out = out, .narrow = !(c->arch & __AUDIT_ARCH_64BIT)};
	for (unsigned i = 1; i < desc->nargs; i++) {
		const struct look_fds *s = choice_for(l, desc->args[i].kind);
		if (s && trace_look_has_fd(s, (int)c->args[0]))
			dump_arg(&d, desc->args[i].kind, i);
	}
}
