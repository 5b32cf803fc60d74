/* SPDX-License-Identifier: MIT */
#include "decode/show.h"

#include "decode/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OPEN_CREAT 0x40     /* O_CREAT */
#define OPEN_TMP   0x400000 /* the bit of O_TMPFILE in addition to O_DIRECTORY */

/* open(2) and openat(2) use the mode only if they may create a file. The previous argument contains the flags. */
enum when when_open_mode(const struct decode *d, int i)
{
	return d->call->args[i - 1] & (OPEN_CREAT | OPEN_TMP) ? WHEN_ENTERING : WHEN_NEVER;
}

/* mq_open(2) uses its last argument, the attributes, only with O_CREAT. The flags are two arguments earlier. */
enum when when_mq_attr(const struct decode *d, int i)
{
	return d->call->args[i - 2] & OPEN_CREAT ? WHEN_ENTERING : WHEN_NEVER;
}

void show_open_flags(const struct decode *d, const struct value *x)
{
	bool arm = d->call->arch == AUDIT_ARCH_AARCH64 || d->call->arch == AUDIT_ARCH_ARM;
	flags_emit(d->out, arm ? &flags_open_aarch64 : &flags_open, x->arg < 0 ? x->v : (uint32_t)x->v);
}

/* Shows the type and permissions of a file: S_IFREG|0644, S_IFDIR|S_ISVTX|0777. */
void show_file_mode(const struct decode *d, const struct value *x)
{
	static const struct {
		unsigned mode;
		const char *name;
	} bits[] = {{S_ISUID, "S_ISUID|"}, {S_ISGID, "S_ISGID|"}, {S_ISVTX, "S_ISVTX|"}};
	char text[96];
	const char *type = flags_find(&flags_file_type, x->v & S_IFMT);
	if (!type && (x->v & S_IFMT)) {
		emit_oct(d->out, x->v);
		return;
	}
	/* Without snprintf(3), because this is a large part of the time of a trace with many stat(2). */
	char *at = text;
	if (type)
		at = stpcpy(stpcpy(at, type), "|");
	for (size_t bit = 0; bit < sizeof(bits) / sizeof(*bits); bit++)
		if (x->v & bits[bit].mode)
			at = stpcpy(at, bits[bit].name);
	*at++ = '0';
	if (x->v & 0700)
		*at++ = (char)('0' + (x->v >> 6 & 7));
	*at++ = (char)('0' + (x->v >> 3 & 7));
	*at++ = (char)('0' + (x->v & 7));
	*at = '\0';
	emit_sym(d->out, text, x->v);
}

/* Returns true if a file of this mode is a device file, so that it has a device number. */
static bool makes_device(uint64_t mode)
{
	return (mode & S_IFMT) == S_IFCHR || (mode & S_IFMT) == S_IFBLK;
}

enum when when_mknod_dev(const struct decode *d, int i)
{
	return makes_device(d->call->args[i - 1]) ? WHEN_ENTERING : WHEN_NEVER;
}

/* struct stat of the native 64-bit architectures. */
static LAYOUT(stat, struct stat, (st_dev, DEV, VERBOSE), (st_ino, ULONG, VERBOSE), (st_mode, FILE_MODE),
	      (st_nlink, ULONG, VERBOSE), (st_uid, UID, VERBOSE), (st_gid, UID, VERBOSE), (st_blksize, ULONG, VERBOSE),
	      (st_blocks, ULONG, VERBOSE), (st_size, LONG), (st_rdev, DEV), (st_atim, TIME_STAMP, AT | VERBOSE),
	      (st_mtim, TIME_STAMP, AT | VERBOSE), (st_ctim, TIME_STAMP, AT | VERBOSE));

/* Returns true if the member is shown: st_rdev only for a device file, and st_size only for any other file. */
static bool stat_has(const struct member *m, uint64_t mode)
{
	return m->offset != (makes_device(mode) ? offsetof(struct stat, st_size) : offsetof(struct stat, st_rdev));
}

/*
 * Returns true if the call belongs to the architecture that sctrace was built for, so that the structures of libc can
 * be used.
 */
static bool own_architecture(const struct decode *d)
{
#if defined(__x86_64__)
	const uint32_t own = AUDIT_ARCH_X86_64;
#else
	const uint32_t own = AUDIT_ARCH_AARCH64;
#endif
	return d->call->arch == own && decode_word(d) == 8;
}

void show_stat(const struct decode *d, const struct value *x)
{
	static const struct layout_choice by_mode = {stat_has, offsetof(struct stat, st_mode), sizeof(mode_t)};
	if (d->call->arch == AUDIT_ARCH_I386)
		layout_emit(d, &layout_stat32, x->v, layout_stat32.size);
	else if (own_architecture(d))
		layout_emit_there(d, &layout_stat, x->v, sizeof(struct stat), &by_mode);
	else
		emit_ptr(d->out, x->v);
}

/* A record of getdents64(2). In records of the older getdents(2), the type comes after the name (linux/dirent.h). */
struct dent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
} __attribute__((packed));

static void one_dent64(const struct decode *d, const char *bytes, size_t n)
{
	const struct dent64 *e = (const struct dent64 *)bytes;
	size_t most = n - offsetof(struct dent64, d_name);
	emit_open(d->out, '{');
	show_field(d, "d_ino", K_ULONG, e->d_ino);
	show_field(d, "d_off", K_LONG, (uint64_t)e->d_off);
	show_field(d, "d_reclen", K_ULONG, e->d_reclen);
	show_field(d, "d_type", K_DIRENT_TYPE, e->d_type);
	emit_field(d->out, "d_name");
	emit_str(d->out, e->d_name, strnlen(e->d_name, most), 0);
	emit_close(d->out, '}');
}

struct dent_walk {
	uint64_t addr, end;
	unsigned count;
	bool broken;
	char bytes[sizeof(struct dent64) + NAME_MAX + 9];
	size_t n; /* number of valid bytes in `bytes` for the current entry */
};

/* Moves to the next entry. Returns false at the end, or if the records are invalid. */
static bool next_dent(const struct decode *d, struct dent_walk *w)
{
	uint16_t len;
	if (w->broken || w->addr >= w->end || !decode_get(d, w->addr + offsetof(struct dent64, d_reclen), &len, 2))
		return false;
	w->broken = len < sizeof(struct dent64) || len > w->end - w->addr || len > sizeof(w->bytes) ||
		    !decode_get(d, w->addr, w->bytes, len);
	w->n = len;
	w->addr += len;
	w->count += !w->broken;
	return !w->broken;
}

void show_dents(const struct decode *d, const struct value *x)
{
	struct dent_walk w = {.addr = x->v, .end = x->v + decode_returned(d)};
	bool list = d->opts->verbose && !d->opts->shallow;
	if (w.end - x->v > 1 << 20)
		w.end = x->v + (1 << 20);
	if (list)
		emit_open(d->out, '[');
	else
		emit_ptr(d->out, x->v);
	while (next_dent(d, &w)) {
		if (!list)
			continue;
		emit_element(d->out);
		one_dent64(d, w.bytes, w.n);
	}
	if (list)
		emit_close(d->out, ']');
	if (list || d->opts->shallow || (w.broken && !w.count))
		return;
	char text[32];
	snprintf(text, sizeof(text), "%u entr%s", w.count, w.count == 1 ? "y" : "ies");
	emit_comment(d->out, text);
}

/*
 * Shows one record of the older getdents(2) at `at`: two longs, the length of the record, the name, and the type in the
 * last byte.
 */
static void one_old_dent(const struct decode *d, uint64_t at, uint16_t len)
{
	unsigned word = decode_word(d);
	uint64_t name = at + 2 * (uint64_t)word + sizeof(len);
	emit_open(d->out, '{');
	emit_field(d->out, "d_ino");
	decode_kind_at(d, at, word, K_ULONG);
	emit_field(d->out, "d_off");
	decode_kind_at(d, at + word, word, K_LONG);
	show_field(d, "d_reclen", K_ULONG, len);
	emit_field(d->out, "d_name");
	decode_string(d, name, at + len > name ? at + len - name : 0);
	emit_field(d->out, "d_type");
	decode_kind_at(d, at + len - 1, 1, K_DIRENT_TYPE);
	emit_close(d->out, '}');
}

void show_old_dents(const struct decode *d, const struct value *x)
{
	unsigned word = decode_word(d), count = 0;
	uint64_t at = x->v, end = x->v + decode_returned(d);
	uint16_t len;
	char text[32];
	bool list = d->opts->verbose && !d->opts->shallow;
	if (list)
		emit_open(d->out, '[');
	else
		emit_ptr(d->out, x->v);
	while (at < end && count < 65536 && decode_get(d, at + 2 * (uint64_t)word, &len, sizeof(len)) &&
	       len > 2 * word + sizeof(len) && len <= end - at) {
		if (list) {
			emit_element(d->out);
			one_old_dent(d, at, len);
		}
		at += len;
		count++;
	}
	if (list)
		emit_close(d->out, ']');
	if (list || d->opts->shallow)
		return;
	snprintf(text, sizeof(text), "%u entr%s", count, count == 1 ? "y" : "ies");
	emit_comment(d->out, text);
}

STRUCTURE_NARROW(flock, &layout_flock32, M16(l_type, FLOCK_TYPE), M16(l_whence, WHENCE), M64(l_start, LONG),
		 M64(l_len, LONG), SKIP32(l_pid));
/* The result of F_GETLK, which also contains the process that holds the lock. */
LAYOUT_NARROW(flock_held, struct kernel_flock, &layout_flock_held32, (l_type, FLOCK_TYPE), (l_whence, WHENCE),
	      (l_start, LONG), (l_len, LONG), (l_pid, PID));
STRUCTURE_SAME(owner_ex, M32(type, OWNER_TYPE), M32(pid, PID));
LAYOUT_SAME(open_how, struct open_how, (flags, OPEN_FLAGS), (mode, MODE, NONZERO), (resolve, RESOLVE));

/* Shows the handle of name_to_handle_at(2): its length, its type, and that many opaque bytes. */
void show_file_handle(const struct decode *d, const struct value *x)
{
	struct {
		uint32_t bytes;
		int32_t type;
	} h;
	if (!decode_need(d, x->v, &h, sizeof(h)))
		return;
	emit_open(d->out, '{');
	emit_field(d->out, "handle_bytes");
	decode_length(d, h.bytes);
	/* If the buffer is too small for the handle, the kernel writes only the size that the handle needs. */
	if (!d->leaving || !d->call->error) {
		show_field(d, "handle_type", K_INT, (uint32_t)h.type);
		emit_field(d->out, "f_handle");
		decode_hex_bytes(d, x->v + sizeof(h), h.bytes < 128 ? h.bytes : 128);
	}
	emit_close(d->out, '}');
}

enum when when_file_handle(const struct decode *d, int i)
{
	(void)i;
	return d->leaving && d->call->error && d->call->err == EOVERFLOW ? WHEN_LEFT_EVEN : WHEN_LEFT;
}

/* name_to_handle_at(2): the next argument is the flags. The unique id of a mount has 64 bits. */
void show_mount_id(const struct decode *d, const struct value *x)
{
	enum { MNT_ID_UNIQUE = 1 };
	bool unique = d->call->args[x->arg + 1] & MNT_ID_UNIQUE;
	decode_number(d, x->v, unique ? 8 : 4, unique ? K_HEX : K_INT);
}

/*
 * Shows the value of an extended attribute. The next argument is the size of the buffer, and the result is the length
 * of the value. If the size is 0, the call only returns the length (getxattr(2)).
 */
void show_out_xattr(const struct decode *d, const struct value *x)
{
	uint64_t size = d->call->args[x->arg + 1], n = decode_returned(d);
	if (!size)
		emit_ptr(d->out, x->v);
	else
		decode_bytes(d, x->v, n < size ? n : size);
}
