/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/uring_ops.h"
#include "tracee/uring.h"

#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>

/*
 * io_uring(7): shows the requests and the completions, which tracee/uring.h has read from the rings, and the structures
 * of its calls.
 */
static void show_opcode(const struct decode *d, uint8_t opcode)
{
	const struct uring_op *op = uring_op(opcode);
	char text[48];
	emit_field(d->out, "opcode");
	snprintf(text, sizeof(text), "IORING_OP_%s", op ? op->name : "");
	if (op)
		emit_sym(d->out, text, opcode);
	else
		emit_unum(d->out, opcode);
}

static void show_descriptor(const struct decode *d, const struct uring_request *q, const struct uring_op *op)
{
	bool fixed = q->flags & URING_FIXED_FILE, none = !op || op->fd == URING_NO_FD;
	if (none && (!q->fd || q->fd == -1))
		return;
	if (none || fixed)
		show_field(d, "fd", K_INT, (uint64_t)q->fd);
	else
		show_field(d, "fd", op->fd == URING_DIRFD ? K_DIRFD : K_FD, (uint64_t)q->fd);
	if (fixed && q->file >= 0)
		show_field(d, "file", K_FD, (uint64_t)q->file);
}

/* Shows the data that are written. Buffers that will be filled are shown as pointers. */
static void show_address(const struct decode *d, const struct uring_request *q, const struct uring_op *op)
{
	static const enum syscall_kind kinds[URING_MEMORIES] = {
		[URING_NOTHING] = K_PTR, [URING_PATH] = K_PATH, [URING_TIME] = K_TIMESPEC64};
	const enum uring_memory memory = op ? op->memory : URING_NOTHING;
	if (!q->address)
		return;
	emit_field(d->out, "addr");
	if (memory == URING_VECTOR || memory == URING_BUFFERS)
		decode_iovec(d, q->address, q->length, memory == URING_BUFFERS);
	else if (memory == URING_BYTES)
		decode_bytes(d, q->address, q->length);
	else if (memory == URING_ADDRESS)
		decode_sockaddr(d, q->address, q->offset);
	else
		show_kind(d, kinds[memory], q->address, -1);
}

static void show_request(const struct decode *d, const struct uring_request *q)
{
	const struct uring_op *op = uring_op(q->opcode);
	const struct {
		const char *name;
		enum syscall_kind kind;
		uint64_t v;
	} rest[] = {
		{"op_flags", K_HEX, q->op_flags},
		{"ioprio", K_HEX, q->priority},
		{"buf_index", K_UINT, q->buffer},
		{"personality", K_UINT, q->personality},
		{"file_index", K_INT, (uint32_t)q->other_fd},
	};
	emit_open(d->out, '{');
	show_opcode(d, q->opcode);
	if (q->flags)
		show_field(d, "flags", K_URING_SQE_FLAGS, q->flags);
	show_descriptor(d, q, op);
	if (op && op->positioned)
		show_field(d, "off", K_LONG, q->offset);
	else if (q->offset)
		show_field(d, "off", K_HEX, q->offset);
	show_address(d, q, op);
	if (q->length)
		show_field(d, "len", K_UINT, q->length);
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		if (rest[i].v)
			show_field(d, rest[i].name, rest[i].kind, rest[i].v);
	show_field(d, "user_data", K_HEX, q->user_data);
	emit_close(d->out, '}');
}

static void show_completion(const struct decode *d, const struct uring_completion *c)
{
	emit_open(d->out, '{');
	show_field(d, "user_data", K_HEX, c->user_data);
	if (c->known)
		show_opcode(d, c->request.opcode);
	show_field(d, "res", K_NEGATIVE_ERRNO, (uint32_t)c->result);
	if (c->flags & UINT16_MAX)
		show_field(d, "flags", K_URING_CQE_FLAGS, c->flags & UINT16_MAX);
	if (c->flags >> 16)
		show_field(d, "buffer", K_UINT, c->flags >> 16);
	emit_close(d->out, '}');
}

/* Returns how many of `n` elements are shown. */
static size_t most(const struct decode *d, size_t n)
{
	size_t limit = d->opts->verbose && d->opts->string_max < 4096 ? 4096 : d->opts->string_max;
	return n < limit ? n : limit;
}

void show_uring_fd(const struct decode *d, const struct value *x)
{
	if (uring_is_index(d->call))
		emit_num(d->out, (int32_t)x->v);
	else
		show_fd(d, x);
}

/* Shows the number of requests, and the requests themselves: an array in JSON, and a comment in text. */
void show_uring_requests(const struct decode *d, const struct value *x)
{
	const struct uring_batch *b = d->opts->shallow ? NULL : d->uring;
	char number[24];
	if (!b || !b->requests.n) {
		emit_unum(d->out, (uint32_t)x->v);
		if (b && (uint32_t)x->v && b->sight != URING_SEEN)
			emit_comment(d->out,
				     b->sight == URING_POLLED ? "IORING_SETUP_SQPOLL" : "the ring is not known");
		return;
	}
	snprintf(number, sizeof(number), "%u /* ", (uint32_t)x->v);
	emit_wrap(d->out, number);
	emit_open(d->out, '[');
	for (size_t i = 0; i < most(d, b->requests.n); i++) {
		emit_element(d->out);
		show_request(d, &b->requests.v[i]);
	}
	if (most(d, b->requests.n) < b->requests.n)
		emit_more(d->out);
	emit_close(d->out, ']');
	emit_wrap(d->out, " */");
}

void decode_uring_completions(const struct decode *d)
{
	const struct uring_batch *b = d->opts->shallow || d->opts->raw ? NULL : d->uring;
	if (!b || !(b->completions.n || b->missed))
		return;
	emit_returned(d->out, RETURNED_BEGIN);
	emit_open(d->out, '[');
	if (b->missed)
		emit_more(d->out); /* these were overwritten */
	for (size_t i = 0; i < most(d, b->completions.n); i++) {
		emit_element(d->out);
		show_completion(d, &b->completions.v[i]);
	}
	if (most(d, b->completions.n) < b->completions.n)
		emit_more(d->out);
	emit_close(d->out, ']');
	emit_returned(d->out, RETURNED_END);
}

LAYOUT_SAME(sqring_offsets, struct io_sqring_offsets, (head, UINT), (tail, UINT), (ring_mask, UINT),
	    (ring_entries, UINT), (flags, UINT), (dropped, UINT), (array, UINT));
LAYOUT_SAME(cqring_offsets, struct io_cqring_offsets, (head, UINT), (tail, UINT), (ring_mask, UINT),
	    (ring_entries, UINT), (overflow, UINT), (cqes, UINT), (flags, UINT));
LAYOUT_SAME(io_uring_params, struct io_uring_params, (flags, IO_URING_SETUP), (sq_thread_cpu, UINT),
	    (sq_thread_idle, UINT), (sq_entries, UINT, NONZERO), (cq_entries, UINT, NONZERO),
	    (features, IO_URING_FEATURES, NONZERO), (wq_fd, UINT, NONZERO), (sq_off, SQRING_OFFSETS, AT | VERBOSE),
	    (cq_off, CQRING_OFFSETS, AT | VERBOSE));

/* io_uring_enter(2): the argument is a set of signals or, with IORING_ENTER_EXT_ARG, this structure. */
static STRUCTURE_SAME(events_arg, M64(sigmask, SIGSET), M32(sigmask_sz, UINT), SKIP32(min_wait_usec),
		      M64(ts, TIMESPEC));

void show_uring_enter_arg(const struct decode *d, const struct value *x)
{
	if (d->call->args[x->arg - 1] & IORING_ENTER_EXT_ARG)
		layout_emit(d, &layout_events_arg, x->v, layout_events_arg.size);
	else
		show_sigset(d, x);
}

struct resource_update {
	uint32_t offset, resv;
	uint64_t fds;
};
struct probe {
	uint8_t last_op, ops_len;
	uint16_t resv;
	uint32_t resv2[3];
};
static STRUCTURE_SAME(uring_resources, M32(nr, UINT), M32(flags, HEX), SKIP64(resv2), M64(data, PTR), M64(tags, PTR));
static STRUCTURE_SAME(uring_restriction, M16(opcode, IO_URING_RESTRICTION), M8(op, UINT), SKIP8(resv),
		      SKIPS(uint32_t, resv2, 3));
static STRUCTURE_SAME(uring_probe_op, M8(op, UINT), SKIP8(resv), M16(flags, HEX), SKIP32(resv2));

static uint32_t register_op(const struct decode *d, int i)
{
	return (uint32_t)d->call->args[i - 1] & 0x7fffffff;
}

/* IORING_REGISTER_PROBE fills in the structure, and the command for workers exchanges their numbers. */
enum when when_uring_register_arg(const struct decode *d, int i)
{
	uint32_t op = register_op(d, i);
	return op == IORING_REGISTER_PROBE              ? WHEN_LEFT
	       : op == IORING_REGISTER_IOWQ_MAX_WORKERS ? WHEN_BOTH
							: WHEN_ENTERING;
}

static void file_update(const struct decode *d, uint64_t at, uint32_t n)
{
	struct resource_update u;
	if (!decode_need(d, at, &u, sizeof(u)))
		return;
	emit_open(d->out, '{');
	show_field(d, "offset", K_UINT, u.offset);
	emit_field(d->out, "fds");
	decode_numbers(d, u.fds, n, 4, K_FD);
	emit_close(d->out, '}');
}

/* The kernel has filled in at most `n` operations. */
static void uring_probe(const struct decode *d, uint64_t at, uint32_t n)
{
	struct probe p;
	if (!decode_need(d, at, &p, sizeof(p)))
		return;
	emit_open(d->out, '{');
	show_field(d, "last_op", K_UINT, p.last_op);
	show_field(d, "ops_len", K_UINT, p.ops_len);
	emit_field(d->out, "ops");
	layout_emit_array(d, &layout_uring_probe_op, at + sizeof(p), p.ops_len < n ? p.ops_len : n);
	emit_close(d->out, '}');
}

/* io_uring_register(2): the previous argument is the operation, and the next one is the number of elements. */
void show_uring_register_arg(const struct decode *d, const struct value *x)
{
	uint32_t n = (uint32_t)d->call->args[x->arg + 1];
	switch (register_op(d, x->arg)) {
	case IORING_REGISTER_BUFFERS:
		show_kind(d, K_REMOTE_IOVEC, x->v, x->arg);
		break;
	case IORING_REGISTER_FILES:
		decode_numbers(d, x->v, n, 4, K_FD);
		break;
	case IORING_REGISTER_EVENTFD:
	case IORING_REGISTER_EVENTFD_ASYNC:
		decode_number(d, x->v, 4, K_FD);
		break;
	case IORING_REGISTER_FILES_UPDATE:
		file_update(d, x->v, n);
		break;
	case IORING_REGISTER_PROBE:
		uring_probe(d, x->v, n);
		break;
	case IORING_REGISTER_RESTRICTIONS:
		layout_emit_array(d, &layout_uring_restriction, x->v, n);
		break;
	case IORING_REGISTER_FILES2:
	case IORING_REGISTER_BUFFERS2:
		layout_emit(d, &layout_uring_resources, x->v, n);
		break;
	case IORING_REGISTER_IOWQ_MAX_WORKERS:
		decode_numbers(d, x->v, n, 4, K_UINT);
		break;
	default:
		emit_ptr(d->out, x->v);
	}
}

/* The kernel has replaced the numbers of workers by the previous ones. */
void show_uring_register_after(const struct decode *d, const struct value *x)
{
	emit_after(d->out);
	decode_numbers(d, x->v, (uint32_t)d->call->args[x->arg + 1], 4, K_UINT);
}
