/* iovecs, and messages with addresses and control data. */
#include "decode/net.h"

#include "decode/layout.h"

#include <string.h>
#include <sys/socket.h>

/* Control data is looked at up to here. */
#define CONTROL_MOST 4096

struct iovec_walk {
	uint64_t left; /* bytes that are still to be shown */
	bool pointers; /* show where they point at */
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
	else
		decode_bytes(d, base, shown);
	w->left -= shown;
	emit_field(d->out, "iov_len");
	emit_unum(d->out, len);
	emit_close(d->out, '}');
}

void decode_iovec(const struct decode *d, uint64_t addr, uint64_t n, uint64_t bytes)
{
	struct iovec_walk w = {.left = bytes, .pointers = !bytes};
	decode_array(d, addr, n, 2 * (size_t)decode_word(d), one_iovec, &w);
}

void show_in_iovec(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	(void)k;
	decode_iovec(d, v, d->call->args[i + 1], UINT64_MAX);
}

void show_out_iovec(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	(void)k;
	struct iovec_walk w = {.left = d->call->result > 0 ? (uint64_t)d->call->result : 0};
	decode_array(d, v, d->call->args[i + 1], 2 * (size_t)decode_word(d), one_iovec, &w);
}

/* Of another process: only where they point at. */
void show_remote_iovec(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	(void)k;
	decode_iovec(d, v, d->call->args[i + 1], 0);
}

struct control_header {
	uint64_t len;
	int32_t level, type;
};

static void control_value(const struct decode *d, const struct control_header *h, uint64_t at, uint64_t n)
{
	enum { RIGHTS = 1, CREDENTIALS = 2, PIDFD = 4, TIMESTAMP = 29, TIMESTAMPNS = 35 };
	if (h->level == SOL_SOCKET && (h->type == RIGHTS || h->type == PIDFD))
		decode_numbers(d, at, n / sizeof(int), sizeof(int), K_FD);
	else if (h->level == SOL_SOCKET && h->type == CREDENTIALS && n >= layout_ucred.size)
		layout_emit(d, &layout_ucred, at, layout_ucred.size);
	else if (h->level == SOL_SOCKET && h->type == TIMESTAMP && n >= layout_timeval.size)
		layout_emit(d, &layout_timeval, at, layout_timeval.size);
	else if (h->level == SOL_SOCKET && h->type == TIMESTAMPNS && n >= layout_timespec.size)
		layout_emit(d, &layout_timespec, at, layout_timespec.size);
	else if (h->level == 0 && h->type == 8 && n >= layout_in_pktinfo.size) /* IP_PKTINFO */
		layout_emit(d, &layout_in_pktinfo, at, layout_in_pktinfo.size);
	else if (h->level == 41 && h->type == 50 && n >= layout_in6_pktinfo.size) /* IPV6_PKTINFO */
		layout_emit(d, &layout_in6_pktinfo, at, layout_in6_pktinfo.size);
	else if (n == sizeof(int))
		decode_numbers(d, at, 1, sizeof(int), K_INT);
	else
		decode_bytes(d, at, n);
}

static void control_type(const struct decode *d, const struct control_header *h)
{
	const struct flag_table *t = h->level == SOL_SOCKET ? &flags_scm
				     : h->level == 0        ? &flags_ip
				     : h->level == 41       ? &flags_ipv6
				     : h->level == 17       ? &flags_udp
							    : NULL;
	if (t)
		flags_emit_choice(d->out, t, (uint32_t)h->type);
	else
		emit_hex(d->out, (uint32_t)h->type);
}

/* A chain of cmsghdr (cmsg(3)), each aligned to 8 bytes. */
static void control_data(const struct decode *d, uint64_t addr, uint64_t len)
{
	struct control_header h;
	uint64_t at = addr, end = addr + (len < CONTROL_MOST ? len : CONTROL_MOST);
	if (decode_word(d) != 8 || !decode_get(d, addr, &h, sizeof(h))) {
		emit_ptr(d->out, addr);
		return;
	}
	emit_open(d->out, '[');
	while (end - at >= sizeof(h) && decode_get(d, at, &h, sizeof(h))) {
		emit_element(d->out);
		emit_open(d->out, '{');
		emit_field(d->out, "cmsg_len");
		emit_unum(d->out, h.len);
		emit_field(d->out, "cmsg_level");
		flags_emit_choice(d->out, &flags_sol, (uint32_t)h.level);
		emit_field(d->out, "cmsg_type");
		control_type(d, &h);
		bool sane = h.len >= sizeof(h) && h.len <= end - at;
		if (sane && h.len > sizeof(h)) {
			emit_field(d->out, "cmsg_data");
			control_value(d, &h, at + sizeof(h), h.len - sizeof(h));
		}
		emit_close(d->out, '}');
		uint64_t step = (h.len + 7) & ~7ull;
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

/* The members after the data; flags are what the kernel sets, so they count when a message was received. */
static void message_tail(const struct decode *d, const struct message *m, bool received)
{
	if (m->controllen && m->control) {
		emit_field(d->out, "msg_control");
		control_data(d, m->control, m->controllen);
	}
	emit_field(d->out, "msg_controllen");
	emit_unum(d->out, m->controllen);
	emit_field(d->out, "msg_flags");
	flags_emit(d->out, &flags_msg, received ? (uint32_t)m->flags : (uint32_t)m->flags);
}

/* `bytes` of the data are shown. */
static void message(const struct decode *d, uint64_t addr, uint64_t bytes, bool received)
{
	struct message m;
	if (decode_word(d) != 8 || !decode_get(d, addr, &m, sizeof(m))) {
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
	emit_unum(d->out, m.namelen);
	emit_field(d->out, "msg_iov");
	struct iovec_walk w = {.left = bytes};
	decode_array(d, m.iov, m.iovlen, 16, one_iovec, &w);
	emit_field(d->out, "msg_iovlen");
	emit_unum(d->out, m.iovlen);
	message_tail(d, &m, received);
	emit_close(d->out, '}');
}

void show_in_msghdr(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	(void)k, (void)i;
	message(d, v, UINT64_MAX, false);
}

void show_out_msghdr(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	(void)k, (void)i;
	message(d, v, d->call->result > 0 ? (uint64_t)d->call->result : 0, true);
}

/* struct mmsghdr: a message, then how many bytes of it went through. */
#define MMSG_SIZE 64

static void one_mmsg(const struct decode *d, uint64_t addr, void *ctx)
{
	const bool *received = ctx;
	uint32_t len = 0;
	bool known = decode_get(d, addr + sizeof(struct message), &len, sizeof(len));
	emit_open(d->out, '{');
	emit_field(d->out, "msg_hdr");
	message(d, addr, *received ? len : UINT64_MAX, *received);
	if (known && (*received || d->leaving)) {
		emit_field(d->out, "msg_len");
		emit_unum(d->out, len);
	}
	emit_close(d->out, '}');
}

void show_in_mmsg(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	bool received = false;
	(void)k;
	decode_array(d, v, (uint32_t)d->call->args[i + 1], MMSG_SIZE, one_mmsg, &received);
}

void show_out_mmsg(const struct decode *d, const struct kind *k, uint64_t v, int i)
{
	bool received = true;
	(void)k, (void)i;
	decode_array(d, v, d->call->result > 0 ? (uint64_t)d->call->result : 0, MMSG_SIZE, one_mmsg, &received);
}
