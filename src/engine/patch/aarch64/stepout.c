/* SPDX-License-Identifier: MIT */
/*
 * The program can see its own state in the context of a handler, in an unwinder, after longjmp(3) and in a core dump.
 * In all these cases it must see the native state: the thread is either about to make its call, or has made it.
 *
 * When a signal interrupts a call that can be restarted, the kernel moves the thread back to the call instruction before the
 * tracer sees the signal. It decides only afterwards, and by the address of that instruction, whether the call fails with EINTR
 * instead (do_signal() in arch/arm64/kernel/signal.c). So a thread at the agent's call instruction stays there until the
 * kernel has stored its state for the handler, and then that state is changed.
 */
#include "engine/patch/threads/threads.h"

#include "engine/patch/aarch64/resume.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static bool is_in_agent(uint64_t ip)
{
	return ip - AGENT_CODE < AGENT_CODE_SIZE;
}

/* Changes `r` to the state outside of the agent and the stubs, and updates the counts. Returns false if it is there already. */
static bool leave(const struct image *img, const struct task *task, struct cpu_regs *r)
{
	uint64_t frame[FRAME_SIZE / sizeof(uint64_t)] = {0};
	struct resume_regs state;
	struct resume_todo todo;
	/* In the agent, x30 is the address to which the agent returns. */
	const struct site *s = site_of_stub(img, is_in_agent(r->pc) ? r->regs[30] : r->pc);
	if (!s)
		return false;
	remote_read(task->tid, r->sp, frame, sizeof(frame)); /* where the frame is needed, it exists */
	memcpy(&state, r, sizeof(state));
	if (!resume_leave(&state, s->stub, s->ip - CPU_CALL_SIZE, frame, cpu_ticks(), &todo))
		return false;
	struct agent_slot *slot = todo.slot ? image_slot(img, todo.slot) : NULL;
	todo.slot = (uint64_t)(uintptr_t)slot;
	resume_update(&todo);
	if (slot && todo.errnos)
		region_add_errno(img->counters.region, slot, (int64_t)state.x[8], (unsigned)-(int64_t)todo.result);
	memcpy(r, &state, sizeof(state));
	cpu_return_to(r, state.pc);
	r->CPU_RESTARTED = CPU_NO_CALL;
	return true;
}

void stepout(struct patch *p, struct task *task, enum stepout_for what)
{
	struct cpu_regs r;
	if (image_of(task) && cpu_get(task->tid, &r) == 0)
		stepout_from(p, task, &r, what);
}

void stepout_from(struct patch *p, struct task *task, struct cpu_regs *r, enum stepout_for what)
{
	if (!image_has_agent(image_of(task)))
		return;
	if ((p->record && record_step_out(p, task, r, what)) ||
	    (what != STEPOUT_UNSEEN && leave(image_of(task), task, r)))
		cpu_set(task->tid, r);
}

bool stepout_needed(const struct task *task, uint64_t ip)
{
	const struct image *img = image_of(task);
	return img && image_has_agent(img) && (is_in_agent(ip) || record_is_recorder(ip) || site_of_stub(img, ip));
}

static bool is_counted_call(uint64_t ip)
{
	return ip == AGENT_AT(agent_labels[0].sys) || ip == AGENT_AT(agent_labels[1].sys);
}

bool stepout_waits(const struct cpu_regs *r)
{
	return is_counted_call(r->pc) || r->pc == AGENT_AT(agent_record_sys) ||
	       r->pc == AGENT_AT(agent_labels[0].plain_sys) || r->pc == AGENT_AT(agent_labels[1].plain_sys);
}

/*
 * Called if the handler will return to the call instruction, so that the call is made again: notes the time that it has taken so
 * far. From then on, ptrace counts the call. Only rt_sigreturn(2) shows whether it is really made again (syscall/life.h). If the
 * signal came just before the call, the state is the same, so this call counts as interrupted, too. `r` is the native state.
 */
static void remember_interrupted(struct patch *p, struct task *task, const struct cpu_regs *r, uint64_t begun)
{
	const uint64_t now = cpu_ticks(), ticks = now > begun ? now - begun : 0;
	thread_of(task)->call = (struct call){.arch = syscall_native_arch(),
					      .nr = (int64_t)r->CPU_NR,
					      .args = CPU_ARGS(r),
					      .ip = r->pc + CPU_CALL_SIZE,
					      .sp = r->sp,
					      .error = true,
					      .err = ERESTARTSYS,
					      .wait = WAIT_UNKNOWN};
	tracer_call_interrupted(&p->t, task, (uint64_t)((double)ticks * p->tick_ns));
}

void stepout_of_frame(struct patch *p, struct task *task)
{
	struct cpu_regs r, stored = {.call = CPU_NO_CALL};
	if (!image_of(task) || !image_has_agent(image_of(task)) || cpu_get(task->tid, &r) < 0)
		return;
	const uint64_t at = r.sp + UC_RESULT;
	if (remote_read(task->tid, at, &stored, CPU_GIVEN) < 0 || !is_in_agent(stored.pc))
		return;
	if (p->record && record_step_out(p, task, &stored, STEPOUT_CAUGHT)) {
		remote_write(task->tid, at, &stored, CPU_GIVEN);
		return;
	}
	const bool again = is_counted_call(stored.pc);
	const uint64_t begun = stored.regs[9]; /* agent.S: from the call to the update of the time */
	if (!leave(image_of(task), task, &stored))
		return;
	remote_write(task->tid, at, &stored, CPU_GIVEN);
	if (again)
		remember_interrupted(p, task, &stored, begun);
}

bool stepout_knocks(uint64_t ip)
{
	return agent_is_between(ip, agent_knock_saved, agent_knock_idle) ||
	       agent_is_between(ip, agent_knock_exit_saved, agent_knock_end) ||
	       agent_is_between(ip, agent_knock_announce, agent_announce_end) ||
	       agent_is_between(ip, agent_knock_ask, agent_ask_end);
}

/* If too many signals are queued, the kernel forgets who has sent this one (__send_signal_locked() in kernel/signal.c). */
static bool is_knock(const siginfo_t *si)
{
	const bool unknown = si->si_code == SI_USER && si->si_pid == 0;
	return si->si_signo == KNOCK_SIGNAL &&
	       (unknown || (si->si_code == SI_QUEUE && (uintptr_t)si->si_value.sival_ptr == KNOCK_VALUE));
}

/*
 * Puts the program's own signal mask in force, in place of that of the agent's ppoll(2). If the program blocks this signal, and
 * had sent itself one before, it has replaced the agent's, and is sent again. Returns false if it is a signal for the program.
 */
static bool take_knock(const struct task *task, const siginfo_t *si)
{
	uint64_t mask = 0;
	siginfo_t again = *si;
	const bool own = is_knock(si);
	if (ptrace_retry(PTRACE_GETSIGMASK, task->tid, sizeof(mask), &mask) < 0 ||
	    (!own && !(mask & SIGBIT(KNOCK_SIGNAL))))
		return false;
	ptrace_retry(PTRACE_SETSIGMASK, task->tid, sizeof(mask), &mask);
	again.si_code = si->si_code < 0 && si->si_code != SI_TKILL ? si->si_code : SI_QUEUE;
	return own || syscall(SYS_rt_tgsigqueueinfo, task->proc->pid, task->tid, KNOCK_SIGNAL, &again) == 0;
}

enum knock stepout_knock(const struct task *task, const siginfo_t *si, struct cpu_regs *r)
{
	uint64_t frame[FRAME_SIZE / sizeof(uint64_t)] = {0}, at = 0;
	struct resume_regs state;
	struct resume_todo todo;
	if (si->si_signo != KNOCK_SIGNAL || cpu_get(task->tid, r) < 0)
		return KNOCK_NONE;
	const struct site *s = site_of_stub(image_of(task), r->regs[30]);
	if (!stepout_knocks(r->pc))
		return is_knock(si) && si->si_code == SI_QUEUE ? KNOCK_PAST : KNOCK_NONE;
	if (!take_knock(task, si))
		return KNOCK_NONE;
	if (r->pc >= AGENT_AT(agent_knock_ask))
		at = AGENT_AT(agent_ask) + CPU_CALL_SIZE;
	else if (r->pc >= AGENT_AT(agent_knock_announce))
		at = AGENT_AT(agent_announce) + CPU_CALL_SIZE;
	else if (r->pc >= AGENT_AT(agent_knock_exit))
		at = AGENT_AT(agent_trap) + CPU_CALL_SIZE;
	else if (s)
		at = s->stub + STUB_AFTER_CALL;
	else
		return KNOCK_NONE;
	if (r->pc < AGENT_AT(agent_knock_announce)) {
		remote_read(task->tid, r->sp, frame, sizeof(frame));
		memcpy(&state, r, sizeof(state));
		resume_leave(&state, 0, 0, frame, 0, &todo);
		memcpy(r, &state, sizeof(state));
	} else
		r->CPU_NR = AGENT_ASK;
	cpu_return_to(r, at);
	r->CPU_RESTARTED = CPU_NO_CALL;
	return KNOCK_CALL;
}

/* The agent does not create children, and does not make execve(2). */
void stepout_child(struct task *task, bool copied)
{
	(void)task, (void)copied;
}

void stepout_exec(const struct image *img)
{
	(void)img;
}
