/* SPDX-License-Identifier: MIT */
#include "decode/show.h"

#include "base/buf.h"
#include "decode/layout.h"
#include "syscall/call_table.h"

#include <linux/aio_abi.h>
#include <linux/mqueue.h>
#include <linux/msg.h>
#include <linux/sem.h>

/* mmap(2), shmget(2): the six bits from bit 26 on contain the logarithm of the size of huge pages. */
#define HUGE_SHIFT 26
#define HUGE_MASK  0x3fu

void show_ipc_key(const struct decode *d, const struct value *x)
{
	if ((uint32_t)x->v)
		emit_hex(d->out, (uint32_t)x->v);
	else
		emit_sym(d->out, "IPC_PRIVATE", 0);
}

/* Shows flags such as IPC_CREAT|0600. The permissions are in the low bits, in octal. */
static void get_flags(const struct decode *d, uint32_t v, const struct flag_table *names, unsigned huge)
{
	auto_buf text = {0};
	uint32_t flags = v & ~0777u & ~(huge << HUGE_SHIFT);
	if (flags)
		flags_join(&text, names, flags);
	if (huge)
		buf_addf(&text, "%s%u<<SHM_HUGE_SHIFT", flags ? "|" : "", huge);
	buf_addf(&text, "%s%#03o", flags || huge ? "|" : "", v & 0777);
	emit_sym(d->out, buf_str(&text), v);
}

void show_ipc_get_flags(const struct decode *d, const struct value *x)
{
	get_flags(d, (uint32_t)x->v, &flags_ipc_get, 0);
}

void show_shmget_flags(const struct decode *d, const struct value *x)
{
	get_flags(d, (uint32_t)x->v, &flags_shm_get, (uint32_t)x->v >> HUGE_SHIFT & HUGE_MASK);
}

/* Old programs add IPC_64 to the command. */
#define IPC_64_ 0x100

void show_ipc_cmd(const struct decode *d, const struct value *x)
{
	if (x->v & IPC_64_)
		emit_wrap(d->out, "IPC_64|");
	flags_emit_choice(d->out, x->about, (uint32_t)x->v & ~(uint32_t)IPC_64_);
}

/* Structures of 64-bit architectures (asm-generic/{shm,msg,sem,ipc}buf.h). */
struct ipc_perm64 {
	int32_t key;
	uint32_t uid, gid, cuid, cgid, mode;
	uint16_t seq, pad2;
	uint64_t unused[2];
};
/* struct ipc64_perm of i386, where `mode` has 16 bits (asm-generic/ipcbuf.h). */
struct ipc_perm_narrow {
	int32_t key;
	uint32_t uid, gid, cuid, cgid;
	uint16_t mode, pad1, seq, pad2;
	uint32_t unused[2];
};
#define PERM (uid, UID), (gid, UID), (mode, MODE), (key, IPC_KEY), (cuid, UID), (cgid, UID)
static LAYOUT(ipc_perm32, struct ipc_perm_narrow, PERM);
LAYOUT_NARROW(ipc_perm, struct ipc_perm64, &layout_ipc_perm32, PERM);
/* IPC_SET changes only these members. */
#define PERM_SET (uid, UID), (gid, UID), (mode, MODE)
static LAYOUT(ipc_perm_set32, struct ipc_perm_narrow, PERM_SET);
LAYOUT_NARROW(ipc_perm_set, struct ipc_perm64, &layout_ipc_perm_set32, PERM_SET);
STRUCTURE_NARROW(shmid_set, &layout_shmid_ds32, INNER(struct ipc_perm64, shm_perm, IPC_PERM_SET), SKIP64(shm_segsz),
		 SKIP64(shm_atime), SKIP64(shm_dtime), SKIP64(shm_ctime), SKIP32(shm_cpid), SKIP32(shm_lpid),
		 SKIP64(shm_nattch));
LAYOUT_NARROW(shmid_ds, struct kernel_shmid_set, &layout_shmid_ds32, (shm_perm, IPC_PERM, AT), (shm_segsz, ULONG),
	      (shm_cpid, PID), (shm_lpid, PID), (shm_nattch, ULONG), (shm_atime, LONG), (shm_dtime, LONG),
	      (shm_ctime, LONG));
STRUCTURE_NARROW(msqid_ds, &layout_msqid_ds32, INNER(struct ipc_perm64, msg_perm, IPC_PERM), M64(msg_stime, LONG),
		 M64(msg_rtime, LONG), M64(msg_ctime, LONG), SKIP64(msg_cbytes), M64(msg_qnum, ULONG),
		 M64(msg_qbytes, ULONG), M32(msg_lspid, PID), M32(msg_lrpid, PID));
LAYOUT_NARROW(msqid_set, struct kernel_msqid_ds, &layout_msqid_ds32, (msg_perm, IPC_PERM_SET, AT), (msg_qbytes, ULONG));
STRUCTURE_NARROW(semid_ds, &layout_semid_ds32, INNER(struct ipc_perm64, sem_perm, IPC_PERM), M64(sem_otime, LONG),
		 SKIP64(unused1), M64(sem_ctime, LONG), SKIP64(unused2), M64(sem_nsems, ULONG));
LAYOUT_NARROW(semid_set, struct kernel_semid_ds, &layout_semid_ds32, (sem_perm, IPC_PERM_SET, AT));
LAYOUT_SAME(sembuf, struct sembuf, (sem_num, UINT), (sem_op, SHORT), (sem_flg, SEM_FLAGS));

STRUCTURE(shm_limits, M64(shmmax, ULONG), M64(shmmin, ULONG), M64(shmmni, ULONG), M64(shmseg, ULONG),
	  M64(shmall, ULONG));
STRUCTURE(shm_usage, M32(used_ids, INT), SKIP32(pad), M64(shm_tot, ULONG), M64(shm_rss, ULONG), M64(shm_swp, ULONG),
	  M64(swap_attempts, ULONG), M64(swap_successes, ULONG));
LAYOUT_SAME(msg_limits, struct msginfo, (msgpool, INT), (msgmap, INT), (msgmax, INT), (msgmnb, INT), (msgmni, INT),
	    (msgssz, INT), (msgtql, INT), (msgseg, UINT));
LAYOUT_SAME(sem_limits, struct seminfo, (semmap, INT), (semmni, INT), (semmns, INT), (semmnu, INT), (semmsl, INT),
	    (semopm, INT), (semume, INT), (semusz, INT), (semvmx, INT), (semaem, INT));

static void message_buffer(const struct decode *d, uint64_t v, uint64_t n)
{
	uint64_t type;
	if (!decode_get_word(d, v, &type)) {
		emit_ptr(d->out, v);
		return;
	}
	emit_open(d->out, '{');
	emit_field(d->out, "mtype");
	emit_num(d->out, decode_word(d) == 4 ? (int32_t)type : (int64_t)type);
	emit_field(d->out, "mtext");
	decode_bytes(d, v + decode_word(d), n);
	emit_close(d->out, '}');
}

void show_in_msgbuf(const struct decode *d, const struct value *x)
{
	message_buffer(d, x->v, d->call->args[x->arg + 1]);
}

void show_out_msgbuf(const struct decode *d, const struct value *x)
{
	message_buffer(d, x->v, decode_returned(d));
}

LAYOUT_NARROW(mq_attr, struct mq_attr, &layout_mq_attr32, (mq_flags, MQ_FLAGS), (mq_maxmsg, LONG), (mq_msgsize, LONG),
	      (mq_curmsgs, LONG));

/* The kernel reads and writes one bit less than `maxnode` says (get_nodes() of mm/mempolicy.c). */
static void nodes(const struct decode *d, uint64_t v, uint64_t maxnode)
{
	uint64_t bits = maxnode ? maxnode - 1 : 0;
	uint64_t words = bits / 64 + (bits % 64 > 0);
	decode_numbers(d, v, words < 64 ? words : 64, 8, K_HEX16);
}

/* The next argument is the number of valid bits. */
void show_nodemask(const struct decode *d, const struct value *x)
{
	nodes(d, x->v, d->call->args[x->arg + 1]);
}

/* migrate_pages(2): the second argument is the number of bits. */
void show_nodemask_prev(const struct decode *d, const struct value *x)
{
	nodes(d, x->v, d->call->args[1]);
}

/*
 * mincore(2) writes one byte for each page, of which only the lowest bit is defined. The previous argument is the
 * length of the memory.
 */
void show_mincore(const struct decode *d, const struct value *x)
{
	uint64_t pages = (d->call->args[x->arg - 1] + 4095) / 4096;
	decode_numbers(d, x->v, pages, 1, K_LOW_BIT);
}

LAYOUT_SAME(io_event, struct io_event, (data, HEX), (obj, HEX), (res, LONG), (res2, LONG));

void show_io_events(const struct decode *d, const struct value *x)
{
	layout_emit_array(d, &layout_io_event, x->v, decode_returned(d));
}

/* How the members of a request depend on its command. Other commands use only the descriptor. */
enum iocb_buffer { BUFFER_NONE, BUFFER_POINTER, BUFFER_BYTES, BUFFER_VECTOR, BUFFER_POINTERS, BUFFER_EVENTS };
static const uint8_t iocb_buffers[] = {
	[IOCB_CMD_PREAD] = BUFFER_POINTER,   [IOCB_CMD_PWRITE] = BUFFER_BYTES,   [IOCB_CMD_POLL] = BUFFER_EVENTS,
	[IOCB_CMD_PREADV] = BUFFER_POINTERS, [IOCB_CMD_PWRITEV] = BUFFER_VECTOR,
};

static void iocb_buffer(const struct decode *d, const struct iocb *cb, enum iocb_buffer how)
{
	emit_field(d->out, "aio_buf");
	if (how == BUFFER_EVENTS)
		show_kind(d, K_POLL_EVENTS, cb->aio_buf, -1);
	else if (how == BUFFER_BYTES)
		decode_bytes(d, cb->aio_buf, cb->aio_nbytes);
	else if (how == BUFFER_POINTER)
		emit_ptr(d->out, cb->aio_buf);
	else
		decode_iovec(d, cb->aio_buf, cb->aio_nbytes, how == BUFFER_POINTERS);
	if (how == BUFFER_BYTES || how == BUFFER_POINTER)
		show_field(d, "aio_nbytes", K_ULONG, cb->aio_nbytes);
	if (how != BUFFER_EVENTS)
		show_field(d, "aio_offset", K_LONG, (uint64_t)cb->aio_offset);
}

void show_iocb(const struct decode *d, const struct value *x)
{
	struct iocb cb;
	if (!decode_need(d, x->v, &cb, sizeof(cb)))
		return;
	emit_open(d->out, '{');
	show_field(d, "aio_data", K_HEX, cb.aio_data);
	emit_field(d->out, "aio_lio_opcode");
	flags_emit_choice(d->out, &flags_iocb_cmd, cb.aio_lio_opcode);
	if (cb.aio_reqprio)
		show_field(d, "aio_reqprio", K_SHORT, (uint16_t)cb.aio_reqprio);
	if (cb.aio_rw_flags)
		show_field(d, "aio_rw_flags", K_RWF_FLAGS, (uint32_t)cb.aio_rw_flags);
	show_field(d, "aio_fildes", K_FD, cb.aio_fildes);
	size_t op = cb.aio_lio_opcode;
	if (op < sizeof(iocb_buffers) && iocb_buffers[op] != BUFFER_NONE)
		iocb_buffer(d, &cb, iocb_buffers[op]);
	if (cb.aio_flags)
		show_field(d, "aio_flags", K_IOCB_FLAGS, cb.aio_flags);
	if (cb.aio_flags & IOCB_FLAG_RESFD)
		show_field(d, "aio_resfd", K_FD, cb.aio_resfd);
	emit_close(d->out, '}');
}

static void one_iocb(const struct decode *d, uint64_t addr, void *ctx)
{
	uint64_t at;
	(void)ctx;
	if (decode_get_word(d, addr, &at))
		show_kind(d, K_IOCB, at, -1);
	else
		emit_ptr(d->out, addr);
}

/* io_submit(2): the previous argument is the number of requests. */
void show_iocbs(const struct decode *d, const struct value *x)
{
	int64_t n = (int64_t)d->call->args[x->arg - 1];
	decode_array(d, x->v, n > 0 ? (uint64_t)n : 0, decode_word(d), one_iocb, NULL);
}

void show_map_flags(const struct decode *d, const struct value *x)
{
	auto_buf text = {0};
	uint32_t flags = (uint32_t)x->v, huge = flags >> HUGE_SHIFT & HUGE_MASK;
	flags_join(&text, &flags_map, flags & ~(HUGE_MASK << HUGE_SHIFT));
	if (huge)
		buf_addf(&text, "|%u<<MAP_HUGE_SHIFT", huge);
	emit_sym(d->out, buf_str(&text), flags);
}
