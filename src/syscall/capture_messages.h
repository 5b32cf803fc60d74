/* SPDX-License-Identifier: MIT */
/* The part of capture.h for vectors of buffers (iovec(3type)) and for the messages of sockets. It is included only there. */
#ifndef SCTRACE_SYSCALL_CAPTURE_MESSAGES_H
#define SCTRACE_SYSCALL_CAPTURE_MESSAGES_H

/*
 * May a buffer of `n` bytes contain a netlink message (struct nlmsghdr), whose contents the decoders show? That depends
 * on the descriptor. `first` holds the first 4 bytes of the buffer. In a netlink message they are nlmsg_len, a small
 * little-endian number that is at least the size of the header.
 */
CAPTURE_HELPER bool may_be_netlink(uint32_t first, uint64_t n)
{
	return n >= 16 && first >= 16 && first < 0x10000;
}

#if !CAPTURE_SURE
/*
 * Captures the protocol of the socket in the first argument, unless that was done before for this call. Returns false if the record
 * has no room.
 */
CAPTURE_PART bool put_protocol(struct capture *c)
{
	struct captured *to = (struct captured *)(void *)(c->bytes + c->at);
	if (!c->asks)
		return true;
	if (c->room - c->at < sizeof(*to) + sizeof(uint64_t))
		return false;
	c->asks = 0;
	c->protocol = capture_protocol(c->args[0]);
	if (c->protocol == CAPTURE_UNKNOWN)
		return true;
	to->addr = CAPTURED_PROTOCOL_AT;
	to->len = sizeof(c->protocol);
	to->before = c->before;
	*(uint64_t *)(void *)(to + 1) = (uint32_t)c->protocol;
	c->at += sizeof(*to) + sizeof(uint64_t);
	return true;
}
#endif

/*
 * Captures the buffer of a socket's call that transferred `n` bytes: all of them if they may be a netlink message. If it is not
 * known whether they are, sctrace must decode them while their descriptor is open.
 */
CAPTURE_PART bool put_sock_bytes(struct capture *c, uint64_t addr, uint64_t n)
{
	bool all = n >= 16 && may_be_netlink((uint32_t)load_number(c, addr, sizeof(uint32_t)), n);
#if !CAPTURE_SURE
	if (n >= 16 && (!put_protocol(c) || (all && c->protocol == CAPTURE_UNKNOWN)))
		return false;
	all &= c->protocol != CAPTURED_NO_NETLINK;
#endif
	return put_any(c, addr, all ? n : smaller(n, c->string_max));
}

/*
 * Captures a vector of `n` buffers, to or from which the call transferred `done` bytes. The vector is copied first, and
 * the buffers' addresses are read from the copy, so changes by another thread have no effect.
 */
CAPTURE_PART bool put_vector(struct capture *c, uint64_t addr, uint64_t n, uint64_t done, bool out, bool socket)
{
	if (!addr || !n)
		return true;
	const uint64_t size = IOVEC_WORDS * CAPTURE_WORD(c);
	const void *v = n <= IOVECS_MOST || CAPTURE_SURE ? put_copy(c, addr, smaller(n, IOVECS_MOST) * size) : NULL;
	if (!v)
		return is_unreadable(c);
	n = ((const struct captured *)v - 1)->len / size;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t base = word_at(c, v, i * IOVEC_WORDS), len = word_at(c, v, i * IOVEC_WORDS + 1);
		uint64_t shown = smaller(len, done);
		if (!out && shown < len && !may_try(c))
			return false; /* the kernel may not have read the whole buffer */
		done -= shown;
		if (socket ? !put_sock_bytes(c, base, shown) : !put_any(c, base, smaller(shown, c->string_max)))
			return false;
	}
	return true;
}

/* How many bytes the call has transferred. Of a call that is in progress, all input is captured. */
CAPTURE_HELPER uint64_t transferred(const struct capture *c, bool out)
{
	return may_try(c) && !out ? UINT64_MAX : c->result > 0 ? (uint64_t)c->result : 0;
}

CAPTURE_HELPER bool put_iovec(struct capture *c, const struct memory_need *n, unsigned arg, bool out)
{
	uint64_t elements = c->args[n->from];
	if (c->result < 0 && (out || !may_try(c)))
		return out || !c->args[arg] || !elements;
	return put_vector(c, c->args[arg], elements, transferred(c, out), out, false);
}

/* Returns the number of 32 bits at word `i` of a captured structure. */
CAPTURE_HELPER uint32_t number_at(const struct capture *c, const void *structure, uint64_t i)
{
	(void)c;
	return *(const uint32_t *)(const void *)((const unsigned char *)structure + i * CAPTURE_WORD(c));
}

/*
 * Captures a message: a structure of `words` words, and what it points to. The call has transferred `done` bytes; a struct
 * mmsghdr contains this number itself.
 */
CAPTURE_PART bool put_message(struct capture *c, uint64_t addr, uint64_t words, uint64_t done, bool out)
{
	const uint64_t size = words * CAPTURE_WORD(c);
	const void *m = put_copy(c, addr, size);
	if (!m || ((const struct captured *)m - 1)->len < size)
		return is_unreadable(c);
	if (words > MSG_WORDS && (out || !may_try(c)))
		done = number_at(c, m, MMSG_BYTES);
	uint64_t length = word_at(c, m, MSG_CONTROLLEN), control = length < CONTROL_LEAST ? CONTROL_LEAST : length;
	return put_any(c, word_at(c, m, MSG_NAME), smaller(number_at(c, m, MSG_NAMELEN), ADDRESS_MOST)) &&
	       put_any(c, length ? word_at(c, m, MSG_CONTROL) : 0, smaller(control, CONTROL_MOST)) &&
	       put_vector(c, word_at(c, m, MSG_IOV), word_at(c, m, MSG_IOVLEN), done, out, true);
}

CAPTURE_HELPER bool put_messages(struct capture *c, unsigned rule, unsigned arg)
{
	uint64_t addr = c->args[arg], n = c->result > 0 ? (uint64_t)c->result : 0;
	bool out = rule == MEMORY_OUT_MSG || rule == MEMORY_OUT_MMSG;
	if (!addr || (c->result < 0 && (out || !may_try(c))))
		return out || !addr;
	if (rule == MEMORY_MSG || rule == MEMORY_OUT_MSG)
		return put_message(c, addr, MSG_WORDS, transferred(c, out), out);
	if (!out && n < (uint32_t)c->args[arg + 1]) {
		if (!may_try(c))
			return false; /* the kernel did not read the other messages */
		n = (uint32_t)c->args[arg + 1];
	}
	/* The kernel transfers at most this number of messages, but a program can pass any number, and forge a result. */
	n = smaller(n, IOVECS_MOST);
	for (uint64_t i = 0; i < n; i++, addr += MMSG_WORDS * CAPTURE_WORD(c))
		if (!put_message(c, addr, MMSG_WORDS, UINT64_MAX, out))
			return false;
	return true;
}

CAPTURE_HELPER bool put_sock(struct capture *c, unsigned rule, unsigned arg)
{
	uint64_t addr = c->args[arg], n = c->args[arg + 1], done = c->result > 0 ? (uint64_t)c->result : 0;
	if (rule == MEMORY_OUT_SOCK_BYTES)
		return put_sock_bytes(c, addr, smaller(n, done));
	return !addr || ((may_try(c) || (c->result >= 0 && done >= n)) && put_sock_bytes(c, addr, n));
}

#endif
