#include "engine/ptrace/calls/filter.h"

#include "base/memory.h"
#include "syscall/table.h"
#include "tracee/mem.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/*
 * Returns true if call `nr` runs without a stop. A call without a name always stops, and the sinks decide whether to
 * show it. The calls that determine which memory may be read (mem_call_serves_pages()) also stop.
 */
static bool passes(const struct call_set *only, int nr)
{
	return nr < CALL_SET_MAX && !(only->bits[nr / 64] >> (nr % 64) & 1) && !mem_call_serves_pages(nr) &&
	       syscall_name_known(syscall_native_arch(), nr);
}

/* Appends RUN_LENGTH instructions that let calls `from` to `to` run without a stop; in ascending order only. */
#define RUN_LENGTH 4
static void add_run(struct call_filter *f, int from, int to)
{
	const struct sock_filter run[RUN_LENGTH] = {
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)to, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	};
	memcpy(f->code + f->len, run, sizeof(run));
	f->len += RUN_LENGTH;
}

/*
 * Does not use libseccomp: seccomp_export_bpf(3) of version 2.5 dereferences NULL if memory runs out. In addition, one
 * comparison for each run of numbers is cheaper than one for each number.
 */
void call_filter_build(struct call_filter *f, const struct call_set *only)
{
	/* Calls of other architectures stop as well, because their numbers have other meanings. */
	const struct sock_filter head[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, syscall_native_arch(), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	const struct sock_filter tail = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	const size_t head_length = sizeof(head) / sizeof(*head);
	*f = (struct call_filter){.code = memory_get((head_length + RUN_LENGTH * CALL_SET_MAX / 2 + 1) * sizeof(tail))};
	memcpy(f->code, head, sizeof(head));
	f->len = (unsigned short)head_length;
	for (int nr = 0, from = -1; nr <= CALL_SET_MAX; nr++) {
		bool passing = passes(only, nr);
		if (passing && from < 0)
			from = nr;
		else if (!passing && from >= 0) {
			add_run(f, from, nr - 1);
			from = -1;
		}
	}
	f->code[f->len++] = tail;
}

void call_filter_free(struct call_filter *f)
{
	free(f->code);
	*f = (struct call_filter){0};
}

int call_filter_install(void *ctx)
{
	const struct call_filter *f = ctx;
	struct sock_fprog prog = {f->len, f->code};
	/* Without CAP_SYS_ADMIN, no_new_privs is required (seccomp(2)), and set-uid programs do not gain privileges. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) == 0)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) < 0 ? -errno : 0;
}
