/*
 * The structures of 32-bit programs (include/linux/compat.h and the headers of i386). Layouts refer to these as
 * `narrow`.
 */
#include "decode/layout.h"

#include <linux/types.h>

/*
 * Members of a struct compat_...: C() is a number, CV() is a number that is shown only with -v, and C_AT() is shown by
 * its address.
 */
#define C(t, m, k)    M(struct compat_##t, m, k)
#define CV(t, m, k)   M_VERBOSE(struct compat_##t, m, k)
#define C_AT(t, m, k) M_AT(struct compat_##t, m, k)

struct compat_rusage {
	int32_t ru_utime[2], ru_stime[2];
	int32_t ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock,
		ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
LAYOUT(rusage32, struct compat_rusage, C_AT(rusage, ru_utime, TIMEVAL), C_AT(rusage, ru_stime, TIMEVAL),
       CV(rusage, ru_maxrss, INT), CV(rusage, ru_ixrss, INT), CV(rusage, ru_idrss, INT), CV(rusage, ru_isrss, INT),
       CV(rusage, ru_minflt, INT), CV(rusage, ru_majflt, INT), CV(rusage, ru_nswap, INT), CV(rusage, ru_inblock, INT),
       CV(rusage, ru_oublock, INT), CV(rusage, ru_msgsnd, INT), CV(rusage, ru_msgrcv, INT),
       CV(rusage, ru_nsignals, INT), CV(rusage, ru_nvcsw, INT), CV(rusage, ru_nivcsw, INT));

struct compat_sysinfo {
	int32_t uptime;
	uint32_t loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	uint16_t procs, pad;
	uint32_t totalhigh, freehigh, mem_unit;
};
LAYOUT(sysinfo32, struct compat_sysinfo, C(sysinfo, uptime, INT), C_AT(sysinfo, loads, LOADS),
       C(sysinfo, totalram, UINT), C(sysinfo, freeram, UINT), C(sysinfo, sharedram, UINT), C(sysinfo, bufferram, UINT),
       C(sysinfo, totalswap, UINT), C(sysinfo, freeswap, UINT), C(sysinfo, procs, UINT), C(sysinfo, totalhigh, UINT),
       C(sysinfo, freehigh, UINT), C(sysinfo, mem_unit, UINT));

struct compat_tms {
	int32_t tms_utime, tms_stime, tms_cutime, tms_cstime;
};
LAYOUT(tms32, struct compat_tms, C(tms, tms_utime, TICKS), C(tms, tms_stime, TICKS), C(tms, tms_cutime, TICKS),
       C(tms, tms_cstime, TICKS));

struct compat_itimer {
	int32_t it_interval[2], it_value[2];
};
LAYOUT(itimerval32, struct compat_itimer, C_AT(itimer, it_interval, TIMEVAL), C_AT(itimer, it_value, TIMEVAL));
LAYOUT(itimerspec32, struct compat_itimer, C_AT(itimer, it_interval, TIMESPEC), C_AT(itimer, it_value, TIMESPEC));

struct compat_stack {
	uint32_t ss_sp;
	int32_t ss_flags;
	uint32_t ss_size;
};
LAYOUT(stack32, struct compat_stack, C(stack, ss_sp, PTR), C(stack, ss_flags, SS_FLAGS), C(stack, ss_size, UINT));

struct compat_mq_attr {
	int32_t mq_flags, mq_maxmsg, mq_msgsize, mq_curmsgs, reserved[4];
};
LAYOUT(mq_attr32, struct compat_mq_attr, C(mq_attr, mq_flags, OPEN_FLAGS), C(mq_attr, mq_maxmsg, INT),
       C(mq_attr, mq_msgsize, INT), C(mq_attr, mq_curmsgs, INT));

struct compat_flock {
	int16_t l_type, l_whence;
	int32_t l_start, l_len, l_pid;
};
LAYOUT(flock32, struct compat_flock, C(flock, l_type, FLOCK_TYPE), C(flock, l_whence, WHENCE), C(flock, l_start, INT),
       C(flock, l_len, INT));
LAYOUT(flock_held32, struct compat_flock, C(flock, l_type, FLOCK_TYPE), C(flock, l_whence, WHENCE),
       C(flock, l_start, INT), C(flock, l_len, INT), C(flock, l_pid, PID));

/*
 * For F_GETLK64 and the other commands from 12 to 14. i386 is the only architecture where this structure has no
 * padding.
 */
struct compat_flock64 {
	int16_t l_type, l_whence;
	int64_t l_start, l_len;
	int32_t l_pid;
} __attribute__((packed));
LAYOUT_SAME(flock64, struct compat_flock64, C(flock64, l_type, FLOCK_TYPE), C(flock64, l_whence, WHENCE),
	    C(flock64, l_start, LONG), C(flock64, l_len, LONG));
LAYOUT_SAME(flock64_held, struct compat_flock64, C(flock64, l_type, FLOCK_TYPE), C(flock64, l_whence, WHENCE),
	    C(flock64, l_start, LONG), C(flock64, l_len, LONG), C(flock64, l_pid, PID));

struct compat_statfs {
	uint32_t f_type, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	int32_t f_fsid[2];
	uint32_t f_namelen, f_frsize, f_flags, spare[4];
};
LAYOUT(statfs32, struct compat_statfs, C(statfs, f_type, STATFS_TYPE), C(statfs, f_bsize, UINT),
       C(statfs, f_blocks, UINT), C(statfs, f_bfree, UINT), C(statfs, f_bavail, UINT), C(statfs, f_files, UINT),
       C(statfs, f_ffree, UINT), C_AT(statfs, f_fsid, FSID), C(statfs, f_namelen, UINT), C(statfs, f_frsize, UINT),
       C(statfs, f_flags, STATFS_FLAGS));

struct compat_statfs64 {
	uint32_t f_type, f_bsize;
	uint64_t f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	int32_t f_fsid[2];
	uint32_t f_namelen, f_frsize, f_flags, spare[4];
} __attribute__((packed));
LAYOUT_SAME(statfs64, struct compat_statfs64, C(statfs64, f_type, STATFS_TYPE), C(statfs64, f_bsize, UINT),
	    C(statfs64, f_blocks, ULONG), C(statfs64, f_bfree, ULONG), C(statfs64, f_bavail, ULONG),
	    C(statfs64, f_files, ULONG), C(statfs64, f_ffree, ULONG), C_AT(statfs64, f_fsid, FSID),
	    C(statfs64, f_namelen, UINT), C(statfs64, f_frsize, UINT), C(statfs64, f_flags, STATFS_FLAGS));

/* The first part is ipc64_perm of i386: key, uid, gid, cuid, cgid, mode (16 bits), seq and reserved space. */
struct compat_msqid {
	uint32_t perm[9];
	uint32_t msg_stime, stime_high, msg_rtime, rtime_high, msg_ctime, ctime_high, cbytes, msg_qnum, msg_qbytes;
	int32_t msg_lspid, msg_lrpid;
};
#define PERM(name)                                                                                                     \
	{                                                                                                              \
		name, 0, 0, K_IPC_PERM, 0                                                                              \
	}
LAYOUT(msqid_ds32, struct compat_msqid, PERM("msg_perm"), C(msqid, msg_stime, UINT), C(msqid, msg_rtime, UINT),
       C(msqid, msg_ctime, UINT), C(msqid, msg_qnum, UINT), C(msqid, msg_qbytes, UINT), C(msqid, msg_lspid, PID),
       C(msqid, msg_lrpid, PID));

struct compat_shmid {
	uint32_t perm[9];
	uint32_t shm_segsz, shm_atime, atime_high, shm_dtime, dtime_high, shm_ctime, ctime_high;
	int32_t shm_cpid, shm_lpid;
	uint32_t shm_nattch;
};
LAYOUT(shmid_ds32, struct compat_shmid, PERM("shm_perm"), C(shmid, shm_segsz, UINT), C(shmid, shm_cpid, PID),
       C(shmid, shm_lpid, PID), C(shmid, shm_nattch, UINT), C(shmid, shm_atime, UINT), C(shmid, shm_dtime, UINT),
       C(shmid, shm_ctime, UINT));

struct compat_semid {
	uint32_t perm[9];
	uint32_t sem_otime, otime_high, sem_ctime, ctime_high, sem_nsems;
};
LAYOUT(semid_ds32, struct compat_semid, PERM("sem_perm"), C(semid, sem_otime, UINT), C(semid, sem_ctime, UINT),
       C(semid, sem_nsems, UINT));

/* struct compat_stat of i386: the result of the i386 calls stat, lstat and fstat. */
struct compat_stat {
	uint16_t st_dev, pad1;
	uint32_t st_ino;
	uint16_t st_mode, st_nlink, st_uid, st_gid, st_rdev, pad2;
	uint32_t st_size, st_blksize, st_blocks, st_atim[2], st_mtim[2], st_ctim[2], unused[2];
};
LAYOUT(stat32, struct compat_stat, CV(stat, st_dev, DEV), CV(stat, st_ino, UINT), C(stat, st_mode, FILE_MODE),
       CV(stat, st_nlink, UINT), CV(stat, st_uid, UID), CV(stat, st_gid, UID), CV(stat, st_blksize, UINT),
       CV(stat, st_blocks, UINT), C(stat, st_size, UINT), M_AT_VERBOSE(struct compat_stat, st_atim, TIME_STAMP),
       M_AT_VERBOSE(struct compat_stat, st_mtim, TIME_STAMP), M_AT_VERBOSE(struct compat_stat, st_ctim, TIME_STAMP));
