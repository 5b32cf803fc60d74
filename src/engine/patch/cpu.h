/* SPDX-License-Identifier: MIT */
/*
 * The processor's boundary. The patch engine places code in programs and changes the registers of their threads; what
 * depends on the processor is in one folder for each processor, and the header below implements this one. No other file
 * of engine/patch names a register or an instruction (tests/lint/source.py). A processor's folder contains:
 *
 *   agent.S, record.S.inc    the agent (code/agent.h) and the path of a recorded call (code/ring.h)
 *   encode.h, encode.c       stubs and jumps; the header below includes this one, too
 *   site_patch.c             site_patch() and site_patch_again() (image/site.h), with what makes room for jumps
 *   stepout.c                threads/threads.h, which depends on the labels of agent.S
 *   cpu_PROCESSOR.h          the following names. Assembly sees the numbers only.
 *
 * Numbers:
 *   CPU_CALL_SIZE            length of the instruction that makes a call; a call's `ip` is the address after it
 *   CPU_JUMP_SIZE            length of a jump that reaches a stub
 *   CPU_JUMPS_MIN            smallest number of jumps from a site to its stub, except long jumps
 *   CPU_JUMP_REACH           a distance that jumps reach, although only the addresses of the areas that contain the jump and its
 *                            target are compared, and both may be anywhere in their areas
 *   CPU_STUBS_BELOW          how far stubs are placed below the loader
 *   CPU_OTHER_GETPID         the number of getpid(2) in the other ABI that 64-bit programs can use; if there is none, a number
 *                            that no call has
 *   CPU_DISPATCHES           can the engine use Syscall User Dispatch?
 *   CPU_KNOCKS               can all calls of a program be patched at once, and does the agent call for the tracer (ARM_KNOCK)?
 *   CPU_JUDGES_WAITS         can the agent find out whether calls wait?
 *   CPU_MARKS_WAITS          does the recorder always find that out? Otherwise it does so on request (agent_recipe.waits)
 *   RELEASING_CALLS          see code/agent.h
 *   AGENT_CODE_SIZE, AGENT_DATA_SIZE  size of the memory at AGENT_CODE, and at AGENT_DATA
 *   CPU_PAGE_MOST            the largest size of pages with which the engine works
 *   CPU_PAGES_VARY           do kernels differ in the size of pages and in the number of address bits?
 *   CPU_RESTARTS_EARLY       does the kernel move a thread back to an interrupted call before the tracer sees the signal?
 *   CPU_SET_THREAD_POINTER   the call by which the loader, after it has mapped the libraries, sets the thread pointer
 *   CPU_POINTER_NAME         what programs call the thread pointer
 *   CPU_READS_THREAD_POINTER   says what cpu_reads_thread_pointer() depends on
 *   CPU_RED_ZONE             bytes below the stack pointer that a program may use (0 if there are none)
 *   CPU_ARCH                 the AUDIT_ARCH_* of calls that the agent can make
 *   RSEQ_SIGNATURE           the C library's signature for rseq(2)
 *   BELOW_PROGRAM            bytes between the program's stack pointer and that of the agent during a call
 *   UC_RESULT, UC_IP, UC_MASK  in a signal's struct ucontext, offsets from the stack pointer of rt_sigreturn(2): the result
 *                            register, the address, the mask
 *   CPU_RECORD_POP           length of the instruction after a recorded call, which is followed by one that stores the result
 *   CPU_SAVED, CPU_FRAME_WORDS   number of words for cpu_set_saved() and cpu_set_frame()
 *   CPU_RESTORER             bytes of the function that returns from a signal handler, if it has no unwind table
 *   CPU_TRAP, CPU_NOP        bytes of a breakpoint instruction, and of an instruction of the same length without effect
 *
 * struct cpu_regs: the registers of a thread. Its members, for example r->CPU_IP:
 *   CPU_IP, CPU_SP, CPU_FLAGS, CPU_THREAD_POINTER
 *   CPU_BACK_LAST            the last member that struct agent_back contains
 *   CPU_NR, CPU_RESULT       the number of a call before it, and its result after it (may be the same register)
 *   CPU_ARG0 ... CPU_ARG5    arguments of a call
 *   CPU_RESTARTED            the number of the call that the kernel may restart, or CPU_NO_CALL
 * Members that have a meaning in the agent only:
 *   CPU_SLOT                 before a counted call: the address of the slot, and SLOT_F_*
 *   CPU_KIND                 before a recorded call of `kind` KEPT_FIRST or more: the number of the kept frame
 *   CPU_TICKS                after `timed`: the time; at `taken`: the lowest byte is 0 if a frame was reserved. The program's
 *                            value is agent_frame.saved.
 *   CPU_KEPT                 from `marked` on: the number of the kept frame. The program's value is the word KEPT_SAVED
 *   CPU_SPARE                from `got` to `marked`: the number of the kept frame; from `released` to `loaded`: the program's
 *                            CPU_KEPT; at agent_record_done: the thread's scratch memory
 *   CPU_MADE                 at the end of an excursion that makes a call: its result
 * Members that hold the parameters and results of the setup code (agent.S):
 *   CPU_SETUP_FLAGS SETUP_*, CPU_SETUP_STUBS, CPU_SETUP_CODE, CPU_SETUP_DATA, CPU_SETUP_STATS (addresses, or negative
 *   errors), CPU_SETUP_FD (before the first trap: ROOM_MIN; then a descriptor or a negative error), CPU_SETUP_MARK
 *
 * Functions:
 *   cpu_get, cpu_set         read and write the registers of a stopped thread. Both return a negative number on failure
 *   cpu_set_ip               writes the instruction pointer only; the same results
 *   CPU_ARGS, cpu_set_args   the six arguments: an initialiser, and the assignment
 *   cpu_set_saved            sets the registers that agent_scratch.saved holds
 *   cpu_set_frame            sets those that the agent has stored at agent_scratch.sp
 *   cpu_return_to            the thread continues after a call at `ip`; the flags register is that of the call already
 *   cpu_after_call           the same, for a thread that has not executed the call instruction itself
 *   cpu_leave_trap           moves the instruction pointer of a thread that has stopped at a breakpoint to the next instruction
 *   cpu_set_flags            sets the flags that the agent has saved (agent_frame.flags)
 *   cpu_exec_taken           at agent_exec_taken: has the thread set the exec word?
 *   cpu_first                the registers with which execve(2) starts a program
 *   cpu_is_native, cpu_is_compat  does the thread run the 64-bit, or the 32-bit instruction set?
 *   cpu_has_no_call          is this a number that no kernel makes a call of, or, with `only_native`, not this kernel?
 *   cpu_reads_thread_pointer   may programs read their thread pointer, by which the agent tells threads apart?
 *   cpu_sets_thread_pointer    does this call set it? Its new value is then the second argument.
 *   cpu_give_thread_pointer    sets that of a stopped thread, if programs may not use it at all, and it is 0 in all their threads.
 *                            Returns a negative number if it has not been set
 *   cpu_is_call              is this the instruction that makes a call?
 *   cpu_sets_number          does this instruction set the number of a call? False if instructions differ in size
 *   cpu_is_clock_read        is this the instruction that reads the clock? A program can forbid it (prctl(2), PR_SET_TSC)
 *   cpu_ticks, cpu_has_steady_ticks  the clock that the agent reads, and whether it runs evenly at all times
 *   cpu_own_call             in the program: makes a call by the code at `at` (agent_own_call)
 *   cpu_note_area            in the program: the thread has registered an area for rseq(2), whose rseq_cs is at `at`. Returns
 *                            the distance of this address from the thread pointer
 *   cpu_area                 in the program: returns the address of the thread's rseq_cs, at the distance `rseq` from the thread
 *                            pointer, or 0 if it is not certain that the thread has registered an area there
 *   cpu_change_area          in the program: stores `to` at this address if `from` is there. Returns what was there
 *   cpu_releases             one of RELEASING_CALLS, or a call that creates a thread or a process
 *   cpu_wait_loads, cpu_wait_all  in the program: wait for earlier instructions before the clock is read
 */
#ifndef SCTRACE_ENGINE_PATCH_CPU_H
#define SCTRACE_ENGINE_PATCH_CPU_H

#if defined(__x86_64__)
#include "engine/patch/x86_64/cpu_x86_64.h"
#elif defined(__aarch64__)
#include "engine/patch/aarch64/cpu_aarch64.h"
#endif

#endif
