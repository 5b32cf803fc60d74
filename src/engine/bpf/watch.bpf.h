/*
 * Reports selected calls of the whole system or of a control group, with their paths, through the ring. Only the kernel
 * half includes this file.
 */
#ifndef SCTRACE_ENGINE_BPF_WATCH_BPF_H
#define SCTRACE_ENGINE_BPF_WATCH_BPF_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "arch.bpf.h"
#include "maps.bpf.h"
#include "shared.h"

/* The call that a thread is in. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ring_call);
} calls SEC(".maps");

/* The arguments of the program that a thread executes. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watch_argv);
} argvs SEC(".maps");

/* Reads a path. The page that contains it may not be present; the path then gets the address 0. */
static __noinline int watch_path(struct watch_path *p, unsigned long long addr)
{
	if (!p)
		return 0;
	long n = bpf_probe_read_user_str(p->bytes, sizeof(p->bytes), (void *)addr);
	p->addr = n > 0 ? addr : 0;
	p->size = n > 0 ? n - 1 : 0;
	p->ended = n < (long)sizeof(p->bytes);
	return 0;
}

/* Reads an array of strings that ends with a NULL, as far as there is room. */
static __noinline int watch_argv(struct watch_argv *a, unsigned long long addr)
{
	if (!a)
		return 0;
	a->addr = addr;
	a->n = 0;
	for (unsigned int i = 0; i < WATCH_ARGS; i++) {
		unsigned long long p = 0;
		if (bpf_probe_read_user(&p, sizeof(p), (void *)(addr + i * sizeof(p))))
			break;
		a->at[i] = p;
		a->n = i + 1;
		if (!p)
			break;
		long n = bpf_probe_read_user_str(a->text[i].bytes, sizeof(a->text[i].bytes), (void *)p);
		a->text[i].size = n > 0 ? n - 1 : 0;
		a->text[i].ended = n > 0 && n < (long)sizeof(a->text[i].bytes);
	}
	return 0;
}

/* The index is masked, because the verifier does not see that the compiler's order of these steps is safe. */
static __always_inline const volatile struct watch_rule *rule_of(long long nr)
{
	unsigned long long i = nr;
	return i < WATCH_CALLS ? &rules[i & (WATCH_CALLS - 1)] : 0;
}

/* Reads those paths of the call that could not be read yet. */
static __always_inline void watch_paths(struct ring_call *c, const volatile struct watch_rule *rule)
{
	for (unsigned int i = 0; i < WATCH_PATHS; i++) {
		unsigned int arg = rule->path[i];
		if (arg && !c->path[i].addr)
			watch_path(&c->path[i], c->args[arg & 7]);
	}
}

/* A selected call begins. */
static __always_inline void watch_enter(struct task_struct *task, struct task_state *t, struct pt_regs *regs,
					long long nr, const volatile struct watch_rule *rule)
{
	struct ring_call *c = bpf_task_storage_get(&calls, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	c->pid = task->tgid;
	c->tid = task->pid;
	c->nr = nr;
	regs_args(regs, c->args + 1);
	c->ip = regs_ip(regs);
	c->sp = regs->sp;
	c->path[0].addr = c->path[1].addr = 0;
	watch_paths(c, rule);
	if (rule->argv)
		watch_argv(bpf_task_storage_get(&argvs, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE),
			   c->args[rule->argv & 7]);
	t->flags |= TASK_IN_CALL;
	t->switches = task->nvcsw + task->nivcsw;
	c->enter_ns = bpf_ktime_get_ns();
}

/* Reports the call that the thread is in: RING_CALL if it has returned, RING_VANISH if it will not return. */
static __noinline int watch_report(struct task_struct *task, struct task_state *t, unsigned int kind, long result)
{
	struct ring_call *c = bpf_task_storage_get(&calls, task, 0, 0);
	if (!c || !t)
		return 0;
	const volatile struct watch_rule *rule = rule_of(c->nr);
	if (!rule)
		return 0;
	c->exit_ns = bpf_ktime_get_ns();
	c->kind = kind;
	c->result = result;
	c->waited = t->switches != task->nvcsw + task->nivcsw;
	bpf_probe_read_kernel(c->comm, sizeof(c->comm), task->comm);
	struct watch_argv *a = rule->argv ? bpf_task_storage_get(&argvs, task, 0, 0) : 0;
	/* The kernel has read the paths meanwhile, so their pages are present. A new program has other memory. */
	if (kind == RING_CALL && !(rule->argv && !result))
		watch_paths(c, rule);
	if (!a) {
		if (bpf_ringbuf_output(&ring, c, sizeof(*c), 0) < 0)
			__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	struct ring_exec *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	bpf_probe_read_kernel(&e->call, sizeof(e->call), c);
	bpf_probe_read_kernel(&e->argv, sizeof(e->argv), a);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

#endif
