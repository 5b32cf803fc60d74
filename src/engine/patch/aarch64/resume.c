/* SPDX-License-Identifier: MIT */
#include "engine/patch/aarch64/resume.h"

#include "engine/patch/aarch64/encode.h"
#include "engine/patch/code/agent.h"

#include <asm/unistd.h>
#include <errno.h>
#include <string.h>

_Static_assert(SLOT_SIZE % 128 == 0 && AGENT_STATS % 128 == 0 && LANE_SIZE % 128 == 0 && SLOT_ALIGN == 64,
	       "NO_ENTRY_BIT of agent.S");

static const struct agent_labels *labels_at(uint64_t pc)
{
	for (unsigned i = 0; i < AGENT_VARIANTS; i++)
		if (agent_is_between(pc, agent_labels[i].entry, agent_labels[i].end))
			return &agent_labels[i];
	return NULL;
}

/* Has the thread made the update at a label? In the variant `excl`, w14 is 0 if the store has succeeded. */
static bool is_done(const struct resume_regs *r, const struct agent_labels *l, const unsigned char *update)
{
	const uint64_t at = AGENT_AT(update);
	return l == &agent_labels[1] && r->pc == at + 4 ? (uint32_t)r->x[14] == 0 : r->pc > at;
}

/* The time of the call. Meaningless from `shift` on, and from `longest` on. */
static uint64_t time_of(const struct resume_regs *r, const struct agent_labels *l, uint64_t now)
{
	uint64_t start = r->x[9];
	if (r->pc >= AGENT_AT(l->inverted) && r->pc != AGENT_AT(l->too_long))
		return ~r->x[16];
	if (r->pc >= AGENT_AT(l->timed))
		return r->x[16];
	return now > start ? now - start : 0;
}

/* As the agent does it. */
static unsigned bucket_of(uint64_t time)
{
	time = time >> 39 ? (1ull << 39) - 1 : time;
	const unsigned zeros = (unsigned)__builtin_clzll(time | 16);
	return 16 * (59 - zeros) + (unsigned)(time << zeros >> 59);
}

/* The bucket whose address is in x9, or is calculated there. */
static unsigned bucket_at(const struct resume_regs *r, const struct agent_labels *l)
{
	const uint64_t done = (r->pc - AGENT_AT(l->shift)) / 4, shift = r->x[9], at = r->x[9] - r->x[11];
	if (done < 2) /* the inverted time begins with that many ones, and they may be shifted out already */
		return bucket_of(~(done ? (uint64_t)((int64_t)r->x[16] >> shift) : r->x[16]));
	if (done == 2)
		return (unsigned)(16 * (58 - shift) + 31 - r->x[16]);
	if (done < 5)
		return (unsigned)((at + BUCKET_AT) / 4 - (done == 3 ? r->x[16] : 0));
	return (unsigned)((at - SLOT_HIST) / 4);
}

/*
 * Finds out what remains of whether the call has waited. If the agent had not found out, it is not known: the signal has made
 * the kernel set rseq_cs to 0. But a call that a signal has ended did wait.
 */
static void find_waits(const struct resume_regs *r, const struct agent_labels *l, struct resume_todo *todo)
{
	const bool judging = agent_is_between(r->pc, l->unusual, l->special);
	const bool armed = judging ? r->pc < AGENT_AT(l->add_waits) : !(r->x[12] & 1);
	if (armed ? r->x[0] == (uint64_t)-EINTR : judging) {
		todo->waits = !is_done(r, l, l->add_waits) || !judging;
		todo->waited = !is_done(r, l, l->add_waited) || !judging;
	} else
		todo->unarmed = armed || !is_done(r, l, l->add_unarmed);
}

/* Finds the updates that remain after the call. `in_agent` is the state in the agent, from `after` on. */
static void find_updates(const struct resume_regs *in_agent, const struct agent_labels *l, uint64_t now,
			 struct resume_todo *todo)
{
	const struct resume_regs *r = in_agent;
	struct resume_regs judged = *in_agent;
	if (agent_is_between(in_agent->pc, l->unusual, l->special)) {
		judged.pc = AGENT_AT(l->add_max);
		judged.x[11] = in_agent->x[10] & -(uint64_t)SLOT_ALIGN;
		r = &judged;
	}
	const bool failed = r->x[0] >= (uint64_t)-4095, is_long = agent_is_between(r->pc, l->too_long, l->half);
	const bool is_half = agent_is_between(r->pc, l->half, l->unusual), again = is_long || is_half;
	const bool usual = agent_is_between(r->pc, l->negative, l->other_error);
	if (agent_is_between(r->pc, l->restore, l->negative) ||
	    agent_is_between(r->pc, l->restore_fail, l->other_error) ||
	    agent_is_between(r->pc, l->restore_error, l->too_long))
		return;
	todo->slot = r->x[11];
	todo->result = r->x[0];
	todo->time = time_of(r, l, now);
	todo->ticks = !is_done(r, l, l->add_ticks);
	find_waits(in_agent, l, todo);
	todo->max = !is_done(r, l, l->add_max);
	todo->min_not = !is_done(r, l, is_long ? l->add_long : l->add_min_not);
	todo->hist = is_long || !is_done(r, l, l->add_hist);
	todo->bucket = is_long                       ? SLOT_BUCKETS - 1
		       : r->pc >= AGENT_AT(l->shift) ? bucket_at(r, l)
						     : bucket_of(todo->time);
	todo->errors = failed && (again || !is_done(r, l, usual ? l->add_fails : l->add_error));
	todo->errnos = failed && (again || !is_done(r, l, usual ? l->add_fails : l->add_errno));
	todo->bytes =
		!failed && (int64_t)r->x[0] >= 0 && r->x[10] & SLOT_F_BYTES && (again || !is_done(r, l, l->add_bytes));
}

static void restore_pair(struct resume_regs *r, const uint64_t *frame, unsigned offset, unsigned first)
{
	r->x[first] = frame[offset / 8];
	r->x[first + 1] = frame[offset / 8 + 1];
}

static void restore_first(struct resume_regs *r, const uint64_t *frame)
{
	r->x[16] = frame[FRAME_X16 / 8];
	r->x[30] = frame[FRAME_X30 / 8];
	r->sp += RED_ZONE + FRAME_SIZE;
}

/* In the code for recorded calls, where the registers are not in the thread's scratch memory (record.S.inc). */
static bool leave_record(struct resume_regs *r, const uint64_t *frame)
{
	const bool unsaved = agent_is_between(r->pc, agent_record, agent_record_entering) ||
			     agent_is_between(r->pc, agent_record_refuse, agent_record_end);
	if (!unsaved)
		return false;
	restore_pair(r, frame, FRAME_X9, 9);
	restore_pair(r, frame, FRAME_X11, 11);
	restore_first(r, frame);
	return true;
}

/* exit(2) uses no frame. */
static void leave_exit(struct resume_regs *r, const struct agent_labels *l, struct resume_todo *todo)
{
	todo->uncount = is_done(r, l, l->exit_counts);
	todo->slot = r->x[11];
	r->x[8] = __NR_exit;
}

/* Returns true if the call has been made. */
static bool leave_agent(struct resume_regs *r, const struct agent_labels *l, const uint64_t *frame, uint64_t now,
			struct resume_todo *todo)
{
	bool counted = agent_is_between(r->pc, l->after, l->special);
	bool made = counted || agent_is_between(r->pc, l->plain_sys + 4, l->refuse);
	if (counted)
		find_updates(r, l, now, todo);
	if ((agent_is_between(r->pc, l->add_entered, l->after) && is_done(r, l, l->add_entered)) ||
	    (agent_is_between(r->pc, l->add_rseq, l->exit) && is_done(r, l, l->add_rseq))) {
		todo->slot = r->x[11];
		todo->uncount = true;
	}
	if (r->pc >= AGENT_AT(l->saved)) {
		restore_pair(r, frame, FRAME_X9, 9);
		restore_pair(r, frame, FRAME_X11, 11);
		if (l == &agent_labels[1])
			restore_pair(r, frame, FRAME_X13, 13);
	}
	restore_first(r, frame);
	return made;
}

/* The same for a thread that calls for the tracer. It has not made the call. */
static void leave_knock(struct resume_regs *r, const uint64_t *frame)
{
	if (r->pc >= AGENT_AT(agent_knock_exit)) {
		r->x[0] = agent_is_between(r->pc, agent_knock_exit_saved, agent_knock_end) ? r->x[9] : r->x[0];
		r->x[8] = __NR_exit;
		return;
	}
	if (agent_is_between(r->pc, agent_knock_saved, agent_knock_idle)) {
		restore_pair(r, frame, FRAME_X9, 0);
		restore_pair(r, frame, FRAME_X11, 2);
		r->x[4] = frame[FRAME_X13 / 8];
		r->x[8] = frame[FRAME_X13 / 8 + 1];
	}
	restore_first(r, frame);
}

/* The same for a thread in the stub, `at` bytes after its start. */
static bool leave_stub(struct resume_regs *r, uint64_t at, const uint64_t *frame)
{
	const bool made = at == STUB_MADE || at == STUB_BACK || at == STUB_AFTER_CALL;
	if ((at > 0 && at < STUB_SAVE) || at >= STUB_EXIT)
		r->x[8] += __NR_exit;
	if (at > STUB_SAVE && at < STUB_RAW && at != STUB_BACK)
		restore_first(r, frame);
	return made;
}

bool resume_leave(struct resume_regs *r, uint64_t stub, uint64_t site, const uint64_t *frame, uint64_t now,
		  struct resume_todo *todo)
{
	const struct agent_labels *l = labels_at(r->pc);
	bool made = false;
	memset(todo, 0, sizeof(*todo));
	if (l && r->pc >= AGENT_AT(l->exit))
		leave_exit(r, l, todo);
	else if (l)
		made = leave_agent(r, l, frame, now, todo);
	else if (r->pc - stub < STUB_SIZE)
		made = leave_stub(r, r->pc - stub, frame);
	else if (agent_is_between(r->pc, agent_knock, agent_knock_end) || r->pc == AGENT_AT(agent_trap))
		leave_knock(r, frame);
	else if (!leave_record(r, frame))
		return false;
	r->pc = made ? site + 4 : site;
	return true;
}

static void add(uint64_t *counter, uint64_t value)
{
	__atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

static void set_most(uint64_t *most, uint64_t value)
{
	uint64_t old = __atomic_load_n(most, __ATOMIC_RELAXED);
	while (old < value && !__atomic_compare_exchange_n(most, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

void resume_update(const struct resume_todo *todo)
{
	struct agent_slot *s = (struct agent_slot *)(uintptr_t)todo->slot;
	if (!s)
		return;
	add(&s->entered, todo->uncount ? UINT64_MAX : 0);
	add(&s->ticks, todo->ticks ? todo->time : 0);
	add(&s->unarmed, todo->unarmed);
	add(&s->waits, todo->waits);
	add(&s->waited, todo->waited ? todo->time : 0);
	add(&s->errors, todo->errors);
	add(&s->bytes, todo->bytes ? todo->result : 0);
	set_most(&s->max, todo->max ? todo->time : 0);
	set_most(&s->min_not, todo->min_not ? ~todo->time : 0);
	if (todo->hist)
		__atomic_fetch_add(&s->hist[todo->bucket], 1, __ATOMIC_RELAXED);
}
