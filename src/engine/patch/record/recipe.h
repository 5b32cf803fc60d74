/* SPDX-License-Identifier: MIT */
/* Recipes: how the recorder treats each call, derived from its line in syscalls.def and its memory rules. */
#ifndef SCTRACE_ENGINE_PATCH_RECORD_RECIPE_H
#define SCTRACE_ENGINE_PATCH_RECORD_RECIPE_H

#include "engine/patch/code/ring.h"
#include "syscall/rules.h"

#include <stdbool.h>

struct syscall_desc;

/*
 * Fills in the rules of commands, and the parts of structures. recipe_of() adds the rules of arguments. With `names`, the
 * names of new descriptors must be looked up at once.
 */
void recipe_memory(struct memory_tables *tables, bool names);
/*
 * Fills in the recipe of call `nr`, which `d` describes. With `verbose`, all arguments and variables of
 * execve(2) are shown. Returns false if the call must stop, because only sctrace can find out everything that is shown.
 */
bool recipe_of(const struct syscall_desc *d, int64_t nr, bool verbose, struct memory_tables *tables,
	       struct agent_recipe *recipe);

#endif
