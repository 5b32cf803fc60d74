/* SPDX-License-Identifier: MIT */
/* Shows I/O vectors, and messages with addresses and control data. */
#include "decode/show.h"

#include "decode/layout.h"
#include "syscall/call_table.h"

#include <stdio.h>
#include <sys/socket.h>

/* Only this number of bytes of control data is shown. */
#define CONTROL_MOST 4096

void show_sock_bytes(const struct decode *d, const struct value *x)
{
	if (!decode_netlink(d, x->v, d->call->args[x->arg + 1]))
		show_in_bytes(d, x);
}

void show_out_sock_bytes(const struct decode *d, const struct value *x)
{
	/* With MSG_TRUNC, the result is the length of the whole message, but the buffer contains only its beginning. */
	uint64_t n = decode_returned(d);
	n = n < d->call->args[x->arg + 1] ? n : d->call->args[x->arg + 1];
	if (!n || !decode_netlink(d, x->v, n))
		decode_bytes(d, x->v, n);
}

struct iovec_walk {
	uint64_t left; /* number of bytes that still have to be shown */
	bool socket;   /* the vectors are a part of a message, which may be a netlink message */
	bool pointers; /* only the addresses of the buffers are shown */
};

static void one_iovec(const struct decode *d, uint64_t addr, void *ctx)
{
	struct iovec_walk *w = ctx;
	unsigned word = decode_word(d);
	uint64_t base, len;
	if (!decode_get_word(d, addr, &base) || !decode_get_word(d, addr + word, &len)) {
		emit_ptr(d->out, addr);
		return;
	}
	uint64_t shown = len < w->left ? len : w->left;
	emit_open(d->out, '{');
	emit_field(d->out, "iov_base");
	if (w->pointers)
		emit_ptr(d->out, base);
	else if (!w->socket || !decode_netlink(d, base, shown))
		decode_bytes(d, base, shown);
	w->left -= shown;
	show_field(d, "iov_len", K_ULONG, len);
	emit_close(d->out, '}');
}

/* Shows `n` I/O vectors at `addr`. `w` says how much of their buffers is shown. */
static void iovec(const struct decode *d, uint64_t addr, uint64_t n, struct iovec_walk w)
{
	decode_array(d, addr, n, 2 * (size_t)decode_word(d), one_iovec, &w);
}

void decode_iovec(const struct decode *d, uint64_t addr, uint64_t n, bool pointers)
{
	iovec(d, addr, n, (struct iovec_walk){.left = UINT64_MAX, .pointers = pointers});
}

void show_in_iovec(const struct decode *d, const struct value *x)
{
	iovec(d, x->v, d->call->args[x->arg + 1], (struct iovec_walk){.left = UINT64_MAX});
}

void show_out_iovec(const struct decode *d, const struct value *x)
{
	iovec(d, x->v, d->call->args[x->arg + 1], (struct iovec_walk){.left = decode_returned(d)});
}

/* Shows only the addresses, because this memory belongs to another process. */
void show_remote_iovec(const struct decode *d, const struct value *x)
{
	iovec(d, x->v, d->call->args[x->arg + 1], (struct iovec_walk){.pointers = true});
}

struct control_header {
	uint64_t len;
	int32_t level, type;
};
struct narrow_control_header {
	uint32_t len;
	int32_t level, type;
};

/* Returns the size of the header, which is also the offset of the data. */
static size_t control_header_size(const struct decode *d)
{
	return decode_word(d) == 8 ? sizeof(struct control_header) : sizeof(struct narrow_control_header);
}

static bool get_control_header(const struct decode *d, uint64_t at, struct control_header *h)
{
	struct narrow_control_header n;
	if (decode_word(d) == 8)
		return decode_get(d, at, h, sizeof(*h));
	if (!decode_get(d, at, &n, sizeof(n)))
		return false;
	*h = (struct control_header){n.len, n.level, n.type};
	return true;
}

/* struct sock_extended_err (linux/errqueue.h), which the address of the sender of the error follows, longer for IPv6 */
static STRUCTURE_SAME(queued_error, M32(ee_errno, ERRNO), M8(ee_origin, ERROR_ORIGIN), M8(ee_type, UINT),
		      M8(ee_code, UINT), SKIP8(ee_pad), M32(ee_info, UINT), M32(ee_data, UINT),
		      ARRAY(char, offender, 16, SOME_ADDRESS));
/* struct tpacket_auxdata (linux/if_packet.h) */
static STRUCTURE_SAME(packet_auxdata, M32(tp_status, HEX), M32(tp_len, UINT), M32(tp_snaplen, UINT), M16(tp_mac, UINT),
		      M16(tp_net, UINT), M16(tp_vlan_tci, HEX), M16(tp_vlan_tpid, HEX));

/* Control messages that contain a structure, or an array of `n` structures. */
static const struct {
	int32_t level, type;
	const struct layout *layout;
	unsigned n;
} controls[] = {
	{SOL_SOCKET, 2, &layout_ucred, 1},        /* SCM_CREDENTIALS */
	{SOL_SOCKET, 29, &layout_timeval, 1},     /* SCM_TIMESTAMP_OLD */
	{SOL_SOCKET, 35, &layout_timespec, 1},    /* SCM_TIMESTAMPNS_OLD */
	{SOL_SOCKET, 37, &layout_timespec, 3},    /* SCM_TIMESTAMPING_OLD */
	{SOL_SOCKET, 63, &layout_new_timeval, 1}, /* SCM_TIMESTAMP_NEW */
	{SOL_SOCKET, 64, &layout_timespec64, 1},  /* SCM_TIMESTAMPNS_NEW */
	{SOL_SOCKET, 65, &layout_timespec64, 3},  /* SCM_TIMESTAMPING_NEW */
	{0, 8, &layout_in_pktinfo, 1},            /* IP_PKTINFO */
	{0, 11, &layout_queued_error, 1},         /* IP_RECVERR */
	{41, 25, &layout_queued_error, 1},        /* IPV6_RECVERR */
	{41, 50, &layout_in6_pktinfo, 1},         /* IPV6_PKTINFO */
	{263, 8, &layout_packet_auxdata, 1},      /* PACKET_AUXDATA */
};
/* Control messages that contain a single value. */
static const struct {
	int32_t level, type;
	enum syscall_kind kind;
	unsigned size; /* 0: the kind shows the memory itself */
} control_kinds[] = {
	{0, 1, K_HEX, 1},            /* IP_TOS, which has one byte if it was received */
	{0, 20, K_SOME_ADDRESS, 0},  /* IP_ORIGDSTADDR */
	{41, 67, K_HEX, 4},          /* IPV6_TCLASS */
	{41, 74, K_SOME_ADDRESS, 0}, /* IPV6_ORIGDSTADDR */
};

/* Returns the size of the shortest message with this structure. Only the sender of an error may be missing. */
static size_t control_least(const struct layout *l, unsigned n)
{
	return l == &layout_queued_error ? offsetof(struct kernel_queued_error, offender) : n * l->size;
}

/* Shows the structure in a control message of `n` bytes at `at`. Returns false if it is not one of those above. */
static bool control_struct(const struct decode *d, const struct control_header *h, uint64_t at, uint64_t n)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++) {
		const struct layout *l = layout_for(d, controls[i].layout);
		if (controls[i].level != h->level || controls[i].type != h->type || !l ||
		    n < control_least(l, controls[i].n))
			continue;
		if (controls[i].n == 1)
			layout_emit(d, l, at, n < l->size ? n : l->size);
		else
			layout_emit_array(d, controls[i].layout, at, controls[i].n);
		return true;
	}
	return false;
}

/* Like control_struct(), for the messages in control_kinds. */
static bool control_kind(const struct decode *d, const struct control_header *h, uint64_t at, uint64_t n)
{
	const size_t least = 16; /* bytes of a struct sockaddr_in */
	for (size_t i = 0; i < sizeof(control_kinds) / sizeof(*control_kinds); i++) {
		unsigned size = control_kinds[i].size;
		if (control_kinds[i].level != h->level || control_kinds[i].type != h->type ||
		    (size ? n != size : n < least))
			continue;
		if (size)
			decode_number(d, at, size, control_kinds[i].kind);
		else
			show_kind(d, control_kinds[i].kind, at, -1);
		return true;
	}
	return false;
}

static void control_value(const struct decode *d, const struct control_header *h, uint64_t at, uint64_t n)
{
	enum { RIGHTS = 1, PIDFD = 4 };
	if (h->level == SOL_SOCKET && (h->type == RIGHTS || h->type == PIDFD))
		decode_numbers(d, at, n / sizeof(int), sizeof(int), K_FD);
	else if (control_struct(d, h, at, n) || control_kind(d, h, at, n))
		return;
	else if (n == sizeof(int))
		decode_number(d, at, sizeof(int), K_INT);
	else
		decode_bytes(d, at, n);
}

static void control_type(const struct decode *d, const struct control_header *h)
{
	const struct flag_table *t = h->level == SOL_SOCKET ? &flags_scm : sockopt_names((uint32_t)h->level);
	if (t)
		flags_emit_choice(d->out, t, (uint32_t)h->type);
	else
		emit_hex(d->out, (uint32_t)h->type);
}

/* Shows a chain of struct cmsghdr (cmsg(3)), each of which is aligned to a word. */
static void control_data(const struct decode *d, uint64_t addr, uint64_t len)
{
	struct control_header h;
	uint64_t at = addr, end = addr + (len < CONTROL_MOST ? len : CONTROL_MOST);
	size_t size = control_header_size(d), word = decode_word(d);
	if (!get_control_header(d, addr, &h)) {
		emit_ptr(d->out, addr);
		return;
	}
	emit_open(d->out, '[');
	while (end - at >= size && get_control_header(d, at, &h)) {
		emit_element(d->out);
		emit_open(d->out, '{');
		show_field(d, "cmsg_len", K_ULONG, h.len);
		show_field(d, "cmsg_level", K_SOL_LEVEL, (uint32_t)h.level);
		emit_field(d->out, "cmsg_type");
		control_type(d, &h);
		bool sane = h.len >= size && h.len <= end - at;
		if (sane && h.len > size) {
			emit_field(d->out, "cmsg_data");
			control_value(d, &h, at + size, h.len - size);
		}
		emit_close(d->out, '}');
		uint64_t step = (h.len + word - 1) & ~(uint64_t)(word - 1);
		if (!sane || step > end - at)
			break;
		at += step;
	}
	if (len > CONTROL_MOST)
		emit_more(d->out);
	emit_close(d->out, ']');
}

struct message {
	uint64_t name;
	uint32_t namelen, pad1;
	uint64_t iov, iovlen, control, controllen;
	int32_t flags, pad2;
};
struct narrow_message {
	uint32_t name, namelen, iov, iovlen, control, controllen;
	int32_t flags;
};

static bool get_message(const struct decode *d, uint64_t addr, struct message *m)
{
	struct narrow_message n;
	if (decode_word(d) == 8)
		return decode_get(d, addr, m, sizeof(*m));
	if (!decode_get(d, addr, &n, sizeof(n)))
		return false;
	*m = (struct message){n.name, n.namelen, 0, n.iov, n.iovlen, n.control, n.controllen, n.flags, 0};
	return true;
}

void decode_length(const struct decode *d, uint32_t v)
{
	char before[24];
	if (d->leaving && d->memo && d->memo->known && d->memo->length != v) {
		snprintf(before, sizeof(before), "%u => ", d->memo->length);
		emit_wrap(d->out, before);
	}
	emit_unum(d->out, v);
}

void show_socklen(const struct decode *d, const struct value *x)
{
	uint32_t len;
	if (!decode_need(d, x->v, &len, sizeof(len)))
		return;
	emit_open(d->out, '[');
	emit_element(d->out);
	decode_length(d, len);
	emit_close(d->out, ']');
}

/* Shows the members of a struct msghdr after the I/O vectors. */
static void message_tail(const struct decode *d, const struct message *m)
{
	if (m->controllen && m->control) {
		emit_field(d->out, "msg_control");
		control_data(d, m->control, m->controllen);
	}
	show_field(d, "msg_controllen", K_ULONG, m->controllen);
	show_field(d, "msg_flags", K_MSG_FLAGS, (uint32_t)m->flags);
}

/* Shows a message and `bytes` bytes of its data. */
static void message(const struct decode *d, uint64_t addr, uint64_t bytes, bool received)
{
	struct message m;
	if (!get_message(d, addr, &m)) {
		emit_ptr(d->out, addr);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "msg_name");
	if (m.name && m.namelen)
		decode_sockaddr(d, m.name, m.namelen);
	else
		emit_ptr(d->out, m.name);
	emit_field(d->out, "msg_namelen");
	if (received)
		decode_length(d, m.namelen);
	else
		emit_unum(d->out, m.namelen);
	emit_field(d->out, "msg_iov");
	iovec(d, m.iov, m.iovlen, (struct iovec_walk){.left = bytes, .socket = true});
	show_field(d, "msg_iovlen", K_ULONG, m.iovlen);
	message_tail(d, &m);
	emit_close(d->out, '}');
}

void show_in_msghdr(const struct decode *d, const struct value *x)
{
	message(d, x->v, UINT64_MAX, false);
}

void show_out_msghdr(const struct decode *d, const struct value *x)
{
	message(d, x->v, decode_returned(d), true);
}

/* Returns the size of a struct msghdr of the program. */
static size_t message_size(const struct decode *d)
{
	return decode_word(d) == 8 ? sizeof(struct message) : sizeof(struct narrow_message);
}

/* Returns the size of a struct mmsghdr: a struct msghdr, followed by the number of bytes that were transferred. */
static size_t mmsg_size(const struct decode *d)
{
	return message_size(d) + decode_word(d);
}

unsigned decode_mmsg_lengths(const struct decode *d, uint64_t addr, uint64_t n, uint32_t *lengths, unsigned most)
{
	unsigned i = 0;
	/* In a struct msghdr, the length follows the pointer to the address. */
	while (i < n && i < most &&
	       decode_get(d, addr + i * mmsg_size(d) + decode_word(d), &lengths[i], sizeof(*lengths)))
		i++;
	return i;
}

struct mmsg_walk {
	bool received;
	unsigned index;
	uint64_t left; /* number of messages that still have to be shown and that the call has transferred */
};

static void one_mmsg(const struct decode *d, uint64_t addr, void *ctx)
{
	struct mmsg_walk *w = ctx;
	uint32_t len = 0;
	bool known = decode_get(d, addr + message_size(d), &len, sizeof(len));
	if (w->received && d->memo) {
		d->memo->known = w->index < d->memo->messages;
		d->memo->length = d->memo->known ? d->memo->lengths[w->index] : 0;
		w->index++;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "msg_hdr");
	message(d, addr, w->received ? len : UINT64_MAX, w->received);
	if (known && w->left)
		show_field(d, "msg_len", K_ULONG, len);
	w->left -= w->left > 0;
	emit_close(d->out, '}');
}

void show_in_mmsg(const struct decode *d, const struct value *x)
{
	struct mmsg_walk w = {.left = decode_returned(d)};
	decode_array(d, x->v, (uint32_t)d->call->args[x->arg + 1], mmsg_size(d), one_mmsg, &w);
}

void show_out_mmsg(const struct decode *d, const struct value *x)
{
	struct mmsg_walk w = {.received = true, .left = decode_returned(d)};
	decode_array(d, x->v, w.left, mmsg_size(d), one_mmsg, &w);
}

/* recvmmsg(2) writes the remaining time if it has received a message. */
void decode_recvmmsg_result(const struct decode *d, int64_t v)
{
	uint64_t timeout = d->call->args[4];
	emit_result(d->out, v, NULL, NULL);
	if (v <= 0 || !timeout || d->opts->shallow)
		return;
	emit_returned(d->out, RETURNED_FIELDS);
	emit_field(d->out, "left");
	show_kind(d, d->call->desc->args[4].kind, timeout, -1);
	emit_returned(d->out, RETURNED_END);
}
