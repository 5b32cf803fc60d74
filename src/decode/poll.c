#include "decode/show.h"

#include "base/buf.h"
#include "decode/layout.h"
#include "syscall/table.h"

#include <poll.h>
#include <sys/epoll.h>

static LAYOUT_SAME(pollfd, struct pollfd, (fd, FD), (events, POLL_EVENTS));
static LAYOUT_SAME(pollfd_out, struct pollfd, (fd, FD), (revents, POLL_EVENTS));

/* The events of a negative descriptor are not shown, because the kernel ignores them. */
static void one_pollfd(const struct decode *d, uint64_t addr, void *ctx)
{
	int32_t fd;
	bool ignored = decode_get(d, addr, &fd, sizeof(fd)) && fd < 0;
	(void)ctx;
	layout_emit(d, &layout_pollfd, addr, ignored ? sizeof(fd) : sizeof(struct pollfd));
}

void show_pollfds(const struct decode *d, const struct value *x)
{
	decode_array(d, x->v, (uint32_t)d->call->args[x->arg + 1], sizeof(struct pollfd), one_pollfd, NULL);
}

static void ready_pollfds(const struct decode *d)
{
	struct pollfd p;
	uint64_t n = (uint32_t)d->call->args[1];
	int64_t left = d->call->result;
	for (uint64_t i = 0; i < n && left > 0; i++) {
		uint64_t at = d->call->args[0] + i * sizeof(p);
		if (!decode_get(d, at, &p, sizeof(p)) || i >= 65536)
			break;
		if (!p.revents)
			continue;
		left--;
		emit_element(d->out);
		layout_emit(d, &layout_pollfd_out, at, sizeof(p));
	}
}

void decode_poll_result(const struct decode *d, int64_t v)
{
	emit_result(d->out, v, NULL, NULL);
	if (!v) {
		emit_returned(d->out, RETURNED_BEGIN);
		emit_sym(d->out, "Timeout", 0);
		emit_returned(d->out, RETURNED_END);
		return;
	}
	if (d->opts->shallow)
		return;
	/* ppoll(2) writes the remaining time to its third argument. The third argument of poll(2) is a number. */
	const struct syscall_desc *desc = d->call->desc;
	bool timed = desc->args[2].kind != K_INT && d->call->args[2];
	emit_returned(d->out, timed ? RETURNED_FIELDS : RETURNED_BEGIN);
	if (timed)
		emit_data_field(d->out, "ready");
	emit_open(d->out, '[');
	ready_pollfds(d);
	emit_close(d->out, ']');
	if (timed) {
		emit_field(d->out, "left");
		show_kind(d, desc->args[2].kind, d->call->args[2], -1);
	}
	emit_returned(d->out, RETURNED_END);
}

/* At most this number of descriptors of a set is shown. */
#define FD_SET_MOST 65536

/* Appends the descriptors below `n` that are in the set: [0 3</etc/passwd> 5]. */
static bool fd_set_text(const struct decode *d, uint64_t addr, uint64_t n, struct buf *text)
{
	uint8_t bytes[FD_SET_MOST / 8];
	struct emit e;
	struct decode plain = *d;
	size_t size = (size_t)((n < FD_SET_MOST ? n : FD_SET_MOST) + 7) / 8;
	size = (size + 7) & ~(size_t)7;
	if (!decode_get(d, addr, bytes, size))
		return false;
	plain.out = &e;
	buf_addc(text, '[');
	emit_text_init(&e, text, 0);
	for (uint64_t fd = 0; fd < n && fd < FD_SET_MOST; fd++)
		if (bytes[fd / 8] >> (fd % 8) & 1) {
			buf_adds(text, text->len > 1 ? " " : "");
			show_kind(&plain, K_FD, fd, -1);
		}
	buf_addc(text, ']');
	return true;
}

static uint64_t set_size(const struct decode *d)
{
	int32_t n = (int32_t)d->call->args[0];
	return n > 0 ? (uint64_t)n : 0;
}

void show_fd_set(const struct decode *d, const struct value *x)
{
	struct buf text = {0};
	if (fd_set_text(d, x->v, set_size(d), &text))
		emit_sym(d->out, buf_str(&text), x->v);
	else
		emit_ptr(d->out, x->v);
	buf_free(&text);
}

static void select_left(const struct decode *d)
{
	static const char *const names[] = {"in", "out", "except"};
	const struct syscall_desc *desc = d->call->desc;
	for (unsigned i = 0; i < 3; i++) {
		struct buf text = {0};
		if (fd_set_text(d, d->call->args[i + 1], set_size(d), &text) && text.len > 2) {
			emit_field(d->out, names[i]);
			emit_sym(d->out, buf_str(&text), 0);
		}
		buf_free(&text);
	}
	if (!d->call->args[4])
		return;
	emit_field(d->out, "left");
	show_kind(d, desc->args[4].kind, d->call->args[4], -1);
}

void decode_select_result(const struct decode *d, int64_t v)
{
	emit_result(d->out, v, NULL, NULL);
	if (v && d->opts->shallow)
		return;
	emit_returned(d->out, v ? RETURNED_FIELDS : RETURNED_BEGIN);
	if (v)
		select_left(d);
	else
		emit_sym(d->out, "Timeout", 0);
	emit_returned(d->out, RETURNED_END);
}

/*
 * The structure is packed only on x86-64 (uapi/linux/eventpoll.h). libc's struct has the layout of the native
 * architecture.
 */
void show_epoll_event(const struct decode *d, const struct value *x)
{
	struct epoll_event e;
	/* The kernel does not read the structure for EPOLL_CTL_DEL. */
	if (x->arg >= 0 && (uint32_t)d->call->args[1] == EPOLL_CTL_DEL) {
		emit_ptr(d->out, x->v);
		return;
	}
	if (!decode_need(d, x->v, &e, sizeof(e)))
		return;
	emit_open(d->out, '{');
	emit_field(d->out, "events");
	flags_emit(d->out, &flags_epoll_events, e.events);
	emit_field(d->out, "data");
	if (e.data.u64 >> 32 == 0) {
		emit_open(d->out, '{');
		show_field(d, "u32", K_ULONG, e.data.u32);
		show_field(d, "u64", K_ULONG, e.data.u64);
		emit_close(d->out, '}');
	} else {
		emit_hex(d->out, e.data.u64);
	}
	emit_close(d->out, '}');
}

static void one_event(const struct decode *d, uint64_t addr, void *ctx)
{
	(void)ctx;
	show_kind(d, K_EPOLL_EVENT, addr, -1);
}

void show_epoll_events(const struct decode *d, const struct value *x)
{
	decode_array(d, x->v, decode_returned(d), sizeof(struct epoll_event), one_event, NULL);
}
