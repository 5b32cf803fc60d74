/* SPDX-License-Identifier: MIT */
/*
 * The results by which the kernel tells a tracer that a signal interrupted a call (include/linux/errno.h). The program
 * never sees them: the call is restarted or returns EINTR. This file contains only macros, because the kernel half of
 * the bpf engine includes it as well.
 */
#ifndef SCTRACE_SYSCALL_RESTART_H
#define SCTRACE_SYSCALL_RESTART_H

#define ERESTARTSYS           512 /* the call is restarted, unless a handler without SA_RESTART runs */
#define ERESTARTNOINTR        513 /* the call is always restarted */
#define ERESTARTNOHAND        514 /* the call is restarted, unless a handler runs */
#define ENOIOCTLCMD           515 /* not an interruption, although its number is between the others */
#define ERESTART_RESTARTBLOCK 516 /* like ERESTARTNOHAND, but the restart is a restart_syscall(2) */

/* True if the positive error number `err` means that a signal interrupted the call. */
#define IS_RESTART_ERROR(err) ((err) >= ERESTARTSYS && (err) <= ERESTART_RESTARTBLOCK && (err) != ENOIOCTLCMD)
/* True if such a call returns EINTR when a handler runs, whatever the handler's flags are (signal(7)). */
#define BECOMES_EINTR(err) ((err) == ERESTARTNOHAND || (err) == ERESTART_RESTARTBLOCK)

#endif
