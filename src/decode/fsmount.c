/* SPDX-License-Identifier: MIT */
/* Shows statx, statfs, mounts, and the related newer calls. Their structures are described by tables. */
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/call_table.h"

#include <linux/fs.h>
#include <linux/stat.h>
#include <stdio.h>

/* struct stat64 of i386 (arch/x86/include/uapi/asm/stat.h), whose 64-bit members are aligned to 4 bytes. */
struct i386_stat64 {
	uint64_t st_dev;
	uint32_t pad1, ino32, st_mode, st_nlink, st_uid, st_gid;
	uint64_t st_rdev;
	uint32_t pad2;
	int64_t st_size;
	uint32_t st_blksize;
	uint64_t st_blocks;
	uint32_t st_atime, st_atime_nsec, st_mtime, st_mtime_nsec, st_ctime, st_ctime_nsec;
	uint64_t st_ino;
} __attribute__((packed));
LAYOUT_SAME(stat64, struct i386_stat64, (st_dev, DEV, VERBOSE), (st_ino, ULONG, VERBOSE), (st_mode, FILE_MODE),
	    (st_nlink, UINT, VERBOSE), (st_uid, UID, VERBOSE), (st_gid, UID, VERBOSE), (st_blksize, UINT, VERBOSE),
	    (st_blocks, ULONG, VERBOSE), (st_size, LONG), (st_atime, UINT, VERBOSE), (st_mtime, UINT, VERBOSE),
	    (st_ctime, UINT, VERBOSE));

STRUCTURE_SAME(statx_timestamp, M64(tv_sec, LONG), M32(tv_nsec, UINT), SKIP32(reserved));
/*
 * struct statx of Linux 6.16 (include/uapi/linux/stat.h). It is repeated here because older headers lack the last
 * members.
 */
static STRUCTURE_SAME(statx, M32(stx_mask, STATX_MASK), M32(stx_blksize, UINT, VERBOSE),
		      M64(stx_attributes, STATX_ATTRIBUTES), M32(stx_nlink, UINT, VERBOSE), M32(stx_uid, UID, VERBOSE),
		      M32(stx_gid, UID, VERBOSE), M16(stx_mode, FILE_MODE), SKIP16(spare), M64(stx_ino, ULONG, VERBOSE),
		      M64(stx_size, ULONG), M64(stx_blocks, ULONG, VERBOSE),
		      M64(stx_attributes_mask, STATX_ATTRIBUTES, VERBOSE),
		      INNER(struct kernel_statx_timestamp, stx_atime, STATX_TIME, VERBOSE),
		      INNER(struct kernel_statx_timestamp, stx_btime, STATX_TIME, VERBOSE),
		      INNER(struct kernel_statx_timestamp, stx_ctime, STATX_TIME, VERBOSE),
		      INNER(struct kernel_statx_timestamp, stx_mtime, STATX_TIME, VERBOSE),
		      M32(stx_rdev_major, UINT, VERBOSE), M32(stx_rdev_minor, UINT, VERBOSE),
		      M32(stx_dev_major, UINT, VERBOSE), M32(stx_dev_minor, UINT, VERBOSE),
		      M64(stx_mnt_id, HEX, VERBOSE), M32(stx_dio_mem_align, UINT, VERBOSE),
		      M32(stx_dio_offset_align, UINT, VERBOSE), M64(stx_subvol, ULONG, VERBOSE),
		      M32(stx_atomic_write_unit_min, UINT, VERBOSE), M32(stx_atomic_write_unit_max, UINT, VERBOSE),
		      M32(stx_atomic_write_segments_max, UINT, VERBOSE), M32(stx_dio_read_offset_align, UINT, VERBOSE),
		      M32(stx_atomic_write_unit_max_opt, UINT, VERBOSE));

/* Returns true if `mask` (STATX_ATIME, ...) says that the file system has filled in this member. */
static bool statx_has(const struct member *m, uint64_t mask)
{
	static const struct {
		size_t offset;
		uint32_t bit;
	} needs[] = {
		{offsetof(struct kernel_statx, stx_atime), STATX_ATIME},
		{offsetof(struct kernel_statx, stx_mtime), STATX_MTIME},
		{offsetof(struct kernel_statx, stx_ctime), STATX_CTIME},
		{offsetof(struct kernel_statx, stx_btime), STATX_BTIME},
		{offsetof(struct kernel_statx, stx_dio_mem_align), 0x2000 /* STATX_DIOALIGN */},
		{offsetof(struct kernel_statx, stx_dio_offset_align), 0x2000},
		{offsetof(struct kernel_statx, stx_subvol), 0x8000 /* STATX_SUBVOL */},
		{offsetof(struct kernel_statx, stx_atomic_write_unit_min), 0x10000 /* STATX_WRITE_ATOMIC */},
		{offsetof(struct kernel_statx, stx_atomic_write_unit_max), 0x10000},
		{offsetof(struct kernel_statx, stx_atomic_write_segments_max), 0x10000},
		{offsetof(struct kernel_statx, stx_dio_read_offset_align), 0x20000 /* STATX_DIO_READ_ALIGN */},
		{offsetof(struct kernel_statx, stx_atomic_write_unit_max_opt), 0x10000},
	};
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (needs[i].offset == m->offset)
			return mask & needs[i].bit;
	return true;
}

void show_statx(const struct decode *d, const struct value *x)
{
	static const struct layout_choice by_mask = {statx_has, offsetof(struct kernel_statx, stx_mask),
						     sizeof(uint32_t)};
	layout_emit_there(d, &layout_statx, x->v, layout_statx.size, &by_mask);
}

/* struct statfs of 64-bit architectures (asm-generic/statfs.h). */
STRUCTURE_NARROW(statfs, &layout_statfs32, M64(f_type, STATFS_TYPE), M64(f_bsize, LONG), M64(f_blocks, ULONG),
		 M64(f_bfree, ULONG), M64(f_bavail, ULONG), M64(f_files, ULONG), M64(f_ffree, ULONG),
		 ARRAY(int32_t, f_fsid, 2, FSID), M64(f_namelen, LONG), M64(f_frsize, LONG), M64(f_flags, STATFS_FLAGS),
		 SKIPS(int64_t, f_spare, 4));

STRUCTURE_SAME(mount_attr, M64(attr_set, MOUNT_ATTR_FLAGS), M64(attr_clr, MOUNT_ATTR_FLAGS),
	       M64(propagation, MOUNT_FLAGS), M64(userns_fd, FD));
struct xattr_arguments {
	uint64_t value;
	uint32_t size, flags;
};
static void xattr_args(const struct decode *d, uint64_t at, bool filled)
{
	struct xattr_arguments a;
	if (!decode_need(d, at, &a, sizeof(a)))
		return;
	emit_open(d->out, '{');
	emit_field(d->out, "value");
	if (filled && !a.size)
		emit_ptr(d->out, a.value); /* the call only returns the length */
	else
		decode_bytes(d, a.value, filled ? decode_returned(d) : a.size);
	show_field(d, "size", K_UINT, a.size);
	show_field(d, "flags", K_XATTR_FLAGS, a.flags);
	if (d->call->args[5] > sizeof(a))
		emit_more(d->out);
	emit_close(d->out, '}');
}

/* setxattrat(2) and getxattrat(2) */
void show_xattr_args(const struct decode *d, const struct value *x)
{
	xattr_args(d, x->v, false);
}

void show_out_xattr_args(const struct decode *d, const struct value *x)
{
	xattr_args(d, x->v, true);
}

STRUCTURE_SAME(file_attr, M64(fa_xflags, FS_XFLAGS), M32(fa_extsize, UINT), M32(fa_nextents, UINT),
	       M32(fa_projid, UINT), M32(fa_cowextsize, UINT));
STRUCTURE_SAME(cachestat_range, M64(off, ULONG), M64(len, ULONG));
STRUCTURE_SAME(cachestat, M64(nr_cache, ULONG), M64(nr_dirty, ULONG), M64(nr_writeback, ULONG), M64(nr_evicted, ULONG),
	       M64(nr_recently_evicted, ULONG));
STRUCTURE_SAME(mnt_id_req, M32(size, UINT), SKIP32(spare), M64(mnt_id, HEX), M64(param, STATMOUNT_MASK),
	       M64(mnt_ns_id, HEX, NONZERO));
/* For listmount(2), `param` is the mount after which the list begins. */
LAYOUT_SAME(listmount_req, struct kernel_mnt_id_req, (size, UINT), (mnt_id, LISTMOUNT_ID), (param, HEX),
	    (mnt_ns_id, HEX, NONZERO));

void show_listmount_id(const struct decode *d, const struct value *x)
{
	if (x->v == UINT64_MAX)
		emit_sym(d->out, "LSMT_ROOT", x->v);
	else
		emit_hex(d->out, x->v);
}

/* struct statmount (linux/mount.h). The members that are strings contain offsets in `str`. */
struct kernel_statmount {
	uint32_t size, mnt_opts;
	uint64_t mask;
	uint32_t sb_dev_major, sb_dev_minor;
	uint64_t sb_magic;
	uint32_t sb_flags, fs_type;
	uint64_t mnt_id, mnt_parent_id;
	uint32_t mnt_id_old, mnt_parent_id_old;
	uint64_t mnt_attr, mnt_propagation, mnt_peer_group, mnt_master, propagate_from;
	uint32_t mnt_root, mnt_point;
	uint64_t mnt_ns_id;
	uint32_t fs_subtype, sb_source;
	uint64_t spare[48];
	char str[];
};
_Static_assert(offsetof(struct kernel_statmount, str) == 512, "struct statmount");

/* The members, and the bit of `mask` that says that the kernel has filled in the member. */
static const struct {
	const char *name;
	uint16_t offset, bit;
	uint8_t size; /* 4 or 8 bytes; 0: a string */
	enum syscall_kind kind;
} mount_members[] = {
#define MEMBER_OF_MOUNT(m, bit, size, kind)                                                                            \
	{                                                                                                              \
		.name = #m, offsetof(struct kernel_statmount, m), bit, size, kind                                      \
	}
	MEMBER_OF_MOUNT(sb_dev_major, 0x1, 4, K_UINT),
	MEMBER_OF_MOUNT(sb_dev_minor, 0x1, 4, K_UINT),
	MEMBER_OF_MOUNT(sb_magic, 0x1, 8, K_STATFS_TYPE),
	MEMBER_OF_MOUNT(fs_type, 0x20, 0, K_END),
	MEMBER_OF_MOUNT(mnt_id, 0x2, 8, K_HEX),
	MEMBER_OF_MOUNT(mnt_parent_id, 0x2, 8, K_HEX),
	MEMBER_OF_MOUNT(mnt_attr, 0x2, 8, K_MOUNT_ATTR_FLAGS),
	MEMBER_OF_MOUNT(mnt_propagation, 0x2, 8, K_MOUNT_FLAGS),
	MEMBER_OF_MOUNT(mnt_root, 0x8, 0, K_END),
	MEMBER_OF_MOUNT(mnt_point, 0x10, 0, K_END),
	MEMBER_OF_MOUNT(mnt_ns_id, 0x40, 8, K_HEX),
	MEMBER_OF_MOUNT(mnt_opts, 0x80, 0, K_END),
	MEMBER_OF_MOUNT(sb_source, 0x200, 0, K_END),
#undef MEMBER_OF_MOUNT
};

void show_statmount(const struct decode *d, const struct value *x)
{
	struct {
		uint32_t size, pad;
		uint64_t mask;
	} head;
	if (!decode_need(d, x->v, &head, sizeof(head)))
		return;
	emit_open(d->out, '{');
	show_field(d, "size", K_UINT, head.size);
	show_field(d, "mask", K_STATMOUNT_MASK, head.mask);
	for (size_t i = 0; i < sizeof(mount_members) / sizeof(*mount_members); i++) {
		uint64_t at = x->v + mount_members[i].offset;
		uint32_t str;
		if (!(head.mask & mount_members[i].bit))
			continue;
		emit_field(d->out, mount_members[i].name);
		if (mount_members[i].size)
			decode_kind_at(d, at, mount_members[i].size, mount_members[i].kind);
		else if (decode_need(d, at, &str, sizeof(str)))
			decode_string(d, x->v + offsetof(struct kernel_statmount, str) + str, 4096);
	}
	emit_close(d->out, '}');
}

LAYOUT_SAME(fsxattr, struct fsxattr, (fsx_xflags, FS_XFLAGS), (fsx_extsize, UINT), (fsx_nextents, UINT),
	    (fsx_projid, UINT), (fsx_cowextsize, UINT));
LAYOUT_SAME(file_clone_range, struct file_clone_range, (src_fd, FD), (src_offset, ULONG), (src_length, ULONG),
	    (dest_offset, ULONG));
LAYOUT_SAME(fstrim_range, struct fstrim_range, (start, ULONG), (len, ULONG), (minlen, ULONG));

STRUCTURE(dqblk, M64(dqb_bhardlimit, ULONG), M64(dqb_bsoftlimit, ULONG), M64(dqb_curspace, ULONG),
	  M64(dqb_ihardlimit, ULONG), M64(dqb_isoftlimit, ULONG), M64(dqb_curinodes, ULONG),
	  M64(dqb_btime, ULONG, VERBOSE), M64(dqb_itime, ULONG, VERBOSE), M32(dqb_valid, HEX, VERBOSE));

void show_fsid(const struct decode *d, const struct value *x)
{
	emit_open(d->out, '{');
	emit_field(d->out, "val");
	decode_numbers(d, x->v, 2, 4, K_HEX);
	emit_close(d->out, '}');
}

/* quotactl(2): the low byte is the type of quota, and the bits above it are the command. */
void show_quota_cmd(const struct decode *d, const struct value *x)
{
	uint32_t cmd = (uint32_t)x->v;
	char text[96];
	const char *name = flags_find(&flags_quota_cmd, cmd >> 8);
	const char *type = flags_find(&flags_quota_type, cmd & 0xff);
	if (!name || !type) {
		emit_hex(d->out, cmd);
		return;
	}
	snprintf(text, sizeof(text), "QCMD(%s, %s)", name, type);
	emit_sym(d->out, text, cmd);
}

STRUCTURE(dqinfo, M64(dqi_bgrace, ULONG), M64(dqi_igrace, ULONG), M32(dqi_flags, QUOTA_INFO_FLAGS),
	  M32(dqi_valid, QUOTA_INFO_VALID));

/* Returns the command, which is the first argument of quotactl(2) and the second one of quotactl_fd(2). */
static uint32_t quota_command(const struct decode *d)
{
	bool by_descriptor = d->call->desc->args[0].kind == K_FD;
	return (uint32_t)d->call->args[by_descriptor] >> 8;
}

/* The id of Q_QUOTAON is the format of the quota file. */
void show_quota_id(const struct decode *d, const struct value *x)
{
	enum { QUOTA_ON = 0x800002 };
	show_kind(d, quota_command(d) == QUOTA_ON ? K_QUOTA_FORMAT : K_UID, x->v, -1);
}

/* fsconfig(2): the next argument is the number of bytes. */
void show_fsconfig_binary(const struct decode *d, const struct value *x)
{
	decode_bytes(d, x->v, (uint32_t)d->call->args[x->arg + 1]);
}

/* swapon(2): the lowest 15 bits are the priority of the swap area. */
void show_swap_flags(const struct decode *d, const struct value *x)
{
	enum { PRIORITY = 0x7fff }; /* SWAP_FLAG_PRIO_MASK (linux/swap.h) */
	auto_buf text = {0};
	uint32_t priority = (uint32_t)x->v & PRIORITY, flags = (uint32_t)x->v & ~(uint32_t)PRIORITY;
	if (flags)
		flags_join(&text, &flags_swap, flags);
	if (priority || !flags)
		buf_addf(&text, "%s%u", flags ? "|" : "", priority);
	emit_sym(d->out, buf_str(&text), x->v);
}
