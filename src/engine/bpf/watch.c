/* SPDX-License-Identifier: MIT */
/* Makes events of the calls that the kernel half reports (sctrace.bpf.c), with the memory that it has copied. */
#include "engine/bpf/loader.h"

#include "decode/kinds.h"
#include "engine/bpf/skeleton.h"
#include "syscall/call_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define RING_BYTES (8u << 20) /* holds a burst of about ten thousand calls */
#define MAX_ERRNO  4095       /* include/linux/err.h */

/* Which memory of the arguments of a call the kernel half copies. */
static struct watch_rule rule_of(const struct syscall_desc *d)
{
	struct watch_rule r = {.wanted = 1};
	unsigned paths = 0;
	for (unsigned i = 0; d && i < d->nargs; i++) {
		enum memory_rule memory = decode_memory_need((enum syscall_kind)d->args[i].kind, i).rule;
		if ((memory == MEMORY_STRING || memory == MEMORY_EXEC_PATH) && paths < WATCH_PATHS)
			r.path[paths++] = (unsigned char)(i + 1);
		else if (memory == MEMORY_STRINGS && !r.argv)
			r.argv = (unsigned char)(i + 1);
	}
	return r;
}

void bpf_watch_configure(struct bpf_engine *b)
{
	const struct call_set *only = b->config.only;
	const uint32_t arch = syscall_native_arch();
	b->skel->rodata->watch = 1;
	bpf_map__set_max_entries(b->skel->maps.ring, RING_BYTES);
	for (int64_t nr = 0; nr < WATCH_CALLS && nr < CALL_SET_MAX; nr++)
		if (!only || only->bits[nr / 64] >> (nr % 64) & 1)
			b->skel->rodata->rules[nr] = rule_of(syscall_lookup(arch, nr));
}

void bpf_watch_store(struct bpf_engine *b, const void *data, size_t size)
{
	struct ring_exec e = {.argv.n = 0};
	memcpy(&e, data, size < sizeof(e) ? size : sizeof(e));
	vec_push(&b->calls, e);
}

/* Copies what `have` bytes at address `from` and the range that starts at `addr` have in common. */
static ssize_t copy(uint64_t addr, char *to, size_t n, uint64_t from, const void *bytes, size_t have)
{
	if (!from || addr < from || addr - from >= have)
		return -EFAULT;
	size_t left = have - (size_t)(addr - from);
	n = n < left ? n : left;
	memcpy(to, (const char *)bytes + (addr - from), n);
	return (ssize_t)n;
}

/* The function `read` of struct mem: finds the copy that contains the address. */
static ssize_t read_copy(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct ring_exec *e = ctx;
	ssize_t got = -EFAULT;
	for (unsigned i = 0; got < 0 && i < WATCH_PATHS; i++) {
		const struct watch_path *p = &e->call.path[i];
		got = copy(addr, buf, n, p->addr, p->bytes, p->size + (p->ended != 0));
	}
	if (got < 0)
		got = copy(addr, buf, n, e->argv.addr, e->argv.at, e->argv.n * sizeof(*e->argv.at));
	for (unsigned i = 0; got < 0 && i < e->argv.n; i++)
		got = copy(addr, buf, n, e->argv.at[i], e->argv.text[i].bytes,
			   e->argv.text[i].size + (e->argv.text[i].ended != 0));
	return got;
}

void bpf_watch_event(struct bpf_engine *b, size_t index, enum event_kind kind, struct event *ev)
{
	const uint32_t arch = syscall_native_arch();
	struct ring_exec *e = &b->calls.v[index];
	const struct ring_call *c = &e->call;
	memcpy(b->comm, c->comm, sizeof(c->comm));
	b->memory = (struct mem){read_copy, e, NULL};
	*ev = (struct event){.kind = kind,
			     .tid = (pid_t)c->tid,
			     .pid = (pid_t)c->pid,
			     .time_ns = kind == EV_ENTER ? c->enter_ns : c->exit_ns,
			     .comm = b->comm,
			     .mem = &b->memory,
			     .entry_mem = &b->memory};
	ev->call = (struct call){.arch = arch,
				 .nr = c->nr,
				 .desc = syscall_lookup(arch, c->nr),
				 .ip = c->ip,
				 .sp = c->sp,
				 .enter_ns = c->enter_ns};
	memcpy(ev->call.args, c->args + 1, sizeof(ev->call.args));
	if (kind != EV_CALL)
		return;
	ev->call.result = c->result;
	ev->call.error = c->result < 0 && c->result >= -MAX_ERRNO;
	ev->call.err = ev->call.error ? (int)-c->result : 0;
	ev->call.duration_ns = c->exit_ns - c->enter_ns;
	ev->call.wait = c->waited ? WAIT_YES : WAIT_NO;
}

int bpf_watch_filter(const struct bpf_engine *b)
{
	const struct engine_config *c = &b->config;
	const unsigned int one = 1;
	int r = 0;
	for (size_t i = 0; r == 0 && i < c->ncomms; i++) {
		char comm[COMM_SIZE] = "";
		strncpy(comm, c->comms[i], COMM_SIZE - 1);
		r = bpf_map_update_elem(bpf_map__fd(b->skel->maps.wanted_comms), comm, &one, BPF_ANY);
	}
	for (size_t i = 0; r == 0 && i < c->nuids; i++)
		r = bpf_map_update_elem(bpf_map__fd(b->skel->maps.wanted_uids), &c->uids[i], &one, BPF_ANY);
	return r;
}
