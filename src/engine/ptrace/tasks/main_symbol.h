/* Finds where a program's own code begins: at its main, or at the entry point if it has no symbols. */
#ifndef SCTRACE_ENGINE_PTRACE_TASKS_MAIN_SYMBOL_H
#define SCTRACE_ENGINE_PTRACE_TASKS_MAIN_SYMBOL_H

#include "engine/ptrace/state/tracer.h"

/* Returns the address of the process's entry point, or 0. */
uint64_t tracer_entry_point(pid_t pid);
/* Returns the address at which the process's loader is mapped, or 0 if the program is linked statically. */
uint64_t tracer_loader_base(pid_t pid);
/* Returns the address in memory of main of the executable `fd`, or 0. AT_ENTRY (`entry`) gives the load offset. */
uint64_t tracer_main_symbol(int fd, uint64_t entry);
/* Sets a breakpoint at main or the entry point in the new image of the started program. */
void tracer_find_main(struct tracer *t, struct task *task);
/* True if that breakpoint has caused the task's SIGTRAP: all calls counted until now were made before main. */
bool tracer_at_main(struct tracer *t, struct task *task);

#endif
