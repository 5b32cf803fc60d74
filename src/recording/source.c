/* SPDX-License-Identifier: MIT */
#include "recording/source.h"

#include "base/memory.h"
#include "syscall/call_table.h"

#include <string.h>

/* A recording as a source of events: reads the items of a block, and provides the engine that delivers the events. */
static void get_thread(struct recording *r)
{
	pid_t tid = (pid_t)item_get(&r->at), pid = (pid_t)item_get(&r->at);
	struct block_thread *th = r->nthreads < r->threads.n ? r->threads.v[r->nthreads] : NULL;
	if (r->at.bad || tid <= 0 || pid <= 0 || r->nthreads == RECORDING_THREADS_MOST) {
		r->at.bad = true;
		return;
	}
	if (!th) {
		th = memory_zeroed(1, sizeof(*th));
		vec_push(&r->threads, th);
	}
	r->nthreads++;
	th->tid = tid;
	th->pid = pid;
	th->calls = (struct item_calls){0};
	buf_clear(&th->captures);
	th->entry = 0;
}

/* Only the position of the frame is stored. The frame is read when it is needed. */
static void skip_frame(struct recording *r)
{
	size_t n;
	vec_push(&r->frames, r->at.at);
	for (int i = 0; i < 4; i++)
		(void)item_get(&r->at);
	for (int i = 0; i < 3; i++)
		if (item_get(&r->at))
			(void)item_get_text(&r->at, &n);
}

/* No call lasts so long, 73 years. With smaller figures, no sum or multiple of them overflows. */
#define NS_MOST (UINT64_MAX / 8)

static void get_entry_captures(struct recording *r, struct block_thread *th, const struct call *c)
{
	buf_clear(&th->captures);
	item_get_captures(&r->at, c, &th->captures, true);
	th->entry = th->captures.len;
}

static void get_call(struct recording *r, struct block_thread *th, struct event *ev)
{
	struct item_reader *at = &r->at;
	item_get_call(at, &th->calls, ev);
	struct call *c = &ev->call;
	uint64_t since = (uint64_t)item_get_signed(at);
	c->enter_ns = ev->time_ns - since;
	if (ev->kind != EV_ENTER) {
		c->duration_ns = since + (uint64_t)item_get_signed(at);
		c->result = item_get_signed(at);
		c->err = c->error && !c->err ? (int)-(uint64_t)c->result : c->err;
	}
	at->bad |= c->duration_ns > NS_MOST || c->cost_ns > NS_MOST || c->spread_ns > NS_MOST;
	if (ev->kind == EV_ENTER || ev->kind == EV_CALL)
		get_entry_captures(r, th, c);
	else
		buf_truncate(&th->captures, th->entry);
	if (ev->kind != EV_ENTER)
		item_get_captures(at, c, &th->captures, false);
	r->captures = (struct captured_list){(const unsigned char *)th->captures.s, 0, th->captures.len};
	r->before.at = r->after.at = 0;
	r->mem.ctx = ev->kind == EV_ENTER ? &r->before : &r->after;
	ev->mem = &r->mem;
	ev->entry_mem = ev->kind == EV_CALL ? &r->entry_mem : NULL;
}

/* Reads the captures of the start of a call whose end follows, and whose start is in another block. */
static void get_memory(struct recording *r)
{
	static const struct call none;
	uint64_t index = item_get(&r->at);
	if (index < r->nthreads)
		get_entry_captures(r, r->threads.v[index], &none);
	else
		r->at.bad = true;
}

static void get_signal(struct recording *r, struct event *ev)
{
	size_t n;
	ev->ip = item_get(&r->at);
	const char *bytes = item_get_text(&r->at, &n);
	memcpy(&ev->sig, bytes, n < sizeof(ev->sig) ? n : sizeof(ev->sig));
}

static void get_event(struct recording *r, unsigned item, struct event *ev)
{
	uint64_t index = item_get(&r->at);
	r->time_ns += (uint64_t)item_get_signed(&r->at);
	if (index >= r->nthreads) {
		r->at.bad = true;
		return;
	}
	struct block_thread *th = r->threads.v[index];
	*ev = (struct event){.kind = (enum event_kind)(item - ITEM_ENTER + EV_ENTER),
			     .tid = th->tid,
			     .pid = th->pid,
			     .time_ns = r->time_ns};
	if (item <= ITEM_VANISH || item == ITEM_CALL)
		get_call(r, th, ev);
	else if (item == ITEM_SIGNAL || item == ITEM_STOP)
		get_signal(r, ev);
	else if (item == ITEM_NEW_TASK || item == ITEM_EXEC) {
		ev->child = (pid_t)item_get(&r->at);
		ev->is_thread = item_get(&r->at) != 0;
	} else if (item == ITEM_DEATH) {
		ev->status = (int)item_get(&r->at);
		uint64_t flags = item_get(&r->at);
		ev->is_process = flags & DEATH_PROCESS;
		ev->cpu_ns = flags & DEATH_USAGE ? item_get(&r->at) : 0;
		ev->peak_rss_bytes = flags & DEATH_USAGE ? item_get(&r->at) : 0;
	}
}

/* Reads the next item. Returns true if it is an event. */
static bool next_item(struct recording *r, struct event *ev)
{
	unsigned item = *r->at.at++;
	if (item >= ITEM_ENTER && item <= ITEM_CALL)
		get_event(r, item, ev);
	else if (item == ITEM_THREAD)
		get_thread(r);
	else if (item == ITEM_NAME)
		recording_learn(r, &r->at);
	else if (item == ITEM_FRAME)
		skip_frame(r);
	else if (item == ITEM_MEMORY)
		get_memory(r);
	else if (item == ITEM_END) {
		recording_end_get(&r->result, &r->footer, &r->at);
		r->complete = !r->at.bad && !r->cut;
		r->continues = r->complete && (r->at.at < r->at.end || recording_fill(r));
	} else
		r->at.bad = true;
	return item >= ITEM_ENTER && item <= ITEM_CALL && !r->at.bad;
}

static int engine_next(struct engine *e, struct event *ev)
{
	struct recording *r = (struct recording *)e;
	if (r->told)
		r->frames.n = 0;
	r->told = false;
	while (!r->damaged && !r->complete) {
		if (r->at.at == r->at.end && recording_next_block(r) <= 0)
			return 0;
		if (r->at.at < r->at.end && next_item(r, ev)) {
			r->told = true;
			return 1;
		}
		/* If the file ends within an item, the recording is incomplete but not damaged. */
		r->damaged = r->at.bad && !r->cut;
		if (r->at.bad)
			return 0;
	}
	return 0;
}

static void engine_result(const struct engine *e, struct engine_result *result)
{
	*result = ((const struct recording *)e)->result;
}

/* Is this the name of an engine? Names from a file that is damaged are not printed. */
static bool is_name(const char *s)
{
	size_t len = s ? strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
	return len > 0 && len < 32 && !s[len];
}

static void engine_footer(const struct engine *e, struct buf *text)
{
	const struct recording *r = (const struct recording *)e;
	if (r->footer.len)
		buf_adds(text, buf_str(&r->footer));
	else
		buf_addf(text, "engine: %s", is_name(r->head.about.engine) ? r->head.about.engine : "unknown");
}

static void engine_stop(struct engine *e)
{
	(void)e; /* recording_close_read() frees the engine */
}

/* A recording has no counts and no processes, so collect(), detach() and kill() are never called. */
static const struct engine_ops recording_ops = {.name = "recording",
						.purpose = "the events of a recording",
						.caps = CAP_EVENTS,
						.next = engine_next,
						.result = engine_result,
						.footer = engine_footer,
						.stop = engine_stop};

struct engine *recording_engine(struct recording *r)
{
	r->ops = recording_ops;
	/* Tables and saved runs name the engine that made the recording, which may be unknown to this build. */
	if (is_name(r->head.about.engine))
		r->ops.name = r->head.about.engine;
	r->before = (struct captured_memory){&r->captures, true, 0};
	r->after = (struct captured_memory){&r->captures, false, 0};
	r->mem = r->entry_mem = (struct mem){.read = captured_read, .ctx = &r->before};
	r->engine.ops = &r->ops;
	return &r->engine;
}
