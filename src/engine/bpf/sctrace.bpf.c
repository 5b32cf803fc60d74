/* SPDX-License-Identifier: MIT */
/*
 * The kernel half of the bpf engine: it counts and times system calls in the kernel. One program runs at the entry of
 * each call, and one at its exit, both with preemption disabled. So only one program at a time writes to a row's counts
 * on a CPU, and no atomic operations are needed.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "../../syscall/restart.h"
#include "maps.bpf.h"
#include "shared.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* asm-generic/errno-base.h, asm-generic/signal-defs.h, linux/sched.h and linux/mm_types_task.h of the kernel */
#define EINTR         4
#define SA_RESTART    0x10000000
#define PF_EXITING    4
#define MM_FILEPAGES  0
#define MM_ANONPAGES  1
#define MM_SHMEMPAGES 3

/* Selected calls of the whole system or of a control group are reported with their paths, through the ring. */

/* The call that a thread is in, and the arguments of the program that it executes. */
MAP(calls, TASK_STORAGE, 0, int, struct ring_call, BPF_F_NO_PREALLOC);
MAP(argvs, TASK_STORAGE, 0, int, struct watch_argv, BPF_F_NO_PREALLOC);

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

/*
 * Called when a call begins while an interrupted call is stored. The same call from the same place is the restart of
 * the interrupted call. Returns the number under which the new call is counted: for restart_syscall(2), this is the
 * number of the call that it continues.
 */
static __noinline long long resolve_interrupted(struct task_struct *task, struct task_state *t, struct pt_regs *regs,
						long long nr)
{
	struct interrupted *i = &t->interrupted;
	bool same = nr == i->nr || (i->err == ERESTART_RESTARTBLOCK && is_restart_syscall(nr, is_compat(task)));
	if (same && regs_ip(regs) == i->ip && regs->sp == i->sp) {
		nr = i->nr;
		count_restarted(i->slot, i->ns);
		i->slot = 0;
	} else if (!(t->flags & TASK_HANDLER)) {
		/* another call was made, so the stored call is not restarted */
		count_returned(i->slot, i->ns, -EINTR, i->waited, bpf_ktime_get_ns());
		i->slot = 0;
	}
	if (!i->slot)
		t->flags &= ~TASK_HANDLER;
	return nr;
}

/* Returns true if the user wants to see the process: by its name and by its user. */
static __always_inline bool is_wanted(struct task_struct *task)
{
	unsigned int uid = (unsigned int)bpf_get_current_uid_gid();
	struct comm c = {};
	if (only_uids && !bpf_map_lookup_elem(&wanted_uids, &uid))
		return false;
	if (!only_comms)
		return true;
	bpf_probe_read_kernel_str(&c, sizeof(c), task->comm);
	return bpf_map_lookup_elem(&wanted_comms, &c);
}

static __always_inline bool in_scope(struct task_struct *task)
{
	if (!is_wanted(task))
		return false;
	if (scope == SCOPE_ALL)
		return task->tgid != self_tgid;
	return scope == SCOPE_CGROUP && bpf_current_task_under_cgroup(&cgroup, 0) == 1;
}

/* Handles the entry of a call if calls are reported. */
static __noinline int on_watched(struct task_struct *task, struct pt_regs *regs, long long nr)
{
	struct task_state *t = bpf_task_storage_get(&tasks, task, 0, 0);
	const volatile struct watch_rule *rule = rule_of(nr);
	if (!rule || !rule->wanted || is_compat(task) || !in_scope(task))
		return 0;
	if (t && t->flags & TASK_WAITING && nr != NR_EXECVE && nr != NR_EXECVEAT)
		return 0;
	if (!t)
		t = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		watch_enter(task, t, regs, nr, rule);
	else
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	long long nr = (int)id;
	if (watch)
		return on_watched(task, regs, nr);
	struct task_state *t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (scope != SCOPE_TASKS && !(t && t->flags & TASK_SELF)) {
		if (!in_scope(task))
			return 0;
		if (!t)
			t = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!t)
			__sync_fetch_and_add(&lost, 1);
	}
	if (!t)
		return 0;
	t->flags &= ~TASK_UNSEEN;
	if (t->flags & TASK_WAITING && nr != NR_EXECVE && nr != NR_EXECVEAT)
		return 0;
	if (t->interrupted.slot)
		nr = resolve_interrupted(task, t, regs, nr);
	t->slot = find_slot(task, t, nr);
	t->nr = nr;
	t->flags |= TASK_IN_CALL;
	if (!t->slot)
		__sync_fetch_and_add(&lost, 1);
	else if (!(t->flags & TASK_WAITING))
		count_entered(t->slot);
	t->switches = task->nvcsw + task->nivcsw;
	t->enter_ns = bpf_ktime_get_ns();
	return 0;
}

/* An exit without an entry: a call that a seccomp filter has answered is counted, but its time is unknown. */
static __noinline int exit_without_entry(struct task_struct *task, struct task_state *t, struct pt_regs *regs, long ret)
{
	if (t->flags & (TASK_UNSEEN | TASK_WAITING)) {
		t->flags &= ~TASK_UNSEEN;
		return 0;
	}
	if (closing || (scope != SCOPE_TASKS && !(t->flags & TASK_SELF) && !in_scope(task)))
		return 0;
	unsigned int slot = find_slot(task, t, regs_nr(regs));
	if (!slot) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	__sync_fetch_and_add(&untimed, 1);
	count_entered(slot);
	count_returned(slot, 0, ret, 0, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long ret)
{
	unsigned long long now = bpf_ktime_get_ns();
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!t)
		return 0;
	if (watch) {
		if (t->flags & TASK_IN_CALL && !(t->flags & TASK_WAITING))
			watch_report(task, t, RING_CALL, ret);
		t->flags &= ~TASK_IN_CALL;
		return 0;
	}
	if (!(t->flags & TASK_IN_CALL))
		return exit_without_entry(task, t, regs, ret);
	t->flags &= ~TASK_IN_CALL;
	if (t->flags & TASK_WAITING || !t->slot)
		return 0;
	unsigned long long ns = now - t->enter_ns;
	unsigned long long waited = t->switches != task->nvcsw + task->nivcsw;
	if (is_sigreturn(t->nr, is_compat(task))) {
		ret = 0; /* after rt_sigreturn(2), the result register holds a value of the interrupted program */
	} else if (IS_RESTART_ERROR(-ret)) {
		struct interrupted *i = &t->interrupted;
		/*
		 * If a call is already stored, a signal handler interrupted that call, and now the handler's own call
		 * was interrupted. There is room for one call only, so the stored call is counted as if it had returned
		 * EINTR.
		 */
		if (i->slot)
			count_returned(i->slot, i->ns, -EINTR, i->waited, now);
		i->slot = t->slot;
		i->err = -ret;
		i->nr = t->nr;
		i->ip = regs_ip(regs);
		i->sp = regs->sp;
		i->ns = ns;
		i->waited = waited;
		return 0;
	}
	count_returned(t->slot, ns, ret, waited, now);
	return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct task_state *t = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);
	if (!t || !t->interrupted.slot || t->flags & TASK_HANDLER)
		return 0;
	/* with SIG_DFL or SIG_IGN, the call is restarted, or the process ends */
	if ((unsigned long)ka->sa.sa_handler <= 1)
		return 0;
	struct interrupted *i = &t->interrupted;
	/* signal(7): ERESTARTNOINTR always restarts the call, ERESTARTSYS only with SA_RESTART. */
	if (i->err == ERESTARTNOINTR || (i->err == ERESTARTSYS && ka->sa.sa_flags & SA_RESTART)) {
		t->flags |= TASK_HANDLER;
		return 0;
	}
	count_returned(i->slot, i->ns, -EINTR, i->waited, bpf_ktime_get_ns());
	i->slot = 0;
	return 0;
}

static __always_inline void output(const struct ring_event *e)
{
	bpf_ringbuf_output(&ring, (void *)e, sizeof(*e), 0);
}

/* Starts to count `task`, which may be running: its state begins with these flags. Returns NULL without memory. */
static __always_inline struct task_state *adopt(struct task_struct *task, unsigned int flags)
{
	struct task_state state = {.flags = flags};
	return bpf_task_storage_get(&tasks, task, &state, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void process_began(void)
{
	__sync_fetch_and_add(&live, 1);
	__sync_fetch_and_add(&processes, 1);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *t = bpf_task_storage_get(&tasks, parent, 0, 0);
	unsigned int tgid = parent->tgid;
	bool is_thread = child->tgid == tgid;
	if (t ? t->flags & (TASK_SELF | TASK_WAITING) : !bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	if (scope != SCOPE_TASKS)
		return 0;
	if (!is_thread && !follow) {
		__sync_fetch_and_add(&unfollowed, 1);
		return 0;
	}
	if (!adopt(child, TASK_UNSEEN)) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	if (!is_thread)
		process_began();
	struct ring_event e = {.kind = RING_NEW_TASK,
			       .pid = tgid,
			       .tid = parent->pid,
			       .other = child->pid,
			       .is_thread = is_thread,
			       .time_ns = bpf_ktime_get_ns()};
	output(&e);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_tid, struct linux_binprm *bprm)
{
	struct task_state *t = bpf_task_storage_get(&tasks, task, 0, 0);
	if (!t || t->flags & TASK_SELF)
		return 0;
	t->interrupted.slot = 0;
	t->flags &= ~TASK_HANDLER;
	__builtin_memset(t->cache, 0, sizeof(t->cache)); /* after execve(2), the thread may have another id */
	if (split != SPLIT_NONE)
		note_owner(task, split == SPLIT_PROCESS ? task->tgid : task->pid);
	if (t->flags & TASK_WAITING) {
		t->flags &= ~TASK_WAITING;
		root_tgid = task->tgid;
		root_exec_ns = bpf_ktime_get_ns();
		if (t->flags & TASK_IN_CALL && !watch)
			count_entered(t->slot);
	}
	struct ring_event e = {.kind = RING_EXEC,
			       .pid = task->tgid,
			       .tid = task->pid,
			       .other = old_tid,
			       .time_ns = bpf_ktime_get_ns()};
	output(&e);
	return 0;
}

/* Reads a counter of resident pages, without the changes that each CPU buffers (32 pages, more with many CPUs). */
#define RSS_COUNTER(mm, which)                                                                                         \
	({                                                                                                             \
		long long n_ = BPF_CORE_READ(mm, rss_stat[which].count);                                               \
		n_ > 0 ? n_ : 0;                                                                                       \
	})

/* Notes VmHWM as /proc/PID/status computes it (fs/proc/task_mmu.c), unless the memory has already been released. */
static __always_inline void note_peak(struct task_struct *task)
{
	struct mm_struct *mm = task->mm;
	if (!mm || !bpf_core_field_exists(mm->rss_stat[0].count))
		return;
	unsigned long long pages =
		RSS_COUNTER(mm, MM_FILEPAGES) + RSS_COUNTER(mm, MM_ANONPAGES) + RSS_COUNTER(mm, MM_SHMEMPAGES);
	pages = pages > mm->hiwater_rss ? pages : mm->hiwater_rss;
	if (!pages)
		return;
	__sync_fetch_and_add(&processes_measured, 1);
	if (pages > peak_rss_pages)
		peak_rss_pages = pages;
}

/*
 * Is `task` the last thread of its process? An exiting thread lowers signal->live before the kernel reports its exit. If
 * several threads exit at the same time, each of them may find 0 there, so only the first one is taken as the last. It
 * marks the state of the process's leader. In scopes in which the leader has no state, each of them is taken.
 */
static __always_inline bool is_last(struct task_struct *task)
{
	if (task->signal->live.counter != 0)
		return false;
	struct task_state *leader = bpf_task_storage_get(&tasks, task->group_leader, 0, 0);
	return !leader || __sync_lock_test_and_set(&leader->ended, 1) == 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_death, struct task_struct *task)
{
	struct task_state *t = bpf_task_storage_get(&tasks, task, 0, 0);
	bool last = is_last(task);
	/* The last thread need not be the leader. If all processes are counted, a thread without calls has no state. */
	bool root = root_tgid && task->tgid == root_tgid;
	if (last && root)
		root_exit_ns = bpf_ktime_get_ns();
	if (!t || t->flags & TASK_SELF)
		return 0;
	if (watch && t->flags & TASK_IN_CALL)
		watch_report(task, t, RING_VANISH, 0);
	note_end(task, t);
	if (scope != SCOPE_TASKS && split == SPLIT_NONE && !root && !watch)
		return 0;
	struct ring_event e = {.kind = RING_DEATH,
			       .pid = task->tgid,
			       .tid = task->pid,
			       .is_process = last,
			       .status = task->exit_code,
			       .time_ns = bpf_ktime_get_ns()};
	if (last && !(t->flags & TASK_WAITING))
		note_peak(task);
	if (last && scope == SCOPE_TASKS)
		__sync_fetch_and_add(&live, -1);
	output(&e);
	return 0;
}

/* Iterates over all threads once and starts to count those of the processes in `targets`. */
SEC("iter/task")
int mark_targets(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	if (!task || task->flags & PF_EXITING)
		return 0;
	unsigned int tgid = task->tgid;
	unsigned int *seen = bpf_map_lookup_elem(&targets, &tgid);
	if (!seen || bpf_task_storage_get(&tasks, task, 0, 0))
		return 0;
	if (!adopt(task, TASK_UNSEEN)) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	if (!*seen)
		process_began();
	*seen = 1;
	return 0;
}
