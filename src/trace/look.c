/* SPDX-License-Identifier: MIT */
#include "trace/look.h"

#include "base/buf.h"
#include "base/size.h"
#include "base/words.h"
#include "engine/engine.h"
#include "syscall/call_table.h"
#include "trace/select.h"
#include "tracee/mem.h"

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void trace_look_free(struct trace_look *l)
{
	filter_free(&l->abbrev.calls);
	filter_free(&l->verbose.calls);
	filter_free(&l->raw.calls);
	vec_free(&l->read.fds);
	vec_free(&l->write.fds);
}

void trace_look_stops(const struct trace_look *l, struct call_set *stops)
{
	struct filter enter = {0};
	size_t at;
	if (!l->namespaces || filter_parse(&enter, "?clone,?clone3,?unshare,?setns", &at, NULL) < 0)
		return;
	for (size_t i = 0; i < sizeof(stops->bits) / sizeof(*stops->bits); i++)
		stops->bits[i] |= enter.native[i];
	filter_free(&enter);
}

static int parse_calls(void *set, const char *text, size_t *at, struct buf *why)
{
	struct look_calls *s = set;
	filter_free(&s->calls);
	s->given = true;
	return filter_parse(&s->calls, text, at, why);
}

static int fd_word(void *ctx, const char *word, struct buf *why)
{
	struct look_fds *s = ctx;
	int64_t fd;
	if (number_parse(word, 0, INT_MAX, &fd) < 0) {
		buf_addf(why, "'%s' is not a descriptor; write numbers such as 3,4, or all", word);
		return -EINVAL;
	}
	vec_push(&s->fds, (int)fd);
	return 0;
}

static int parse_fds(void *set, const char *text, size_t *at, struct buf *why)
{
	struct look_fds *s = set;
	s->negated = text[0] == '!';
	const char *list = text + s->negated;
	s->all = strcmp(list, "all") == 0;
	s->fds.n = 0;
	if (s->all || strcmp(list, "none") == 0)
		return 0;
	int r = trace_each_word(list, fd_word, s, at, why);
	*at += s->negated;
	return r;
}

static const struct {
	const char *name;
	unsigned bits;
} messages[] = {
	{"attach", QUIET_ATTACH},
	{"exit", QUIET_EXIT},
	{"exits", QUIET_EXIT},
	{"path-resolution", 0},
	{"path-resolve", 0},
	{"path", 0},
	{"personality", 0},
	{"superseded", QUIET_EXECVE},
	{"thread-execve", QUIET_EXECVE},
	{"thread-exec", QUIET_EXECVE},
	{"all", QUIET_ALL},
	{"none", 0},
};

/* Adds the messages that `word` names to *ctx. Words for messages that only strace prints add nothing. */
static int message_word(void *ctx, const char *word, struct buf *why)
{
	struct near near = {.word = word};
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		near_offer(&near, messages[i].name);
		if (strcmp(messages[i].name, word) != 0)
			continue;
		*(unsigned *)ctx |= messages[i].bits;
		return 0;
	}
	buf_addf(why, "'%s' is not one of attach, exit, thread-execve, all", word);
	near_say(&near, "", why);
	return -EINVAL;
}

static int parse_quiet(void *bits, const char *text, size_t *at, struct buf *why)
{
	unsigned *quiet = bits;
	bool negated = text[0] == '!';
	*quiet = 0;
	int r = trace_each_word(text + negated, message_word, quiet, at, why);
	*at += negated;
	if (negated)
		*quiet = ~*quiet & QUIET_ALL;
	return r;
}

static int fd_name_word(void *ctx, const char *word, struct buf *why)
{
	static const struct {
		const char *word;
		unsigned names;
	} words[] = {{"none", FD_NUMBERS},     {"path", FD_PATHS},        {"paths", FD_PATHS}, {"all", FD_IN_FULL},
		     {"socket", FD_SOCKETS},   {"sockets", FD_SOCKETS},   {"dev", FD_DEVICES}, {"pidfd", FD_PIDFDS},
		     {"eventfd", FD_EVENTFDS}, {"signalfd", FD_SIGNALFDS}};
	unsigned *names = ctx;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i].word, word) == 0) {
			*names |= words[i].names;
			return 0;
		}
	buf_addf(why, "'%s' is not one of path, socket, dev, pidfd, eventfd, signalfd, all, none", word);
	return -EINVAL;
}

int trace_look_fd_names(void *names, const char *list, size_t *at, struct buf *why)
{
	*(unsigned *)names = FD_NUMBERS;
	return trace_each_word(list, fd_name_word, names, at, why);
}

static int pid_word(void *look, const char *word, struct buf *why)
{
	struct trace_look *l = look;
	bool all = strcmp(word, "all") == 0, comm = strcmp(word, "comm") == 0, outer = strcmp(word, "pidns") == 0;
	if (!all && !comm && !outer && strcmp(word, "none") != 0) {
		buf_addf(why, "'%s' is not one of comm (the name of a process), pidns, all, none", word);
		return -EINVAL;
	}
	l->pid_names |= all || comm;
	l->outer_ids |= all || outer;
	return 0;
}

int trace_look_pids(void *look, const char *list, size_t *at, struct buf *why)
{
	struct trace_look *l = look;
	l->pid_names = 0;
	l->outer_ids = false;
	return trace_each_word(list, pid_word, look, at, why);
}

static int parse_namespace(void *namespaces, const char *text, size_t *at, struct buf *why)
{
	*at = 0;
	*(bool *)namespaces = strcmp(text, "new") == 0;
	if (*(bool *)namespaces)
		return 0;
	buf_addf(why, "'%s' is not new; namespace=new prints the namespaces that processes enter", text);
	return -EINVAL;
}

int trace_look_parse(struct trace_look *l, const char *name, size_t len, const char *value, size_t *at, struct buf *why)
{
#define AT(member) offsetof(struct trace_look, member)
	static const struct trace_part parts[] = {
		{"abbrev a", parse_calls, AT(abbrev)},
		{"verbose v", parse_calls, AT(verbose)},
		{"raw x", parse_calls, AT(raw)},
		{"read reads r", parse_fds, AT(read)},
		{"write writes w", parse_fds, AT(write)},
		{"quiet silent silence q", parse_quiet, AT(quiet)},
		{"decode-fds decode-fd", trace_look_fd_names, AT(fd_names)},
		{"decode-pids decode-pid", trace_look_pids, 0},
		{"namespace", parse_namespace, AT(namespaces)},
		{0},
	};
#undef AT
	return trace_part_parse(parts, l, name, len, value, at, why);
}

int trace_look_constants(struct trace_look *l, const char *word, struct buf *why)
{
	static const char *const words[] = {
		[CONSTANTS_NAMED] = "abbrev", [CONSTANTS_RAW] = "raw", [CONSTANTS_BOTH] = "verbose"};
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], word) == 0) {
			l->constants = (enum trace_constants)i;
			return 0;
		}
	buf_addf(why, "'%s' is not one of raw, abbrev, verbose", word);
	return -EINVAL;
}

static bool chosen(const struct look_calls *s, const struct call *c, bool otherwise)
{
	return s->given ? filter_takes(&s->calls, c) : otherwise;
}

bool trace_look_full(const struct trace_look *l, const struct call *c)
{
	return !chosen(&l->abbrev, c, true);
}

bool trace_look_deep(const struct trace_look *l, const struct call *c)
{
	return chosen(&l->verbose, c, true);
}

bool trace_look_raw(const struct trace_look *l, const struct call *c)
{
	return chosen(&l->raw, c, false);
}

bool trace_look_has_fd(const struct look_fds *s, int fd)
{
	bool in = s->all;
	for (size_t i = 0; !in && i < s->fds.n; i++)
		in = s->fds.v[i] == fd;
	return in != s->negated;
}

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
