/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/call_table.h"

#include <linux/time_types.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/times.h>
#include <time.h>
#include <utime.h>

/* Shows times, intervals and timers. */
/* Special values of tv_nsec in utimensat(2). */
#define NSEC_NOW  0x3fffffff
#define NSEC_OMIT 0x3ffffffe

static STRUCTURE(timespec32, M32(tv_sec, INT), M32(tv_nsec, INT));
static STRUCTURE(timeval32, M32(tv_sec, INT), M32(tv_usec, INT));

LAYOUT_NARROW(timespec, struct __kernel_timespec, &layout_timespec32, (tv_sec, LONG), (tv_nsec, LONG));
/* The structures of calls named ..._time64, which are the same for all word sizes. */
LAYOUT_SAME(timespec64, struct __kernel_timespec, (tv_sec, LONG), (tv_nsec, LONG));
STRUCTURE_NARROW(timeval, &layout_timeval32, M64(tv_sec, LONG), M64(tv_usec, LONG));
LAYOUT_NARROW(itimerval, struct __kernel_old_itimerval, &layout_itimerval32, (it_interval, TIMEVAL, AT),
	      (it_value, TIMEVAL, AT));
LAYOUT_SAME(itimerspec64, struct __kernel_itimerspec, (it_interval, TIMESPEC64, AT), (it_value, TIMESPEC64, AT));
LAYOUT_NARROW(itimerspec, struct __kernel_itimerspec, &layout_itimerspec32, (it_interval, TIMESPEC, AT),
	      (it_value, TIMESPEC, AT));

STRUCTURE_SAME(timezone, M32(tz_minuteswest, INT), M32(tz_dsttime, INT));

LAYOUT(utimbuf, struct utimbuf, (actime, LONG), (modtime, LONG));
void decode_ticks(struct emit *out, int64_t ticks)
{
	char text[40];
	emit_num(out, ticks);
	if (ticks <= 0)
		return;
	snprintf(text, sizeof(text), "%llu.%02u s", (unsigned long long)ticks / 100, (unsigned)(ticks % 100));
	emit_comment(out, text);
}

/* Shows seconds since 1970 and the date: 1795664285, with 2026-11-26T03:38:05+0000 as a comment. */
void show_seconds(const struct decode *d, const struct value *x)
{
	char text[40];
	int64_t v = decode_word(d) == 8 ? (int64_t)x->v : (int32_t)x->v;
	emit_num(d->out, v);
	if (decode_time_text(text, sizeof(text), v))
		emit_comment(d->out, text);
}

void show_ticks(const struct decode *d, const struct value *x)
{
	decode_ticks(d->out, (int64_t)x->v);
}

LAYOUT_NARROW(tms, struct tms, &layout_tms32, (tms_utime, TICKS), (tms_stime, TICKS), (tms_cutime, TICKS),
	      (tms_cstime, TICKS));
STRUCTURE(timex, M32(modes, ADJTIME), SKIP32(pad1), M64(offset, LONG), M64(freq, LONG), M64(maxerror, LONG),
	  M64(esterror, LONG), M32(status, ADJTIME_STATUS), SKIP32(pad2), M64(constant, LONG), M64(precision, LONG),
	  M64(tolerance, LONG), ARRAY(int64_t, time, 2, TIMEVAL), M64(tick, LONG), M64(ppsfreq, LONG),
	  M64(jitter, LONG), M32(shift, INT), SKIP32(pad3), M64(stabil, LONG), M64(jitcnt, LONG), M64(calcnt, LONG),
	  M64(errcnt, LONG), M64(stbcnt, LONG), M32(tai, INT), SKIPS(int32_t, pad4, 11));

bool decode_time_text(char *text, size_t n, int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	/* 253402300799 is the last second of the year 9999. */
	if (seconds <= 0 || seconds > 253402300799 || !gmtime_r(&t, &tm))
		return false;
	return strftime(text, n, "%Y-%m-%dT%H:%M:%S+0000", &tm) > 0;
}

/* Shows a time stamp: the structure and, as a comment, the date and time. */
static void stamp(const struct decode *d, const struct layout *l, uint64_t addr)
{
	const struct layout *here = layout_for(d, l);
	size_t word = here == l ? 8 : 4;
	int64_t v[2] = {0, 0};
	char text[40], whole[64];
	if (!here) {
		emit_ptr(d->out, addr);
		return;
	}
	layout_emit(d, here, addr, here->size);
	for (int i = 0; i < 2; i++) /* 32-bit times are signed, but a time before 1970 is not converted to a date */
		decode_get(d, addr + (uint64_t)i * word, &v[i], word);
	if (!decode_time_text(text, sizeof(text), v[0]))
		return;
	int digits = l == &layout_timeval ? 6 : 9;
	size_t zone = strlen(text) - strlen("+0000");
	if (v[1] > 0 && v[1] < (digits == 6 ? 1000000 : 1000000000))
		snprintf(whole, sizeof(whole), "%.*s.%0*lld+0000", (int)zone, text, digits, (long long)v[1]);
	else
		snprintf(whole, sizeof(whole), "%s", text);
	emit_comment(d->out, whole);
}

static void one_file_time(const struct decode *d, uint64_t addr, void *ctx)
{
	uint64_t ns = 0;
	(void)ctx;
	decode_get_word(d, addr + decode_word(d), &ns);
	if (ns == NSEC_NOW)
		emit_sym(d->out, "UTIME_NOW", NSEC_NOW);
	else if (ns == NSEC_OMIT)
		emit_sym(d->out, "UTIME_OMIT", NSEC_OMIT);
	else
		stamp(d, &layout_timespec, addr);
}

void show_timespec2(const struct decode *d, const struct value *x)
{
	decode_array(d, x->v, 2, decode_word(d) * 2, one_file_time, NULL);
}

static void one_old_time(const struct decode *d, uint64_t addr, void *ctx)
{
	(void)ctx;
	stamp(d, &layout_timeval, addr);
}

void show_stamp(const struct decode *d, const struct value *x)
{
	stamp(d, x->about, x->v);
}

void show_timeval2(const struct decode *d, const struct value *x)
{
	decode_array(d, x->v, 2, decode_word(d) * 2, one_old_time, NULL);
}

/* A sleep writes the remaining time only if a signal interrupted it (EINTR, or an error of syscall/restart.h). */
enum when when_remaining(const struct decode *d, int i)
{
	(void)i;
	return !d->leaving || (d->call->error && d->call->err != 14 && d->call->err != 22) ? WHEN_LEFT_EVEN : WHEN_LEFT;
}

/* clock_nanosleep(2): with TIMER_ABSTIME in the second argument, the kernel does not write the remaining time. */
enum when when_clock_remaining(const struct decode *d, int i)
{
	return d->call->args[1] & 1 ? WHEN_LEFT : when_remaining(d, i);
}

/* The kernel has written the remaining time only if the sleep was interrupted. */
void show_remaining(const struct decode *d, const struct value *x)
{
	if (d->call->error)
		show_kind(d, K_TIMESPEC, x->v, x->arg);
	else
		emit_ptr(d->out, x->v);
}

void show_clock(const struct decode *d, const struct value *x)
{
	int32_t clock = (int32_t)x->v;
	/*
	 * The clocks of processes, threads and devices contain a process id or a descriptor
	 * (include/linux/posix-timers.h).
	 */
	if (clock >= 0) {
		flags_emit_choice(d->out, &flags_clock, (uint32_t)clock);
		return;
	}
	char text[64];
	static const char *const which[] = {"CPUCLOCK_PROF", "CPUCLOCK_VIRT", "CPUCLOCK_SCHED", "3"};
	if ((clock & 7) == 3)
		snprintf(text, sizeof(text), "FD_TO_CLOCKID(%d)", ~(clock >> 3));
	else
		snprintf(text, sizeof(text), "MAKE_%s_CPUCLOCK(%d, %s)", clock & 4 ? "THREAD" : "PROCESS",
			 ~(clock >> 3), which[clock & 3]);
	emit_sym(d->out, text, (uint32_t)clock);
}

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
	auto_buf text = {0};
	if (fd_set_text(d, x->v, set_size(d), &text))
		emit_sym(d->out, buf_str(&text), x->v);
	else
		emit_ptr(d->out, x->v);
}

static void select_left(const struct decode *d)
{
	static const char *const names[] = {"in", "out", "except"};
	const struct syscall_desc *desc = d->call->desc;
	for (unsigned i = 0; i < 3; i++) {
		auto_buf text = {0};
		if (fd_set_text(d, d->call->args[i + 1], set_size(d), &text) && text.len > 2) {
			emit_field(d->out, names[i]);
			emit_sym(d->out, buf_str(&text), 0);
		}
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
