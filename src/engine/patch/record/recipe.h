/* Recipes: how the recorder treats each call, derived from its line in syscalls.def (decode/memory.h). */
#ifndef SCTRACE_ENGINE_PATCH_RECORD_RECIPE_H
#define SCTRACE_ENGINE_PATCH_RECORD_RECIPE_H

#include "engine/patch/code/ring.h"

#include <stdbool.h>

struct syscall_desc;

/*
 * Fills in the recipe of x86-64 call `nr`, which `d` describes. With `verbose`, all arguments and variables of
 * execve(2) are shown. Returns false if the call must stop, because only sctrace can find out everything that is shown.
 */
bool recipe_of(const struct syscall_desc *d, int64_t nr, bool verbose, struct agent_recipe *recipe);
/* Fills in the table of commands, COMMANDS rows, that recipes refer to. */
void recipe_commands(struct agent_command *rows);

#endif
