/* SPDX-License-Identifier: MIT */
/*
 * Shows numbers, descriptors, strings and arrays, and values by the function in the row of their kind. All other kinds
 * use these functions. Such a function calls show_kind() for the parts of a value, so this is recursive.
 */
#include "decode/show.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/memory.h"
#include "decode/kinds.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/*
 * The limit for the bytes of a string, even if -s allows more. A program must not be able to make sctrace use any
 * amount of memory.
 */
#define STRING_MOST (1u << 20)

/*
 * The limit for the text of an array, even if -s allows more. The text of nested arrays of strings would otherwise be
 * too long.
 */
#define ARRAY_BYTES_MOST (8u << 20)

uint64_t decode_frame_mask(const struct call *c)
{
	return c->sp + (c->arch == AUDIT_ARCH_AARCH64 ? 128 + 40 : 296);
}

unsigned decode_word(const struct decode *d)
{
	return syscall_word_size(d->call);
}

bool decode_get(const struct decode *d, uint64_t addr, void *to, size_t n)
{
	return d->mem && addr && !d->opts->shallow && mem_get(d->mem, addr, to, n) == 0;
}

bool decode_need(const struct decode *d, uint64_t addr, void *to, size_t n)
{
	bool got = decode_get(d, addr, to, n);
	if (!got)
		emit_ptr(d->out, addr);
	return got;
}

bool decode_get_word(const struct decode *d, uint64_t addr, uint64_t *v)
{
	uint32_t half;
	if (decode_word(d) == 8)
		return decode_get(d, addr, v, sizeof(*v));
	if (!decode_get(d, addr, &half, sizeof(half)))
		return false;
	*v = half;
	return true;
}

uint64_t decode_returned(const struct decode *d)
{
	return d->call->result > 0 ? (uint64_t)d->call->result : 0;
}

void show_int(const struct decode *d, const struct value *x)
{
	emit_num(d->out, (int32_t)x->v);
}

void show_uint(const struct decode *d, const struct value *x)
{
	emit_unum(d->out, (uint32_t)x->v);
}

void show_long(const struct decode *d, const struct value *x)
{
	emit_num(d->out, decode_word(d) == 4 && x->arg >= 0 ? (int32_t)x->v : (int64_t)x->v);
}

void show_ulong(const struct decode *d, const struct value *x)
{
	emit_unum(d->out, x->v);
}

void show_hex(const struct decode *d, const struct value *x)
{
	emit_hex(d->out, x->v);
}

void show_octal(const struct decode *d, const struct value *x)
{
	emit_oct(d->out, (uint32_t)x->v);
}

void show_pointer(const struct decode *d, const struct value *x)
{
	emit_ptr(d->out, x->v);
}

void show_flags(const struct decode *d, const struct value *x)
{
	flags_emit(d->out, x->about, x->v);
}

void show_choice(const struct decode *d, const struct value *x)
{
	flags_emit_choice(d->out, x->about, x->v);
}

/* The kernel uses this argument as an int and ignores the upper half of the register. */
void show_flags32(const struct decode *d, const struct value *x)
{
	flags_emit(d->out, x->about, (uint32_t)x->v);
}

void show_choice32(const struct decode *d, const struct value *x)
{
	flags_emit_choice(d->out, x->about, (uint32_t)x->v);
}

/* Returns which member of enum decode_fd_names shows more of an object than its path, or 0. */
static unsigned kind_of_fd(const char *path)
{
	static const struct {
		const char *begins;
		unsigned kind;
	} kinds[] = {{"socket:[", FD_SOCKETS},
		     {"anon_inode:[pidfd]", FD_PIDFDS},
		     {"anon_inode:[eventfd]", FD_EVENTFDS},
		     {"anon_inode:[signalfd]", FD_SIGNALFDS}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(path, kinds[i].begins, strlen(kinds[i].begins)) == 0)
			return kinds[i].kind;
	return 0;
}

/* Finds what a descriptor refers to, as far as it is shown. Returns false if it is shown as a number. */
static bool find_fd(const struct decode *d, int fd, struct decode_fd *f)
{
	const struct names *n = d->opts->names;
	unsigned shown = d->opts->fd_names;
	if (shown == FD_IN_FULL || shown == FD_PATHS) {
		if (!(shown == FD_PATHS ? n->fd : n->fd_in_full)(n->ctx, d->pid, fd, &f->name))
			return false;
	} else if (!n->fd(n->ctx, d->pid, fd, &f->name)) {
		return false;
	} else if (shown & kind_of_fd(buf_str(&f->name))) {
		buf_clear(&f->name);
		return n->fd_in_full(n->ctx, d->pid, fd, &f->name);
	}
	if (shown & FD_DEVICES && n->device && n->device(n->ctx, d->pid, fd, &f->device))
		f->is.device = buf_str(&f->device);
	return shown & FD_PATHS || f->is.device;
}

const struct emit_is *decode_fd_is(const struct decode *d, int fd, struct decode_fd *f)
{
	const struct names *n = d->opts->names;
	*f = (struct decode_fd){0};
	if (!n || d->opts->fd_names == FD_NUMBERS || !find_fd(d, fd, f))
		return NULL;
	size_t suffix = strlen(NAMES_DELETED);
	if (f->name.len > suffix && strcmp(buf_str(&f->name) + f->name.len - suffix, NAMES_DELETED) == 0)
		f->is.deleted = n->deleted && n->deleted(n->ctx, d->pid, fd);
	if (f->is.deleted)
		buf_truncate(&f->name, f->name.len - suffix);
	if (strncmp(buf_str(&f->name), NAMES_SIGNALFD, strlen(NAMES_SIGNALFD)) == 0) {
		uint64_t set = strtoull(buf_str(&f->name) + strlen(NAMES_SIGNALFD), NULL, 16);
		buf_truncate(&f->name, strlen(NAMES_SIGNALFD));
		decode_signal_set(&f->name, set, true, false);
	}
	f->is.name = buf_str(&f->name);
	return &f->is;
}

void decode_fd_free(struct decode_fd *f)
{
	buf_free(&f->name);
	buf_free(&f->device);
}

bool decode_pid_name(const struct decode *d, int pid, struct buf *out)
{
	const struct names *n = d->opts->names;
	auto_buf name = {0};
	bool wanted = n && d->opts->pid_names && pid > 0;
	/* In another pid namespace, the number belongs to another process. */
	pid_t outer = wanted && n->outer_id ? n->outer_id(n->ctx, d->pid, pid) : pid;
	bool known = wanted && outer && n->comm(n->ctx, outer, &name);
	escape_angled(out, buf_str(&name), name.len, false);
	return known;
}

void decode_outer_id(const struct decode *d, int pid)
{
	const struct names *n = d->opts->names;
	char text[64];
	pid_t outer = n && d->opts->outer_ids && n->outer_id && pid > 0 ? n->outer_id(n->ctx, d->pid, pid) : 0;
	if (!outer || outer == pid)
		return;
	snprintf(text, sizeof(text), " /* %d in sctrace's PID NS */", (int)outer);
	emit_wrap(d->out, text);
}

static void fd_named(const struct decode *d, int fd, const char *name)
{
	struct decode_fd f;
	if (d->opts->fd_names == FD_NUMBERS) {
		emit_fd(d->out, fd, name, NULL);
		return;
	}
	emit_fd(d->out, fd, name, decode_fd_is(d, fd, &f));
	decode_fd_free(&f);
}

void show_fd(const struct decode *d, const struct value *x)
{
	fd_named(d, (int)x->v, NULL);
}

void show_dirfd(const struct decode *d, const struct value *x)
{
	fd_named(d, (int)x->v, (int)x->v == AT_FDCWD ? "AT_FDCWD" : NULL);
}

/* A negative number is a process group in kill(2) and wait4(2). */
void show_pid(const struct decode *d, const struct value *x)
{
	auto_buf is = {0};
	int pid = (int)x->v;
	emit_num(d->out, pid);
	if (decode_pid_name(d, pid, &is)) {
		emit_wrap(d->out, "<");
		emit_wrap(d->out, buf_str(&is));
		emit_wrap(d->out, ">");
	}
	decode_outer_id(d, pid);
}

/* (uid_t)-1 means "do not change". */
void show_uid(const struct decode *d, const struct value *x)
{
	if ((uint32_t)x->v == UINT32_MAX)
		emit_num(d->out, -1);
	else
		emit_unum(d->out, (uint32_t)x->v);
}

void show_dev(const struct decode *d, const struct value *x)
{
	char text[48];
	snprintf(text, sizeof(text), "makedev(%#x, %#x)", major(x->v), minor(x->v));
	emit_sym(d->out, text, x->v);
}

void decode_string(const struct decode *d, uint64_t addr, size_t max)
{
	char small[PATH_MAX];
	char *s = max + 1 <= sizeof(small) ? small : memory_get(max + 1);
	int ended = 0;
	ssize_t n = d->mem && addr ? mem_string(d->mem, addr, s, max + 1, &ended) : -1;
	if (n < 0 || (!n && !ended))
		emit_ptr(d->out, addr);
	else if ((size_t)n > max || !ended)
		emit_str(d->out, s, (size_t)n > max ? max : (size_t)n, STRING_CUT);
	else
		emit_str(d->out, s, (size_t)n, 0);
	if (s != small)
		free(s);
}

static void bytes(const struct decode *d, uint64_t addr, uint64_t n, unsigned flags)
{
	size_t max = d->opts->string_max < STRING_MOST ? d->opts->string_max : STRING_MOST;
	size_t want = n < max ? (size_t)n : max;
	char small[512];
	if (!addr || !d->mem) {
		emit_ptr(d->out, addr);
		return;
	}
	char *s = want <= sizeof(small) ? small : memory_get(want);
	ssize_t got = want ? mem_read(d->mem, addr, s, want) : 0;
	if (got < 0 || (want && !got))
		emit_ptr(d->out, addr);
	else
		emit_str(d->out, s, (size_t)got, flags | ((uint64_t)got < n ? STRING_CUT : 0));
	if (s != small)
		free(s);
}

void decode_bytes(const struct decode *d, uint64_t addr, uint64_t n)
{
	bytes(d, addr, n, 0);
}

void decode_hex_bytes(const struct decode *d, uint64_t addr, uint64_t n)
{
	bytes(d, addr, n, STRING_HEX);
}

void show_out_random(const struct decode *d, const struct value *x)
{
	bytes(d, x->v, decode_returned(d), STRING_HEX);
}

/* A path is shown in full, even if -s allows less. The kernel limits its length. */
void show_path(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, PATH_MAX - 1);
}

static size_t string_max(const struct decode *d)
{
	return d->opts->string_max < STRING_MOST ? d->opts->string_max : STRING_MOST;
}

void show_string(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, string_max(d));
}

/* The next argument is the number of bytes. */
void show_in_bytes(const struct decode *d, const struct value *x)
{
	decode_bytes(d, x->v, d->call->args[x->arg + 1]);
}

/* The result of the call is the number of bytes. */
void show_out_bytes(const struct decode *d, const struct value *x)
{
	decode_bytes(d, x->v, decode_returned(d));
}

/* The result of readlink(2) has no NUL byte. */
void show_out_path_n(const struct decode *d, const struct value *x)
{
	char s[PATH_MAX];
	size_t n = decode_returned(d);
	if (n > sizeof(s) || !n || !d->mem || mem_get(d->mem, x->v, s, n) != 0)
		decode_bytes(d, x->v, n);
	else
		emit_str(d->out, s, n, 0);
}

void decode_array(const struct decode *d, uint64_t addr, uint64_t n, size_t size, element_fn *each, void *ctx)
{
	uint64_t most = d->opts->verbose && string_max(d) < 4096 ? 4096 : string_max(d);
	size_t start = d->out->out->len;
	char probe;
	if (!addr || (n && !decode_get(d, addr, &probe, 1))) {
		emit_ptr(d->out, addr);
		return;
	}
	emit_open(d->out, '[');
	for (uint64_t i = 0; i < n && i < most; i++) {
		if (d->out->out->len - start > ARRAY_BYTES_MOST)
			most = i;
		if (i == most)
			break;
		emit_element(d->out);
		if (!decode_get(d, addr + i * size, &probe, 1)) {
			emit_ptr(d->out, addr + i * size);
			n = i + 1;
			break;
		}
		each(d, addr + i * size, ctx);
	}
	if (n > most)
		emit_more(d->out);
	emit_close(d->out, ']');
}

void show_argv(const struct decode *d, const struct value *x)
{
	unsigned word = decode_word(d), n = 0;
	uint64_t at = x->v, s;
	if (!decode_get_word(d, at, &s)) {
		emit_ptr(d->out, at);
		return;
	}
	emit_open(d->out, '[');
	for (; s; n++) {
		if (n == DECODE_ARGV_MOST && !d->opts->verbose) {
			emit_more(d->out);
			break;
		}
		emit_element(d->out);
		decode_string(d, s, string_max(d));
		at += word;
		if (n == STRING_MOST || !decode_get_word(d, at, &s)) {
			emit_more(d->out);
			break;
		}
	}
	emit_close(d->out, ']');
}

void show_envp(const struct decode *d, const struct value *x)
{
	unsigned word = decode_word(d), n = 0;
	uint64_t s = 1;
	char text[48];
	if (d->opts->verbose) {
		show_argv(d, x);
		return;
	}
	/* Reads whole pages, because an environment has dozens of variables. */
	struct mem_pages pages;
	const struct mem mem = {mem_read_pages, &pages};
	struct decode paged = *d;
	paged.mem = d->mem ? &mem : NULL;
	mem_pages_init(&pages, d->mem);
	emit_ptr(d->out, x->v);
	while (x->v && n < STRING_MOST && decode_get_word(&paged, x->v + n * (uint64_t)word, &s) && s)
		n++;
	if (!x->v || (s && n < STRING_MOST && !decode_get_word(&paged, x->v + n * (uint64_t)word, &s) && !n))
		return;
	snprintf(text, sizeof(text), "%u var%s%s", n, n == 1 ? "" : "s", s ? ", unterminated" : "");
	emit_comment(d->out, text);
}

void show_pointee(const struct decode *d, const struct value *x)
{
	const struct pointee *p = x->about;
	uint64_t value = 0;
	bool got = p->size ? decode_get(d, x->v, &value, p->size) : decode_get_word(d, x->v, &value);
	if (!got) {
		emit_ptr(d->out, x->v);
		return;
	}
	emit_open(d->out, '[');
	emit_element(d->out);
	show_kind(d, p->kind, value, -1);
	emit_close(d->out, ']');
}

/* sendfile(2) adds the number of bytes that it has copied to an offset: [2] => [5]. */
void show_moved_offset(const struct decode *d, const struct value *x)
{
	if (!x->v || !d->call->result)
		return;
	emit_after(d->out);
	show_pointee(d, x);
}

struct number_form {
	size_t size;
	enum syscall_kind kind;
};

void decode_kind_at(const struct decode *d, uint64_t addr, size_t size, enum syscall_kind kind)
{
	uint64_t v = 0;
	if (decode_need(d, addr, &v, size))
		show_kind(d, kind, v, -1);
}

static void one_number(const struct decode *d, uint64_t addr, void *ctx)
{
	const struct number_form *f = ctx;
	decode_kind_at(d, addr, f->size, f->kind);
}

void decode_number(const struct decode *d, uint64_t addr, size_t size, enum syscall_kind kind)
{
	show_pointee(d, &(struct value){.v = addr, .about = &(struct pointee){kind, (unsigned)size}});
}

void decode_numbers(const struct decode *d, uint64_t addr, uint64_t n, size_t size, enum syscall_kind kind)
{
	struct number_form form = {size, kind};
	decode_array(d, addr, n, size, one_number, &form);
}

void show_kind(const struct decode *d, enum syscall_kind kind, uint64_t v, int i)
{
	const struct kind *k = &decode_kinds[kind];
	k->show(d, &(struct value){.v = v, .about = k->about, .arg = i});
}

void show_kind_after(const struct decode *d, enum syscall_kind kind, uint64_t v, int i)
{
	const struct kind *k = &decode_kinds[kind];
	k->show_after(d, &(struct value){.v = v, .about = k->about, .arg = i});
}

void show_field(const struct decode *d, const char *name, enum syscall_kind kind, uint64_t v)
{
	emit_field(d->out, name);
	show_kind(d, kind, v, -1);
}

/* Returns what the command of the call says about argument `i`, or NULL. The argument's memory rule says what the command is. */
static const struct command_arg *find_arg(const struct decode *d, int i)
{
	const struct memory_need n = decode_memory_of(d->call->desc, (unsigned)i, false);
	uint32_t command = (uint32_t)d->call->args[n.from] >> n.head & (n.most ? n.most : UINT32_MAX);
	return command_find(n.size, command, (unsigned)i);
}

enum when when_command_arg(const struct decode *d, int i)
{
	const struct command_arg *a = find_arg(d, i);
	const enum syscall_kind *other = decode_kinds[d->call->desc->args[i].kind].about;
	if ((a ? a->kind : *other) == K_END)
		return WHEN_NEVER;
	return a ? a->when : WHEN_ENTERING;
}

void show_command_arg(const struct decode *d, const struct value *x)
{
	const struct command_arg *a = find_arg(d, x->arg);
	show_kind(d, a ? a->kind : *(const enum syscall_kind *)x->about, x->v, x->arg);
}
