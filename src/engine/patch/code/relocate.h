/* Finds out which instructions may move into a call's stub to make room for a long jump. The functions only compute. */
#ifndef SCTRACE_ENGINE_PATCH_CODE_RELOCATE_H
#define SCTRACE_ENGINE_PATCH_CODE_RELOCATE_H

#include <stddef.h>
#include <stdint.h>

#define RELOCATE_MAX       14 /* the largest number of bytes that may move into a stub (STUB_MOVED_MAX) */
#define RELOCATE_EARLY_MAX 12 /* largest size of a moved instruction before the call (STUB_EARLY_MAX) */

/*
 * `code` holds the `n` bytes of a function that is loaded at `fn`; a two-byte syscall instruction is at `site`. Returns
 * how many bytes of whole instructions after `site` may move (3 to RELOCATE_MAX). These instructions do not depend on
 * their address and do not jump, and no branch of the function leads between the call and their end. Returns 0 if that
 * cannot be shown, with the reason in *why.
 */
size_t relocate_length(const unsigned char *code, size_t n, uint64_t fn, uint64_t site, const char **why);

/*
 * Like relocate_length(), for the instruction before `site`. Returns its length, or 0 if it cannot be moved, if it has
 * fewer than five bytes, or if a branch leads to `site` or into the middle of the instruction. Indirect jumps are ignored
 * if the instruction is mov $number, %eax.
 */
size_t relocate_early(const unsigned char *code, size_t n, uint64_t fn, uint64_t site, const char **why);

#endif
