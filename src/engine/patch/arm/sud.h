/*
 * Arming by Syscall User Dispatch (Documentation/admin-guide/syscall-user-dispatch.rst), which a tracer can turn on in
 * a thread since Linux 6.4.
 */
#ifndef SCTRACE_ENGINE_PATCH_ARM_SUD_H
#define SCTRACE_ENGINE_PATCH_ARM_SUD_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SUD_SIGSYS 2 /* si_code SYS_USER_DISPATCH (asm-generic/siginfo.h) */

/*
 * Turns dispatch on or off in a stopped thread. `selector` is the address of a byte in the thread's memory; while this
 * byte is 0, dispatch has no effect. `selector` is 0 if there is no such byte. Returns 0 or -errno.
 */
int sud_arm(pid_t tid, bool on, uint64_t selector);
/* Does this kernel support dispatch that a tracer sets? Returns 0, or -errno with the reason in `why`. */
int sud_probe(struct buf *why);

#endif
