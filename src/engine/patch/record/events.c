/* Converts the records of threads to events, ordered by time. */
#include "engine/patch/record/record.h"

#include "base/clock.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/site.h"
#include "engine/ptrace/state/event.h"
#include "syscall/restart.h"
#include "syscall/table.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <x86intrin.h>

static void capture_bytes(struct record_reader *r, const struct mem *live, uint64_t addr, uint64_t n)
{
	unsigned char bytes[RECORD_MOST];
	ssize_t got = n ? mem_read(live, addr, bytes, n < sizeof(bytes) ? (size_t)n : sizeof(bytes)) : 0;
	void *to = got > 0 ? reader_capture_open(r, addr, (uint32_t)got) : NULL;
	if (to)
		memcpy(to, bytes, (size_t)got);
}

static void capture_string(struct record_reader *r, const struct mem *live, uint64_t addr)
{
	char text[PATH_MAX];
	int ended;
	ssize_t got = mem_string(live, addr, text, sizeof(text), &ended);
	void *to = got >= 0 ? reader_capture_open(r, addr, (uint32_t)(got + ended)) : NULL;
	if (!to)
		return;
	if (ended)
		text[got++] = 0;
	memcpy(to, text, (size_t)got);
}

/* Captures at most `most` of the `n` bytes in a socket's buffer, or all of them if they may be a netlink message. */
static void capture_sock_bytes(struct record_reader *r, const struct mem *live, uint64_t addr, uint64_t n,
			       uint64_t most)
{
	uint32_t first;
	bool all = n >= sizeof(first) && mem_get(live, addr, &first, sizeof(first)) == 0 && may_be_netlink(first, n);
	capture_bytes(r, live, addr, all || n < most ? n : most);
}

/* Captures a vector of buffers: at most `left` bytes in all, and at most `most` bytes of each buffer. */
static void capture_iovec(struct record_reader *r, const struct mem *live, uint64_t addr, uint64_t n, uint64_t left,
			  uint64_t most, bool socket)
{
	struct agent_iovec v;
	n = n <= IOVECS_MOST ? n : 0;
	capture_bytes(r, live, addr, n * sizeof(v));
	for (uint64_t i = 0; i < n && mem_get(live, addr + i * sizeof(v), &v, sizeof(v)) == 0; i++) {
		uint64_t len = v.len < left ? v.len : left;
		left -= len;
		if (socket)
			capture_sock_bytes(r, live, v.base, len, most);
		else
			capture_bytes(r, live, v.base, len < most ? len : most);
	}
}

/* Captures a message of which the call transferred `bytes`. The message's structure has `size` bytes. */
static void capture_message(struct record_reader *r, const struct mem *live, uint64_t addr, size_t size, uint64_t bytes,
			    uint64_t most)
{
	struct agent_message m;
	if (mem_get(live, addr, &m, size) != 0)
		return;
	uint64_t control = m.controllen < CONTROL_LEAST ? CONTROL_LEAST : m.controllen;
	capture_bytes(r, live, addr, size);
	capture_bytes(r, live, m.name, m.namelen < ADDRESS_MOST ? m.namelen : ADDRESS_MOST);
	if (m.controllen)
		capture_bytes(r, live, m.control, control < CONTROL_MOST ? control : CONTROL_MOST);
	capture_iovec(r, live, m.iov, m.iovlen, bytes, most, true);
}

/* Captures the message or messages of a call. */
static void capture_messages(const struct record *rec, struct record_reader *r, const struct mem *live, int64_t result,
			     unsigned rule, unsigned arg)
{
	const uint64_t *args = r->open.args;
	bool out = rule == RECIPE_OUT_MSG || rule == RECIPE_OUT_MMSG,
	     one = rule == RECIPE_MSG || rule == RECIPE_OUT_MSG;
	uint64_t done = result > 0 ? (uint64_t)result : 0, n = one ? 1 : out ? done : (uint32_t)args[arg + 1];
	struct agent_message m;
	if (out && result < 0)
		return;
	size_t size = one ? MESSAGE_SIZE : sizeof(m);
	/* The kernel transfers at most this number of messages, but a program can pass any number. */
	n = n < IOVECS_MOST ? n : IOVECS_MOST;
	for (uint64_t addr = args[arg]; n > 0 && r->open.size < RECORD_MOST - size; n--, addr += sizeof(m)) {
		if (mem_get(live, addr, &m, size) != 0)
			return;
		capture_message(r, live, addr, size, !out ? UINT64_MAX : one ? done : m.bytes, rec->string_max);
	}
}

static void capture_sigset_pair(struct record_reader *r, const struct mem *live, uint64_t addr)
{
	uint64_t set;
	capture_bytes(r, live, addr, 2 * sizeof(set));
	if (mem_get(live, addr, &set, sizeof(set)) == 0)
		capture_bytes(r, live, set, sizeof(set));
}

static void capture_clone_results(struct record_reader *r, const struct mem *live, uint64_t addr)
{
	struct agent_clone_args args;
	if (mem_get(live, addr, &args, sizeof(args)) < 0)
		return;
	if (args.flags & AGENT_PARENT_SETTID)
		capture_bytes(r, live, args.parent_tid, sizeof(int32_t));
	if (args.flags & AGENT_PIDFD)
		capture_bytes(r, live, args.pidfd, sizeof(int32_t));
}

/* Returns how many bytes of a socket's buffer the call transferred. */
static uint64_t transferred(const struct agent_record *c, int64_t result, unsigned rule, unsigned arg)
{
	uint64_t done = result > 0 ? (uint64_t)result : 0, n = c->args[arg + 1];
	return rule == RECIPE_SOCK_BYTES || n < done ? n : done;
}

/* Captures the memory that one operation of the recipe names. */
static void capture(const struct patch *p, struct record_reader *r, const struct mem *live, int64_t result,
		    unsigned rule, unsigned arg, uint64_t size)
{
	const struct agent_command *row =
		(const struct agent_command *)(const void *)(p->recorder + (COMMANDS_AT - RECORDER_CODE)) + size;
	uint64_t addr = r->open.args[arg];
	if (rule == RECIPE_COMMAND) {
		while (row->rule != RECIPE_END && row->command != (uint32_t)r->open.args[arg - 1])
			row++;
		rule = row->rule;
		size = row->size;
	}
	/* What the recorder captures before the call is already in the record. */
	if (!addr || rule == RECIPE_PATH || rule == RECIPE_POINTERS || rule == RECIPE_STRINGS)
		return;
	if (rule == RECIPE_STRING)
		capture_string(r, live, addr);
	else if (rule == RECIPE_IN_IOVEC || (rule == RECIPE_OUT_IOVEC && result >= 0))
		capture_iovec(r, live, addr, r->open.args[arg + 1],
			      rule == RECIPE_IN_IOVEC ? UINT64_MAX : (uint64_t)result, p->record->string_max, false);
	else if (rule == RECIPE_SOCK_BYTES || rule == RECIPE_OUT_SOCK_BYTES)
		capture_sock_bytes(r, live, addr, transferred(&r->open, result, rule, arg), p->record->string_max);
	else if (rule == RECIPE_SIGSET_PAIR)
		capture_sigset_pair(r, live, addr);
	else if (rule == RECIPE_CLONE_ARGS && result >= 0)
		capture_clone_results(r, live, addr);
	else if (rule == RECIPE_CLONE_TID)
		capture_bytes(r, live, addr, result >= 0 && clone_writes(r->open.args[0]) ? sizeof(int32_t) : 0);
	else if (rule >= RECIPE_MSG)
		capture_messages(p->record, r, live, result, rule, arg);
	else
		capture_bytes(r, live, addr,
			      recipe_bytes(rule, arg, size, r->open.args, result, p->record->string_max));
}

void record_capture(const struct patch *p, struct record_thread *th, int64_t result)
{
	struct record_reader *r = &th->reader;
	const struct agent_recipe *recipe =
		(const struct agent_recipe *)(const void *)(p->recorder + RECORDER_ROOM) + r->open.nr;
	pid_t tid = th->tid;
	const struct mem live = tracer_mem_of(&p->t, &tid);
	for (unsigned i = 0; i < recipe->n; i++)
		capture(p, r, &live, result, recipe->op[i].rule, recipe->op[i].arg, recipe->op[i].size);
}

static void look_at(struct patch *p, struct record_thread *th)
{
	int err = reader_fill(&th->reader);
	/* The beginning of a call in progress is reported now. The call's input must be read before the call ends. */
	if (err == 0 && th->reader.ring && reader_wants_open(&th->reader)) {
		record_capture(p, th, -1);
		reader_verify_open(&th->reader);
	}
	if (err == -EPROTO && !p->record->overwritten) {
		p->record->overwritten = true;
		tracer_note(&p->t, "the program overwrote the records of thread %d; some of its calls are missing",
			    (int)th->tid);
	}
}

/*
 * The kernel restarts an interrupted call when the thread has received all its signals, unless one of these stops the
 * thread or ends it. The tracer cannot see the restart. The restart normally happens much less than a millisecond after
 * the thread was resumed. So the tracer assumes, one millisecond after it resumed the thread, that the call was
 * restarted, and reports the restarted call.
 */
static void note_restart(const struct patch *p, struct record_thread *th)
{
	struct record_reader *r = &th->reader;
	const struct task *task = th->task;
	uint64_t now = p->record->sync_ticks;
	if (!r->halted || !task)
		return;
	if (task->stopped || task->listening)
		r->went_on = now;
	else
		r->halted = (double)(int64_t)(now - r->went_on) * p->tick_ns < (double)NSEC_PER_SEC / 1000;
}

enum flow record_flow(struct tracer *t)
{
	const struct record *rec = patch_of(t)->record;
	uint64_t most = 0;
	for (size_t i = 0; rec && i < rec->threads.n; i++) {
		uint64_t waiting = reader_waiting(&rec->threads.v[i]->reader);
		most = waiting > most ? waiting : most;
	}
	return !rec || most < rec->limit / 8 ? FLOW_FEW : most < rec->limit / 4 ? FLOW_MANY : FLOW_FAST;
}

void record_look(struct patch *p)
{
	struct record *rec = p->record;
	rec->ordered = false;
	rec->sync_ns = clock_ns();
	rec->sync_ticks = __rdtsc();
	/*
	 * Measures the length of a tick again, because the calibration may have failed, and because the measurement
	 * becomes more exact the longer the run is.
	 */
	if (rec->sync_ns - p->ns0 > NSEC_PER_SEC / 1000)
		p->tick_ns = (double)(rec->sync_ns - p->ns0) / (double)(rec->sync_ticks - p->tsc0);
	for (size_t i = 0; i < rec->threads.n; i++) {
		note_restart(p, rec->threads.v[i]);
		look_at(p, rec->threads.v[i]);
	}
}

static uint64_t to_ns(const struct patch *p, uint64_t ticks)
{
	double ago = (double)(int64_t)(p->record->sync_ticks - ticks) * p->tick_ns;
	return (uint64_t)((int64_t)p->record->sync_ns - (int64_t)ago);
}

/* Returns the time of the thread's next item. */
static uint64_t turn_of(const struct record_thread *th)
{
	struct record_item item = reader_peek(&th->reader);
	return item.kind == RECORD_NONE ? UINT64_MAX : item.ticks;
}

/* Restores the order of the heap if thread `i` is later than the threads below it (Knuth, TAOCP 3, 5.2.3). */
static void sift(struct record *rec, size_t i)
{
	struct record_thread **v = rec->threads.v, *th = v[i];
	for (size_t below; (below = 2 * i + 1) < rec->threads.n; i = below) {
		below += below + 1 < rec->threads.n && v[below + 1]->turn < v[below]->turn;
		if (v[below]->turn >= th->turn)
			break;
		v[i] = v[below];
	}
	v[i] = th;
}

/* Makes `threads` a heap by the times of the next items. Removes ended threads that have nothing more to report. */
static void order(struct record *rec)
{
	for (size_t i = 0; i < rec->threads.n; i++) {
		struct record_thread *th = rec->threads.v[i];
		th->turn = turn_of(th);
		if (th->turn == UINT64_MAX && th->reader.ended) {
			rec->threads.v[i--] = rec->threads.v[--rec->threads.n];
			record_thread_free(th);
		}
	}
	for (size_t i = rec->threads.n / 2; i-- > 0;)
		sift(rec, i);
	rec->ordered = true;
}

/* Removes the item that was reported last, and moves its thread to its new position in the heap. */
static void pop(struct record *rec)
{
	struct record_thread *th = rec->reported;
	rec->reported = NULL;
	reader_pop(&th->reader);
	th->turn = turn_of(th);
	if (th->turn == UINT64_MAX && th->reader.ended)
		rec->ordered = false;
	else if (rec->ordered)
		sift(rec, 0);
}

/* Reads memory as it was before a call: from the captures of that time, and other memory from the program. */
static ssize_t read_entered(void *record, uint64_t addr, void *buf, size_t n)
{
	struct record *rec = record;
	ssize_t kept = captures_read_before(rec->mem_record, addr, buf, n);
	size_t done = kept > 0 ? (size_t)kept : 0;
	ssize_t got = done < n ? rec->live.read(rec->live.ctx, addr + done, (char *)buf + done, n - done) : 0;
	return got > 0 ? got + (ssize_t)done : done ? (ssize_t)done : got;
}

static const struct mem *memory_of(struct patch *p, const struct record_thread *th, const struct record_item *item)
{
	struct record *rec = p->record;
	bool before = item->kind == RECORD_ENTER;
	rec->mem_record = (void *)(uintptr_t)item->record;
	rec->mem_pid = th->tid;
	rec->live = tracer_mem_of(&p->t, &rec->mem_pid);
	/*
	 * The record of a call in progress lacks what does not fit into it. sctrace reads that from the program: the
	 * thread will stop after its call. execve(2) replaces the memory, so its record is always complete.
	 */
	bool lacks = before && !item->committed && item->record->nr != SYS_execve;
	if (!item->live && !lacks)
		rec->mem = (struct mem){.read = before ? captures_read_before : captures_read, .ctx = rec->mem_record};
	else if (before && item->record->size > item->record->head)
		rec->mem = (struct mem){.read = read_entered, .ctx = rec};
	else
		rec->mem = rec->live;
	return &rec->mem;
}

/*
 * Fills in *c for the call of a record. The members are set one by one: a copy of a whole struct just after its members
 * were set has to wait until all of them are in the cache.
 */
static void call_of(const struct patch *p, const struct record_thread *th, const struct agent_record *rec,
		    uint64_t began, struct call *c)
{
	const struct site *s = th->task ? site_of_stub(th->image, rec->ret) : NULL;
	c->arch = syscall_native_arch();
	c->foreign = false;
	c->nr = (int64_t)rec->nr;
	c->desc = syscall_lookup(c->arch, c->nr);
	for (size_t i = 0; i < sizeof(c->args) / sizeof(*c->args); i++)
		c->args[i] = RECORD_HEAD_LEAST + i * sizeof(*c->args) < rec->head ? rec->args[i] : 0;
	c->ip = s ? s->ip : rec->ret;
	c->sp = rec->sp + BELOW_PROGRAM;
	c->result = 0;
	c->error = false;
	c->err = 0;
	c->enter_ns = to_ns(p, began);
	c->duration_ns = 0;
	/* A disturbed calibration can give a cost below zero. */
	c->cost_ns = p->fast.ns > 0 ? (uint64_t)p->fast.ns : 0;
	c->spread_ns = (uint64_t)p->fast.spread_ns;
	c->restart = c->withdrawn = c->injected = c->delayed = false;
}

static void call_begins(const struct patch *p, struct record_thread *th, const struct record_item *item)
{
	struct life_ends ends; /* an argument that life_enter() needs; its result is not used */
	call_of(p, th, item->record, item->began, &th->call);
	th->call.restart = item->continued;
	/*
	 * Some calls of a handler may be recorded while others stop. The same is true for the restart of the call that
	 * the handler interrupted. `life` must see all these calls, because they belong to one thread.
	 */
	if (!th->task)
		return;
	life_enter(&thread_of(th->task)->life, &th->call, &ends);
	if (th->call.restart) /* the handler has returned */
		image_note_frames(th->task);
}

static void call_ends(const struct patch *p, struct record_thread *th, const struct record_item *item)
{
	struct call *c = &th->call;
	struct life_ends ends;
	c->result = item->record->result;
	c->withdrawn = item->withdrawn;
	/* The result of rt_sigreturn(2) is the interrupted program's value of rax. */
	c->error = (uint64_t)c->result >= (uint64_t)-4095 && c->nr != SYS_rt_sigreturn;
	c->err = c->error ? (int)-c->result : 0;
	c->duration_ns = item->ticks > item->began ? (uint64_t)((double)(item->ticks - item->began) * p->tick_ns) : 0;
	/* If the call was not made, the same call after the signal handler is not a restart. */
	if (!th->task || !c->error || !IS_RESTART_ERROR(c->err) || (item->caught && BECOMES_EINTR(c->err)) ||
	    (c->withdrawn && !c->restart))
		return;
	life_exit(&thread_of(th->task)->life, c, c->duration_ns, &ends);
	/* The tracer must see how the handler returns. The thread is held until this event has been reported. */
	image_note_frames(th->task);
}

/*
 * Returns true if the call of this record has returned before the next item of any other thread, and no signal has
 * interrupted it. `item` is the beginning of the call, and the next item of the first thread in the heap.
 */
static bool is_whole(const struct record *rec, const struct record_item *item)
{
	const struct agent_record *r = item->record;
	for (size_t i = 1; i < 3 && i < rec->threads.n; i++)
		if (rec->threads.v[i]->turn < r->t1)
			return false;
	bool error = r->result < 0 && r->result >= -4095; /* the program may have written any number there */
	bool signal = error && IS_RESTART_ERROR((int)-r->result);
	return item->committed && !item->live && !item->continued && !signal;
}

bool record_next(struct tracer *t, struct event *ev)
{
	static const enum event_kind kinds[] = {
		[RECORD_ENTER] = EV_ENTER, [RECORD_EXIT] = EV_EXIT, [RECORD_VANISH] = EV_VANISH};
	struct patch *p = patch_of(t);
	struct record *rec = p->record;
	if (!rec)
		return false;
	if (rec->reported)
		pop(rec);
	if (!rec->ordered)
		order(rec);
	struct record_thread *th = rec->threads.n ? rec->threads.v[0] : NULL;
	if (!th || th->turn == UINT64_MAX)
		return false;
	struct record_item item = reader_peek(&th->reader);
	/* The members of other kinds of events are not changed: clearing them takes longer than setting these. */
	ev->kind = kinds[item.kind];
	if (item.kind == RECORD_ENTER) {
		call_begins(p, th, &item);
		rec->reported_calls[item.record->nr]++;
		if (is_whole(rec, &item)) {
			ev->kind = EV_CALL;
			ev->entry_mem = &rec->entry_mem;
			rec->entry_mem = (struct mem){captures_read_before, (void *)(uintptr_t)item.record};
			reader_pop(&th->reader);
			item.kind = RECORD_EXIT;
			item.ticks = item.record->t1;
		}
	}
	if (item.kind == RECORD_EXIT)
		call_ends(p, th, &item);
	ev->tid = th->tid;
	ev->pid = th->pid;
	ev->time_ns = to_ns(p, item.ticks);
	ev->call = th->call;
	ev->launch = false;
	ev->mem = memory_of(p, th, &item);
	rec->reported = th;
	return true;
}

void record_thread_free(struct record_thread *th)
{
	reader_free(&th->reader);
	free(th);
}

/* Stores the call sites in the records now, because the image may not exist any more when these are reported. */
static void name_sites(struct record_thread *th)
{
	struct record_reader *r = &th->reader;
	for (size_t k = r->at; k < r->n || (k == r->n && r->has_open);) {
		struct agent_record *rec = k == r->n ? &r->open : (struct agent_record *)(void *)(r->bytes + k);
		const struct site *s = site_of_stub(th->image, rec->ret);
		rec->ret = s ? s->ip : rec->ret;
		k += rec->size;
	}
}

/* Reads no more records of the task, which has ended or has a new image. */
static void leave(struct patch *p, struct task *task, struct record_thread *th)
{
	p->record->ordered = false;
	const struct agent_record *open = &th->reader.open;
	/* The thread ended just after its call. The end of the call is reported, but the memory it wrote is lost. */
	if (th->reader.has_open && open->t1)
		reader_complete(&th->reader, open->result, open->t1, RECORD_LIVE);
	name_sites(th);
	th->reader.ended = true;
	/* The last record_look() was after the thread's end, but before the event that reports this end. */
	th->reader.ended_at = p->t.detaching ? 0 : p->record->sync_ticks;
	th->reader.ring = NULL;
	record_dismiss(p, th);
	th->task = NULL;
	patch_task_of(task)->recorded = NULL;
}

bool record_exec(struct patch *p, struct task *task)
{
	struct record_thread *th = recorded_of(task);
	struct thread *k = thread_of(task);
	if (!th)
		return false;
	look_at(p, th);
	const struct agent_record *open = &th->reader.open;
	bool recorded = th->reader.has_open && open->nr == SYS_execve && !open->t1;
	uint64_t now = __rdtsc();
	if (recorded) {
		call_of(p, th, open, open->t0, &k->call);
		k->call.duration_ns = now > open->t0 ? (uint64_t)((double)(now - open->t0) * p->tick_ns) : 0;
	}
	leave(p, task, th);
	if (recorded)
		th->reader.ended_at = 0; /* the end of the call is not reported from its record */
	return recorded;
}

void record_leave(struct patch *p, struct task *task)
{
	struct record_thread *th = recorded_of(task);
	if (!th)
		return;
	look_at(p, th);
	leave(p, task, th);
}
