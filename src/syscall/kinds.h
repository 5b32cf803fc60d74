/*
 * The kinds of system call arguments. kinds.def says how each kind is shown. The kernel writes to the memory of kinds
 * that begin with K_OUT_.
 */
#ifndef SCTRACE_SYSCALL_KINDS_H
#define SCTRACE_SYSCALL_KINDS_H

/* K_END, the first kind, means that the call has no such argument. */
enum syscall_kind {
#define KIND(name, ...) K_##name,
#include "syscall/kinds.def"
#undef KIND
	K_COUNT,
};

#endif
