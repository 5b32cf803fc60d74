/* SPDX-License-Identifier: MIT */
#include "decode/decode.h"

#include "decode/layout.h"
#include "syscall/call_table.h"
#include "tracee/mem.h"

#include <linux/audit.h>
#include <string.h>

/* What is special about 32-bit programs: the calls of i386 that contain another call, and structures. */

/* Call numbers of i386 (arch/x86/entry/syscalls/syscall_32.tbl). */
enum { NR_SELECT = 82, NR_MMAP = 90, NR_SOCKETCALL = 102, NR_IPC = 117 };

struct row {
	const char *name;
	unsigned nargs;
};

/*
 * The calls of socketcall(2), in the order of net/socket.c. The first argument, from 1 on, selects the call. The second
 * argument points at the call's arguments.
 */
static const struct row sockets[] = {
	[1] = {"socket", 3},    [2] = {"bind", 3},        [3] = {"connect", 3},     [4] = {"listen", 2},
	[5] = {"accept", 3},    [6] = {"getsockname", 3}, [7] = {"getpeername", 3}, [8] = {"socketpair", 4},
	[9] = {"send", 4},      [10] = {"recv", 4},       [11] = {"sendto", 6},     [12] = {"recvfrom", 6},
	[13] = {"shutdown", 2}, [14] = {"setsockopt", 5}, [15] = {"getsockopt", 5}, [16] = {"sendmsg", 3},
	[17] = {"recvmsg", 3},  [18] = {"accept4", 4},    [19] = {"recvmmsg", 5},   [20] = {"sendmmsg", 4},
};

/*
 * The calls of ipc(2), in the order of ipc/syscall.c. The first argument selects the call. Each row also says which of
 * the parameters first, second, third, ptr, fifth (1 to 5) are the arguments of the call.
 */
static const struct {
	const char *name;
	unsigned char from[4];
} ipcs[] = {
	[1] = {"semop", {1, 4, 2}},      [2] = {"semget", {1, 2, 3}},
	[3] = {"semctl", {1, 2, 3, 4}},  [4] = {"semtimedop", {1, 4, 2, 5}},
	[11] = {"msgsnd", {1, 4, 2, 3}}, [12] = {"msgrcv", {1, 4, 2, 5}},
	[13] = {"msgget", {1, 2}},       [14] = {"msgctl", {1, 2, 4}},
	[21] = {"shmat", {1, 4, 2}},     [22] = {"shmdt", {4}},
	[23] = {"shmget", {1, 2, 3}},    [24] = {"shmctl", {1, 2, 4}},
};

/* Reads `n` arguments of 4 bytes each at `addr`. */
static bool read_args(const struct mem *mem, uint64_t addr, unsigned n, uint64_t *args)
{
	uint32_t words[6];
	if (mem_get(mem, addr, words, n * sizeof(*words)) != 0)
		return false;
	for (unsigned i = 0; i < n; i++)
		args[i] = words[i];
	return true;
}

static bool socket_call(const struct call *c, const struct mem *mem, struct call *real)
{
	uint32_t which = (uint32_t)c->args[0];
	if (which < 1 || which >= sizeof(sockets) / sizeof(*sockets))
		return false;
	real->nr = syscall_inside(sockets[which].name, c->nr);
	return read_args(mem, c->args[1], sockets[which].nargs, real->args);
}

enum { IPC_SEMCTL = 3, IPC_MSGRCV = 12, IPC_SHMAT = 21 };

static bool ipc_call(const struct call *c, const struct mem *mem, struct call *real)
{
	uint32_t which = (uint32_t)c->args[0] & 0xffff, version = (uint32_t)c->args[0] >> 16;
	uint64_t pair[6];
	if (which >= sizeof(ipcs) / sizeof(*ipcs) || !ipcs[which].name)
		return false;
	real->nr = syscall_inside(ipcs[which].name, c->nr);
	for (unsigned i = 0; i < sizeof(ipcs[which].from); i++)
		real->args[i] = ipcs[which].from[i] ? c->args[ipcs[which].from[i]] : 0;
	if (which == IPC_SEMCTL)
		return read_args(mem, c->args[4], 1, real->args + 3) || c->args[4] == 0;
	if (which != IPC_MSGRCV)
		return true;
	/* The old form of the call: ptr points at a structure that contains the buffer and the type. */
	if (version == 0) {
		if (!read_args(mem, c->args[4], 2, pair))
			return false;
		real->args[1] = pair[0];
		real->args[3] = pair[1];
	}
	real->args[4] = c->args[3];
	return true;
}

static bool take_apart(const struct call *c, const struct mem *mem, struct call *real)
{
	static const struct {
		int nr;
		struct row row;
	} pointers[] = {{NR_SELECT, {"select", 5}}, {NR_MMAP, {"mmap", 6}}};
	if (c->arch != AUDIT_ARCH_I386 || !mem)
		return false;
	*real = *c;
	memset(real->args, 0, sizeof(real->args));
	if (c->nr == NR_SOCKETCALL)
		return socket_call(c, mem, real);
	if (c->nr == NR_IPC)
		return ipc_call(c, mem, real);
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++)
		if (c->nr == pointers[i].nr) {
			real->nr = syscall_inside(pointers[i].row.name, c->nr);
			return read_args(mem, c->args[0], pointers[i].row.nargs, real->args);
		}
	return false;
}

bool decode_inside(const struct call *c, const struct mem *mem, struct call *real)
{
	if (!take_apart(c, mem, real))
		return false;
	real->desc = syscall_lookup(real->arch, real->nr);
	return true;
}

int64_t decode_inside_result(const struct call *outer, const struct mem *mem)
{
	uint32_t addr;
	bool attached = outer->nr == NR_IPC && ((uint32_t)outer->args[0] & 0xffff) == IPC_SHMAT && !outer->error;
	return attached && mem && mem_get(mem, outer->args[3], &addr, sizeof(addr)) == 0 ? addr : outer->result;
}

/*
 * The structures of 32-bit programs (include/linux/compat.h and the headers of i386). Layouts refer to these as
 * `narrow`.
 */

STRUCTURE(rusage32, ARRAY(int32_t, ru_utime, 2, TIMEVAL), ARRAY(int32_t, ru_stime, 2, TIMEVAL),
	  M32(ru_maxrss, INT, VERBOSE), M32(ru_ixrss, INT, VERBOSE), M32(ru_idrss, INT, VERBOSE),
	  M32(ru_isrss, INT, VERBOSE), M32(ru_minflt, INT, VERBOSE), M32(ru_majflt, INT, VERBOSE),
	  M32(ru_nswap, INT, VERBOSE), M32(ru_inblock, INT, VERBOSE), M32(ru_oublock, INT, VERBOSE),
	  M32(ru_msgsnd, INT, VERBOSE), M32(ru_msgrcv, INT, VERBOSE), M32(ru_nsignals, INT, VERBOSE),
	  M32(ru_nvcsw, INT, VERBOSE), M32(ru_nivcsw, INT, VERBOSE));

STRUCTURE(sysinfo32, M32(uptime, INT), ARRAY(uint32_t, loads, 3, LOADS), M32(totalram, UINT), M32(freeram, UINT),
	  M32(sharedram, UINT), M32(bufferram, UINT), M32(totalswap, UINT), M32(freeswap, UINT), M16(procs, UINT),
	  SKIP16(pad), M32(totalhigh, UINT), M32(freehigh, UINT), M32(mem_unit, UINT));

STRUCTURE(tms32, M32(tms_utime, TICKS), M32(tms_stime, TICKS), M32(tms_cutime, TICKS), M32(tms_cstime, TICKS));

STRUCTURE(itimerval32, ARRAY(int32_t, it_interval, 2, TIMEVAL), ARRAY(int32_t, it_value, 2, TIMEVAL));
LAYOUT(itimerspec32, struct kernel_itimerval32, (it_interval, TIMESPEC, AT), (it_value, TIMESPEC, AT));

STRUCTURE(stack32, M32(ss_sp, PTR), M32(ss_flags, SS_FLAGS), M32(ss_size, UINT));

STRUCTURE(mq_attr32, M32(mq_flags, MQ_FLAGS), M32(mq_maxmsg, INT), M32(mq_msgsize, INT), M32(mq_curmsgs, INT),
	  SKIPS(int32_t, reserved, 4));

STRUCTURE(flock32, M16(l_type, FLOCK_TYPE), M16(l_whence, WHENCE), M32(l_start, INT), M32(l_len, INT), SKIP32(l_pid));
LAYOUT(flock_held32, struct kernel_flock32, (l_type, FLOCK_TYPE), (l_whence, WHENCE), (l_start, INT), (l_len, INT),
       (l_pid, PID));

/*
 * For F_GETLK64 and the other commands from 12 to 14. i386 is the only architecture where this structure has no
 * padding.
 */
struct compat_flock64 {
	int16_t l_type, l_whence;
	int64_t l_start, l_len;
	int32_t l_pid;
} __attribute__((packed));
LAYOUT_SAME(flock64, struct compat_flock64, (l_type, FLOCK_TYPE), (l_whence, WHENCE), (l_start, LONG), (l_len, LONG));
LAYOUT_SAME(flock64_held, struct compat_flock64, (l_type, FLOCK_TYPE), (l_whence, WHENCE), (l_start, LONG),
	    (l_len, LONG), (l_pid, PID));

struct compat_statfs {
	uint32_t f_type, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	int32_t f_fsid[2];
	uint32_t f_namelen, f_frsize, f_flags, spare[4];
};
LAYOUT(statfs32, struct compat_statfs, (f_type, STATFS_TYPE), (f_bsize, UINT), (f_blocks, UINT), (f_bfree, UINT),
       (f_bavail, UINT), (f_files, UINT), (f_ffree, UINT), (f_fsid, FSID, AT), (f_namelen, UINT), (f_frsize, UINT),
       (f_flags, STATFS_FLAGS));

struct compat_statfs64 {
	uint32_t f_type, f_bsize;
	uint64_t f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	int32_t f_fsid[2];
	uint32_t f_namelen, f_frsize, f_flags, spare[4];
} __attribute__((packed));
LAYOUT_SAME(statfs64, struct compat_statfs64, (f_type, STATFS_TYPE), (f_bsize, UINT), (f_blocks, ULONG),
	    (f_bfree, ULONG), (f_bavail, ULONG), (f_files, ULONG), (f_ffree, ULONG), (f_fsid, FSID, AT),
	    (f_namelen, UINT), (f_frsize, UINT), (f_flags, STATFS_FLAGS));

/* The first part is ipc64_perm of i386: key, uid, gid, cuid, cgid, mode (16 bits), seq and reserved space. */
struct compat_msqid {
	uint32_t msg_perm[9];
	uint32_t msg_stime, stime_high, msg_rtime, rtime_high, msg_ctime, ctime_high, cbytes, msg_qnum, msg_qbytes;
	int32_t msg_lspid, msg_lrpid;
};
LAYOUT(msqid_ds32, struct compat_msqid, (msg_perm, IPC_PERM, AT), (msg_stime, UINT), (msg_rtime, UINT),
       (msg_ctime, UINT), (msg_qnum, UINT), (msg_qbytes, UINT), (msg_lspid, PID), (msg_lrpid, PID));

struct compat_shmid {
	uint32_t shm_perm[9];
	uint32_t shm_segsz, shm_atime, atime_high, shm_dtime, dtime_high, shm_ctime, ctime_high;
	int32_t shm_cpid, shm_lpid;
	uint32_t shm_nattch;
};
LAYOUT(shmid_ds32, struct compat_shmid, (shm_perm, IPC_PERM, AT), (shm_segsz, UINT), (shm_cpid, PID), (shm_lpid, PID),
       (shm_nattch, UINT), (shm_atime, UINT), (shm_dtime, UINT), (shm_ctime, UINT));

STRUCTURE(semid_ds32, ARRAY(uint32_t, sem_perm, 9, IPC_PERM), M32(sem_otime, UINT), SKIP32(otime_high),
	  M32(sem_ctime, UINT), SKIP32(ctime_high), M32(sem_nsems, UINT));

/* struct compat_stat of i386: the result of the i386 calls stat, lstat and fstat. */
struct compat_stat {
	uint16_t st_dev, pad1;
	uint32_t st_ino;
	uint16_t st_mode, st_nlink, st_uid, st_gid, st_rdev, pad2;
	uint32_t st_size, st_blksize, st_blocks, st_atim[2], st_mtim[2], st_ctim[2], unused[2];
};
LAYOUT(stat32, struct compat_stat, (st_dev, DEV, VERBOSE), (st_ino, UINT, VERBOSE), (st_mode, FILE_MODE),
       (st_nlink, UINT, VERBOSE), (st_uid, UID, VERBOSE), (st_gid, UID, VERBOSE), (st_blksize, UINT, VERBOSE),
       (st_blocks, UINT, VERBOSE), (st_size, UINT), (st_atim, TIME_STAMP, AT | VERBOSE),
       (st_mtim, TIME_STAMP, AT | VERBOSE), (st_ctim, TIME_STAMP, AT | VERBOSE));
