/* SPDX-License-Identifier: MIT */
/* A thread that a signal interrupts in the agent or in a stub leaves them, as if the program had made the call itself. */
#ifndef SCTRACE_ENGINE_PATCH_AARCH64_RESUME_H
#define SCTRACE_ENGINE_PATCH_AARCH64_RESUME_H

#include <stdbool.h>
#include <stdint.h>

/* The labels of a variant of the agent's code (agent.S, `path`), in the order of their addresses. */
struct agent_labels {
	const unsigned char *entry, *saved, *add_entered, *sys, *after, *timed, *add_ticks, *add_unarmed, *add_max,
		*inverted, *add_min_not, *shift, *bucket, *add_hist, *add_bytes, *restore, *negative, *add_fails,
		*restore_fail, *other_error, *add_error, *add_errno, *restore_error, *too_long, *long_inverted,
		*add_long, *longest, *half, *unusual, *add_waits, *add_waited, *special, *plain_sys, *refuse, *add_rseq,
		*exit, *exit_counts, *end;
};
#define AGENT_VARIANTS 2
extern const struct agent_labels agent_labels[AGENT_VARIANTS]; /* `lse`, `excl` */

struct resume_regs {
	uint64_t x[31], sp, pc;
};

/* What remains to be done in the slot of the call. */
struct resume_todo {
	uint64_t slot; /* its address */
	bool uncount;  /* the call was counted but not made, and will be made again */
	bool ticks, unarmed, waits, waited, max, min_not, hist, bytes, errors, errnos;
	uint64_t time;   /* for `ticks`, `waited`, `max`, `min_not` */
	unsigned bucket; /* for `hist` */
	uint64_t result; /* for `bytes` and `errnos` */
};

/*
 * Sets the registers of a thread at r->pc to those of the program: at the site, if the call has not been made, or after it.
 * `stub` is the address of the stub, `site` that of the site, and `frame` the memory at r->sp, of FRAME_SIZE bytes. `now` is the
 * clock, for a thread that has made the call but not read it. Returns false if the thread is neither in the agent nor in
 * the stub. At exit(2), x9 to x14 and x16 are not restored, because this call does not return.
 */
bool resume_leave(struct resume_regs *r, uint64_t stub, uint64_t site, const uint64_t *frame, uint64_t now,
		  struct resume_todo *todo);

/* Makes the updates that resume_leave() has found, except `errnos` (region_add_errno()), if the slots are mapped here at their address in the program. */
void resume_update(const struct resume_todo *todo);

#endif
