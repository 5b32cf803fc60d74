/* SPDX-License-Identifier: MIT */
/*
 * The program can see its own state in the context of a handler, in an unwinder, after longjmp(3) and in a core dump.
 * In all these cases it must see the native state: the thread is either about to make its call, or has made it.
 */
#include "engine/patch/threads/threads.h"

#include "base/clock.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/region.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "engine/patch/remote/remote.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

static void out_of_stub(struct cpu_regs *r, const struct site *s)
{
	uint64_t off = r->CPU_IP - s->stub;
	bool down = off > STUB_LEA_DOWN && off < STUB_DECIDE;
	bool made = off == STUB_AFTER_CALL || off == STUB_MOVED ||
		    ((off == STUB_LEA_UP || off == STUB_DECIDE) && r->CPU_REFUSED == 0);
	if (down)
		r->CPU_SP += CPU_RED_ZONE;
	if (s->kind == SITE_EARLY && off >= STUB_EARLY && off - STUB_EARLY < s->moved)
		r->CPU_IP = s->ip - CPU_CALL_SIZE - s->moved + (off - STUB_EARLY);
	else if (s->kind == SITE_EARLY && off > STUB_EARLY && off < STUB_EXIT)
		site_set_before_call(r, s);
	else if (off > STUB_MOVED && off < STUB_EXIT)
		r->CPU_IP = s->ip + (off - STUB_MOVED < s->moved ? off - STUB_MOVED : s->moved);
	else if (made)
		cpu_after_call(r, s->ip);
	else
		site_set_before_call(r, s);
}

/* Returns the path that contains `ip`, or NULL. */
static const struct agent_path *path_at(uint64_t ip)
{
	for (int i = 0; i < AGENT_PATHS; i++)
		if (agent_is_between(ip, agent_paths[i].p4, agent_paths[i].end))
			return &agent_paths[i];
	return NULL;
}

/* Is `ip` the address after a system call instruction of the agent that can create a child? */
static bool is_after_fork(uint64_t ip)
{
	const struct agent_path *path = path_at(ip);
	return ip == AGENT_AT(path ? path->after : agent_record_vfork_after);
}

/* Has a thread that is about to make execve(2), or has just made it, set the image's exec word (state.h)? */
static bool has_set_exec_word(const struct cpu_regs *r, const struct agent_path *path, uint64_t slot)
{
	if (path)
		return slot & SLOT_F_EXEC && r->CPU_IP < AGENT_AT(path->gave);
	return (r->CPU_IP == AGENT_AT(agent_go_shared) && r->CPU_SLOT & SLOT_F_EXEC) ||
	       (agent_is_between(r->CPU_IP, agent_exec_taken, agent_exec_end) && cpu_exec_taken(r));
}

/*
 * Clears the exec word if the image has one. The thread's frame says that the thread has set this word, but the program
 * can write to the frame, so the image may not even have an exec word.
 */
static void clear_exec_word(const struct image *img)
{
	if (img->counters.words)
		__atomic_store_n(&img->counters.words->exec_t0, 0, __ATOMIC_RELAXED);
}

/* Reads the agent's frame, `skip` bytes above the stack pointer. If `skip` is negative, its first -skip bytes are not on the stack. */
static int read_frame(const struct task *task, const struct cpu_regs *r, int64_t skip, struct agent_frame *f)
{
	memset(f, 0, sizeof(*f));
	size_t from = skip < 0 ? (size_t)-skip : 0;
	uint64_t at = skip < 0 ? r->CPU_SP : r->CPU_SP + (uint64_t)skip;
	return remote_read(task->tid, at, (char *)f + from, sizeof(*f) - from);
}

/* Returns how many bytes of the frame, for an `ip` before the call, are not pushed yet or already popped. */
static int64_t missing_frame(uint64_t ip, const struct agent_path *path)
{
	/* The rows are in the order of their addresses. The last row that begins at or before `ip` applies. */
	const struct {
		const unsigned char *from;
		int64_t missing;
	} rows[] = {
		{agent_entry, 40},  {agent_p1, 32}, {agent_p2, 24},    {agent_p3, 16},
		{agent_refuse, 16}, {agent_r1, 40}, {agent_other, 16}, {agent_check, 16},
	};
	int64_t missing = 40;
	if (path)
		return ip < AGENT_AT(path->p6) ? 8 : 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (ip >= AGENT_AT(rows[i].from))
			missing = rows[i].missing;
	return missing;
}

/*
 * Undoes what the agent did before rt_sigreturn(2), even if that call has returned because its signal frame was
 * invalid. step_out_before_call() does the rest.
 */
static void out_of_sigreturn(const struct image *img, struct cpu_regs *r)
{
	bool counted = r->CPU_IP == AGENT_AT(agent_sigreturn_counted) || r->CPU_IP == AGENT_AT(agent_sigreturn_sys);
	struct agent_slot *slot = counted ? image_slot(img, r->CPU_SLOT) : NULL;
	if (slot)
		__atomic_sub_fetch(&slot->entered, 1, __ATOMIC_RELAXED);
	if (r->CPU_IP == AGENT_AT(agent_sigreturn_sys) || r->CPU_IP == AGENT_AT(agent_sigreturn_bad))
		r->CPU_SP -= offsetof(struct agent_frame, ret) - offsetof(struct agent_frame, saved) +
			     sizeof(uint64_t) + CPU_RED_ZONE;
}

/*
 * On the path of a call that creates a thread, sets the first two arguments to the program's values, and `r` to the beginning of the
 * code after the call if the call was made.
 */
static void out_of_thread(const struct task *task, struct cpu_regs *r)
{
	uint64_t args[2];
	const uint64_t ip = r->CPU_IP;
	if (agent_is_between(ip, agent_thread_saved, agent_thread_restored) &&
	    remote_read(task->tid, r->CPU_SP, args, sizeof(args)) == 0) {
		r->CPU_ARG0 = args[0];
		r->CPU_ARG1 = args[1];
		r->CPU_SP += sizeof(args);
	}
	if (agent_is_between(ip, AGENT_THREAD_PATH->after, AGENT_THREAD_PATH->end))
		r->CPU_IP = AGENT_AT(AGENT_THREAD_PATH->after);
}

/* On the path `query`, sets the first two arguments to the program's values, and `r` to the beginning of the code after the call as above. */
static void out_of_query(const struct task *task, struct cpu_regs *r)
{
	const uint64_t ip = r->CPU_IP;
	uint64_t second;
	if (path_at(ip) != AGENT_QUERY_PATH)
		return;
	r->CPU_ARG0 = SIGSYS;
	if (agent_is_between(ip, agent_query_saved, agent_query_restored) &&
	    remote_read(task->tid, r->CPU_SP, &second, sizeof(second)) == 0) {
		r->CPU_ARG1 = second;
		r->CPU_SP += sizeof(second);
	}
	if (ip > AGENT_AT(AGENT_QUERY_PATH->after))
		r->CPU_IP = AGENT_AT(AGENT_QUERY_PATH->after);
}

/* On the path `rseq`, sets `r` to the beginning of the code after the call if the call was made. */
static void out_of_rseq(struct cpu_regs *r)
{
	if (path_at(r->CPU_IP) == AGENT_RSEQ_PATH && r->CPU_IP > AGENT_AT(AGENT_RSEQ_PATH->after))
		r->CPU_IP = AGENT_AT(AGENT_RSEQ_PATH->after);
}

/* Undoes what the agent did before the call. */
static bool step_out_before_call(const struct image *img, const struct task *task, struct cpu_regs *r)
{
	struct agent_frame f;
	out_of_thread(task, r);
	out_of_query(task, r);
	uint64_t ip = r->CPU_IP;
	bool bad_frame = ip == AGENT_AT(agent_sigreturn_bad);
	uint64_t result = r->CPU_RESULT;
	out_of_sigreturn(img, r);
	const uint64_t reserved = vfork_frame_reserved(r);
	if (vfork_frame_restore(task, r) < 0)
		return false;
	if (ip == AGENT_AT(AGENT_VFORK_PATH->sys))
		r->CPU_SP -= sizeof(f) + CPU_RED_ZONE;
	const struct agent_path *path = path_at(ip);
	int64_t missing = missing_frame(ip, path);
	if (read_frame(task, r, -missing, &f) < 0)
		return false;
	struct site *s = site_of_stub(img, f.ret);
	if (!s)
		return false;
	vfork_frame_release(task, reserved);
	if (has_set_exec_word(r, path, f.slot))
		clear_exec_word(img);
	struct agent_slot *slot = path ? image_slot(img, f.slot) : NULL;
	if (slot && ip >= AGENT_AT(path->p5))
		__atomic_sub_fetch(&slot->entered, 1, __ATOMIC_RELAXED);
	if (missing <= 16)
		r->CPU_TICKS = f.saved;
	if (missing <= 24)
		cpu_set_flags(r, f.flags);
	/* At the call instruction itself, CPU_NR is not restored, because it may be the number of restart_syscall(2). */
	if (missing <= 32 && ip != AGENT_AT(agent_plain_sys) && !(path && ip == AGENT_AT(path->sys)))
		r->CPU_NR = f.nr;
	r->CPU_SP += sizeof(f) - (uint64_t)missing + CPU_RED_ZONE;
	site_set_before_call(r, s);
	if (f.nr == SYS_rt_sigreturn)
		site_restore_frame(task, r->CPU_SP);
	if (bad_frame) {
		r->CPU_RESULT = result;
		cpu_after_call(r, s->ip);
	}
	return true;
}

/* Adds a time to the histogram, the maximum and the minimum. */
static void add_time(struct agent_slot *slot, uint64_t ticks)
{
	unsigned shift = ticks < 16 ? 0 : 59 - (unsigned)__builtin_clzll(ticks);
	uint64_t b = 16 * shift + (ticks >> shift);
	__atomic_add_fetch(&slot->hist[b < SLOT_BUCKETS ? b : SLOT_BUCKETS - 1], 1, __ATOMIC_RELAXED);
	uint64_t old = __atomic_load_n(&slot->max, __ATOMIC_RELAXED);
	while (ticks > old &&
	       !__atomic_compare_exchange_n(&slot->max, &old, ticks, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	old = __atomic_load_n(&slot->min_not, __ATOMIC_RELAXED);
	while (~ticks > old &&
	       !__atomic_compare_exchange_n(&slot->min_not, &old, ~ticks, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * Makes the updates that the agent has not made yet when it is at `ip`. The agent's code after the call has no loop up
 * to the last update, so `ip` shows which updates were made (agent.S).
 */
static void finish_updates(const struct image *img, const struct agent_frame *f, const struct agent_path *path,
			   uint64_t ip, uint64_t ticks, int64_t result, uint64_t flags, bool waited)
{
	struct agent_slot *slot = image_slot(img, f->slot);
	bool error = (uint64_t)result >= (uint64_t)-4095;
	if (ip <= AGENT_AT(path->add_ticks))
		__atomic_add_fetch(&slot->ticks, ticks, __ATOMIC_RELAXED);
	if (!(flags & SLOT_F_ARMED)) {
		if (ip <= AGENT_AT(path->add_unarmed))
			__atomic_add_fetch(&slot->unarmed, 1, __ATOMIC_RELAXED);
	} else if (waited) {
		if (ip <= AGENT_AT(path->add_waits))
			__atomic_add_fetch(&slot->waits, 1, __ATOMIC_RELAXED);
		if (ip <= AGENT_AT(path->add_waited))
			__atomic_add_fetch(&slot->waited, ticks, __ATOMIC_RELAXED);
	}
	if (ip <= AGENT_AT(path->add_error) && error)
		__atomic_add_fetch(&slot->errors, 1, __ATOMIC_RELAXED);
	if (ip <= AGENT_AT(path->add_errno) && error)
		region_add_errno(img->counters.region, slot, (int64_t)f->nr, (unsigned)-result);
	if (ip <= AGENT_AT(path->add_bytes) && !error && flags & SLOT_F_BYTES)
		__atomic_add_fetch(&slot->bytes, (uint64_t)result, __ATOMIC_RELAXED);
	add_time(slot, ticks);
}

void stepout_exec(const struct image *img)
{
	uint32_t entry = img->counters.map[SYS_execve];
	struct agent_slot *slot = entry ? image_slot(img, AGENT_STATS - SLOT_ALIGN + entry) : NULL;
	uint64_t t0 = img->counters.words ? __atomic_load_n(&img->counters.words->exec_t0, __ATOMIC_RELAXED) : 0;
	uint64_t now = cpu_ticks();
	if (!slot || !t0)
		return;
	clear_exec_word(img);
	__atomic_add_fetch(&slot->unarmed, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&slot->ticks, now > t0 ? now - t0 : 0, __ATOMIC_RELAXED);
	add_time(slot, now > t0 ? now - t0 : 0);
}

/* Notes an interrupted call. Only rt_sigreturn(2) shows whether it is restarted (syscall/life.h). */
static void remember_interrupted(struct patch *p, struct task *task, const struct cpu_regs *r, const struct site *s,
				 const struct agent_frame *f, uint64_t ticks)
{
	thread_of(task)->call = (struct call){.arch = syscall_native_arch(),
					      .nr = (int64_t)f->nr,
					      .args = CPU_ARGS(r),
					      .ip = s->ip,
					      .sp = r->CPU_SP,
					      .error = true,
					      .err = (int)-(int64_t)r->CPU_RESULT,
					      .wait = f->slot & SLOT_F_ARMED ? WAIT_YES : WAIT_UNKNOWN};
	struct call *c = &thread_of(task)->call;
	const uint64_t ns = (uint64_t)((double)ticks * p->tick_ns);
	tracer_call_interrupted(&p->t, task, ns);
	if (!p->count_threads)
		return;
	/* The rest of the call will be an event, so its beginning is one as well. */
	c->desc = syscall_lookup(c->arch, c->nr);
	c->duration_ns = ns;
	c->enter_ns = clock_ns() - ns;
	struct event *begin = tracer_event(&p->t, EV_ENTER, task);
	begin->call = *c;
	begin->time_ns = c->enter_ns;
	tracer_event(&p->t, EV_EXIT, task)->call = *c;
}

/* Does the rest of the agent's work after a call. Not for a vfork(2) child that has not loaded its frame yet. */
static bool step_out_after_call(struct patch *p, struct task *task, struct cpu_regs *r, enum stepout_for what)
{
	const struct image *img = image_of(task);
	out_of_thread(task, r);
	out_of_query(task, r);
	out_of_rseq(r);
	uint64_t ip = r->CPU_IP;
	const struct agent_path *path = path_at(ip);
	struct agent_frame f;
	const uint64_t number = r->CPU_KEPT;
	bool kept = vfork_frame_is_kept(ip);
	bool first =
		ip == AGENT_AT(path->after) || kept || ip == AGENT_AT(agent_released) || ip == AGENT_AT(agent_loaded);
	/* At the path's end, only the return address is left on the stack, and for a short time the flags below it. */
	bool tail = ip >= AGENT_AT(path->ret);
	int64_t pushed = ip == AGENT_AT(path->pushed) ? sizeof(uint64_t) : 0;
	int64_t skip = first ? 0 : tail ? pushed - 40 : 8;
	uint64_t result = r->CPU_RESULT;
	if ((kept ? vfork_frame_read(task, number, &f) : read_frame(task, r, skip, &f)) < 0 ||
	    vfork_frame_restore(task, r) < 0)
		return false;
	if (!first && !tail && remote_read(task->tid, r->CPU_SP, &result, sizeof(result)) < 0)
		return false;
	if (kept && !vfork_frame_has_room(ip))
		r->CPU_SP -= sizeof(f) + CPU_RED_ZONE;
	struct site *s = site_of_stub(img, f.ret);
	struct agent_slot *slot = tail ? NULL : image_slot(img, f.slot);
	if (!s || (!tail && !slot))
		return false;
	uint64_t now = cpu_ticks();
	uint64_t ticks = now > f.t0 ? now - f.t0 : 0;
	/* From `timed` on, CPU_TICKS holds the time. After the histogram was updated, the time is no longer needed. */
	if (!first && ip >= AGENT_AT(path->timed) && ip <= AGENT_AT(path->add_hist))
		ticks = r->CPU_TICKS;
	bool child = slot && f.slot & SLOT_F_FORKS && result == 0;
	bool again = ip == AGENT_AT(path->after) && remote_restart_pending(r);
	/* A signal ends only calls that wait. Of other calls that are not judged yet, the stop hides whether they waited. */
	bool waited = f.slot & SLOT_F_WAITED || (ip <= AGENT_AT(path->judged) && (again || result == (uint64_t)-EINTR));
	uint64_t flags = waited || ip > AGENT_AT(path->judged) ? f.slot : f.slot & ~(uint64_t)SLOT_F_ARMED;
	bool fails = again && what == STEPOUT_CAUGHT && BECOMES_EINTR(-result);
	if (kept)
		vfork_frame_release(task, number);
	if (!tail && has_set_exec_word(r, path, f.slot))
		clear_exec_word(img);
	if (!tail) {
		r->CPU_TICKS = f.saved;
		r->CPU_RESULT = result;
		cpu_set_flags(r, f.flags);
	}
	r->CPU_SP += sizeof(f) + (uint64_t)skip + CPU_RED_ZONE;
	cpu_after_call(r, s->ip);
	/* In an image that has fallen back, the thread may have stopped at the beginning of a call that it restarts. */
	bool begins = p->t.detaching && task->mid_call && result == (uint64_t)-ENOSYS;
	if ((again && what == STEPOUT_CORE) || begins)
		return true;
	if (again && !fails) {
		__atomic_sub_fetch(&slot->entered, 1, __ATOMIC_RELAXED); /* from now on, the tracer counts the call */
		remember_interrupted(p, task, r, s, &f, ticks);
	} else if (slot && !child && ip <= AGENT_AT(path->add_hist))
		finish_updates(img, &f, path, ip, ticks, fails ? -EINTR : (int64_t)result, flags, waited);
	return true;
}

/* Like step_out_after_call(), for a call that is neither counted nor recorded. */
static bool step_out_after_plain(const struct task *task, struct cpu_regs *r)
{
	struct agent_frame f;
	uint64_t ip = r->CPU_IP;
	bool tail = ip >= AGENT_AT(agent_plain_ret);
	int64_t skip = !tail ? -16 : ip == AGENT_AT(agent_plain_pushed) ? -32 : -40;
	if (read_frame(task, r, skip, &f) < 0)
		return false;
	const struct site *s = site_of_stub(image_of(task), f.ret);
	if (!s)
		return false;
	if (!tail)
		cpu_set_flags(r, f.flags);
	if (!tail && ip != AGENT_AT(agent_plain_after))
		r->CPU_NR = f.nr;
	r->CPU_SP += sizeof(f) + (uint64_t)skip + CPU_RED_ZONE;
	cpu_after_call(r, s->ip);
	return true;
}

/*
 * Called for a child that is just after the agent's system call: changes its registers `r` to those after the native
 * call. If the child runs in its parent's memory, as after vfork(2), a kept frame still belongs to the parent.
 */
static bool leave_as_child(const struct task *task, struct cpu_regs *r)
{
	struct agent_frame f;
	bool kept = vfork_frame_is_kept(r->CPU_IP);
	if (r->CPU_IP == AGENT_AT(agent_record_child_up)) /* `saved` is on top of the stack */
		r->CPU_SP -= offsetof(struct agent_frame, saved);
	if ((kept ? vfork_frame_read(task, r->CPU_KEPT, &f) : read_frame(task, r, 0, &f)) < 0 ||
	    vfork_frame_restore(task, r) < 0)
		return false;
	const struct site *s = site_of_stub(image_of(task), f.ret);
	if (!s)
		return false;
	r->CPU_TICKS = f.saved;
	cpu_set_flags(r, f.flags);
	if (!kept || vfork_frame_has_room(r->CPU_IP))
		r->CPU_SP += sizeof(f) + CPU_RED_ZONE;
	cpu_after_call(r, s->ip);
	if (s->kind == SITE_LONG)
		r->CPU_IP = s->stub + STUB_AFTER_CALL;
	return true;
}

/*
 * Called for a thread that is about to make exit(2) where it always stops. The thread may have no stack, so it is not known
 * from which site it came. The call does not return, so any site will do.
 */
static bool out_of_exit(const struct task *task, struct cpu_regs *r)
{
	size_t i = 0;
	const struct site *s;
	while ((s = map_next(&image_of(task)->sites.by_ip, &i, NULL)))
		if (site_is_patched(s) && site_bytes_are(task, &s->change[s->nchanges - 1], true)) {
			site_set_before_call(r, s);
			return true;
		}
	return false;
}

static bool in_agent_mapping(const struct image *img, uint64_t ip)
{
	return (ip >= AGENT_CODE && ip < AGENT_CODE + AGENT_CODE_SIZE) || record_is_recorder(ip) ||
	       site_of_stub(img, ip);
}

void stepout(struct patch *p, struct task *task, enum stepout_for what)
{
	struct cpu_regs r;
	if (image_of(task) && cpu_get(task->tid, &r) == 0)
		stepout_from(p, task, &r, what);
}

void stepout_from(struct patch *p, struct task *task, struct cpu_regs *r, enum stepout_for what)
{
	struct image *img = image_of(task);
	struct site *s;
	bool moved = false;
	uint64_t ip = r->CPU_IP;
	if (!image_has_agent(img))
		return;
	if (p->record && record_step_out(p, task, r, what))
		moved = true;
	else if (!in_agent_mapping(img, ip)) {
		/* The thread is between the short jump and the stub, so nothing has been changed yet. */
		moved = (s = map_get(&img->sites.by_hop, ip)) != NULL;
		if (moved)
			site_set_before_call(r, s);
	} else if (what == STEPOUT_UNSEEN)
		return; /* nothing will see the position; if the call must be restarted, the agent does so */
	else if ((s = site_of_stub(img, ip))) {
		out_of_stub(r, s);
		moved = true;
	} else if (vfork_frame_is_child(r))
		moved = leave_as_child(task, r);
	else if (path_at(ip) && ip >= AGENT_AT(path_at(ip)->after))
		moved = step_out_after_call(p, task, r, what);
	else if (agent_is_between(ip, agent_plain_after, agent_plain_end))
		moved = step_out_after_plain(task, r);
	else if (ip < AGENT_AT(agent_pre_end))
		moved = step_out_before_call(img, task, r);
	else if (ip == AGENT_AT(agent_allowed_end) && r->CPU_NR == SYS_exit)
		moved = out_of_exit(task, r);
	if (!moved)
		return;
	struct cpu_regs to = *r;
	if (what == STEPOUT_HANDLER && site_follow_registers(img, &to) && remote_restart_pending(r))
		/*
		 * If the handler has SA_RESTART, the kernel moves the thread back by the size of a call instruction, so the
		 * handler returns to the call instruction of the stub. Otherwise it returns to the instruction after it, with EINTR.
		 */
		to.CPU_IP = site_moved_from(img, r->CPU_IP)->stub + STUB_AFTER_CALL;
	cpu_set(task->tid, &to);
}

/* The agent does not call for the tracer: its calls stop. */
bool stepout_knocks(uint64_t ip)
{
	(void)ip;
	return false;
}

enum knock stepout_knock(const struct task *task, const siginfo_t *si, struct cpu_regs *r)
{
	(void)task, (void)si, (void)r;
	return KNOCK_NONE;
}

bool stepout_waits(const struct cpu_regs *r)
{
	(void)r;
	return false;
}

void stepout_of_frame(struct patch *p, struct task *task)
{
	(void)p, (void)task;
}

bool stepout_needed(const struct task *task, uint64_t ip)
{
	const struct image *img = image_of(task);
	return img && image_has_agent(img) && (in_agent_mapping(img, ip) || map_get(&img->sites.by_hop, ip));
}

void stepout_child(struct task *task, bool copied)
{
	struct cpu_regs r;
	if (cpu_get(task->tid, &r) < 0 || !is_after_fork(r.CPU_IP))
		return;
	if ((vfork_frame_is_child(&r) || copied) && leave_as_child(task, &r))
		cpu_set(task->tid, &r);
}
