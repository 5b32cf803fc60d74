/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "decode/decode_capture.h"
#include "engine/patch/image/image.h"
#include "engine/patch/image/site.h"
#include "engine/patch/record/record.h"
#include "engine/ptrace/tracer.h"
#include "syscall/call_table.h"
#include "syscall/restart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Converts the records of threads to events, ordered by time. */
static void look_at(struct patch *p, struct record_thread *th)
{
	int err = reader_fill(&th->reader);
	/* The beginning of a call in progress is reported now. The call's input must be read before the call ends. */
	if (err == 0 && th->reader.ring && reader_wants_open(&th->reader)) {
		record_capture(p, th, -1, false);
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
	rec->sync_ticks = cpu_ticks();
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

void record_look_at(struct patch *p, struct record_thread *th)
{
	p->record->ordered = false;
	look_at(p, th);
}

static uint64_t to_ns(const struct patch *p, uint64_t ticks)
{
	double ago = (double)(int64_t)(p->record->sync_ticks - ticks) * p->tick_ns;
	return (uint64_t)((int64_t)p->record->sync_ns - (int64_t)ago);
}

/*
 * Returns the names in the record of an item, from before the call or from after it, or what is known of them without a record; NULL:
 * nothing.
 */
static const struct event_names *names_in(struct patch *p, const struct record_thread *th,
					  const struct record_item *item)
{
	struct event_names *names = NULL;
	if (p->record->names && item->live && item->kind == RECORD_EXIT)
		names = record_look_up_name(p, th, item->record);
	else if (p->record->names)
		names = record_names(p->record, item->record, item->kind == RECORD_ENTER);
	for (unsigned i = 0; names && i < names->n; i++) {
		const char *full = names->v[i].full;
		names->v[i].time_ns = to_ns(p, names->v[i].ticks);
		if (full && strncmp(full, "UNIX", 4) == 0 && strstr(full, "->"))
			record_tie(p);
	}
	return names;
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
	ssize_t kept = captured_read(&rec->before, addr, buf, n);
	size_t done = kept > 0 ? (size_t)kept : 0;
	ssize_t got = done < n ? rec->live.read(rec->live.ctx, addr + done, (char *)buf + done, n - done) : 0;
	return got > 0 ? got + (ssize_t)done : done ? (ssize_t)done : got;
}

static const struct mem *memory_of(struct patch *p, const struct record_thread *th, const struct record_item *item)
{
	struct record *rec = p->record;
	bool before = item->kind == RECORD_ENTER;
	rec->captures = record_captures(item->record);
	rec->before = (struct captured_memory){&rec->captures, true, 0};
	rec->after = (struct captured_memory){&rec->captures, false, 0};
	rec->mem_pid = th->tid;
	rec->live = tracer_mem_of(&p->t, &rec->mem_pid);
	/*
	 * The record of a call in progress lacks what does not fit into it. sctrace reads that from the program: the
	 * thread will stop after its call. execve(2) replaces the memory, so its record is always complete.
	 */
	bool lacks = before && !item->committed && item->record->nr != SYS_execve;
	if (!item->live && !lacks)
		rec->mem = (struct mem){.read = captured_read, .ctx = before ? &rec->before : &rec->after};
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
	c->nr = patch_number(p, rec->nr);
	c->desc = syscall_lookup(c->arch, c->nr);
	for (size_t i = 0; i < sizeof(c->args) / sizeof(*c->args); i++)
		c->args[i] = RECORD_HEAD_LEAST + i * sizeof(*c->args) < rec->head ? rec->args[i] : 0;
	c->ip = s ? s->ip : rec->ret;
	c->sp = rec->sp + BELOW_PROGRAM;
	c->result = 0;
	c->error = false;
	c->err = 0;
	c->wait = WAIT_UNKNOWN;
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
	/* The result of rt_sigreturn(2) is the interrupted program's value of CPU_RESULT. */
	c->error = (uint64_t)c->result >= (uint64_t)-4095 && c->nr != SYS_rt_sigreturn;
	c->err = c->error ? (int)-c->result : 0;
	/* A signal interrupts only calls that wait. */
	c->wait = c->error && IS_RESTART_ERROR(c->err)   ? WAIT_YES
		  : !(item->record->marks & MARK_JUDGED) ? WAIT_UNKNOWN
		  : item->record->marks & MARK_WAITED    ? WAIT_YES
							 : WAIT_NO;
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
	ev->absent = 0;
	ev->names = ev->names_before = NULL;
	if (item.kind == RECORD_ENTER) {
		ev->names = names_in(p, th, &item);
		ev->absent = record_absent(p, item.record);
		call_begins(p, th, &item);
		rec->reported_calls[item.record->nr]++;
		p->recorded++;
		if (is_whole(rec, &item)) {
			ev->kind = EV_CALL;
			ev->names_before = ev->names;
			ev->entry_mem = &rec->entry_mem;
			rec->entry_mem = (struct mem){captured_read, &rec->before};
			ev->captured = (const unsigned char *)item.record + item.record->head;
			ev->ncaptured = (size_t)item.record->size - item.record->head;
			reader_pop(&th->reader);
			item.kind = RECORD_EXIT;
			item.ticks = item.record->t1;
		}
	}
	if (item.kind == RECORD_EXIT) {
		call_ends(p, th, &item);
		ev->names = names_in(p, th, &item);
	}
	ev->tid = th->tid;
	ev->pid = th->pid;
	ev->time_ns = to_ns(p, item.ticks);
	ev->call = th->call;
	ev->launch = false;
	ev->comm = NULL;
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
	uint64_t now = cpu_ticks();
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

void record_capture_open(struct record_reader *r, const struct agent_recipe *recipe, const struct capture_source *from)
{
	struct capture_room room = {r->open_bytes, r->open.head, r->open.size, RECORD_MOST};
	decode_capture_rules(&room, from, recipe->op, recipe->n);
	r->open.size = (uint16_t)room.at;
}

void record_capture(const struct patch *p, struct record_thread *th, int64_t result, bool made)
{
	const unsigned char *tables = p->recorder + (MEMORY_AT - RECORDER_CODE);
	const struct agent_recipe *recipes =
		(const struct agent_recipe *)(const void *)(p->recorder + (RECIPES_AT - RECORDER_CODE));
	pid_t tid = th->tid;
	const struct mem live = tracer_mem_of(&p->t, &tid);
	record_capture_open(&th->reader, &recipes[th->reader.open.nr],
			    &(struct capture_source){(const struct memory_tables *)(const void *)tables,
						     th->reader.open.args, &live, p->record->string_max, result, made});
}
