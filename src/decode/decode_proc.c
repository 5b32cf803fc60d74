/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "decode/layout.h"
#include "decode/show.h"
#include "syscall/call_table.h"

#include <linux/sched.h>
#include <stdio.h>
#include <string.h>

#define CSIGNAL_ 0xff

/*
 * Emits the name that strace gives to an argument of clone(2): the order of the arguments differs between architectures.
 * With -N, each argument has already its own name.
 */
static void show_label(const struct decode *d, const char *label)
{
	if (!(d->out->flags & EMIT_ARG_NAMES))
		emit_wrap(d->out, label);
}

/*
 * clone(2): the low byte is the signal that the parent receives at the end of the child, and the other bits are flags.
 */
void show_clone_flags(const struct decode *d, const struct value *x)
{
	auto_buf text = {0};
	uint32_t sig = (uint32_t)x->v & CSIGNAL_;
	uint64_t flags = x->arg < 0 ? x->v : (uint32_t)x->v & ~CSIGNAL_;
	const char *name = decode_signal_name((int)sig);
	if (flags || !sig || x->arg < 0)
		flags_join(&text, &flags_clone, flags);
	if (x->arg >= 0 && sig && name)
		buf_addf(&text, "%s%s", flags ? "|" : "", name);
	else if (x->arg >= 0 && sig)
		buf_addf(&text, "%s%u", flags ? "|" : "", sig);
	if (x->arg >= 0)
		show_label(d, "flags=");
	emit_sym(d->out, buf_str(&text), x->v);
}

void show_clone_named(const struct decode *d, const struct value *x)
{
	show_label(d, x->about);
	emit_ptr(d->out, x->v);
}

void show_tid_at(const struct decode *d, const struct value *x)
{
	show_label(d, x->about);
	show_kind(d, K_INT_AT, x->v, -1);
}

enum when when_clone_ptid(const struct decode *d, int i)
{
	(void)i;
	return d->call->args[0] & (CLONE_PARENT_SETTID | CLONE_PIDFD) ? WHEN_LEFT : WHEN_NEVER;
}

enum when when_clone_ctid(const struct decode *d, int i)
{
	(void)i;
	return d->call->args[0] & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID) ? WHEN_ENTERING : WHEN_NEVER;
}

enum when when_clone_tls(const struct decode *d, int i)
{
	(void)i;
	return d->call->args[0] & CLONE_SETTLS ? WHEN_ENTERING : WHEN_NEVER;
}

static STRUCTURE_SAME(clone_args, M64(flags, CLONE_FLAGS), M64(pidfd, PTR, NONZERO), M64(child_tid, PTR, NONZERO),
		      M64(parent_tid, PTR, NONZERO), M64(exit_signal, SIGNAL), M64(stack, PTR), M64(stack_size, HEX),
		      M64(tls, PTR, NONZERO), M64(set_tid, SET_TID, NONZERO), M64(set_tid_size, ULONG, NONZERO),
		      M64(cgroup, ULONG, NONZERO));

/* An array of thread ids. The structure that contains it, the first argument, also contains the length. */
void show_set_tid(const struct decode *d, const struct value *x)
{
	const uint64_t most = 32; /* MAX_PID_NS_LEVEL of the kernel */
	uint64_t n = 0;
	if (decode_get(d, d->call->args[0] + offsetof(struct kernel_clone_args, set_tid_size), &n, sizeof(n)) &&
	    n <= most)
		decode_numbers(d, x->v, n, sizeof(int32_t), K_PID);
	else
		emit_ptr(d->out, x->v);
}

/* Members of struct clone_args that the kernel reads only if one of these flags is set (linux/sched.h). */
static const struct {
	size_t offset;
	uint64_t flags;
} clone_needs[] = {
	{offsetof(struct kernel_clone_args, pidfd), CLONE_PIDFD},
	{offsetof(struct kernel_clone_args, child_tid), CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID},
	{offsetof(struct kernel_clone_args, parent_tid), CLONE_PARENT_SETTID},
	{offsetof(struct kernel_clone_args, tls), CLONE_SETTLS},
};

static bool clone_looks_at(const struct member *m, uint64_t flags)
{
	for (size_t i = 0; i < sizeof(clone_needs) / sizeof(*clone_needs); i++)
		if (clone_needs[i].offset == m->offset)
			return flags & clone_needs[i].flags;
	return true;
}

/* The next argument is the size of the structure. */
void show_clone_args(const struct decode *d, const struct value *x)
{
	static const struct layout_choice by_flags = {clone_looks_at, offsetof(struct kernel_clone_args, flags),
						      sizeof(uint64_t)};
	layout_emit_there(d, &layout_clone_args, x->v, d->call->args[x->arg + 1], &by_flags);
}

static void filled_in(const struct decode *d, const char *name, uint64_t at, enum syscall_kind kind)
{
	emit_field(d->out, name);
	decode_number(d, at, sizeof(int32_t), kind);
}

/* Shows the values that the kernel has written through pointers in the structure: {parent_tid=[4712], pidfd=[5]}. */
void show_clone_args_after(const struct decode *d, const struct value *x)
{
	struct kernel_clone_args a = {0};
	uint64_t size = d->call->args[x->arg + 1];
	decode_get(d, x->v, &a, size < sizeof(a) ? (size_t)size : sizeof(a));
	if (!(a.flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)))
		return;
	emit_after(d->out);
	emit_open(d->out, '{');
	if (a.flags & CLONE_PARENT_SETTID)
		filled_in(d, "parent_tid", a.parent_tid, K_PID);
	if (a.flags & CLONE_PIDFD)
		filled_in(d, "pidfd", a.pidfd, K_FD);
	emit_close(d->out, '}');
}

/* The namespaces that a process can get by flags of clone(2), in the order of /proc/PID/ns. */
static const struct {
	uint64_t flag;
	const char *link;
	const char *for_children; /* the link to what only its children will be in after unshare(2) and setns(2) */
} namespaces[] = {
	{CLONE_NEWCGROUP, "cgroup", "cgroup"},
	{CLONE_NEWIPC, "ipc", "ipc"},
	{CLONE_NEWNS, "mnt", "mnt"},
	{CLONE_NEWNET, "net", "net"},
	{CLONE_NEWPID, "pid", "pid_for_children"},
	{CLONE_NEWTIME, "time", "time_for_children"},
	{CLONE_NEWUSER, "user", "user"},
	{CLONE_NEWUTS, "uts", "uts"},
};

#define NAMESPACES (sizeof(namespaces) / sizeof(*namespaces))

/* A process that has entered namespaces: itself, or a new child. */
struct entered {
	pid_t pid;
	uint64_t flags; /* of clone(2) */
	bool child;
};

/* setns(2) with type 0 enters what the descriptor refers to: "net:[4026531840]". Returns the flag for it, or 0. */
static uint64_t flag_of_fd(const struct decode *d, int fd)
{
	const struct names *n = d->opts->names;
	auto_buf is = {0};
	uint64_t flag = 0;
	bool known = n->fd(n->ctx, d->pid, fd, &is);
	for (size_t i = 0; known && i < NAMESPACES; i++) {
		size_t len = strlen(namespaces[i].link);
		if (strncmp(buf_str(&is), namespaces[i].link, len) == 0 && buf_str(&is)[len] == ':')
			flag = namespaces[i].flag;
	}
	return flag;
}

/* Fills in `who`. Returns false if the call is not one that enters namespaces, or if the process is not known. */
static bool has_entered(const struct decode *d, struct entered *who)
{
	const struct call *c = d->call;
	const struct names *n = d->opts->names;
	const char *name = c->desc->name;
	bool clone = strcmp(name, "clone") == 0, clone3 = strcmp(name, "clone3") == 0;
	bool setns = strcmp(name, "setns") == 0;
	*who = (struct entered){.pid = d->pid, .child = clone || clone3};
	if (clone || strcmp(name, "unshare") == 0)
		who->flags = c->args[0];
	else if (clone3)
		decode_get(d, c->args[0] + offsetof(struct kernel_clone_args, flags), &who->flags, sizeof(who->flags));
	else if (setns)
		who->flags = (uint32_t)c->args[1] ? c->args[1] : flag_of_fd(d, (int)c->args[0]);
	/* The low byte of the flags of clone(2) is a signal, and not the flag CLONE_NEWTIME. */
	if (clone)
		who->flags &= ~(uint64_t)CSIGNAL_;
	if (who->child)
		who->pid = n->outer_id ? n->outer_id(n->ctx, d->pid, (pid_t)c->result) : (pid_t)c->result;
	return who->pid > 0;
}

void decode_namespaces(const struct decode *d)
{
	const struct names *n = d->opts->names;
	struct entered who;
	bool any = false;
	if (!d->opts->namespaces || !n || !n->space || !has_entered(d, &who))
		return;
	for (size_t i = 0; i < NAMESPACES; i++) {
		auto_buf is = {0};
		const char *link = who.child ? namespaces[i].link : namespaces[i].for_children;
		if (who.flags & namespaces[i].flag && n->space(n->ctx, who.pid, link, &is)) {
			if (!any)
				emit_returned(d->out, RETURNED_FIELDS);
			any = true;
			emit_data_field(d->out, namespaces[i].link);
			emit_sym(d->out, buf_str(&is), 0);
		}
	}
	if (any)
		emit_returned(d->out, RETURNED_END);
}

static void wait_status(struct buf *text, int status)
{
	int sig = status & 0x7f, code = status >> 8 & 0xff;
	const char *name = decode_signal_name(sig == 0x7f ? code & 0x7f : sig);
	if (sig == 0x7f && (status & 0xffff) == 0xffff)
		buf_adds(text, "{WIFCONTINUED(s)}");
	else if (sig == 0x7f)
		buf_addf(text, "{WIFSTOPPED(s) && WSTOPSIG(s) == %s%s}", name ? name : "?",
			 code & 0x80 ? " | 0x80" : "");
	else if (sig)
		buf_addf(text, "{WIFSIGNALED(s) && WTERMSIG(s) == %s%s}", name ? name : "?",
			 status & 0x80 ? " && WCOREDUMP(s)" : "");
	else
		buf_addf(text, "{WIFEXITED(s) && WEXITSTATUS(s) == %d}", code);
	const char *event = flags_find(&flags_ptrace_event, (uint32_t)status >> 16);
	if (status >> 16 && sig == 0x7f && event)
		buf_addf(text, "|%s<<16", event);
	else if (status >> 16 && sig == 0x7f)
		buf_addf(text, " | %#x", (unsigned)status & 0xffff0000u);
}

void show_wstatus(const struct decode *d, const struct value *x)
{
	int32_t status;
	/* With WNOHANG, the result is 0 if no child has changed its state. The status is then not written. */
	if (!d->call->result || !decode_get(d, x->v, &status, sizeof(status))) {
		emit_ptr(d->out, x->v);
		return;
	}
	auto_buf text = {0};
	wait_status(&text, status);
	emit_open(d->out, '[');
	emit_element(d->out);
	emit_sym(d->out, buf_str(&text), (uint32_t)status);
	emit_close(d->out, ']');
}

STRUCTURE_NARROW(rusage, &layout_rusage32, ARRAY(int64_t, ru_utime, 2, TIMEVAL), ARRAY(int64_t, ru_stime, 2, TIMEVAL),
		 M64(ru_maxrss, LONG, VERBOSE), M64(ru_ixrss, LONG, VERBOSE), M64(ru_idrss, LONG, VERBOSE),
		 M64(ru_isrss, LONG, VERBOSE), M64(ru_minflt, LONG, VERBOSE), M64(ru_majflt, LONG, VERBOSE),
		 M64(ru_nswap, LONG, VERBOSE), M64(ru_inblock, LONG, VERBOSE), M64(ru_oublock, LONG, VERBOSE),
		 M64(ru_msgsnd, LONG, VERBOSE), M64(ru_msgrcv, LONG, VERBOSE), M64(ru_nsignals, LONG, VERBOSE),
		 M64(ru_nvcsw, LONG, VERBOSE), M64(ru_nivcsw, LONG, VERBOSE));

/* Shows a limit: 8192*1024, RLIM64_INFINITY. */
void show_rlim(const struct decode *d, const struct value *x)
{
	char text[40];
	if (x->v == UINT64_MAX) {
		emit_sym(d->out, "RLIM64_INFINITY", x->v);
	} else if (x->v > 1024 && x->v % 1024 == 0) {
		snprintf(text, sizeof(text), "%llu*1024", (unsigned long long)x->v / 1024);
		emit_sym(d->out, text, x->v);
	} else {
		emit_unum(d->out, x->v);
	}
}

static STRUCTURE(rlimit32, M32(rlim_cur, RLIM32), M32(rlim_max, RLIM32));

/* All 32 bits are set if there is no limit. */
void show_rlim32(const struct decode *d, const struct value *x)
{
	if (x->v == UINT32_MAX)
		emit_sym(d->out, "RLIM_INFINITY", x->v);
	else
		show_rlim(d, x);
}

STRUCTURE_SAME(rlimit64, M64(rlim_cur, RLIM), M64(rlim_max, RLIM));
LAYOUT_NARROW(rlimit, struct kernel_rlimit64, &layout_rlimit32, (rlim_cur, RLIM), (rlim_max, RLIM));

STRUCTURE_NARROW(sysinfo, &layout_sysinfo32, M64(uptime, LONG), ARRAY(uint64_t, loads, 3, LOADS), M64(totalram, ULONG),
		 M64(freeram, ULONG), M64(sharedram, ULONG), M64(bufferram, ULONG), M64(totalswap, ULONG),
		 M64(freeswap, ULONG), M16(procs, UINT), SKIP16(pad), M64(totalhigh, ULONG), M64(freehigh, ULONG),
		 M32(mem_unit, UINT));

struct uts {
	char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};
LAYOUT_SAME(utsname, struct uts, (sysname, UTS_STRING, AT), (nodename, UTS_STRING, AT),
	    (release, UTS_STRING, AT | VERBOSE), (version, UTS_STRING, AT | VERBOSE),
	    (machine, UTS_STRING, AT | VERBOSE), (domainname, UTS_STRING, AT | VERBOSE));

void show_uts_string(const struct decode *d, const struct value *x)
{
	decode_string(d, x->v, sizeof(((struct uts *)0)->sysname) - 1);
}

STRUCTURE_SAME(sched_param, M32(sched_priority, INT));

STRUCTURE_SAME(sched_attr, M32(size, UINT), M32(sched_policy, SCHED_POLICY), M64(sched_flags, SCHED_FLAGS),
	       M32(sched_nice, INT), M32(sched_priority, UINT), M64(sched_runtime, ULONG), M64(sched_deadline, ULONG),
	       M64(sched_period, ULONG), M32(sched_util_min, UINT, NONZERO), M32(sched_util_max, UINT, NONZERO));

/*
 * sched_setaffinity(2): the previous argument is the size of the set. After sched_getaffinity(2), the result is the
 * size that the kernel has filled in. Shown as [0 1 4].
 */
void show_cpu_set(const struct decode *d, const struct value *x)
{
	uint8_t bytes[1024];
	uint64_t n = d->leaving ? (uint64_t)d->call->result : d->call->args[x->arg - 1];
	auto_buf text = {0};
	n = n < sizeof(bytes) ? n : sizeof(bytes);
	if (!decode_need(d, x->v, bytes, (size_t)n))
		return;
	buf_addc(&text, '[');
	for (unsigned cpu = 0; cpu < n * 8; cpu++)
		if (bytes[cpu / 8] >> (cpu % 8) & 1)
			buf_addf(&text, "%s%u", text.len > 1 ? " " : "", cpu);
	buf_addc(&text, ']');
	emit_sym(d->out, buf_str(&text), 0);
}

STRUCTURE_SAME(cap_header, M32(version, CAP_VERSION), M32(pid, PID));

static void capabilities(struct emit *out, uint64_t mask)
{
	auto_buf text = {0};
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = flags_find(&flags_cap, bit);
		if (!(mask >> bit & 1))
			continue;
		buf_addf(&text, "%s", text.len ? "|" : "");
		if (name)
			buf_addf(&text, "1<<%s", name);
		else
			buf_addf(&text, "1<<%u", bit);
	}
	emit_sym(out, text.len ? buf_str(&text) : "0", mask);
}

/*
 * capget(2): a set has two words in version 3 and one word in version 1. The first argument points at the header, which
 * contains the version.
 */
void show_cap_data(const struct decode *d, const struct value *x)
{
	static const char *const names[] = {"effective", "permitted", "inheritable"};
	uint32_t version = 0, words[6] = {0};
	decode_get(d, d->call->args[0], &version, sizeof(version));
	if (!decode_need(d, x->v, words, version == 0x19980330 ? 12 : 24))
		return;
	emit_open(d->out, '{');
	for (unsigned j = 0; j < 3; j++) {
		emit_field(d->out, names[j]);
		capabilities(d->out, words[j] | (uint64_t)words[j + 3] << 32);
	}
	emit_close(d->out, '}');
}

void show_gids(const struct decode *d, const struct value *x)
{
	decode_numbers(d, x->v, (uint32_t)d->call->args[x->arg - 1], 4, K_UID);
}

void show_out_gids(const struct decode *d, const struct value *x)
{
	/* If the size is 0, the result is the number of groups, and the list is not written. */
	decode_numbers(d, x->v, d->call->args[x->arg - 1] ? decode_returned(d) : 0, 4, K_UID);
}

/* ioprio_set(2): the top three of the sixteen bits are the class. */
void show_ioprio(const struct decode *d, const struct value *x)
{
	char text[64];
	const char *name = flags_find(&flags_ioprio_class, x->v >> 13 & 7);
	if (!name) {
		emit_hex(d->out, (uint32_t)x->v);
		return;
	}
	snprintf(text, sizeof(text), "IOPRIO_PRIO_VALUE(%s, %u)", name, (unsigned)(x->v & 0x1fff));
	emit_sym(d->out, text, x->v);
}

void show_personality(const struct decode *d, const struct value *x)
{
	if ((uint32_t)x->v == UINT32_MAX)
		emit_hex(d->out, UINT32_MAX);
	else
		flags_emit(d->out, &flags_personality, (uint32_t)x->v);
}

/* klogctl(3): the previous argument is the action. Only actions that read use the buffer. */
STRUCTURE_SAME(epoll_slot, M32(efd, FD), M32(tfd, FD), M32(toff, UINT));

enum when when_membarrier_cpu(const struct decode *d, int i)
{
	return d->call->args[i - 1] & 1 ? WHEN_ENTERING : WHEN_NEVER;
}

/*
 * waitid(2): the previous argument is the type of the id. P_ALL (0) ignores the id, and for P_PIDFD (3) it is a
 * descriptor.
 */
void show_waitid_id(const struct decode *d, const struct value *x)
{
	if ((uint32_t)d->call->args[x->arg - 1] == 3)
		show_fd(d, x);
	else
		show_int(d, x);
}
