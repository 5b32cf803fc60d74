/*
 * Shows arguments about processes, threads, scheduling, limits, capabilities and futexes. The functions are used in the
 * rows of decode_kinds.
 */
#ifndef SCTRACE_DECODE_PROC_H
#define SCTRACE_DECODE_PROC_H

#include "decode/kinds.h"

show_fn show_clone_flags, show_clone_named, show_clone_args, show_clone_args_after, show_wstatus, show_waitid_id,
	show_rlim, show_rlim32, show_cpu_set;
show_fn show_prctl_arg, show_arch_prctl_arg, show_ptrace_arg, show_cap_data, show_futex_op, show_futex_arg;
show_fn show_seccomp_arg, show_kcmp_index, show_ioprio, show_fixed_string, show_uts_string, show_gids, show_out_gids;
show_fn show_tid_at, show_syslog, show_personality;
show_fn show_waitv;
when_fn when_clone_ptid, when_clone_ctid, when_clone_tls, when_prctl_arg, when_arch_prctl_arg, when_ptrace_arg,
	when_ptrace_pid;
when_fn when_futex_arg, when_syslog, when_reboot_arg, when_kcmp_index, when_seccomp_arg, when_membarrier_cpu;

#endif
