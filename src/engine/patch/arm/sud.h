/* Arming by Syscall User Dispatch from outside (Documentation/admin-guide/syscall-user-dispatch.rst; Linux 6.4). */
#ifndef SCTRACE_ENGINE_PATCH_ARM_SUD_H
#define SCTRACE_ENGINE_PATCH_ARM_SUD_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SUD_SIGSYS 2 /* si_code SYS_USER_DISPATCH (asm-generic/siginfo.h) */

/*
 * Turns dispatch on or off in a stopped thread. `selector` is the address of a byte in its memory that turns dispatch off while
 * it is 0; or 0: there is no such byte. 0 or -errno.
 */
int sud_arm(pid_t tid, bool on, uint64_t selector);
/* Can this kernel do it? 0, or -errno and `why`. */
int sud_probe(struct buf *why);

#endif
