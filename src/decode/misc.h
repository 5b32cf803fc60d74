/* Shows arguments of io_uring, bpf, keys, perf and landlock. The functions are used in the rows of decode_kinds. */
#ifndef SCTRACE_DECODE_MISC_H
#define SCTRACE_DECODE_MISC_H

#include "decode/kinds.h"

show_fn show_uring_enter_arg, show_uring_register_arg, show_landlock_rule, show_kexec_segments, show_perf_attr;
show_fn show_kernel_version, show_bpf_attr, show_key_serial, show_keyctl_arg;
when_fn when_keyctl_arg;

#endif
