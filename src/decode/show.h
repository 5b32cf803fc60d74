/* SPDX-License-Identifier: MIT */
/*
 * The functions for the rows of syscall/kinds.def that no other header declares, and further functions about the same
 * subjects.
 */
#ifndef SCTRACE_DECODE_SHOW_H
#define SCTRACE_DECODE_SHOW_H

#include "decode/kinds.h"

#include <stdbool.h>
#include <stddef.h>

/* Give the memory rules of commands that flags.def cannot describe to `add`: ioctl(2) and bpf(2). */
void ioctl_memory(command_memory_fn *add, void *ctx);
void bpf_memory(command_memory_fn *add, void *ctx);

/* Files, directories, descriptors and mounts (fs.c, fsmount.c). */
show_fn show_open_flags, show_file_mode, show_stat, show_statx, show_dents, show_old_dents, show_file_handle,
	show_mount_id, show_out_xattr, show_fsid, show_quota_cmd, show_quota_id, show_fsconfig_binary, show_statmount,
	show_listmount_id, show_xattr_args, show_out_xattr_args, show_swap_flags;
when_fn when_open_mode, when_mknod_dev, when_mq_attr, when_file_handle;

/* The commands of ioctl(2), and their arguments (ioctl.c, ioctl_data.c). */
show_fn show_ioctl_command, show_ioctl_arg, show_ioctl_arg_after, show_exchange, show_exchange_after, show_dedupe,
	show_dedupe_after, show_fiemap_after, show_text64, show_ioctl_text, show_ifreq, show_ifreq_name, show_ifconf,
	show_if_name, show_if_address;
when_fn when_ioctl_arg;
/* Returns true if a successful call with this command returns a descriptor. */
bool ioctl_gives_descriptor(uint32_t command);

/* System V IPC, message queues, memory policies and asynchronous I/O (ipc.c). */
show_fn show_ipc_key, show_ipc_get_flags, show_shmget_flags, show_ipc_cmd, show_in_msgbuf, show_out_msgbuf,
	show_nodemask, show_nodemask_prev, show_mincore, show_iocbs, show_iocb, show_io_events, show_map_flags;

/* io_uring, bpf, keys, perf, landlock and kexec (decode_uring.c, misc.c). */
show_fn show_uring_fd, show_uring_requests, show_uring_enter_arg, show_uring_register_arg, show_uring_register_after,
	show_kexec_segments, show_perf_attr, show_one_byte, show_kernel_version, show_bpf_attr, show_bpf_attr_after,
	show_key_serial, show_key_bytes;
when_fn when_uring_register_arg;

/* Addresses, messages and options of sockets (net.c, msg.c). */
show_fn show_sockaddr, show_out_sockaddr, show_socklen, show_sock_proto, show_in_msghdr, show_out_msghdr, show_in_mmsg,
	show_out_mmsg, show_in_iovec, show_out_iovec, show_remote_iovec, show_sockopt, show_sockopt_value,
	show_sock_bytes, show_out_sock_bytes, show_out_sockopt_value, show_in_addr, show_in6_addr, show_sol_level,
	show_icmp_filter, show_sockopt_read, show_some_address, show_hardware_address;
/* Returns the names of the options of a level, or NULL. */
const struct flag_table *sockopt_names(uint32_t level);
/* Emits a length that the kernel has written. If it differs from the length at entry, emits both: 110 => 16. */
void decode_length(const struct decode *d, uint32_t v);
/* Emits `n` I/O vectors with the data in their buffers or, if `pointers`, only with the addresses of the buffers. */
void decode_iovec(const struct decode *d, uint64_t addr, uint64_t n, bool pointers);
/* Emits the socket address of `len` bytes at `addr`. */
void decode_sockaddr(const struct decode *d, uint64_t addr, uint64_t len);

/* Netlink messages, with the contents of those of rtnetlink(7) and sock_diag(7) (netlink.c, attr_tables.c). */
/*
 * Emits the `n` bytes at `addr` as netlink messages. If the first argument of the call is not a netlink socket, or if
 * the bytes are not messages, emits nothing and returns false.
 */
bool decode_netlink(const struct decode *d, uint64_t addr, uint64_t n);

/* The ports and addresses of a socket (struct inet_diag_sockid). */
struct inet_id {
	uint16_t idiag_sport, idiag_dport;
	uint32_t idiag_src[4], idiag_dst[4];
	uint32_t idiag_if, idiag_cookie[2];
};
/*
 * Shows the addresses and ports of a socket. The address family is in a member before them; `about` is the distance to
 * it in bytes.
 */
show_fn show_inet_diag_id;
/* Shows a netlink protocol, or NDIAG_PROTO_ALL. */
show_fn show_ndiag_protocol;

/* Shows the completions that have come since the previous io_uring_enter(2), after the result of this call. */
void decode_uring_completions(const struct decode *d);
/* Shows the result `v` of recvmmsg(2), and the time that it left in its last argument: 2 (left {tv_sec=1, tv_nsec=0}). */
void decode_recvmmsg_result(const struct decode *d, int64_t v);

/* poll, select and epoll (time.c). */
show_fn show_pollfds, show_epoll_event, show_epoll_events, show_fd_set;
/* Shows the result `v` of poll(2), and the events that it found: 1 ([{fd=3, revents=POLLIN}]), or 0 (Timeout). */
void decode_poll_result(const struct decode *d, int64_t v);
/*
 * Shows the result `v` of select(2), and the descriptors and the time that it left in its arguments: 1 (in [3], left
 * {tv_sec=1, tv_usec=0}), or 0 (Timeout).
 */
void decode_select_result(const struct decode *d, int64_t v);

/* Processes, scheduling, limits, capabilities and futexes (decode_proc.c, control.c, decode_ptrace.c). */
show_fn show_clone_flags, show_clone_named, show_clone_args, show_clone_args_after, show_wstatus, show_waitid_id,
	show_rlim, show_rlim32, show_cpu_set, show_siginfos, show_syscall_info, show_cap_data, show_futex_op,
	show_futex_arg, show_ioprio, show_fixed_string, show_uts_string, show_gids, show_out_gids, show_tid_at,
	show_personality, show_waitv, show_set_tid, show_ptracer, show_user_regs, show_user_fpregs, show_regset_buffer,
	show_user_offset;
when_fn when_clone_ptid, when_clone_ctid, when_clone_tls, when_ptrace_pid, when_futex_arg, when_membarrier_cpu;

/* Signals (sig.c). */
show_fn show_signal, show_sigset, show_sigaction, show_siginfo, show_child_info, show_sigevent, show_sigreturn;

/* Clocks and file times (time.c). */
show_fn show_ticks, show_seconds, show_stamp, show_timespec2, show_timeval2, show_remaining, show_clock;
when_fn when_remaining, when_clock_remaining;
/*
 * Emits a time in clock ticks, such as 250 with the comment "2.50 s". For programs, a second has 100 ticks (times(2)).
 */
void decode_ticks(struct emit *out, int64_t ticks);
/*
 * Writes `seconds` since 1970 as a date and time in UTC, "2026-11-21T04:56:39+0000". Returns false for 0 and for times
 * out of range.
 */
bool decode_time_text(char *text, size_t n, int64_t seconds);

#endif
