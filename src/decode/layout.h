/* Structures as tables: the position and kind of each member. */
#ifndef SCTRACE_DECODE_LAYOUT_H
#define SCTRACE_DECODE_LAYOUT_H

#include "decode/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum member_flags {
	MEMBER_VERBOSE = 1 << 0, /* the member is shown only with -v; without it, "..." ends the structure */
	MEMBER_NONZERO = 1 << 1, /* shown only if it is not zero */
};

struct member {
	const char *name;
	uint16_t offset;
	uint16_t size; /* 1, 2, 4 or 8: the member is a number of this size; 0: the member is an inner structure or
			* an array, and its address is passed to the kind */
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
 * Members of `type`: M() is a number, M_VERBOSE() is a number that is shown only with -v, M_NONZERO() is a number that
 * is shown only if it is not zero, and M_AT() is shown by its address.
 */
#define M(type, m, k)                                                                                                  \
	{                                                                                                              \
#m, offsetof(type, m), sizeof(((type *)0)->m), K_##k, 0                                                \
	}
#define M_VERBOSE(type, m, k)                                                                                          \
	{                                                                                                              \
#m, offsetof(type, m), sizeof(((type *)0)->m), K_##k, MEMBER_VERBOSE                                   \
	}
#define M_NONZERO(type, m, k)                                                                                          \
	{                                                                                                              \
#m, offsetof(type, m), sizeof(((type *)0)->m), K_##k, MEMBER_NONZERO                                   \
	}
#define M_AT(type, m, k)                                                                                               \
	{                                                                                                              \
#m, offsetof(type, m), 0, K_##k, 0                                                                     \
	}
#define M_AT_VERBOSE(type, m, k)                                                                                       \
	{                                                                                                              \
#m, offsetof(type, m), 0, K_##k, MEMBER_VERBOSE                                                        \
	}

/*
 * Defines layout_NAME of structure `type` from its members. If there is no narrow layout, the structure of a 32-bit
 * program is shown as a pointer.
 */
#define LAYOUT_NARROW(nm, type, narrow_, ...)                                                                          \
	static const struct member members_##nm[] = {__VA_ARGS__};                                                     \
	const struct layout layout_##nm = {.size = sizeof(type),                                                       \
					   .n = sizeof(members_##nm) / sizeof(struct member),                          \
					   .members = members_##nm,                                                    \
					   .narrow = (narrow_)}
#define LAYOUT(nm, type, ...)      LAYOUT_NARROW(nm, type, NULL, __VA_ARGS__)
#define LAYOUT_SAME(nm, type, ...) LAYOUT_NARROW(nm, type, &layout_##nm, __VA_ARGS__)

/* Returns the layout for this call, or NULL if there is none for the call's word size. */
const struct layout *layout_for(const struct decode *d, const struct layout *l);
/*
 * Emits the structure at `addr`. `size` is its length as the program gave it. Leaves out members beyond that length. If
 * the structure is longer than its layout, shows "..." for the rest. If the structure cannot be read, emits the
 * pointer.
 */
void layout_emit(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t size);
/*
 * Like layout_emit(), without the members for which `there` returns false. `there` gets a member and `flags`, a value
 * that the structure itself contains.
 */
typedef bool member_fn(const struct member *m, uint64_t flags);
void layout_emit_there(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t size, member_fn *there,
		       uint64_t flags);

/*
 * `about` is a layout. The three functions differ in where the size of the structure is: in the layout, in the next
 * argument, or in the first member (u32).
 */
show_fn show_struct, show_struct_sized, show_struct_own_size;
/* Emits an array of `n` structures. */
void layout_emit_array(const struct decode *d, const struct layout *l, uint64_t addr, uint64_t n);
/* Shows an array of structures. `about` is a layout, and the next argument is the number of structures. */
show_fn show_structs;

#define LAYOUT_LIST(X)                                                                                                 \
	X(timespec)                                                                                                    \
	X(timespec64)                                                                                                  \
	X(timeval)                                                                                                     \
	X(timezone)                                                                                                    \
	X(itimerval)                                                                                                   \
	X(itimerspec)                                                                                                  \
	X(utimbuf)                                                                                                     \
	X(tms)                                                                                                         \
	X(timex)                                                                                                       \
	X(statx_timestamp)                                                                                             \
	X(stat)                                                                                                        \
	X(stat64)                                                                                                      \
	X(statx)                                                                                                       \
	X(statfs)                                                                                                      \
	X(flock)                                                                                                       \
	X(flock_held)                                                                                                  \
	X(owner_ex)                                                                                                    \
	X(open_how)                                                                                                    \
	X(mount_attr)                                                                                                  \
	X(xattr_args)                                                                                                  \
	X(file_attr)                                                                                                   \
	X(cachestat_range)                                                                                             \
	X(cachestat)                                                                                                   \
	X(mnt_id_req)                                                                                                  \
	X(statmount)                                                                                                   \
	X(fsxattr)                                                                                                     \
	X(dqblk)                                                                                                       \
	X(rusage)                                                                                                      \
	X(rlimit)                                                                                                      \
	X(rlimit64)                                                                                                    \
	X(sysinfo)                                                                                                     \
	X(utsname)                                                                                                     \
	X(sched_param)                                                                                                 \
	X(sched_attr)                                                                                                  \
	X(clone_args)                                                                                                  \
	X(cap_header)                                                                                                  \
	X(futex_waitv)                                                                                                 \
	X(user_desc)                                                                                                   \
	X(rseq)                                                                                                        \
	X(stack)                                                                                                       \
	X(mq_attr)                                                                                                     \
	X(shmid_ds)                                                                                                    \
	X(msqid_ds)                                                                                                    \
	X(semid_ds)                                                                                                    \
	X(sembuf)                                                                                                      \
	X(pollfd)                                                                                                      \
	X(pollfd_out)                                                                                                  \
	X(linger)                                                                                                      \
	X(ucred)                                                                                                       \
	X(ip_mreq)                                                                                                     \
	X(ip_mreqn)                                                                                                    \
	X(ipv6_mreq)                                                                                                   \
	X(tcp_info)                                                                                                    \
	X(tpacket_stats)                                                                                               \
	X(ifinfomsg)                                                                                                   \
	X(ifaddrmsg)                                                                                                   \
	X(rtmsg)                                                                                                       \
	X(ndmsg)                                                                                                       \
	X(fib_rule_hdr)                                                                                                \
	X(tcmsg)                                                                                                       \
	X(rtgenmsg)                                                                                                    \
	X(netconfmsg)                                                                                                  \
	X(nhmsg)                                                                                                       \
	X(if_stats_msg)                                                                                                \
	X(link_stats)                                                                                                  \
	X(link_stats64)                                                                                                \
	X(link_map)                                                                                                    \
	X(ifa_cacheinfo)                                                                                               \
	X(ifla_cacheinfo)                                                                                              \
	X(rta_cacheinfo)                                                                                               \
	X(rta_mfc_stats)                                                                                               \
	X(nda_cacheinfo)                                                                                               \
	X(fra_uid_range)                                                                                               \
	X(fra_port_range)                                                                                              \
	X(bitfield32)                                                                                                  \
	X(vlan_flags)                                                                                                  \
	X(vlan_qos)                                                                                                    \
	X(br_vlan_info)                                                                                                \
	X(br_boolopt)                                                                                                  \
	X(gnet_rate_est)                                                                                               \
	X(tc_stats)                                                                                                    \
	X(gnet_estimator)                                                                                              \
	X(gnet_basic)                                                                                                  \
	X(gnet_rate_est64)                                                                                             \
	X(gnet_queue)                                                                                                  \
	X(ifmap)                                                                                                       \
	X(ifmap32)                                                                                                     \
	X(ipc_perm)                                                                                                    \
	X(ipc_perm32)                                                                                                  \
	X(rtnexthop)                                                                                                   \
	X(genlmsghdr)                                                                                                  \
	X(genlmsghdr_ctrl)                                                                                             \
	X(nfgenmsg)                                                                                                    \
	X(inet_diag_req)                                                                                               \
	X(inet_diag_msg)                                                                                               \
	X(unix_diag_req)                                                                                               \
	X(unix_diag_msg)                                                                                               \
	X(netlink_diag_req)                                                                                            \
	X(netlink_diag_msg)                                                                                            \
	X(packet_diag_req)                                                                                             \
	X(packet_diag_msg)                                                                                             \
	X(inet_diag_meminfo)                                                                                           \
	X(tcpvegas_info)                                                                                               \
	X(tcp_dctcp_info)                                                                                              \
	X(tcp_bbr_info)                                                                                                \
	X(unix_vfs)                                                                                                    \
	X(unix_rqlen)                                                                                                  \
	X(packet_diag_info)                                                                                            \
	X(packet_diag_ring)                                                                                            \
	X(in_pktinfo)                                                                                                  \
	X(in6_pktinfo)                                                                                                 \
	X(termios)                                                                                                     \
	X(winsize)                                                                                                     \
	X(io_uring_params)                                                                                             \
	X(sqring_offsets)                                                                                              \
	X(cqring_offsets)                                                                                              \
	X(io_event)                                                                                                    \
	X(landlock_ruleset)                                                                                            \
	X(landlock_path)                                                                                               \
	X(landlock_port)                                                                                               \
	X(perf_attr)                                                                                                   \
	X(kexec_segment)                                                                                               \
	X(notif_sizes)                                                                                                 \
	X(file_clone_range)                                                                                            \
	X(fstrim_range)                                                                                                \
	X(rtc_time)                                                                                                    \
	X(rusage32)                                                                                                    \
	X(sysinfo32)                                                                                                   \
	X(tms32)                                                                                                       \
	X(itimerval32)                                                                                                 \
	X(itimerspec32)                                                                                                \
	X(stack32)                                                                                                     \
	X(mq_attr32)                                                                                                   \
	X(flock32)                                                                                                     \
	X(flock_held32)                                                                                                \
	X(flock64)                                                                                                     \
	X(flock64_held)                                                                                                \
	X(statfs32)                                                                                                    \
	X(statfs64)                                                                                                    \
	X(msqid_ds32)                                                                                                  \
	X(shmid_ds32)                                                                                                  \
	X(semid_ds32)                                                                                                  \
	X(stat32)                                                                                                      \
	X(itimerspec64)                                                                                                \
	X(bpf_query)                                                                                                   \
	X(bpf_task_fd)                                                                                                 \
	X(bpf_link_update)                                                                                             \
	X(bpf_link_fd)                                                                                                 \
	X(bpf_iter)                                                                                                    \
	X(bpf_stats)                                                                                                   \
	X(bpf_bind)                                                                                                    \
	X(bpf_map_create)                                                                                              \
	X(bpf_elem)                                                                                                    \
	X(bpf_next_key)                                                                                                \
	X(bpf_prog_load)                                                                                               \
	X(bpf_obj)                                                                                                     \
	X(bpf_attach)                                                                                                  \
	X(bpf_get_id)                                                                                                  \
	X(bpf_info)                                                                                                    \
	X(bpf_btf_load)                                                                                                \
	X(bpf_raw_tracepoint)                                                                                          \
	X(bpf_link_create)                                                                                             \
	X(bpf_fd)                                                                                                      \
	X(bpf_batch)                                                                                                   \
	X(bpf_test_run)

#define X(name) extern const struct layout layout_##name;
LAYOUT_LIST(X)
#undef X

#endif
