/* SPDX-License-Identifier: MIT */
#include "trace/seccomp.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/memory.h"
#include "syscall/call_table.h"

#include <errno.h>
#include <jansson.h>
#include <linux/audit.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More values of an argument are not fixed, because another run would probably use further values. */
#define VALUES_MOST 16

/*
 * Arguments that a profile fixes. With a mask, only these bits are fixed. clone3(2) passes its flags in memory, which a filter
 * cannot read.
 */
#define NAMESPACES                                                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
static const struct fixed {
	const char *name;
	unsigned arg;
	uint64_t mask; /* 0: the whole argument */
} fixed[] = {
	{"socket", 0, 0}, {"socketpair", 0, 0},     {"personality", 0, 0}, {"unshare", 0, 0}, {"setns", 1, 0},
	{"bpf", 0, 0},    {"clone", 0, NAMESPACES}, {"ptrace", 0, 0},      {"keyctl", 0, 0},  {"arch_prctl", 0, 0},
};

/* Calls that every program may need at any time, even if no recording contains them: a signal arrives, or it ends. */
static const char *const always[] = {"execve", "exit", "exit_group", "restart_syscall", "rt_sigreturn"};

struct seccomp_call {
	const char *name;
	const struct fixed *fixed; /* or NULL */
	VEC(uint64_t) values;
	bool any; /* too many values were seen */
};

static struct seccomp_call *call_of(struct trace_seccomp *t, const struct syscall_desc *d)
{
	struct seccomp_call *c = map_get(&t->by_desc, (uintptr_t)d);
	for (size_t i = 0; !c && i < t->calls.n; i++)
		if (strcmp(t->calls.v[i]->name, d->name) == 0)
			c = t->calls.v[i];
	if (!c) {
		c = memory_zeroed(1, sizeof(*c));
		c->name = d->name;
		for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
			if (strcmp(fixed[i].name, d->name) == 0)
				c->fixed = &fixed[i];
		vec_push(&t->calls, c);
	}
	map_put(&t->by_desc, (uintptr_t)d, c);
	return c;
}

static void add_value(struct seccomp_call *c, uint64_t v)
{
	v &= c->fixed->mask ? c->fixed->mask : UINT32_MAX; /* the kernel takes all of these arguments as int */
	for (size_t i = 0; i < c->values.n; i++)
		if (c->values.v[i] == v)
			return;
	c->any |= c->values.n == VALUES_MOST;
	if (!c->any)
		vec_push(&c->values, v);
}

static void add_arch(struct trace_seccomp *t, const struct call *c)
{
	uint32_t arch = c->arch == AUDIT_ARCH_X86_64 && c->nr >> 30 & 1 ? TRACE_SECCOMP_X32 : c->arch;
	for (size_t i = 0; i < t->arches.n; i++)
		if (t->arches.v[i] == arch)
			return;
	vec_push(&t->arches, arch);
}

static void seccomp_enter(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_seccomp *t = (struct trace_seccomp *)s;
	(void)k;
	add_arch(t, &ev->call);
	if (!ev->call.desc) {
		t->nameless++;
		return;
	}
	struct seccomp_call *c = call_of(t, ev->call.desc);
	if (c->fixed)
		add_value(c, ev->call.args[c->fixed->arg]);
}

static const struct trace_sink_ops seccomp_ops = {.enter = seccomp_enter};

void trace_seccomp_init(struct trace_seccomp *t)
{
	*t = (struct trace_seccomp){.sink.ops = &seccomp_ops};
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct seccomp_call *const *)a)->name, (*(struct seccomp_call *const *)b)->name);
}

/* Returns the calls in the order of their names, with those of `always`, which have no values. The caller frees the list. */
static struct seccomp_call **sorted(const struct trace_seccomp *t, struct seccomp_call *added, size_t *n)
{
	struct seccomp_call **list = memory_zeroed(t->calls.n + sizeof(always) / sizeof(*always), sizeof(*list));
	*n = 0;
	for (size_t i = 0; i < t->calls.n; i++)
		list[(*n)++] = t->calls.v[i];
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++) {
		bool known = false;
		for (size_t k = 0; k < t->calls.n; k++)
			known |= strcmp(t->calls.v[k]->name, always[i]) == 0;
		added[i] = (struct seccomp_call){.name = always[i]};
		if (!known)
			list[(*n)++] = &added[i];
	}
	qsort(list, *n, sizeof(*list), by_name);
	return list;
}

static bool is_fixed(const struct seccomp_call *c)
{
	return c->values.n && !c->any;
}

static json_t *architectures(const struct trace_seccomp *t)
{
	static const struct {
		uint32_t arch;
		const char *name;
	} names[] = {{AUDIT_ARCH_X86_64, "SCMP_ARCH_X86_64"},
		     {TRACE_SECCOMP_X32, "SCMP_ARCH_X32"},
		     {AUDIT_ARCH_I386, "SCMP_ARCH_X86"},
		     {AUDIT_ARCH_AARCH64, "SCMP_ARCH_AARCH64"},
		     {AUDIT_ARCH_ARM, "SCMP_ARCH_ARM"}};
	json_t *a = json_array();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t k = 0; k < t->arches.n; k++)
			if (t->arches.v[k] == names[i].arch)
				json_array_append_new(a, json_string(names[i].name));
	return a;
}

static json_t *rule_json(const struct seccomp_call *c, uint64_t v)
{
	const struct fixed *f = c->fixed;
	json_t *arg =
		f->mask ? json_pack("{s:i, s:I, s:I, s:s}", "index", f->arg, "value", (json_int_t)f->mask, "valueTwo",
				    (json_int_t)v, "op", "SCMP_CMP_MASKED_EQ")
			: json_pack("{s:i, s:I, s:s}", "index", f->arg, "value", (json_int_t)v, "op", "SCMP_CMP_EQ");
	return json_pack("{s:[s], s:s, s:[o]}", "names", c->name, "action", "SCMP_ACT_ALLOW", "args", arg);
}

static void add_json(const struct trace_seccomp *t, struct buf *out)
{
	struct seccomp_call added[sizeof(always) / sizeof(*always)];
	size_t n;
	struct seccomp_call **list = sorted(t, added, &n);
	json_t *names = json_array(), *rules = json_array();
	json_array_append_new(rules, json_pack("{s:o, s:s}", "names", names, "action", "SCMP_ACT_ALLOW"));
	for (size_t i = 0; i < n; i++) {
		if (!is_fixed(list[i]))
			json_array_append_new(names, json_string(list[i]->name));
		for (size_t k = 0; is_fixed(list[i]) && k < list[i]->values.n; k++)
			json_array_append_new(rules, rule_json(list[i], list[i]->values.v[k]));
	}
	json_t *o = json_pack("{s:s, s:i, s:o, s:o}", "defaultAction", "SCMP_ACT_ERRNO", "defaultErrnoRet", ENOSYS,
			      "architectures", architectures(t), "syscalls", rules);
	auto_free char *text = json_dumps(o, JSON_INDENT(2));
	buf_addf(out, "%s\n", text);
	json_decref(o);
	free(list);
}

static int add_rules(scmp_filter_ctx ctx, const struct seccomp_call *c)
{
	int nr = seccomp_syscall_resolve_name(c->name);
	int64_t native = syscall_number(syscall_native_arch(), c->name);
	if (nr == __NR_SCMP_ERROR)
		nr = (int)native; /* libseccomp is older than the call */
	if (nr == -1)
		return 0; /* a call of another architecture, which libseccomp does not know */
	if (!is_fixed(c))
		return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
	for (size_t i = 0; i < c->values.n; i++) {
		const struct fixed *f = c->fixed;
		struct scmp_arg_cmp arg = f->mask ? SCMP_CMP(f->arg, SCMP_CMP_MASKED_EQ, f->mask, c->values.v[i])
						  : SCMP_CMP(f->arg, SCMP_CMP_MASKED_EQ, UINT32_MAX, c->values.v[i]);
		int r = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, nr, 1, &arg);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_arches(scmp_filter_ctx ctx, const struct trace_seccomp *t)
{
	for (size_t i = 0; i < t->arches.n; i++) {
		uint32_t arch = t->arches.v[i] == TRACE_SECCOMP_X32 ? SCMP_ARCH_X32 : t->arches.v[i];
		int r = seccomp_arch_add(ctx, arch);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

/* Appends what seccomp_export_bpf(3) writes, which must be a file. */
static int export_bpf(scmp_filter_ctx ctx, struct buf *out)
{
	char bytes[4096];
	ssize_t n;
	int fd = memfd_create("seccomp", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : seccomp_export_bpf(ctx, fd);
	for (off_t at = 0; r == 0 && (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		buf_add(out, bytes, (size_t)n);
	if (fd >= 0)
		close(fd);
	return r;
}

static int add_bpf(const struct trace_seccomp *t, struct buf *out, struct buf *why)
{
	struct seccomp_call added[sizeof(always) / sizeof(*always)];
	size_t n;
	struct seccomp_call **list = sorted(t, added, &n);
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int r = ctx ? add_arches(ctx, t) : -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = add_rules(ctx, list[i]);
		if (r < 0)
			buf_addf(why, "cannot make the filter: libseccomp rejects a rule for %s: %s", list[i]->name,
				 diag_error_text(-r));
	}
	if (r == 0)
		r = export_bpf(ctx, out);
	if (r < 0 && !why->len)
		buf_addf(why, "cannot make the filter: %s", diag_error_text(-r));
	if (ctx)
		seccomp_release(ctx);
	free(list);
	return r;
}

int trace_seccomp_profile(const struct trace_seccomp *t, const char *kind, int fd, struct buf *out, struct buf *why)
{
	if (strcmp(kind, "seccomp") == 0) {
		add_json(t, out);
		return 0;
	}
	if (isatty(fd)) {
		buf_adds(why, "--profile=seccomp-bpf prints binary data, which is not for a terminal; write it to a "
			      "file with -o");
		return -EINVAL;
	}
	return add_bpf(t, out, why);
}

void trace_seccomp_free(struct trace_seccomp *t)
{
	for (size_t i = 0; i < t->calls.n; i++) {
		vec_free(&t->calls.v[i]->values);
		free(t->calls.v[i]);
	}
	vec_free(&t->calls);
	vec_free(&t->arches);
	map_free(&t->by_desc);
}
