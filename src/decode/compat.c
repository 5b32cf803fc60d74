/*
 * The structures of 32-bit programs (include/linux/compat.h and the headers of i386). Layouts refer to these as
 * `narrow`.
 */
#include "decode/layout.h"

struct compat_rusage {
	int32_t ru_utime[2], ru_stime[2];
	int32_t ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock,
		ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
LAYOUT(rusage32, struct compat_rusage, (ru_utime, TIMEVAL, AT), (ru_stime, TIMEVAL, AT), (ru_maxrss, INT, VERBOSE),
       (ru_ixrss, INT, VERBOSE), (ru_idrss, INT, VERBOSE), (ru_isrss, INT, VERBOSE), (ru_minflt, INT, VERBOSE),
       (ru_majflt, INT, VERBOSE), (ru_nswap, INT, VERBOSE), (ru_inblock, INT, VERBOSE), (ru_oublock, INT, VERBOSE),
       (ru_msgsnd, INT, VERBOSE), (ru_msgrcv, INT, VERBOSE), (ru_nsignals, INT, VERBOSE), (ru_nvcsw, INT, VERBOSE),
       (ru_nivcsw, INT, VERBOSE));

struct compat_sysinfo {
	int32_t uptime;
	uint32_t loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	uint16_t procs, pad;
	uint32_t totalhigh, freehigh, mem_unit;
};
LAYOUT(sysinfo32, struct compat_sysinfo, (uptime, INT), (loads, LOADS, AT), (totalram, UINT), (freeram, UINT),
       (sharedram, UINT), (bufferram, UINT), (totalswap, UINT), (freeswap, UINT), (procs, UINT), (totalhigh, UINT),
       (freehigh, UINT), (mem_unit, UINT));

struct compat_tms {
	int32_t tms_utime, tms_stime, tms_cutime, tms_cstime;
};
LAYOUT(tms32, struct compat_tms, (tms_utime, TICKS), (tms_stime, TICKS), (tms_cutime, TICKS), (tms_cstime, TICKS));

struct compat_itimer {
	int32_t it_interval[2], it_value[2];
};
LAYOUT(itimerval32, struct compat_itimer, (it_interval, TIMEVAL, AT), (it_value, TIMEVAL, AT));
LAYOUT(itimerspec32, struct compat_itimer, (it_interval, TIMESPEC, AT), (it_value, TIMESPEC, AT));

struct compat_stack {
	uint32_t ss_sp;
	int32_t ss_flags;
	uint32_t ss_size;
};
LAYOUT(stack32, struct compat_stack, (ss_sp, PTR), (ss_flags, SS_FLAGS), (ss_size, UINT));

struct compat_mq_attr {
	int32_t mq_flags, mq_maxmsg, mq_msgsize, mq_curmsgs, reserved[4];
};
LAYOUT(mq_attr32, struct compat_mq_attr, (mq_flags, MQ_FLAGS), (mq_maxmsg, INT), (mq_msgsize, INT), (mq_curmsgs, INT));

struct compat_flock {
	int16_t l_type, l_whence;
	int32_t l_start, l_len, l_pid;
};
LAYOUT(flock32, struct compat_flock, (l_type, FLOCK_TYPE), (l_whence, WHENCE), (l_start, INT), (l_len, INT));
LAYOUT(flock_held32, struct compat_flock, (l_type, FLOCK_TYPE), (l_whence, WHENCE), (l_start, INT), (l_len, INT),
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

struct compat_semid {
	uint32_t sem_perm[9];
	uint32_t sem_otime, otime_high, sem_ctime, ctime_high, sem_nsems;
};
LAYOUT(semid_ds32, struct compat_semid, (sem_perm, IPC_PERM, AT), (sem_otime, UINT), (sem_ctime, UINT),
       (sem_nsems, UINT));

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
