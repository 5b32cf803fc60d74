/* SPDX-License-Identifier: MIT */
/* Handles threads that stop in the agent's code for a recorded call. */
#include "engine/patch/record/record.h"

#include "engine/patch/image/image.h"
#include "engine/patch/image/site.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"
#include "syscall/uring_ops.h"
#include "tracee/proc.h"
#include "tracee/uring.h"

#include <linux/major.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool read_scratch(const struct task *task, const struct record_thread *th, struct agent_scratch *s)
{
	return remote_read(task->tid, th->scratch, s, sizeof(*s)) == 0;
}

/*
 * Stops of an image because several of its threads have the same thread pointer. After this number, ptrace traces the image: a
 * call that stops under ptrace from the start costs less. Go, for example, gives a new thread its thread pointer only after some
 * calls.
 */
#define CONTENDED_MOST 256

bool record_retry(struct patch *p, struct task *task, int64_t nr, enum stop_reason *reason)
{
	struct record_thread *th = recorded_of(task);
	const int row = p->record ? patch_row(p, nr) : -1;
	if (row < 0 || p->record_way[row] != RECORD_WRITES)
		return false;
	if (!th || !th->reader.ring) {
		*reason = STOP_NO_RING;
		return record_admit(p, task);
	}
	uint32_t lacks = th->reader.ring->lacks;
	uint64_t before = th->thread_pointer;
	th->reader.ring->lacks = RING_LACKS_NOTHING;
	record_look_at(p, th);
	if (lacks != RING_LACKS_NOTHING) {
		*reason = STOP_FULL;
		if (record_enlarge(p, th) || lacks == RING_FULL)
			return true;
	}
	if (record_admit(p, task) && th->thread_pointer != before)
		return true;
	if (th->contended) {
		*reason = STOP_CONTENDED;
		if (++image_of(task)->contended == CONTENDED_MOST)
			image_fall_back(p, task, "several of its threads have the same " CPU_POINTER_NAME);
	}
	return false;
}

bool record_is_recorder(uint64_t ip)
{
	return (ip >= RECORDER_CODE && ip < RECORDER_CODE + RECORDER_ROOM) ||
	       agent_is_between(ip, agent_own_call, agent_own_call_end);
}

/* Sets the registers that the recorder's C code may have changed to their values at the call. */
static void restore_registers(struct cpu_regs *r, const struct agent_scratch *s)
{
	cpu_set_args(r, s->args);
	cpu_set_saved(r, s->saved);
}

/* Marks the ring of a stopped thread as having no open record. The recorder's own changes to the ring are discarded. */
static void close_ring(const struct record_thread *th, const struct task *task)
{
	static const uint32_t idle = SCRATCH_IDLE;
	struct agent_ring *ring = th->reader.ring;
	ring->next = th->reader.off;
	ring->open = 0;
	remote_write(task->tid, th->scratch + offsetof(struct agent_scratch, busy), &idle, sizeof(idle));
}

/* Completes the open record in place of the recorder: reports it with the stopped task's memory. */
static void complete(struct patch *p, struct record_thread *th, const struct task *task, int64_t result, bool caught)
{
	const struct agent_recipe *recipes = (const struct agent_recipe *)(const void *)(p->recorder + RECORDER_ROOM);
	uint64_t t1 = th->reader.open.t1;
	if (recipes[th->reader.open.nr].names == NAMES_RENAME && p->record->names)
		record_forget_names(task, false); /* in place of the recorder */
	/*
	 * A thread that is detached, or that was stopped only to move it out of the agent (threads/withdraw.c), does not
	 * stay stopped until the record is reported, so its memory is captured now.
	 */
	bool live = !p->t.detaching && task == p->t.current;
	if (!live) {
		th->reader.open.size = th->reader.open.before;
		record_capture(p, th, result, true);
	}
	reader_complete(&th->reader, result, t1 ? t1 : cpu_ticks(),
			(live ? RECORD_LIVE : 0) | (caught ? RECORD_CAUGHT : 0));
	close_ring(th, task);
	p->t.hold_current = true;
}

static bool is_announcing(const struct cpu_regs *r)
{
	return r->CPU_IP == AGENT_AT(agent_announce) + CPU_CALL_SIZE;
}

bool record_is_asking(const struct cpu_regs *r)
{
	return r->CPU_IP == AGENT_AT(agent_ask) + CPU_CALL_SIZE || is_announcing(r);
}

/*
 * Returns false if the descriptor certainly does not refer to the output of the trace. /dev/tty and /dev/console, whose
 * major number is TTYAUX_MAJOR, are other names of terminals. /dev/ptmx has this number as well.
 */
static bool is_output(const struct statx *output, pid_t tid, uint32_t fd)
{
	char path[64];
	struct statx st;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)tid, fd);
	if (proc_stat(path, &st) < 0)
		return true;
	if (!S_ISCHR(output->stx_mode) || !S_ISCHR(st.stx_mode))
		return st.stx_ino == output->stx_ino && st.stx_dev_major == output->stx_dev_major &&
		       st.stx_dev_minor == output->stx_dev_minor;
	uint32_t major = st.stx_rdev_major, minor = st.stx_rdev_minor;
	bool alias = major == TTYAUX_MAJOR || output->stx_rdev_major == TTYAUX_MAJOR;
	bool ptmx = major == TTYAUX_MAJOR && minor == 2;
	return (major == output->stx_rdev_major && minor == output->stx_rdev_minor) ||
	       (alias && major != MEM_MAJOR && !ptmx);
}

/*
 * Called before a recorded call that can write. If its descriptor refers to something else than the output of the trace,
 * notes this in the program's table (ring.h). A child of vfork(2) uses its parent's table, but has its own descriptors.
 */
static void note_elsewhere(const struct patch *p, const struct task *task, const struct record_thread *th)
{
	const struct agent_recipe *recipes = (const struct agent_recipe *)(const void *)(p->recorder + RECORDER_ROOM);
	const struct agent_record *open = &th->reader.open;
	if (!th->reader.has_open || !recipes[open->nr].writes || thread_of(task)->vfork_parent)
		return;
	const uint32_t fd = (uint32_t)open->args[recipes[open->nr].writes - 1], row = fd + 1;
	if (!is_output(p->record->output, task->tid, fd))
		remote_write(task->tid, elsewhere_row(fd), &row, sizeof(row));
}

/* After an io_uring_enter(2) that has stopped: tells the recorder where the ring is, so that the next one need not stop. */
static void locate_uring(const struct task *task, const struct call *c)
{
	const uint32_t fd = (uint32_t)c->args[0];
	const uint64_t at = (uint64_t)(uintptr_t)uring_row(fd);
	struct uring_places p;
	struct uring_row row;
	if (c->nr != SYS_io_uring_enter || c->error || uring_is_index(c) ||
	    remote_read(task->tid, at, &row, sizeof(row)) < 0 || (row.fd == fd + 1 && (row.other || row.sqes)))
		return;
	const bool is_new = row.fd != fd + 1; /* the recorder has not seen io_uring_setup(2) */
	row.other = !uring_places(task->tid, (int)fd, is_new, &p);
	row.fd = fd + 1;
	row.sq = p.sq;
	row.cq = p.cq;
	row.sqes = row.other ? 0 : p.sqes;
	if (is_new) {
		row.seen = 0;
		row.sq_entries = p.layout.sq_entries;
		row.cq_entries = p.layout.cq_entries;
		row.sq_head = p.layout.sq.head;
		row.sq_tail = p.layout.sq.tail;
		row.sq_mask = p.layout.sq.mask;
		row.sq_array = p.layout.sq.array;
		row.cq_tail = p.layout.cq.tail;
		row.cq_mask = p.layout.cq.mask;
		row.cqes = p.layout.cq.cqes;
	}
	remote_write(task->tid, at, &row, sizeof(row));
}

void record_forget_closed(const struct patch *p, const struct task *task, const struct call *c)
{
	if (p->record && image_of(task)->threads)
		locate_uring(task, c);
	if (p->record && p->record->names && c->desc && syscall_changes_names(c->desc))
		record_forget_names(task, false);
	static const uint32_t none[ELSEWHERE_ROWS];
	bool changes = c->desc && (syscall_changes_names(c->desc) || c->nr == SYS_io_uring_enter);
	if (p->record && p->record->output && changes && image_of(task)->threads)
		remote_write(task->tid, ELSEWHERE_AT, none, sizeof(none));
}

void record_answer(struct patch *p, struct task *task, struct cpu_regs *r)
{
	struct record_thread *th = recorded_of(task);
	bool before = is_announcing(r);
	if (before && th && th->reader.ring)
		reader_announce(&th->reader, cpu_ticks());
	/* This also finds the open record, so that the beginning of its call is reported. */
	if (before || !th)
		record_look(p);
	else
		record_look_at(p, th);
	if (before && th && th->reader.has_open) {
		patch_note_stop(p, STOP_ANNOUNCED, th->reader.open.nr);
		record_watch_names(p, task, th->reader.open.nr, th->reader.open.args);
	}
	if (!before && th && th->reader.ring) {
		p->record->asked_calls[th->reader.open.nr]++;
		patch_note_stop(p, STOP_ASKED, th->reader.open.nr);
		if (th->reader.open.nr == SYS_io_uring_setup)
			record_watch_names(p, task, SYS_io_uring_setup, th->reader.open.args);
		complete(p, th, task, th->reader.open.result, false);
	}
	if (before && th)
		note_elsewhere(p, task, th);
	p->t.hold_current = true;
	r->CPU_IP = before ? AGENT_AT(agent_announced) : AGENT_AT(agent_ask_after);
	r->CPU_RESTARTED = CPU_NO_CALL;
	cpu_set(task->tid, r);
}

/* Completes the record of a call that was made, and moves the thread to where it would be when the recorder returns. */
static void finish(struct patch *p, struct record_thread *th, const struct task *task, struct cpu_regs *r,
		   const struct agent_scratch *s, int64_t result)
{
	const uint64_t at = th->scratch;
	complete(p, th, task, result, false);
	remote_write(task->tid, at + offsetof(struct agent_scratch, result), &result, sizeof(result));
	restore_registers(r, s);
	r->CPU_SP = s->sp;
	r->CPU_SPARE = at;
	r->CPU_IP = AGENT_AT(agent_record_done);
}

void record_free_child(const struct task *task)
{
	struct cpu_regs r;
	if (recorded_of(task) || cpu_get(task->tid, &r) < 0 || r.CPU_RESULT)
		return;
	if (r.CPU_IP == AGENT_AT(agent_record_after)) {
		r.CPU_SP += sizeof(uint64_t); /* the address of the scratch memory */
		r.CPU_IP = AGENT_AT(agent_plain_after);
	} else if (r.CPU_IP == AGENT_AT(agent_record_thread_after))
		r.CPU_IP = AGENT_AT(AGENT_THREAD_PATH->after);
	else
		return;
	cpu_set(task->tid, &r);
}

bool record_survive_fault(struct patch *p, struct task *task)
{
	struct record_thread *th = p->record ? recorded_of(task) : NULL;
	struct cpu_regs r;
	struct agent_scratch s;
	if (!th || !th->reader.ring || cpu_get(task->tid, &r) < 0 || !record_is_recorder(r.CPU_IP) ||
	    !read_scratch(task, th, &s) || s.busy != SCRATCH_MADE)
		return false;
	record_look(p);
	finish(p, th, task, &r, &s, s.result);
	cpu_set(task->tid, &r);
	return true;
}

/* Is `ip` the address after one of the instructions that make the call? */
static bool is_after_call(uint64_t ip)
{
	return ip == AGENT_AT(agent_record_after) || ip == AGENT_AT(agent_record_vfork_after) ||
	       ip == AGENT_AT(agent_record_thread_after);
}

bool record_is_on_path(const struct cpu_regs *r)
{
	return agent_is_between(r->CPU_IP, agent_record_entering, agent_record_refuse) ||
	       (agent_is_between(r->CPU_IP, agent_record_special, agent_record_end) && !vfork_frame_is_child(r)) ||
	       agent_is_between(r->CPU_IP, agent_announce, agent_ask_end) || record_is_recorder(r->CPU_IP);
}

bool record_is_made(const struct agent_scratch *s, const struct cpu_regs *r, int64_t *result)
{
	if (s->kind == KIND_RETURN) {
		*result = (int64_t)r->CPU_RESULT;
		return r->CPU_IP == AGENT_AT(agent_record_return_bad);
	}
	bool after_child = agent_is_between(r->CPU_IP, agent_record_vfork_after, agent_record_end) ||
			   agent_is_between(r->CPU_IP, agent_record_thread_after, agent_record_vfork);
	bool just_after = agent_is_between(r->CPU_IP, agent_record_after, agent_record_made) &&
			  r->CPU_IP <= AGENT_AT(agent_record_after) + CPU_RECORD_POP;
	*result = just_after || after_child ? (int64_t)r->CPU_RESULT : s->result;
	return after_child || agent_is_between(r->CPU_IP, agent_record_after, agent_record_refuse) ||
	       agent_is_between(r->CPU_IP, agent_ask, agent_ask_end) ||
	       (record_is_recorder(r->CPU_IP) && s->busy != SCRATCH_ENTERING);
}

/*
 * True if a signal has interrupted the call, and the kernel will restart it or end it with EINTR; sets *result to an ERESTART
 * error. If CPU_RESTARTS_EARLY is set, the thread is at the call instruction again. Then the error is lost, and *result is the
 * one that the call fails with. If the signal came just before the call, the state is the same.
 */
static bool is_interrupted(const struct cpu_regs *r, const struct agent_scratch *s, int64_t *result)
{
	static const struct {
		int16_t nr, error;
	} errors[] = {{SYS_nanosleep, ERESTART_RESTARTBLOCK},
		      {SYS_clock_nanosleep, ERESTART_RESTARTBLOCK},
		      {SYS_ppoll, ERESTARTNOHAND},
		      {SYS_pselect6, ERESTARTNOHAND},
		      {SYS_rt_sigsuspend, ERESTARTNOHAND},
		      {SYS_msgrcv, ERESTARTNOHAND},
		      {SYS_msgsnd, ERESTARTNOHAND}};
	const bool timed = (s->nr == SYS_futex && s->args[3]) || (s->nr == SYS_clock_nanosleep && s->args[1]);
	if (!CPU_RESTARTS_EARLY)
		return is_after_call(r->CPU_IP) && remote_restart_pending(r);
	if (r->CPU_IP != AGENT_AT(agent_record_sys))
		return false;
	*result = -ERESTARTSYS;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].nr == (int64_t)s->nr)
			*result = -errors[i].error;
	if (timed) /* a futex with a time limit, and an absolute time */
		*result = s->nr == SYS_futex ? -ERESTART_RESTARTBLOCK : -ERESTARTNOHAND;
	return true;
}

void record_set_native(struct cpu_regs *r, const struct agent_scratch *s, const uint64_t frame[CPU_FRAME_WORDS],
		       const struct site *site, bool made, int64_t result)
{
	bool at_call = r->CPU_IP == AGENT_AT(agent_record_sys) || r->CPU_IP == AGENT_AT(agent_record_vfork_sys) ||
		       r->CPU_IP == AGENT_AT(agent_record_thread_sys);
	restore_registers(r, s);
	r->CPU_SP = s->sp + BELOW_PROGRAM;
	cpu_set_frame(r, frame);
	if (!at_call)
		r->CPU_NR = s->nr;
	if (made) {
		r->CPU_RESULT = (unsigned long long)result;
		cpu_after_call(r, site->ip);
	} else
		site_set_before_call(r, site);
}

static bool leave_path(const struct image *img, const struct task *task, struct cpu_regs *r,
		       const struct agent_scratch *s, bool made, int64_t result)
{
	uint64_t frame[CPU_FRAME_WORDS];
	const struct site *site = site_of_stub(img, s->ret);
	if (!site || remote_read(task->tid, s->sp, frame, sizeof(frame)) < 0)
		return false;
	record_set_native(r, s, frame, site, made, result);
	if (s->kind == KIND_RETURN)
		site_restore_frame(task, r->CPU_SP);
	return true;
}

uint64_t record_native_ip(struct tracer *t, const struct task *task, uint64_t ip)
{
	(void)t;
	const struct record_thread *th = recorded_of(task);
	const struct image *img = image_of(task);
	const struct site *site = img && image_has_agent(img) ? site_of_stub(img, ip) : NULL;
	struct agent_scratch s;
	bool inside = ip - AGENT_CODE < AGENT_CODE_SIZE || record_is_recorder(ip);
	if (!site && inside && th && read_scratch(task, th, &s))
		site = site_of_stub(img, s.ret);
	const uint64_t native = site ? site_native_of(img, ip) : 0;
	return native ? native : site ? site->ip : inside ? 0 : ip;
}

/* Reports the end of a call that a signal without a handler has interrupted, but only once for each call. */
static void interrupt(struct patch *p, struct record_thread *th, int64_t result)
{
	pid_t tid = th->tid;
	const struct mem live = tracer_mem_of(&p->t, &tid);
	if (th->reader.halted)
		return;
	reader_renew(&th->reader, &live);
	reader_interrupt(&th->reader, result, cpu_ticks());
	p->t.hold_current = true;
}

/*
 * Called for a signal without a handler. The thread stays in the agent, but the signal comes after its call, so the end
 * of the call is reported first.
 */
static void end_call(struct patch *p, struct record_thread *th, const struct task *task, const struct cpu_regs *r)
{
	struct agent_scratch s = {0};
	int64_t result;
	bool after = is_after_call(r->CPU_IP);
	if (!after && !read_scratch(task, th, &s))
		return;
	bool made = record_is_made(&s, r, &result), again = is_interrupted(r, &s, &result);
	th->reader.halted = th->reader.halted && again;
	record_look(p);
	if (again) {
		interrupt(p, th, result);
	} else if (made && th->reader.has_open) {
		reader_end(&th->reader, result, th->reader.open.t1 ? th->reader.open.t1 : cpu_ticks());
		p->t.hold_current = true;
	}
}

/*
 * Does what the agent has not done yet for a recorded vfork(2): puts the kept frame back on the thread's stack, because
 * the child may have overwritten it, releases it, and takes back the thread's row in the table of threads. Returns false if
 * the program's memory cannot be read or written.
 */
static bool settle_vfork(const struct task *task, const struct agent_scratch *s, const struct cpu_regs *r, bool made)
{
	struct agent_frame f;
	bool kept = vfork_frame_is_kept(r->CPU_IP);
	if (kept && (vfork_frame_read(task, s->kind, &f) < 0 ||
		     remote_write(task->tid, s->sp - offsetof(struct agent_frame, saved), &f, sizeof(f)) < 0))
		return false;
	if (kept || (!made && s->kind & KEPT_FIRST))
		vfork_frame_release(task, s->kind);
	return !agent_is_between(r->CPU_IP, agent_record_vfork_after, agent_record_settled) || record_take_back(task);
}

bool record_step_out(struct patch *p, struct task *task, struct cpu_regs *r, enum stepout_for what)
{
	struct record_thread *th = recorded_of(task);
	struct agent_scratch s;
	int64_t result;
	if (!th || !th->reader.ring || !record_is_on_path(r))
		return false;
	if (what == STEPOUT_UNSEEN) {
		end_call(p, th, task, r);
		return false;
	}
	if (!read_scratch(task, th, &s))
		return false;
	bool made = record_is_made(&s, r, &result);
	bool again = is_interrupted(r, &s, &result);
	th->reader.halted = th->reader.halted && again;
	record_look(p);
	if (s.kind == KIND_RETURN && !made && !th->reader.has_open)
		reader_repeats(&th->reader, s.sp);
	if (!settle_vfork(task, &s, r, made) || !leave_path(image_of(task), task, r, &s, made, result))
		return false;
	if (again && what == STEPOUT_CORE)
		return true;
	bool unfinished = p->t.detaching && (!made || again || task->mid_call);
	if (made && th->reader.has_open && !unfinished)
		complete(p, th, task, result, what == STEPOUT_CAUGHT);
	else if (!unfinished && reader_withdraw(&th->reader, cpu_ticks()))
		p->t.hold_current = true;
	close_ring(th, task);
	if (p->t.detaching)
		th->reader.ring = NULL; /* no records will be read after this */
	return true;
}

void record_end_interrupted(struct patch *p, const struct task *task, const struct cpu_regs *r, bool caught)
{
	struct record_thread *th = p->record ? recorded_of(task) : NULL;
	struct agent_scratch s;
	int64_t result = 0;
	if (!th || !th->reader.ring || !record_is_on_path(r) || !read_scratch(task, th, &s) ||
	    !is_interrupted(r, &s, &result))
		return;
	th->reader.halted = false;
	record_look(p);
	complete(p, th, task, result, caught);
}
