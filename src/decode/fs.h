/*
 * Shows arguments about files: metadata, directories, flags of descriptors, mounts. The functions are used in the rows
 * of decode_kinds.
 */
#ifndef SCTRACE_DECODE_FS_H
#define SCTRACE_DECODE_FS_H

#include "decode/kinds.h"

show_fn show_open_flags, show_file_mode, show_stat, show_statx, show_dents, show_old_dents;
show_fn show_fcntl_arg, show_file_handle, show_out_xattr, show_fsid;
show_fn show_fsconfig_value, show_quota_cmd, show_quota_addr;
when_fn when_open_mode, when_mknod_dev, when_fcntl_arg, when_quota_addr, when_mq_attr;

/* Returns the commands of fcntl(2) whose arguments are known, and sets *n to their number. */
const struct command_arg *fcntl_commands(size_t *n);

#endif
