/* SPDX-License-Identifier: MIT */
/* The sink of --profile=seccomp: makes a seccomp filter that allows the calls of the traced programs, and no others. */
#ifndef SCTRACE_TRACE_SECCOMP_H
#define SCTRACE_TRACE_SECCOMP_H

#include "base/map.h"
#include "base/memory.h"
#include "trace/sink.h"

struct buf;
struct seccomp_call;

struct trace_seccomp {
	struct trace_sink sink;
	VEC(struct seccomp_call *) calls;
	struct map by_desc;   /* struct syscall_desc -> struct seccomp_call */
	VEC(uint32_t) arches; /* AUDIT_ARCH_* of the calls; x32 has TRACE_SECCOMP_X32 */
	size_t nameless;      /* number of calls whose number has no name; they are not in the profile */
};
#define TRACE_SECCOMP_X32 1u

void trace_seccomp_init(struct trace_seccomp *t);
#define SECCOMP_WORDS "seccomp seccomp-bpf"
/*
 * Must be called after the last event. Appends the profile that `kind`, one of SECCOMP_WORDS, names: the JSON document that
 * container runtimes read, or an array of struct sock_filter, as bwrap(1) reads it. Prints nothing to the terminal `fd` that
 * a terminal cannot show. Returns 0, or -errno with the reason in `why`.
 */
int trace_seccomp_profile(const struct trace_seccomp *t, const char *kind, int fd, struct buf *out, struct buf *why);
void trace_seccomp_free(struct trace_seccomp *t);

#endif
