/* SPDX-License-Identifier: MIT */
/* Decodes calls that few programs use, on fake memory: what they point at, and what the kernel writes. */
#include "decode_check.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>

static void test_ipc_limits(void **state)
{
	const struct seminfo sem = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	const struct msginfo msg = {1, 2, 3, 4, 5, 6, 7, 8};
	const uint64_t shm[6] = {7, 2, 3, 4, 5, 6};
	const struct shmid_ds segment = {.shm_segsz = 4096};
	(void)state;
	put(0, &sem, sizeof(sem));
	CHECK("0, 0, IPC_INFO, {semmap=1, semmni=2, semmns=3, semmnu=4, semmsl=5, semopm=6, semume=7, semusz=8, "
	      "semvmx=9, semaem=10}) = 3",
	      "semctl", 3, 0, 0, IPC_INFO, BASE);
	put(0, &msg, sizeof(msg));
	CHECK("0, MSG_INFO, {msgpool=1, msgmap=2, msgmax=3, msgmnb=4, msgmni=5, msgssz=6, msgtql=7, msgseg=8}) = 3",
	      "msgctl", 3, 0, MSG_INFO, BASE);
	put(0, shm, sizeof(shm));
	CHECK("0, IPC_INFO, {shmmax=7, shmmin=2, shmmni=3, shmseg=4, shmall=5}) = 1", "shmctl", 1, 0, IPC_INFO, BASE);
	CHECK("0, SHM_INFO, {used_ids=7, shm_tot=2, shm_rss=3, shm_swp=4, swap_attempts=5, swap_successes=6}) = 1",
	      "shmctl", 1, 0, SHM_INFO, BASE);
	CHECK("0, SHM_INFO, 0x10000) = -1 EPERM (Operation not permitted)", "shmctl", -EPERM, 0, SHM_INFO, BASE);
	/* SHM_LOCK is the number of MSG_STAT, but it does not use the pointer. */
	put(0, &segment, sizeof(segment));
	CHECK("5, SHM_LOCK, 0x10000) = 0", "shmctl", 0, 5, SHM_LOCK, BASE);
	CHECK("5, SHM_STAT_ANY, {shm_perm={uid=0, gid=0, mode=000, key=IPC_PRIVATE, cuid=0, cgid=0}, shm_segsz=4096, "
	      "shm_cpid=0, shm_lpid=0, "
	      "shm_nattch=0, shm_atime=0, shm_dtime=0, shm_ctime=0}) = 5",
	      "shmctl", 5, 5, 15, BASE);
	put(0, &(struct semid_ds){.sem_nsems = 4}, sizeof(struct semid_ds));
	CHECK("5, 0, SEM_STAT, {sem_perm={uid=0, gid=0, mode=000, key=IPC_PRIVATE, cuid=0, cgid=0}, sem_otime=0, "
	      "sem_ctime=0, sem_nsems=4}) = 7",
	      "semctl", 7, 5, 0, SEM_STAT, BASE);
	CHECK("5, 1, SETVAL, 7) = 0", "semctl", 0, 5, 1, SETVAL, 7);
}

static void handle_of_8(void)
{
	const struct {
		uint32_t bytes;
		int32_t type;
		char handle[8];
		uint64_t mount;
	} h = {8, 1, "\x12\x34", 0x8000001c};
	memcpy(memory, &h, sizeof(h));
}

static void test_handles(void **state)
{
	(void)state;
	kernel_writes = handle_of_8;
	put(0, &(uint32_t){128}, sizeof(uint32_t));
	CHECK("AT_FDCWD, NULL, {handle_bytes=128 => 8, handle_type=1, "
	      "f_handle=\"\\x12\\x34\\x00\\x00\\x00\\x00\\x00\\x00\"}, [-2147483620], AT_SYMLINK_FOLLOW) = 0",
	      "name_to_handle_at", 0, (uint32_t)-100, 0, BASE, BASE + 16, 0x400);
	/* The unique id of a mount has 64 bits. */
	put(0, &(uint32_t){8}, sizeof(uint32_t));
	CHECK("AT_FDCWD, NULL, {handle_bytes=8, handle_type=1, "
	      "f_handle=\"\\x12\\x34\\x00\\x00\\x00\\x00\\x00\\x00\"}, [0x8000001c], AT_HANDLE_MNT_ID_UNIQUE) = 0",
	      "name_to_handle_at", 0, (uint32_t)-100, 0, BASE, BASE + 16, 1);
	/* The kernel returns the size that is needed. */
	put(0, &(uint32_t){0}, sizeof(uint32_t));
	CHECK("AT_FDCWD, NULL, {handle_bytes=0 => 8}, 0x10010, 0) = -1 EOVERFLOW (Value too large for defined data "
	      "type)",
	      "name_to_handle_at", -EOVERFLOW, (uint32_t)-100, 0, BASE, BASE + 16, 0);
	CHECK("AT_FDCWD, NULL, 0x10000, 0x10010, 0) = -1 ENOENT (No such file or directory)", "name_to_handle_at",
	      -ENOENT, (uint32_t)-100, 0, BASE, BASE + 16, 0);
	kernel_writes = NULL;
}

static void test_ptrace(void **state)
{
	const struct {
		uint8_t op, pad[3];
		uint32_t arch;
		uint64_t ip, sp, nr, args[6];
		uint32_t ret_data;
	} entry = {.op = 1, .arch = AUDIT_ARCH_X86_64, .ip = 0x10, .sp = 0x20, .nr = 39, .args = {1, 2, 3, 4, 5, 6}};
	struct {
		uint8_t op, pad[3];
		uint32_t arch;
		uint64_t ip, sp;
		int64_t rval;
		uint8_t is_error, pad2[55];
	} exit = {.op = 2, .arch = AUDIT_ARCH_X86_64, .ip = 0x10, .sp = 0x20, .rval = -2, .is_error = 1};
	const uint64_t buffer[2] = {0x99, 216};
	const struct {
		uint64_t off;
		uint32_t flags;
		int32_t nr;
		siginfo_t si;
	} peek = {1, 1, 3, {.si_signo = SIGUSR1, .si_code = SI_TKILL, .si_pid = 5}};
	(void)state;
	put(0, &(uint64_t){0x1122}, sizeof(uint64_t));
	CHECK("PTRACE_PEEKDATA, 7, 0x55, [0x1122]) = 0", "ptrace", 0, PTRACE_PEEKDATA, 7, 0x55, BASE);
	CHECK("PTRACE_PEEKUSER, 7, 0x79, 0x10000) = -1 EIO (Input/output error)", "ptrace", -EIO, PTRACE_PEEKUSER, 7,
	      0x79, BASE);
	CHECK("PTRACE_ATTACH, 7) = 0", "ptrace", 0, PTRACE_ATTACH, 7, 0, BASE);
	CHECK("PTRACE_INTERRUPT, 7) = 0", "ptrace", 0, PTRACE_INTERRUPT, 7, 0, 0);
	CHECK("PTRACE_SINGLEBLOCK, 7, NULL, SIGUSR1) = 0", "ptrace", 0, 33, 7, 0, SIGUSR1);
	put(0, buffer, sizeof(buffer));
	CHECK("PTRACE_GETREGSET, 7, NT_PRSTATUS, {iov_base=0x99, iov_len=216}) = 0", "ptrace", 0, PTRACE_GETREGSET, 7,
	      1, BASE);
	put(0, &entry, sizeof(entry));
	CHECK("PTRACE_GET_SYSCALL_INFO, 7, 88, {op=PTRACE_SYSCALL_INFO_ENTRY, arch=AUDIT_ARCH_X86_64, "
	      "instruction_pointer=0x10, stack_pointer=0x20, entry={nr=__NR_getpid, args=[0x1, 0x2, 0x3, 0x4, 0x5, "
	      "0x6]}}) = 80",
	      "ptrace", 80, 0x420e, 7, 88, BASE);
	CHECK("PTRACE_GET_SYSCALL_INFO, 7, 24, {op=PTRACE_SYSCALL_INFO_ENTRY, arch=AUDIT_ARCH_X86_64, "
	      "instruction_pointer=0x10, stack_pointer=0x20, ...}) = 80",
	      "ptrace", 80, 0x420e, 7, 24, BASE);
	put(0, &exit, sizeof(exit));
	CHECK("PTRACE_GET_SYSCALL_INFO, 7, 88, {op=PTRACE_SYSCALL_INFO_EXIT, arch=AUDIT_ARCH_X86_64, "
	      "instruction_pointer=0x10, stack_pointer=0x20, exit={rval=-ENOENT, is_error=1}}) = 33",
	      "ptrace", 33, 0x420e, 7, 88, BASE);
	put(0, &peek, sizeof(peek));
	CHECK("PTRACE_PEEKSIGINFO, 7, {off=1, flags=PTRACE_PEEKSIGINFO_SHARED, nr=3}, [{si_signo=SIGUSR1, "
	      "si_code=SI_TKILL, si_pid=5, si_uid=0}]) = 1",
	      "ptrace", 1, 0x4209, 7, BASE, BASE + 16);
	put(0, &(int){6 << 16 | SIGTRAP << 8 | 0x7f}, sizeof(int));
	CHECK("7, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGTRAP}|PTRACE_EVENT_EXIT<<16], 0, NULL) = 7", "wait4", 7, 7, BASE,
	      0, 0);
}

static void test_mount_ids(void **state)
{
	struct {
		uint32_t size, mnt_opts;
		uint64_t mask;
		uint32_t major, minor;
		uint64_t magic;
		uint32_t flags, fs_type;
		uint64_t rest[8];
		uint32_t root, point;
		uint64_t spare[50];
		char str[8];
	} m = {.size = 520, .mask = 0x30, .fs_type = 0, .point = 3, .str = "fs\0/m"};
	(void)state;
	put(0, &m, sizeof(m));
	CHECK("NULL, {size=520, mask=STATMOUNT_MNT_POINT|STATMOUNT_FS_TYPE, fs_type=\"fs\", mnt_point=\"/m\"}, 1000, "
	      "0) "
	      "= 0",
	      "statmount", 0, 0, BASE, 1000);
	put(0, (const uint64_t[3]){24, UINT64_MAX, 0x11}, 24);
	CHECK("{size=24, mnt_id=LSMT_ROOT, param=0x11}, [], 10, 0) = 0", "listmount", 0, BASE, BASE, 10);
}

static void test_attributes(void **state)
{
	const struct {
		uint64_t value;
		uint32_t size, flags;
		char text[8];
	} a = {BASE + 16, 4, 1, "text"};
	(void)state;
	put(0, &a, sizeof(a));
	CHECK("3, NULL, 0, NULL, {value=\"text\", size=4, flags=XATTR_CREATE}, 16) = 0", "setxattrat", 0, 3, 0, 0, 0,
	      BASE, 16);
	CHECK("3, NULL, 0, NULL, {value=\"te\", size=4, flags=XATTR_CREATE}, 16) = 2", "getxattrat", 2, 3, 0, 0, 0,
	      BASE, 16);
}

static void test_requests(void **state)
{
	struct iocb cb = {.aio_lio_opcode = IOCB_CMD_PREADV,
			  .aio_fildes = 6,
			  .aio_buf = BASE + 128,
			  .aio_nbytes = 1,
			  .aio_flags = IOCB_FLAG_RESFD,
			  .aio_resfd = 7};
	const struct iovec v = {(void *)0x55, 9};
	(void)state;
	put(0, &(uint64_t){BASE + 16}, sizeof(uint64_t));
	memcpy(memory + 16, &cb, sizeof(cb));
	memcpy(memory + 128, &v, sizeof(v));
	CHECK("0x1, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PREADV, aio_fildes=6, aio_buf=[{iov_base=0x55, "
	      "iov_len=9}], aio_offset=0, aio_flags=IOCB_FLAG_RESFD, aio_resfd=7}]) = 1",
	      "io_submit", 1, 1, 1, BASE);
	cb = (struct iocb){.aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = 6, .aio_buf = POLLIN};
	memcpy(memory + 16, &cb, sizeof(cb));
	CHECK("0x1, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_POLL, aio_fildes=6, aio_buf=POLLIN}]) = 1", "io_submit", 1,
	      1, 1, BASE);
	cb = (struct iocb){.aio_lio_opcode = IOCB_CMD_FDSYNC, .aio_fildes = 6, .aio_rw_flags = RWF_HIPRI};
	memcpy(memory + 16, &cb, sizeof(cb));
	CHECK("0x1, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_FDSYNC, aio_rw_flags=RWF_HIPRI, aio_fildes=6}]) = 1",
	      "io_submit", 1, 1, 1, BASE);
}

static void test_options(void **state)
{
	const struct {
		uint16_t len, pad[3];
		uint64_t filter;
	} program = {4, {0}, 0x55};
	(void)state;
	put(0, &program, sizeof(program));
	CHECK("PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {len=4, filter=0x55}) = 0", "prctl", 0, 22, 2, BASE);
	CHECK("PR_SET_SECCOMP, SECCOMP_MODE_STRICT, NULL) = 0", "prctl", 0, 22, 1, 0);
	put(0, (const uint32_t[8]){0x20080522, 7, 0x21}, 32);
	CHECK_AS(RAW, "{version=0x20080522, pid=7}, {effective=0x21, permitted=0, inheritable=0}) = 0", "capset", 0,
		 BASE, BASE + 8);
	CHECK_AS(BOTH,
		 "{version=0x20080522 /* _LINUX_CAPABILITY_VERSION_3 */, pid=7}, {effective=0x21 /* "
		 "1<<CAP_CHOWN|1<<CAP_KILL */, permitted=0, inheritable=0}) = 0",
		 "capset", 0, BASE, BASE + 8);
	CHECK_AS(RAW, "3, 0x80404506, 0x10000) = -1 ENOTTY (Inappropriate ioctl for device)", "ioctl", -ENOTTY, 3,
		 0x80404506, BASE);
	CHECK("PR_GET_AUXV, 0x10000, 100, 0, 0) = 448", "prctl", 448, 0x41555856, BASE, 100);
	put(0, (const int64_t[8]){O_NONBLOCK, 10, 100, 1}, 64);
	CHECK("3, NULL, {mq_flags=O_NONBLOCK, mq_maxmsg=10, mq_msgsize=100, mq_curmsgs=1}) = 0", "mq_getsetattr", 0, 3,
	      0, BASE);
	put(0, (const int64_t[8]){0, 10, 100}, 64);
	CHECK("3, {mq_flags=0, mq_maxmsg=10, mq_msgsize=100, mq_curmsgs=0}, NULL) = 0", "mq_getsetattr", 0, 3, BASE, 0);
}

static void written_16(void)
{
	memcpy(memory + 8, &(uint64_t){16}, sizeof(uint64_t));
}

static void test_registers(void **state)
{
	uint64_t set[4] = {BASE + 16, 4096, 0x15, 0x14};
	bool x86 = syscall_native_arch() == AUDIT_ARCH_X86_64;
	(void)state;
	put(0, set, sizeof(set));
	kernel_writes = written_16;
	CHECK(x86 ? "PTRACE_GETREGSET, 7, NT_PRSTATUS, {iov_base={r15=0x15, r14=0x14}, iov_len=4096 => 16}) = 0"
		  : "PTRACE_GETREGSET, 7, NT_PRSTATUS, {iov_base=0x10010, iov_len=4096 => 16}) = 0",
	      "ptrace", 0, PTRACE_GETREGSET, 7, 1, BASE);
	CHECK("PTRACE_GETREGSET, 7, NT_FPREGSET, {iov_base=0x10010, iov_len=16}) = 0", "ptrace", 0, PTRACE_GETREGSET, 7,
	      2, BASE);
	kernel_writes = NULL;
	set[1] = 68;
	put(0, set, sizeof(set));
	CHECK("PTRACE_SETREGSET, 7, NT_PRSTATUS, {iov_base=0x10010, iov_len=68}) = 0", "ptrace", 0, PTRACE_SETREGSET, 7,
	      1, BASE);
	if (!x86)
		return;
	put(0, (const uint64_t[27]){[0] = 0x15, [26] = 0x26}, 27 * sizeof(uint64_t));
	CHECK("PTRACE_GETREGS, 7, {r15=0x15, r14=0, r13=0, r12=0, rbp=0, rbx=0, r11=0, r10=0, r9=0, r8=0, rax=0, "
	      "rcx=0, rdx=0, rsi=0, rdi=0, orig_rax=0, rip=0, cs=0, eflags=0, rsp=0, ss=0, fs_base=0, gs_base=0, ds=0, "
	      "es=0, fs=0, gs=0x26}) = 0",
	      "ptrace", 0, 12, 7, 0, BASE);
	CHECK("PTRACE_GETREGS, 7, 0x10000) = -1 ESRCH (No such process)", "ptrace", -ESRCH, 12, 7, 0, BASE);
	CHECK("PTRACE_PEEKUSER, 7, 8*ORIG_RAX, [0x15]) = 0", "ptrace", 0, PTRACE_PEEKUSER, 7, 0x78, BASE);
	CHECK("PTRACE_POKEUSER, 7, offsetof(struct user, u_debugreg)+56, 0x1) = 0", "ptrace", 0, 6, 7, 904, 1);
}

#define SIXTEEN "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"
#define EIGHT   "0, 0, 0, 0, 0, 0, 0, 0"
#define FPREGS                                                                                                         \
	"{cwd=0x37f, swd=0, ftw=0, fop=0, rip=0x11, rdp=0, mxcsr=0x1f80, mxcr_mask=0x2ffff, "                          \
	"st_space=[" SIXTEEN ", " EIGHT ", 0, 0, 0, 0, 0, 0, 0, 0x5], "                                                \
	"xmm_space=[" SIXTEEN ", " SIXTEEN ", ...], padding=[" SIXTEEN ", 0, 0, 0, 0, 0, 0, 0, 0x9]}"

static void test_floating_point_registers(void **state)
{
	struct {
		uint16_t cwd, swd, ftw, fop;
		uint64_t rip, rdp;
		uint32_t mxcsr, mask, st[32], xmm[64], padding[24];
		uint64_t iov_base, iov_len;
	} set = {0x37f, .rip = 0x11, .mxcsr = 0x1f80, .mask = 0x2ffff, .iov_base = BASE, .iov_len = 512};
	(void)state;
	if (syscall_native_arch() != AUDIT_ARCH_X86_64)
		return;
	set.st[31] = 5;
	set.padding[23] = 9;
	put(0, &set, sizeof(set));
	CHECK("PTRACE_GETFPREGS, 7, " FPREGS ") = 0", "ptrace", 0, 14, 7, 0, BASE);
	CHECK("PTRACE_SETFPREGS, 7, " FPREGS ") = 0", "ptrace", 0, 15, 7, 0, BASE);
	CHECK("PTRACE_GETFPREGS, 7, 0x10000) = -1 ESRCH (No such process)", "ptrace", -ESRCH, 14, 7, 0, BASE);
	CHECK("PTRACE_GETREGSET, 7, NT_FPREGSET, {iov_base=" FPREGS ", iov_len=512}) = 0", "ptrace", 0,
	      PTRACE_GETREGSET, 7, 2, BASE + 512);
	set.iov_len = 511;
	put(0, &set, sizeof(set));
	CHECK("PTRACE_SETREGSET, 7, NT_FPREGSET, {iov_base=0x10000, iov_len=511}) = 0", "ptrace", 0, PTRACE_SETREGSET,
	      7, 2, BASE + 512);
}

static void next_is_7(void)
{
	memcpy(memory + 4, &(uint32_t){7}, sizeof(uint32_t));
}

static void test_bpf(void **state)
{
	(void)state;
	kernel_writes = next_is_7;
	/* next_id and info_len are at the same offset. The program's value of next_id is not used. */
	put(0, (const uint32_t[]){3, 99, 0}, 3 * sizeof(uint32_t));
	CHECK("BPF_MAP_GET_NEXT_ID, {start_id=3} => {next_id=7}, 144) = 0", "bpf", 0, BPF_MAP_GET_NEXT_ID, BASE, 144);
	CHECK("BPF_MAP_GET_NEXT_ID, {start_id=3}, 144) = -1 ENOENT (No such file or directory)", "bpf", -ENOENT,
	      BPF_MAP_GET_NEXT_ID, BASE, 144);
	put(0, (const uint32_t[]){3, 88, 0}, 3 * sizeof(uint32_t));
	CHECK("BPF_OBJ_GET_INFO_BY_FD, {bpf_fd=3, info_len=88, info=NULL} => {info_len=7}, 16) = 0", "bpf", 0,
	      BPF_OBJ_GET_INFO_BY_FD, BASE, 16);
	CHECK("BPF_PROG_TEST_RUN, {prog_fd=3} => {retval=7}, 8) = 0", "bpf", 0, BPF_PROG_TEST_RUN, BASE, 8);
	kernel_writes = NULL;
	put(0, (const uint32_t[]){3, 0, 8}, 3 * sizeof(uint32_t));
	CHECK("BPF_PROG_GET_FD_BY_ID, {prog_id=3, open_flags=BPF_F_RDONLY}, 144) = 5", "bpf", 5, BPF_PROG_GET_FD_BY_ID,
	      BASE, 144);
	CHECK("BPF_MAP_DELETE_ELEM, {map_fd=3, key=0x8}, 16) = 0", "bpf", 0, BPF_MAP_DELETE_ELEM, BASE, 16);
}

static void test_perf(void **state)
{
	struct perf_event_attr a = {.type = PERF_TYPE_HW_CACHE,
				    .size = 136,
				    .config = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
				    .precise_ip = 2,
				    .build_id = 1,
				    .sigtrap = 1};
	(void)state;
	put(0, &a, sizeof(a));
	CHECK("{type=PERF_TYPE_HW_CACHE, size=PERF_ATTR_SIZE_VER8, "
	      "config=PERF_COUNT_HW_CACHE_RESULT_MISS<<16|PERF_COUNT_HW_CACHE_OP_READ<<8|PERF_COUNT_HW_CACHE_L1D, "
	      "sample_period=0, sample_type=0, read_format=0, precise_ip=2, build_id=1, sigtrap=1, ...}, 0, -1, -1, 0) "
	      "= 3",
	      "perf_event_open", 3, BASE, 0, (uint64_t)-1, (uint64_t)-1, 0);
	a = (struct perf_event_attr){.type = PERF_TYPE_BREAKPOINT,
				     .size = 72,
				     .bp_type = HW_BREAKPOINT_RW,
				     .bp_addr = 0x1000,
				     .bp_len = HW_BREAKPOINT_LEN_4};
	put(0, &a, sizeof(a));
	CHECK("{type=PERF_TYPE_BREAKPOINT, size=PERF_ATTR_SIZE_VER1, config=0, sample_period=0, sample_type=0, "
	      "read_format=0, bp_type=HW_BREAKPOINT_R|HW_BREAKPOINT_W, bp_addr=0x1000, bp_len=4, ...}, 0, -1, -1, 0) = "
	      "3",
	      "perf_event_open", 3, BASE, 0, (uint64_t)-1, (uint64_t)-1, 0);
	CHECK("3, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) = 0", "ioctl", 0, 3, PERF_EVENT_IOC_ENABLE,
	      PERF_IOC_FLAG_GROUP);
	put(0, &(uint64_t){77}, sizeof(uint64_t));
	CHECK("3, PERF_EVENT_IOC_ID, [77]) = 0", "ioctl", 0, 3, PERF_EVENT_IOC_ID, BASE);
	CHECK("3, PERF_EVENT_IOC_PERIOD, [77]) = 0", "ioctl", 0, 3, PERF_EVENT_IOC_PERIOD, BASE);
}

static void four_workers(void)
{
	memcpy(memory, (const uint32_t[]){4, 4}, 2 * sizeof(uint32_t));
}

static void test_io_uring(void **state)
{
	const struct {
		uint8_t last_op, ops_len, resv[14];
		uint8_t ops[2][8];
	} probe = {62, 2, {0}, {{0, 0, 1}, {5, 0, 1}}};
	const uint16_t restriction[8] = {1, 22};
	const struct {
		uint32_t offset, resv;
		uint64_t fds;
		int32_t fd[2];
	} update = {3, 0, BASE + 16, {5, -1}};
	(void)state;
	put(0, &probe, sizeof(probe));
	CHECK("3, IORING_REGISTER_PROBE, {last_op=62, ops_len=2, ops=[{op=0, flags=0x1}, {op=5, flags=0x1}]}, 4) = 0",
	      "io_uring_register", 0, 3, 8, BASE, 4);
	put(0, restriction, sizeof(restriction));
	CHECK("3, IORING_REGISTER_RESTRICTIONS, [{opcode=IORING_RESTRICTION_SQE_OP, op=22}], 1) = 0",
	      "io_uring_register", 0, 3, 11, BASE, 1);
	put(0, &update, sizeof(update));
	CHECK("3, IORING_REGISTER_FILES_UPDATE, {offset=3, fds=[5, -1]}, 2) = 2", "io_uring_register", 2, 3, 6, BASE,
	      2);
	put(0, (const uint32_t[]){3, 0}, 2 * sizeof(uint32_t));
	kernel_writes = four_workers;
	CHECK("3, IORING_REGISTER_IOWQ_MAX_WORKERS, [3, 0] => [4, 4], 2) = 0", "io_uring_register", 0, 3, 19, BASE, 2);
	kernel_writes = NULL;
	/* The parameters of the program are shown even if the call fails. */
	put(0, (const uint32_t[]){0, 0, 2, 7}, 4 * sizeof(uint32_t));
	CHECK("8, {flags=IORING_SETUP_SQPOLL, sq_thread_cpu=7, sq_thread_idle=0, ...}) = -1 EINVAL (Invalid argument)",
	      "io_uring_setup", -EINVAL, 8, BASE);
}

static void test_keys(void **state)
{
	(void)state;
	CHECK("KEYCTL_SETPERM, 5, KEY_POS_VIEW|KEY_USR_VIEW|KEY_OTH_SETATTR) = 0", "keyctl", 0, 5, 5, 0x1010020);
	CHECK("KEYCTL_REJECT, 5, 10, EKEYREJECTED, 0) = 0", "keyctl", 0, 19, 5, 10, 129, 0);
	CHECK("KEYCTL_MOVE, 5, KEY_SPEC_PROCESS_KEYRING, 6, KEYCTL_MOVE_EXCL) = 0", "keyctl", 0, 30, 5, (uint64_t)-2, 6,
	      1);
	put(0, "\x3f\x01", 2);
	CHECK("KEYCTL_CAPABILITIES, \"\\x3f\\x01\", 8) = 2", "keyctl", 2, 31, BASE, 8);
	put(0, "user", 5);
	CHECK("KEYCTL_RESTRICT_KEYRING, 5, \"user\", NULL) = 0", "keyctl", 0, 29, 5, BASE, 0);
	put(0, (const uint32_t[]){3, 2048, 256 << 16 | 256}, 3 * sizeof(uint32_t));
	CHECK("KEYCTL_PKEY_QUERY, 5, 0, NULL, {supported_ops=KEYCTL_SUPPORTS_ENCRYPT|KEYCTL_SUPPORTS_DECRYPT, "
	      "key_size=2048, max_data_size=256, max_sig_size=256, max_enc_size=0, max_dec_size=0}) = 0",
	      "keyctl", 0, 24, 5, 0, 0, BASE);
	CHECK("KEYCTL_DH_COMPUTE, {private=3, prime=2048, base=16777472}, NULL, 0, NULL) = 256", "keyctl", 256, 23,
	      BASE, 0, 0, 0);
}

static void test_mounts(void **state)
{
	const struct {
		uint64_t bgrace, igrace;
		uint32_t flags, valid;
	} info = {60, 70, 1, 7};
	(void)state;
	put(0, &info, sizeof(info));
	CHECK("QCMD(Q_SETINFO, USRQUOTA), NULL, 0, {dqi_bgrace=60, dqi_igrace=70, dqi_flags=DQF_ROOT_SQUASH, "
	      "dqi_valid=IIF_BGRACE|IIF_IGRACE|IIF_FLAGS}) = 0",
	      "quotactl", 0, 0x80000600, 0, 0, BASE);
	CHECK("3, QCMD(Q_GETINFO, GRPQUOTA), 0, 0x10000) = -1 ESRCH (No such process)", "quotactl_fd", -ESRCH, 3,
	      0x80000501, 0, BASE);
	put(0, &(uint32_t){2}, sizeof(uint32_t));
	CHECK("QCMD(Q_GETFMT, USRQUOTA), NULL, 0, [QFMT_VFS_V0]) = 0", "quotactl", 0, 0x80000400, 0, 0, BASE);
	CHECK("QCMD(Q_XQUOTAON, USRQUOTA), NULL, 0, [FS_QUOTA_UDQ_ENFD]) = 0", "quotactl", 0, 0x580100, 0, 0, BASE);
	put(0, "/q", 3);
	CHECK("QCMD(Q_QUOTAON, USRQUOTA), NULL, QFMT_VFS_V1, \"/q\") = 0", "quotactl", 0, 0x80000200, 0, 4, BASE);
	CHECK("3, FSCONFIG_SET_PATH, \"/q\", \"/q\", AT_FDCWD) = 0", "fsconfig", 0, 3, 3, BASE, BASE, (uint32_t)-100);
	CHECK_AS(NAMED, "3</f3>, FSCONFIG_SET_FD, \"/q\", NULL, 5</f5>) = 0", "fsconfig", 0, 3, 5, BASE, 0, 5);
}

static void test_sets(void **state)
{
	(void)state;
	put(0, (const uint32_t[]){4, 5, 6}, 3 * sizeof(uint32_t));
	CHECK("1, 2, KCMP_EPOLL_TFD, 3, {efd=4, tfd=5, toff=6}) = 0", "kcmp", 0, 1, 2, 7, 3, BASE);
	CHECK("1, 2, KCMP_FILE, 3, 4) = 0", "kcmp", 0, 1, 2, 0, 3, 4);
	CHECK("MEMBARRIER_CMD_GET_REGISTRATIONS, 0) = 0x10 (MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)", "membarrier",
	      0x10, 0x200, 0, 0);
	CHECK("PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0) = 0x3 (PR_SPEC_PRCTL|PR_SPEC_ENABLE)", "prctl",
	      3, 52, 0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipc_limits),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_ptrace),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_floating_point_registers),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_mount_ids),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_bpf),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_io_uring),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
