/* SPDX-License-Identifier: MIT */
/* Structures as tables: the position and kind of each member. */
#ifndef SCTRACE_DECODE_LAYOUT_H
#define SCTRACE_DECODE_LAYOUT_H

#include "decode/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum member_flags {
	VERBOSE = 1 << 0, /* the member is shown only with -v; without it, "..." ends the structure */
	NONZERO = 1 << 1, /* shown only if it is not zero */
	AT = 1 << 2,      /* an inner structure or an array, whose address is passed to the kind */
};

struct member {
	const char *name;
	uint16_t offset;
	uint16_t size; /* 1, 2, 4 or 8: the member is a number of this size; 0: AT is set */
	uint16_t kind;
	uint16_t flags;
};

struct layout {
	size_t size;
	size_t n;
	const struct member *members;
	const struct layout *narrow; /* the layout for programs with 4-byte pointers; points to this layout itself if
				      * that is the same */
};

/*
 * EACH(each, type, ...) expands to each(type, ARGUMENT) for each further argument. A macro cannot expand itself. Therefore,
 * each scan of the preprocessor expands one argument and leaves EACH_LATER() for the rest. AGAIN() causes enough scans
 * for 41 members. With more members, EACH_LATER remains, and the compiler reports an error.
 */
#ifndef __GNUC__ /* cppcheck, which does not know __VA_OPT__, sees only the first member */
#define EACH(each, type, member, ...) each(type, member)
#else
#define EACH(each, type, member, ...) each(type, member) __VA_OPT__(EACH_LATER NO_ARGUMENTS(each, type, __VA_ARGS__))
#endif
#define EACH_LATER()  EACH
#define NO_ARGUMENTS  ()
#define UNPACKED(...) __VA_ARGS__
#define AGAIN(...)    AGAIN3(AGAIN3(AGAIN3(__VA_ARGS__)))
#define AGAIN3(...)   AGAIN2(AGAIN2(AGAIN2(__VA_ARGS__)))
#define AGAIN2(...)   AGAIN1(AGAIN1(AGAIN1(__VA_ARGS__)))
#define AGAIN1(...)   __VA_ARGS__

/* The row of a member. For an argument without flags, the first 0 becomes `flags`; the rest is ignored. */
#define MEMBER(type, m, k, flags, ...)                                                                                 \
	{                                                                                                              \
		.name = #m, offsetof(type, m), AT & (flags) ? 0 : sizeof(((type *)0)->m), K_##k, flags                 \
	}
#define MEMBER_OF(...)      MEMBER(__VA_ARGS__)
#define TYPED(type, member) MEMBER_OF(type, UNPACKED member, 0, 0),

/* Defines layout_NAME of a structure of `size_` bytes. Each argument after `narrow_` initialises a struct member. */
#define LAYOUT_OF(nm, size_, narrow_, ...)                                                                             \
	const struct layout layout_##nm = {.size = (size_),                                                            \
					   .n = sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member),  \
					   .members = (const struct member[]){__VA_ARGS__},                            \
					   .narrow = (narrow_)}
/*
 * Defines layout_NAME of structure `type`. Each further argument is a member: (name, KIND), or (name, KIND, flags) with
 * enum member_flags. LAYOUT_NARROW() has another layout for programs with 4-byte pointers, LAYOUT_SAME() has the same
 * one, and LAYOUT() has none, so that the structure of such a program is shown as a pointer.
 */
#define LAYOUT_NARROW(nm, type, narrow_, ...)                                                                          \
	LAYOUT_OF(nm, sizeof(type), narrow_, AGAIN(EACH(TYPED, type, __VA_ARGS__)))
#define LAYOUT(nm, type, ...)      LAYOUT_NARROW(nm, type, NULL, __VA_ARGS__)
#define LAYOUT_SAME(nm, type, ...) LAYOUT_NARROW(nm, type, &layout_##nm, __VA_ARGS__)

/*
 * STRUCTURE(), STRUCTURE_SAME() and STRUCTURE_NARROW() do the same for a structure that no header has: they also define it, as
 * struct kernel_NAME. Its members, in their order:
 *
 *   M8, M16, M32, M64(name, KIND), or (name, KIND, flags)   a number of 8 to 64 bits
 *   ARRAY(type, name, n, KIND), INNER(type, name, KIND)     an array, or a structure: the kind gets its address
 *   SKIP8, SKIP16, SKIP32, SKIP64(name), SKIPS(type, name, n)
 *                                                           a member that is not shown
 */
#define STRUCTURE_NARROW(nm, narrow_, ...)                                                                             \
	LAYOUT_OF(nm, sizeof(struct kernel_##nm{AGAIN(EACH(DECLARED, , __VA_ARGS__))}), narrow_,                       \
		  AGAIN(EACH(TABLED, struct kernel_##nm, __VA_ARGS__)))
#define STRUCTURE(nm, ...)      STRUCTURE_NARROW(nm, NULL, __VA_ARGS__)
#define STRUCTURE_SAME(nm, ...) STRUCTURE_NARROW(nm, &layout_##nm, __VA_ARGS__)
/* Each member is (row, type, name, [n], KIND, flags). It becomes a declaration, and a row unless it is HIDDEN. */
#define M8(m, ...)                              (SHOWN, uint8_t, m, , __VA_ARGS__)
#define M16(m, ...)                             (SHOWN, uint16_t, m, , __VA_ARGS__)
#define M32(m, ...)                             (SHOWN, uint32_t, m, , __VA_ARGS__)
#define M64(m, ...)                             (SHOWN, uint64_t, m, , __VA_ARGS__)
#define ARRAY(type, m, n_, ...)                 (SHOWN_AT, type, m, [n_], __VA_ARGS__)
#define INNER(type, m, ...)                     (SHOWN_AT, type, m, , __VA_ARGS__)
#define SKIP8(m)                                (HIDDEN, uint8_t, m, )
#define SKIP16(m)                               (HIDDEN, uint16_t, m, )
#define SKIP32(m)                               (HIDDEN, uint32_t, m, )
#define SKIP64(m)                               (HIDDEN, uint64_t, m, )
#define SKIPS(type, m, n_)                      (HIDDEN, type, m, [n_])
#define DECLARED(none, member)                  DECLARED_OF(UNPACKED member)
#define DECLARED_OF(...)                        DECLARED_AS(__VA_ARGS__, )
#define DECLARED_AS(row, type, m, n_, ...)      type m n_;
#define TABLED(type, member)                    TABLED_OF(type, UNPACKED member, 0, 0)
#define TABLED_OF(...)                          TABLED_AS(__VA_ARGS__)
#define TABLED_AS(type, row, own, m, n_, ...)   TABLED_##row(type, m, __VA_ARGS__)
#define TABLED_SHOWN(...)                       MEMBER(__VA_ARGS__),
#define TABLED_SHOWN_AT(type, m, k, flags, ...) MEMBER(type, m, k, AT | (flags), 0),
#define TABLED_HIDDEN(...)

/* Returns the layout for this call, or NULL if there is none for the call's word size. */
const struct layout *layout_for(const struct decode *d, const struct layout *l);
/*
 * Emits the structure at `addr`. `size` is its length as the program gave it. Leaves out members beyond that length. If
 * the structure is longer than its layout, shows "..." for the rest. If the structure cannot be read, emits the
 * pointer.
 */
void layout_emit(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t size);
/*
 * Says which members are shown. `there` gets a member and the value of another one, such as a mask, which has `size`
 * bytes at `offset`. This value is 0 if the structure is too short for it.
 */
struct layout_choice {
	bool (*there)(const struct member *m, uint64_t value);
	uint16_t offset, size;
};
/* Like layout_emit(), without the members for which c->there() returns false. */
void layout_emit_there(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t size,
		       const struct layout_choice *c);

/*
 * `about` is a layout. The three functions differ in where the size of the structure is: in the layout, in the next
 * argument, or in the first member (u32).
 */
show_fn show_struct, show_struct_sized, show_struct_own_size;
/* Like show_struct(), but an argument is shown as it was at entry, even after the call. */
show_fn show_kept_struct;
/* Emits an array of `n` structures. */
void layout_emit_array(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t n);
/* Shows an array of structures. `about` is a layout, and the next argument is the number of structures. */
show_fn show_structs;

extern const struct layout layout_timespec, layout_timespec64, layout_timeval, layout_timezone, layout_itimerval,
	layout_itimerspec, layout_utimbuf, layout_tms, layout_timex, layout_statx_timestamp, layout_statfs,
	layout_flock, layout_flock_held, layout_owner_ex, layout_open_how, layout_mount_attr, layout_file_attr,
	layout_cachestat_range, layout_cachestat, layout_mnt_id_req, layout_listmount_req, layout_fsxattr, layout_dqblk,
	layout_dqinfo, layout_rusage, layout_rlimit, layout_rlimit64, layout_sysinfo, layout_utsname,
	layout_sched_param, layout_sched_attr, layout_cap_header, layout_futex_waitv, layout_user_desc, layout_stack,
	layout_mq_attr, layout_sembuf, layout_ucred, layout_tcp_info, layout_ifinfomsg, layout_ifmap, layout_ipc_perm,
	layout_ipc_perm_set, layout_in_pktinfo, layout_in6_pktinfo, layout_termios, layout_termios2, layout_winsize,
	layout_io_uring_params, layout_sqring_offsets, layout_cqring_offsets, layout_io_event, layout_landlock_ruleset,
	layout_notif_sizes, layout_file_clone_range, layout_fstrim_range, layout_rtc_time, layout_rusage32,
	layout_sysinfo32, layout_tms32, layout_itimerval32, layout_itimerspec32, layout_stack32, layout_mq_attr32,
	layout_flock32, layout_flock_held32, layout_flock64, layout_flock64_held, layout_statfs32, layout_statfs64,
	layout_msqid_ds32, layout_shmid_ds32, layout_semid_ds32, layout_stat32, layout_stat64, layout_itimerspec64,
	layout_peek_signals, layout_key_dh, layout_key_query, layout_key_params, layout_filter_program,
	layout_new_timeval, layout_fiemap, layout_loop_info, layout_loop_config, layout_blkpg, layout_blkpg_partition,
	layout_uffd_api, layout_uffd_api_out, layout_uffd_range, layout_uffd_register, layout_uffd_register_out,
	layout_uffd_zeropage, layout_uffd_zeropage_out, layout_uffd_continue, layout_uffd_continue_out,
	layout_uffd_poison, layout_uffd_poison_out, layout_uffd_copy, layout_uffd_copy_out, layout_uffd_move,
	layout_uffd_move_out, layout_uffd_protect, layout_termio, layout_vt_stat, layout_vt_mode, layout_input_id,
	layout_input_absinfo, layout_rtc_wkalrm, layout_kvm_region, layout_seccomp_notif, layout_seccomp_data,
	layout_seccomp_response, layout_hardware, layout_seccomp_addfd, layout_sigset_pair, layout_epoll_slot,
	layout_landlock_path, layout_landlock_port, layout_shmid_set, layout_shmid_ds, layout_shm_limits,
	layout_shm_usage, layout_msqid_set, layout_msqid_ds, layout_msg_limits, layout_semid_set, layout_semid_ds,
	layout_sem_limits;

#endif
