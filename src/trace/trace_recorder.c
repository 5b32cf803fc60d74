/* SPDX-License-Identifier: MIT */
#include "trace/trace_recorder.h"

#include "syscall/call_table.h"
#include "trace/trace_stack.h"
#include "tracee/names.h"
#include "tracee/uring.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>

/* The sink's data for a thread. */
struct recorded {
	struct recording_thread thread;
	struct trace_line line; /* only `memo` and `given` are used, so it need not be freed */
	struct recording_asked_thread asked;
	bool has_stack; /* the stack of the call in progress was recorded at the call's entry */
};

/* Notes that names of descriptors, threads or processes may have changed, if the call can change them. */
static void note_changes(struct trace_recorder *r, const struct call *c)
{
	const struct syscall_changed changed = syscall_changed(c);
	if (changed.what == CHANGES_FDS || changed.what == CHANGES_ADDRESSES)
		recording_asked_changed_fds(&r->asked, changed.first, changed.last);
	else if (changed.what != CHANGES_NOTHING)
		recording_asked_changed(&r->asked, !c->desc || c->nr == SYS_prctl);
}

/*
 * Looks up names that other sinks may need but decoders do not look up: those of the thread and its process, and those
 * of the files behind descriptors, for -P, --by=fd and --by=path.
 */
static void ask_names(struct trace_recorder *r, struct recorded *own, struct trace_task *k, const struct event *ev)
{
	const struct names *n = &r->asked.names.names;
	struct trace_subject *s = &k->subject;
	buf_clear(&r->scratch);
	if (recording_asked_comm(&r->asked, &own->asked)) {
		n->comm(n->ctx, ev->tid, &r->scratch);
		n->comm(n->ctx, ev->pid, &r->scratch);
	}
	/* --io needs the names of the files that requests of io_uring have opened. */
	for (size_t i = 0; ev->uring && i < ev->uring->completions.n; i++)
		if (uring_opens(&ev->uring->completions.v[i]))
			n->fd_in_full(n->ctx, ev->tid, ev->uring->completions.v[i].result, &r->scratch);
	if (!trace_begins(ev))
		return;
	const struct trace_ref *ref = trace_subject_refs(s);
	for (unsigned i = 0; i < s->n; i++, ref++)
		if ((ref->fd >= 0 || ref->fd == AT_FDCWD) && !recording_asked_has(&own->asked, ref->fd))
			n->fd_in_full(n->ctx, ev->tid, ref->fd, &r->scratch);
}

/*
 * Returns the captures of a call: those of the engine, or those that are made now. At the end of a call, they include those
 * from its start.
 */
static struct captured_list capture(struct trace_recorder *r, const struct recorded *own, const struct event *ev)
{
	struct decode_captures *c = &r->capturing;
	const struct buf *entry = &own->thread.entry;
	const struct mem *before = ev->kind == EV_CALL ? ev->entry_mem : ev->mem;
	if (ev->kind == EV_CALL && ev->captured)
		return (struct captured_list){ev->captured, 0, ev->ncaptured};
	decode_captures_clear(c);
	if (trace_begins(ev) && before)
		decode_capture_enter(c, &ev->call, before);
	else if (!trace_begins(ev))
		decode_captures_add_list(c, &(struct captured_list){(const unsigned char *)entry->s, 0, entry->len});
	if (trace_returns(ev) && ev->mem)
		decode_capture_exit(c, &ev->call, ev->mem);
	for (size_t i = 0; ev->uring && i < ev->uring->reads.n; i++)
		decode_captures_add(c, ev->uring->reads.v[i].addr, ev->uring->bytes.s + ev->uring->reads.v[i].at,
				    ev->uring->reads.v[i].n, trace_begins(ev));
	return decode_captures_list(c);
}

/*
 * Asks for the names that the writing sinks will ask for later, when they decode the captures of the call. In this way,
 * these names are recorded.
 */
static void ask_shown_names(struct trace_recorder *r, struct recorded *own, const struct event *ev,
			    const struct captured_list *captures)
{
	struct emit e;
	struct trace_decoder d;
	struct captured_memory before = {captures, true, 0}, after = {captures, false, 0};
	const struct mem entered = {.read = captured_read, .ctx = &before},
			 left = {.read = captured_read, .ctx = &after};
	buf_clear(&r->scratch);
	emit_text_init(&e, &r->scratch, 0);
	trace_decoder_init(&d, &r->decoding, &r->sink, &own->line, ev, &e);
	const bool returned = d.decode.leaving;
	recording_asked_decode(&r->asked, &own->asked);
	if (trace_begins(ev)) {
		d.decode.leaving = false;
		d.decode.mem = &entered;
		own->line.given = decode_ask_enter(&d.decode);
	}
	if (returned) {
		d.decode.leaving = true;
		d.decode.mem = &left;
		decode_ask_exit(&d.decode, own->line.given);
	}
	recording_asked_decode(&r->asked, NULL);
}

static void take_stack(struct trace_recorder *r, struct recorded *own, const struct event *ev)
{
	if (!r->c.stack || !r->c.call_stacks)
		return;
	bool lost = ev->kind == EV_ENTER && trace_stack_is_lost(ev);
	bool now = lost || (ev->kind == EV_EXIT && !own->has_stack);
	own->has_stack = lost;
	if (now)
		stack_walk(r->c.stack, ev, recording_frame, r->c.writer);
}

static void begin(struct trace_recorder *r, struct recorded *own, const struct event *ev)
{
	uint64_t block = recording_event_begin(r->c.writer, &own->thread, ev);
	recording_asked_event(&r->asked, &own->asked, block, ev->time_ns);
}

static void record_call(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_recorder *r = (struct trace_recorder *)s;
	struct recorded *own = trace_own(s, k);
	if (ev->call.withdrawn && !own->has_stack && recording_withdraw(r->c.writer, &own->thread))
		return;
	if (!r->c.all_calls)
		recording_asked_changed(&r->asked, true);
	else if (ev->kind == EV_EXIT || (ev->kind == EV_CALL && ev->call.nr != SYS_close))
		note_changes(r, &ev->call);
	recording_asked_named(&r->asked, ev->tid, ev->kind == EV_CALL ? ev->names_before : ev->names);
	begin(r, own, ev);
	const struct captured_list captures = capture(r, own, ev);
	ask_shown_names(r, own, ev, &captures);
	ask_names(r, own, k, ev);
	take_stack(r, own, ev);
	recording_event(r->c.writer, &own->thread, ev, &captures);
	if (ev->kind == EV_CALL && ev->call.nr == SYS_close)
		note_changes(r, &ev->call);
}

static void unwanted(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	(void)k;
	if (ev->kind == EV_EXIT || ev->kind == EV_CALL)
		note_changes((struct trace_recorder *)s, &ev->call);
}

static void record_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_recorder *r = (struct trace_recorder *)s;
	struct recorded *own = trace_own(s, k);
	if (ev->kind == EV_ATTACH)
		return;
	if (ev->kind == EV_EXEC)
		recording_asked_changed(&r->asked, true);
	begin(r, own, ev);
	ask_names(r, own, k, ev);
	bool crash = ev->kind == EV_SIGNAL && trace_is_crash(ev->sig.si_signo);
	if (r->c.stack && ev->kind == EV_SIGNAL && (r->c.crash_stacks ? crash : r->c.call_stacks))
		trace_stack_signal(r->c.stack, ev, recording_frame, r->c.writer);
	if (crash)
		recording_crash(r->c.writer, &own->thread);
	recording_event(r->c.writer, &own->thread, ev, NULL);
}

static void record_gone(struct trace_sink *s, struct trace_task *k)
{
	struct recorded *own = trace_own(s, k);
	recording_thread_free(((struct trace_recorder *)s)->c.writer, &own->thread);
}

static const struct trace_sink_ops recorder_ops = {.task_size = sizeof(struct recorded),
						   .of_id = true,
						   .enter = record_call,
						   .leave = record_call,
						   .takes_calls = true,
						   .other = record_other,
						   .unwanted = unwanted,
						   .gone = record_gone};

void trace_recorder_init(struct trace_recorder *r, const struct trace_recorder_config *c, struct trace_session *session)
{
	*r = (struct trace_recorder){.sink.ops = &recorder_ops, .c = *c};
	recording_asked_init(&r->asked, session->names, c->writer);
	session->names = &r->asked.names.names;
	decode_captures_init(&r->capturing, c->string_max, RECORDING_CAPTURES);
	r->decoding = (struct trace_decoding){.string_max = c->string_max,
					      .verbose = true,
					      .fd_names = FD_IN_FULL,
					      .pid_names = true,
					      .look = c->look};
}

void trace_recorder_free(struct trace_recorder *r)
{
	recording_asked_free(&r->asked);
	decode_captures_free(&r->capturing);
	buf_free(&r->scratch);
}
