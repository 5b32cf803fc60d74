#include "trace/trace_recorder.h"

#include "syscall/call_table.h"
#include "trace/trace_stack.h"
#include "tracee/names.h"
#include "tracee/uring.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* The sink's data for a thread. */
struct recorded {
	struct recording_thread thread;
	struct trace_line line; /* only `memo` and `given` are used, so it need not be freed */
	struct recording_asked_thread asked;
	bool has_stack; /* the stack of the call in progress was recorded at the call's entry */
};

static bool changes_names(const struct call *c)
{
	return !c->desc || syscall_changes_names(c->desc);
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
	if (!own->asked.comm) {
		own->asked.comm = true;
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

/* Copies captures of one time, before the call or after it, from a list of struct captured. */
static void take_captures(struct captures *to, const unsigned char *bytes, size_t n, uint32_t before)
{
	struct captured c;
	for (size_t k = 0; k < n; k += (c.len + 7) & ~7u) {
		memcpy(&c, bytes + k, sizeof(c));
		k += sizeof(c);
		if (c.before == before)
			captures_add(to, c.addr, bytes + k, c.len);
	}
}

/*
 * Captures the memory of a call: for EV_CALL, from before the call in r->captures and from after it in r->after, and for
 * other events that of the present time in r->captures.
 */
static void capture(struct trace_recorder *r, const struct recorded *own, const struct event *ev)
{
	struct decode_captures *c = &r->capturing;
	const bool whole = ev->kind == EV_CALL;
	const struct captures *entry = &own->thread.entry;
	const struct mem *before = whole ? ev->entry_mem : ev->mem;
	captures_clear(&r->captures);
	captures_clear(&r->after);
	if (whole && ev->captured) {
		take_captures(&r->captures, ev->captured, ev->ncaptured, 1);
		take_captures(&r->after, ev->captured, ev->ncaptured, 0);
		return;
	}
	decode_captures_clear(c);
	if (trace_begins(ev) && before)
		decode_capture_enter(c, &ev->call, before);
	for (size_t i = 0; ev->kind == EV_EXIT && i < entry->list.n; i++)
		decode_captures_add(c, entry->list.v[i].addr, entry->bytes.s + entry->list.v[i].at,
				    entry->list.v[i].len);
	if (ev->kind != EV_ENTER && ev->mem)
		decode_capture_exit(c, &ev->call, ev->mem);
	if (trace_begins(ev))
		take_captures(&r->captures, c->room.bytes, c->room.at, 1);
	take_captures(whole ? &r->after : &r->captures, c->room.bytes, c->room.at, 0);
	for (size_t i = 0; ev->uring && i < ev->uring->reads.n; i++)
		captures_add(&r->captures, ev->uring->reads.v[i].addr, ev->uring->bytes.s + ev->uring->reads.v[i].at,
			     ev->uring->reads.v[i].n);
}

/*
 * Asks for the names that the writing sinks will ask for later, when they decode the captures of the call. In this way,
 * these names are recorded.
 */
static void ask_shown_names(struct trace_recorder *r, struct recorded *own, const struct event *ev)
{
	struct emit e;
	struct trace_decoder d;
	struct captures_view before = {&r->captures, &r->after},
			     after = {(ev->kind == EV_CALL) ? &r->after : &r->captures,
				      (ev->kind == EV_CALL) ? &r->captures : &own->thread.entry};
	const struct mem entered = captures_memory(&before), left = captures_memory(&after);
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
	if (!r->c.all_calls || (ev->kind == EV_EXIT && changes_names(&ev->call)))
		recording_asked_changed(&r->asked);
	begin(r, own, ev);
	capture(r, own, ev);
	ask_shown_names(r, own, ev);
	ask_names(r, own, k, ev);
	take_stack(r, own, ev);
	recording_event(r->c.writer, &own->thread, ev, &r->captures, &r->after);
}

static void unwanted(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	(void)k;
	if (ev->kind == EV_EXIT && changes_names(&ev->call))
		recording_asked_changed(&((struct trace_recorder *)s)->asked);
}

static void record_other(struct trace_sink *s, struct trace_task *k, const struct event *ev)
{
	struct trace_recorder *r = (struct trace_recorder *)s;
	struct recorded *own = trace_own(s, k);
	if (ev->kind == EV_ATTACH)
		return;
	if (ev->kind == EV_EXEC)
		recording_asked_changed(&r->asked);
	begin(r, own, ev);
	ask_names(r, own, k, ev);
	bool crash = ev->kind == EV_SIGNAL && trace_is_crash(ev->sig.si_signo);
	if (r->c.stack && ev->kind == EV_SIGNAL && (r->c.crash_stacks ? crash : r->c.call_stacks))
		trace_stack_signal(r->c.stack, ev, recording_frame, r->c.writer);
	if (crash)
		recording_crash(r->c.writer, &own->thread);
	recording_event(r->c.writer, &own->thread, ev, &r->captures, NULL);
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
	decode_captures_init(&r->capturing, c->string_max, true, RECORDING_CAPTURES);
	r->decoding = (struct trace_decoding){.string_max = c->string_max,
					      .verbose = true,
					      .fd_names = FD_IN_FULL,
					      .pid_names = true,
					      .look = c->look};
}

void trace_recorder_free(struct trace_recorder *r)
{
	recording_asked_free(&r->asked);
	captures_free(&r->captures);
	captures_free(&r->after);
	decode_captures_free(&r->capturing);
	buf_free(&r->scratch);
}
