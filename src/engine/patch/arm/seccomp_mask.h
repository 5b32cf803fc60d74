/* Hides sctrace's seccomp filter from the program that runs under it. */
#ifndef SCTRACE_ENGINE_PATCH_ARM_SECCOMP_MASK_H
#define SCTRACE_ENGINE_PATCH_ARM_SECCOMP_MASK_H

#include "engine/patch/state.h"

/*
 * Does call `nr` with these arguments ask for strict mode? seccomp(2) refuses strict mode if flags or arguments are not
 * 0; libseccomp makes such calls to find out whether the kernel has seccomp(2).
 */
bool seccomp_sets_strict(int64_t nr, const uint64_t args[3]);
/* Does call `nr` with these arguments install a filter? */
bool seccomp_sets_filter(int64_t nr, const uint64_t args[3]);
/* Called at the entry of a call under ptrace: notes whether its result must be changed; enforces strict mode. */
void seccomp_mask_enter(const struct patch *p, struct task *task);
/* Called at the end of the call, before its result is read: changes the result if necessary. */
void seccomp_mask_exit(struct task *task);

#endif
