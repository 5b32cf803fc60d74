/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include "base/buf.h"
#include "base/words.h"
#include "config.h"

#include <errno.h>
#include <string.h>

/* The entries of engines that were not built. Their probes give the reason. */
#ifdef SCTRACE_BPF_MISSING
static int bpf_probe(unsigned want, struct buf *why)
{
	(void)want;
	buf_adds(why, SCTRACE_BPF_MISSING);
	return -ENOSYS;
}

const struct engine_ops engine_bpf = {
	.name = "bpf",
	.purpose = "counts calls in the kernel without stopping programs; also for control groups and the whole "
		   "system; needs privileges",
	.caps = CAP_COUNTS | CAP_BY_PROCESS | CAP_BY_THREAD | CAP_ATTACH | CAP_LEAVE | CAP_FOLLOW | CAP_CGROUP |
		CAP_SYSTEM | CAP_ERRNOS,
	.probe = bpf_probe,
};
#endif
#ifdef SCTRACE_PATCH_MISSING
static int patch_probe(unsigned want, struct buf *why)
{
	(void)want;
	buf_adds(why, SCTRACE_PATCH_MISSING);
	return -ENOTSUP;
}

const struct engine_ops engine_patch = {
	.name = "patch",
	.purpose = "counts, times and records calls inside the program; fast; only for x86-64 and aarch64",
	.caps = CAP_COUNTS | CAP_BY_PROCESS | CAP_FOLLOW,
	.probe = patch_probe,
};
#endif

/* In order of preference: the first engine that can do what is requested, and that works here, is used. */
static const struct engine_ops *const engines[] = {
	&engine_patch,
	&engine_bpf,
	&engine_ptrace,
	NULL,
};

const struct engine_ops *const *engine_list(void)
{
	return engines;
}

const struct engine_ops *engine_find(const char *name)
{
	for (size_t i = 0; name && engines[i]; i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}

int engine_check(const char *name, struct buf *why)
{
	if (!name || strcmp(name, "auto") == 0 || engine_find(name))
		return 0;
	struct near near = {.word = name};
	buf_addf(why, "there is no engine '%s' in this build; the engines are auto", name);
	for (size_t i = 0; engines[i]; i++) {
		buf_addf(why, ", %s", engines[i]->name);
		near_offer(&near, engines[i]->name);
	}
	near_say(&near, "", why);
	return -EINVAL;
}

/* Appends what of `want` the engine cannot do, in words that follow "cannot"; nothing if it can do everything. */
static void add_lacks(const struct engine_ops *e, unsigned want, struct buf *out)
{
	static const struct {
		unsigned cap;
		const char *does;
	} abilities[] = {
		{CAP_EVENTS, "report each call"},
		{CAP_COUNTS, "count calls"},
		{CAP_BY_PROCESS, "count for each process"},
		{CAP_BY_THREAD, "count for each thread"},
		{CAP_ATTACH, "attach to running processes"},
		{CAP_LEAVE, "detach from a program that it has started"},
		{CAP_THREAD, "attach to a single thread"},
		{CAP_FOLLOW, "follow children"},
		{CAP_INJECT, "tamper with calls"},
		{CAP_BREAK, "detach from a process at its execve (-b)"},
		{CAP_CGROUP, "count a control group (--cgroup)"},
		{CAP_SYSTEM, "count every process (--all)"},
		{CAP_WATCH, "print the calls of a control group or of every process"},
		{CAP_ERRNOS, "count errors by number (--errors)"},
		{CAP_STOPS, "keep each thread stopped at its call (-k, --stacks)"},
		{CAP_WAITS, "tell which calls waited (--waited, -T=waits)"},
		{CAP_MAIN, "report the calls before main separately (main: in --expect)"},
	};
	const char *between = "";
	for (size_t i = 0; i < sizeof(abilities) / sizeof(*abilities); i++) {
		if (!(want & abilities[i].cap & ~e->caps))
			continue;
		buf_addf(out, "%s%s", between, abilities[i].does);
		between = " or ";
	}
}

/* Appends the advice to use the first engine that can do `want`, if an engine can. */
static void add_able(unsigned want, struct buf *out)
{
	for (size_t i = 0; engines[i]; i++) {
		if ((engines[i]->caps & want) == want) {
			buf_addf(out, "; engine %s can, so leave out --engine", engines[i]->name);
			return;
		}
	}
}

/* True if `e` can do `want` and works here. Otherwise the reason is in `why`. */
static bool suits(const struct engine_ops *e, unsigned want, struct buf *why)
{
	if ((e->caps & want) != want) {
		buf_addf(why, "engine %s cannot ", e->name);
		add_lacks(e, want, why);
		return false;
	}
	auto_buf reason = {0};
	bool ok = e->probe(want, &reason) == 0;
	if (!ok)
		buf_addf(why, "engine %s cannot run on this machine: %s", e->name, buf_str(&reason));
	return ok;
}

const struct engine_ops *engine_choose(const char *name, unsigned want, struct buf *note)
{
	const struct engine_ops *asked = engine_find(name);
	if (asked) {
		if (suits(asked, want, note))
			return asked;
		auto_buf why = {0};
		bool ok = asked != &engine_ptrace && suits(&engine_ptrace, want, &why);
		if (ok)
			buf_adds(note, "; ptrace is used instead");
		else if ((asked->caps & want) != want)
			add_able(want, note);
		return ok ? &engine_ptrace : NULL;
	}
	/* Reasons are collected only from engines that could do what is requested. */
	auto_buf why = {0};
	for (size_t i = 0; engines[i]; i++) {
		if ((engines[i]->caps & want) != want)
			continue;
		if (why.len)
			buf_adds(&why, "; ");
		if (suits(engines[i], want, &why))
			return engines[i];
	}
	buf_adds(note, why.len ? buf_str(&why) : "no engine supports all of these options together");
	return NULL;
}

void engine_say_choice(const struct engine_ops *chosen, const char *name, unsigned want, struct buf *out)
{
	auto_buf lacks = {0};
	add_lacks(engines[0], want, &lacks);
	if (chosen && !engine_find(name) && lacks.len)
		buf_addf(out, "engine %s was chosen, because %s cannot %s", chosen->name, engines[0]->name,
			 buf_str(&lacks));
}
