/* SPDX-License-Identifier: MIT */
/* Runs the agent step by step, and moves the thread out of it, as sctrace does, at a step of the test's choice. */
#ifndef SCTRACE_TESTS_PATCH_AARCH64_STEPS_H
#define SCTRACE_TESTS_PATCH_AARCH64_STEPS_H

#include "patch_aarch64_rig.h"

/*
 * Single steps: all instructions of the agent and of the stub are breakpoints, except the one that is about to be executed.
 * ptrace(2) does not work in qemu-aarch64. A step within a pair of ldxr and stxr would make it fail for ever, so such a
 * pair is one step.
 */
#define BREAKPOINT 0xd4200000u
extern const unsigned char __start_recorder_text[], __stop_recorder_text[];
#define RECORDER_SIZE                                                                                                  \
	(64 + (size_t)(__stop_recorder_text - __start_recorder_text)) /* with the jumps to it (record/recipe.c) */
#define CODE_WORDS 8192
#define PATH_MOST  8192
enum { AREAS = 3 }; /* the agent, the stubs, the recorder */
static struct stepper {
	uint32_t *code[AREAS], saved[AREAS][CODE_WORDS];
	size_t words[AREAS];
	uint32_t *released; /* the instruction that is not a breakpoint, or NULL */
	uint64_t steps;
	uint64_t stops, leave_at;  /* at stop number `leave_at`, if it is not 0, the thread leaves the agent */
	uint32_t *only;            /* if it is not NULL, only this instruction is a breakpoint */
	uint32_t *path[PATH_MOST]; /* otherwise, the instructions that were executed */
} stepper;

static inline uint64_t read_clock(void)
{
	uint64_t now;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
}

/* The last state in which a thread has left the path of a recorded call. */
static struct {
	bool made;
	int64_t result;
} left;

/* What record_step_out() does with such a thread. */
static inline void leave_record(ucontext_t *uc)
{
	const struct site site = {.ip = AT(rig_site) + CPU_CALL_SIZE};
	struct cpu_regs r;
	memcpy(&r, uc->uc_mcontext.regs, CPU_GIVEN);
	left.made = record_is_made(scratch, &r, &left.result);
	record_set_native(&r, scratch, (const uint64_t *)scratch->sp, &site, left.made, left.result);
	memcpy(uc->uc_mcontext.regs, &r, CPU_GIVEN);
	ring->open = 0;
	ring->next = ring->produced ? ring->next : 0;
	scratch->busy = SCRATCH_IDLE;
}

/* What sctrace does with a thread that gets a signal in the agent. */
static inline void leave_agent(ucontext_t *uc)
{
	struct cpu_regs at = {.pc = uc->uc_mcontext.pc};
	if (record_is_on_path(&at)) {
		leave_record(uc);
		return;
	}
	struct resume_regs r = {.sp = uc->uc_mcontext.sp, .pc = uc->uc_mcontext.pc};
	struct resume_todo todo;
	memcpy(r.x, uc->uc_mcontext.regs, sizeof(r.x));
	if (!resume_leave(&r, AT(stubs) + STUB_SIZE, AT(rig_site), (const uint64_t *)r.sp, read_clock(), &todo))
		abort();
	resume_update(&todo);
	if (todo.errnos)
		region_add_errno(&(struct region){.slots = (unsigned char *)AGENT_STATS},
				 (struct agent_slot *)todo.slot, (int64_t)r.x[8], (unsigned)-todo.result);
	memcpy(uc->uc_mcontext.regs, r.x, sizeof(r.x));
	uc->uc_mcontext.sp = r.sp;
	uc->uc_mcontext.pc = r.pc;
	uc->uc_mcontext.pstate &= ~0xc00ull; /* BTYPE: the thread is no longer at an indirect branch */
}

static inline void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	uint32_t *pc = (uint32_t *)uc->uc_mcontext.pc;
	(void)sig;
	(void)info;
	if (stepper.released)
		write_code(stepper.released, BREAKPOINT);
	stepper.released = NULL;
	if (++stepper.stops == stepper.leave_at) {
		leave_agent(uc);
		return;
	}
	for (int i = 0; i < AREAS; i++)
		if (pc >= stepper.code[i] && pc < stepper.code[i] + stepper.words[i]) {
			write_code(pc, stepper.saved[i][pc - stepper.code[i]]);
			stepper.released = pc;
			stepper.steps += instructions_of_step(stepper.saved[i] + (pc - stepper.code[i]));
		}
	if (!stepper.released || stepper.stops > PATH_MOST)
		abort();
	stepper.path[stepper.stops - 1] = stepper.only ? stepper.path[stepper.stops - 1] : pc;
}

static inline void begin_steps(uint64_t leave_at, uint32_t *only, bool recorder)
{
	static unsigned char handler_stack[1 << 16];
	const stack_t alt = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaltstack(&alt, NULL);
	sigaction(SIGTRAP, &action, NULL);
	stepper.code[0] = (uint32_t *)AGENT_CODE;
	stepper.words[0] = (size_t)(agent_end - agent_begin) / 4;
	stepper.code[1] = (uint32_t *)(stubs + STUB_SIZE);
	stepper.words[1] = 2 * STUB_SIZE / 4;
	stepper.code[2] = (uint32_t *)RECORDER_CODE;
	stepper.words[2] = recorder ? RECORDER_SIZE / 4 : 0;
	stepper.released = NULL;
	stepper.steps = stepper.stops = 0;
	stepper.leave_at = leave_at;
	stepper.only = only;
	for (int i = 0; i < AREAS; i++) {
		static uint32_t code[CODE_WORDS];
		bool exclusive = false;
		assert_true(stepper.words[i] <= CODE_WORDS);
		memcpy(stepper.saved[i], stepper.code[i], 4 * stepper.words[i]);
		for (size_t w = 0; w < stepper.words[i]; w++) {
			code[w] = exclusive ? stepper.saved[i][w] : BREAKPOINT;
			exclusive = is_exclusive_load(stepper.saved[i][w]) ||
				    (exclusive && !is_exclusive_store(stepper.saved[i][w]));
		}
		if (!only)
			write_codes(stepper.code[i], code, stepper.words[i]);
	}
	if (only)
		write_code(only, BREAKPOINT);
}

static inline uint64_t end_steps(void)
{
	for (int i = 0; i < AREAS; i++)
		if (!stepper.only)
			write_codes(stepper.code[i], stepper.saved[i], stepper.words[i]);
		else if (stepper.only - stepper.code[i] < (ptrdiff_t)stepper.words[i] &&
			 stepper.only >= stepper.code[i])
			write_code(stepper.only, stepper.saved[i][stepper.only - stepper.code[i]]);
	return stepper.steps;
}

#endif
