/* Hides our seccomp filter from the program that runs under it. */
#ifndef SCTRACE_ENGINE_PATCH_ARM_SECCOMP_MASK_H
#define SCTRACE_ENGINE_PATCH_ARM_SECCOMP_MASK_H

#include "engine/patch/state.h"

/*
 * Does call `nr` with these arguments ask for strict mode? With flags or arguments seccomp(2) refuses to set it; libseccomp makes
 * such calls to find out whether the kernel has seccomp(2).
 */
bool seccomp_sets_strict(int64_t nr, const uint64_t args[3]);
/* Does it install a filter? */
bool seccomp_sets_filter(int64_t nr, const uint64_t args[3]);
/* The task has entered a call under ptrace: notes whether its result is to be changed, and enforces strict mode. */
void seccomp_mask_enter(const struct patch *p, struct task *task);
/* The call is at its end; its result has not been read yet and may be changed here. */
void seccomp_mask_exit(struct task *task);

#endif
