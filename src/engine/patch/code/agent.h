/* SPDX-License-Identifier: MIT */
/*
 * The agent: the code and data that the patch engine puts into the traced program. Included by C and by agent.S.
 *
 * A patched call site jumps to its stub. The stub calls agent_entry, which makes the call, counts it and times it. The
 * agent is not written to disk or into the program's own pages.
 */
#ifndef SCTRACE_ENGINE_PATCH_CODE_AGENT_H
#define SCTRACE_ENGINE_PATCH_CODE_AGENT_H

/*
 * The agent has a fixed address that programs do not choose. It is below the addresses at which the kernel places
 * position-independent executables and their heap (ELF_ET_DYN_BASE, from 0x555555554000 on), and very far from the range
 * of mmap(2), from MAP_32BIT, and from what Wine, Go, virtual machines and emulators request. The sanitizers' shadow
 * memory does not include it: for them, memory of the program may be from 0x550000000000 on. Stubs must be near their
 * sites, so each area of stubs begins with the agent's addresses (encode.h).
 */
#define AGENT_CODE    0x553670000000                 /* read and execute */
#define AGENT_SECTION AGENT_CODE                     /* a critical section for rseq(2), at the beginning of the code */
#define AGENT_DATA    (AGENT_CODE + AGENT_CODE_SIZE) /* AGENT_DATA_SIZE bytes, private: struct agent_data (cpu.h) */
#define AGENT_STATS   (AGENT_CODE + 0x8230000)  /* memory shared with the tracer: slots, struct agent_tail, errors */
#define AGENT_LIMIT   (AGENT_CODE + 0x50000000) /* the end of the addresses of all memory of the agent */
#define AGENT_PAGE    4096   /* the unit of rings and of tables. The kernel's pages may be larger (CPU_PAGE_MOST) */
#define AGENT_AGAIN   -0x5c7 /* si_code of a SIGSYS that sctrace sends: the last call must be made again */
#define STUB_AREA     (16 * AGENT_PAGE) /* the size of a mapping for stubs */

/*
 * In the tables by number, each call number below AGENT_NUMBERS has a row. All other numbers, also negative ones, belong to
 * no call, but programs use them in order to learn what the kernel can do, or what a call costs. Up to AGENT_OTHERS of these
 * numbers have the rows from AGENT_NUMBERS on. Which numbers these are is decided during the run (patch_row()).
 */
#define AGENT_NUMBERS 512
#define AGENT_OTHERS  4
#define AGENT_CALLS   (AGENT_NUMBERS + AGENT_OTHERS)

/* The slot of a call: offsets for agent.S. Assertions below compare them with struct agent_slot. */
#define SLOT_ENTERED 0
#define SLOT_ERRORS  8
#define SLOT_TICKS   16
#define SLOT_BYTES   24
#define SLOT_MAX     32
#define SLOT_MIN_NOT 40 /* the smallest time, with all bits inverted, so that zeroed memory means: none stored */
#define SLOT_UNARMED 48 /* calls of which the agent does not know whether they waited */
#define SLOT_WAITS   56
#define SLOT_WAITED  64 /* ticks */
#define SLOT_BEGAN   72 /* the time stamp of the last call's beginning, if only one thread uses the slot */
#define SLOT_FAILED  80 /* on aarch64: the first error, negative, */
#define SLOT_FAILS   88 /* and the number of calls with this error, which are counted only here */
#define SLOT_HIST    128
#define SLOT_BUCKETS 576
#define SLOT_SIZE    (SLOT_HIST + 4 * SLOT_BUCKETS)

/*
 * The table of errors (struct agent_errno): its offset in the shared memory, and its size; then the size of the shared memory.
 * The table has 64 KiB and is aligned to them, so the agent has reached its end when the low 16 bits of the address are 0. As
 * soon as half of the table is used, the tracer traces the image by ptrace, so that the agent never meets a full table.
 */
#define ERRNOS_AT   0x140000
#define ERRNOS_SIZE 0x10000
#define STATS_SIZE  (ERRNOS_AT + ERRNOS_SIZE)
#define ERRNO_BITS  12 /* an error number is at most 4095 */
#define ERRNO_MOST  ((1 << ERRNO_BITS) - 1)

/*
 * A lane: slots and a table of errors that only one thread uses. It has a copy of the region's first LANE_SLOTS slots. Lanes
 * are in the memory for rings (ring.h). Each is as large as the largest ring, and is aligned to its size.
 */
#define LANE_SIZE   0x40000
#define LANE_ERRNOS (LANE_SIZE - ERRNOS_SIZE)
#define LANE_SLOTS  (LANE_ERRNOS / SLOT_SIZE)

/*
 * An entry of agent_data.map is the offset of the call's slot plus SLOT_ALIGN, and its low bits are flags that describe
 * the call. An entry of 0 sends the call to the tracer.
 */
#define SLOT_ALIGN    64
#define SLOT_F_BYTES  1  /* the result is a number of bytes */
#define SLOT_F_FORKS  2  /* the call returns twice; its return in the child is not counted */
#define SLOT_F_CHECK  4  /* the arguments decide whether the agent may make the call */
#define SLOT_F_WAITED 4  /* in a frame: the thread has lost its CPU during the call */
#define SLOT_F_EXEC   8  /* the call does not return, so its start time is stored in the image's exec word */
#define SLOT_F_RECORD 16 /* a record of the call is written (code/ring.h) */
#define SLOT_F_PLAIN  32 /* the call is neither counted nor recorded */
#define SLOT_F_LANE                                                                                                    \
	(SLOT_F_RECORD | SLOT_F_PLAIN) /* the call is counted in the thread's lane; without one, it is recorded */
#define SLOT_F_ARMED 32 /* in a frame: the thread's rseq_cs shows whether it loses its CPU (agent.S, `arm`) */

/*
 * A set of signals stands for all signals if its high 32 bits are at least MASK_HIGH and if, in its low 32 bits, only bits
 * of MASK_EITHER are 0. Signals 32 and 33 belong to the C library; SIGKILL and SIGSTOP cannot be blocked.
 */
#define MASK_HIGH   0xfffffffe
#define MASK_EITHER 0x80040100

#define WATCH_SIGSYS 1 /* the action of SIGSYS may not be the default */
#define WATCH_FAULTS 2 /* several processes run in this memory, and each has its own handlers of SIGSEGV and SIGBUS */
/*
 * The tracer must see calls that create threads. If tasks are armed by a filter, and another thread then installs a filter
 * for all threads, some calls of a thread that is just beginning would be missed.
 */
#define WATCH_THREADS 4
/* The program's action of SIGSYS is the default, and the program must see that, although the kernel has that of sctrace. */
#define WATCH_DEFAULT 8
#define WATCH_WAITS   16 /* the agent may find out whether calls wait */
#define WATCH_CLOSES  32 /* close(2) may release a file in the way that RELEASING_CALLS do */
/*
 * The processor's RELEASING_CALLS may release a file: mmap, munmap, mremap, shmctl, dup2, shmdt, umount2, dup3, close_range. The kernel
 * releases it on its way back to the program, as a task work, and looks at rseq_cs then as well (resume_user_mode_work()). So if
 * rseq_cs is 0 after such a call, it is not known whether the thread has lost its CPU. That is so as well after rseq(2), the
 * last one: recent kernels set rseq_cs to 0 when a thread registers its area.
 */

/* Offsets in struct agent_back for agent.S. Assertions below compare them with the structure. */
#define BACK_MASK  0
#define BACK_FLAGS 8
#define BACK_RIP   16
#define BACK_REGS  24
#define BACK_SIZE  (BACK_REGS + 15 * 8)

#define AGENT_PATHS       6   /* number of struct agent_path */
#define AGENT_PATH_LABELS 19  /* number of labels in it */
#define AGENT_WORDS       255 /* number of struct agent_words in a region; each image uses one */
#define DATA_RSEQ                                                                                                      \
	(72 + 4 * AGENT_CALLS + 16 * (AGENT_RANGES + 2) + 8 * KEPT_WORDS * KEPT_FRAMES + 256) /* agent_data.rseq */
#define DATA_FOLLOWED  (DATA_RSEQ + 8)                                                        /* agent_data.followed */
#define AGENT_FOLLOWED 8                                     /* number of rows in agent_data.followed */
#define DATA_OTHERS    (DATA_FOLLOWED + 16 * AGENT_FOLLOWED) /* agent_data.others */
#define AGENT_RANGES   63 /* largest number of code ranges in the agent's table (agent_data.code) */
/*
 * The number of vfork-like calls that the agent makes at the same time in an image. Each needs a kept frame; the first
 * frame has the number KEPT_FIRST.
 */
#define KEPT_FRAMES 8
#define KEPT_FIRST  8
#define KEPT_SAVED  6 /* words after those of the frame: the program's CPU_KEPT, */
#define KEPT_THREAD 7 /* and the thread pointer of the caller, if sctrace has set BASE_APART */
#define KEPT_WORDS  8
/* Bit of agent_data.base: a child of a vfork-like call runs in this memory, and its calls must not be counted. */
#define BASE_APART         63
#define SETUP_POOLED       1 /* CPU_SETUP_FLAGS at the start of the setup code: what the code must do */
#define SETUP_RECORDS      2
#define SETUP_NO_RECORDER  4 /* result flags: what the setup code could not map, because the range is in use */
#define SETUP_NO_THREADS   8
#define SETUP_NO_SCRATCHES 16
#define SETUP_NO_RECORDS   (SETUP_NO_RECORDER | SETUP_NO_THREADS | SETUP_NO_SCRATCHES)
#define SETUP_PATH         40 /* bytes at setup_path, for a file name with its NUL */

/*
 * The smallest address-space limit (ulimit -v) that a process must have to get the agent. The agent, its counters and
 * the first rings take less than 4 MiB (setrlimit(2), RLIMIT_AS), but a program with a smaller limit may need this
 * memory itself.
 */
#define ROOM_MIN (64 << 20)

/* Offsets in struct agent_unattended for agent.S. Assertions below compare them with the structure. */
#define UNATTENDED_ENTRY    0
#define UNATTENDED_WORK     8
#define UNATTENDED_MARK     16
#define UNATTENDED_STATS    24
#define UNATTENDED_SCRATCH  32
#define UNATTENDED_RING     40
#define UNATTENDED_PATH     48
#define UNATTENDED_RECORDER (UNATTENDED_PATH + SETUP_PATH)
#define UNATTENDED_SIZE     (UNATTENDED_RECORDER + SETUP_PATH)
/*
 * Offsets in the work area of unattended setup. It consists of 16 bytes that the setup code uses, then the number of
 * bytes of stubs, then everything that the setup code copies.
 */
#define UNATTENDED_WORK_STUBS 16
#define UNATTENDED_WORK_HEAD  24
/* The size of the data in this area: those before agent_data.code, and two rows of it. The rest consists of zeros. */
#define UNATTENDED_DATA (72 + 4 * AGENT_CALLS + 2 * 16)

/* The offset of struct agent_tail from the slots: the selector has a page of its own. */
#define TAIL_AT       ((AGENT_CALLS * SLOT_SIZE + AGENT_PAGE - 1) & -AGENT_PAGE)
#define TAIL_SELECTOR (AGENT_STATS + TAIL_AT) /* agent_tail.selector */
#define TAIL_RECORDS  (TAIL_SELECTOR + 1)     /* agent_tail.records */

#include "engine/patch/cpu.h"

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent_slot {
	uint64_t entered, errors, ticks, bytes, max, min_not, unarmed, waits, waited, began, failed, fails;
	uint8_t pad[32];
	/* 16 buckets per power of two: bucket = 16 * shift + (ticks >> shift), shift = max(0, log2(ticks) - 4). */
	uint32_t hist[SLOT_BUCKETS];
};
_Static_assert(offsetof(struct agent_slot, errors) == SLOT_ERRORS, "agent.S");
_Static_assert(offsetof(struct agent_slot, ticks) == SLOT_TICKS, "agent.S");
_Static_assert(offsetof(struct agent_slot, bytes) == SLOT_BYTES, "agent.S");
_Static_assert(offsetof(struct agent_slot, max) == SLOT_MAX, "agent.S");
_Static_assert(offsetof(struct agent_slot, min_not) == SLOT_MIN_NOT, "agent.S");
_Static_assert(offsetof(struct agent_slot, unarmed) == SLOT_UNARMED, "agent.S");
_Static_assert(offsetof(struct agent_slot, waits) == SLOT_WAITS, "agent.S");
_Static_assert(offsetof(struct agent_slot, waited) == SLOT_WAITED, "agent.S");
_Static_assert(offsetof(struct agent_slot, began) == SLOT_BEGAN, "agent.S");
_Static_assert(offsetof(struct agent_slot, failed) == SLOT_FAILED, "agent.S");
_Static_assert(offsetof(struct agent_slot, fails) == SLOT_FAILS, "agent.S");
_Static_assert(offsetof(struct agent_slot, hist) == SLOT_HIST, "agent.S");
_Static_assert(sizeof(struct agent_slot) == SLOT_SIZE && SLOT_SIZE % SLOT_ALIGN == 0, "agent.S");

/*
 * The slots, one page after them, and the table of errors. The page has the selector byte, which says whether dispatch is
 * on (1) or off (0); a byte that says whether the agent may record calls (1); a mark by which this memory is recognised;
 * and a struct agent_words for each image. The second byte is cleared before sctrace leaves the program: without a tracer,
 * a signal that comes while the thread is in the recorder would put its frame onto the recorder's small stack.
 */
#define AGENT_SLOTS_SIZE ((size_t)TAIL_AT)
#define AGENT_STATS_SIZE ((size_t)STATS_SIZE)
struct agent_words {
	uint64_t exec_t0; /* when the image's execve(2) began, or 0 */
	uint64_t actions; /* number of calls that were to set a signal's action, except for children of vfork(2) */
};
struct agent_tail {
	uint8_t selector, records, pad[6];
	uint64_t mark;
	struct agent_words image[AGENT_WORDS];
};
_Static_assert(sizeof(struct agent_tail) == AGENT_PAGE && offsetof(struct agent_tail, selector) == 0 &&
		       offsetof(struct agent_tail, records) == 1,
	       "agent.S");
/* How often calls with a number have failed with an error. The rows are in the order in which the errors first occurred. */
struct agent_errno {
	uint64_t key; /* the call's number, of 32 bits, << ERRNO_BITS, and the error; 0: the table has no more rows */
	uint64_t count;
};
_Static_assert(AGENT_SLOTS_SIZE + AGENT_PAGE <= ERRNOS_AT && (AGENT_STATS + ERRNOS_AT) % ERRNOS_SIZE == 0 &&
		       ERRNOS_SIZE == 0x10000 && (AGENT_STATS + STATS_SIZE) % LANE_SIZE == 0 &&
		       sizeof(struct agent_errno) == 16,
	       "agent.S");

/*
 * The stack frame of agent_entry, from its lowest address. The last member is the return address into the stub.
 * `saved` is the program's CPU_TICKS.
 */
struct agent_frame {
	uint64_t t0, slot, saved, flags, nr, ret;
};

#define AGENT_BASE    ((uint64_t)AGENT_STATS - SLOT_ALIGN)
#define FAULT_UNKNOWN UINT64_MAX /* sctrace attached to a process that had a handler */

/* The agent's private page. */
struct agent_data {
	uint64_t base;              /* the address of the slots, minus SLOT_ALIGN; and the bit BASE_APART */
	uint64_t words;             /* the address of this image's struct agent_words, or 0 */
	uint64_t single_thread;     /* 1: only one thread uses the slots, so updates need no lock */
	uint8_t taken[KEPT_FRAMES]; /* 1: the kept frame with this number is in use */
	uint64_t next;              /* the program's own handler for SIGSYS, which agent_sigsys calls, or 0 */
	uint64_t watch;             /* WATCH_*: what the tracer must see */
	/*
	 * The process's handlers for SIGSEGV and SIGBUS (0: SIG_DFL, 1: SIG_IGN, FAULT_UNKNOWN). The agent notes each
	 * change here, because the tracer may have to restore the handler (threads/threads.h).
	 */
	uint64_t fault[2];
	/*
	 * A set of signals, with SIGBIT() as the bit of a signal. A signal is in the set once it had a handler that
	 * runs with SIGSYS blocked. The agent passes each call that changes the action of such a signal to the tracer.
	 */
	uint64_t blocking;
	uint32_t map[AGENT_CALLS];
	/*
	 * Ranges [lo, hi) of code that may be patched and of the engine's own memory, then a row of zeros. Calls that
	 * remap these ranges go to the tracer.
	 */
	uint64_t code[AGENT_RANGES + 2][2];
	/*
	 * A child of vfork(2) runs on its parent's stack. Until the child ends, the words of the parent's frame are kept
	 * here, with the words KEPT_SAVED and KEPT_THREAD. Word number i of all frames comes before word number i + 1.
	 */
	uint64_t kept[KEPT_WORDS][KEPT_FRAMES];
	uint8_t scratch[256]; /* memory for the arguments of calls that the tracer has the program make */
	/*
	 * The distance from a thread's thread pointer to the member rseq_cs of its restartable-sequence area (rseq(2)); 0: the
	 * program has not registered any.
	 */
	uint64_t rseq;
	/*
	 * Addresses of instructions that have moved into a stub because of a long jump, and to which handlers return; and the
	 * addresses of these instructions in the stub. Before rt_sigreturn(2), the agent replaces the first by the second in
	 * the frame of the signal. Free rows are 0.
	 */
	uint64_t followed[AGENT_FOLLOWED][2];
	int32_t others[AGENT_OTHERS]; /* the numbers that have the rows from AGENT_NUMBERS on, or 0 */
};
_Static_assert(sizeof(struct agent_data) <= AGENT_PAGE, "one page");
_Static_assert(offsetof(struct agent_data, words) == 8 && offsetof(struct agent_data, single_thread) == 16 &&
		       offsetof(struct agent_data, taken) == 24 && offsetof(struct agent_data, next) == 32 &&
		       offsetof(struct agent_data, watch) == 40 && offsetof(struct agent_data, fault) == 48 &&
		       offsetof(struct agent_data, blocking) == 64 && offsetof(struct agent_data, map) == 72 &&
		       offsetof(struct agent_data, code) == 72 + 4 * AGENT_CALLS &&
		       offsetof(struct agent_data, kept) == offsetof(struct agent_data, code) + 16 * (AGENT_RANGES + 2),
	       "agent.S");
_Static_assert(UNATTENDED_DATA == offsetof(struct agent_data, code[2]), "agent.S");
_Static_assert(offsetof(struct agent_data, rseq) == DATA_RSEQ, "agent.S");
_Static_assert(offsetof(struct agent_data, followed) == DATA_FOLLOWED, "agent.S");
_Static_assert(offsetof(struct agent_data, others) == DATA_OTHERS, "agent.S");
_Static_assert(KEPT_FRAMES == 8 && sizeof(struct agent_frame) == 8 * KEPT_SAVED, "agent.S");

/* The row that call number `nr` may have. From AGENT_NUMBERS on, a row can have one of several numbers (agent_data.others). */
static inline unsigned agent_row(uint64_t nr)
{
	return (unsigned)(nr < AGENT_NUMBERS ? nr : AGENT_NUMBERS + nr % AGENT_OTHERS);
}

/* The state that a thread restores by itself (agent.S, `back`). */
struct agent_back {
	uint64_t mask, flags, ip, regs[15]; /* `regs` is the beginning of struct cpu_regs */
};
_Static_assert(offsetof(struct agent_back, mask) == BACK_MASK && offsetof(struct agent_back, flags) == BACK_FLAGS &&
		       offsetof(struct agent_back, ip) == BACK_RIP && offsetof(struct agent_back, regs) == BACK_REGS &&
		       sizeof(struct agent_back) == BACK_SIZE,
	       "agent.S");

/* The parameters of the code for unattended setup. */
struct agent_unattended {
	uint64_t entry; /* address of the image's first instruction */
	uint64_t work;  /* address of the work area */
	uint64_t mark;  /* the value that agent_tail.mark must have */
	uint64_t stats; /* number of bytes to map at AGENT_STATS */
	/* With SETUP_RECORDS: the addresses of the thread's scratch memory and of its ring. */
	uint64_t scratch, ring;
	char path[SETUP_PATH];     /* the file to map at AGENT_STATS */
	char recorder[SETUP_PATH]; /* with SETUP_RECORDS: the file to map at RECORDER_CODE */
};
_Static_assert(offsetof(struct agent_unattended, entry) == UNATTENDED_ENTRY &&
		       offsetof(struct agent_unattended, work) == UNATTENDED_WORK &&
		       offsetof(struct agent_unattended, mark) == UNATTENDED_MARK &&
		       offsetof(struct agent_unattended, stats) == UNATTENDED_STATS &&
		       offsetof(struct agent_unattended, scratch) == UNATTENDED_SCRATCH &&
		       offsetof(struct agent_unattended, ring) == UNATTENDED_RING &&
		       offsetof(struct agent_unattended, path) == UNATTENDED_PATH &&
		       offsetof(struct agent_unattended, recorder) == UNATTENDED_RECORDER &&
		       sizeof(struct agent_unattended) == UNATTENDED_SIZE,
	       "agent.S");

/* The labels of agent.S. A thread's position among them shows what the thread has already done in the agent. */
extern const unsigned char agent_begin[], agent_end[], agent_entry[], agent_p1[], agent_p2[], agent_p3[];
extern const unsigned char agent_refuse[], agent_r1[], agent_other[], agent_check[], agent_pre_end[];
extern const unsigned char agent_exit[], agent_remote[], agent_own_call[], agent_own_call_end[], agent_allowed_end[];
extern const unsigned char agent_sigsys[], agent_sigsys_restorer[];
extern const unsigned char agent_call[], agent_masked_call[], agent_back_call[], agent_call_end[];
/*
 * vfork-like calls: from `got` on, the thread has reserved the kept frame whose number is in CPU_SPARE, and from
 * `marked` on, in CPU_KEPT. From `lowered` on, there is room for the frame on the stack of a child. At
 * `released`, the frame is on the stack again, and the program's CPU_KEPT is in CPU_SPARE.
 */
extern const unsigned char agent_taken[], agent_got[];
extern const unsigned char agent_marked[], agent_lowered[], agent_released[], agent_loaded[];
extern const unsigned char agent_record_marked[], agent_record_lowered[], agent_record_released[],
	agent_record_loaded[];
/*
 * execve(2): if ZF is set at the label `taken`, the thread uses the exec word from this label to the label `gave` of
 * the path that makes the call (struct agent_path).
 */
extern const unsigned char agent_exec_taken[], agent_exec_end[], agent_go_shared[];
/*
 * rt_sigreturn(2): from the label `counted` on, the call has been counted. At `sys`, the stack pointer is the
 * program's. A thread reaches `bad` only if its signal frame was invalid.
 */
extern const unsigned char agent_sigreturn_counted[], agent_sigreturn_sys[], agent_sigreturn_bad[];
/* The path of a recorded call (record.S.inc). `agent_record_return_bad` is like agent_sigreturn_bad. */
extern const unsigned char agent_record[], agent_record_entering[], agent_record_sys[], agent_record_after[],
	agent_record_made[];
extern const unsigned char agent_record_flagged[], agent_record_done[], agent_record_refuse[], agent_record_given[];
extern const unsigned char agent_record_special[], agent_record_return_bad[], agent_record_vfork_sys[];
extern const unsigned char agent_record_vfork_after[], agent_record_thread_sys[], agent_record_thread_after[];
extern const unsigned char agent_record_vfork[], agent_record_settled[], agent_record_child[], agent_record_child_up[];
extern const unsigned char agent_record_end[];
extern const unsigned char agent_announce[], agent_announced[], agent_announce_end[];
extern const unsigned char agent_ask[], agent_ask_after[], agent_ask_end[];
/*
 * Calling for the tracer, if CPU_KNOCKS is set: before a call of a stub, before exit(2), and before the two calls above. From
 * `saved` on, registers of the program are saved.
 */
extern const unsigned char agent_knock[], agent_knock_saved[], agent_knock_idle[], agent_knock_exit[],
	agent_knock_exit_saved[], agent_knock_end[], agent_knock_announce[], agent_knock_ask[], agent_trap[];

/* The path of a call that is neither counted nor recorded. From `after` to `ret`, the result is in the frame. */
extern const unsigned char agent_plain_sys[], agent_plain_after[], agent_plain_ret[], agent_plain_pushed[],
	agent_plain_end[];

/*
 * The labels of one of the paths through a call. On the paths `vfork`, `thread`, `query` and `rseq`, all labels after `after` are
 * `end`.
 */
struct agent_path {
	const unsigned char *p4, *p5, *p6, *sys, *after, *judged, *timed, *add_ticks, *add_unarmed, *add_waits,
		*add_waited, *add_error, *gave, *add_errno, *add_bytes, *add_hist, *ret, *pushed, *end;
};
_Static_assert(sizeof(struct agent_path) == 8 * AGENT_PATH_LABELS, "agent.S");
extern const struct agent_path agent_paths[AGENT_PATHS]; /* `single`, `shared`, `vfork`, `thread`, `query`, `rseq` */
#define AGENT_VFORK_PATH  (&agent_paths[2])
#define AGENT_THREAD_PATH (&agent_paths[3])
#define AGENT_QUERY_PATH  (&agent_paths[4])
#define AGENT_RSEQ_PATH   (&agent_paths[5])
/* On the path `thread`, the program's first two arguments are on the stack, below the frame, between these labels. */
extern const unsigned char agent_thread_saved[], agent_thread_restored[];
/* On the path `query`, the program's second argument is on the stack, below the frame, between these labels. */
extern const unsigned char agent_query_saved[], agent_query_restored[];

/* Code that runs once, at an address of the program's own code, to set up the agent (see agent.S). */
extern const unsigned char setup_begin[], setup_path[], setup_end[], region_begin[], region_end[];
extern const unsigned char setup_trap1[], setup_trap2[], setup_closed[], setup_back_end[];
extern const unsigned char agent_masked_setup[], agent_back_setup[];
extern const unsigned char unattended_code[], unattended_armed[], unattended_data[], unattended_code_end[];
extern const unsigned char region_trap1[], region_trap2[], region_closed[], region_back_end[];
extern const unsigned char agent_masked_region[], agent_back_region[];

/* The address of a label of agent.S in the traced program. */
#define AGENT_AT(label) ((uint64_t)AGENT_CODE + (uint64_t)((label)-agent_begin))
/* The address of a member of struct agent_data in the traced program. */
#define AGENT_DATA_AT(member) (AGENT_DATA + offsetof(struct agent_data, member))

/* Is `ip` at the label `from` or after it, and before the label `to`? */
static inline bool agent_is_between(uint64_t ip, const unsigned char *from, const unsigned char *to)
{
	return ip >= AGENT_AT(from) && ip < AGENT_AT(to);
}
#endif

#endif
