/* SPDX-License-Identifier: MIT */
/*
 * Captures: copies of the memory that decoders need, as the memory rules describe it (rules.h).
 *
 * This code is compiled twice. In the traced program, it runs after each recorded call, with plain loads, so it reads only
 * memory that the call is known to have read or written. After a call that failed, it may also read other memory, with the
 * kernel's help (may_try()). In sctrace, it reads the memory of a stopped thread, which may be anything. The file that
 * includes this header first defines:
 *
 *   CAPTURE_PART, CAPTURE_HELPER   how functions are declared
 *   CAPTURE_SURE                   1 if any memory can be read, 0 if that depends on the call
 *   CAPTURE_WORD(c)                the size of the program's pointers and longs: 8, or 4
 *   CAPTURE_TEXT_MOST(c)           how many bytes of a string are captured at most
 *   capture_load(to, memory, addr, n)   copies up to `n` bytes of memory, and returns how many
 *   capture_text(to, memory, addr, n)   copies a string and its NUL, but at most `n` bytes, and returns how many
 *   capture_protocol(fd)                if CAPTURE_SURE is 0: what to store at CAPTURED_PROTOCOL_AT for a socket, or
 *                                       CAPTURE_UNKNOWN
 *
 * If CAPTURE_SURE is 0, these functions return false if sctrace must capture the memory instead. Otherwise they capture
 * what can be read and has room.
 */
#ifndef SCTRACE_SYSCALL_CAPTURE_H
#define SCTRACE_SYSCALL_CAPTURE_H

#include "syscall/rules.h"

#include <stdbool.h>
#include <stddef.h>

/* A call whose memory is captured, and where the captures go. */
struct capture {
	const struct memory_tables *tables;
	const uint64_t *args;
	int64_t result;
	uint64_t nr, string_max;
	uint64_t frame_mask;  /* the address of the signal mask that rt_sigreturn(2) restores */
	unsigned char *bytes; /* the head of a record, and its captures from offset `head` on */
	uint64_t head, at, room;
	uint32_t before;    /* 1: the call has not been made; see struct captured */
	bool unfinished;    /* the call is in progress: only its input can be captured */
	uint32_t word;      /* for CAPTURE_WORD() */
	uint32_t tries;     /* 1: any memory can be read, although CAPTURE_SURE is 0 */
	uint32_t asks;      /* 1: capture_protocol() may be called for the first argument */
	int32_t protocol;   /* what it has returned, or CAPTURE_UNKNOWN */
	uint32_t full;      /* set to 1 if sctrace must capture the memory, because there was no room, for example */
	const void *memory; /* for capture_load() and capture_text() */
};

#define CAPTURE_UNKNOWN (-2)
#define FD_SET_MOST     65536 /* the largest number of descriptors that are shown */
#define CAPTURE_PAGE    4096
#define CAPTURE_LEAST   4  /* a structure that begins with its own size is read at least so far */
#define STATMOUNT_LEAST 16 /* size and mask of a struct statmount, which the kernel always writes */
#define PERF_LEAST      64 /* the kernel reads at least so much of a struct perf_event_attr */

CAPTURE_HELPER uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the word with index `i` of a captured structure. */
CAPTURE_HELPER uint64_t word_at(const struct capture *c, const void *structure, uint64_t i)
{
	(void)c;
	return CAPTURE_WORD(c) == 4 ? ((const uint32_t *)structure)[i] : ((const uint64_t *)structure)[i];
}

/* May memory be read, although the kernel has perhaps not read it, and it may not be readable? */
CAPTURE_HELPER bool may_try(const struct capture *c)
{
	return CAPTURE_SURE || c->tries;
}

/* After a failure to capture memory: returns true if the memory cannot be read, so that sctrace could not capture it either. */
CAPTURE_HELPER bool is_unreadable(const struct capture *c)
{
	return CAPTURE_SURE || (c->tries && !c->full);
}

/* May the call's strings and structures be read? Some results prove that the kernel has read them. EBADF does not. */
CAPTURE_PART bool may_read(const struct capture *c)
{
	int64_t result = c->result;
	/* EINTR ENOENT ECHILD EAGAIN EACCES EEXIST EXDEV ENOTDIR EISDIR ETXTBSY EROFS ELOOP ENOTEMPTY ETIME */
	const uint64_t low = 1ull << 2 | 1ull << 4 | 1ull << 10 | 1ull << 11 | 1ull << 13 | 1ull << 17 | 1ull << 18 |
			     1ull << 20 | 1ull << 21 | 1ull << 26 | 1ull << 30 | 1ull << 39 | 1ull << 40 | 1ull << 62;
	uint64_t err = 0 - (uint64_t)result;
	/* ETIMEDOUT ECONNREFUSED EINPROGRESS */
	return may_try(c) || result >= 0 || (err < 64 ? low >> err & 1 : err == 110 || err == 111 || err == 115);
}

/* Returns the rule for the command of the call, or `none` if its argument `arg` is not memory. */
CAPTURE_PART const struct memory_need *command_need(const struct capture *c, const struct memory_need *n, unsigned arg)
{
	uint32_t command = (uint32_t)c->args[n->from] >> n->head & (n->most ? n->most : UINT32_MAX);
	unsigned last = n->size == TABLE_IOCTL ? TABLE_IOCTL_AXIS : n->size;
	for (unsigned table = n->size; table <= last; table++) {
		uint32_t v = table == TABLE_IOCTL_SIZED  ? command & 0xc000ffff
			     : table == TABLE_IOCTL_AXIS ? command & ~0x3fu
							 : command;
		const struct memory_command *row =
			memory_find_command(c->tables, (uint64_t)table << 40 | (uint64_t)arg << 32 | v);
		if (row)
			return &c->tables->needs[row->need];
	}
	return NULL;
}

/* Adds a capture of up to `len` bytes at `addr`. Returns its bytes, or NULL. */
CAPTURE_PART const void *put_copy(struct capture *c, uint64_t addr, uint64_t len)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	uint64_t from = c->at + sizeof(*to), most = from < c->room ? c->room - from : 0;
	c->full |= len > most;
	if (len > most && !CAPTURE_SURE)
		return NULL;
	uint64_t n = capture_load(to + 1, c->memory, addr, smaller(len, most));
	if (!n)
		return NULL;
	to->addr = addr;
	to->len = (uint32_t)n;
	to->before = c->before;
	c->at = from + ((n + 7) & ~7ull);
	return to + 1;
}

/* Captures `len` bytes at `addr`. If `addr` is NULL or `len` is 0, there is nothing to capture. */
CAPTURE_PART bool put_any(struct capture *c, uint64_t addr, uint64_t len)
{
	return !addr || !len || put_copy(c, addr, len) || is_unreadable(c);
}

/* Captures a string with its NUL, or its first `most` bytes if it is longer. */
CAPTURE_PART bool put_text(struct capture *c, uint64_t addr, uint64_t most)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	const unsigned char *text = (const unsigned char *)(to + 1);
	uint64_t from = c->at + sizeof(*to), room = from < c->room ? c->room - from : 0;
	most = c->tries ? smaller(most, CAPTURE_PAGE - 1) : most; /* as in sctrace: PATH_MAX without the NUL */
	uint64_t limit = smaller(most, room), n = limit ? capture_text(to + 1, c->memory, addr, limit) : 0;
	bool ends = n && (n == most || !text[n - 1]);
	c->full |= !ends && n == limit;
	if (!n || (!ends && !is_unreadable(c)))
		return is_unreadable(c);
	to->addr = addr;
	to->len = (uint32_t)n;
	to->before = c->before;
	c->at = smaller(from + ((n + 7) & ~7ull), c->room);
	return true;
}

/* The same for a string. getxattr(2), for example, looks for the file before it reads the name of an attribute (`late`). */
CAPTURE_HELPER bool may_read_string(const struct capture *c, bool late)
{
	return may_try(c) || c->result >= 0 || (!late && may_read(c));
}

/* A string of which the kernel reads at most a page may have no NUL. It is captured only within its first page. */
CAPTURE_HELPER bool put_string(struct capture *c, const struct memory_need *n, unsigned arg)
{
	uint64_t addr = c->args[arg], left = CAPTURE_PAGE - addr % CAPTURE_PAGE, at = c->at;
	if (!addr)
		return true;
	if (!may_read_string(c, n->size))
		return false;
	if (!n->most || may_try(c))
		return put_text(c, addr, CAPTURE_TEXT_MOST(c));
	return put_text(c, addr, left) &&
	       !c->bytes[at + sizeof(struct captured) + ((const struct captured *)(void *)(c->bytes + at))->len - 1];
}

/* Captures at most `most` pointers up to a NULL, and at most `bytes` bytes of each string that they point at. */
CAPTURE_HELPER bool put_pointers(struct capture *c, uint64_t addr, uint64_t most, uint64_t bytes)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	unsigned char *pointers = (unsigned char *)(to + 1);
	const uint64_t size = CAPTURE_WORD(c), from = c->at + sizeof(*to);
	uint64_t n = 0, room = from + 8 < c->room ? (c->room - from) / size : 0;
	while (n < room && n < most && capture_load(pointers + n * size, c->memory, addr + n * size, size) == size)
		if (!word_at(c, pointers, n++))
			break;
	if (!n || (n < most && word_at(c, pointers, n - 1) && !CAPTURE_SURE))
		return CAPTURE_SURE;
	to->addr = addr;
	to->len = (uint32_t)(n * size);
	to->before = c->before;
	c->at = from + ((n * size + 7) & ~7ull);
	for (uint64_t i = 0; bytes && i < n && word_at(c, pointers, i); i++)
		if (!put_text(c, word_at(c, pointers, i), bytes))
			return false;
	return true;
}

/* Captures the lengths of the addresses in `n` messages of recvmmsg(2), but at most `most`. */
CAPTURE_HELPER bool put_lengths(struct capture *c, uint64_t addr, uint64_t n, uint64_t most)
{
	for (uint64_t i = 0; addr && i < n && i < most; i++)
		if (!put_any(c, addr + (i * MMSG_WORDS + MSG_NAMELEN) * CAPTURE_WORD(c), sizeof(uint32_t)))
			return false;
	return true;
}

/* Returns the bytes at `addr` that were captured before the call, if there are `n` of them, or NULL. */
CAPTURE_HELPER const void *captured_before(const struct capture *c, uint64_t addr, uint64_t n)
{
	for (uint64_t k = c->head; k < c->at;) {
		const struct captured *at = (const struct captured *)(const void *)(c->bytes + k);
		if (at->before && at->addr == addr && at->len >= n)
			return at + 1;
		k += sizeof(*at) + ((at->len + 7) & ~7u);
	}
	return NULL;
}

CAPTURE_HELPER uint64_t load_number(const struct capture *c, uint64_t addr, unsigned size)
{
	uint32_t v = 0;
	return addr && capture_load(&v, c->memory, addr, size) == size ? v : 0;
}

/* Returns the number of extents in the struct fiemap at `addr` that the kernel has filled in. */
CAPTURE_HELPER uint64_t count_extents(const struct capture *c, uint64_t addr)
{
	enum { MAPPED = 20, ROOM = 24 };
	return c->before ? 0
			 : smaller(load_number(c, addr + MAPPED, sizeof(uint32_t)),
				   load_number(c, addr + ROOM, sizeof(uint32_t)));
}

/* Returns the value to which argument `from` points, before or after the call, whichever is smaller. */
CAPTURE_HELPER uint64_t count_at(const struct capture *c, uint64_t addr)
{
	const uint32_t *before = captured_before(c, addr, sizeof(*before));
	return before ? smaller(*before, load_number(c, addr, sizeof(*before))) : 0;
}

/* Counts elements in the rarer ways. */
CAPTURE_PART uint64_t count_rarely(const struct capture *c, const struct memory_need *n, uint64_t addr)
{
	enum { OWN16 = 16 };
	unsigned count = n->count;
	uint64_t arg = c->args[n->from < 6 ? n->from : 0];
	if (count == COUNT_ROOM)
		return c->result > 0 ? smaller((uint64_t)c->result, arg) : 0;
	if (count == COUNT_INT)
		return (uint32_t)arg;
	if (count == COUNT_AT)
		return count_at(c, arg);
	if (count == COUNT_OWN) {
		uint64_t own = load_number(c, addr + n->from, sizeof(uint32_t));
		uint64_t least = n->head                 ? 0
				 : n->rule == MEMORY_OUT ? STATMOUNT_LEAST
				 : n->from               ? PERF_LEAST
							 : CAPTURE_LEAST;
		return own > least ? own : least;
	}
	if (count == COUNT_OWN16)
		return load_number(c, addr + OWN16, sizeof(uint16_t));
	if (count == COUNT_FIEMAP)
		return count_extents(c, addr);
	if (count == COUNT_NODES)
		return arg > 1 ? (arg - 2) / 64 + 1 : 0;
	if (count == COUNT_PAGES)
		return (arg + CAPTURE_PAGE - 1) / CAPTURE_PAGE;
	if (count == COUNT_FD_SET)
		return (int32_t)arg > 0 ? (smaller(arg & INT32_MAX, FD_SET_MOST) + 63) / 64 : 0;
	return 0;
}

/* Returns the number of elements at `addr`, where the call's memory is known to be readable. */
CAPTURE_HELPER uint64_t count_elements(const struct capture *c, const struct memory_need *n, uint64_t addr)
{
	if (n->count == COUNT_ONE)
		return 1;
	if (n->count == COUNT_RESULT)
		return c->result > 0 ? (uint64_t)c->result : 0;
	return n->count == COUNT_ARG ? c->args[n->from] : count_rarely(c, n, addr);
}

/* Returns the number of bytes of `elements`. */
CAPTURE_HELPER uint64_t count_bytes(const struct capture *c, const struct memory_need *n, uint64_t elements)
{
	uint64_t most = c->string_max;
	if (n->limit == LIMIT_LIST && most < LIST_MOST)
		most = LIST_MOST;
	if (n->limit != LIMIT_NONE && elements > most)
		elements = most;
	if (elements > UINT32_MAX)
		elements = UINT32_MAX; /* more than any record can hold */
	elements *= n->size;
	return n->head + (n->most && elements > n->most ? n->most : elements);
}

/* Captures what pointer `p` in a captured structure points at. */
CAPTURE_HELPER bool put_part(struct capture *c, const struct memory_part *p, const unsigned char *structure)
{
	const struct memory_need *n = &p->need;
	const unsigned shrink = p->words ? 8 / CAPTURE_WORD(c) : 1;
	const void *at = structure + p->offset / shrink;
	uint64_t addr = p->words ? word_at(c, at, 0) : *(const uint64_t *)at, elements;
	if (!addr || (n->rule == MEMORY_OUT && (c->unfinished || c->result < 0)))
		return true;
	if (n->rule == MEMORY_STRING)
		return put_text(c, addr, CAPTURE_TEXT_MOST(c));
	elements = n->count == COUNT_MEMBER || n->count == COUNT_MEMBER_RESULT
			   ? *(const uint32_t *)(const void *)(structure + p->length / shrink)
			   : count_elements(c, n, addr);
	if (n->count == COUNT_MEMBER_RESULT)
		elements = smaller(elements, c->result > 0 ? (uint64_t)c->result : 0);
	return put_any(c, addr, count_bytes(c, n, elements));
}

/* Captures what the pointers in a captured structure point at. */
CAPTURE_PART bool put_parts(struct capture *c, const unsigned char *structure, unsigned list)
{
	uint32_t len = ((const struct captured *)(const void *)structure - 1)->len;
	for (unsigned i = 0; i < MEMORY_PARTS; i++) {
		const struct memory_part *p = &c->tables->parts[i];
		bool there =
			p->list == list && p->offset + sizeof(uint64_t) <= len && p->length + sizeof(uint32_t) <= len;
		if (there && !put_part(c, p, structure))
			return false;
	}
	return true;
}

/* Captures memory that may be read, and what it points at. */
CAPTURE_PART bool put_need(struct capture *c, const struct memory_need *n, uint64_t addr)
{
	uint64_t bytes = addr ? count_bytes(c, n, count_elements(c, n, addr)) : 0;
	const void *copy = bytes ? put_copy(c, addr, bytes) : NULL;
	if (!copy)
		return !bytes || is_unreadable(c);
	return !n->parts || (c->before && n->rule == MEMORY_CHANGED) || put_parts(c, copy, n->parts);
}

#include "syscall/capture_messages.h"

/* Captures the id of a new thread and the descriptor for it. The struct clone_args was captured before the call. */
CAPTURE_HELPER bool put_clone_results(struct capture *c, uint64_t addr)
{
	const struct clone_begin *args = captured_before(c, addr, sizeof(*args));
	if (!args || c->result < 0)
		return true;
	return (!(args->flags & CLONE_WRITES_TID) || put_any(c, args->parent_tid, sizeof(int32_t))) &&
	       (!(args->flags & CLONE_WRITES_FD) || put_any(c, args->pidfd, sizeof(int32_t)));
}

/* Captures the data of a request of io_submit(2) (linux/aio_abi.h) that writes. */
CAPTURE_HELPER bool put_request(struct capture *c, uint64_t addr)
{
	enum { PWRITE = 1, PREADV = 7, PWRITEV = 8 };
	const struct capture_request *q = put_copy(c, addr, sizeof(*q));
	if (!q || ((const struct captured *)(const void *)q - 1)->len < sizeof(*q))
		return is_unreadable(c);
	if (q->command == PREADV)
		return put_any(c, q->buf, smaller(q->nbytes, IOVECS_MOST) * IOVEC_WORDS * CAPTURE_WORD(c));
	if (q->command != PWRITE && q->command != PWRITEV)
		return true;
	/* That the kernel has accepted the request does not prove that it can read the data. */
	if (!may_try(c))
		return !q->buf || !q->nbytes;
	return q->command == PWRITE ? put_any(c, q->buf, smaller(q->nbytes, c->string_max))
				    : put_vector(c, q->buf, q->nbytes, UINT64_MAX, false, false);
}

/* Captures the requests of io_submit(2). Its result is how many of them the kernel has accepted. */
CAPTURE_HELPER bool put_requests(struct capture *c, const struct memory_need *n, uint64_t addr)
{
	uint64_t elements = c->args[n->from];
	if (!addr || (int64_t)elements <= 0)
		return true;
	if (!may_try(c) && c->result != (int64_t)elements)
		return false;
	elements = smaller(elements, c->string_max < LIST_MOST ? LIST_MOST : c->string_max);
	const void *at = put_copy(c, addr, elements * CAPTURE_WORD(c));
	if (!at)
		return is_unreadable(c);
	elements = ((const struct captured *)at - 1)->len / CAPTURE_WORD(c);
	for (uint64_t i = 0; i < elements; i++)
		if (!put_request(c, word_at(c, at, i)))
			return false;
	return true;
}

/* Captures memory that the kernel reads. */
CAPTURE_HELPER bool capture_input(struct capture *c, const struct memory_need *n, uint64_t addr)
{
	bool known = n->rule == MEMORY_DOUBTFUL ? may_try(c) : may_read(c);
	if (!addr)
		return true;
	if (n->rule == MEMORY_WRITTEN) {
		uint64_t bytes = smaller(c->args[n->from], c->string_max);
		return may_try(c) || (c->result >= 0 && (uint64_t)c->result >= bytes) ? put_any(c, addr, bytes)
										      : !bytes;
	}
	if (n->rule == MEMORY_EPOLL_EVENT) {
		if ((uint32_t)c->args[1] == 2 /* EPOLL_CTL_DEL */)
			return true;
		known = may_try(c) || c->result != -14 /* EFAULT */;
	}
	/* If nothing is captured, it need not be known. */
	bool counts_itself = n->count == COUNT_OWN || n->count == COUNT_OWN16;
	if (!known && !counts_itself && !count_bytes(c, n, count_elements(c, n, addr)))
		return true;
	return known && put_need(c, n, addr);
}

/*
 * Captures what the kernel has changed. After EOVERFLOW, name_to_handle_at(2) has written the size that it needs. If the
 * call failed or is in progress, what the structure pointed at before it is still needed.
 */
CAPTURE_HELPER bool capture_output(struct capture *c, const struct memory_need *n, uint64_t addr)
{
	bool changed = n->rule == MEMORY_CHANGED;
	if (!c->unfinished && (c->result >= 0 || (changed && c->result == -75 /* EOVERFLOW */)))
		return put_need(c, n, addr);
	const void *structure = changed && n->parts ? captured_before(c, addr, CAPTURE_LEAST) : NULL;
	return !structure || (may_read(c) && put_parts(c, structure, n->parts));
}

/* Adds the captures of one argument to the record of a call that was made, or is in progress. */
CAPTURE_HELPER bool capture_after(struct capture *c, const struct memory_need *n, unsigned arg)
{
	uint64_t addr = c->args[arg];
	if (n->rule == MEMORY_COMMAND) {
		n = command_need(c, n, arg);
		if (!n)
			return true;
	}
	unsigned rule = n->rule;
	if (rule == MEMORY_OUT || rule == MEMORY_CHANGED)
		return capture_output(c, n, addr);
	if (rule == MEMORY_STRING)
		return put_string(c, n, arg);
	if (rule == MEMORY_IN || rule == MEMORY_WRITTEN || rule == MEMORY_DOUBTFUL || rule == MEMORY_EPOLL_EVENT)
		return capture_input(c, n, addr);
	if (rule < MEMORY_CHANGED)
		return true;
	if (rule == MEMORY_IN_IOVEC || rule == MEMORY_OUT_IOVEC)
		return put_iovec(c, n, arg, rule == MEMORY_OUT_IOVEC);
	if (rule == MEMORY_SOCK_BYTES || rule == MEMORY_OUT_SOCK_BYTES)
		return put_sock(c, rule, arg);
	if (rule == MEMORY_CLONE_ARGS)
		return put_clone_results(c, addr);
	if (rule == MEMORY_CLONE_TID)
		return c->result < 0 || !(c->args[0] & (CLONE_WRITES_TID | CLONE_WRITES_FD)) ||
		       put_any(c, addr, sizeof(int32_t));
	if (rule == MEMORY_ON_ERROR)
		return !addr || c->result >= 0 || (may_try(c) && (c->unfinished || put_need(c, n, addr)));
	if (rule == MEMORY_DESCRIPTOR)
		return CAPTURE_SURE || c->result < 0;
	if (rule == MEMORY_REQUEST)
		return !addr || (may_try(c) && put_request(c, addr));
	if (rule == MEMORY_REQUESTS)
		return put_requests(c, n, addr);
	return put_messages(c, rule, arg);
}

/*
 * Captures memory of one argument that the call may change or discard. In the program, copying may fault; then the ring is
 * unchanged, because the record is not open yet, and threads/patch_signals.c makes the call from the stub.
 */
CAPTURE_HELPER bool capture_before(struct capture *c, const struct memory_need *n, unsigned arg)
{
	uint64_t addr = c->args[arg];
	unsigned rule = n->rule;
	if (rule == MEMORY_COMMAND) {
		n = command_need(c, n, arg);
		if (!n)
			return true;
		rule = n->rule;
	}
	if (rule == MEMORY_FRAME_MASK)
		return put_any(c, c->frame_mask, sizeof(uint64_t));
	if (!addr || rule > MEMORY_OUT_MMSG)
		return true;
	if (rule == MEMORY_CHANGED || rule == MEMORY_CLONE_ARGS)
		return put_need(c, n, addr);
	if (rule == MEMORY_EXEC_PATH)
		return put_text(c, addr, CAPTURE_TEXT_MOST(c));
	if (rule == MEMORY_POINTERS)
		return put_pointers(c, addr, UINT64_MAX, 0);
	if (rule == MEMORY_STRINGS)
		return put_pointers(c, addr, n->most ? n->most : UINT64_MAX, c->string_max + 1);
	if (rule == MEMORY_OUT_MSG)
		return put_any(c, addr + MSG_NAMELEN * CAPTURE_WORD(c), sizeof(uint32_t));
	return rule != MEMORY_OUT_MMSG || put_lengths(c, addr, (uint32_t)c->args[arg + 1], n->most);
}

#endif
