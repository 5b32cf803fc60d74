#include "decode/inside.h"

#include "syscall/call_table.h"
#include "tracee/mem.h"

#include <linux/audit.h>
#include <string.h>

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
