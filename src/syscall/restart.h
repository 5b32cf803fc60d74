/*
 * The results by which the kernel tells a tracer that a signal interrupted a call (include/linux/errno.h). The program never
 * sees them: the call is made again, or gives EINTR. Only macros and inline code, because the kernel half of the bpf engine
 * includes this file, too.
 */
#ifndef SCTRACE_SYSCALL_RESTART_H
#define SCTRACE_SYSCALL_RESTART_H

#define ERESTARTSYS           512 /* made again, unless a handler without SA_RESTART runs */
#define ERESTARTNOINTR        513 /* always made again */
#define ERESTARTNOHAND        514 /* made again, unless a handler runs */
#define ENOIOCTLCMD           515 /* lies between the others and interrupts nothing */
#define ERESTART_RESTARTBLOCK 516 /* as ERESTARTNOHAND, but by restart_syscall(2) */

/* Does the positive error number `err` say that a signal interrupted the call? */
#define IS_RESTART_ERROR(err) ((err) >= ERESTARTSYS && (err) <= ERESTART_RESTARTBLOCK && (err) != ENOIOCTLCMD)

#endif
