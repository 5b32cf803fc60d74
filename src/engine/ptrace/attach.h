/* Attaching to running processes, and the ptrace(2) options of tasks. */
#ifndef SCTRACE_ENGINE_PTRACE_ATTACH_H
#define SCTRACE_ENGINE_PTRACE_ATTACH_H

#include "engine/ptrace/tracer.h"

/*
 * Attaches to all threads of a process. If `tid` is not the leader of its process, attaches to this thread only. Returns
 * 0, or -errno with a sentence in `why`.
 */
int tracer_attach(struct tracer *t, pid_t tid, struct buf *why);
/* With this file, the kernel's module Yama restricts ptrace(2). Not all kernels have it. */
#define ATTACH_YAMA "/proc/sys/kernel/yama/ptrace_scope"
/* Returns the process that traces `pid`, or 0. */
pid_t attach_tracer_of(pid_t pid);
/*
 * Returns true if process `pid` traces process `self`, directly or through other tracers (`tracer_of` returns the tracer
 * of a process). If `self` attached to it, both could stop each other for ever, and SIGKILL would not end them.
 */
bool attach_is_mutual(pid_t pid, pid_t self, pid_t (*tracer_of)(pid_t pid));
/* Sets the options of a stopped task. Only leaders of started or attached processes stop at their exit. */
void tracer_set_options(struct tracer *t, const struct task *task);

/* Finds where a program's own code begins: at its main, or at the entry point if it has no symbols. */

/* Returns the address of the process's entry point, or 0. */
uint64_t tracer_entry_point(pid_t pid);
/* Returns the address at which the process's loader is mapped, or 0 if the program is linked statically. */
uint64_t tracer_loader_base(pid_t pid);
/* Returns the address in memory of main of the executable `fd`, or 0. AT_ENTRY (`entry`) gives the load offset. */
uint64_t tracer_main_symbol(int fd, uint64_t entry);
/* Sets a breakpoint at main or the entry point in the new image of the started program. */
void tracer_find_main(struct tracer *t, struct task *task);
/* Removes that breakpoint from the stopped task before PTRACE_DETACH. Without a tracer, it would end the program. */
void tracer_leave_main(struct tracer *t, const struct task *task);
/* True if that breakpoint has caused the task's SIGTRAP: all calls counted until now were made before main. */
bool tracer_at_main(struct tracer *t, struct task *task);

#endif
