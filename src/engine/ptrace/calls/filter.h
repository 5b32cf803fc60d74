/* A seccomp filter that stops only the wanted calls (SECCOMP_RET_TRACE). */
#ifndef SCTRACE_ENGINE_PTRACE_CALLS_FILTER_H
#define SCTRACE_ENGINE_PTRACE_CALLS_FILTER_H

#include "engine/engine.h"

/* A filter. It is built before the fork, because this allocates memory, and installed in the child. */
struct call_filter {
	struct sock_filter *code;
	unsigned short len;
};

/*
 * Builds the filter for the wanted calls of the native architecture. Calls of other architectures, numbers without
 * a name or beyond CALL_SET_MAX, and those of mem_call_serves_pages(), always stop. The caller calls
 * call_filter_free().
 */
void call_filter_build(struct call_filter *f, const struct call_set *only);
void call_filter_free(struct call_filter *f);
/*
 * Installs the filter (`ctx`, a struct call_filter) in the child, with no_new_privs only if needed. Returns 0 or
 * -errno.
 */
int call_filter_install(void *ctx);

#endif
