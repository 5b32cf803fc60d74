/*
 * The memory rules of arguments: those of their kinds (syscall/kinds.def), and those of commands, such as ioctl(2), which
 * follow from the tables by which decoders show their arguments.
 */
#ifndef SCTRACE_DECODE_DECODE_MEMORY_H
#define SCTRACE_DECODE_DECODE_MEMORY_H

#include "syscall/call_table.h"
#include "syscall/rules.h"

#include <stdbool.h>
#include <stddef.h>

/* The number of arguments of execve(2) that are shown, unless all are (-v). */
#define DECODE_ARGV_MOST 32

/* Returns the rule of argument `arg`, which has this kind. The program must be of the native architecture. */
struct memory_need decode_memory_need(enum syscall_kind kind, unsigned arg);
/* Returns the name of a kind, without K_. */
const char *decode_kind_name(enum syscall_kind kind);

/* Gets a rule for argument `arg` of a call with a command. Commands for which no rule is given need no memory. */
typedef void decode_command_fn(void *ctx, enum memory_table table, unsigned arg, uint32_t command,
			       struct memory_need need);
/* Calls `add` for all commands that need memory. */
void decode_memory_commands(decode_command_fn *add, void *ctx);
/* Returns the pointers in structures that lead to more memory, and sets *n to their number. */
const struct memory_part *decode_memory_parts(size_t *n);

#endif
