/* SPDX-License-Identifier: MIT */
#include "syscall/uring_ops.h"

#include "syscall/call_table.h"

#include <stddef.h>

static const struct uring_op ops[] = {
	{"NOP", .fd = URING_NO_FD},
	{"READV", .fd = URING_FD, .reads = true, .memory = URING_BUFFERS, .positioned = true},
	{"WRITEV", .fd = URING_FD, .writes = true, .memory = URING_VECTOR, .positioned = true},
	{"FSYNC", .fd = URING_FD},
	{"READ_FIXED", .fd = URING_FD, .reads = true, .positioned = true},
	{"WRITE_FIXED", .fd = URING_FD, .writes = true, .positioned = true, .memory = URING_BYTES},
	{"POLL_ADD", .fd = URING_FD},
	{"POLL_REMOVE", .fd = URING_NO_FD},
	{"SYNC_FILE_RANGE", .fd = URING_FD},
	{"SENDMSG", .fd = URING_FD, .writes = true},
	{"RECVMSG", .fd = URING_FD, .reads = true, .renames = true},
	{"TIMEOUT", .fd = URING_NO_FD, .memory = URING_TIME},
	{"TIMEOUT_REMOVE", .fd = URING_NO_FD},
	{"ACCEPT", .fd = URING_FD, .opens = true},
	{"ASYNC_CANCEL", .fd = URING_NO_FD},
	{"LINK_TIMEOUT", .fd = URING_NO_FD, .memory = URING_TIME},
	{"CONNECT", .fd = URING_FD, .memory = URING_ADDRESS, .renames = true},
	{"FALLOCATE", .fd = URING_FD},
	{"OPENAT", .fd = URING_DIRFD, .opens = true, .memory = URING_PATH},
	{"CLOSE", .fd = URING_FD, .renames = true},
	{"FILES_UPDATE", .fd = URING_NO_FD},
	{"STATX", .fd = URING_DIRFD, .memory = URING_PATH},
	{"READ", .fd = URING_FD, .reads = true, .positioned = true},
	{"WRITE", .fd = URING_FD, .writes = true, .positioned = true, .memory = URING_BYTES},
	{"FADVISE", .fd = URING_FD},
	{"MADVISE", .fd = URING_NO_FD},
	{"SEND", .fd = URING_FD, .writes = true, .memory = URING_BYTES},
	{"RECV", .fd = URING_FD, .reads = true},
	{"OPENAT2", .fd = URING_DIRFD, .opens = true, .memory = URING_PATH},
	{"EPOLL_CTL", .fd = URING_FD},
	{"SPLICE", .fd = URING_FD, .writes = true},
	{"PROVIDE_BUFFERS", .fd = URING_NO_FD},
	{"REMOVE_BUFFERS", .fd = URING_NO_FD},
	{"TEE", .fd = URING_FD, .writes = true},
	{"SHUTDOWN", .fd = URING_FD, .renames = true},
	{"RENAMEAT", .fd = URING_DIRFD, .memory = URING_PATH, .renames = true},
	{"UNLINKAT", .fd = URING_DIRFD, .memory = URING_PATH, .renames = true},
	{"MKDIRAT", .fd = URING_DIRFD, .memory = URING_PATH},
	{"SYMLINKAT", .fd = URING_DIRFD, .memory = URING_PATH},
	{"LINKAT", .fd = URING_DIRFD, .memory = URING_PATH, .renames = true},
	{"MSG_RING", .fd = URING_FD},
	{"FSETXATTR", .fd = URING_FD},
	{"SETXATTR", .fd = URING_NO_FD},
	{"FGETXATTR", .fd = URING_FD},
	{"GETXATTR", .fd = URING_NO_FD},
	{"SOCKET", .fd = URING_NO_FD, .opens = true},
	{"URING_CMD", .fd = URING_FD},
	{"SEND_ZC", .fd = URING_FD, .writes = true, .memory = URING_BYTES},
	{"SENDMSG_ZC", .fd = URING_FD, .writes = true},
	{"READ_MULTISHOT", .fd = URING_FD, .reads = true},
	{"WAITID", .fd = URING_NO_FD},
	{"FUTEX_WAIT", .fd = URING_NO_FD},
	{"FUTEX_WAKE", .fd = URING_NO_FD},
	{"FUTEX_WAITV", .fd = URING_NO_FD},
	{"FIXED_FD_INSTALL", .fd = URING_FD, .opens = true},
	{"FTRUNCATE", .fd = URING_FD},
	{"BIND", .fd = URING_FD, .renames = true},
	{"LISTEN", .fd = URING_FD, .renames = true},
	{"RECV_ZC", .fd = URING_FD, .reads = true},
	{"EPOLL_WAIT", .fd = URING_FD},
	{"READV_FIXED", .fd = URING_FD, .reads = true, .memory = URING_BUFFERS, .positioned = true},
	{"WRITEV_FIXED", .fd = URING_FD, .writes = true, .memory = URING_VECTOR, .positioned = true},
	{"PIPE", .fd = URING_NO_FD, .renames = true},
};

bool uring_is_index(const struct call *c)
{
	const uint64_t enter_registered_ring = 1u << 4,
		       use_registered_ring = 1u << 31; /* IORING_... (linux/io_uring.h) */
	bool enters = c->desc->args[1].kind == K_URING_REQUESTS;
	return enters ? c->args[3] & enter_registered_ring : c->args[1] & use_registered_ring;
}

const struct uring_op *uring_op(uint64_t opcode)
{
	return opcode < sizeof(ops) / sizeof(*ops) ? &ops[opcode] : NULL;
}

void uring_memory_tables(struct memory_tables *t, bool names)
{
	for (unsigned i = 0; i < sizeof(ops) / sizeof(*ops) && i < 64; i++)
		if (!names || !(ops[i].opens || ops[i].renames))
			t->rings[ops[i].memory] |= UINT64_C(1) << i;
}
