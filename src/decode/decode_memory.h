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

/* Returns the rule of argument `arg`, which has this kind. */
struct memory_need decode_memory_need(enum syscall_kind kind, unsigned arg);
/* Returns the name of a kind, without K_. */
const char *decode_kind_name(enum syscall_kind kind);

/*
 * Returns the rule of argument `arg` of a call: that of its kind, as far as the call does not say more. With `verbose`, all
 * arguments and variables of execve(2) are shown.
 */
struct memory_need decode_memory_of(const struct syscall_desc *d, unsigned arg, bool verbose);
/* Fills in the rules of commands, and the parts of structures. decode_memory_index() adds the rules of arguments. */
void decode_memory_tables(struct memory_tables *tables);
/* Returns the index of a rule in the tables, and adds it if it is not there yet. Without room, returns 0: a missing rule. */
uint8_t decode_memory_index(struct memory_tables *tables, const struct memory_need *need);

#endif
